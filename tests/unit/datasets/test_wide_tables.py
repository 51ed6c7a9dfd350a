"""Correlations of wide tables in blocks, and tables whose rows are the nodes."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from denseflip.datasets import import_folder, matrix_files, read_graph, wide_tables
from denseflip.datasets.connectome import Keep
from denseflip.datasets.folder import import_report
from denseflip.datasets.wide_tables import correlation_graph
from denseflip.errors import FileFormatError, InvalidGraphError, TooLargeError
from denseflip.graph import Nodes

RULES = [Keep(edges=7), Keep(edges=0), Keep(percentile=90), Keep(percentile=0), Keep(threshold=0.2)]
GENES = ("TP53", "MDM2", "ATM", "CHEK2", "RB1")


def expression(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, columns)).round(3)


@pytest.mark.parametrize("keep", RULES, ids=str)
@pytest.mark.parametrize("shape", [(4, 5), (20, 50), (30, 211)])
def test_blocks_give_the_graph_of_the_full_matrix(
    keep: Keep, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wide_tables, "_BLOCK", 1000)  # several blocks
    values = expression(*shape)
    assert correlation_graph(values, keep, "a.csv") == keep.apply(np.corrcoef(values.T))


def test_ties_go_to_the_first_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wide_tables, "_BLOCK", 6)
    values = np.array([[1, 1, 1, 1, 0], [-1, -1, -1, -1, 2], [0, 0, 0, 0, -2]], dtype=float)
    graph = correlation_graph(values, Keep(edges=4), "a.csv")
    assert graph.edges() == [(0, 1), (0, 2), (0, 3), (1, 2)]


def test_too_many_edges() -> None:
    with pytest.raises(InvalidGraphError, match=r"a\.csv: 11 edges requested.*only 10 pairs"):
        correlation_graph(expression(9, 5), Keep(edges=11), "a.csv")
    with pytest.raises(TooLargeError, match=r"a\.csv: .*keep fewer edges.*edges=140000 keeps 14"):
        wide_tables.check_edges(19_999_000, 20_000, "a.csv")


def test_a_wide_table_takes_no_matrix_of_all_pairs(tmp_path: Path) -> None:
    """The full matrix of 6,000 columns has 288 MB, and is made several times over."""
    np.save(tmp_path / "a.npy", expression(12, 6000))
    tracemalloc.start()
    graph = read_graph(tmp_path / "a.npy", kind="timeseries", keep=Keep(edges=30_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert graph.n_edges == 30_000
    assert peak < 250e6


def test_an_import_in_blocks_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(4):
        np.savetxt(tmp_path / f"s{i}.csv", expression(20, 40, i), delimiter=",")
    labels = {f"s{i}": "ab"[i % 2] for i in range(4)}
    plain = import_folder(tmp_path, labels)
    monkeypatch.setattr(matrix_files, "WIDE", 10)
    assert import_folder(tmp_path, labels).graphs == plain.graphs


# ---- rows and columns with names --------------------------------------------------------


def write(path: Path, values: np.ndarray, rows: list[str], columns: list[str], corner: str) -> Path:
    lines = ["\t".join([corner, *columns])]
    lines += ["\t".join([r, *map(str, x)]) for r, x in zip(rows, values.tolist(), strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("turned", [False, True])
def test_the_node_table_says_whether_genes_are_rows_or_columns(
    turned: bool, tmp_path: Path
) -> None:
    values, cells = expression(30, 5), [f"AAAC-{i}" for i in range(30)]
    sides = (cells, list(GENES))
    if turned:
        path = write(tmp_path / "a.tsv", values.T, *reversed(sides), corner="gene")
    else:
        path = write(tmp_path / "a.tsv", values, *sides, corner="cell")
    said: list[str] = []
    nodes = Nodes(tuple(reversed(GENES)))
    graph = read_graph(path, nodes=nodes, keep=Keep(edges=3), on_note=said.append)
    wanted = Keep(edges=3).apply(np.corrcoef(values[:, ::-1].T))
    assert graph.edges() == wanted.edges()
    assert said == (["The rows are the nodes; the table was transposed."] if turned else [])
    with pytest.raises(FileFormatError, match=r"a\.tsv: its rows have names .*Which of them are"):
        read_graph(path)


def test_an_import_of_genes_in_rows(tmp_path: Path) -> None:
    cells = [f"AAAC-{i}" for i in range(30)]
    for i in range(4):
        values = expression(30, 5, i)
        write(tmp_path / f"s{i}.tsv", values.T, list(GENES), cells, corner="gene")
    labels = {f"s{i}": "ab"[i % 2] for i in range(4)}
    data = import_folder(tmp_path, labels, nodes=Nodes(GENES), keep=Keep(edges=3))
    assert data.graphs[0].edges() == Keep(edges=3).apply(np.corrcoef(expression(30, 5).T)).edges()
    said = "The rows are the nodes; the table was transposed (all 4 files)."
    assert said in import_report(data)


@pytest.mark.parametrize("corner", ["time", "", "cell"])
def test_rows_that_are_time_points(corner: str, tmp_path: Path) -> None:
    values = expression(30, 5)
    days = [f"2020-01-{i + 1:02}" for i in range(30)]
    path = write(tmp_path / "a.tsv", values, days, list(GENES), corner=corner)
    wanted = Keep(edges=3).apply(np.corrcoef(values.T)).edges()
    assert read_graph(path, header="both", keep=Keep(edges=3)).edges() == wanted
    if corner == "time":
        assert read_graph(path, keep=Keep(edges=3)).edges() == wanted
    else:
        with pytest.raises(FileFormatError, match="set header='both'"):
            read_graph(path)
