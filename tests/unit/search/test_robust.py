"""What shaking a graph asks and decides, and the ways on from a counterfactual, by example."""

from __future__ import annotations

import numpy as np
import pytest

from denseflip import Constraints, Graph, Step, explain
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.protocol import Answer
from denseflip.oracles.session import Session
from denseflip.result_scores import Robustness
from denseflip.search.constraints.bound_constraints import bind_constraints
from denseflip.search.constraints.constrained_session import ConstrainedSession
from denseflip.search.core.problem import Problem
from denseflip.search.core.refinement import Candidate
from denseflip.search.postprocess import robust
from denseflip.search.postprocess.robust import EditPath, Noise, PerturbationTest, make_robust
from graphs import complete, empty, halves, path

TWELVE = path(12)  # 66 pairs


def shaker(level: float, noise: float, keeps, graph: Graph = TWELVE) -> PerturbationTest:
    """One that explains label 0; `keeps` says of a graph whether it has another label."""
    session = Session(as_oracle(lambda g: int(keeps(g)), "graph"))
    return PerturbationTest(
        Problem(graph, 0), session, Noise(level, noise), np.random.default_rng(0)
    )


@pytest.mark.parametrize(
    ("level", "failures"), [(1, 0), (0.95, 0), (0.93, 1), (0.9, 1), (0.75, 4), (0.5, 8)]
)
def test_a_look_allows_half_the_failures_that_the_level_would(level, failures):
    assert shaker(level, 0.01, lambda g: True).failures == failures


@pytest.mark.parametrize(("noise", "pairs"), [(0.001, 1), (0.01, 1), (0.05, 3), (0.5, 33)])
def test_a_perturbation_flips_the_share_of_pairs_but_at_least_one(noise, pairs):
    seen = []
    shaking = shaker(0.9, noise, lambda g: seen.append(g.distance(TWELVE)) or True)
    shaking.quick_test(TWELVE)
    assert set(seen) == {pairs}


def test_a_look_ends_as_soon_as_its_outcome_is_certain():
    for level, draws in ((1, 32), (0.9, 32), (0.75, 32), (0.5, 24)):
        assert shaker(level, 0.05, lambda g: True).quick_test(TWELVE) == (
            True,
            Robustness(level, 0.05, draws, draws),
        )
    for level, draws in ((1, 8), (0.9, 8), (0.75, 8), (0.5, 16)):
        assert shaker(level, 0.05, lambda g: False).quick_test(TWELVE) == (
            False,
            Robustness(level, 0.05, draws, 0),
        )


def test_as_many_failures_as_allowed_pass_and_one_more_does_not():
    def some(lost: int):
        answers = iter([False] * lost + [True] * 500)
        return lambda g: next(answers)

    assert shaker(0.75, 0.05, some(4)).quick_test(TWELVE) == (True, Robustness(0.75, 0.05, 32, 28))
    assert shaker(0.75, 0.05, some(5)).quick_test(TWELVE) == (False, Robustness(0.75, 0.05, 8, 3))


def test_a_level_is_measured_on_a_hundred_perturbations_of_its_own():
    asked = []
    shaking = shaker(0.9, 0.05, lambda g: asked.append(g) or len(asked) % 4)
    seen = shaking.measure(TWELVE)
    assert seen == Robustness(0.9, 0.05, 100, 75)
    assert len(asked) == 100
    assert shaking.not_measured == Robustness(0.9, 0.05, 0, 0)


def test_constraints_do_not_apply_to_perturbed_graphs():
    session = Session(as_oracle(lambda a: 1))
    never = bind_constraints(Constraints(predicate=lambda g: False), TWELVE)
    bound = ConstrainedSession(session, Answer(0), never)
    test = PerturbationTest(Problem(TWELVE, 0), bound, Noise(0.9, 0.05), np.random.default_rng(0))
    assert test.quick_test(TWELVE)[0]
    assert not never.refused
    assert bound.calls == session.calls == 32
    assert bound.query(TWELVE.toggle([(0, 1)])).label == 0  # the session itself still refuses
    assert session.calls == 32


