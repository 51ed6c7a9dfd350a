"""`brief` tells few cells that are true as read, and nothing that is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip import Background, Constraints, describe, explain, make_method
from denseflip.counterfactual import AsRead, Status
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.graph import Graph, Nodes, Taxonomy
from denseflip.oracles.background import Frequencies
from denseflip.search.claims.claim import Amount, Claim
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.verified_claim import VerifiedClaim, beats, pareto_front, shortest
from denseflip.search.constraints.bound_constraints import bind_constraints
from denseflip.search.core.problem import Problem
from denseflip.search.methods.brief import _most_cells, unsuitable
from graphs import halves, path

N = 24
NODES = Nodes(
    tuple(f"n{i}" for i in range(N)),
    regions={
        "third": tuple("ABC"[i // 8] for i in range(N)),
        "all": ("one",) * N,
        "each": tuple(f"r{i}" for i in range(N)),
    },
)
FIRST = [(u, v) for u in range(8) for v in range(8, 16)]  # cell A – B


def cohort(seed=0, per_class=8, share=0.2, more=0.5):
    """Random graphs; those of class 1 have more edges between A and B."""
    rng = np.random.default_rng(seed)
    pairs = np.array([(u, v) for u in range(N) for v in range(u + 1, N)])
    inside = (pairs[:, 0] < 8) & (pairs[:, 1] >= 8) & (pairs[:, 1] < 16)
    out = []
    for label in (0, 1):
        for _ in range(per_class):
            chosen = rng.random(len(pairs)) < share + more * label * inside
            out.append(Graph.from_edges(N, pairs[chosen]))
    return out


def by_density(a):
    """Class 1 has many edges between A and B."""
    return int(a[:8, 8:16].sum() >= 28)


GRAPHS = cohort()


def run(graph=GRAPHS[0], oracle=by_density, method="brief", **given):
    given = {"nodes": NODES, "background": Background(GRAPHS), **given}
    return explain(graph, oracle, method, **given)


def test_a_claim_that_cannot_be_balanced_does_not_flip():
    """A – B needs more additions than the graph has edges elsewhere."""
    graphs = cohort(share=0.03)
    result = run(graphs[0], background=Background(graphs), in_range="ignore", balance="on")
    assert result.status is Status.EXHAUSTED
    assert run(graphs[0], background=Background(graphs), in_range="ignore", balance="off").found


def test_one_cell_is_named_and_nothing_else():
    result = run(in_range="ignore", balance="off")
    assert result.found
    assert {step.name for step in result.trace} == {"A – B"}
    assert all(step.block == "densify" for step in result.trace)
    # The optimum: as many pairs as are missing, whichever they are; amounts go by steps of 8 %.
    missing = 28 - int(GRAPHS[0].to_adjacency()[:8, 8:16].sum())
    assert missing <= result.distance <= 1.1 * missing + 1
    test = result.as_read
    assert (test.language, test.regions, test.reading, test.true) == (
        "regions",
        "third",
        "any",
        True,
    )
    assert result.replay() == result.counterfactual


@pytest.mark.parametrize("seed", range(4))
def test_what_is_claimed_is_true_under_fresh_seeds(seed):
    """Edges that count differently, so that the share of redraws that flip rises slowly."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.exponential(size=(N, N)), 1)
    weights[:8, 8:16] *= 3
    graphs = cohort(seed)
    scores = [float((weights * g.to_adjacency()).sum()) for g in graphs]
    level = float(np.median(scores))

    def oracle(a):
        return int((weights * a).sum() > level)

    told = 0
    for i in (0, 1, 9, 10):
        result = run(graphs[i], oracle, background=Background(graphs), seed=seed)
        if not (result.found and result.as_read.true):
            continue
        told += 1
        places = Places(graphs[i], NODES.taxonomy("third"))
        current, target = frequencies(graphs, oracle, result.label_before)
        redraw = Redraw(places, result.as_read.reading, current, target)
        fresh = np.random.default_rng(1000 + seed)
        claim = places.amounts(result.edits)
        flips = [
            oracle(graphs[i].toggle_codes(redraw.draw(claim, fresh)).to_adjacency())
            != result.label_before
            for _ in range(400)
        ]
        assert np.mean(flips) >= 0.88  # the level is .9; 400 draws have a spread of .015
    assert told >= 3


def frequencies(graphs, oracle, label):
    same = [g for g in graphs if oracle(g.to_adjacency()) == label]
    other = [g for g in graphs if oracle(g.to_adjacency()) != label]
    return Frequencies.of(same), Frequencies.of(other)


def test_the_same_seed_gives_the_same_answer_whatever_the_batch():
    runs = [run(seed=3, batch=batch, front=True) for batch in (1, 7, 64)]
    assert len({r.edits for r in runs}) == 1
    assert len({(r.calls, r.as_read) for r in runs}) == 1
    assert len({tuple(f.edits for f in r.front) for r in runs}) == 1


