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
from denseflip.datasets import load_dataset
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.graph import Taxonomy
from denseflip.oracles.background import Frequencies
from denseflip.search.claims.claim import Amount
from denseflip.search.claims.sides import Sides
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
    ("preset", "subject_id", "options", "reading", "language"),
    [
        ("regions-logistic", "g0000", {"readings": ("any",)}, "any", "regions"),
        ("edges-logistic", "g0000", {"readings": ("typical",)}, "typical", "regions"),
        ("edges-logistic", "g0000", {"readings": ("distinctive",)}, "distinctive", "regions"),
        ("regions-logistic", "g0000", {"language": "nodes"}, "any", "nodes"),
        ("edges-logistic", "g0000", {"language": "nodes"}, "distinctive", "nodes"),
        ("sf-knn", "g0006", {"readings": ("distinctive",)}, "distinctive", "regions"),
        ("regions-logistic", "g0000", {"balance": "on"}, "any", "regions"),
        (
            "edges-logistic",
            "g0000",
            {"readings": ("distinctive",), "balance": "on"},
            "distinctive",
            "regions",
        ),
        (
            "edges-logistic",
            "g0001",
            {"readings": ("typical",), "balance": "on"},
            "typical",
            "regions",
        ),
        (
            "regions-logistic",
            "g0005",
            {"language": "nodes", "balance": "on"},
            "distinctive",
            "nodes",
        ),
        ("sf-knn", "g0001", {"balance": "on"}, "any", "regions"),
    ],
)
def test_the_claim_has_the_same_verdict_by_hand(preset, subject_id, options, reading, language):
    oracle = fit_oracle(COHORT, preset)
    subject = find_subject(COHORT, subject_id)
    story = explain_and_describe(subject, oracle, make_method("brief", **options))
    claim = story.claim
    assert (claim.reading, claim.language, story.true_as_read) == (reading, language, True)
    assert claim.balanced == ("balance" in options)
    start = whatif_data(subject, oracle, story=story)["start"]
    assert (start["reading"], start["balance"]) == (reading, claim.balanced)
    assert start["test"] == {"draws": story.as_read.draws, "flips": story.as_read.flips}
    assert_opens_with(story, subject, oracle, start)


def assert_opens_with(story, subject, oracle, start):
    """The panel's start is the claim; its own draws, 100 of them, flip as those of its test."""
    claim = story.claim
    amounts = [Amount((c["a"], c["b"]), c["more"], c["fewer"]) for c in start["cells"]]
    assert tuple(amounts) == claim.amounts
    asked = WhatIf(subject.graph, oracle, story.taxonomy, background=subject.background)
    said = asked.ask(
        amounts,
        reading=start["reading"],
        target=claim.label,
        draws=100,
        first=start["edits"],
        balance=start["balance"],
    )
    assert said.label == claim.label
    assert said.flips >= 0.85 * said.draws  # new draws of a claim that 9 of 10 draws confirm
    assert said.flips / said.draws == pytest.approx(story.as_read.share, abs=0.08)
    more, fewer = sum(a.added for a in amounts), sum(a.removed for a in amounts)
    outside = claim.elsewhere
    assert (said.added, said.removed) == (more + max(outside, 0), fewer + max(-outside, 0))


@pytest.mark.slow
@pytest.mark.usefixtures("brain_data")
@pytest.mark.parametrize(
    ("name", "which"), [("mice", 0), ("mice", 1), ("aut", 0), ("aut", 1), ("aut", 3)]
)
def test_the_panel_opens_with_the_share_of_the_headline(name, which):
    """The number of edges hardly varies in these data, so their claims keep it."""
    data = load_dataset(name)
    oracle = fit_oracle(data, "regions-logistic")
    subject = find_subject(data, which)
    story = explain_and_describe(subject, oracle)
    assert story.true_as_read
    assert story.claim.balanced
    start = whatif_data(subject, oracle, story=story)["start"]
    assert start["balance"]
    assert_opens_with(story, subject, oracle, start)
    if name == "mice":  # without what changes elsewhere, the sentence is not true
        asked = WhatIf(subject.graph, oracle, story.taxonomy, background=subject.background)
        assert asked.ask(story.claim.amounts, target=story.claim.label).flips == 0


# ---- one region with all regions ------------------------------------------------------------

THREE = Taxonomy.from_labels("part", [*"AAAABBBBCCCC"])
WIDE = (0, 3)


