"""A graph changed by hand: what is drawn, what is asked, what is refused."""

from __future__ import annotations

import base64
from dataclasses import replace

import numpy as np
import pytest

from cohorts import make_cohort
from denseflip import Constraints, Graph, Story, make_method
from denseflip.as_read import READINGS
from denseflip.classifiers.presets import fit_oracle
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.oracles.background import Frequencies
from denseflip.search.claims.claim import Amount
from denseflip.search.claims.redraw import Sides
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.offline_whatif import pair_table, start_of, whatif_data
from denseflip.workflow.subject import find_subject
from denseflip.workflow.whatif import WhatIf, steps_of

COHORT = make_cohort()
REGIONS = COHORT.nodes.taxonomy("lobe")
GRAPH = COHORT["g0000"].graph
ONE = [Amount((0, 1), 1, 0)]


@pytest.fixture(scope="module")
def logistic():
    return fit_oracle(COHORT, "edges-logistic")


def what_if(oracle, **more):
    return WhatIf(GRAPH, oracle, REGIONS, **more)


def test_the_first_choice_is_what_is_labelled(logistic):
    guess = what_if(logistic).ask([Amount((0, 1), 4, 1)], [(0, 1)], seed=3)
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
    pairs = [set(asked.ask([Amount((0, 1), n, 0)]).pairs) for n in (2, 3, 7)]
    assert pairs[0] < pairs[1] < pairs[2]


def test_where_nothing_is_left_to_choose_there_is_one_draw(logistic):
    asked = what_if(logistic)
    assert asked.ask().draws == 1
    assert asked.ask(pairs=[(0, 1)]).draws == 1
    assert asked.places is not None
    full = len(asked.places.absent((0, 0)))
    assert asked.ask([Amount((0, 0), full, 0)]).draws == 1


def test_a_pair_given_twice_is_not_flipped(logistic):
    assert what_if(logistic).ask(pairs=[(0, 1), (1, 0)]).pairs == ()


def test_typical_connections_are_those_that_the_class_has(logistic):
    asked = what_if(logistic, background=COHORT.graphs)
    guess = asked.ask([Amount((0, 1), 3, 0)], reading="typical", target=1)
    others = [g for g, x in zip(COHORT.graphs, logistic.predict(COHORT.graphs), strict=True) if x]
    for u, v in guess.pairs:
        assert any(g.has_edge(u, v) for g in others)


def test_distinctive_connections_are_those_that_the_class_has_more_often(logistic):
    labels = logistic.predict(COHORT.graphs)
    asked = what_if(logistic, background=COHORT.graphs)
    said = asked.ask([Amount((0, 1), 3, 3)], reading="distinctive", target=1)

    def often(u, v, label):
        inside = [g for g, x in zip(COHORT.graphs, labels, strict=True) if x == label]
        return sum(g.has_edge(u, v) for g in inside) / len(inside)

    assert (said.added, said.removed) == (3, 3)
    for u, v in said.pairs:
        more = often(u, v, 1) > often(u, v, 0)
        assert more != GRAPH.has_edge(u, v)


def test_a_class_that_no_graph_is_in_has_nothing_typical(logistic):
    others = [g for g in COHORT.graphs if logistic.predict([g]) == logistic.predict([GRAPH])]
    with pytest.raises(MissingInputError, match="no graph of the background"):
        what_if(logistic, background=others).ask(ONE, reading="typical")


def test_two_nodes_do_not_draw_the_pair_they_share_twice(logistic):
    empty = WhatIf(Graph.from_edges(12, []), logistic, REGIONS)
    both = [Amount((0, None), 11, 0), Amount((1, None), 10, 0)]
    assert len(empty.ask(both).pairs) == 21
    with pytest.raises(InvalidParameterError, match="node 1: 11 connections cannot be added"):
        empty.ask([both[0], both[1]._replace(added=11)])


def test_what_the_constraints_forbid_is_not_drawn(logistic):
    from denseflip.search.constraints.bound_constraints import BoundConstraints

    given = Constraints(freeze=["n0", "n1", "n2"], only="add")
    terms = BoundConstraints(given, GRAPH, COHORT.nodes)
    asked = what_if(logistic, terms=terms)
    for seed in range(5):
        pairs = asked.ask([Amount((0, 1), 6, 0)], seed=seed).pairs
        assert all(u > 2 for u, _ in pairs)
    with pytest.raises(InvalidParameterError, match="cannot be removed; there are 0"):
        asked.ask([Amount((0, 1), 0, 1)])


def test_the_first_choice_may_be_given(logistic):
    given = [(0, 7), (1, 8)]
    said = what_if(logistic).ask([Amount((0, 1), 2, 0)], first=given)
    assert said.pairs == tuple(given)
    assert said.draws == 20


# ---- the panel opens with the claim of the sentence -----------------------------------------


