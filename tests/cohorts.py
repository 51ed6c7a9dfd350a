"""Small labelled data sets for the tests of classifiers."""

from __future__ import annotations

import numpy as np

from denseflip.datasets import Dataset
from denseflip.graph import Graph, Nodes

NODES = Nodes(
    tuple(f"n{i}" for i in range(12)),
    regions={"lobe": ("Front",) * 6 + ("Back",) * 6, "side": ("L", "R") * 6},
)


def make_cohort(
    per_class: int = 12,
    *,
    signal: float = 0.5,
    classes: int = 2,
    seed: int = 0,
    regions: bool = True,
) -> Dataset:
    """Random graphs of 12 nodes; class c has more edges inside its own half of the nodes."""
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(12, 1)
    graphs, labels = [], []
    for i in range(per_class * classes):
        label = i % classes
        inside = (u // 4 == label) & (v // 4 == label)
        chosen = rng.random(len(u)) < 0.25 + signal * inside
        graphs.append(Graph.from_edges(12, np.column_stack((u[chosen], v[chosen]))))
        labels.append(label)
    names = tuple("ABCD"[:classes])
    nodes = NODES if regions else Nodes.numbered(12)
    return Dataset("cohort", tuple(graphs), tuple(labels), names, nodes)


def make_areas(regions: int = 57, nodes: int = 400, per_class: int = 4, seed: int = 0) -> Dataset:
    """Graphs of as many nodes and regions as an atlas has; in one cell they differ by class."""
    rng = np.random.default_rng(seed)
    index = np.arange(nodes) * regions // nodes
    places = rng.normal(size=(nodes, 3)) * (25, 35, 20)
    areas = tuple(f"Left Long Name of an Area {r}" for r in index)
    names = tuple(f"Area_{r}_Parcel_{i}" for i, r in enumerate(index))
    table = Nodes(names, regions={"area": areas}, coordinates=tuple(map(tuple, places)))
    u, v = np.triu_indices(nodes, 1)
    cell = (index[u] == 3) & (index[v] == 40)
    graphs, labels = [], []
    for i in range(2 * per_class):
        chosen = rng.random(len(u)) < np.where(cell, 0.9 if i % 2 else 0.1, 0.05)
        graphs.append(Graph.from_edges(nodes, np.column_stack((u[chosen], v[chosen]))))
        labels.append(i % 2)
    return Dataset("areas", tuple(graphs), tuple(labels), ("A", "B"), table)
