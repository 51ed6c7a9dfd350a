from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from cohorts import make_cohort
from denseflip.classifiers.features import EdgeFeatures
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.presets import PRESETS, fit_oracle
from denseflip.errors import InvalidGraphError, NotFittedError
from denseflip.graph import Graph

COHORT = make_cohort()


def test_probabilities_where_the_estimator_has_them():
    assert not hasattr(fit_oracle(COHORT, "edges-svm"), "predict_proba")
    forest = RandomForestClassifier(3, random_state=0)
    oracle = fit_oracle(COHORT, features="edges", estimator=forest)
    rows = oracle.features.transform(COHORT.graphs)
    expected = oracle.estimator.predict_proba(rows)
    assert np.array_equal(oracle.predict_proba(COHORT.graphs), expected)
    assert oracle.predict_proba([]).shape == (0, 2)


def test_no_graphs_no_labels():
    assert fit_oracle(COHORT, "sf-knn").predict([]) == []


def test_graphs_over_other_nodes():
    other = Graph.from_edges(5, [(0, 1)])
    with pytest.raises(InvalidGraphError, match=r"Graph 1 has 5 nodes, .* trained on .* 12"):
        fit_oracle(COHORT, features="edges").predict([COHORT.graphs[0], other])
    assert fit_oracle(COHORT, "sf-knn").predict([other])[0] in {
        0,
        1,
    }  # a spectrum has no such bound


def test_an_unfitted_estimator_is_refused():
    with pytest.raises(NotFittedError, match="fit_oracle"):
        FittedOracle(EdgeFeatures(), KNeighborsClassifier(), ("a", "b"), 4)


def test_it_travels_to_a_worker():
    oracle = fit_oracle(COHORT, "sf-knn")
    before = oracle.predict(COHORT.graphs)
    again = pickle.loads(pickle.dumps(oracle))
    assert again.predict(COHORT.graphs) == before
    assert again.card == oracle.card


PRELUDE = """
import pickle, sys
from cohorts import make_cohort
graphs = make_cohort().graphs
"""


def test_predicting_imports_no_scikit_learn(tmp_path):
    """In a worker, after loading, and for nearest neighbours even when they are trained there."""
    oracles = {preset: fit_oracle(COHORT, preset) for preset in PRESETS}
    codes = {"fit_oracle(make_cohort(), 'sf-knn')": "sf-knn"}
    for preset, oracle in oracles.items():
        (tmp_path / f"{preset}.pickle").write_bytes(pickle.dumps(oracle))
        codes[f"pickle.load(open('{preset}.pickle', 'rb'))"] = preset
        oracle.save(tmp_path / f"{preset}.dfo")
        codes[f"load_oracle('{preset}.dfo')"] = preset
    lines = [f"print({code}.predict(graphs), 'sklearn' in sys.modules)" for code in codes]
    script = "\n".join([PRELUDE, "from denseflip import fit_oracle, load_oracle", *lines])
    paths = [str(Path(__file__).parents[2]), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    expected = [f"{oracles[preset].predict(COHORT.graphs)} False" for preset in codes.values()]
    assert done.stdout.splitlines() == expected


def test_the_estimator_is_there_when_asked_for():
    for preset in PRESETS:
        oracle = fit_oracle(COHORT, preset)
        again = pickle.loads(pickle.dumps(oracle))
        for one in (oracle, again, again.with_card(note="x")):
            assert " ".join(repr(one.estimator).split()) == oracle.card["estimator"]
            assert oracle.classes == tuple(one.estimator.classes_)
            rows = one.features.transform(COHORT.graphs)
            assert one.predict(COHORT.graphs) == one.estimator.predict(rows).tolist()


def test_edits_where_they_can_be_answered():
    base, edits = COHORT.graphs[0], [np.array([1]), np.array([14, 2, 3]), np.empty(0, np.int64)]
    changed = [base.toggle_codes(e) for e in edits]
    for preset in ("edges-svm", "edges-logistic", "regions-logistic"):
        oracle = fit_oracle(COHORT, preset)
        assert oracle.predict_edits(base, edits) == oracle.predict(changed)
        assert oracle.predict_edits(base, []) == []
        with pytest.raises(InvalidGraphError, match="5 nodes"):
            oracle.predict_edits(Graph.from_edges(5, []), edits)
    assert not hasattr(fit_oracle(COHORT, "sf-knn"), "predict_edits")
    forest = RandomForestClassifier(3, random_state=0)
    assert not hasattr(fit_oracle(COHORT, features="edges", estimator=forest), "predict_edits")


def test_the_card_can_be_added_to_without_changing_the_first():
    oracle = fit_oracle(COHORT, "sf-knn")
    marked = oracle.with_card(note="x")
    assert marked.card["note"] == "x"
    assert "note" not in oracle.card
    assert "sf-knn" in repr(marked)
    assert "'cohort'" in repr(marked)
