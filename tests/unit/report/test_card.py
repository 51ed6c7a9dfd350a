from __future__ import annotations

from denseflip.report.card import as_mapping, classifier_card

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


def test_unknown_quality_is_said_plainly():
    text = classifier_card(None, None)
    assert "not known here" in text
    assert 'class="warning"' in text


def test_honest_figures_come_first_and_training_accuracy_is_put_in_its_place():
    text = classifier_card({"preset": "sf-knn"}, FIGURES)
    assert text.index("Not better than chance") < text.index("41 %", text.index("held-out"))
    assert "20 % to 62 %" in text
    assert "100 % (says little: it has seen them)" in text
    assert "p = 0.7" in text
    assert "guessing" in text
    assert "A&lt;1&gt;" in text
    assert "A<1>" not in text


def test_the_evaluation_is_found_in_the_card_too():
    assert "Not better than chance" in classifier_card({"evaluation": FIGURES}, None)


def test_an_oracle_brings_its_card():
    class Oracle:
        card = {"preset": "edges-svm", "dataset": {"name": "mice", "n_graphs": 16}}  # noqa: RUF012

    assert as_mapping(Oracle()) == Oracle.card
    assert "mice (n graphs 16)" in classifier_card(Oracle(), None)


def test_a_better_classifier_gets_no_warning():
    good = {**FIGURES, "level": "better", "verdict": "Better than chance.", "warning": None}
    text = classifier_card({}, good)
    assert 'class="good"' in text
    assert 'class="warning"' not in text
