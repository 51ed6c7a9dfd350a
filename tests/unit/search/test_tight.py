"""`tight`: the fewest edits under linear rules, and honest work under others."""

from __future__ import annotations

import hashlib
from itertools import combinations

import numpy as np
import pytest

from denseflip import Graph, Nodes, explain, make_method
from denseflip.counterfactual import Status
from denseflip.errors import InvalidParameterError, OracleError
from denseflip.search.methods.tight import _TightSearch


class Rule:
    """A linear rule, with a confidence."""

    classes = ("low", "high")

    def __init__(self, n_nodes, seed, *, n_weights=None):
        rng = np.random.default_rng(seed)
        self.weights = np.triu(rng.normal(size=(n_nodes, n_nodes)), 1)
        if n_weights is not None:
            kept = rng.permutation(np.flatnonzero(self.weights))[:n_weights]
            mask = np.zeros(self.weights.size)
            mask[kept] = 1
            self.weights *= mask.reshape(self.weights.shape)

    def scores(self, graphs):
        return np.array([(self.weights * g.to_adjacency()).sum() for g in graphs])

    def predict(self, graphs):
        return ["high" if s > 0 else "low" for s in self.scores(graphs)]

    def predict_proba(self, graphs):
        p = 1 / (1 + np.exp(-self.scores(graphs)))
        return np.stack([1 - p, p], axis=1)

    def optimum(self, graph):
        """The fewest edits, by trying all sets of gains."""
        score = self.scores([graph])[0]
        upper = np.triu_indices(graph.n_nodes, 1)
        signs = (1 - 2 * graph.to_adjacency()[upper]) * (1 if score <= 0 else -1)
        gains = np.sort(signs * self.weights[upper])[::-1]
        return next(k for k in range(1, len(gains)) if gains[:k].sum() > abs(score))


