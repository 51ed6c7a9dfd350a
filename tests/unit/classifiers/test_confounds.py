"""Confounds: read, regressed out inside each fold, and told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from denseflip import describe, explain, fit_oracle, write_page
from denseflip.classifiers.confounds import (
    adjusted_answers,
    few_columns,
    read_confounds,
    regress_out,
)
from denseflip.classifiers.crossval import evaluate
from denseflip.classifiers.evaluation import Confounding, Evaluation
from denseflip.classifiers.recipes import (
    EstimatorRecipe,
    LinearSvmRecipe,
    LogisticRecipe,
    NeighboursRecipe,
    stratified_folds,
)
from denseflip.datasets import Dataset, make_synthetic
from denseflip.errors import (
    DatasetError,
    FileFormatError,
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
)

ASKED = "age,sex,site,motion"
NUMBERS = {"repeats": 1, "permutations": 19}
# Nothing is planted, but nine of ten cases come from sites whose scanner differs.
CONFOUNDED = make_synthetic(strength=0, sites=4, site_share=0.9, n_per_class=20, seed=1)
CLEAN = make_synthetic(strength=1.5, sites=4, site_share=0.5, n_per_class=20, seed=1)


def with_column(**columns: object) -> Dataset:
    return replace(CLEAN, subjects={**CLEAN.subjects, **columns})


@pytest.fixture(scope="module")
def confounded() -> Evaluation:
    return evaluate(CONFOUNDED, "regions-logistic", confounds=ASKED, **NUMBERS)


@pytest.fixture(scope="module")
def clean() -> Evaluation:
    return evaluate(CLEAN, "regions-logistic", confounds=ASKED, **NUMBERS)


def test_site_carries_the_label_and_the_evaluation_says_so(confounded):
    """Must show: plain accuracy high, confound-aware accuracy at chance."""
    found = confounded.confounds
    assert confounded.plain_level == "better"
    assert confounded.accuracy >= 0.7
    assert confounded.aware_level == "chance"
    assert found.accuracy <= 0.6
    assert found.p_value > 0.05
    assert found.alone >= 0.85
    assert confounded.level == "chance"
    assert confounded.beats_confounds is False
    assert "It does not beat its confounds" in confounded.verdict
    assert confounded.verdict.startswith("Better than chance only if its confounds")
    assert "does no better than its confounds" in confounded.warning


def test_a_real_difference_survives(clean):
    found = clean.confounds
    assert clean.level == "better"
    assert clean.beats_confounds
    assert found.accuracy > 0.9 > found.alone
    assert found.leave_site_out > 0.75
    assert found.n_sites == 4
    assert found.n_coded == 3 + 3
    assert "It beats its confounds: with age, sex, site and motion regressed out" in clean.verdict


def test_the_plain_figures_do_not_depend_on_confounds(clean):
    plain = evaluate(CLEAN, "regions-logistic", **NUMBERS)
    assert plain.confounds is None
    assert plain.beats_confounds is None
    assert replace(clean, confounds=None) == plain


def test_page_sentence_and_badge_say_so(confounded, tmp_path):
    oracle = fit_oracle(CONFOUNDED, "regions-logistic").with_card(evaluation=confounded.to_dict())
    result = explain(
        CONFOUNDED.graphs[0], oracle, nodes=CONFOUNDED.nodes, background=CONFOUNDED.graphs
    )
    story = describe(result, CONFOUNDED.nodes, oracle, background=CONFOUNDED.graphs)
    assert story.badge.level == "none"
    assert story.badge.text == "the classifier does not beat its confounds"
    assert "It does not beat its confounds" in story.footnotes[0]
    page = write_page(story, tmp_path / "p.html", card=oracle.card, interactive=False)
    text = page.read_text(encoding="utf-8")
    assert "the classifier does not beat its confounds" in text
    assert "accuracy, age, sex, site, motion regressed out in each fold" in text
    assert "the confounds alone" in text
    assert "trained on the others" in text


def test_there_and_back(clean, confounded):
    for judged in (clean, confounded):
        assert Evaluation.from_dict(judged.to_dict()) == judged
    with pytest.raises(FileFormatError, match=r"Not an evaluation: confounds: the entries site, "):
        Evaluation.from_dict({**clean.to_dict(), "confounds": {"columns": 3}})


def test_seeded():
    first, again = (
        evaluate(CLEAN, "sf-knn", confounds=c, **NUMBERS) for c in (ASKED, ASKED.split(","))
    )
    assert first == again
    assert first != evaluate(CLEAN, "sf-knn", confounds=ASKED, seed=1, **NUMBERS)


# ---- what is computed ------------------------------------------------------------------------


def test_only_the_training_part_is_fitted():
    """Other values of a test row change that row alone."""
    rng = np.random.default_rng(0)
    rows, confounds = rng.normal(size=(12, 4)), rng.normal(size=(12, 2))
    train = np.arange(9)
    before = regress_out(rows, confounds, train)
    rows[11] += 100
    after = regress_out(rows, confounds, train)
    assert np.array_equal(before[:11], after[:11])
    assert np.abs(np.corrcoef(before[train].T, confounds[train].T)[:4, 4:]).max() < 1e-12
    assert np.allclose(before[train].mean(axis=0), rows[train].mean(axis=0))


@pytest.mark.parametrize("recipe", [NeighboursRecipe(), LinearSvmRecipe(), LogisticRecipe()])
def test_rotation_changes_no_answer(recipe):
    rng = np.random.default_rng(3)
    rows = (rng.random((24, 60)) < 0.4).astype(float)
    y = np.repeat([0, 1], 12)
    rows[y == 1, :12] += rng.random((12, 12)) < 0.5
    confounds = rng.normal(size=(24, 2))
    fold = stratified_folds(y, 4, np.random.default_rng(0))
    turned = few_columns(recipe, rows)
    assert turned.shape == (24, 24)
    answers = [
        adjusted_answers(recipe, x, confounds, y, fold, 3, np.random.default_rng(1))
        for x in (rows, turned)
    ]
    assert np.mean(answers[0] == answers[1]) > 0.95  # equal distances may fall either way


def test_rows_of_other_recipes_stay_as_they_are():
    rows = np.eye(3, 9)
    for recipe in (LogisticRecipe(scaled=True), EstimatorRecipe(None)):
        assert few_columns(recipe, rows) is rows


def test_labels_are_shuffled_within_sites():
    confounds = read_confounds(CONFOUNDED, "site")
    y = CONFOUNDED.label_array()
    rng = np.random.default_rng(0)
    for _ in range(20):
        shuffled = confounds.shuffle(y, rng)
        for k in range(confounds.n_sites):
            here = confounds.sites == k
            assert sorted(shuffled[here]) == sorted(y[here])
    assert (shuffled != y).any()


def test_coding():
    found = read_confounds(CLEAN, ["age", "sex", "site"])
    assert found.coded.shape == (40, 1 + 1 + 3)
    assert found.others.shape == (40, 2)
    assert found.site == "site"
    assert found.coded[:, 0].mean() == pytest.approx(0)
    numbered = with_column(SITE_ID=[1, 2] * 20)  # a site is a name, also where it is a number
    assert read_confounds(numbered, "SITE_ID").site == "SITE_ID"
    assert read_confounds(numbered, "age", site="SITE_ID").columns == ("age", "SITE_ID")
    assert read_confounds(CLEAN, "age").site is None


def test_without_a_site_nothing_is_left_out():
    judged = evaluate(CLEAN, "sf-knn", confounds=["age"], **NUMBERS)
    assert judged.confounds.leave_site_out is None
    assert "No confound is a site" in judged.verdict


def test_a_site_that_is_the_class():
    """Each site has one class: nothing is left within sites, and no site can be left out."""
    data = with_column(site=["A"] * 20 + ["B"] * 20)
    judged = evaluate(data, "regions-logistic", confounds="site", **NUMBERS)
    assert judged.plain_level == "better"
    assert judged.level == "chance"
    assert judged.confounds.leave_site_out is None
    assert "leaves only one class to train on" in judged.verdict


# ---- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "asked", "error", "message"),
    [
        (CLEAN, "age,sits", UnknownNameError, "Unknown confound 'sits' .* Did you mean 'site'"),
        (make_synthetic(n_per_class=4), "age", MissingInputError, "has no subject table"),
        (with_column(dose=[1.0] * 40), "dose", InvalidParameterError, "is 1.0 for all 40 graphs"),
        (
            with_column(site=["A"] * 40),
            "site",
            InvalidParameterError,
            "one site .*Leave 'site' out",
        ),
        (
            with_column(age=[None, "n/a", *range(38)], iq=[*range(39), float("nan")]),
            "age,iq",
            DatasetError,
            "'age' is missing for control-000, control-001. .*'iq' is missing for case-019. Fill.*"
            r"\(drop_subjects='control-000,control-001,case-019'\)",
        ),
        (
            with_column(name=[f"s{i}" for i in range(40)]),
            "age,name",
            InvalidParameterError,
            "need 40 columns, but a training part has 32 graphs.*'name' alone needs 39",
        ),
        (CLEAN, " , ", InvalidParameterError, "names no column"),
        (CLEAN, 3, InvalidParameterError, "must be names of columns"),
    ],
)
def test_bad_confounds_are_told(data, asked, error, message):
    with pytest.raises(error, match=message):
        evaluate(data, "sf-knn", confounds=asked, folds=4 if len(data) < 40 else 5, **NUMBERS)


def test_an_unknown_site_is_told():
    with pytest.raises(UnknownNameError, match="Unknown confound 'scanner'"):
        evaluate(CLEAN, "sf-knn", site="scanner", **NUMBERS)


def test_words_of_every_outcome():
    base = Confounding(("age",), None, 0, 1, True, 0.8, 0.7, (0.6, 0.8), 0.01, 0.5, 0.6, (0.5, 0.7))
    assert base.verdict("better").startswith("It beats its confounds: with age regressed out")
    assert base.verdict("unclear").startswith("It does not clearly beat")
    assert base.verdict("chance").startswith("It does not beat its confounds: ")
    strong = replace(base, alone=0.8)
    assert not strong.beats("better")
    assert strong.verdict("better").startswith("It does not beat its confounds, which do as")
    assert "is unknown, as it may have seen" in base.verdict("better", seen=True)