def told(cells, edits, reading="any"):
    amounts = (Amount((0, 0), edits - cells + 1, 0),)
    amounts += tuple(Amount((i, i), 1, 0) for i in range(1, cells))
    claim = Claim(amounts, 1, "regions", Taxonomy.from_labels("x", ("A", "B", "C", "D")), reading)
    return VerifiedClaim(claim, AsRead("regions", "x", reading, 60, 60), (), float(edits))


def front_of(listed):
    return [listed[i] for i in pareto_front([one.marks for one in listed])]


def test_the_front_and_the_one_to_tell():
    short, small, weak = told(1, 300), told(2, 30), told(1, 100, "typical")
    beaten = told(2, 31)
    assert beats(small.marks, beaten.marks)
    assert not beats(short.marks, small.marks)
    assert not beats(short.marks, short.marks)
    assert front_of([beaten, small, short, weak]) == [weak, short, small]
    assert shortest([small, short]) is short
    assert shortest([small, short, weak]) is weak  # a third of the edits pays for the weaker word
    assert shortest([short, told(1, 200, "typical")]) is short
    assert shortest([short, told(1, 100, "distinctive")]) is short  # two ranks: a quarter


@given(
    st.lists(
        st.tuples(
            st.integers(1, 4),
            st.integers(4, 9),
            st.sampled_from(["any", "typical", "distinctive"]),
        ),
        min_size=1,
        max_size=9,
    )
)
def test_a_front_is_what_is_not_beaten_and_beats_the_rest(answers):
    listed = [told(*answer) for answer in answers]
    front = front_of(listed)
    assert not any(beats(a.marks, b.marks) for a in front for b in front)
    kept = {one.marks for one in front}
    for one in listed:
        assert one.marks in kept or any(beats(marks, one.marks) for marks in kept)
    assert shortest(front).cells == min(one.cells for one in listed)


def test_the_front_of_a_search_is_not_beaten():
    result = run(front=True)
    facts = [
        (
            max(s.iteration for s in f.trace),
            f.distance,
            ("any", "typical", "distinctive").index(f.as_read.reading),
        )
        for f in result.front
    ]
    assert facts == sorted(facts)
    for a in facts:
        assert not any(b != a and all(x <= y for x, y in zip(b, a, strict=True)) for b in facts)
    assert any(f.edits == result.edits for f in result.front)


def test_nodes_can_be_told():
    def hub(a):
        return int(a[3].sum() >= 14)

    graphs = [g for g in cohort(1) if not hub(g.to_adjacency())]
    full = [
        g.toggle([(min(3, v), max(3, v)) for v in range(N) if v != 3 and not g.has_edge(3, v)])
        for g in graphs
    ]
    result = run(graphs[0], hub, background=[*graphs, *full], language="nodes")
    assert result.found
    assert {s.name for s in result.trace} == {"n3"}
    assert (result.as_read.language, result.as_read.regions) == ("nodes", None)


def test_where_nothing_is_true_it_says_so():
    def picky(a):  # one edge decides: no sentence about a region is true
        return int(a[0, 9])

    graphs = [g for g in cohort(2) if not g.has_edge(0, 9)]
    others = [g.toggle([(0, 9)]) for g in graphs]
    result = run(graphs[0], picky, background=[*graphs, *others])
    assert result.as_read.true  # to fill the cell, or to name what sets the class apart, is
    never = run(graphs[0], lambda a: int(a.sum() > 10_000), background=[*graphs, *others])
    assert never.status is Status.EXHAUSTED
    assert any("'brief' needs background graphs of another class" in n for n in never.notes)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"max_cells": 0}, "max_cells must be"),
        ({"language": "pairs"}, "'tight' or 'race'"),
        ({"regions": "all"}, "has only one region"),
        ({"regions": "each"}, "a region for every node"),
    ],
)
def test_bad_input_is_told(wrong, words):
    with pytest.raises(InvalidParameterError, match=words):
        run(**wrong)


def test_unknown_words_are_told():
    with pytest.raises(UnknownNameError, match="language"):
        make_method("brief", language="words")
    with pytest.raises(UnknownNameError, match="reading"):
        make_method("brief", readings="any,some")
    with pytest.raises(InvalidParameterError, match="at least one of"):
        make_method("brief", readings=())


def test_the_taxonomies_that_fit():
    assert unsuitable(NODES.taxonomy("third")) == ""
    assert "one region" in unsuitable(NODES.taxonomy("all"))
    assert "every node" in unsuitable(NODES.taxonomy("each"))


