from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from cohorts import make_cohort
from denseflip.classifiers.features import EdgeFeatures
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.presets import fit_oracle
from denseflip.errors import InvalidGraphError, NotFittedError
from denseflip.graph import Graph

COHORT = make_cohort()


def test_probabilities_where_the_estimator_has_them():
    for preset in ("sf-knn", "edges-logistic"):
        oracle = fit_oracle(COHORT, preset=preset)
        shares = oracle.predict_proba(COHORT.graphs)
        assert shares.shape == (len(COHORT), 2)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert oracle.predict(COHORT.graphs) == shares.argmax(axis=1).tolist()
    assert not hasattr(fit_oracle(COHORT, preset="edges-svm"), "predict_proba")


def test_no_graphs_no_labels():
    assert fit_oracle(COHORT).predict([]) == []


def test_graphs_over_other_nodes():
    other = Graph.from_edges(5, [(0, 1)])
    with pytest.raises(InvalidGraphError, match=r"Graph 1 has 5 nodes, .* trained on .* 12"):
        fit_oracle(COHORT, features="edges").predict([COHORT.graphs[0], other])
    assert fit_oracle(COHORT).predict([other])[0] in {0, 1}  # a spectrum has no such bound


def test_an_unfitted_estimator_is_refused():
    with pytest.raises(NotFittedError, match="fit_oracle"):
        FittedOracle(EdgeFeatures(), KNeighborsClassifier(), ("a", "b"), 4)


def test_it_travels_to_a_worker():
    oracle = fit_oracle(COHORT)
    before = oracle.predict(COHORT.graphs)
    again = pickle.loads(pickle.dumps(oracle))
    assert again.predict(COHORT.graphs) == before
    assert again.card == oracle.card


def test_the_card_can_be_added_to_without_changing_the_first():
    oracle = fit_oracle(COHORT)
    marked = oracle.with_card(note="x")
    assert marked.card["note"] == "x"
    assert "note" not in oracle.card
    assert "sf-knn" in repr(marked)
    assert "'cohort'" in repr(marked)
