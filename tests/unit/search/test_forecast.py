"""Gradients in the search for sentences: the same answers in fewer queries, and no blind trust."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from denseflip import Background, Graph, explain, make_refits
from denseflip.classifiers.presets import fit_oracle
from denseflip.datasets import make_synthetic
from denseflip.errors import GradientError
from denseflip.graph.pairs import all_pairs, are_among
from denseflip.oracles.gradients import PairGradient

DATA = make_synthetic(seed=3)
KNOWN = Background(DATA.graphs)
GIVEN: dict[str, Any] = {"background": KNOWN, "nodes": DATA.nodes}
ORACLES = {preset: fit_oracle(DATA, preset) for preset in ("regions-logistic", "edges-svm")}


def same(one: Any, other: Any) -> bool:
    return (one.edits, one.as_read, one.label_after) == (
        other.edits,
        other.as_read,
        other.label_after,
    )


@pytest.mark.parametrize("preset", ORACLES)
@pytest.mark.parametrize("method", ["auto", "brief"])
@pytest.mark.parametrize("i", [0, 25, 59])
def test_a_linear_classifier_gets_the_same_sentence_in_a_third_of_the_queries(preset, method, i):
    oracle, graph = ORACLES[preset], DATA.graphs[i]
    labels = explain(graph, oracle, method, information="labels", **GIVEN)
    found = explain(graph, oracle, method, **GIVEN)
    assert found.as_read.language == "regions"
    assert same(found, labels)
    assert found.calls <= labels.calls / 3
    assert any("Used 1 gradient" in note for note in found.notes)
    assert any("only the labels" in note for note in labels.notes)


@pytest.mark.parametrize(
    "options",
    [
        {"in_range": "ignore"},
        {"in_range": "require"},
        {"front": True},
        {"constraints": {"only": "add"}, "in_range": "ignore"},
        {"constraints": {"max_degree": 40}, "in_range": "ignore"},
        {"plausible": True},
    ],
    ids=str,
)
def test_options_get_the_same_answers(options):
    oracle, graph = ORACLES["regions-logistic"], DATA.graphs[0]
    labels = explain(graph, oracle, "auto", information="labels", **GIVEN, **options)
    found = explain(graph, oracle, "auto", **GIVEN, **options)
    assert found.status == labels.status
    assert same(found, labels)
    assert found.calls < labels.calls


@pytest.mark.parametrize("i", [0, 10, 25])
def test_robust_answers_keep_their_sentence(i):
    """The places with the largest gains come first; by labels, these graphs lose the sentence."""
    found = explain(DATA.graphs[i], ORACLES["regions-logistic"], "auto", robust=0.9, **GIVEN)
    assert found.as_read.flips >= 57
    assert found.robustness.share >= 0.9
    assert len(found.as_read.places) <= 3


def test_stable_answers_are_the_same_in_fewer_queries():
    oracle, graph = ORACLES["regions-logistic"], DATA.graphs[0]
    options = {"refits": make_refits(DATA, oracle, 8), "stable": 0.8, **GIVEN}
    labels = explain(graph, oracle, "auto", information="probabilities", **options)
    found = explain(graph, oracle, "auto", **options)
    assert same(found, labels)
    assert found.stability == labels.stability
    assert found.calls < labels.calls


class Bent:
    """A linear classifier whose score is bent: its order is kept, its gradient is not exact."""

    classes = (0, 1)

    def __init__(self, bend: Any = np.sinh, slope: Any = np.cosh, *, exact: bool = False) -> None:
        self.linear, self.bend, self.slope, self.exact = ORACLES["edges-svm"], bend, slope, exact

    def predict(self, graphs: Any) -> Any:
        return self.linear.predict(graphs)

    def gradient(self, graph: Graph, label: int) -> PairGradient:
        found = self.linear.gradient(graph, label)
        values = found.values * self.slope(found.score)
        return PairGradient(
            graph.n_nodes, values, score=float(self.bend(found.score)), exact=self.exact
        )


@pytest.mark.parametrize("i", [0, 25, 59])
def test_a_gradient_that_is_not_exact_finds_as_short_a_sentence_in_a_third_of_the_queries(i):
    graph = DATA.graphs[i]
    labels = explain(graph, Bent(), "auto", information="labels", **GIVEN)
    found = explain(graph, Bent(), "auto", **GIVEN)
    assert found.as_read.flips >= 57
    assert len(found.as_read.places) <= len(labels.as_read.places)
    assert found.calls <= labels.calls / 3


def test_a_gradient_that_is_wrongly_marked_as_exact_is_found_out():
    graph = DATA.graphs[0]
    wrong = Bent(slope=lambda score: 30.0, exact=True)
    found = explain(graph, wrong, "auto", **GIVEN)
    assert found.as_read.flips >= 57
    assert any("predicted a wrong label" in note for note in found.notes)


@pytest.mark.parametrize("values", [np.nan, 0.0])
def test_useless_gradients_are_said_and_labels_used(values):
    class Useless(Bent):
        gradients = 0

        def gradient(self, graph: Graph, label: int) -> Any:
            self.gradients += 1
            return PairGradient(graph.n_nodes, np.full(graph.n_pairs, values), score=-1.0)

    graph, oracle = DATA.graphs[0], Useless()
    labels = explain(graph, oracle, "auto", information="labels", **GIVEN)
    found = explain(graph, oracle, "auto", **GIVEN)
    assert same(found, labels)
    assert oracle.gradients == 1  # a second attempt would fail as well
    assert found.calls == labels.calls + 2
    assert sum("Labels were used instead of gradients" in note for note in found.notes) == 1
    with pytest.raises(GradientError, match=r"NaN|zero"):
        explain(graph, oracle, "auto", information="gradients", **GIVEN)


def test_constant_gradients_say_nothing_about_places_but_harm_no_answer():
    class Constant(Bent):
        def gradient(self, graph: Graph, label: int) -> Any:
            pairs = all_pairs(graph.n_nodes)
            signs = np.where(are_among(pairs, graph.codes), -1.0, 1.0)
            return PairGradient(graph.n_nodes, signs, score=-1.0)

    found = explain(DATA.graphs[0], Constant(), "auto", budget=3000, **GIVEN)
    assert found.found


def test_a_gradient_of_existing_edges_only_is_not_used_for_sentences():
    class EdgesOnly(Bent):
        def gradient(self, graph: Graph, label: int) -> Any:
            whole = super().gradient(graph, label)
            codes = graph.codes
            return PairGradient(graph.n_nodes, whole.at(codes), codes, whole.score)

    graph = DATA.graphs[0]
    labels = explain(graph, Bent(), "auto", information="labels", **GIVEN)
    assert same(explain(graph, EdgesOnly(), "auto", **GIVEN), labels)


def test_small_budgets_are_kept():
    for budget in (1, 2, 3, 10, 62, 66, 80):
        found = explain(DATA.graphs[0], ORACLES["edges-svm"], "auto", budget=budget, **GIVEN)
        assert found.calls <= budget


@pytest.mark.parametrize("batch", [1, 7])
def test_batches_do_not_change_the_answer(batch):
    graph = DATA.graphs[0]
    first = explain(graph, Bent(), "auto", **GIVEN)
    again = explain(graph, Bent(), "auto", batch=batch, **GIVEN)
    assert same(first, again)
    assert first.calls == again.calls
