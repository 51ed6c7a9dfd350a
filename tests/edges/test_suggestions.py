"""A name that is not known is answered with the one that was probably meant, at every entrance."""

from __future__ import annotations

import pickle

import pytest

import denseflip
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.datasets import fetch_dataset, load_dataset
from denseflip.errors import ConfigError, MissingInputError, UnknownNameError, nearest
from denseflip.experiments.bench_config import check_config, make_matrix
from denseflip.metrics import measure
from denseflip.oracles.open import open_oracle
from denseflip.search.methods.registry import METHOD_WORDS, METHODS, make_method
from denseflip.workflow.subject import choose_ids, find_subject


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("mouse", "mice"),
        ("Mouses", "mice"),
        ("mise", "mice"),
        ("autism", "aut"),
        ("autsm", "aut"),
        ("bipolar", "bip"),
        ("adhd200", "adhd"),
        ("peking", "pek"),
        ("simulated", "synthetic"),
    ],
)
def test_data_sets(typed, meant):
    for ask in (load_dataset, fetch_dataset):
        with pytest.raises(UnknownNameError, match=f"Did you mean '{meant}'"):
            ask(typed)
    with pytest.raises(MissingInputError, match=f"Did you mean '{meant}'"):
        find_subject(typed)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("triangels", "tri"),
        ("triangles", "tri"),
        ("cliqes", "cli"),
        ("edges", "edg"),
        ("contrastive", "con"),
        ("closest", "dat"),
        ("medoids", "medoid"),
        ("trusses", "truss"),
        ("fewest", "tight"),
    ],
)
def test_methods(typed, meant):
    with pytest.raises(UnknownNameError, match=f"Did you mean '{meant}'"):
        make_method(typed)


def test_refinements():
    with pytest.raises(UnknownNameError, match="Did you mean 'bw'"):
        make_method("tri+backward")
    with pytest.raises(UnknownNameError, match="Did you mean 'min'"):
        make_method("tri+minimal")


def test_words_of_methods_lead_to_methods():
    assert set(METHOD_WORDS.values()) <= set(METHODS)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("svm", "edges-svm"),
        ("knn", "sf-knn"),
        ("spectral-knn", "sf-knn"),
        ("region-logistic", "regions-logistic"),
        ("neighbors", "sf-knn"),
    ],
)
def test_presets(typed, meant):
    mice = load_dataset("mice")
    with pytest.raises(UnknownNameError, match=f"Did you mean '{meant}'"):
        denseflip.fit_oracle(mice, typed)
    with pytest.raises(UnknownNameError, match=f"Did you mean '{meant}'"):
        open_oracle(typed, dataset=mice)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("queries", "calls"),
        ("edits", "distance"),
        ("entropy", "region_entropy"),
        ("time", "elapsed"),
    ],
)
def test_measures(typed, meant):
    with pytest.raises(UnknownNameError, match=f"Did you mean '{meant}'"):
        measure([], typed)


def test_taxonomies_and_classes():
    mice = load_dataset("mice")
    with pytest.raises(UnknownNameError, match="Did you mean 'hemisphere'"):
        mice.nodes.taxonomy("sides")
    with pytest.raises(UnknownNameError, match="Did you mean 'hemisphere'"):
        mice.nodes.taxonomy("hemisfere")
    with pytest.raises(UnknownNameError, match="Did you mean 'BTBR'"):
        choose_ids(mice, classes=["BTRB"])
    with pytest.raises(UnknownNameError, match="Did you mean 'BTBR'"):
        find_subject(mice, 0).label_of("BTRB")
    oracle = denseflip.fit_oracle(mice, "edges-svm")
    with pytest.raises(UnknownNameError, match="Did you mean 'BTBR'"):
        denseflip.explain(mice.graphs[0], oracle, "con", target="btb")


@pytest.mark.parametrize("typed", ["ASD", "asd", "autism", "Autism Spectrum", "spectrum"])
def test_classes_of_several_words(typed):
    known = ["Typically Developed", "Autism Spectrum Disorder"]
    assert nearest(typed, known) == ["Autism Spectrum Disorder"]


def test_nothing_is_suggested_for_what_looks_like_nothing():
    assert nearest("qqqq", [*METHODS], aliases=METHOD_WORDS) == []
    assert nearest("of", ["office"]) == []  # too short to abbreviate anything
    assert nearest("mouse", ["aut"], aliases={"mouse": "mice"}) == []  # the alias leads nowhere


def test_the_best_come_first_and_each_once():
    assert nearest("edges", ["edges-svm", "edges-logistic", "edges"], n=3)[0] == "edges"
    assert nearest("54790", ["sub-54790", "sub-54811"]) == ["sub-54790"]
    found = nearest("tri", ["tri", "triangle"], n=5, aliases={"triangles": "tri"})
    assert found == ["tri", "triangle"]


def test_a_suggestion_survives_pickling():
    error = UnknownNameError("data set", "mouse", ["mice"], aliases={"mouse": "mice"})
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert "Did you mean 'mice'?" in str(error)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["explain", "mouse", "0"], "mice"),
        (["explain", "mouse"], "mice"),
        (["data", "show", "mouse"], "mice"),
        (["compare", "mouse", "0"], "mice"),
        (["explain", "mice", "0", "-m", "triangels"], "tri"),
        (["compare", "mice", "0", "--methods", "triangels"], "tri"),
        (["explain", "mice", "0", "--oracle", "svm"], "edges-svm"),
        (["train", "mice", "--preset", "svm"], "edges-svm"),
        (["explain", "mice", "0", "--regions", "sides", "--oracle", "edges-svm"], "hemisphere"),
        (["explain", "mice", "--class", "BTRB"], "BTBR"),
    ],
    ids=" ".join,
)
def test_the_command_line_suggests(words, meant, capsys):
    assert run(app, words) == 1
    assert f"Did you mean '{meant}'?" in capsys.readouterr().err


def test_a_bench_file_suggests():
    config = check_config({"datasets": ["mouse"], "oracles": ["svm"], "methods": ["triangels"]})
    with pytest.raises(ConfigError) as caught:
        make_matrix(config)
    for meant in ("mice", "edges-svm", "tri"):
        assert f"Did you mean '{meant}'?" in str(caught.value)
