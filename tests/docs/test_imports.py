"""Rules of the source tree that no linter checks.

The order of imports is a contract of import-linter, and heavy libraries at module level are a rule
of ruff. Both are configured in ``pyproject.toml`` and run by ``make lint``.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "denseflip"
MODULES = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}
MAX_LINES = 500
HEAVY = {"torch", "matplotlib", "dask", "nilearn", "sklearn", "jinja2", "markupsafe"}

ORACLE_METHODS = {"predict", "predict_proba", "predict_edits"}
MAY_CALL_ORACLES = {  # package or module: why it may call an oracle without a session
    "oracles": "adapts oracles and holds the session",
    "classifiers": "trains and evaluates oracles",
    "experiments/worker.py": "wraps an oracle to measure its time",
    "paper/published_classifier.py": "evaluates the published classifier",
}


def module_text(name: str) -> str:
    return MODULES[name].read_text(encoding="utf-8")


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse(module_text(name))


def package_of(name: str) -> str:
    return name.split("/")[0].removesuffix(".py")


def test_the_docs_name_every_layer() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    [contract] = settings["importlinter"]["contracts"]
    layers = {name for layer in contract["layers"] for name in re.findall(r"\w+", layer)}
    present = {package_of(name) for name in MODULES}
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    public = {name for name in layers & present if not name.startswith("_")}
    assert {name for name in public if name not in text} == set()


def test_modules_are_short() -> None:
    lengths = {name: module_text(name).count("\n") for name in MODULES}
    assert {name: n for name, n in lengths.items() if n > MAX_LINES} == {}


def test_only_the_paper_and_the_entrances_know_what_was_published() -> None:
    """The published profile is a plug-in: elsewhere only the name of its module may appear."""
    entrances = {"__init__", "paper", "cli", "web"}
    plug_in = "denseflip.paper.published_profile"
    others = [name for name in MODULES if package_of(name) not in entrances]
    assert [n for n in others if "published" in module_text(n).replace(plug_in, "").lower()] == []


def test_only_the_command_line_names_flags() -> None:
    """Messages of the library name parameters of Python; the command line adds its flags."""
    found: dict[str, set[str]] = {}
    for name in MODULES:
        if package_of(name) == "cli":
            continue
        for node in ast.walk(tree_of(name)):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and "{" not in text:  # a style sheet has custom properties
                found.setdefault(name, set()).update(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    dask = {"--nthreads"}
    assert {name: flags - dask for name, flags in found.items() if flags - dask} == {}


# ---- who calls an oracle ----------------------------------------------------------------------


def oracle_calls(tree: ast.Module) -> list[int]:
    """The lines that call an oracle, or pass one of its methods on."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ORACLE_METHODS
    ]


def test_only_a_session_calls_an_oracle() -> None:
    others = [n for n in MODULES if not {n, package_of(n)} & set(MAY_CALL_ORACLES)]
    calls = {name: oracle_calls(tree_of(name)) for name in others}
    assert {name: lines for name, lines in calls.items() if lines} == {}


def test_every_exception_is_still_needed() -> None:
    calling = {name for name in MODULES if oracle_calls(tree_of(name))}
    assert set(MAY_CALL_ORACLES) <= calling | {package_of(name) for name in calling}


def test_oracle_calls_are_found() -> None:
    source = "def f(box):\n    map(box.predict, [])\n    return box.oracle.predict([1])\n"
    assert oracle_calls(ast.parse(source)) == [2, 3]


# ---- what starting up loads -------------------------------------------------------------------


def loaded_after(code: str) -> set[str]:
    """Top-level modules that a new interpreter has loaded after this code."""
    script = f"{code}\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    return {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


@pytest.mark.parametrize(
    "code",
    [
        "import denseflip; denseflip.Graph, denseflip.explain, denseflip.methods()",
        "import sys\nfrom denseflip.cli import main\nsys.argv = ['denseflip', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass",
    ],
    ids=["first-names", "help"],
)
def test_starting_up_loads_nothing_heavy(code: str) -> None:
    loaded = loaded_after(code)
    assert "denseflip" in loaded
    assert not loaded & HEAVY


def test_explaining_by_tri_needs_nothing_heavy() -> None:
    code = (
        "from denseflip import Graph, explain\n"
        "g = Graph.from_edges(4, [(0, 1), (1, 2)])\n"
        "assert explain(g, lambda a: int(a[0, 1])).found"
    )
    assert not loaded_after(code) & {*HEAVY, "networkx"}
