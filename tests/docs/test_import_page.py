"""The lines of docs/how-to/import.md lead from a folder to an evaluated classifier."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import labs
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.datasets import Keep, load_dataset
from denseflip.datasets.importers import IMPORTERS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "import.md"
TEXT = PAGE.read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^#{2,3} |\Z)", TEXT, re.MULTILINE | re.DOTALL))


def lines_of(kind: str) -> list[list[str]]:
    return [shlex.split(x) for x in re.findall(r"^\$ denseflip (.*)$", SECTIONS[kind], re.M)]


def of_lab(kind: str) -> Callable[[Path], None]:
    def write(target: Path) -> None:
        data, classes = labs.cohort(kind, 12)
        home = Path() if target.suffix else target
        home.mkdir(exist_ok=True)
        more = {"several": True} if kind == "qsirecon" else {}
        more = {"deep": True} if kind.startswith("xcpd") else more
        labs.LAYOUTS[kind].write(home, data, labs.NAMES, **more)
        if kind == "stack":
            Path("lab.npy").rename(target)
        labs.participants(Path("participants.tsv"), classes)
        rows = [f"{key},{c}" for key, c in classes.items()]
        Path("labels.csv").write_text("\n".join(["id,label", *rows]))
        groups = {key: "1" if c == "patient" else "2" for key, c in classes.items()}
        labs.phenotype(Path("Phenotypic_V1_0b_preprocessed1.csv"), {**groups, "no_filename": "1"})

    return write


def plain(kind: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        data, classes = labs.cohort("xcpd-timeseries" if kind == "timeseries" else "xcpd", 12)
        folder.mkdir()
        for key, values in data.items():
            path = folder / f"{key}.csv"
            if kind == "matrix":
                path = folder / classes[key] / path.name
                path.parent.mkdir(exist_ok=True)
            if kind in ("matrix", "timeseries"):
                np.savetxt(path, values, delimiter=",")
                continue
            graph = Keep(percentile=80).apply(values).named(labs.NAMES)
            if kind == "graphml":
                nx.write_graphml_xml(graph.to_networkx(), path.with_suffix(".graphml"))
            else:
                lines = [f"{labs.NAMES[u]} {labs.NAMES[v]}" for u, v in graph.edges()]
                path.with_suffix(".edgelist").write_text("\n".join(lines))
        rows = [f"{key},{c}" for key, c in classes.items()]
        Path("labels.csv").write_text("\n".join(["id,label", *rows]))

    return write


def tu(folder: Path) -> None:
    data, classes = labs.cohort("xcpd", 12)
    folder.mkdir()
    n = len(labs.NAMES)
    pairs, owners = [], []
    for i, values in enumerate(data.values()):
        edges = Keep(percentile=80).apply(values).edges()
        pairs += [f"{u + n * i + 1}, {v + n * i + 1}" for u, v in edges]
        owners += [str(i + 1)] * n
    (folder / "LAB_A.txt").write_text("\n".join(pairs))
    (folder / "LAB_graph_indicator.txt").write_text("\n".join(owners))
    numbers = [str(int(c == "patient")) for c in classes.values()]
    (folder / "LAB_graph_labels.txt").write_text("\n".join(numbers))


WRITE = {
    **{kind: of_lab(kind) for kind in labs.LAYOUTS},
    **{kind: plain(kind) for kind in ("matrix", "timeseries", "edges", "graphml")},
    "tu": tu,
}


@pytest.mark.parametrize("kind", IMPORTERS)
def test_every_importer_leads_to_an_evaluated_classifier_in_two_commands(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = lines_of(kind)
    assert first[:2] == ["data", "import"]
    assert second[0] == "train"
    WRITE[kind](Path(first[2]))
    assert run(app, first) == 0, capsys.readouterr().err
    out = capsys.readouterr().out
    assert f"as {kind}." in out
    data = load_dataset("study.dfd")
    assert len(data) == 12
    assert data.n_nodes == len(labs.NAMES)
    assert run(app, second) == 0, capsys.readouterr().err
    out = capsys.readouterr().out
    assert "held-out graphs" in out
    assert list(tmp_path.glob("*.dfo"))


def test_the_page_tells_of_every_importer_and_of_no_other() -> None:
    assert set(SECTIONS) == set(IMPORTERS)
