"""Stability: for how many refits a claim holds, and the search for claims that hold for most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from denseflip import Constraints, explain, fit_oracle, make_refits
from denseflip.counterfactual import Counterfactual
from denseflip.errors import InvalidParameterError, MissingInputError
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.session import Session
from denseflip.result_scores import Stability
from denseflip.search.claims.redraw import claim_of
from denseflip.search.claims.stability import Committee, claim_stability
from groups import NODES, cohort

DATA = cohort(10, gap=4)
ORACLE = fit_oracle(DATA, "regions-logistic")
REFITS = make_refits(DATA, ORACLE, 12)
BACKGROUND = Background.of(DATA.graphs)


class Recorder:
    """An oracle that remembers the graphs that it was queried with."""

    def __init__(self, oracle):
        self.oracle, self.seen = oracle, []

    def predict(self, graphs):
        self.seen += [graph.key for graph in graphs]
        return self.oracle.predict(graphs)


def found(graph=DATA.graphs[0], **options):
    known = {"nodes": NODES, "background": BACKGROUND, **options}
    return explain(graph, ORACLE, **known)


def opposite(oracle):
    def other(graphs):
        return [1 - label for label in oracle.predict(graphs)]

    return as_oracle(other, input="graph", batch=True)


# ---- the value --------------------------------------------------------------------------------


def test_the_figures_of_a_stability():
    seen = Stability(6, (1.0, 1.0, 0.9, 0.4), 20, wanted=0.8)
    assert (seen.agreeing, seen.holds, seen.reached) == (4, 3, True)
    assert seen.share == pytest.approx(0.825)
    assert 0 <= seen.interval[0] < seen.share < seen.interval[1] <= 1
    assert Stability.from_dict(seen.to_dict()) == seen
    assert "holds for 3 of 4 refits" in str(seen)
    assert not replace(seen, wanted=0.9).reached


def test_a_stability_without_agreeing_refits_is_not_known():
    seen = Stability(6, (), 20, wanted=0.8)
    assert (seen.share, seen.interval, seen.reached) == (None, (0.0, 1.0), False)
    assert str(seen) == "not known: none of 6 refits gives the original its label"
    assert Stability(1, (1.0,), 20).interval == (0.0, 1.0)


@pytest.mark.parametrize("shares", [(1.0, 1.0, 1.0), (1.2,), (-0.1,)])
def test_impossible_shares_are_refused(shares):
    with pytest.raises(InvalidParameterError, match="refits"):
        Stability(2, shares, 20)


# ---- the measure ------------------------------------------------------------------------------


def measured(refits, **options):
    result = found()
    session = Session(ORACLE)
    claim = claim_of(result, session, nodes=NODES)
    return claim_stability(result, claim, session, refits, BACKGROUND, **options)


def test_the_classifier_itself_agrees_with_its_claim():
    seen = measured([ORACLE] * 3)
    assert (seen.refits, seen.agreeing, seen.holds) == (3, 3, 3)


def test_refits_that_disagree_about_the_original_are_not_tested():
    seen = measured([ORACLE, opposite(ORACLE)])
    assert (seen.refits, seen.agreeing) == (2, 1)
    seen = measured([opposite(ORACLE)] * 2)
    assert (seen.refits, seen.agreeing, seen.share) == (2, 0, None)


def test_every_refit_gets_the_same_redraws_whichever_the_others_are():
    recorders = [Recorder(refit) for refit in REFITS[:3]]
    seen = measured(recorders)
    assert len({tuple(one.seen) for one in recorders}) == 1
    assert measured(REFITS[:3]).shares == seen.shares
    assert measured(REFITS[:3], seed=5).draws == seen.draws == 20


def test_without_refits_nothing_is_known():
    assert measured(()) == measured(None) == Stability(0, (), 0)


def test_a_list_of_pairs_is_tested_as_it_is():
    result = found(language="pairs", refits=REFITS)
    assert result.as_read.language == "pairs"
    assert (result.stability.refits, result.stability.draws) == (12, 1)
    assert set(result.stability.shares) <= {0.0, 1.0}


def test_the_result_says_for_how_many_refits_its_claim_holds():
    result = found(refits=REFITS)
    assert result.stability.refits == 12
    assert result.stability.wanted is None
    assert Counterfactual.from_dict(result.to_dict()) == result
    assert "stable" in str(result)
    assert replace(found(), elapsed=0) == replace(result, stability=None, elapsed=0)


def test_a_committee_gives_probabilities_where_it_has_them():
    graphs = DATA.graphs[:4]
    label = ORACLE.predict(graphs[:1])[0]
    sure = Committee([ORACLE], graphs[0], label, confidence=True)
    assert sure.has_confidence
    assert np.allclose(sure.leanings(graphs, 1)[0], ORACLE.predict_proba(graphs)[:, 1])
    plain = Committee([Recorder(ORACLE)], graphs[0], label, confidence=True)
    assert not plain.has_confidence
    assert plain.leanings(graphs, 1).tolist() == plain.flips(graphs, 1).astype(float).tolist()


@pytest.mark.parametrize("refits", ["edges-svm", 20, {"a": 1}])
def test_refits_must_be_a_list_of_classifiers(refits):
    with pytest.raises(InvalidParameterError, match="list of classifiers"):
        found(refits=refits)


# ---- the search -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "brief"])
def test_a_stable_answer_holds_for_refits_that_the_search_did_not_use(method):
    result = found(method=method, stable=0.9, refits=REFITS)
    assert result.found
    assert result.as_read.true
    assert result.stability.reached
    assert result.stability.held_out
    assert result.stability.refits == 6
    assert found(method=method, stable=0.9, refits=REFITS).edits == result.edits


class SureRecorder(Recorder):
    """A recorder that has probabilities too, and counts how often they are asked for."""

    classes, asked = (0, 1), 0

    def predict_proba(self, graphs):
        self.asked += len(graphs)
        return self.oracle.predict_proba(graphs)


@pytest.mark.parametrize(("information", "asks"), [("labels", False), ("auto", True)])
def test_with_labels_only_no_refit_is_asked_for_probabilities(information, asks):
    refits = [SureRecorder(refit) for refit in REFITS[:4]]
    found(stable=0.9, refits=refits, information=information, budget=2000)
    assert any(refit.asked for refit in refits) is asks


def test_the_other_half_is_queried_about_the_final_claim_only():
    recorders = [Recorder(refit) for refit in REFITS]
    result = found(stable=0.9, refits=recorders)
    assert all(len(one.seen) <= 1 + result.stability.draws for one in recorders[1::2])
    assert all(len(one.seen) > 100 for one in recorders[::2])
    other = [opposite(one) if i % 2 else one for i, one in enumerate(recorders)]
    turned = found(stable=0.9, refits=other)
    assert turned.stability is None or turned.stability.agreeing == 0


def test_a_refit_of_the_other_half_does_not_change_the_answer():
    half = [ORACLE if i % 2 else one for i, one in enumerate(REFITS)]
    assert found(stable=0.9, refits=half).edits == found(stable=0.9, refits=REFITS).edits


def test_if_the_level_is_out_of_reach_the_best_answer_says_so():
    rng = np.random.default_rng(0)
    random = []
    for _ in range(8):
        weights = rng.normal(size=(12, 12))
        offset = float((DATA.graphs[0].to_adjacency() * weights).sum())
        before = ORACLE.predict(DATA.graphs[:1])[0]
        random.append(
            as_oracle(
                lambda a, w=weights, b=offset, y=before: y if (a * w).sum() <= b + 1e-9 else 1 - y
            )
        )
    result = found(stable=1.0, refits=random)
    assert result.found
    assert not result.stability.reached
    assert any(note.startswith("Out of reach: a share of 1 ") for note in result.notes)


def test_refits_that_all_disagree_with_the_label_are_noted():
    result = found(stable=0.8, refits=[opposite(ORACLE)] * 4)
    assert result.found
    assert any(note.startswith("Only 0 of 4 classifiers") for note in result.notes)
    assert result.stability.agreeing == 0


def test_a_stable_answer_needs_refits_before_any_query():
    recorder = Recorder(ORACLE)
    for refits in (None, [], REFITS[:1]):
        with pytest.raises(MissingInputError, match="at least 2 times"):
            explain(DATA.graphs[0], recorder, nodes=NODES, stable=0.8, refits=refits)
    assert recorder.seen == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"robust": 0.9}, "stable and robust cannot be"),
        ({"objective": "edits"}, "stable and objective='edits' cannot be"),
        ({"language": "pairs"}, "stable and language='pairs' cannot be"),
        ({"method": "tri"}, "These have it: auto, brief, best"),
        ({"stable": 0.0}, "stable"),
        ({"stable": 1.5}, "stable"),
    ],
)
def test_options_that_contradict_each_other(options, words):
    with pytest.raises(InvalidParameterError, match=words):
        found(**{"stable": 0.8, "refits": REFITS, **options})


@pytest.mark.parametrize("method", ["auto", "best", "brief"])
def test_a_front_shows_what_stability_costs(method):
    result = found(method=method, stable=0.8, refits=REFITS, front=True)
    assert result.found
    assert result.stability.held_out
    assert [one.edits for one in result.front].count(result.edits) == 1
    for one in result.front:
        assert one.stability is not None
        assert one.stability.refits == 6  # the half that no search has used, for all of them
        assert one.stability.share <= result.stability.share + 0.2
    places = [len(one.as_read.places) or 99 for one in result.front]
    assert places == sorted(places)
    alone = found(method=method, stable=0.8, refits=REFITS)
    assert alone.stability == result.stability


def test_a_front_with_refits_has_the_stability_of_every_answer():
    result = found(refits=REFITS, front=True)
    assert all(one.stability.refits == 12 for one in result.front)
    assert not any(one.stability.held_out for one in result.front)


def test_a_stable_answer_keeps_the_constraints():
    result = found(stable=0.8, refits=REFITS, constraints=Constraints(freeze=["lobe: Z"]))
    assert result.found
    z = set(range(8, 12))
    assert not any(z & set(pair) for pair in (*result.added, *result.removed))


def test_several_stable_answers():
    result = found(stable=0.8, refits=REFITS, n=2)
    assert result.diverse
    assert all(one.stability is not None for one in result.diverse)


def test_a_small_budget_is_kept():
    result = found(stable=0.8, refits=REFITS, budget=30)
    assert result.calls <= 30
