"""The method `gradient`: few edits in few queries, on its own and inside other methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from denseflip import Background, Graph, explain
from denseflip.classifiers.presets import fit_oracle
from denseflip.datasets import make_synthetic
from denseflip.graph.pairs import all_pairs, are_among
from denseflip.oracles.gradients import PairGradient
from denseflip.search.methods.gradient import nearest_boundary

DATA = make_synthetic(seed=3)
KNOWN = Background(DATA.graphs)


class Curved:
    """Class 1 if the square root of one sum of edges exceeds another sum; not linear."""

    classes = (0, 1)

    def __init__(self, n: int = 20, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.codes = n, all_pairs(n)
        self.first, self.second = rng.random(len(self.codes)), rng.random(len(self.codes))

    def score(self, graph: Graph) -> float:
        held = are_among(self.codes, graph.codes)
        return float(np.sqrt(self.first[held].sum()) - self.second[held].sum() / 4)

    def predict(self, graphs: Any) -> list[int]:
        return [int(self.score(g) > 0) for g in graphs]

    def gradient(self, graph: Graph, label: int) -> PairGradient:
        held = are_among(self.codes, graph.codes)
        root = np.sqrt(self.first[held].sum())
        slopes = self.first / (2 * root) - self.second / 4
        side = 1 if label else -1
        values = side * np.where(held, -slopes, slopes)
        return PairGradient(self.n, values, score=side * self.score(graph))


def drawn(seed: int, n: int = 20, share: float = 0.4) -> Graph:
    rng = np.random.default_rng(seed)
    codes = all_pairs(n)
    return Graph.from_edges(n, [divmod(int(c), n) for c in codes[rng.random(len(codes)) < share]])


@pytest.mark.parametrize("preset", ["edges-svm", "regions-logistic"])
@pytest.mark.parametrize("i", [0, 40])
def test_of_a_linear_classifier_it_finds_the_optimum(preset, i):
    oracle, graph = fit_oracle(DATA, preset), DATA.graphs[i]
    result = explain(graph, oracle, "gradient")
    gains = -np.sort(oracle.gradient(graph, result.label_before).values)
    score = oracle.gradient(graph, result.label_before).score
    fewest = int((np.cumsum(np.sort(gains)[::-1]) > score).argmax()) + 1
    assert result.found
    assert abs(result.distance - fewest) <= 1  # a tie may take one more
    assert result.minimal
    assert result.calls <= 8


@pytest.mark.parametrize("seed", range(6))
def test_where_it_is_not_linear_the_gradient_is_computed_again(seed):
    oracle, graph = Curved(seed=seed), drawn(seed)
    result = explain(graph, oracle, "gradient")
    assert result.found
    assert result.replay() == result.counterfactual
    assert result.calls < 60
    refined = explain(graph, oracle, "gradient+min")
    assert refined.minimal
    assert refined.distance <= result.distance


@pytest.mark.parametrize("method", ["tight", "race", "best", "auto"])
def test_other_methods_use_it_and_say_so(method):
    oracle, graph = fit_oracle(DATA, "edges-svm"), DATA.graphs[5]
    options = {"nodes": DATA.nodes, "background": KNOWN, "budget": 1500}
    if method in ("best", "auto"):
        options["objective"] = "edits"
    used = explain(graph, oracle, method, **options)
    alone = explain(graph, oracle, method, information="labels", **options)
    assert used.found
    assert used.distance <= alone.distance
    assert any(note.startswith("Used ") and "gradient" in note for note in used.notes)
    assert "Used only the labels of the classifier." in alone.notes


def test_best_is_no_worse_than_the_gradient():
    oracle, graph = Curved(seed=2), drawn(2)
    for budget in (60, 200, None):
        best = explain(graph, oracle, "best", objective="edits", budget=budget)
        own = explain(graph, oracle, "gradient", budget=budget)
        assert best.distance <= own.distance


def test_targets_and_constraints_are_kept():
    oracle, graph = fit_oracle(DATA, "edges-svm"), DATA.graphs[5]
    frozen = explain(graph, oracle, "gradient", constraints={"only": "remove"})
    assert not frozen.added
    before = frozen.label_before
    aimed = explain(graph, oracle, "gradient", target=1 - before)
    assert aimed.label_after == 1 - before
    assert aimed.distance == explain(graph, oracle, "gradient").distance
    few = explain(graph, oracle, "gradient", constraints={"max_edits": 1})
    assert not few.found or few.distance == 1


def test_a_budget_that_ends_early_is_a_result():
    oracle, graph = Curved(), drawn(0)
    for budget in range(1, 12):
        result = explain(graph, oracle, "gradient", budget=budget)
        assert result.calls <= budget
        assert result.status in ("found", "budget")  # with more queries there is an answer
        assert not any("did not flip" in note for note in result.notes)


class Stuck:
    """Always class 1, with gradients that promise a flip."""

    classes = (0, 1)

    def predict(self, graphs: Any) -> list[int]:
        return [1] * len(graphs)

    def gradient(self, graph: Graph, label: int) -> PairGradient:
        values = np.random.default_rng(len(graph.codes)).normal(size=graph.n_pairs)
        return PairGradient(graph.n_nodes, values, score=1.0)


def test_a_budget_that_ends_a_search_between_two_gradients_is_the_status():
    """It is exhausted only if it ends by itself."""
    oracle, graph = Stuck(), drawn(0)
    whole = explain(graph, oracle, "gradient")
    assert whole.status == "exhausted"
    assert any("along 8 gradients" in note for note in whole.notes)
    for budget in range(1, whole.calls):
        result = explain(graph, oracle, "gradient", budget=budget)
        assert result.status == "budget"
        assert not any("did not flip" in note for note in result.notes)
    assert explain(graph, oracle, "gradient", budget=whole.calls).status == "exhausted"


@pytest.mark.parametrize("guess", [1, 5, 36, 37, 38, 100])
def test_the_boundary_is_found_from_any_guess(guess):
    tried = []

    def enough(k: int) -> bool:
        tried.append(k)
        return k >= 37

    assert nearest_boundary(guess, 100, enough) == 37
    assert len(tried) <= 14
    assert nearest_boundary(guess, 100, lambda k: False) is None
    assert nearest_boundary(guess, 100, lambda k: True) == 1
