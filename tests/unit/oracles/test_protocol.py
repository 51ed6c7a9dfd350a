from __future__ import annotations

import numpy as np
import pytest

from denseflip.errors import OracleError
from denseflip.oracles.protocol import Oracle, clean_label, clean_labels, clean_probabilities


class Scalar:
    """Looks like a torch scalar."""

    def __init__(self, value):
        self.value = value

    def item(self):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        (3, 3),
        ("ill", "ill"),
        (True, True),
        (0.5, 0.5),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.str_("a"), "a"),
        (np.array(4), 4),
        (np.array([4]), 4),
        (Scalar(1), 1),
    ],
)
def test_a_label_becomes_a_plain_value(answer, label):
    got = clean_label(answer)
    assert got == label
    assert isinstance(got, type(label))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "None as a label; expected a number or a string"),
        (float("nan"), "nan as a label; it must be a finite number"),
        (np.float64("-inf"), "-inf as a label"),
        ([1], r"\[1\] as a label"),
        (b"x", "as a label"),
        (1j, "as a label"),
        (np.array([1, 2]), "for one graph; expected one label"),
        (Scalar(RuntimeError("several elements")), "expected one label"),
        (Scalar(None), "None as a label"),
    ],
)
def test_what_is_no_label_is_refused(answer, message):
    with pytest.raises(OracleError, match=message):
        clean_label(answer)


@pytest.mark.parametrize("answers", [[0, 1], (0, 1), np.array([0, 1]), np.array([0.0, 1.0])])
def test_any_sequence_of_labels_will_do(answers):
    assert clean_labels(answers, 2) == [0, 1]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (None, r"returned None; expected 2 label\(s\), one per graph"),
        ("ab", "returned 'ab'; expected a sequence of 2"),
        (5, "returned 5; expected a sequence"),
        (np.array(5), "returned 5; expected a sequence"),
        (iter([0, 1]), "expected a sequence"),
        ([0], r"returned 1 label\(s\) for 2 graph\(s\)"),
        (np.zeros((2, 1)), r"returned \[0.0\] as a label"),
    ],
)
def test_what_is_no_answer_is_refused(answers, message):
    with pytest.raises(OracleError, match=message):
        clean_labels(answers, 2)


def test_an_oracle_is_whatever_predicts():
    class Mine:
        def predict(self, graphs):
            return [0] * len(graphs)

    assert isinstance(Mine(), Oracle)
    assert not isinstance(object(), Oracle)


@pytest.mark.parametrize("row", [0.7, "ab", None])
def test_one_number_is_no_row_of_probabilities(row):
    with pytest.raises(OracleError, match="expected 2 probabilities, one per class"):
        clean_probabilities([row], 1, (0, 1))


@pytest.mark.parametrize(
    "row", [(-0.4, 0.7, 0.7), (1.2, 0.0, -0.2), (0.2, 0.2, 0.2), (0.5, 0.5, 0.01), (2.0, 0.0, 0.0)]
)
def test_probabilities_lie_between_0_and_1_and_sum_to_1(row):
    with pytest.raises(OracleError, match="be between 0 and 1 and sum to 1"):
        clean_probabilities([row], 1, (0, 1, 2))


@pytest.mark.parametrize("row", [(1.0, 0.0, 0.0), (0.3333, 0.3333, 0.3333), (-1e-12, 1.0, 0.0)])
def test_what_rounding_does_to_them_is_forgiven(row):
    assert len(clean_probabilities([row], 1, (0, 1, 2))) == 1