def test_a_region_with_all_regions_can_be_changed_by_hand(logistic):
    asked = WhatIf(GRAPH, logistic, THREE, background=COHORT.graphs)
    said = asked.ask([Amount(WIDE, 5, 2)])
    assert (said.added, said.removed) == (5, 2)
    assert all(min(pair) < 4 for pair in said.pairs)
    there = {pair for pair in GRAPH.edges() if min(pair) < 4}  # also within A
    assert {v < 4 for _, v in there} == {True, False}
    assert set(asked.ask([Amount(WIDE, 0, len(there))]).pairs) == there
    kept = asked.ask([Amount(WIDE, 3, 0)], balance=True)
    assert (kept.added, kept.removed) == (3, 3)
    assert all((u < 4) == ((u, v) not in GRAPH.edges()) for u, v in kept.pairs)
    with pytest.raises(InvalidParameterError, match=r"A – all regions: 999 .* be added"):
        asked.ask([Amount(WIDE, 999, 0)])
    with pytest.raises(InvalidParameterError, match=r"0\.\.2; got \(0, 4\)"):
        asked.ask([Amount((0, 4), 1, 0)])


def test_the_panel_opens_with_a_region_and_all_regions():
    data = load_dataset("synthetic:strength=0.5")
    oracle = fit_oracle(data, "edges-svm")
    subject = find_subject(data, 0)
    story = explain_and_describe(subject, oracle)
    assert story.claim.with_all
    (place,) = story.claim.places
    panel = whatif_data(subject, oracle, story=story)
    low, _, high = panel["usual"]["{}-{}".format(*place)]
    assert (low, high) == (story.reference[0].low, story.reference[0].high)
    assert_opens_with(story, subject, oracle, panel["start"])


# ---- the number of edges is kept ------------------------------------------------------------


def cell_of(u, v):
    return tuple(sorted((REGIONS.index[u], REGIONS.index[v])))


@pytest.mark.parametrize(
    ("amounts", "pairs"),
    [
        ([Amount((0, 1), 3, 0)], []),
        ([Amount((0, 1), 0, 3)], []),
        ([Amount((0, 0), 3, 1), Amount((0, 1), 0, 5)], [(6, 7)]),
        ([Amount((3, None), 2, 0)], [(0, 1)]),
        ([Amount((3, None), 0, 2), Amount((1, 1), 1, 0)], []),  # a node and a cell
        ([], [(0, 7), (1, 8), (2, 9)]),
    ],
)
def test_as_many_connections_change_elsewhere(logistic, amounts, pairs):
    asked = what_if(logistic, background=COHORT.graphs)
    for seed in range(5):
        plain = asked.ask(amounts, pairs, seed=seed)
        kept = asked.ask(amounts, pairs, seed=seed, balance=True)
        assert kept == asked.ask(amounts, pairs, seed=seed, balance=True)
        assert GRAPH.toggle(kept.pairs).n_edges == GRAPH.n_edges
        assert set(plain.pairs) <= set(kept.pairs)  # the places have the same draws
        others = set(kept.pairs) - set(plain.pairs)
        assert len(others) == abs(plain.added - plain.removed) > 0
        cells = {place for place, _, _ in amounts if place[1] is not None}
        nodes = {place[0] for place, _, _ in amounts if place[1] is None}
        for u, v in others:
            assert cell_of(u, v) not in cells
            assert not nodes & {u, v}
            assert any(g.has_edge(u, v) for g in COHORT.graphs)
        assert kept.draws == 20


def test_draws_elsewhere_are_nested_and_their_own(logistic):
    asked = what_if(logistic, background=COHORT.graphs)
    cell = (0, 1)

    def others(n, **more):
        said = asked.ask([Amount(cell, n, 0)], balance=True, **more)
        return {pair for pair in said.pairs if cell_of(*pair) != cell}

    assert others(2) < others(3) < others(7)
    assert len({frozenset(others(5, seed=seed)) for seed in range(8)}) > 4


def test_a_change_that_keeps_the_number_draws_nothing_elsewhere(logistic):
    asked = what_if(logistic, background=COHORT.graphs)
    same = [Amount((0, 1), 2, 2)]
    assert asked.ask(same, balance=True) == asked.ask(same)
    assert asked.ask(balance=True).draws == 1


