"""The constraints of an explanation in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from denseflip.counterfactual import Counterfactual, Label
from denseflip.story.wording.naming import join_words

_FEW = 6  # frozen items that are named; of more only the number
_STATIC = ("freeze", "only", "allowed", "allow_seen", "degree_bounds")


def constraints_in_words(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Each constraint of `Constraints.given` in a few words; empty if there are none.

    >>> constraints_in_words({"freeze": [[3, 7]]}), constraints_in_words({"freeze": [3, 7]})
    (('leaving the pair of nodes 3 – 7 as it is',), ('leaving node 3 and node 7 as they are',))
    >>> constraints_in_words({"freeze": ["Frontal"], "only": "add"})
    ('leaving Frontal as it is', 'by additions only')
    """
    words = (_WORDS[name](value) for name, value in given.items())
    return tuple(word for word in words if word)


def bound_to_some(result: Counterfactual) -> bool:
    """Whether the constraints restrict which pairs may change."""
    return any(name in result.constraints for name in _STATIC)


def terms_note(result: Counterfactual) -> str | None:
    """The constraints in a sentence; None if there are none."""
    words = constraints_in_words(result.constraints)
    if not words:
        return None
    kept = " The answer satisfies them." if result.found else ""
    return f"Constraints: {'; '.join(words)}.{kept}"


def confidence_note(result: Counterfactual, class_name: Callable[[Label], str]) -> str | None:
    """The classifier's confidence before and after; None if it gives none."""
    before, after = result.confidence_before, result.confidence_after
    if before is None:
        return None
    text = f"The classifier's confidence in {class_name(result.label_before)} is {before:.2f}"
    if result.found and after is not None:
        text += (
            f", and with the whole counterfactual in {class_name(result.label_after)} is "
            f"{after:.2f}"
        )
    if result.confidence is not None:
        text += f" (at least {result.confidence:.2f} was requested)"
    return f"{text}."


def _frozen(value: Any) -> str:
    names = [_thing(one) for one in value[:_FEW]]
    if len(value) > len(names):
        names.append(f"{len(value) - len(names):,} more")
    return f"leaving {join_words(names)} as {'they are' if len(names) > 1 else 'it is'}"


def _thing(one: Any) -> str:
    if isinstance(one, int):
        return f"node {one}"
    if isinstance(one, (list, tuple)) and len(one) == 3:
        return f"{one[1]} – {one[2]}"
    if isinstance(one, (list, tuple)):
        return f"the pair of nodes {one[0]} – {one[1]}"
    text = str(one)
    return f"node {text}" if text.isdecimal() else text


_WORDS: dict[str, Callable[[Any], str]] = {
    "freeze": _frozen,
    "only": lambda way: "by additions only" if way == "add" else "by removals only",
    "allowed": lambda pairs: f"within the pairs that may change ({pairs})",
    "allow_seen": lambda share: (
        f"changing only pairs that at least {share:g} % of the data set's graphs have"
    ),
    "max_edits": lambda n: f"with at most {n:,} edit{'s' * (n != 1)}",
    "max_cells": lambda n: f"in at most {n:,} pair{'s' * (n != 1)} of regions",
    "keep_density": lambda share: f"with the number of edges within {share:g} % of what it was",
    "keep_connected": lambda _: "with no more connected components than before",
    "min_degree": lambda n: f"with at least {n:,} edges at every node that changes",
    "max_degree": lambda n: f"with at most {n:,} edges at every node that changes",
    "degree_bounds": lambda text: f"with degrees within {text.replace(',', ', ')}",
    "predicate": lambda name: f"giving a graph that {name} accepts",
    "regions": lambda _: "",
}
