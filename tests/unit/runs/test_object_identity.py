"""What stands for objects in the id of a run: whatever the result depends on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from denseflip.datasets import make_synthetic
from denseflip.runs import identity as given
from denseflip.runs.identity import dataset_digest, describe_given, describe_untrained


@dataclass
class Own:
    """An oracle whose weights are no part of equality, and which learns."""

    cut: float = 0.5
    weights: np.ndarray | None = field(default=None, compare=False)

    def fit(self, coefficient: float) -> Own:
        self.coefficient_ = coefficient
        return self


def test_what_is_no_part_of_equality_is_part_of_the_id() -> None:
    one, other = Own(weights=np.ones(3)), Own(weights=np.zeros(3))
    assert describe_given(one, "oracle") != describe_given(other, "oracle")
    assert describe_given(one, "oracle") == describe_given(Own(weights=np.ones(3)), "oracle")


def test_what_was_learnt_is_part_of_the_id() -> None:
    assert describe_given(Own().fit(1.0), "oracle") != describe_given(Own().fit(2.0), "oracle")
    assert describe_given(Own().fit(1.0), "oracle") == describe_given(Own().fit(1.0), "oracle")


class Mine(LogisticRegression):
    """An estimator of one's own, which prints its settings alone."""


def test_an_estimator_is_its_class_and_all_its_settings(monkeypatch) -> None:
    def told(c: float, weights: dict[int, float] | None = None) -> object:
        last = LogisticRegression(C=c, class_weight=weights)
        return describe_untrained(make_pipeline(StandardScaler(), last), "oracle")

    assert told(1.0) == told(1.0)
    assert told(1.0) != told(2.0)
    long = dict.fromkeys(range(500), 1.0)  # too long to be printed in full
    assert told(1.0, long) == told(1.0, dict(long))
    assert told(1.0, long) != told(1.0, {**long, 250: 2.0})
    before = describe_untrained(Mine(), "oracle")
    monkeypatch.setattr(given, "source_digest", lambda module: f"{module}, edited")
    assert describe_untrained(Mine(), "oracle") != before


def test_other_weights_are_another_data_set() -> None:
    data = make_synthetic(n_per_class=4, weights=True)
    other = replace(data, weights=np.arctanh(np.clip(data.weights, -0.99, 0.99)))
    assert dataset_digest(other) != dataset_digest(data)
    assert dataset_digest(replace(data, weights=data.weights.copy())) == dataset_digest(data)
    plain = make_synthetic(n_per_class=4)
    assert dataset_digest(plain) == dataset_digest(replace(data, weights=None))
