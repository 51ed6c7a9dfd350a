from __future__ import annotations

import io
import json
import os
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import FunctionTransformer

from cohorts import make_cohort
from denseflip.classifiers import persist
from denseflip.classifiers.features import EdgeFeatures
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.persist import load_oracle
from denseflip.classifiers.presets import PRESETS, fit_oracle
from denseflip.errors import FileFormatError, InvalidParameterError

COHORT = make_cohort()


@pytest.mark.parametrize(
    "estimator",
    [RandomForestClassifier(3, random_state=0), KNeighborsClassifier(3, algorithm="kd_tree")],
    ids=["forest", "tree of neighbours"],
)
def test_other_estimators_of_scikit_learn(estimator, tmp_path):
    oracle = fit_oracle(COHORT, features="degrees", estimator=estimator)
    again = load_oracle(oracle.save(tmp_path / "it.dfo"))
    assert again.predict(COHORT.graphs) == oracle.predict(COHORT.graphs)


def test_the_card_is_readable_without_denseflip(tmp_path):
    path = fit_oracle(COHORT).save(tmp_path / "it.dfo")
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == ["card.json", "estimator.skops", "head.npz"]
        header = json.loads(archive.read("card.json"))
    assert header["format"] == "denseflip-oracle"
    assert header["version"] == 1
    assert header["card"]["dataset"]["name"] == "cohort"


def test_no_file_is_overwritten_unasked(tmp_path):
    oracle = fit_oracle(COHORT)
    path = oracle.save(tmp_path / "it.dfo")
    before = path.read_bytes()
    with pytest.raises(InvalidParameterError, match="exists already and was not changed"):
        oracle.save(path)
    assert path.read_bytes() == before
    oracle.with_card(note="new").save(path, force=True)
    assert load_oracle(path).card["note"] == "new"
    assert os.listdir(tmp_path) == ["it.dfo"]
    with pytest.raises(InvalidParameterError, match="does not exist"):
        oracle.save(tmp_path / "nowhere" / "it.dfo")
    with pytest.raises(InvalidParameterError, match="is a folder"):
        oracle.save(tmp_path)


