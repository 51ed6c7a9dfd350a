from __future__ import annotations

from denseflip.report.facts import as_mapping, classifier_card, dataset_card
from denseflip.report.html import Fact

FIGURES = {
    "accuracy": 0.41,
    "interval": [0.2, 0.62],
    "majority_rate": 0.5,
    "p_value": 0.7,
    "balanced_accuracy": 0.4,
    "training_accuracy": 1.0,
    "folds": 5,
    "repeats": 10,
    "permutations": 200,
    "confusion": [[3, 5], [4, 4]],
    "class_counts": {"A<1>": 8, "B": 8},
    "level": "chance",
    "verdict": "Not better than chance: 41 %.",
    "warning": "It cannot be told from guessing.",
}


def test_unknown_quality_has_no_figures():
    card = classifier_card(None, None)
    assert card.about == card.figures == card.confusion == ()
    assert not card.better


def test_honest_figures_come_first_and_training_accuracy_is_put_in_its_place():
    card = classifier_card({"preset": "sf-knn"}, FIGURES)
    assert card.about == (Fact("preset", "sf-knn"),)
    assert card.figures == (
        ("accuracy, held-out graphs", "41 %"),
        ("95 % confidence interval", "20 % to 62 %"),
        ("always the largest class", "50 %"),
        ("permutation test", "p = 0.7"),
        ("balanced accuracy", "40 %"),
        ("accuracy, training graphs", "100 % (no evidence: it was trained on them)"),
        ("evaluation", "nested cross-validation, 5 folds × 10, 200 permutations"),
    )
    assert card.verdict == "Not better than chance: 41 %."
    assert card.warning == "It cannot be told from guessing."
    assert not card.better


def test_confusion_is_by_true_class():
    rows = classifier_card(None, FIGURES).confusion
    assert [(r.term, r.counts) for r in rows] == [("A<1>", (3, 5)), ("B", (4, 4))]
    assert classifier_card(None, {**FIGURES, "class_counts": {"A": 8}}).confusion == ()


def test_the_evaluation_is_found_in_the_card_too():
    assert classifier_card({"evaluation": FIGURES}, None).verdict == FIGURES["verdict"]


def test_an_oracle_brings_its_card():
    class Oracle:
        card = {"preset": "edges-svm", "dataset": {"name": "mice", "n_graphs": 16}}  # noqa: RUF012

    assert as_mapping(Oracle()) == Oracle.card
    assert Fact("dataset", "mice (n graphs 16)") in classifier_card(Oracle(), None).about


def test_a_better_classifier_gets_no_warning():
    good = {**FIGURES, "level": "better", "verdict": "Better than chance.", "warning": None}
    card = classifier_card({}, good)
    assert card.better
    assert card.warning == ""


def test_a_data_set_is_told_line_by_line_without_what_is_empty():
    card = {"citation": "Wang 2020", "caveats": ["small", "male"], "empty": "", "more": {"a": 1}}
    assert dataset_card(card) == (("citation", "Wang 2020"), ("caveats", "small male"))
