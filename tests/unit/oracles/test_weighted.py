"""Classifiers of weights: translation by hand on a small graph, and from cohort to page."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from denseflip import describe, evaluate, explain, open_oracle, write_page
from denseflip.classifiers.presets import WeightRows, fit_weighted
from denseflip.counterfactual import Counterfactual
from denseflip.datasets import Dataset, Keep, make_synthetic
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.graph import Graph
from denseflip.oracles.background import Background
from denseflip.oracles.session import Session
from denseflip.oracles.weighted import KnownWeights, Translation, to_matrices, weighted_oracle

COHORT = make_synthetic(weights=True, seed=0)
PLAIN = make_synthetic(n_per_class=2)

# Three nodes, pairs 01, 02, 12; edges are weights of at least 0.5.
ROWS = np.array([[0.9, 0.1, 0.2], [0.7, 0.6, 0.3], [0.2, 0.8, 0.4], [0.3, 1.0, 0.7]])
GRAPHS = [Keep(threshold=0.5).apply(m) for m in to_matrices(ROWS, 3)]
TOY = Dataset("toy", tuple(GRAPHS), (0, 0, 1, 1), ("a", "b"), weights=ROWS)


def second(rows: np.ndarray) -> np.ndarray:
    """Class 1 where pair 02 outweighs pair 01."""
    return (rows[:, 1] > rows[:, 0]).astype(int)


@pytest.fixture(scope="module")
def fitted():
    return fit_weighted(COHORT)


# ---- by hand ---------------------------------------------------------------------------------


def test_typical_weights_by_hand():
    known = KnownWeights(GRAPHS, ROWS)
    # 01 is absent in the last two, 02 in the first alone, 12 in the first three.
    assert known.below.tolist() == [0.25, 0.1, 0.3]
    # 01 is no edge of the last two, so all graphs tell.
    assert known.above(np.array([0, 0, 1, 1], bool)).tolist() == [0.8, 0.9, 0.7]
    # Without the last, 12 is never one, so all edges of the chosen tell.
    less = KnownWeights(GRAPHS[:3], ROWS[:3])
    assert less.above(np.array([0, 0, 1], bool)).tolist() == [0.8, 0.8, 0.8]
    nobody = known.above(np.zeros(4, bool))
    assert nobody.tolist() == known.above(np.ones(4, bool)).tolist()


def test_edits_become_weights():
    """Kept and absent pairs keep theirs; removed ones go below, added ones above."""
    oracle = weighted_oracle(second, TOY, input="rows").about(GRAPHS[0])
    same = oracle.edge_weights(GRAPHS[0])
    assert same.tolist() == ROWS[0].tolist()
    edited = GRAPHS[0].toggle([(0, 1), (1, 2)])
    # Removed 01: typically .25, but no more than its strongest absent pair, .2. Added 12: 0.9.
    assert oracle.edge_weights(edited).tolist() == [0.2, 0.1, 0.9]
    known = GRAPHS[0].toggle([(0, 2)])
    assert known == GRAPHS[1]  # a graph of the data set is queried with its own weights
    assert oracle.edge_weights(known).tolist() == ROWS[1].tolist()


def test_the_translated_matrix_has_the_edited_graph():
    """Thresholding what the classifier is shown gives the graph that it is asked about."""
    oracle = fit_weighted(COHORT)
    rng = np.random.default_rng(0)
    n = COHORT.n_nodes
    for graph in COHORT.graphs[:3]:
        about = oracle.about(graph)
        u, v = np.triu_indices(n, 1)
        some = graph.toggle_codes(rng.choice(u * n + v, 60, replace=False))
        matrix = to_matrices(about.edge_weights(some)[None, :], n)[0]
        assert Keep(edges=some.n_edges).apply(matrix) == some


def test_without_a_threshold_typical_weights_stand_as_they_are():
    graph = Graph.from_edges(3, [(0, 1)])
    row = np.array([0.1, 0.5, 0.2])  # an absent pair is stronger than the edge
    one = Translation.of(graph, row, np.full(3, 0.9), np.full(3, -0.9))
    assert one(graph.toggle([(0, 1), (0, 2)])).tolist() == [0.9, -0.9, 0.2]


# ---- answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (second, {"input": "rows"}),
        (lambda w: int(w[1] > w[0]), {"input": "rows", "batch": False}),
        (lambda m: (m[:, 0, 2] > m[:, 0, 1]).astype(int), {}),
        (lambda m: int(m[0, 2] > m[1, 0]), {"batch": False}),
    ],
)
def test_forms_of_models(model, options):
    oracle = weighted_oracle(model, TOY, **options)
    assert list(oracle.predict(GRAPHS)) == [0, 0, 1, 1]
    assert oracle.class_names == {0: "a", 1: "b"}
    result = explain(GRAPHS[0], oracle, "con", background=GRAPHS)
    assert result.found
    assert result.label_after == 1


def test_results_carry_the_weights():
    oracle = weighted_oracle(second, TOY, input="rows")
    result = explain(GRAPHS[0], oracle, "edg", seed=3)
    assert [(u, v) for u, v, _, _ in result.weights] == [*result.added, *result.removed]
    about = oracle.about(GRAPHS[0])
    matrices = to_matrices(
        np.stack([about.edge_weights(g) for g in (result.original, result.counterfactual)]), 3
    )
    for u, v, before, after in result.weights:
        assert (before, after) == (matrices[0][u, v], matrices[1][u, v])
    assert Counterfactual.from_dict(result.to_dict()) == result


def test_a_background_graph_as_answer_says_that_other_weights_differ():
    oracle = weighted_oracle(second, TOY, input="rows")
    result = explain(GRAPHS[0], oracle, "dat", background=GRAPHS)
    assert result.found
    assert any("queried with its own weights" in note for note in result.notes)


def test_an_added_edge_weighs_what_it_does_in_the_class_that_is_wanted():
    rows = np.array([[0.9, 0.1, 0.0], [0.1, 0.6, 0.0], [0.1, 0.8, 0.2]])
    graphs = [Keep(threshold=0.5).apply(m) for m in to_matrices(rows, 3)]
    graphs[2] = graphs[2].toggle([(1, 2)])
    data = Dataset("three", tuple(graphs), (0, 1, 2), ("a", "b", "c"), weights=rows)
    oracle = weighted_oracle(
        lambda w: np.where(w[:, 1] > 0.7, 2, np.where(w[:, 1] > 0.5, 1, 0)), data, input="rows"
    )
    edited = graphs[0].toggle([(0, 2), (1, 2)])
    assert oracle.about(graphs[0], 1).edge_weights(edited)[1] == max(0.6, 0.9)  # its weakest edge
    row = np.array([0.3, 0.1, 0.0])
    weak = oracle.about(graphs[0], 1, weights=to_matrices(row[None, :], 3)[0])
    assert weak.edge_weights(edited)[1] == 0.6
    strong = oracle.about(graphs[0], (2,), weights=to_matrices(row[None, :], 3)[0])
    assert strong.edge_weights(edited)[1] == 0.8


def test_a_graph_of_nobody_needs_its_weights(fitted):
    matrix = to_matrices(COHORT.weights[:1] * 0.99, 116)[0]
    graph = Keep(percentile=95).apply(matrix)
    with pytest.raises(MissingInputError, match=r"Pass them: explain\(graph, oracle.about"):
        explain(graph, fitted, "con", background=COHORT.graphs)
    with pytest.raises(MissingInputError, match="not in the data set"):
        fitted.predict([graph])
    result = explain(
        graph, fitted.about(graph, weights=matrix), nodes=COHORT.nodes, background=COHORT.graphs
    )
    assert result.found
    assert result.weights


def test_the_background_is_asked_once_for_all_graphs(fitted):
    background = Background(COHORT.graphs)
    first = background.labels(Session(fitted.about(COHORT.graphs[0])))
    session = Session(fitted.about(COHORT.graphs[1]))
    assert background.labels(session) == first
    assert session.evaluations == 0


def test_it_travels(fitted):
    for oracle in (fitted, fitted.about(COHORT.graphs[0])):
        back = pickle.loads(pickle.dumps(oracle))
        assert list(back.predict(COHORT.graphs)) == list(oracle.predict(COHORT.graphs))
        assert (back.base is back) == (oracle.base is oracle)


# ---- from cohort to page ---------------------------------------------------------------------


def test_the_planted_pair_is_named_and_the_weights_are_shown(fitted, tmp_path):
    """Two of the 30 controls."""
    judged = evaluate(COHORT, fitted, repeats=1, permutations=19)
    assert judged.protocol == "cross-validation"
    assert judged.better_than_chance
    for i in (0, 7):
        result = explain(COHORT.graphs[i], fitted, nodes=COHORT.nodes, background=COHORT.graphs)
        story = describe(result, COHORT.nodes, fitted, background=COHORT.graphs, evaluation=judged)
        assert story.claim.region_sets == ({"Frontal Lobe", "Temporal Lobe"},)
        assert story.true_as_read
        # A typical weight is far from what the classifier needs, so real graphs have fewer edges.
        assert (story.in_range, story.badge.level) == (False, "listed")
        assert len(result.weights) == result.distance
        added = result.weights[: len(result.added)]
        removed = result.weights[len(result.added) :]
        assert all(after > before for _, _, before, after in added)
        assert all(after < before for _, _, before, after in removed)
        assert any("The classifier uses weights: the added" in note for note in story.footnotes)
    page = write_page(story, tmp_path / "p.html", interactive=False).read_text(encoding="utf-8")
    assert "weight before" in page
    assert f"{result.weights[0][2]:.3f}" in page
    assert f"{result.weights[0][3]:.3f}" in page
    assert story.class_name(1) == "case"


def test_words_open_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_weights.py").write_text(
        "def strong(w):\n    return (w[:, :40, :40].mean(axis=(1, 2)) > 0.2).astype(int)\n"
    )
    few = COHORT[[0, 1, 2, 30, 31, 32]]
    assert open_oracle("weights:logistic", dataset=few).card["features"] == "weights"
    assert len(open_oracle("weights:my_weights:strong", dataset=few).predict(few.graphs)) == 6
    with pytest.raises(MissingInputError, match="dataset="):
        open_oracle("weights:logistic")
    with pytest.raises(UnknownNameError, match="weak"):
        open_oracle("weights:my_weights:weak", dataset=few)


def test_an_estimator_of_ones_own(fitted):
    own = LogisticRegression(C=0.1).fit(COHORT.weights, COHORT.labels)
    oracle = weighted_oracle(own, COHORT)
    assert oracle.classes == (0, 1)
    assert oracle.predict_proba(COHORT.graphs[:2]).__len__() == 2
    result = explain(COHORT.graphs[0], oracle, "con", background=COHORT.graphs, target="case")
    assert result.found
    assert result.confidence_after > 0.5
    few = replace(COHORT[list(range(0, 60, 3))], name="few")
    judged = evaluate(few, weighted_oracle(own, few), repeats=1, permutations=0)
    assert judged.protocol == "cross-validation"
    assert judged.features == "weights"
    trained = fit_weighted(few, LogisticRegression())
    assert trained.card["chosen"] == {}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: weighted_oracle(second, PLAIN), MissingInputError, "has no weights"),
        (lambda: weighted_oracle(3, TOY), InvalidParameterError, "a fitted estimator or"),
        (lambda: weighted_oracle(second, TOY, input="row"), UnknownNameError, "mean 'rows'"),
        (lambda: KnownWeights(GRAPHS, ROWS[:, :2]), InvalidParameterError, r"shape \(4, 3\)"),
        (
            lambda: KnownWeights([GRAPHS[0]] * 2, ROWS[:2], ["x", "y"]),
            InvalidParameterError,
            "graphs x and y are equal but their weights differ",
        ),
        (
            lambda: weighted_oracle(second, TOY).about(GRAPHS[0], weights=np.zeros((4, 4))),
            InvalidParameterError,
            "over 4 nodes; the graph has 3",
        ),
        (
            lambda: WeightRows(KnownWeights(GRAPHS, ROWS)).transform([Graph.from_edges(3, [])]),
            InvalidParameterError,
            "not in the data set",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_told(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_weights_are_those_of_the_pair_wherever_it_is_in_the_row():
    """Six nodes, a weight of its own for each of the 15 pairs; one of them decides."""
    rows = np.array([0.5 + np.arange(15) / 100, np.arange(15) / 100])
    graphs = [Keep(threshold=0.5).apply(m) for m in to_matrices(rows, 6)]
    data = Dataset("six", tuple(graphs), (1, 0), ("a", "b"), weights=rows)
    for place in range(15):
        oracle = weighted_oracle(
            lambda some, place=place: (some[:, place] > 0.3).astype(int), data, input="rows"
        )
        result = explain(graphs[0], oracle, "obs+min", seed=1)
        u, v = (int(end[place]) for end in np.triu_indices(6, 1))
        assert [(a, b, before) for a, b, before, _ in result.weights] == [(u, v, rows[0, place])]
        assert result.weights[0][3] < 0.3
        assert not any("its own weights" in note for note in result.notes)
