from __future__ import annotations

from itertools import combinations

import pytest

from denseflip import DCS, Step, explain
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.graph import Graph
from denseflip.oracles.lookahead import FlipOdds
from denseflip.search.core.method import Method
from denseflip.search.core.refinement import (
    BackwardRefine,
    Candidate,
    EdgeBackwardRefine,
    MinimalRefine,
    as_refiners,
)
from graphs import clique, complete, empty, graph, halves, path


def all_at_once(problem):
    """Remove every edge in one step, so that refinement has everything to do."""
    yield Step("sparsify", "graph", tuple(problem.graph.edges()), iteration=1)


def refined(g, label, *refiners, stream=all_at_once, **options):
    return explain(g, label, Method("test", stream, refiners), **options)


def tried(monkeypatch):
    """Record every attempt to undo, as (structure, pairs, kept)."""
    log = []
    first, run = Candidate.undo_first, Candidate.undo_while

    def recorded(undo, ends):
        def method(self, choices, structure="edge"):
            made = []

            def noted():
                for pairs in choices:
                    made.append(tuple(sorted(pairs)))
                    yield made[-1]

            asked = self.session.calls
            got = undo(self, noted(), structure)
            n = self.session.calls - asked  # choices made beyond were only looked at ahead
            log.extend((structure, pairs, not ends) for pairs in made[: n - 1])
            if n:
                last = got is not None if ends else got == n
                log.append((structure, made[n - 1], last))
            return got

        return method

    monkeypatch.setattr(Candidate, "undo_first", recorded(first, True))
    monkeypatch.setattr(Candidate, "undo_while", recorded(run, False))
    return log


# ---- backward search --------------------------------------------------------------------


def test_backward_undoes_a_growing_handful_while_the_flip_stays(monkeypatch):
    log = tried(monkeypatch)
    g = complete(8)  # 28 edges; flipped while (0, 1) is missing
    refined(g, lambda a: int(a[0, 1]), BackwardRefine())
    k, left = 5, 28
    for _, pairs, kept in log:
        assert len(pairs) == min(k, left)
        left -= len(pairs) if kept or k == 1 else 0  # what fails alone is not tried again
        k = k + 1 if kept else max(1, k - 1)
    assert all((0, 1) not in pairs for _, pairs, kept in log if kept)


def test_backward_ends_with_one_change_left():
    result = refined(complete(8), lambda a: int(a[0, 1]), BackwardRefine())
    assert result.removed == ((0, 1),)


def test_backward_respects_its_number_of_questions():
    limited = BackwardRefine(max_questions=3)
    result = refined(complete(8), lambda a: int(a.sum() > 0), limited)
    assert result.refine_calls <= 3
    assert result.minimal is None


def test_backward_is_seeded():
    def label(a):
        return int(a.sum() > 20)

    runs = [refined(complete(8), label, BackwardRefine(), seed=s).removed for s in (0, 0, 1, 2)]
    assert runs[0] == runs[1]
    assert len(set(runs)) > 1
    assert {len(r) for r in runs} == {18}  # 28 edges, 10 may stay


@pytest.mark.parametrize("wrong", [{"start": 0}, {"start": 1.5}, {"max_questions": -1}])
def test_backward_refuses_wrong_parameters(wrong):
    with pytest.raises(InvalidParameterError, match=f"{next(iter(wrong))} must be a whole number"):
        BackwardRefine(**wrong)


def test_edge_backward_goes_by_how_often_ends_occur_and_stops_at_the_first_failure(monkeypatch):
    log = tried(monkeypatch)
    # A star at 0 and a far edge: (6, 7) has the rarest ends, then (0, 1), (0, 2), …
    g = graph(8, [(0, v) for v in range(1, 6)], [(6, 7)])
    result = refined(g, lambda a: int(a[0, 2]), EdgeBackwardRefine())
    assert log == [
        ("edge", ((6, 7),), True),
        ("edge", ((0, 1),), True),
        ("edge", ((0, 2),), False),
    ]
    assert result.removed == ((0, 2), (0, 3), (0, 4), (0, 5))


def test_edge_backward_keeps_the_last_change():
    result = refined(path(4), lambda a: int(a.sum() == 6), EdgeBackwardRefine())
    assert result.distance == 1


