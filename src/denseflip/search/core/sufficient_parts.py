"""`fewest_parts`: which parts of a counterfactual are enough to flip the oracle by themselves.

The parts are what a sentence names (cells, nodes, pairs), the most wanted first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from denseflip.counterfactual import Counterfactual, Label
from denseflip.graph import Codes, Graph
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.search.core.probing import certify, joined, lexmin


class SufficientParts(NamedTuple):
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
    session: BaseSession,
    *,
    kept: int = 0,
    budget: int | None = None,
    shorten: bool = True,
) -> SufficientParts | None:
    """A few parts of a counterfactual that are enough; None if not even all of them are.

    Looks for the shortest prefix that flips, takes out of it what is needed (`lexmin`), and sees
    that nothing can be left out (`certify`). The flip is never lost, whether the labels are
    monotone or not.

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

    def changed(some: Sequence[int]) -> Graph:
        return result.original.toggle_codes(np.unique(joined(parts[i] for i in some)))

    def prefixes() -> Iterator[tuple[int, Graph]]:
        most = len(parts) if budget is None else min(len(parts), kept + budget - 1)
        for k in range(kept + 1, most + 1):
            yield k, changed(range(k))

    def flips(some: Sequence[int]) -> bool:
        key = tuple(sorted(some))
        if key not in asked:
            kept_back = 0 if chosen or key == everything else 1  # one question, about everything
            if budget is not None and len(asked) + kept_back >= budget:
                raise BudgetSpentError
            label = session.query(changed(key)).label
            asked.add(key)
            if result.accepts(label):
                chosen[key] = label
        return key in chosen

    best: tuple[int, ...] | None = None
    if shorten:
        with suppress(BudgetSpentError):
            k = kept if kept and flips(range(kept)) else 0
            if not k:
                # The shortest prefix first: where labels are not monotone, longer ones may not do.
                walk = session.look_ahead(prefixes())
                k = next((n for n, _ in walk if flips(range(n))), 0) or len(parts)
                walk.close()
            if not flips(range(k)):
                return None
            best = _needed(k, kept, flips)
    minimal = best is not None
    if best is None:
        if not chosen and not (everything and flips(everything)):
            return None
        best = min(chosen, key=lambda key: (len(key), key))
    return SufficientParts(best, chosen[best], len(asked), minimal or len(best) == 1)


def _needed(k: int, kept: int, flips: Callable[[Sequence[int]], bool]) -> tuple[int, ...]:
    """Of the first k parts, which flip, those that are needed beside what is kept."""
    first = list(range(kept))
    if k == kept:
        return tuple(first)
    needed = lexmin(range(kept, k), lambda some: flips([*first, *some]))
    needed = certify(sorted(needed), lambda some: flips([*first, *some]))
    return tuple(sorted(first + needed))