def test_a_graph_without_pairs_cannot_be_shaken():
    problem, session = Problem(empty(1), 0), Session(as_oracle(lambda a: 1))
    candidate = Candidate(problem, problem.end(empty(1), 1), session)
    seen = make_robust(candidate, None, Noise(0.8, 0.02), 0, empty(1))
    assert seen == Robustness(0.8, 0.02, 0, 0)
    assert session.calls == 0


# ---- ways on ------------------------------------------------------------------------------------


def galloped(way_length: int, first: int, low: int, enough) -> tuple[int | None, int, list[int]]:
    search, asked = object.__new__(robust._RobustSearch), []
    search.enough = lambda k: asked.append(k) or enough(k)
    k, below = search._gallop(EditPath(way_length, lambda k: k, "A way"), first, low)
    return k, below, asked


def test_galloping_doubles_to_the_end_and_keeps_the_last_that_was_not_enough():
    assert galloped(20, 2, 0, lambda k: k >= 5) == (8, 4, [2, 4, 8])
    assert galloped(6, 2, 0, lambda k: k >= 5) == (6, 4, [2, 4, 6])
    assert galloped(6, 2, 0, lambda k: False) == (None, 4, [2, 4, 6])
    assert galloped(3, 9, 0, lambda k: True) == (3, 0, [3])
    assert galloped(3, 9, 3, lambda k: True) == (None, 3, [])  # the way ends there
    assert galloped(0, 1, 0, lambda k: True) == (None, 0, [])


def edge_after_edge(problem):
    """A blind search of one's own."""
    for pair in problem.graph.edges():
        yield Step("sparsify", "edge", (pair,))
        yield Step("sparsify", "nothing", ())


def test_a_methods_later_steps_go_on_after_its_flip():
    g = path(5)
    problem = Problem(g, 0)
    flipped = g.toggle([(0, 1), (1, 2)])
    later = [flipped.toggle([(2, 3)]), flipped.toggle([(2, 3), (3, 4)])]
    assert list(robust._later_steps(problem, edge_after_edge, 0, flipped)) == later
    assert list(robust._later_steps(problem, edge_after_edge, 0, complete(5))) == []


def test_only_so_many_steps_are_followed(monkeypatch):
    monkeypatch.setattr(robust, "MOST_STEPS", 3)
    g = path(9)
    after = list(robust._later_steps(Problem(g, 0), edge_after_edge, 0, g.toggle([(0, 1)])))
    assert len(after) == 3
    assert after[-1] == g.toggle([(0, 1), (1, 2), (2, 3), (3, 4)])


def test_more_of_the_same_stays_in_the_cells_and_goes_their_way():
    # Left are 0 to 2, right 3 to 5. The answer takes an edge of the left away and adds one between
    # the sides: more of the same is the other edge of the left, and what is free between them.
    g = Graph.from_edges(6, [(0, 1), (0, 2), (3, 4)])
    problem = Problem(g, 0, nodes=halves(6))
    found = g.toggle([(0, 1), (1, 4)])
    candidate = Candidate(problem, problem.end(found, 1), Session(as_oracle(lambda a: 1)))
    codes = robust._more_of_the_same(candidate, "side")
    pairs = sorted((int(c) // 6, int(c) % 6) for c in codes)
    assert pairs == [(0, 2), *((u, v) for u in range(3) for v in (3, 4, 5) if (u, v) != (1, 4))]


def test_more_edits_than_allowed_are_not_on_the_way():
    g, background = path(8), [path(8), complete(8), empty(8), complete(8)]

    def many(a):
        return int(a.sum() / 2 >= 12)

    result = explain(
        g, many, "con", background=background, robust=0.9, noise=0.05,
        constraints=Constraints(max_edits=5),
    )  # fmt: skip
    assert result.found
    assert result.distance == 5
    free = explain(g, many, "con", background=background, robust=0.9, noise=0.05)
    assert free.robustness.reached
    assert free.distance > 5
