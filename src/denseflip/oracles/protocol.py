"""The oracle protocol: anything that gives each graph a label."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, NamedTuple, Protocol, runtime_checkable

from denseflip.checks import LARGEST, text_of, visible
from denseflip.counterfactual import Label, Target
from denseflip.errors import InvalidParameterError, OracleError, shown
from denseflip.graph import Graph

#: Names of labels: by label, or in the order of the classes.
ClassNames = Mapping[Label, str] | Sequence[str]

_PLAIN = (int, bool)


class Answer(NamedTuple):
    """An oracle's answer for one graph.

    Attributes
    ----------
    label : the label.
    confidence : the probability of that label, if the oracle has one and it was requested.
    probabilities : the probability of every class by its label, likewise.
    """

    label: Label
    confidence: float | None = None
    probabilities: Mapping[Label, float] | None = None


@runtime_checkable
class Oracle(Protocol):
    """A classifier of graphs, used as a black box.

    Its one method takes several graphs, so that a classifier can evaluate them together. Labels
    are numbers or strings. The answer for a graph must not depend on when it is queried or on the
    other graphs of the batch.

    An oracle may offer more, which a `Session` uses: ``predict_edits(base, edits)``, the labels of
    ``base`` with the pairs of each array of codes flipped, without building a graph; ``classes``,
    the labels that it knows; ``predict_proba(graphs)``, one row of probabilities per graph in the
    order of ``classes``; ``gradient(graph, label)``, a `PairGradient` or an array with the change
    of the label's score for each pair that is flipped. An oracle whose answer for an edited graph
    depends on the graph that was edited (because it uses weights, say) offers
    ``about(graph, target)``, the oracle for edited versions of that graph, and may return the
    weights it uses by ``edge_weights(graph)``.
    """

    def predict(self, graphs: Sequence[Graph]) -> Sequence[Any]:
        """Return one label per graph."""
        ...


def about_graph(oracle: Oracle, graph: Graph, target: Target = None) -> Oracle:
    """The oracle for edited versions of a graph: itself, unless it offers ``about``."""
    offered = getattr(oracle, "about", None)
    return oracle if offered is None else offered(graph, target)


def clean_labels(answers: Any, n_graphs: int) -> list[Label]:
    """Convert an oracle's answer to plain labels, or raise an error.

    NumPy and torch scalars become Python numbers; ``None``, NaN and the wrong number of labels
    are refused.
    """
    return [clean_label(a) for a in check_answers(answers, n_graphs)]


def check_answers(answers: Any, n_graphs: int) -> Sequence[Any]:
    """An oracle's answer as a sequence of one item per graph, or an error."""
    if type(answers) is list and len(answers) == n_graphs:  # as every query of a search sees it
        return answers
    if answers is None:
        msg = f"The classifier returned None; expected {n_graphs} label(s), one per graph."
        raise OracleError(msg)
    kind = type(answers).__name__
    ordered = not _is_shuffled(answers)
    if hasattr(answers, "tolist"):
        answers = answers.tolist()
    # Listing a mapping gives its keys, and listing a pandas table gives its columns.
    if not ordered or isinstance(answers, (Mapping, Set)) or hasattr(answers, "keys"):
        msg = (
            f"The classifier returned a {kind}, {shown(answers)}, whose entries are not in the "
            f"order of the graphs; expected a sequence of {n_graphs} label(s), in the order of "
            "the graphs."
        )
        raise OracleError(msg)
    if isinstance(answers, (str, bytes, bytearray)) or not hasattr(answers, "__len__"):
        msg = (
            f"The classifier returned {shown(answers)}; expected a sequence of {n_graphs} label(s)."
        )
        raise OracleError(msg)
    try:
        n_answers = len(answers)
        listed = list(answers) if n_answers == n_graphs else []
    except Exception as error:
        msg = f"The classifier returned a {kind} that cannot be listed ({type(error).__name__})."
        raise OracleError(msg) from error
    if n_answers != n_graphs:
        msg = f"The classifier returned {n_answers} label(s) for {n_graphs} graph(s)."
        raise OracleError(msg)
    return listed


def _is_shuffled(answers: Any) -> bool:
    """Whether a series has the positions of the graphs as its index, in another order."""
    index = getattr(answers, "index", None)
    if index is None or callable(index) or not hasattr(index, "tolist"):
        return False
    listed = index.tolist()
    places = list(range(len(listed)))
    try:
        return listed != places and sorted(listed) == places
    except TypeError:  # an index of mixed types
        return False


