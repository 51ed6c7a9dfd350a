"""Choosing a classifier: the one that is right most often about graphs it has not seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cohorts import make_cohort
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.workflow import choose_classifier as choose
from denseflip.workflow.choose_classifier import RatedClassifier, choose_classifier

PRESETS = ("regions-logistic", "edges-svm")


def rated_by(monkeypatch: pytest.MonkeyPatch, figures: dict[str, tuple[float, bool]]) -> None:
    """Let the classifiers have these accuracies, better than chance or not, untrained."""

    class Judged:
        def __init__(self, accuracy: float, better: bool) -> None:
            self.accuracy, self.better_than_chance = accuracy, better

    def rate(dataset, preset, *rest):
        return RatedClassifier(preset, None, Judged(*figures[preset]))  # type: ignore[arg-type]

    monkeypatch.setattr(choose, "_rate", rate)


@pytest.mark.parametrize(
    ("figures", "chosen", "reason"),
    [
        (
            {"a": (0.7, True), "b": (0.9, True)},
            "b",
            "All are clearly better than chance. b is used, which classifies 90 % of "
            "held-out graphs correctly: the most accurate.",
        ),
        (  # more often right, but so is a coin with luck
            {"a": (0.9, False), "b": (0.7, True), "c": (0.6, True)},
            "b",
            "2 of 3 are clearly better than chance. b is used, which classifies 70 % of "
            "held-out graphs correctly: the most accurate.",
        ),
        (
            {"a": (0.6, True), "b": (1.0, True), "c": (1.0, True)},
            "b",
            "All are clearly better than chance. b is used, which classifies 100 % of "
            "held-out graphs correctly: b and c are equally accurate, and it is the first of them.",
        ),
        (
            {"a": (0.5, False), "b": (0.6, False)},
            "b",
            "No classifier is clearly better than chance. b is used; it classifies 60 % of "
            "held-out graphs correctly. Treat the results as an illustration only.",
        ),
        (
            {"a": (0.75, True)},
            "a",
            "a classifies 75 % of held-out graphs correctly, clearly better than chance.",
        ),
    ],
)
def test_the_most_accurate_honest_one_is_taken(monkeypatch, figures, chosen, reason):
    rated_by(monkeypatch, figures)
    choice = choose_classifier(make_cohort(), list(figures))
    assert [r.preset for r in choice.rated] == list(figures)
    assert choice.chosen.preset == chosen
    assert choice.reason == reason


def test_a_classifier_comes_trained_with_its_evaluation_in_its_card():
    cohort = make_cohort(signal=0.9)
    choice = choose_classifier(cohort, PRESETS, repeats=1, permutations=20)
    assert [r.preset for r in choice.rated] == list(PRESETS)
    assert choice.oracle is choice.chosen.oracle
    assert choice.evaluation is choice.chosen.evaluation
    assert choice.evaluation.accuracy == max(
        r.evaluation.accuracy for r in choice.rated if r.evaluation.better_than_chance
    )
    assert choice.oracle.card["evaluation"]["accuracy"] == choice.evaluation.accuracy
    assert replace(choice.oracle, card={}).predict([cohort.graphs[0]])


def test_the_regions_to_work_with_can_be_said():
    cohort = make_cohort(signal=0.9)
    (name, *_) = cohort.nodes.taxonomies
    chosen = choose_classifier(
        cohort, ["regions-logistic"], regions=name, repeats=1, permutations=0
    ).chosen
    assert chosen.oracle.features.name == "regions"
    with pytest.raises(UnknownNameError):
        choose_classifier(cohort, ["regions-logistic"], regions="nowhere")


def test_no_classifier_to_choose_from_is_said():
    with pytest.raises(InvalidParameterError, match="at least one classifier"):
        choose_classifier(make_cohort(), [])
