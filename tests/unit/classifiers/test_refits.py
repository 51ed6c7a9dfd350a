"""Refits: whatever can be trained again, on bootstrap samples."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from denseflip import as_oracle, fit_oracle, make_refits
from denseflip.classifiers import refits as module
from denseflip.classifiers.refits import Refits, known_refits, resample
from denseflip.errors import (
    InvalidParameterError,
    MissingInputError,
    OracleError,
    UnknownNameError,
)
from groups import DATA

PRESETS = ("regions-logistic", "edges-svm", "sf-knn")


def answers(refits):
    return [list(oracle.predict(DATA.graphs)) for oracle in refits]


def constant(dataset):
    return lambda adjacency: 0


def broken(dataset):
    raise ValueError("no convergence")


def majority_of_first_edges(dataset):
    """A fit of our own: a threshold on the number of edges."""
    sizes = np.array([g.n_edges for g in dataset.graphs])
    middle = sum(sizes[dataset.label_array() == label].mean() for label in (0, 1)) / 2
    return lambda adjacency: int(adjacency.sum() / 2 > middle)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_seed_gives_the_same_refits_and_fewer_are_the_first(preset):
    some = make_refits(DATA, preset, 4)
    assert answers(make_refits(DATA, preset, 4)) == answers(some)
    assert answers(make_refits(DATA, preset, 2)) == answers(some[:2])
    assert isinstance(some[:2], Refits)
    assert len(some) == 4


@pytest.mark.parametrize("preset", PRESETS)
def test_a_refit_is_the_preset_trained_on_the_sample(preset, monkeypatch):
    """Features are shared and settings are kept; nothing else differs from training directly."""
    oracle = fit_oracle(DATA, preset)
    taken = []
    monkeypatch.setattr(
        module, "_sample", lambda strata, rng: taken.append(np.arange(len(DATA))) or taken[-1]
    )
    [refit] = make_refits(DATA, oracle, 1)
    assert refit.card["chosen"] == oracle.card["chosen"]
    assert refit.predict(DATA.graphs) == oracle.predict(DATA.graphs)


def test_samples_keep_the_number_of_graphs_of_each_class_and_site():
    seen = []

    def fit(dataset):
        seen.append(dataset)
        return majority_of_first_edges(dataset)

    sites = tuple("ab"[i // 2 % 2] for i in range(len(DATA)))
    data = replace(DATA, subjects={"site": sites, "age": tuple(range(len(DATA)))})
    make_refits(data, fit, 5)
    wanted = Counter(zip(data.labels, sites, strict=True))
    assert all(
        Counter(zip(one.labels, one.subjects["site"], strict=True)) == wanted for one in seen
    )
    assert len({one.ids for one in seen}) == 5
    seen.clear()
    make_refits(data, fit, 3, columns=["age"])  # many values: split at the median
    older = [sum(age > 9.5 for age in one.subjects["age"]) for one in seen]
    assert older == [10, 10, 10]
    with pytest.raises(UnknownNameError, match="site"):
        make_refits(data, fit, columns=["sites"])


def test_copies_of_a_graph_have_their_own_ids():
    again = resample(DATA, np.array([0, 0, 0, 3]))
    first, other = DATA.ids[0], DATA.ids[3]
    assert again.ids == (first, f"{first} (copy 2)", f"{first} (copy 3)", other)
    assert again.graphs == (*(DATA.graphs[0],) * 3, DATA.graphs[3])


def test_an_estimator_a_pipeline_and_an_oracle_with_refit_are_trained_again():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows = np.array([g.degrees() for g in DATA.graphs])
    for model in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        names = [DATA.class_names[y] for y in DATA.labels]
        oracle = as_oracle(model.fit(rows, names), features="degrees")
        found = make_refits(DATA, oracle, 3)
        assert {answer for one in found for answer in one.predict(DATA.graphs)} == {"A", "B"}


def test_a_function_by_name_and_a_folder_of_models(folder):
    (folder / "toy_fit.py").write_text(
        "import denseflip\ndef fit(dataset):\n    return denseflip.fit_oracle(dataset, 'sf-knn')\n"
    )
    assert len(make_refits(DATA, "toy_fit:fit", 3)) == 3
    for i, preset in enumerate(PRESETS[:2]):
        fit_oracle(DATA, preset).save(folder / f"model{i}.dfo")
    assert len(make_refits(DATA, str(folder))) == 2
    assert len(make_refits(DATA, folder)) == 2


@pytest.mark.parametrize(
    ("classifier", "kind", "words"),
    [
        (constant, OracleError, r"All 20 refits give every graph .* the same label \(0\)"),
        (broken, OracleError, "Refit 1 of 20 could not be trained: ValueError: no convergence"),
        (lambda dataset: 3, OracleError, "Refit 1 of 20 could not be trained"),
        (as_oracle(lambda a: 0), MissingInputError, "cannot be trained again"),
        ("edges-smv", UnknownNameError, "edges-svm"),
        ("no_such_module:fit", InvalidParameterError, "no_such_module"),
    ],
)
def test_what_cannot_be_trained_again_is_said(classifier, kind, words):
    with pytest.raises(kind, match=words):
        make_refits(DATA, classifier)


def test_an_empty_folder_and_a_wrong_number_are_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match="has no models"):
        make_refits(DATA, tmp_path)
    with pytest.raises(InvalidParameterError, match="no such folder"):
        make_refits(DATA, tmp_path / "none")
    with pytest.raises(InvalidParameterError, match="refits"):
        make_refits(DATA, "sf-knn", 0)


def test_some_constant_refits_are_noted():
    made = []

    def fit(dataset):
        made.append(dataset)
        return constant(dataset) if len(made) == 1 else majority_of_first_edges(dataset)

    found = make_refits(DATA, fit, 4)
    assert found.notes == ("1 of 4 refits give every graph the same label (0).",)


def test_refits_of_a_preset_are_made_once_if_they_are_cheap(monkeypatch):
    oracle = fit_oracle(DATA, "regions-logistic")
    assert known_refits(DATA, oracle) is known_refits(DATA, oracle)
    assert len(known_refits(DATA, oracle)) == 20
    dear = fit_oracle(DATA, "regions-logistic")
    assert known_refits(DATA, dear, seconds=0.0) is None
    assert known_refits(None, oracle) is None
    assert known_refits(replace(DATA, name="other"), oracle) is None
    assert known_refits(DATA, as_oracle(lambda a: 0)) is None


def test_refits_are_affordable_in_a_new_process_too(tmp_path):
    """Importing scikit-learn, as the first refit does there, is not a cost of the refits."""
    known = tmp_path / "known.pickle"
    known.write_bytes(pickle.dumps((DATA, fit_oracle(DATA, "edges-svm"))))
    code = (
        "import pickle, sys, time\n"
        f"dataset, oracle = pickle.load(open({str(known)!r}, 'rb'))\n"
        "from denseflip.classifiers import refits\n"
        "assert 'sklearn' not in sys.modules\n"
        "fit = refits.make_refits\n"
        "def slow_first(*given):\n"
        "    until = time.process_time() + ('sklearn' not in sys.modules)\n"
        "    while time.process_time() < until: pass\n"
        "    return fit(*given)\n"
        "refits.make_refits = slow_first\n"
        "print(refits.known_refits(dataset, oracle))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "Refits(20 classifiers)\n", done.stderr
