"""What an oracle is: anything that gives each graph a label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from denseflip.counterfactual import Label
from denseflip.errors import OracleError
from denseflip.graph import Graph

_PLAIN = (int, str, bool)


@runtime_checkable
class Oracle(Protocol):
    """A black box that labels graphs.

    The one method takes several graphs so that a classifier can answer them in one go. Labels are
    numbers or strings. The answer for a graph must not depend on when or beside what it is asked.
    """

    def predict(self, graphs: Sequence[Graph]) -> Sequence[Any]:
        """Return one label per graph."""
        ...


def clean_labels(answers: Any, n_graphs: int) -> list[Label]:
    """Turn an oracle's answer into plain labels, or say what is wrong with it.

    NumPy and torch scalars become Python numbers; ``None``, NaN and the wrong number of labels
    are refused.
    """
    return [clean_label(a) for a in check_answers(answers, n_graphs)]


def check_answers(answers: Any, n_graphs: int) -> Sequence[Any]:
    """An oracle's answer as a sequence of one item per graph, or an error."""
    if answers is None:
        msg = f"The oracle returned None; expected {n_graphs} label(s), one per graph."
        raise OracleError(msg)
    if hasattr(answers, "tolist"):
        answers = answers.tolist()
    if isinstance(answers, (str, bytes)) or not hasattr(answers, "__len__"):
        msg = f"The oracle returned {answers!r:.60}; expected a sequence of {n_graphs} label(s)."
        raise OracleError(msg)
    if len(answers) != n_graphs:
        msg = f"The oracle returned {len(answers)} label(s) for {n_graphs} graph(s)."
        raise OracleError(msg)
    return list(answers)


def clean_label(answer: Any) -> Label:
    """One answer as a plain number or string."""
    if type(answer) in _PLAIN:
        return answer  # type: ignore[no-any-return]
    if hasattr(answer, "item") and not isinstance(answer, (str, int, float)):
        try:
            answer = answer.item()
        except (ValueError, RuntimeError) as error:
            msg = f"The oracle returned {answer!r:.60} for one graph; expected one label."
            raise OracleError(msg) from error
    if answer is None or not isinstance(answer, (int, float, str)):
        msg = f"The oracle returned {answer!r:.60} as a label; a label is a number or a string."
        raise OracleError(msg)
    if isinstance(answer, float) and not math.isfinite(answer):
        msg = f"The oracle returned {answer} as a label; a label must be a finite number."
        raise OracleError(msg)
    return answer