@pytest.mark.parametrize(
    ("preset", "options", "reading", "language"),
    [
        ("regions-logistic", {"readings": ("any",)}, "any", "regions"),
        ("edges-logistic", {"readings": ("typical",)}, "typical", "regions"),
        ("edges-logistic", {"readings": ("distinctive",)}, "distinctive", "regions"),
        ("regions-logistic", {"language": "nodes"}, "any", "nodes"),
        ("edges-logistic", {"language": "nodes"}, "distinctive", "nodes"),
        ("sf-knn", {"readings": ("distinctive",)}, "distinctive", "regions"),
    ],
)
def test_the_claim_has_the_same_verdict_by_hand(preset, options, reading, language):
    oracle = fit_oracle(COHORT, preset)
    subject = find_subject(COHORT, "g0000")
    story = explain_and_describe(subject, oracle, make_method("brief", **options))
    claim = story.claim
    assert (claim.reading, claim.language, story.true_as_read) == (reading, language, True)
    start = whatif_data(subject, oracle, story=story)["start"]
    assert start["reading"] == reading
    assert start["test"] == {"draws": story.as_read.draws, "flips": story.as_read.flips}
    amounts = [Amount((c["a"], c["b"]), c["more"], c["fewer"]) for c in start["cells"]]
    assert tuple(amounts) == claim.amounts
    asked = WhatIf(subject.graph, oracle, story.taxonomy, background=subject.background)
    said = asked.ask(amounts, reading=reading, target=claim.label, draws=100, first=start["edits"])
    assert said.label == claim.label
    assert said.flips >= 0.9 * said.draws
    assert (said.added, said.removed) == (
        sum(a.added for a in amounts),
        sum(a.removed for a in amounts),
    )


def test_another_reading_than_that_of_the_claim_has_another_verdict(logistic):
    subject = find_subject(COHORT, "g0000")
    story = explain_and_describe(subject, logistic, make_method("brief", readings=("distinctive",)))
    asked = what_if(logistic, background=COHORT.graphs)
    assert asked.ask(story.claim.amounts, reading="any", draws=100).flips < 50


def test_a_claim_of_its_own_connections_only_opens_as_pairs(logistic):
    subject = find_subject(COHORT, "g0000")
    story = explain_and_describe(subject, logistic, "race")
    assert not story.true_as_read
    start = whatif_data(subject, logistic, story=story)["start"]
    assert (start["cells"], start["reading"], start["test"]) == ([], "any", None)
    edits = story.named_edits
    assert sorted(map(tuple, start["pairs"])) == sorted((*edits.added, *edits.removed))


def test_a_panel_that_cannot_draw_what_the_claim_means_opens_as_pairs(logistic):
    subject = find_subject(COHORT, "g0000")
    story = explain_and_describe(subject, logistic, make_method("brief", readings=("distinctive",)))
    alone = whatif_data(replace(subject, dataset=None), logistic, story=story)
    assert alone["readings"] == ["any"]
    assert alone["start"]["cells"] == []
    side = COHORT.nodes.taxonomy("side")
    assert whatif_data(subject, logistic, story=story, regions=side)["start"]["cells"] == []
    alike = Sides(Frequencies.of([GRAPH]), Frequencies.of([GRAPH]))  # nothing sets them apart
    assert start_of(story, REGIONS, alike)["cells"] == []
    assert whatif_data(subject, logistic, story=story)["readings"] == list(READINGS)


def test_the_panel_keeps_to_the_constraints_of_the_explanation(logistic):
    subject = find_subject(COHORT, "g0000")
    assert (
        whatif_data(subject, logistic, story=explain_and_describe(subject, logistic))["free"]
        is None
    )
    story = explain_and_describe(subject, logistic, constraints={"freeze": ["n0", "n1"]})
    data = whatif_data(subject, logistic, story=Story.from_dict(story.to_dict()))
    free = data["free"]
    assert free is not None
    values = np.frombuffer(base64.b64decode(free["values"]))
    places = np.frombuffer(base64.b64decode(free["places"]), dtype="<u2")
    u, v = np.triu_indices(12, 1)
    assert np.array_equal(values[places] == 0, (u < 2) | (v < 2))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"amounts": [Amount((0, 2), 1, 0)]}, InvalidParameterError, "0..1"),
        ({"amounts": [Amount((12, None), 1, 0)]}, InvalidParameterError, "0..11; got 12"),
        ({"amounts": [Amount((0, 1), 1, 0), Amount((1, 0), 1, 0)]}, InvalidParameterError, "twice"),
        ({"amounts": [Amount((0, 0), 100, 0)]}, InvalidParameterError, "Front: 100 .* be added"),
        ({"amounts": [Amount((0, 0), 0, 100)]}, InvalidParameterError, "be removed"),
        ({"amounts": [Amount((3, None), 12, 0)]}, InvalidParameterError, "node 3: 12 connections"),
        ({"pairs": [(0, 99)]}, InvalidParameterError, "0..11"),
        ({"reading": "moon"}, UnknownNameError, "moon"),
        ({"amounts": ONE, "reading": "typical"}, MissingInputError, "background"),
        ({"amounts": ONE, "reading": "distinctive"}, MissingInputError, "background"),
    ],
)
def test_what_cannot_be_is_told(logistic, given, error, words):
    with pytest.raises(error, match=words):
        what_if(logistic).ask(**given)


def test_without_regions_nodes_and_pairs_can_be_changed(logistic):
    bare = WhatIf(GRAPH, logistic)
    assert bare.ask(pairs=[(0, 1)]).draws == 1
    with pytest.raises(MissingInputError, match="single pairs"):
        bare.ask([Amount((0, 0), 1, 0)])
    assert len(bare.ask([Amount((0, None), 2, 1)]).pairs) == 3


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
