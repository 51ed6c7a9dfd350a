"""`fewest_parts`: which parts of a counterfactual flip the oracle by themselves.

The parts are what a sentence names (cells, nodes, pairs), in order of preference.
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
    chosen : their indices, ascending.
    label : the oracle's label of the original with only their edits.
    tried : how many choices of parts were queried.
    minimal : whether it was certified that none can be left out, except those that were `kept`.
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
    """Find a few parts of a counterfactual that flip; None if not even all of them do.

    Finds the shortest prefix that flips, reduces it to the parts that are needed (`lexmin`), and
    checks that none can be left out (`certify`). The flip is never lost, even if the labels are not
    monotone.

    Parameters
    ----------
    result : the counterfactual.
    parts : its edits as pair codes, in order of preference.
    session : the session to query through; every choice of parts is one query.
    kept : how many of the first parts are chosen in any case.
    budget : the largest number of queries, at least 1; when it is spent, the shortest choice that
        flipped is returned.
    shorten : False to query only all parts together.
    """
    everything = tuple(range(len(parts)))
    chosen: dict[tuple[int, ...], Label] = {}  # choices that flip
    queried: set[tuple[int, ...]] = set()

    def changed(some: Sequence[int]) -> Graph:
        return result.original.toggle_codes(np.unique(joined(parts[i] for i in some)))

    def prefixes() -> Iterator[tuple[int, Graph]]:
        most = len(parts) if budget is None else min(len(parts), kept + budget - 1)
        for k in range(kept + 1, most + 1):
            yield k, changed(range(k))

    def flips(some: Sequence[int]) -> bool:
        key = tuple(sorted(some))
        if key not in queried:
            reserved = 0 if chosen or key == everything else 1  # one query about all parts
            if budget is not None and len(queried) + reserved >= budget:
                raise BudgetSpentError
            label = session.query(changed(key)).label
            queried.add(key)
            if result.accepts(label):
                chosen[key] = label
        return key in chosen

    best: tuple[int, ...] | None = None
    if shorten:
        with suppress(BudgetSpentError):
            k = kept if kept and flips(range(kept)) else 0
            if not k:
                # The shortest prefix first: if labels are not monotone, longer ones may not flip.
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
    return SufficientParts(best, chosen[best], len(queried), minimal or len(best) == 1)


def _needed(k: int, kept: int, flips: Callable[[Sequence[int]], bool]) -> tuple[int, ...]:
    """Which of the first k parts, which flip together, are needed beside those that are kept."""
    first = list(range(kept))
    if k == kept:
        return tuple(first)
    needed = lexmin(range(kept, k), lambda some: flips([*first, *some]))
    needed = certify(sorted(needed), lambda some: flips([*first, *some]))
    return tuple(sorted(first + needed))