def test_a_budget_too_small_for_one_test_is_a_status():
    result = run(budget=5)
    assert result.calls <= 5
    assert result.status in (Status.BUDGET, Status.FOUND)
    assert any("The budget was spent" in note for note in result.notes)
    if result.found:
        assert result.as_read is None  # nothing was tested to the end


def test_a_place_that_is_filled_is_said_to_be():
    def all_of_it(a):
        return int(a[:8, 8:16].sum() == 64)

    full = [g.toggle([p for p in FIRST if not g.has_edge(*p)]) for g in GRAPHS[:8]]
    result = run(oracle=all_of_it, background=[*GRAPHS[:8], *full])
    assert result.as_read.true
    assert "A – B is then full: every pair in it is joined." in result.notes
    assert result.counterfactual.to_adjacency()[:8, 8:16].all()
    story = describe(result, NODES, all_of_it)
    assert story.only_choice
    assert story.sentences.read == (
        "True as read: there is no other choice of as many connections in the same places."
    )


def test_what_sets_the_classes_apart_is_told_before_what_is_cheap():
    """An edge inside C counts as much as six between A and B, where the classes differ."""

    def oracle(a):
        return int(a[:8, 8:16].sum() + 6 * (a[16:, 16:].sum() / 2 - 5) >= 28)

    graph = next(g for g in GRAPHS[:8] if not oracle(g.to_adjacency()))
    result = run(graph, oracle)
    assert {step.name for step in result.trace} == {"A – B"}
    cheap = run(graph, oracle, front=True)
    assert min(one.distance for one in cheap.front) < result.distance


# ---- several classes --------------------------------------------------------------------


def by_density_and(pairs, a):
    """Class 0 below the threshold of A – B; beyond it 1 or 2, as these pairs have it."""
    return 0 if a[:8, 8:16].sum() < 28 else 1 + int(sum(a[p] for p in pairs) % 2)


def redrawn_labels(result, oracle, draws=200):
    """The labels of fresh redraws of what a result claims, by the labels of the background."""
    places = Places(result.original, NODES.taxonomy("third"))
    labels = [oracle(g.to_adjacency()) for g in GRAPHS]
    sides = [
        Frequencies.of([g for g, y in zip(GRAPHS, labels, strict=True) if y == label])
        for label in (result.label_before, result.label_after)
    ]
    redraw = Redraw(places, result.as_read.reading, *sides)
    rng = np.random.default_rng(99)
    claim = places.amounts(result.edits)
    drawn = [result.original.toggle_codes(redraw.draw(claim, rng)) for _ in range(draws)]
    return [oracle(g.to_adjacency()) for g in drawn]


def test_redraws_that_lead_to_several_classes_are_not_told_as_one():
    """Which of two other classes it is hangs on pairs that no sentence names."""

    def oracle(a):
        return by_density_and(FIRST[:9], a)

    assert {oracle(g.to_adjacency()) for g in GRAPHS} == {0, 1, 2}
    result = run(oracle=oracle)
    if result.found:
        told = redrawn_labels(result, oracle)
        assert np.mean([label == result.label_after for label in told]) >= 0.85


@pytest.mark.parametrize("front", [False, True])
def test_each_sentence_leads_to_the_class_it_names(front):
    """A few edges more between A and B lead to class 1, many more to class 2."""

    def oracle(a):
        return int(np.digitize(a[:8, 8:16].sum(), (28, 44)))

    result = run(oracle=oracle, front=front)
    assert result.found
    for one in result.front or (result,):
        told = redrawn_labels(one, oracle)
        assert np.mean([label == one.label_after for label in told]) >= 0.85


def test_notes_on_a_full_place_are_those_of_the_answer_that_fills_it():
    result = run(front=True)
    for one in result.front:
        cell = one.counterfactual.to_adjacency()[:8, 8:16]
        full = "A – B is then full: every pair in it is joined."
        assert (full in one.notes) == (bool(cell.all()) and any(u < 8 for u, _ in one.added))


@pytest.mark.parametrize(
    ("bounds", "told", "most"),
    [
        ({}, "side", 5),
        ({"max_cells": 2}, "side", 2),
        ({"max_cells": 9}, "side", 5),
        ({"max_cells": 2, "regions": "parity"}, "side", 5),  # counts other places
        ({"max_cells": 2, "regions": "parity"}, "parity", 2),
        ({"max_cells": 2}, None, 5),
    ],
)
def test_the_terms_bound_the_places_of_a_sentence_where_they_count_the_same(bounds, told, most):
    nodes, graph = halves(8), path(8)
    terms = bind_constraints(Constraints(**bounds), graph, nodes) if bounds else None
    problem = Problem(graph, 0, nodes=nodes, constraints=terms)
    assert _most_cells(problem, told and nodes.taxonomy(told), 5) == most