def rewrite(path, **members):
    """The file with some members replaced (None leaves one out)."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts.update({name.replace("_", "."): data for name, data in members.items()})
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            if data is not None:
                archive.writestr(name, data)


@pytest.mark.parametrize("preset", PRESETS)
def test_files_of_the_first_release_are_read(preset, tmp_path):
    """They hold the estimator alone."""
    oracle = fit_oracle(COHORT, preset)
    path = oracle.save(tmp_path / "it.dfo")
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("card.json"))
    del header["head"]
    rewrite(path, card_json=json.dumps(header), head_npz=None)
    again = load_oracle(path)
    assert type(again.trained) is type(oracle.estimator)
    assert again.predict(COHORT.graphs) == oracle.predict(COHORT.graphs)
    assert again.description == oracle.description


def test_an_estimator_that_is_not_the_heads_is_looked_at_at_once(tmp_path):
    path = fit_oracle(COHORT, "edges-svm").save(tmp_path / "it.dfo")
    other = fit_oracle(COHORT, "edges-logistic")
    rewrite(path, estimator_skops=skops.io.dumps(other.estimator))
    again = load_oracle(path)
    assert type(again.trained).__name__ == "LogisticRegression"
    assert again.predict(COHORT.graphs) == other.predict(COHORT.graphs)


def test_an_estimator_is_built_when_asked_for(tmp_path, monkeypatch):
    oracle = fit_oracle(COHORT, "regions-logistic")
    path = oracle.save(tmp_path / "it.dfo")
    again = load_oracle(path)
    path.unlink()  # what was loaded needs no file
    assert again.estimator.steps[1][1].C == oracle.estimator.steps[1][1].C
    assert again.estimator is again.estimator
    assert again.save(path).is_file()
    tree = KNeighborsClassifier(3, algorithm="kd_tree")
    path = fit_oracle(COHORT, features="edges", estimator=tree).save(tmp_path / "tree.dfo")
    known = persist.TRUSTED
    monkeypatch.setattr(persist, "TRUSTED", ())
    refused = load_oracle(path)
    assert refused.predict(COHORT.graphs)  # from the arrays
    with pytest.raises(FileFormatError, match=r"not known to be safe: .*KDTree"):
        refused.estimator  # noqa: B018 - now the file's estimator is looked at
    assert load_oracle(path, trusted=known).estimator.n_neighbors == 3


@pytest.mark.parametrize("preset", ["sf-knn", "edges-svm"])
def test_arrays_that_do_not_fit_are_refused(preset, tmp_path):
    path = fit_oracle(COHORT, preset).save(tmp_path / "it.dfo")
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("card.json"))
        arrays = dict(np.load(io.BytesIO(archive.read("head.npz"))))
    name = "labels" if preset == "sf-knn" else "offset"
    for bad in (np.zeros(3), np.zeros((2, 2)), np.full(24, 9)):
        packed = io.BytesIO()
        np.savez(packed, **{**arrays, name: bad})
        rewrite(path, head_npz=packed.getvalue())
        with pytest.raises(FileFormatError, match=r"inconsistent|dimensions"):
            load_oracle(path)
    rewrite(path, head_npz=b"nothing")
    with pytest.raises(FileFormatError, match="cannot be read"):
        load_oracle(path)
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    rewrite(path, head_npz=packed.getvalue())
    header["head"]["kind"] = "other"
    rewrite(path, card_json=json.dumps(header))
    with pytest.raises(FileFormatError, match="unknown kind of classifier 'other'"):
        load_oracle(path)


def test_files_that_are_something_else(tmp_path):
    path = tmp_path / "it.dfo"
    with pytest.raises(FileFormatError, match="no such file"):
        load_oracle(path)
    path.write_bytes(b"not a zip")
    with pytest.raises(FileFormatError, match="cannot be read as a denseflip classifier"):
        load_oracle(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other", "x")
    with pytest.raises(FileFormatError, match=r"no card.json, estimator.skops"):
        load_oracle(path)


def test_damaged_files(tmp_path):
    path = fit_oracle(COHORT).save(tmp_path / "it.dfo")
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("card.json"))
        estimator = archive.read("estimator.skops")
    rewrite(path, card_json=json.dumps({**header, "version": 99}))
    with pytest.raises(FileFormatError, match="version 99; this denseflip reads version 1"):
        load_oracle(path)
    rewrite(path, card_json="{")
    with pytest.raises(FileFormatError, match="cannot be read"):
        load_oracle(path)
    rewrite(path, card_json=json.dumps({"format": "other"}))
    with pytest.raises(FileFormatError, match="does not say 'denseflip-oracle'"):
        load_oracle(path)
    rewrite(path, card_json=json.dumps({k: v for k, v in header.items() if k != "features"}))
    with pytest.raises(FileFormatError, match="features"):
        load_oracle(path)
    rewrite(path, card_json=json.dumps(header), estimator_skops=estimator[: len(estimator) // 2])
    with pytest.raises(FileFormatError, match=r"it\.dfo"):
        load_oracle(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match="cannot be read"):
        load_oracle(path)


def test_foreign_types_are_refused_before_anything_runs(tmp_path, monkeypatch):
    path = fit_oracle(COHORT).save(tmp_path / "it.dfo")
    # A function of the system inside an estimator, as an attacker would place it.
    evil = skops.io.dumps(FunctionTransformer(os.system))
    rewrite(path, estimator_skops=evil)

    def refuse(*_args, **_kwargs):
        pytest.fail("the estimator was built")

    monkeypatch.setattr(skops.io, "loads", refuse)
    with pytest.raises(FileFormatError, match=r"not known to be safe: .*system.*Nothing was load"):
        load_oracle(path)


def test_a_type_can_be_trusted_by_name(tmp_path, monkeypatch):
    oracle = fit_oracle(
        COHORT, features="edges", estimator=RandomForestClassifier(3, random_state=0)
    )
    path = oracle.save(tmp_path / "it.dfo")
    monkeypatch.setattr(persist, "TRUSTED", ())
    with pytest.raises(FileFormatError, match=r"sklearn\.tree\._tree\.Tree"):
        load_oracle(path)
    again = load_oracle(path, trusted=["sklearn.tree._tree.Tree"])
    assert again.predict(COHORT.graphs) == oracle.predict(COHORT.graphs)


def test_an_estimator_that_is_none(tmp_path):
    path = fit_oracle(COHORT).save(tmp_path / "it.dfo")
    rewrite(path, estimator_skops=skops.io.dumps({"a": 1}))
    with pytest.raises(FileFormatError, match="is not fitted"):
        load_oracle(path)


def test_own_features_cannot_be_saved(tmp_path):
    class Own(EdgeFeatures):
        name = "own"

    fitted = fit_oracle(COHORT, features="edges")
    oracle = FittedOracle(Own(), fitted.estimator, fitted.class_names, 12)
    with pytest.raises(InvalidParameterError, match=r"\('own'\) cannot be saved"):
        oracle.save(tmp_path / "it.dfo")


def test_no_pickle_inside(tmp_path):
    path = fit_oracle(COHORT).save(tmp_path / "it.dfo")
    with zipfile.ZipFile(path) as archive:
        inner = zipfile.ZipFile(io.BytesIO(archive.read("estimator.skops")))
        assert all(name.endswith((".json", ".npy")) for name in inner.namelist())
