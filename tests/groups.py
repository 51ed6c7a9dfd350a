"""A small cohort with a known answer, for the tests of what a group has in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from denseflip.classifiers.evaluation import Evaluation
from denseflip.classifiers.presets import fit_oracle
from denseflip.cohort.cohort import Cohort, assemble
from denseflip.cohort.labelling import CohortSettings, Labelling, Patient
from denseflip.cohort.shared import HalfChange, SharedChange
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


# ---- a cohort that was looked at -----------------------------------------------------------

DATA = cohort(10)
GOOD = Evaluation(
    "toy", {"A": 10, "B": 10}, "regions-logistic", "regions", "LogisticRegression()", 5, 3, 10, 200,
    0, 0.95, (0.76, 0.99), 0.95, 0.95, 0.5, 0.005, 0.5, ((9, 1), (0, 10)), (0.95,), {}, 1.0, 1.0,
)  # fmt: skip
CHANCE = replace(GOOD, accuracy=0.5, interval=(0.3, 0.7), p_value=0.5)


def labelling(more: int = 0, *, fewer: int = 0, patients: bool = False) -> Labelling:
    """So many patients for more, and for fewer, connections between X and Y."""
    counts = [np.zeros(len(CELLS), dtype=np.int64) for _ in range(2)]
    counts[0][XY], counts[1][XY] = more, fewer
    difference = np.zeros(len(CELLS))
    difference[XY] = float(more - fewer)
    listed: tuple[Patient, ...] = ()
    if patients:
        listed = tuple(
            Patient(
                DATA.ids[i], DATA.labels[i], DATA.labels[i], {XY: 3 - 6 * DATA.labels[i]}, True, 7
            )
            for i in range(more)
        )
    return Labelling(*counts, difference, 20, 19, more + fewer, 140, listed)


def found_cohort(**given: Any) -> Cohort:
    """A cohort in which X – Y decides, with facts of your own in place of some."""
    change = SharedChange(
        0, (HalfChange({XY: 5}, "any", 5, 5, DATA.ids[:8:2], DATA.ids[:10:2], 5),), True
    )
    facts: dict[str, Any] = {
        "oracle": "regions-logistic",
        "refitted": True,
        "evaluation": GOOD,
        "observed": labelling(18, patients=True),
        "null": [labelling(i % 10) for i in range(19)],
        "shared": (change,),
        "level": 0.05,
        "correction": "max",
        "questions": 4321,
        **given,
    }
    return assemble(DATA, CohortSettings(), **facts)