def cohort(n_nodes, n_graphs, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(np.ones((n_nodes, n_nodes)), 1)
    drawn = [np.triu(rng.random((n_nodes, n_nodes)) < 0.3, 1) * upper for _ in range(n_graphs)]
    return [Graph.from_adjacency(a + a.T) for a in drawn]


def is_minimal(result, oracle):
    edits = list(result.edits.pairs)
    less = [result.original.toggle(edits[:i] + edits[i + 1 :]) for i in range(len(edits))]
    return all(y == result.label_before for y in oracle.predict(less))


@pytest.mark.parametrize("seed", range(4))
def test_the_fewest_edits_of_a_small_rule(seed):
    rule, graphs = Rule(12, seed), cohort(12, 20, seed)
    for graph in graphs[:2]:
        result = explain(graph, rule, "tight", background=graphs)
        assert result.found
        assert result.distance == rule.optimum(graph)
        assert result.minimal is True
        assert is_minimal(result, rule)


def test_the_optimum_is_that_of_all_sets_of_edits():
    rule = Rule(5, 1)
    (graph,) = cohort(5, 1, 1)
    label = rule.predict([graph])
    pairs = list(combinations(range(5), 2))
    k = rule.optimum(graph)
    some = {n: [graph.toggle(c) for c in combinations(pairs, n)] for n in (k - 1, k)}
    assert label * len(some[k - 1]) == rule.predict(some[k - 1])
    assert set(rule.predict(some[k])) != set(label)


@pytest.mark.parametrize("guided", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_without_a_background(seed, guided):
    rule = Rule(12, seed)
    (graph,) = cohort(12, 1, seed)
    result = explain(graph, rule, make_method("tight", guided=guided))
    assert result.distance <= rule.optimum(graph) + 1
    assert is_minimal(result, rule)


def test_a_confidence_does_not_need_more_edits_on_larger_rules():
    rule, graphs = Rule(40, 3), cohort(40, 30, 3)
    edits = {}
    for guided in (False, True):
        method = make_method("tight", guided=guided, questions=150)
        results = [explain(g, rule, method, background=graphs) for g in graphs[:4]]
        assert all(r.minimal and r.calls <= 150 for r in results)
        edits[guided] = sum(r.distance for r in results)
    best = sum(rule.optimum(g) for g in graphs[:4])
    assert best <= edits[True] <= edits[False] <= 2 * best


def test_a_small_budget_keeps_the_best():
    rule, graphs = Rule(12, 0), cohort(12, 20, 0)
    for budget in (1, 2, 5, 12):
        result = explain(graphs[0], rule, "tight", background=graphs, budget=budget)
        assert result.calls <= budget
        assert result.found  # a background graph, if nothing better
    assert result.distance < min(
        graphs[0].distance(g) for g in graphs if rule.predict([g])[0] != result.label_before
    )
    alone = explain(graphs[0], rule, "tight", budget=1)
    assert alone.status is Status.BUDGET


def test_same_seed_same_answer_whatever_the_batch():
    rule, graphs = Rule(20, 2), cohort(20, 10, 2)
    one, other = (
        explain(graphs[0], rule, "tight", background=graphs, seed=4, batch=batch)
        for batch in (1, 64)
    )
    assert one.edits == other.edits
    assert one.calls == other.calls


def by_hash(adjacency):
    return hashlib.sha256(np.packbits(adjacency > 0).tobytes()).digest()[0] % 3


def test_an_oracle_that_is_not_linear_at_all():
    graphs = cohort(15, 12, 5)
    for background in (None, graphs):
        result = explain(graphs[0], by_hash, "tight", background=background)
        assert result.found
        assert result.minimal


def test_many_edits_are_not_certified_one_by_one():
    graphs = [Graph.from_edges(40, []), Graph.from_edges(40, list(combinations(range(40), 2)))]

    def mostly_joined(adjacency):
        return int(adjacency.sum() / 2 >= 600)

    result = explain(
        graphs[0], mostly_joined, make_method("tight", questions=60), background=graphs
    )
    assert result.found
    assert 600 <= result.distance < 700  # thinned by stretches, not by single edits
    assert result.minimal is None
    assert "were not certified one by one" in result.notes[0]
    assert result.calls <= 60 + 64


def test_many_edits_begin_with_the_list_of_con():
    """Two kinds of graphs that differ in a thousand pairs: the contrast says which."""
    rng = np.random.default_rng(0)
    n, half = 70, np.triu(rng.random((70, 70)) < 0.5, 1)
    drawn = [np.triu(np.where(rng.random((n, n)) < 0.1, ~half, half), 1) for _ in range(6)]
    drawn += [np.triu(np.where(rng.random((n, n)) < 0.1, half, ~half), 1) for _ in range(6)]
    graphs = [Graph.from_adjacency((a + a.T).astype(int)) for a in drawn]
    weights = np.triu(np.where(half, 1, -1), 1)

    def label(adjacency):
        return int((weights * adjacency).sum() > 0)

    con = explain(graphs[0], label, "con", background=graphs)
    found = explain(graphs[0], label, make_method("tight", questions=120), background=graphs)
    assert con.distance > 256  # exactly as far, then
    assert found.distance <= con.distance


def test_regions_help_where_cells_count():
    """Every pair of one cell counts the same: with the regions, far fewer edits are found."""
    rng = np.random.default_rng(1)
    n = 60
    region = np.repeat(np.arange(6), 10)
    by_cell = rng.normal(size=(6, 6))
    weights = np.triu((by_cell + by_cell.T)[np.ix_(region, region)], 1)
    graphs = cohort(n, 16, 1)
    middle = np.median([(weights * g.to_adjacency()).sum() for g in graphs])

    def label(adjacency):
        return int((weights * adjacency).sum() > middle)

    nodes = Nodes(tuple(map(str, range(n))), regions={"region": tuple(map(str, region))})
    method, edits = make_method("tight", questions=120), {}
    for given in (None, nodes):
        found = [explain(g, label, method, background=graphs, nodes=given) for g in graphs[:4]]
        assert all(r.found for r in found)
        edits[given is not None] = sum(r.distance for r in found)
    assert edits[True] < edits[False]


def test_a_classifier_that_never_flips():
    (graph,) = cohort(8, 1, 0)
    result = explain(graph, lambda a: 1, "tight")
    assert result.status is Status.EXHAUSTED
    assert "toggling up to all pairs" in result.notes[0]


def test_a_target_among_three():
    graphs = cohort(12, 15, 7)

    def label(adjacency):
        return int(np.digitize(adjacency.sum() / 2, [17, 23]))

    graph = next(g for g in graphs if g.n_edges == 20)
    up = explain(graph, label, "tight", background=graphs, target=2)
    down = explain(graph, label, "tight", background=graphs, target=0)
    assert (up.label_after, up.distance) == (2, 3)
    assert (down.label_after, down.distance) == (0, 4)


def test_bad_parameters():
    with pytest.raises(InvalidParameterError, match="questions"):
        make_method("tight", questions=0)
    with pytest.raises(InvalidParameterError, match="pool"):
        make_method("tight", pool=0)
    (graph,) = cohort(6, 1, 0)
    with pytest.raises(OracleError, match="gives no confidence"):
        explain(graph, lambda a: int(a[0, 1]), make_method("tight", guided=True))


@pytest.mark.parametrize("guided", [False, True])
@pytest.mark.parametrize("alone", [False, True])
def test_of_very_many_pairs_those_are_weighed_that_graphs_have(monkeypatch, guided, alone):
    """Where not all pairs can be: those of the nearest flip, then the commonest, then by chance."""
    monkeypatch.setattr("denseflip.search.methods.tight.MOST_PAIRS", 40)
    graphs = cohort(14, 12, seed=3)
    rule = Rule(14, seed=5)
    background = None if alone else graphs[1:]
    seen = {}
    plain = _TightSearch._candidates

    def watched(talk):
        seen["codes"], seen["best"] = plain(talk), talk.best
        return seen["codes"]

    monkeypatch.setattr(_TightSearch, "_candidates", watched)
    method = make_method("tight", guided=guided)
    result = explain(graphs[0], rule, method, background=background, seed=2)
    codes = seen["codes"]
    u, v = np.divmod(codes, 14)
    assert (u < v).all()
    assert (np.diff(codes) > 0).all()
    if alone:
        assert seen["best"] is None
        assert np.isin(graphs[0].codes[:10], codes).any()
    else:
        assert np.isin(seen["best"], codes).all()
        assert result.found
    assert len(codes) <= max(40, 0 if seen["best"] is None else len(seen["best"]))
