"""One graph in thousands of layouts: each gives the same graph or is refused, never another one."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import layouts_of_one_graph as one
from denseflip.datasets import Keep, read_graph
from denseflip.errors import DenseflipError
from denseflip.graph import Nodes

#: Layouts of a matrix in this run; DENSEFLIP_LAYOUTS=60000 tries more.
COUNT = int(os.environ.get("DENSEFLIP_LAYOUTS", "5200"))
PARTS = 8
#: Of the layouts of series and lists one in this many is tried; all of them in a longer run.
EVERY = 6 if COUNT <= 5200 else 1
EDGES = 8
PAIRS = np.transpose(np.triu_indices(one.SIZE, 1))


def strongest(matrix: np.ndarray, count: int) -> list[tuple[int, int]]:
    values = [matrix[u, v] for u, v in PAIRS]
    order = sorted(sorted(range(len(values)), key=lambda i: -values[i])[:count])
    return [(int(PAIRS[i][0]), int(PAIRS[i][1])) for i in order]


@pytest.mark.parametrize("part", range(PARTS))
def test_a_matrix_in_any_layout(tmp_path: Path, part: int) -> None:
    path, results = tmp_path / "m.csv", Counter()
    for layout in itertools.islice(one.layouts(COUNT), part, None, PARTS):
        content, full = one.write(layout)
        path.write_bytes(content)
        binary = layout.values == "binary"
        wanted = (
            [(int(u), int(v)) for u, v in PAIRS if full[u, v]] if binary else strongest(full, EDGES)
        )
        try:
            graph = read_graph(path, keep=None if binary else Keep(edges=EDGES))
        except DenseflipError as error:
            results["without a name"] += "m.csv" not in str(error)
            results["refused"] += 1
            continue
        assert graph.n_nodes == one.SIZE, layout
        assert graph.edges() == wanted, layout
        results["read"] += 1
    assert not results["without a name"]
    assert results["read"] > 3 * results["refused"], results


def test_the_eight_layouts_that_were_read_as_time_series(tmp_path: Path) -> None:
    plain = {"corner": "empty", "half": "full", "decimal": "point", "ends": "unix",
             "code": "utf-8", "order": "given", "delimiter": "comma"}  # fmt: skip
    for values, header, index, extra in (
        ("correlations", "from 0", "none", "none"),
        ("correlations", "from 1", "none", "none"),
        ("correlations", "codes", "none", "none"),
        ("binary", "from 0", "none", "none"),
        ("correlations", "none", "from 0", "none"),
        ("correlations", "none", "from 1", "none"),
        ("correlations", "none", "none", "trailing"),
        ("binary", "none", "none", "trailing"),
    ):
        layout = one.Layout(values=values, header=header, index=index, extra=extra, **plain)
        content, full = one.write(layout)
        (tmp_path / "m.csv").write_bytes(content)
        graph = read_graph(tmp_path / "m.csv", keep=Keep(edges=EDGES))
        binary = values == "binary"
        assert graph.edges() == strongest(full, graph.n_edges if binary else EDGES)


def test_a_time_series_in_any_layout(tmp_path: Path) -> None:
    path, results = tmp_path / "s.csv", Counter()
    for layout in itertools.islice(one.series_layouts(), 0, None, EVERY):
        content, correlations = one.write_series(layout)
        path.write_bytes(content)
        try:
            graph = read_graph(path, keep=Keep(edges=EDGES))
        except DenseflipError as error:
            results["without a name"] += "s.csv" not in str(error)
            results["refused"] += 1
            continue
        assert graph.n_nodes == one.SIZE, layout
        assert graph.edges() == strongest(correlations, EDGES), layout
        results["read"] += 1
    assert not results["without a name"]
    assert results["read"] > 2 * results["refused"], results


def test_an_edge_list_in_any_layout(tmp_path: Path) -> None:
    edges, results = strongest(one.matrix("weights"), EDGES), Counter()
    tables = {"names": Nodes(one.NAMES), "codes": Nodes(tuple(map(str, one.CODES)))}
    for layout in itertools.islice(one.list_layouts(), 0, None, EVERY + 1):
        path = tmp_path / f"e{layout['ending']}"
        path.write_bytes(one.write_list(layout, edges))
        nodes = tables.get(layout["nodes"])
        for given in ({}, {"n_nodes": one.SIZE}):
            try:
                graph = read_graph(path, nodes=nodes, **({} if nodes else given))
            except DenseflipError as error:
                results["without a name"] += path.name not in str(error)
                results["refused"] += 1
                continue
            assert graph.edges() == edges, layout
            results["read"] += 1
    assert not results["without a name"]
    assert results["read"] > 2 * results["refused"], results
