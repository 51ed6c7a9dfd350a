"""A small cohort with a known answer, for the tests of what a group has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from denseflip.classifiers.evaluation import Evaluation
from denseflip.classifiers.presets import fit_oracle
from denseflip.cohort.cohort import Cohort, assemble
from denseflip.cohort.labelling import Labelling, Patient, count_changes
from denseflip.cohort.settings import CohortSettings
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
    by_cell = [
        tuple(value if cell == XY else 0 for cell in range(len(CELLS)))
        for value in (more, fewer, float(more - fewer))
    ]
    listed: tuple[Patient, ...] = ()
    if patients:
        listed = tuple(
            Patient(
                DATA.ids[i], DATA.labels[i], DATA.labels[i], {XY: 3 - 6 * DATA.labels[i]}, True, 7
            )
            for i in range(more)
        )
    return Labelling(*by_cell, 20, 19, more + fewer, 140, listed)


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


def wide_cohort(names: Sequence[str], people: int = 40) -> Cohort:
    """A cohort of so many regions in which a few cells decide, some of them named."""
    rng = np.random.default_rng(len(names))
    n, areas = 2 * len(names), tuple(name for name in names for _ in "ab")
    nodes = Nodes(tuple(f"n{i}" for i in range(n)), {"area": areas})
    graphs = tuple(Graph.from_edges(n, [(i % 3, 3)]) for i in range(people))
    data = Dataset("study", graphs, tuple(i % 2 for i in range(people)), ("Control", "Case"), nodes)
    cells = Cells(nodes.taxonomy())
    some = rng.permutation(len(cells))[:7]
    patients = []
    for i, label in enumerate(data.labels):
        cell, sign = int(some[int(rng.integers(len(some)) ** 2 / len(some))]), 1 - 2 * label
        answer = label if i % 9 else 1 - label
        patients.append(
            Patient(data.ids[i], label, answer, {cell: sign * (1 - cell % 2 * 2) * 37}, True, 9)
        )
    counts = count_changes(patients, len(cells), 1)
    difference = rng.normal(size=len(cells))
    difference[some[0]] = 9.0
    told = sum(p.told for p in patients)
    observed = Labelling(
        *counts, tuple(difference.tolist()), people, told, told, 99, tuple(patients)
    )
    empty, noise = (0,) * len(cells), tuple(rng.normal(size=len(cells)).tolist())
    null = [Labelling(empty, empty, noise, people, 9, 9, 9)] * 19
    half = HalfChange({int(some[0]): 5}, "any", 5, 5, data.ids[:8:2], data.ids[:16:2], 8)
    return assemble(
        data, CohortSettings(), oracle="regions-logistic", refitted=True, evaluation=GOOD,
        observed=observed, null=null, shared=(SharedChange(0, (half,), True),), level=0.05,
        correction="max", questions=99,
    )  # fmt: skip
