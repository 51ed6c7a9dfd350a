"""Tellability: trained on one part, told on the other, and never on the search's own word."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cohorts import make_cohort
from denseflip.classifiers.evaluation import Evaluation
from denseflip.classifiers.presets import fit_oracle
from denseflip.classifiers.tellability import Tellability, ToldDecision, prefer, tellability
from denseflip.errors import DatasetError, FileFormatError, InvalidParameterError, UnknownNameError
from denseflip.oracles.adapt import as_oracle

DATA = make_cohort(12, signal=0.7)


@pytest.fixture(scope="module")
def told() -> Tellability:
    return tellability(DATA, "regions-logistic", graphs=6)


def test_decisions_about_graphs_of_every_class_are_told(told):
    assert told.n_graphs == len({d.graph for d in told.decisions}) == 6
    assert [sum(DATA[d.graph].label == y for d in told.decisions) for y in (0, 1)] == [3, 3]
    assert told.share == sum(d.told for d in told.decisions) / 6
    for d in told.told:
        assert d.found
        assert 1 <= d.cells <= 5
        assert d.language == "pairs" or d.flips >= 18
        assert d.questions > 1
    assert told.told, "a cohort with a signal in its regions can be told in them"
    assert f"{len(told.told)} of 6 decisions about held-out graphs" in told.verdict


def test_same_seed_same_figures(told):
    assert tellability(DATA, "regions-logistic", graphs=6) == told
    assert tellability(DATA, "regions-logistic", graphs=6, seed=1) != told


def test_nothing_is_told_by_a_classifier_that_has_seen_the_graph():
    trained: list[set[str]] = []

    def fit(part):
        trained.append(set(part.ids))
        return fit_oracle(part, "edges-svm")

    reports = []
    told = tellability(
        DATA, "own", graphs=24, folds=3, fit=fit, progress=lambda *x: reports.append(x)
    )
    assert told.preset == "own"
    assert reports == [(i, 24) for i in range(25)]
    everything = set(DATA.ids)
    assert len(trained) == 3
    # Every graph is left out of exactly one training part, and told by that classifier.
    left_out = [everything - part for part in trained]
    assert sorted(x for part in left_out for x in part) == sorted(everything)
    assert {d.graph for d in told.decisions} == everything


def test_a_classifier_that_looks_at_single_pairs_is_not_told_in_regions():
    """It flips for four particular pairs together: no short sentence about places says that."""
    wanted = [(0, 5), (1, 6), (2, 7), (3, 4), (0, 9), (1, 10)]

    def fit(part):
        return as_oracle(lambda a: int(sum(a[p] for p in wanted) >= 5))

    told = tellability(DATA, "own", graphs=4, fit=fit, max_cells=2)
    for d in told.decisions:
        assert not d.told or d.language == "pairs" or d.flips >= 0.9 * d.draws
        assert not d.told or d.cells <= 2
    assert told.share < 1


def test_a_search_that_claims_nothing_is_read_plainly():
    plain = tellability(DATA, "regions-logistic", graphs=4, method="tri+min")
    assert plain.method == "tri+min"
    found = [d for d in plain.decisions if d.found]
    assert found
    assert {d.reading for d in found} == {"any"}
    assert all(d.told == (d.cells <= 5 and d.flips >= 18) for d in found)


def test_what_is_not_found_is_not_told():
    lost = tellability(DATA, "regions-logistic", graphs=2, method="tri", budget=1)
    assert [d.found for d in lost.decisions] == [False, False]
    assert (lost.share, lost.median_cells, lost.median_edits) == (0, None, None)
    assert lost.verdict.startswith("0 of 2 decisions")
    assert lost.verdict.endswith("at most 5 cells.")


def test_plain_form_and_back(told):
    data = json.loads(json.dumps(told.to_dict()))
    assert Tellability.from_dict(data) == told
    assert data["share"] == told.share
    assert data["median_cells"] == told.median_cells
    with pytest.raises(FileFormatError, match="Not a tellability: the entries preset, "):
        Tellability.from_dict({"dataset": "x"})


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"graphs": 0}, InvalidParameterError, "graphs must be a whole number, at least 1"),
        ({"max_cells": 0}, InvalidParameterError, "max_cells must be a whole number, at least 1"),
        ({"draws": 0}, InvalidParameterError, "draws must be a whole number, at least 1"),
        ({"folds": 13}, DatasetError, "for 13 folds"),
        ({"preset": "edge-svm"}, UnknownNameError, "Did you mean 'edges-svm'"),
        ({"method": "atuo"}, UnknownNameError, "Did you mean 'auto'"),
        ({"regions": "lobes"}, UnknownNameError, "taxonomy 'lobes'"),
    ],
)
def test_bad_input(settings, error, message):
    with pytest.raises(error, match=message):
        tellability(DATA, **{"preset": "regions-logistic", "graphs": 1, **settings})


# ---- which to prefer ----------------------------------------------------------------------


def judged(name, accuracy, n_told, cells=1, reading="any", *, n=100, p=0.01):
    low, high = accuracy - 0.08, accuracy + 0.08
    evaluation = Evaluation(
        dataset="d", class_counts={"a": n // 2, "b": n // 2}, preset=name, features="edges",
        estimator="x", folds=5, inner_folds=5, repeats=1, permutations=19, seed=0,
        accuracy=accuracy, interval=(low, high), f1=0, balanced_accuracy=0, majority_rate=0.5,
        p_value=p, null_mean=0.5, confusion=(), repeat_accuracies=(), chosen={},
        training_accuracy=1, training_f1=1,
    )  # fmt: skip
    one = ToldDecision("g", True, True, cells, "regions (lobe)", reading, 20, 20, 0.1, 9, True)
    not_one = replace(one, told=False)
    decisions = (one,) * n_told + (not_one,) * (10 - n_told)
    return evaluation, Tellability("d", name, "auto", 5, 5, 20, 0, decisions)


def test_of_equally_right_ones_the_one_that_can_be_told():
    name, reason = prefer([judged("dark", 0.8, 3), judged("clear", 0.76, 9)])
    assert name == "clear"
    assert reason == (
        "Preferred classifier: clear. It classifies 76 % of held-out graphs correctly, and 9 of 10 "
        "decisions have a short sentence that is true as read (a median of 1 cell)."
    )
    assert prefer([judged("long", 0.8, 9, cells=4), judged("short", 0.8, 9)])[0] == "short"
    assert prefer([judged("wide", 0.8, 9, reading="typical"), judged("any", 0.8, 9)])[0] == "any"
    assert prefer([judged("less", 0.78, 9), judged("more", 0.8, 9)])[0] == "more"


def test_being_told_does_not_make_up_for_being_wrong():
    assert prefer([judged("right", 0.9, 2), judged("wrong", 0.7, 10)])[0] == "right"
    # At chance however clearly it can be told.
    assert prefer([judged("right", 0.7, 0), judged("guess", 0.66, 10, p=0.5)])[0] == "right"
    name, reason = prefer([judged("guess", 0.55, 10)])
    assert name is None
    assert "No classifier is clearly better than chance" in reason
    with pytest.raises(InvalidParameterError, match="no classifiers to choose from"):
        prefer([])