@pytest.mark.parametrize("adding", [True, False])
def test_draws_elsewhere_have_the_weights_of_a_redraw(logistic, adding):
    """Pairs are added as often as the data set has them, and removed as seldom."""
    asked = what_if(logistic, background=COHORT.graphs)
    amount = Amount((0, 0), 0, 1) if adding else Amount((0, 0), 1, 0)
    drawn = []
    for seed in range(600):
        said = asked.ask([amount], balance=True, draws=1, seed=seed)
        drawn += [pair for pair in said.pairs if cell_of(*pair) != (0, 0)]
    having = {
        (u, v): sum(g.has_edge(u, v) for g in COHORT.graphs)
        for u in range(12)
        for v in range(u + 1, 12)
        if cell_of(u, v) != (0, 0) and GRAPH.has_edge(u, v) != adding
    }
    weights = {pair: c if adding else len(COHORT) + 1 - c for pair, c in having.items()}
    mean = sum(having[p] * w for p, w in weights.items()) / sum(weights.values())
    even = sum(having.values()) / len(having)
    found = np.mean([having[pair] for pair in drawn])
    assert len(drawn) == 600
    assert found == pytest.approx(mean, abs=0.3)
    assert abs(mean - even) > 0.3  # an even draw would be noticed


def test_what_the_constraints_forbid_is_not_drawn_elsewhere(logistic):
    from denseflip.search.constraints.bound_constraints import BoundConstraints

    terms = BoundConstraints(Constraints(freeze=["n0", "n7"]), GRAPH, COHORT.nodes)
    asked = what_if(logistic, background=COHORT.graphs, terms=terms)
    for seed in range(5):
        said = asked.ask([Amount((0, 0), 4, 0)], seed=seed, balance=True)
        assert len(said.pairs) == 8
        assert not {0, 7} & {node for pair in said.pairs for node in pair}


def test_without_regions_the_number_of_edges_can_be_kept(logistic):
    bare = WhatIf(GRAPH, logistic, background=COHORT.graphs)
    said = bare.ask([Amount((0, None), 2, 0)], [(4, 5)], balance=True)
    assert said.added == said.removed
    assert sum(0 in pair for pair in said.pairs) == 2


def test_a_number_of_edges_that_cannot_be_kept_is_refused(logistic):
    asked = what_if(logistic, background=COHORT.graphs)
    every = [Amount((a, b), len(asked.places.absent((a, b))), 0) for a, b in [(0, 0), (0, 1)]]
    with pytest.raises(
        InvalidParameterError, match=r"cannot be kept: .* outside the places chosen, and on"
    ):
        asked.ask(every, balance=True)
    alone = what_if(logistic, background=[GRAPH])  # no other graph says what could be added
    with pytest.raises(InvalidParameterError, match=r"2 would have to be added .* only 0 can be"):
        alone.ask([Amount((0, 1), 0, 2)], balance=True)


@pytest.mark.parametrize("background", [None, []])
def test_keeping_the_number_of_edges_needs_a_background(logistic, background):
    with pytest.raises(MissingInputError, match="Give background graphs, or do not keep"):
        what_if(logistic, background=background).ask(ONE, balance=True)


def test_a_balanced_claim_opens_as_pairs_if_the_panel_cannot_draw_elsewhere(logistic):
    subject = find_subject(COHORT, "g0000")
    story = explain_and_describe(subject, logistic, make_method("brief", balance="on"))
    assert story.claim.balanced
    alone = whatif_data(replace(subject, dataset=None), logistic, story=story)
    assert alone["often"] is None
    assert (alone["start"]["cells"], alone["start"]["balance"]) == ([], False)
    assert len(alone["start"]["pairs"]) == len(story.result.edits)  # those elsewhere as well


def test_the_page_knows_how_many_graphs_have_a_pair(logistic):
    often = whatif_data(find_subject(COHORT, "g0000"), logistic)["often"]
    labels = logistic.predict(COHORT.graphs)
    ours = labels.count(logistic.predict([GRAPH])[0])
    assert often["graphs"] == {"current": ours, "target": len(COHORT) - ours}
    counts = sum(unpacked(often[side]) * n for side, n in often["graphs"].items())
    u, v = np.triu_indices(12, 1)
    assert counts == pytest.approx(
        [sum(g.has_edge(a, b) for g in COHORT.graphs) for a, b in zip(u, v, strict=True)]
    )


def unpacked(packed):
    values = np.frombuffer(base64.b64decode(packed["values"]))
    if "bytes" in packed:
        return values[np.frombuffer(base64.b64decode(packed["bytes"]), dtype="u1")]
    if "places" not in packed:
        return values
    return values[np.frombuffer(base64.b64decode(packed["places"]), dtype="<u2")]


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
    u, v = np.triu_indices(12, 1)
    assert np.array_equal(unpacked(free) == 0, (u < 2) | (v < 2))


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
