"""What a result says is of its own graph, its own classes and the user's own terms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from denseflip import Constraints, Graph, describe, explain, fit_oracle
from denseflip.counterfactual import Status
from denseflip.datasets import make_synthetic
from denseflip.errors import UnknownNameError
from denseflip.graph.pairs import random_codes
from denseflip.oracles.weighted import weighted_oracle
from denseflip.result_scores import Robustness
from denseflip.search.constraints.bound_constraints import bind_constraints
from denseflip.search.core.problem import Problem, Walk
from denseflip.search.core.target import as_target, class_names_of
from denseflip.search.methods.registry import as_method
from denseflip.search.postprocess import robust
from graphs import halves

N = 16
NODES = halves(N)


def drawn(density: float, seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    joined = np.triu(rng.random((N, N)) < density, 1)
    return Graph.from_adjacency((joined | joined.T).astype(int))


BACKGROUND = [drawn(0.25 if i % 2 else 0.55, i) for i in range(12)]


def many(a: np.ndarray) -> int:
    """More than 48 edges?"""
    return int(a.sum() / 2 > 48)


# ---- terms --------------------------------------------------------------------------------------


def test_two_frozen_nodes_stay_two_nodes_when_constraints_are_copied() -> None:
    nodes, pair = Constraints(freeze=[3, 5]), Constraints(freeze=(3, 5))
    assert replace(nodes, max_edits=9).given == {"freeze": [3, 5], "max_edits": 9}
    assert replace(pair, max_edits=9).given == {"freeze": [[3, 5]], "max_edits": 9}


def test_every_diverse_answer_leaves_two_frozen_nodes_alone() -> None:
    terms = Constraints(freeze=[3, 5])
    result = explain(
        BACKGROUND[1], many, "con+min", background=BACKGROUND, n=3, constraints=terms
    )  # fmt: skip
    assert len(result.diverse) > 1
    touched = {v for one in result.diverse for pair in one.edits.pairs for v in pair}
    assert not touched & {3, 5}


def test_a_frozen_pair_by_names_is_written_down_by_names() -> None:
    names = NODES.names[0], NODES.names[1]
    given = Constraints(freeze=[names])
    assert given.given == {"freeze": [list(names)]}
    assert not bind_constraints(given, BACKGROUND[1], NODES).may_change(np.array([1]))[0]


def test_a_budget_that_ends_before_an_answer_is_small_enough_is_told_as_that() -> None:
    given = {"background": BACKGROUND, "constraints": Constraints(max_edits=2)}
    whole = explain(BACKGROUND[1], many, "dat", **given)
    assert whole.status is Status.EXHAUSTED
    short = explain(BACKGROUND[1], many, "dat", budget=whole.search_calls + 2, **given)
    assert short.status is Status.BUDGET


# ---- certificates and figures -------------------------------------------------------------------


def test_a_certificate_is_dropped_where_the_answer_was_made_smaller() -> None:
    target = BACKGROUND[0]

    def certified(problem: Problem, session) -> Walk:
        walk = problem.end(target, session.query(target).label)
        walk.minimal = True
        return walk

    graph = BACKGROUND[1]
    assert explain(graph, many, certified).minimal is True
    cells = Constraints(max_cells=2)
    smaller = explain(graph, many, certified, nodes=NODES, constraints=cells)
    assert smaller.found
    assert smaller.counterfactual != target
    assert smaller.minimal is None


@pytest.mark.parametrize("level", [0.5, 1.0])
def test_the_robustness_told_is_that_of_the_plausible_answer(level: float) -> None:
    # A third of all pairs shaken: 1.0 is out of reach, and the figure is to be measured anew.
    result = explain(
        BACKGROUND[1], many, "con+min", nodes=NODES, background=BACKGROUND,
        robust=level, noise=0.3, plausible=True,
    )  # fmt: skip
    assert result.found
    assert result.plausibility is not None
    assert result.plausibility.swapped
    seen = result.robustness
    assert seen is not None
    graph, rng = result.counterfactual, np.random.default_rng((0, 3))
    shaken = [graph.toggle_codes(random_codes(N, 36, rng)) for _ in range(robust.DRAWS)]
    if level == 1.0:  # no look was taken in between: these are the very perturbations
        assert not seen.reached
        assert seen.flips == sum(many(g.to_adjacency()) == result.label_after for g in shaken)
        assert any("The more plausible answer survives" in note for note in result.notes)


def test_what_a_look_saw_is_not_given_for_a_level(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Robustness(0.9, 0.01, 32, 30)  # as many as asked for, and too few to stop at
    monkeypatch.setattr(robust.PerturbationTest, "quick_test", lambda *_: (False, looked))
    result = explain(BACKGROUND[1], many, as_method("race+min"), robust=0.9)
    assert result.robustness is not None
    assert result.robustness.draws == robust.DRAWS


def test_of_several_measured_answers_the_best_is_told_as_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = iter([80, 91, 85, *[70] * 20])
    monkeypatch.setattr(
        robust.PerturbationTest, "quick_test", lambda self, _: (True, self._robustness(32, 32))
    )
    monkeypatch.setattr(
        robust.PerturbationTest, "measure", lambda self, _: self._robustness(100, next(counts))
    )
    result = explain(BACKGROUND[1], many, "con+min", background=BACKGROUND, robust=0.9)
    assert result.robustness is not None
    assert result.robustness.flips == 91
    assert any("the best of" in note for note in result.notes)


def test_diverse_answers_that_were_met_have_the_weights_of_their_own_edits() -> None:
    data = make_synthetic(n_per_class=6, weights=True)
    graph = data.graphs[0]
    edges = list(graph.edges())
    other = [graph.toggle([edge]) for edge in (edges[0], edges[-1])]

    def two(problem: Problem, session) -> Walk:
        first, _ = walks = [problem.end(g, session.query(g).label) for g in other]
        assert all(walk.status is Status.FOUND for walk in walks)
        return first

    whole = weighted_oracle(lambda _: 0, data, batch=False).edge_weights(graph).sum()
    oracle = weighted_oracle(lambda w: (w.sum(axis=(1, 2)) / 2 < whole - 1e-9).astype(int), data)
    result = explain(graph, oracle, two, n=2)
    assert any(
        "Found during the search for the first answer" in note for note in result.diverse[1].notes
    )
    assert [one.edits.pairs for one in result.diverse] == [(edges[0],), (edges[-1],)]
    for one in result.diverse:
        assert {(u, v) for u, v, *_ in one.weights} == set(one.edits.pairs)


def test_diverse_answers_that_were_met_have_their_own_confidence() -> None:
    graph = Graph.from_edges(8, [(i, i + 1) for i in range(7)])
    edges = list(graph.edges())
    other = {graph.toggle([edge]): sure for edge, sure in ((edges[0], 0.8), (edges[-1], 0.9))}

    class Sure:
        classes = (0, 1)

        def predict(self, graphs):
            return [int(g in other) for g in graphs]

        def predict_proba(self, graphs):
            return np.array([[1 - other.get(g, 0.2), other.get(g, 0.2)] for g in graphs])

    def two(problem: Problem, session) -> Walk:
        first, _ = [problem.end(g, session.query(g).label) for g in other]
        return first

    result = explain(graph, Sure(), two, n=2)
    assert [one.confidence_after for one in result.diverse] == pytest.approx([0.8, 0.9])


# ---- classes ------------------------------------------------------------------------------------


def lacking() -> object:
    """A data set of three classes, the first of which has no graph."""
    data = make_synthetic(n_per_class=6)
    labels = tuple(label + 1 for label in data.labels)
    return replace(data, labels=labels, class_names=("nobody", "control", "case"))


def test_names_are_those_of_the_labels_where_a_class_has_no_graph() -> None:
    data = lacking()
    oracle = fit_oracle(data, preset="edges-logistic")
    assert as_target("control", oracle) == 1
    assert as_target(["case", "control"], oracle) == (2, 1)
    with pytest.raises(UnknownNameError, match="nobody"):
        as_target("nobody", oracle)
    graph = next(g for g in data.graphs if oracle.predict([g]) == [1])
    result = explain(graph, oracle, "con+min", background=data.graphs, target="case")
    assert result.label_after == 2
    assert describe(result, data.nodes, oracle).class_name(2) == "case"


def test_names_in_the_order_of_classes_are_told_as_they_are_asked_for() -> None:
    class Own:
        classes, class_names = (7, 9), ("thin", "dense")

        def predict(self, graphs):
            return [9 if many(g.to_adjacency()) else 7 for g in graphs]

    assert class_names_of(Own()) == {7: "thin", 9: "dense"}
    result = explain(BACKGROUND[1], Own(), "con+min", background=BACKGROUND, target="dense")
    assert (result.label_before, result.label_after) == (7, 9)
    story = describe(result, NODES, Own())
    assert (story.class_name(7), story.class_name(9)) == ("thin", "dense")


def test_a_class_wanted_that_the_graph_has_with_less_confidence_is_said() -> None:
    class Sure:
        classes = (0, 1)

        def predict_proba(self, graphs):
            return [[0.4, 0.6] for _ in graphs]

        def predict(self, graphs):
            return [1 for _ in graphs]

    result = explain(BACKGROUND[1], Sure(), "tri", target=1, confidence=0.9)
    assert result.status is Status.NOT_NEEDED
    assert any("0.60, which is less than 0.9" in note for note in result.notes)
    assert not explain(BACKGROUND[1], Sure(), "tri", target=1, confidence=0.5).notes