# ---- to a minimum -----------------------------------------------------------------------


def test_min_finds_the_two_pairs_that_matter():
    def label(a):
        return int(a[0, 1] or a[6, 7])  # flipped only while both are missing

    result = refined(complete(8), label, MinimalRefine())
    assert result.removed == ((0, 1), (6, 7))
    assert result.minimal is True
    assert result.refine_calls < 28 * 2


def test_min_is_right_for_an_oracle_that_is_not_monotone():
    def label(a):
        return int(a.sum() / 2) % 3  # 28 edges: 1; none: 0

    g = complete(8)
    result = refined(g, label, MinimalRefine())
    assert result.minimal
    for pair in result.removed:
        assert label(result.counterfactual.toggle([pair]).to_adjacency()) == result.label_before


def test_min_undoes_whole_cliques_first(monkeypatch):
    log = tried(monkeypatch)
    blocks = [clique(0, 1, 2), clique(3, 4, 5), clique(6, 7, 8), clique(9, 10, 11)]

    def four_cliques(problem):
        for i, part in enumerate(blocks, start=1):
            yield Step("sparsify", "clique", tuple(part), iteration=i)

    g = graph(12, *blocks)
    # The last clique flips the label: at least two of its edges must be missing.
    result = refined(
        g, lambda a: int(a[9, 10] + a[9, 11] + a[10, 11] > 1), MinimalRefine(), stream=four_cliques
    )
    # First half of the structures undone, then the third; the fourth cannot be.
    assert log[0] == ("structure", tuple(sorted((*blocks[0], *blocks[1]))), True)
    assert ("structure", tuple(blocks[2]), True) in log
    kinds = [kind for kind, _, _ in log]
    assert kinds == sorted(kinds, key=["structure", "edge"].index)
    assert "edge" in kinds
    assert result.distance == 2
    assert set(result.removed) < set(blocks[3])
    assert result.minimal


def test_min_goes_by_pairs_of_regions_where_the_search_moved_single_edges(monkeypatch):
    log = tried(monkeypatch)

    def one_by_one(problem):
        for i, pair in enumerate(problem.graph.edges(), start=1):
            yield Step("sparsify", "edge", (pair,), iteration=i)

    g = complete(6)
    inside = set(clique(3, 4, 5))

    def label(a):
        return int(a.sum() > 0)  # flipped when nothing is left

    refined(g, label, MinimalRefine(), stream=one_by_one, nodes=halves(6))
    cells = [
        set(clique(0, 1, 2)),
        {(u, v) for u, v in combinations(range(6), 2) if u < 3 <= v},
        inside,
    ]
    for kind, pairs, _ in log:
        if kind == "structure":
            assert all(cell <= set(pairs) or not cell & set(pairs) for cell in cells)
    assert log[0][0] == "structure"


def test_a_later_refinement_voids_the_certificate():
    """After +min, +bw may undo several edits together; what is left need not be minimal."""
    # Flipped by exactly 4, 3 or 1 removals of 6; 1-minimal at 4 is impossible to undo one: 3 ok.
    flips = {0: False, 1: True, 2: True, 3: False, 4: True, 5: True, 6: True}

    def label(a):
        missing = 6 - int(a.sum() / 2)
        return int(flips[missing])

    g = complete(4)
    result = refined(g, label, MinimalRefine(), BackwardRefine(start=2))
    if result.minimal:
        for pair in result.removed:
            assert label(result.counterfactual.toggle([pair]).to_adjacency()) == 0
    both = refined(g, label, MinimalRefine(), BackwardRefine(start=2), MinimalRefine())
    assert both.minimal is True


def test_an_undo_after_the_certificate_sets_it_back():
    class Undo:
        def __call__(self, candidate):
            candidate.minimal = True
            assert candidate.undo(sorted(candidate.pairs)[:1])
            assert candidate.minimal is False

    refined(path(5), lambda a: int(a[3, 4]), Undo())


def test_a_certificate_is_not_given_when_the_budget_ends():
    result = refined(complete(8), lambda a: int(a.sum() > 0), MinimalRefine(), budget=5)
    assert result.found
    assert result.minimal is False
    assert result.calls == 5
    assert any("budget was spent during refinement" in note for note in result.notes)


