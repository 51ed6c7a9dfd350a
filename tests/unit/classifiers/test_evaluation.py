from __future__ import annotations

from dataclasses import replace

import pytest

from denseflip.classifiers.evaluation import Evaluation
from denseflip.errors import FileFormatError

BASE = Evaluation(
    dataset="toy",
    class_counts={"A": 50, "B": 50},
    preset="sf-knn",
    features="spectral",
    estimator="KNeighborsClassifier()",
    folds=5,
    inner_folds=3,
    repeats=2,
    permutations=99,
    seed=0,
    accuracy=0.8,
    interval=(0.71, 0.87),
    f1=0.8,
    balanced_accuracy=0.8,
    majority_rate=0.5,
    p_value=0.01,
    null_mean=0.5,
    confusion=((80, 20), (20, 80)),
    repeat_accuracies=(0.8, 0.8),
    chosen={"n_neighbors": {"3": 10}},
    training_accuracy=0.85,
    training_f1=0.85,
)


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({}, "better"),
        ({"p_value": None}, "better"),
        ({"p_value": 0.06}, "chance"),
        ({"p_value": 1 / 6, "permutations": 5}, "better"),
        ({"p_value": 1 / 19, "permutations": 18}, "better"),
        ({"p_value": 1 / 20, "permutations": 19}, "better"),
        ({"p_value": 2 / 20, "permutations": 19}, "chance"),
        ({"p_value": 1 / 6, "permutations": 5, "majority_rate": 0.75}, "unclear"),
        ({"p_value": 1 / 6, "permutations": 5, "majority_rate": 0.8}, "chance"),
        ({"majority_rate": 0.75}, "unclear"),
        ({"majority_rate": 0.75, "p_value": None}, "unclear"),
        ({"majority_rate": 0.8}, "chance"),
        ({"accuracy": 0.4, "interval": (0.3, 0.5)}, "chance"),
    ],
)
def test_levels(changes, level):
    e = replace(BASE, **changes)
    assert e.level == level
    assert e.better_than_chance == (level == "better")
    assert (e.warning is None) == (level == "better")


def test_words():
    assert BASE.verdict == (
        "Better than chance: 80 % of held-out graphs are classified correctly (95 % interval 71 % "
        "to 87 %, 100 graphs); always predicting the largest class gives 50 %; permutation test "
        "of the accuracy p = 0.01 (99 permutations)."
    )
    few = replace(BASE, permutations=5, p_value=1 / 6).verdict
    assert few.startswith("Better than chance: 80 %")
    assert few.endswith("; too few label shuffles (5) to test: at least 19 are needed.")
    assert "p =" not in few
    assert replace(BASE, majority_rate=0.75).verdict.startswith("Not clearly better than chance")
    assert "hypotheses" in replace(BASE, majority_rate=0.75).warning
    chance = replace(BASE, accuracy=0.5, interval=(0.4, 0.6))
    assert chance.verdict.startswith("Not better than chance")
    assert "85 % on the graphs it was trained on" in chance.warning
    assert "memory" not in replace(chance, training_accuracy=0.55).warning


def test_a_dictionary_that_is_no_evaluation():
    data = BASE.to_dict()
    assert Evaluation.from_dict(data) == BASE
    with pytest.raises(FileFormatError, match="interval, f1"):
        Evaluation.from_dict({k: v for k, v in data.items() if k not in {"interval", "f1"}})
    with pytest.raises(FileFormatError, match="Not an evaluation"):
        Evaluation.from_dict({**data, "interval": 3})
