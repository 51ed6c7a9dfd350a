"""`fewest_parts`: which parts of a counterfactual are enough to flip the oracle by themselves.

The parts are what a sentence names (cells, nodes, pairs), the most wanted first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from denseflip.counterfactual import Counterfactual, Label
from denseflip.graph import Codes
from denseflip.oracles.session import BudgetSpentError, Session
from denseflip.search.probe import certify, gallop, joined, lexmin


class Enough(NamedTuple):
    """Parts whose edits flip the oracle by themselves.

    Attributes
    ----------
    chosen : their numbers, ascending: the order they were given in.
    label : the oracle's label of the original with their edits, and nothing else, changed.
    tried : how many choices the oracle was asked about.
    minimal : whether it was seen that none of them can be left out (but those that were `kept`).
    """

    chosen: tuple[int, ...]
    label: Label
    tried: int
    minimal: bool


def fewest_parts(
    result: Counterfactual,
    parts: Sequence[Codes],
    session: Session,
    *,
    kept: int = 0,
    budget: int | None = None,
    shorten: bool = True,
) -> Enough | None:
    """A few parts of a counterfactual that are enough; None if not even all of them are.

    Looks for a prefix that flips, takes out of it what is needed (`lexmin`), and sees that nothing
    can be left out (`certify`). The flip is never lost, whether the labels are monotone or not.

    Parameters
    ----------
    result : what was found.
    parts : its edits as pair codes, the most wanted part first.
    session : the way to the oracle; every choice of parts that is tried is one question.
    kept : so many of the first parts are chosen in any case.
    budget : the largest number of questions, at least 1; when it is spent, the shortest choice
        that was seen to flip is taken.
    shorten : False to ask about all parts only.
    """
    everything = tuple(range(len(parts)))
    chosen: dict[tuple[int, ...], Label] = {}  # what flips
    asked: set[tuple[int, ...]] = set()

    def flips(some: Sequence[int]) -> bool:
        key = tuple(sorted(some))
        if key not in asked:
            kept_back = 0 if chosen or key == everything else 1  # one question, about everything
            if budget is not None and len(asked) + kept_back >= budget:
                raise BudgetSpentError
            codes = np.unique(joined(parts[i] for i in key))
            label = session.ask(result.original.toggle_codes(codes)).label
            asked.add(key)
            if _accepts(result, label):
                chosen[key] = label
        return key in chosen

    best: tuple[int, ...] | None = None
    if shorten:
        try:
            best = _shortest(len(parts), kept, flips)
        except BudgetSpentError:
            best = None
        else:
            if best is None:
                return None
    minimal = best is not None
    if best is None:
        if not chosen and not (everything and flips(everything)):
            return None
        best = min(chosen, key=lambda key: (len(key), key))
    return Enough(best, chosen[best], len(asked), minimal or len(best) == 1)


def _shortest(n: int, kept: int, flips: Callable[[Sequence[int]], bool]) -> tuple[int, ...] | None:
    first = list(range(kept))
    if kept and flips(first):
        return tuple(first)
    rest = list(range(kept, n))
    # A prefix first: where labels are not monotone, a short one may flip where longer ones do not.
    k = gallop(len(rest), lambda k: flips(first + rest[:k]))
    if k is None:
        return None
    needed = lexmin(rest[:k], lambda some: flips(first + list(some)))
    needed = certify(sorted(needed), lambda some: flips(first + list(some)))
    return tuple(sorted(first + needed))


def _accepts(result: Counterfactual, label: Label) -> bool:
    if result.target is None:
        return label != result.label_before
    return label == result.target
