"""Every preset passes the same checks: a new one is tested by being registered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cohorts import make_cohort
from denseflip.classifiers.crossval import evaluate
from denseflip.classifiers.features import FEATURES
from denseflip.classifiers.persist import load_oracle
from denseflip.classifiers.presets import PRESETS, fit_oracle, get_preset
from denseflip.oracles.open import open_oracle
from denseflip.oracles.protocol import Oracle

COHORT = make_cohort(signal=0.7)
PAGE = Path(__file__).parents[2] / "docs" / "classifiers.md"


@pytest.fixture(params=PRESETS)
def preset(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_it_says_what_it_is(preset: str) -> None:
    record = get_preset(preset)
    assert record.name == preset
    assert record.features in FEATURES
    assert 10 < len(record.summary) < 100
    assert record.recipe.default in record.recipe.grid
    assert f"| `{preset}` | `{record.features}` |" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("classes", [2, 3])
def test_it_learns_and_answers(preset: str, classes: int) -> None:
    data = make_cohort(classes=classes, signal=0.7)
    oracle = fit_oracle(data, preset)
    assert isinstance(oracle, Oracle)
    answers = oracle.predict(data.graphs)
    assert set(answers) <= set(range(classes))
    assert sum(a == b for a, b in zip(answers, data.labels, strict=True)) > len(data) / classes
    assert answers == [oracle.predict([g])[0] for g in data.graphs]
    assert oracle.class_names == data.class_names


def test_its_card_tells_what_it_was_made_of(preset: str) -> None:
    card = json.loads(json.dumps(fit_oracle(COHORT, preset).card))
    recipe = get_preset(preset).recipe
    assert card["preset"] == preset
    assert card["features"] == get_preset(preset).features
    assert card["dataset"]["class_counts"] == COHORT.class_counts()
    assert card["chosen"][recipe.parameter] in recipe.grid


def test_the_same_seed_gives_the_same_classifier(preset: str) -> None:
    a, b = (fit_oracle(COHORT, preset, seed=3) for _ in range(2))
    assert a.card == b.card
    assert a.predict(COHORT.graphs) == b.predict(COHORT.graphs)


def test_labels_that_skip_a_class_keep_their_numbers(preset: str) -> None:
    data = make_cohort(classes=3, signal=0.7)
    part = data.subset([i for i, y in enumerate(data.labels) if y != 1])
    oracle = fit_oracle(part, preset)
    assert oracle.classes == (0, 2)
    assert set(oracle.predict(part.graphs)) <= {0, 2}
    assert oracle.name_of(2) == "C"


def test_it_answers_as_its_estimator(preset: str) -> None:
    oracle = fit_oracle(COHORT, preset)
    rows = oracle.features.transform(COHORT.graphs)
    assert oracle.predict(COHORT.graphs) == oracle.estimator.predict(rows).tolist()
    assert oracle.description == " ".join(repr(oracle.estimator).split())


def test_saved_and_loaded_is_the_same(preset: str, tmp_path: Path) -> None:
    oracle = fit_oracle(COHORT, preset).with_card(evaluation={"accuracy": 0.5})
    again = load_oracle(oracle.save(tmp_path / "it.dfo"))
    assert again.predict(COHORT.graphs) == oracle.predict(COHORT.graphs)
    for part in ("card", "features", "class_names", "n_nodes", "classes", "description"):
        assert getattr(again, part) == getattr(oracle, part)
    assert hasattr(again, "predict_proba") == hasattr(oracle, "predict_proba")
    assert hasattr(again, "predict_edits") == hasattr(oracle, "predict_edits")


def test_it_can_be_judged_and_opened_by_its_name(preset: str) -> None:
    judged = evaluate(COHORT, preset, repeats=1, permutations=1)
    assert judged.preset == preset
    assert judged.estimator == open_oracle(preset, dataset=COHORT).card["estimator"]
