"""Files that 0.1.0 wrote are read for ever: a data set, a classifier, a result, a story."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from denseflip.classifiers.persist import load_oracle
from denseflip.counterfactual import Counterfactual
from denseflip.datasets import Dataset
from denseflip.story.story import Story

FILES = Path(__file__).parent / "files"
FACTS = json.loads((FILES / "first-facts.json").read_text())


def read(name: str):
    return json.loads((FILES / name).read_text(encoding="utf-8"))


def test_a_data_set():
    data = Dataset.load(FILES / "first.dfd")
    assert [g.n_edges for g in data.graphs] == FACTS["edges"]
    assert data.class_names == ("loose", "dense")
    assert data.nodes.taxonomies == ("part",)
    assert data.subjects == {}
    assert data.weights is None


def test_a_classifier():
    pytest.importorskip("skops")
    oracle = load_oracle(FILES / "first.dfo")
    data = Dataset.load(FILES / "first.dfd")
    assert oracle.predict(data.graphs) == FACTS["predict"]
    assert oracle.card["preset"] == "edges-logistic"


def test_a_result():
    result = Counterfactual.from_dict(read("first-result.json"))
    assert result.found
    assert result.distance == FACTS["distance"]
    assert result.label_after == FACTS["label_after"]
    assert result.replay() == result.counterfactual
    assert Counterfactual.from_dict(result.to_dict()) == result


def test_a_story():
    story = Story.from_dict(read("first-story.json"))
    assert story.result.distance == FACTS["distance"]
    assert story.statement