def clean_label(answer: Any) -> Label:
    """One answer as a plain number or string."""
    if type(answer) is str:
        return visible(answer)
    if type(answer) in _PLAIN and -LARGEST < answer < LARGEST:
        return answer  # type: ignore[no-any-return]
    if hasattr(answer, "item") and not isinstance(answer, (str, int, float)):
        try:
            answer = answer.item()
        except (ValueError, RuntimeError) as error:
            msg = f"The classifier returned {shown(answer)} for one graph; expected one label."
            raise OracleError(msg) from error
    if answer is None or not isinstance(answer, (int, float, str)):
        msg = f"The classifier returned {shown(answer)} as a label; expected a number or a string."
        raise OracleError(msg)
    if isinstance(answer, int) and abs(answer) >= LARGEST:
        msg = "The classifier returned a whole number of more than 100 digits as a label."
        raise OracleError(msg)
    if isinstance(answer, float) and not math.isfinite(answer):
        msg = f"The classifier returned {answer} as a label; it must be a finite number."
        raise OracleError(msg)
    return visible(str(answer)) if isinstance(answer, str) else answer


def clean_probabilities(rows: Any, n_graphs: int, classes: Sequence[Label]) -> list[Answer]:
    """Convert an oracle's probabilities to answers: the likeliest label and its probability."""
    answers = []
    for row in check_answers(rows, n_graphs):
        try:
            if isinstance(row, (Mapping, Set, str)):  # its keys would pass for probabilities
                raise TypeError
            values = [float(p) for p in row]
        except (TypeError, ValueError) as error:
            msg = (
                f"The classifier returned {row!r:.60} for one graph; expected {len(classes)} "
                "probabilities, one per class."
            )
            raise OracleError(msg) from error
        if len(values) != len(classes):
            msg = f"The classifier returned {len(values)} probabilities for {len(classes)} classes."
            raise OracleError(msg)
        if not all(-1e-9 <= p <= 1 + 1e-9 for p in values) or abs(sum(values) - 1) > 1e-3:
            msg = (
                "The probabilities of a classifier must be between 0 and 1 and sum to 1; got "
                f"{[round(p, 4) for p in values]!r:.80}."
            )
            raise OracleError(msg)
        best = max(range(len(values)), key=values.__getitem__)
        answers.append(Answer(classes[best], values[best], dict(zip(classes, values, strict=True))))
    return answers


def name_classes(
    class_names: ClassNames | None, classes: Sequence[Label] | None = None
) -> dict[Label, str] | None:
    """Label → name, from a mapping or a sequence of names; None for None.

    Parameters
    ----------
    class_names : the names.
    classes : the labels that a sequence of names is for, in order; without them 0, 1, 2 …

    Examples
    --------
    >>> name_classes(["ill", "well"])
    {0: 'ill', 1: 'well'}
    """
    if class_names is None:
        return None
    if isinstance(class_names, Mapping):
        named = {clean_label(label): text_of(name) for label, name in class_names.items()}
        strange = [] if classes is None else [x for x in named if x not in classes]
        if strange:
            msg = f"class_names: {shown(strange[0])} is not a class; known: {list(classes or ())}."
            raise InvalidParameterError(msg, parameter="class_names")
    elif isinstance(class_names, (str, bytes)) or not isinstance(class_names, Sequence):
        msg = f"class_names must be a mapping or a sequence of names; got {shown(class_names)}."
        raise InvalidParameterError(msg, parameter="class_names")
    else:
        labels = range(len(class_names)) if classes is None else classes
        if len(labels) != len(class_names):
            msg = (
                f"class_names has {len(class_names)} names, {shown(list(class_names))}, for "
                f"{len(labels)} classes, {shown(list(labels))}. Give one per class, in that order."
            )
            raise InvalidParameterError(msg, parameter="class_names")
        named = {x: text_of(name) for x, name in zip(labels, class_names, strict=True)}
    if len(set(named.values())) != len(named):
        msg = f"class_names must be unique; got {shown(list(named.values()))}."
        raise InvalidParameterError(msg, parameter="class_names")
    return named


def classes_of(oracle: Oracle) -> tuple[Label, ...]:
    """The labels of the columns of an oracle's probabilities, in order."""
    classes = getattr(oracle, "classes", None)
    if not hasattr(oracle, "predict_proba") or classes is None:
        msg = (
            "This classifier gives no confidence: it has no predict_proba(graphs) with one "
            "probability per class, or does not name its classes. Use a classifier that does "
            "(such as 'regions-logistic'), or omit confidence= and use a method that needs labels "
            "only."
        )
        raise OracleError(msg)
    return tuple(clean_label(c) for c in classes)


#: What an oracle may offer besides ``predict``, and must then be defined with it.
ABILITIES = ("predict_edits", "gradient")


def ability_of(oracle: Oracle, name: str) -> Callable[..., Any] | None:
    """What an oracle offers under a name, if it belongs with its ``predict``; None if nothing.

    A class that overrides ``predict`` alone, or passes everything else on to another oracle,
    inherits a ``predict_edits`` or ``gradient`` that does not match its ``predict``.
    """
    found = getattr(oracle, name, None)
    for place in (getattr(oracle, "__dict__", {}), *map(vars, type(oracle).__mro__)):
        if name in place:
            return found
        if "predict" in place:
            return None
    return found


def own_ability(oracle: Oracle, name: str) -> Callable[..., Any]:
    """Like `ability_of`, for an oracle that passes it on; AttributeError if there is none."""
    if (found := ability_of(oracle, name)) is None:
        raise AttributeError(name)
    return found
