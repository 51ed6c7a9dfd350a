"""Explainers of GRETEL 2, from a checkout that the user names; none of its code is part of this."""

from __future__ import annotations

import contextlib
import importlib
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from denseflip.arena.problem import Explainer, Problem
from denseflip.errors import ConfigError
from denseflip.graph import Graph

#: Name in the tables → module and class of the checkout.
EXPLAINERS = {
    "GRETEL-OBS": ("src.explainer.heuristic.obs", "ObliviousBidirectionalSearchExplainer"),
    "GRETEL-iRand": ("src.explainer.search.i_rand", "IRandExplainer"),
}
_README = "GRETEL (v2"


def check_checkout(folder: Path) -> None:
    """Refuse a folder that is no checkout of GRETEL 2."""
    readme = folder / "README.md"
    if not readme.is_file() or "GRETEL" not in readme.read_text(errors="replace"):
        msg = f"{folder}: no checkout of GRETEL (no README.md that names it)."
        raise ConfigError(msg)
    if _README not in readme.read_text(errors="replace"):
        head = readme.read_text(errors="replace").splitlines()[0]
        msg = f"{folder}: this version of GRETEL is not supported ({head!r:.80}); use v2."
        raise ConfigError(msg)
    for module, _ in EXPLAINERS.values():
        if not (folder / (module.replace(".", "/") + ".py")).is_file():
            msg = f"{folder}: this checkout of GRETEL has no {module}; use v2 of July 2025."
            raise ConfigError(msg)


def import_problem(name: str, folder: Path) -> str:
    """Why an explainer of a checkout cannot be imported; empty if it can. In another process."""
    code = (
        "import sys, importlib as i; sys.path.insert(0, sys.argv[1]); i.import_module(sys.argv[2])"
    )
    with tempfile.TemporaryDirectory() as place:  # it writes logs
        command = [sys.executable, "-c", code, str(folder), EXPLAINERS[name][0]]
        ended = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if not ended.returncode:
        return ""
    last = (ended.stderr.strip().splitlines() or ["no message"])[-1]
    return (
        f"this checkout of GRETEL cannot be imported ({last[:160]}). Install what it needs, or use "
        "v2 of July 2025."
    )


class Gretel(Explainer):
    """An explainer of GRETEL, with its default settings."""

    stochastic = True
    needs: ClassVar = {
        "flufl.lock": "flufl.lock",
        "jsonc_parser": "jsonc-parser",
        "jsonpickle": "jsonpickle",
    }

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.module, self.kind = EXPLAINERS[name]
        self.slow = name == "GRETEL-iRand"  # it lists pairs of nodes for seconds

    def prepare(self) -> None:
        """Import the checkout, which takes seconds that are not part of the search."""
        if str(self.folder) not in sys.path:
            sys.path.insert(0, str(self.folder))
        with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):  # it writes logs
            importlib.import_module("src.dataset.instances.graph")
            importlib.import_module(self.module)

    def explain(self, problem: Problem) -> Graph | None:
        """Give it the adjacency array; it queries labels one by one."""
        with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):  # it writes logs
            return self._explain(problem)

    def _explain(self, problem: Problem) -> Graph | None:
        np.random.seed(problem.seed)  # noqa: NPY002  (what GRETEL uses)
        random.seed(problem.seed)
        instances = importlib.import_module("src.dataset.instances.graph")
        n = problem.graph.n_nodes

        def predict(instance: Any) -> Any:
            # Its arrays are symmetric; the checks would take longer than many a classifier.
            return problem.label_of(Graph(n, np.flatnonzero(np.triu(instance.data, 1))))

        oracle = SimpleNamespace(predict=predict)
        settings = {"dataset": problem.dataset, "oracle": oracle, "parameters": {}}
        explainer = getattr(importlib.import_module(self.module), self.kind)(None, settings)
        own = instances.GraphInstance(0, problem.label, problem.graph.to_adjacency())
        answer = np.asarray(explainer.explain(own).data, dtype=float)
        return Graph.from_adjacency(answer)
