"""A small cohort with a known answer, for the tests of what a group has in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from denseflip.classifiers.presets import fit_oracle
from denseflip.datasets import Dataset
from denseflip.graph import Cells, Graph, Nodes

NODES = Nodes(tuple("abcdefghijkl"), regions={"lobe": ("X",) * 4 + ("Y",) * 4 + ("Z",) * 4})
CELLS = Cells(NODES.taxonomy())
XY = CELLS.number((0, 1))


def cohort(per_class: int = 8, *, gap: int = 8, classes: int = 2, seed: int = 0) -> Dataset:
    """Class c has about ``gap * c`` edges more between X and Y, of 16; the rest is noise."""
    rng = np.random.default_rng(seed)
    between, rest = CELLS.members((0, 1)), CELLS.members((2, 2))
    graphs, labels = [], []
    for i in range(per_class * classes):
        label = i % classes
        some = rng.permutation(between)[: 2 + gap * label + int(rng.integers(3))]
        noise = rng.permutation(rest)[: int(rng.integers(1, 5))]
        codes = np.sort(np.concatenate((some, noise)))
        graphs.append(Graph.from_edges(12, np.column_stack(np.divmod(codes, 12))))
        labels.append(label)
    names = tuple("ABCD"[:classes])
    return Dataset("toy", tuple(graphs), tuple(labels), names, NODES)


def by_density(train: Dataset) -> Any:
    return fit_oracle(train, "regions-logistic")
