"""A group on the user's terms: constraints that hold for everybody, and confounds."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from denseflip.classifiers.evaluation import Confounding
from denseflip.cohort.cohort import Cohort, gate
from denseflip.cohort.labelling import permuted, run_labelling
from denseflip.cohort.settings import (
    CohortSettings,
    check_cohort,
    check_labellings,
    held_by,
    terms_of,
)
from denseflip.cohort.shared_search import find_shared
from denseflip.errors import DenseflipError
from groups import CELLS, CHANCE, GOOD, XY, by_density, cohort, found_cohort

DATA = cohort(8)
N = len(DATA)
TABLE = {
    "age": tuple(float(20 + i % 5) for i in range(N)),
    "site": tuple("north" if i % 4 < 2 else "south" for i in range(N)),
    "sex": tuple("f" if i % 8 < 4 else "m" for i in range(N)),
}
PEOPLE = replace(DATA, subjects=TABLE)


def settings(**given: Any) -> CohortSettings:
    return check_cohort(PEOPLE, CohortSettings(**given))


def changes(found: Any) -> list[dict[int, int]]:
    return [dict(p.changes) for p in found.patients]


# ---- constraints ---------------------------------------------------------------------------


def test_only_what_may_change_changes_in_patients_and_in_the_shared_change() -> None:
    terms = settings(constraints={"only": "add"})
    found = run_labelling(PEOPLE, terms, by_density, 0)
    every = [n for change in changes(found) for n in change.values()]
    assert every
    assert min(every) > 0
    assert found.told < 16  # nobody of B gets out by additions to X – Y
    shared, _ = find_shared(PEOPLE, terms, by_density)
    amounts = [n for change in shared for half in change.halves for n in half.amounts.values()]
    assert amounts
    assert min(amounts) > 0


def test_a_frozen_cell_decides_nothing() -> None:
    terms = settings(constraints={"freeze": "X x Y"})
    found = run_labelling(PEOPLE, terms, by_density, 0)
    assert all(XY not in change for change in changes(found))
    assert found.more[XY] == found.fewer[XY] == 0
    shared, _ = find_shared(PEOPLE, terms, by_density)
    assert all(XY not in half.amounts for change in shared for half in change.halves)


@pytest.mark.parametrize("given", [{"max_edits": 4}, {"keep_density": 30}])
def test_bounds_hold_for_every_graph_that_is_asked_about(given: dict[str, Any]) -> None:
    asked: list[Any] = []

    def fit(train: Any) -> Any:
        oracle = by_density(train)

        class Watched:
            def predict(self, graphs: Any) -> Any:
                asked.extend(graphs)
                return oracle.predict(graphs)

        return Watched()

    terms = settings(constraints=given)
    shared, _ = find_shared(PEOPLE, terms, fit)
    for graph in asked:
        at = min(PEOPLE.graphs, key=graph.distance)
        if "max_edits" in given:
            assert graph.distance(at) <= 4
        else:
            assert any(
                abs(graph.n_edges - g.n_edges) <= 0.3 * g.n_edges + 1e-9 for g in PEOPLE.graphs
            )
    found = run_labelling(PEOPLE, terms, by_density, 0)
    assert found.told > 0
    for patient in found.patients:
        size = sum(map(abs, patient.changes.values()))
        edges = PEOPLE.graphs[PEOPLE.ids.index(patient.id)].n_edges
        assert size <= (4 if "max_edits" in given else 0.3 * edges)
    assert all(abs(n) <= 16 for x in shared for half in x.halves for n in half.amounts.values())


def test_pairs_seen_often_enough_are_counted_over_the_whole_cohort() -> None:
    terms = terms_of(PEOPLE, settings(constraints={"allow_seen": 40}))
    assert terms is not None
    assert terms.allow_seen is None
    for u, v in combinations(range(12), 2):
        share = np.mean([u * 12 + v in g.codes for g in PEOPLE.graphs])
        assert terms.allowed[u, v] == terms.allowed[v, u] == (share >= 0.4)


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        ({"max_cells": 2}, "max_cells.*use the parameter max_cells"),
        ({"predicate": bool}, "predicate is not available.*: a function cannot be stored"),
        (
            {"allowed": np.ones((12, 12), dtype=bool)},
            "allowed is not available.*: an array cannot be stored",
        ),
        ({"freeze": "W"}, "W"),
        ({"freeze": ["X", "Y", "Z"]}, "Graph .* leave nothing to change"),
        ({"only": "both"}, "Unknown only 'both'"),
        ({"only_way": "add"}, "Unknown constraint 'only_way'"),
    ],
)
def test_constraints_that_cannot_be_are_told_before_any_work(constraints: Any, said: str) -> None:
    with pytest.raises(DenseflipError, match=said):
        settings(constraints=constraints)


def test_terms_are_in_the_statement_and_in_the_file() -> None:
    found = found_cohort()
    bound = replace(found, settings=CohortSettings(constraints={"only": "add", "freeze": ["Z"]}))
    assert "was constrained: leaving Z as it is; by additions only." in bound.statement
    assert "terms" not in found.statement
    assert Cohort.from_dict(bound.to_dict()) == bound
    assert hash(bound.settings) == hash(found.settings)


# ---- confounds -----------------------------------------------------------------------------


def test_labels_are_permuted_within_the_site_and_every_text() -> None:
    known = settings(confounds=("age", "site", "sex"))
    assert known.site == "site"
    held, strata = held_by(PEOPLE, known)
    assert held == ("site", "sex")
    assert len(np.unique(strata)) == 4
    labels = PEOPLE.label_array()
    for number in range(1, 6):
        mixed = permuted(PEOPLE, number, 0, strata).label_array()
        for k in range(4):
            assert sorted(mixed[strata == k]) == sorted(labels[strata == k])
    free = permuted(PEOPLE, 1, 0).label_array()
    assert any(sorted(free[strata == k]) != sorted(labels[strata == k]) for k in range(4))
    assert held_by(PEOPLE, settings(confounds=("age",)))[0] == ()
    coded = replace(PEOPLE, subjects={"sex": tuple(float(x == "m") for x in TABLE["sex"])})
    known = check_cohort(coded, CohortSettings(confounds=("sex",)))
    assert held_by(coded, known)[0] == ("sex",)  # two values are two kinds, however written


def test_too_few_ways_to_permute_are_refused() -> None:
    split = replace(DATA, subjects={"site": tuple("ab"[x] for x in DATA.labels)})
    known = check_cohort(split, CohortSettings(confounds=("site",)))
    with pytest.raises(DenseflipError, match="permuted within site in only 1 way"):
        check_labellings(split, known, 0.05)
    check_labellings(PEOPLE, settings(confounds=("site", "sex")), 0.05)
    small = cohort(4)
    check_labellings(small, check_cohort(small, CohortSettings()), 0.05)  # 70 ways
    with pytest.raises(DenseflipError, match=r"in only 70 ways.*add graphs"):
        check_labellings(small, check_cohort(small, CohortSettings()), 0.01)


def test_columns_that_are_not_there_are_told() -> None:
    with pytest.raises(DenseflipError, match="Unknown confound 'agee'"):
        settings(confounds=("agee",))
    with pytest.raises(DenseflipError, match="has no subject table"):
        check_cohort(DATA, CohortSettings(confounds=("age",)))


BESIDE = Confounding(
    ("age", "site"), "site", 2, 2, True, 0.95, 0.9, (0.7, 0.97), 0.005, 0.5, 0.6, (0.4, 0.8)
)


def test_a_classifier_that_does_not_beat_its_confounds_says_nothing_about_the_groups() -> None:
    beats = replace(GOOD, confounds=BESIDE)
    as_good_alone = replace(GOOD, confounds=replace(BESIDE, alone=0.95))
    gone = replace(GOOD, confounds=replace(BESIDE, accuracy=0.5, p_value=0.6))
    unclear = replace(GOOD, confounds=replace(BESIDE, accuracy=0.6, interval=(0.4, 0.8)))
    assert [gate(x) for x in (GOOD, beats, as_good_alone, gone, unclear, CHANCE, None)] == [
        "", "", "confounded", "confounded", "confounded", "chance", "",
    ]  # fmt: skip
    found = found_cohort(evaluation=as_good_alone)
    assert found.verdict == "confounded"
    assert found.named == ()
    assert len(found.sentences) == 2
    assert "does not beat its confounds" in found.sentences[0]
    assert "may reflect age and site" in found.sentences[1]
    assert CELLS.name((0, 1)) not in found.statement


def test_what_the_p_values_do_not_hold_is_said() -> None:
    found = replace(
        found_cohort(evaluation=replace(GOOD, confounds=BESIDE)),
        settings=CohortSettings(confounds=("age", "site"), site="site"),
        held=("site",),
    )
    assert found.verdict == "named"
    assert "Labels were permuted within site only." in found.statement
    assert "The p-values do not account for age: a region pair may be named" in found.statement
