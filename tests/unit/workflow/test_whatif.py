"""A graph changed by hand: what is drawn, what is asked, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from cohorts import make_cohort
from denseflip.classifiers.linear_table import pair_table
from denseflip.classifiers.presets import fit_oracle
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.workflow.whatif import Change, WhatIf, steps_of

COHORT = make_cohort()
REGIONS = COHORT.nodes.taxonomy("lobe")
GRAPH = COHORT["g0000"].graph


@pytest.fixture(scope="module")
def logistic():
    return fit_oracle(COHORT, "edges-logistic")


def what_if(oracle, **more):
    return WhatIf(GRAPH, oracle, REGIONS, **more)


def test_the_first_choice_is_what_is_labelled(logistic):
    guess = what_if(logistic).ask([Change(0, 1, more=4, fewer=1)], [(0, 1)], seed=3)
    changed = GRAPH.toggle(guess.pairs)
    assert [guess.label] == logistic.predict([changed])
    assert guess.confidence == pytest.approx(logistic.predict_proba([changed]).max())
    assert len(guess.pairs) == 6
    inside = {(u < 6) != (v < 6) for u, v in guess.pairs if (u, v) != (0, 1)}
    assert inside == {True}
    held = [GRAPH.has_edge(u, v) for u, v in guess.pairs]
    assert (guess.removed, guess.added) == (sum(held), 6 - sum(held))


def test_one_more_keeps_the_others(logistic):
    asked = what_if(logistic)
    pairs = [set(asked.ask([Change(0, 1, more=n)]).pairs) for n in (2, 3, 7)]
    assert pairs[0] < pairs[1] < pairs[2]


def test_where_nothing_is_left_to_choose_there_is_one_draw(logistic):
    asked = what_if(logistic)
    assert asked.ask().draws == 1
    assert asked.ask(pairs=[(0, 1)]).draws == 1
    assert asked.places is not None
    full = len(asked.places.absent((0, 0)))
    assert asked.ask([Change(0, 0, more=full)]).draws == 1


def test_a_pair_given_twice_is_not_flipped(logistic):
    assert what_if(logistic).ask(pairs=[(0, 1), (1, 0)]).pairs == ()


def test_typical_connections_are_those_that_the_class_has(logistic):
    asked = what_if(logistic, background=COHORT.graphs)
    guess = asked.ask([Change(0, 1, more=3)], reading="typical", target=1)
    others = [g for g, x in zip(COHORT.graphs, logistic.predict(COHORT.graphs), strict=True) if x]
    for u, v in guess.pairs:
        assert any(g.has_edge(u, v) for g in others)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"cells": [Change(0, 2)]}, InvalidParameterError, "0..1"),
        ({"cells": [Change(0, 1), Change(1, 0)]}, InvalidParameterError, "twice"),
        ({"cells": [Change(0, 0, more=100)]}, InvalidParameterError, "cannot be added"),
        ({"cells": [Change(0, 0, fewer=100)]}, InvalidParameterError, "cannot be removed"),
        ({"pairs": [(0, 99)]}, InvalidParameterError, "0..11"),
        ({"reading": "moon"}, UnknownNameError, "moon"),
        ({"reading": "typical"}, MissingInputError, "background"),
    ],
)
def test_what_cannot_be_is_told(logistic, given, error, words):
    with pytest.raises(error, match=words):
        what_if(logistic).ask(**given)


def test_without_regions_only_pairs_can_be_changed(logistic):
    bare = WhatIf(GRAPH, logistic)
    assert bare.ask(pairs=[(0, 1)]).draws == 1
    with pytest.raises(MissingInputError, match="single pairs"):
        bare.ask([Change(0, 0, more=1)])


def test_a_classifier_without_confidence_gives_none():
    svm = fit_oracle(COHORT, "edges-svm")
    assert what_if(svm).ask().confidence is None


@pytest.mark.parametrize("preset", ["edges-svm", "edges-logistic", "regions-logistic"])
def test_a_table_gives_the_scores_of_its_classifier(preset):
    oracle = fit_oracle(COHORT, preset)
    table = pair_table(oracle)
    assert table is not None
    rows = np.array([g.to_adjacency()[np.triu_indices(12, 1)] for g in COHORT.graphs])
    scores = rows @ table.weights.T + table.offset
    labels = [table.classes[int(s > 0)] for s in scores[:, 0]]
    assert labels == oracle.predict(COHORT.graphs)


def test_a_long_trace_is_thinned_and_ends_where_it_ends():
    from denseflip import explain

    result = explain(GRAPH, lambda a: int(a.sum() > 1000), "edg", budget=50)
    frames = steps_of(result.original, result.trace, most=5)
    assert frames[0] == (0, GRAPH)
    assert frames[-1] == (len(result.trace), result.replay())
    assert len(frames) <= 5
