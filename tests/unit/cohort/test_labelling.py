"""One labelling: who explains whom, who counts, and what is counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from denseflip.classifiers.presets import fit_oracle
from denseflip.cohort.labelling import (
    Labelling,
    Patient,
    _patient,
    count_changes,
    permuted,
    run_labelling,
)
from denseflip.cohort.scan import Scan
from denseflip.cohort.settings import CohortSettings, check_cohort
from denseflip.datasets import Dataset
from denseflip.errors import DenseflipError
from denseflip.graph import Cells, Graph, Nodes
from denseflip.search.explain import explain
from groups import CELLS, NODES, XY, by_density, cohort


class Watching:
    """Trains a real classifier and remembers on whom."""

    def __init__(self) -> None:
        self.seen: list[set[int]] = []
        self.asked: list[set[int]] = []

    def __call__(self, train: Dataset) -> Any:
        self.seen.append({g.key for g in train.graphs})
        self.asked.append(set())
        oracle, asked = by_density(train), self.asked[-1]

        class Watched:
            classes = oracle.classes

            def predict(self, graphs: Any) -> Any:
                asked.update(g.key for g in graphs)
                return oracle.predict(graphs)

        return Watched()


def test_the_planted_cell_is_found_in_everybody_with_its_direction() -> None:
    data = cohort()
    found = run_labelling(data, check_cohort(data, CohortSettings()), by_density, 0)
    assert (found.explained, found.right, found.told) == (16, 16, 16)
    assert found.more[XY] >= 15  # more of them speak for B, whichever class is explained
    assert found.fewer[XY] == 0
    assert np.argmax(found.difference) == XY


def test_nobody_is_explained_by_a_classifier_that_saw_them() -> None:
    data, watching = cohort(), Watching()
    run_labelling(data, check_cohort(data, CohortSettings(folds=4)), watching, 0)
    assert len(watching.seen) == 4
    everybody = {g.key for g in data.graphs}
    for seen, asked in zip(watching.seen, watching.asked, strict=True):
        assert len(seen) == 12
        assert (everybody - seen) <= asked  # the held-out ones were asked about …
    assert all(sum(key in seen for seen in watching.seen) == 3 for key in everybody)


def test_permuted_labels_are_a_rearrangement_and_repeat() -> None:
    data = cohort()
    first, again, second = permuted(data, 1, 0), permuted(data, 1, 0), permuted(data, 2, 0)
    assert sorted(first.labels) == sorted(data.labels)
    assert first.labels == again.labels
    assert first.labels != second.labels
    assert permuted(data, 0, 0) is data
    assert permuted(data, 1, 1).labels != first.labels


def test_the_same_number_gives_the_same_figures() -> None:
    data = cohort()
    settings = check_cohort(data, CohortSettings(patients=6))
    for number in (0, 3):
        one, two = (run_labelling(data, settings, by_density, number) for _ in range(2))
        assert one.to_dict() == two.to_dict()
        assert one.explained == 6
        back = Labelling.from_dict(one.to_dict())
        assert back.to_dict() == one.to_dict()


def test_a_class_that_is_named_is_explained_alone() -> None:
    data = cohort()
    found = run_labelling(data, check_cohort(data, CohortSettings(group="B")), by_density, 0)
    assert {p.label for p in found.patients} == {1}
    assert found.more[XY] >= 7  # they would have to be removed for the answer to cease to be B
    other = run_labelling(data, check_cohort(data, CohortSettings(group="A")), by_density, 0)
    assert other.fewer[XY] >= 7  # of A fewer speak


def test_wrong_answers_and_untrue_changes_count_nothing() -> None:
    told = Patient("p", 1, 1, {XY: -3}, True, 9)
    patients = [
        told,
        replace(told, answer=0),  # wrongly classified
        replace(told, true_as_read=False),
        replace(told, changes={}),
        replace(told, label=0, answer=0, changes={XY: 4, 0: -1}),
    ]
    more, fewer = count_changes(patients, len(CELLS), 1)
    assert more[XY] == 2
    assert fewer[0] == 1
    assert sum(more) + sum(fewer) == 3


def test_a_fixed_classifier_is_asked_about_everybody() -> None:
    data = cohort()
    oracle = by_density(data)
    found = run_labelling(data, check_cohort(data, CohortSettings()), oracle, 0)
    assert found.explained == 16
    assert found.more[XY] >= 15


def test_any_method_can_be_the_search() -> None:
    data = cohort()
    settings = check_cohort(data, CohortSettings(method="brief", patients=4))
    found = run_labelling(data, settings, by_density, 0)
    assert found.more[XY] == 4


def test_scan_takes_the_least_change_in_standard_deviations() -> None:
    data = cohort()
    oracle = by_density(data)
    scan = Scan(in_range="ignore", balance="off")
    result = explain(data.graphs[0], oracle, scan, nodes=NODES, background=data.graphs)
    assert result.found
    assert {CELLS.number(CELLS.cell(u, v)) for u, v in result.added} == {XY}
    assert result.as_read is not None
    assert result.as_read.true
    fewer = list(result.added)[:-1]
    graph = data.graphs[0].toggle(fewer)
    assert oracle.predict([graph])[0] == result.label_before  # one fewer is not enough


def test_scan_goes_on_to_several_cells() -> None:
    data = cohort()
    xz, yz = CELLS.members((0, 2)), CELLS.members((1, 2))

    def both(adjacency: Any) -> int:  # no cell is enough by itself
        codes = np.flatnonzero(np.triu(adjacency).ravel())
        return int(np.isin(xz, codes).sum() > 7 and np.isin(yz, codes).sum() > 7)

    full = data.graphs[0].toggle_codes(np.sort(np.concatenate((xz, yz))))
    background = [*data.graphs, full]
    result = explain(data.graphs[0], both, Scan(), nodes=NODES, background=background)
    assert result.found
    assert {CELLS.cell(u, v) for u, v in result.added} == {(0, 2), (1, 2)}
    alone = explain(data.graphs[0], both, Scan(max_cells=1), nodes=NODES, background=background)
    assert not alone.found


@pytest.mark.parametrize(
    ("data", "settings", "said"),
    [
        (cohort(3), {}, "Too few patients in data set 'toy' for two halves.*'A' has 3, 'B' has 3"),
        (cohort(8, classes=3, gap=4), {}, "has 3 classes.*choose the class"),
        (cohort(8), {"group": "C"}, "Unknown class 'C'"),
        (cohort(8), {"regions": "lobes"}, "Unknown taxonomy 'lobes'"),
        (replace(cohort(8), nodes=Nodes.numbered(12)), {}, "These nodes have no regions"),
        (replace(cohort(8), labels=(1,) * 16), {}, "are of one class"),
    ],
)
def test_a_cohort_that_cannot_be_is_refused(data: Dataset, settings: Any, said: str) -> None:
    with pytest.raises(DenseflipError, match=said):
        check_cohort(data, CohortSettings(**settings))


@pytest.mark.parametrize(
    "settings",
    [
        {"folds": 1},
        {"patients": 1},
        {"cover": 0},
        {"cover": "most"},
        {"max_cells": 0},
        {"method": "scann"},
        {"seed": -1},
        {"in_range": "maybe"},
        {"balance": "always"},
        {"in_range": "require", "method": "tri"},
        {"balance": "on", "constraints": {"only": "add"}},
    ],
)
def test_settings_are_checked(settings: Any) -> None:
    with pytest.raises(DenseflipError, match=next(iter(settings))):
        CohortSettings(**settings)


def test_wrong_answers_are_not_explained_under_permuted_labels() -> None:
    data = cohort()
    settings = check_cohort(data, CohortSettings())
    found = run_labelling(data, settings, by_density, 1)
    wrong = [patient for patient in found.patients if not patient.right]
    assert len(wrong) == found.explained - found.right > 0
    assert all(patient.questions == 1 and not patient.changes for patient in wrong)


def test_stability_is_that_of_classifiers_trained_again() -> None:
    data = cohort()
    found = run_labelling(data, check_cohort(data, CohortSettings(patients=4)), by_density, 0)
    for patient in found.patients:
        assert patient.stability is not None
        assert patient.stability.refits == 20
    assert found.stability == pytest.approx(
        np.mean([p.stability.share for p in found.patients if p.told and p.stability])
    )
    fixed = run_labelling(data, check_cohort(data, CohortSettings(patients=4)), Watching(), 0)
    assert fixed.stability is None  # what it trains cannot be trained again
    assert all(patient.stability is None for patient in fixed.patients)


def test_another_range_is_another_setting() -> None:
    plain, asked = CohortSettings(), CohortSettings(in_range="require", balance=True)
    assert asked.balance == "on"
    assert CohortSettings.from_dict(asked.to_dict()) == asked != plain


def test_folds_follow_the_smallest_class() -> None:
    data = cohort(8).subset([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14])
    assert check_cohort(data, CohortSettings()).folds == 4


def spread_out() -> Dataset:
    """Two classes that differ in single pairs all over three regions."""
    rng = np.random.default_rng(0)
    n = 24
    u, v = np.triu_indices(n, 1)
    shift = rng.uniform(-0.2, 0.2, len(u))
    graphs = []
    for label in (-1, 1):
        for _ in range(8):
            waits = rng.exponential(size=len(u)) / (0.4 + label * shift)
            chosen = np.argsort(waits)[:85]
            graphs.append(Graph.from_edges(n, zip(u[chosen], v[chosen], strict=True)))
    nodes = Nodes(
        tuple(f"n{i}" for i in range(n)), {"third": tuple("ABC"[i // 8] for i in range(n))}
    )
    return Dataset("spread", tuple(graphs), (0,) * 8 + (1,) * 8, ("A", "B"), nodes)


def test_a_region_with_all_regions_is_counted_in_the_cells_that_change() -> None:
    data = spread_out()
    oracle = fit_oracle(data, "edges-svm")
    counted = 0
    for i, graph in enumerate(data.graphs):
        result = explain(graph, oracle, nodes=data.nodes, background=data.graphs)
        if not result.found or not any("all regions" in p for p in result.as_read.places):
            continue
        counted += 1
        patient = _patient(data, i, result, Cells(data.nodes.taxonomy()), oracle, None, None)
        (name, _), *_ = result.as_read.places
        net: dict[tuple[str, ...], int] = {}
        for pairs, sign in ((result.added, 1), (result.removed, -1)):
            for pair in pairs:
                cell = tuple(sorted(data.nodes.regions["third"][node] for node in pair))
                if name in cell:  # the others are elsewhere
                    net[cell] = net.get(cell, 0) + sign
        cells = Cells(data.nodes.taxonomy())
        named = {cells.number(tuple(map("ABC".index, cell))): n for cell, n in net.items()}
        assert patient.changes == named
    assert counted
    scan = Scan(spreads=None)
    for graph in data.graphs[:6]:  # its default method names pairs of regions only
        result = explain(graph, oracle, scan, nodes=data.nodes, background=data.graphs)
        assert not result.found or not any("all regions" in p for p in result.as_read.places)
