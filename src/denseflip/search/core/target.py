"""The target: labels and class names, one or several, checked and resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from denseflip.counterfactual import Label, Target
from denseflip.errors import InvalidParameterError, OracleError, UnknownNameError
from denseflip.oracles.protocol import Oracle, clean_label
from denseflip.search.core.problem import Problem


def as_target(given: Any, oracle: Oracle) -> Target:
    """Resolve a label, a class name, or several of them; None stands for any other class.

    Names are those of the oracle's ``class_names`` (`class_names_of`). A label takes precedence
    over an equal name.

    Raises
    ------
    UnknownNameError
        If the oracle lists its classes, and this is none of them.
    """
    if given is None:
        return None
    listed = given if _several(given) else (given,)
    labels = tuple(dict.fromkeys(_label(one, oracle) for one in listed))
    if not labels:
        msg = "target is empty. Leave it out to accept any class other than the graph's own."
        raise InvalidParameterError(msg, parameter="target")
    return labels if _several(given) and len(labels) > 1 else labels[0]


def _several(given: Any) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping))


def class_names_of(oracle: Oracle) -> dict[Label, str]:
    """The names of an oracle's labels; empty if it has none.

    ``class_names`` is a mapping of labels to names, or a sequence of names: for the ``classes`` if
    there are as many, otherwise for the labels 0, 1, 2 …
    """
    names = getattr(oracle, "class_names", None)
    if names is None:
        return {}
    if isinstance(names, Mapping):
        return {clean_label(label): str(name) for label, name in names.items()}
    if not _several(names):
        return {}
    names = list(names)
    classes = getattr(oracle, "classes", None)
    if classes is not None and len(classes) == len(names):
        labels = [clean_label(c) for c in classes]
        return {label: str(name) for label, name in zip(labels, names, strict=True)}
    # A classifier has a name for every class of its data set, and may not predict all of them.
    return {label: str(name) for label, name in enumerate(names)}


def _label(given: Any, oracle: Oracle) -> Label:
    try:
        label = clean_label(given)
    except OracleError as error:
        msg = f"target must be a label, a finite number or a string; got {given!r:.60}."
        raise InvalidParameterError(msg, parameter="target") from error
    classes = getattr(oracle, "classes", None)
    names = class_names_of(oracle)
    known = [clean_label(c) for c in classes] if classes is not None else list(names)
    if label in known:
        return label
    for own, name in names.items():
        if own in known and isinstance(label, str) and label.lower() == name.lower():
            return own
    if known:
        listed = [names[one] for one in known if one in names]
        listed += [str(one) for one in known if names.get(one) != one]
        raise UnknownNameError("target", str(given), dict.fromkeys(listed), parameter="target")
    return label


def check_target_seen(problem: Problem, oracle: Oracle) -> None:
    """Raise an error if the target is a name that the oracle never returns.

    If the oracle does not list its classes, its labels of the background are used; most searches
    need them anyway.
    """
    if getattr(oracle, "classes", None) is not None or problem.background is None:
        return
    words = [t for t in _tuple(problem.target) if isinstance(t, str)]
    if not words or not len(problem.background):
        return
    seen = dict.fromkeys([problem.label, *problem.background_labels])
    for word in words:
        if word not in seen:
            raise UnknownNameError(
                "target",
                word,
                map(str, seen),
                "(the oracle gives this label to no graph of the background)",
                parameter="target",
            )


def _tuple(target: Target) -> tuple[Label, ...]:
    if target is None:
        return ()
    return target if isinstance(target, tuple) else (target,)