def test_one_edit_is_minimal_without_a_question():
    result = refined(path(2), lambda a: int(a[0, 1]), MinimalRefine())
    assert (result.minimal, result.refine_calls, result.distance) == (True, 0, 1)


def test_refinement_heeds_the_target():
    def label(a):
        return min(int(a.sum() / 2), 2)

    result = refined(complete(4), label, MinimalRefine(), target=0)
    assert result.label_after == 0
    assert result.counterfactual == empty(4)


# ---- by name ----------------------------------------------------------------------------


def test_refiners_by_name_alone_together_and_mixed():
    def mine(candidate):
        return None

    assert as_refiners("min") == (MinimalRefine(),)
    assert as_refiners(("bw", "min")) == (BackwardRefine(), MinimalRefine())
    assert as_refiners(["bw1", mine]) == (EdgeBackwardRefine(), mine)
    assert as_refiners(mine) == (mine,)
    assert as_refiners(()) == ()
    with pytest.raises(UnknownNameError, match="Did you mean 'bw1'"):
        as_refiners("bw11")
    with pytest.raises(InvalidParameterError, match="refine must be a name or a callable"):
        as_refiners((3,))


def test_dcs_takes_refinements_in_all_these_ways():
    g = Graph.from_edges(6, clique(0, 1, 2, 3))
    for refine in ("min", ("bw", "min"), MinimalRefine(), (MinimalRefine(),)):
        result = explain(g, lambda a: int(a[0, 1]), DCS(refine=refine))
        assert result.removed == ((0, 1),)
        assert result.minimal


def test_a_refiner_may_undo_edits_only_and_each_once() -> None:
    def adds(candidate: Candidate) -> None:
        candidate.undo([(3, 4)])

    def twice(candidate: Candidate) -> None:
        pair = min(candidate.pairs)
        candidate.undo([pair, pair])

    graph = Graph.from_edges(5, [(0, 1), (1, 2), (0, 2), (2, 3)])
    for refine in (adds, twice):
        with pytest.raises(
            InvalidParameterError, match="may undo each edit of the counterfactual once"
        ):
            explain(graph, lambda a: int(a[0, 1]), DCS(refine=refine))


@pytest.mark.parametrize("batch", [1, 64])
def test_what_a_run_has_undone_cannot_be_undone_again(batch, monkeypatch):
    monkeypatch.setattr(FlipOdds, "best_batch", lambda self, pace: 64)  # look ahead at once

    def twice(candidate):
        candidate.undo_while([[(0, 1)], [(1, 2)], [(0, 1)]])

    with pytest.raises(InvalidParameterError, match="each edit of the counterfactual once"):
        refined(path(6), lambda a: int(a.sum() == 10), twice, batch=batch)


def test_a_run_goes_up_to_where_its_choices_fail(monkeypatch):
    monkeypatch.setattr(FlipOdds, "best_batch", lambda self, pace: 64)

    def choices(limit):
        for i, pair in enumerate(path(6).edges()):
            if i == limit:
                raise ValueError("mine")
            yield [pair]

    def run(candidate):
        with pytest.raises(ValueError, match="mine"):
            candidate.undo_while(choices(2))

    def first(candidate):
        assert candidate.undo_first(choices(1)) == 0  # what would come after plays no part

    def label(a):
        return int(a.sum() == 10)

    assert refined(path(6), label, run).removed == ((2, 3), (3, 4), (4, 5))
    assert refined(path(6), label, first).removed == ((1, 2), (2, 3), (3, 4), (4, 5))


def test_every_undone_edit_is_told_as_a_better_answer():
    seen = []
    result = refined(
        complete(5), lambda a: int(a.sum() > 6), EdgeBackwardRefine(), on_event=seen.append
    )
    sizes = [event.value for event in seen if event.kind == "best"]
    steps = [step for step in result.trace if step.block == "refine"]
    assert len(steps) > 1
    assert sizes[-len(steps) :] == sorted(sizes[-len(steps) :], reverse=True)
    assert sizes[-1] == result.distance
