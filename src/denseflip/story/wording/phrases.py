"""The places of a sentence, grouped into phrases as in the paper.

A sentence of the paper says where there would be less and more, but not how much; `amounts` says
how much. The exact meaning of the phrases:

- ``in A, B and C`` (or ``within``): inside A, inside B, inside C;
- ``between A and B``: that pair;
- ``between A and all regions``: every pair of A, and inside A;
- ``between A, B and C``: every pair of two different regions among them;
- ``between A and each of B, C and D``: A–B, A–C and A–D, nothing else;
- ``at node a and node b``: every edit with an end at one of these nodes.

`group` combines only places that are all named, so a phrase never includes others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from denseflip.graph import Taxonomy
from denseflip.graph.pairs import ordered
from denseflip.search.claims.claim import ALL_REGIONS, Amount, Place
from denseflip.story.wording.naming import join_words, written
from denseflip.story.wording.vocabulary import Vocabulary

Tone = Literal["less", "more", "mostly less", "mostly more", "even"]
_KINDS = ("in", "between", "at")
_TONES: tuple[Tone, ...] = ("less", "more", "mostly less", "mostly more", "even")
_EACH = " and each of "
_MANY = 400  # with more pairs the list is unreadable, and the search for complete sets is slow


@dataclass(frozen=True)
class Group:
    """Some cells under one phrase; a star has its centre first."""

    kind: str  # "in", "between" or "at"
    regions: tuple[int, ...]
    star: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        """What the phrase denotes."""
        regions = self.regions
        if self.kind == "in":
            return tuple((a, a) for a in regions)
        if self.kind == "at":
            return tuple((a, None) for a in regions)
        if self.star:
            return tuple(ordered(regions[0], b) for b in regions[1:])
        return tuple(ordered(a, b) for i, a in enumerate(regions) for b in regions[i + 1 :])


def group(places: Sequence[Place]) -> tuple[Group, ...]:
    """Group places into few phrases, in the given order.

    Single regions form one list. Pairs that form a complete set of three or more regions are
    combined, then pairs that share a region, then the rest.
    """
    groups: list[Group] = []
    if inside := tuple(a for a, b in places if a == b):
        groups.append(Group("in", inside))
    if nodes := tuple(a for a, b in places if b is None):
        groups.append(Group("at", nodes))
    between = [(a, b) for a, b in places if b is not None and a != b]
    rank = {r: i for i, r in reversed(list(enumerate(r for cell in between for r in cell)))}
    left: dict[int, set[int]] = {r: set() for r in rank}
    for a, b in between:
        left[a].add(b)
        left[b].add(a)
    found: list[Group] = []
    while len(between) <= _MANY and len(clique := _large_clique(left, rank)) >= 3:
        found.append(Group("between", clique))
        _take(left, found[-1])
    while left:
        centre = min(left, key=lambda r: (-len(left[r]), rank[r]))
        if not left[centre]:
            break
        ends = sorted(left[centre], key=rank.__getitem__)
        regions = (centre, *ends) if len(ends) > 1 else tuple(sorted((centre, *ends)))
        found.append(Group("between", regions, star=len(ends) > 1))
        _take(left, found[-1])
    order: dict[Place, int] = {cell: i for i, cell in enumerate(between)}
    found.sort(key=lambda g: min(order[place] for place in g.places))
    return (*groups, *found)


def clause(amounts: Sequence[Amount], taxonomy: Taxonomy, words: Vocabulary) -> str:
    """Word amounts by direction: less, more, then both."""
    texts = (*written(taxonomy, _openings(words)), ALL_REGIONS)
    pieces = []
    for tone in _TONES:
        mine = [amount for amount in amounts if _tone(amount) == tone]
        groups = group([amount.place for amount in mine])
        for kind in _KINDS:
            chosen = [g for g in groups if g.kind == kind]
            if not chosen:
                continue
            said = [_say(g, texts) for g in chosen]
            opening = _opening(words, tone, kind)
            piece = opening + join_words(said, comma=True).removeprefix(f"{kind} ")
            if tone not in ("less", "more"):
                inside = {place for g in chosen for place in g.places}
                added = sum(a.added for a in mine if a.place in inside)
                removed = sum(a.removed for a in mine if a.place in inside)
                piece += _both(words, added, removed)
            pieces.append(piece)
    if len(pieces) == 2 and not any(" and " in p for p in pieces[:1]):
        return " and ".join(pieces)
    return join_words(pieces, comma=True)


# ---- words --------------------------------------------------------------------------------


def _tone(amount: Amount) -> Tone:
    if amount.change != "mixed":
        return amount.change
    if amount.added == amount.removed:
        return "even"
    return "mostly more" if amount.added > amount.removed else "mostly less"


def _opening(words: Vocabulary, tone: Tone, kind: str) -> str:
    how = {
        "less": words.less,
        "more": words.more,
        "mostly less": f"{words.balance} {words.less}",
        "mostly more": f"{words.balance} {words.more}",
        "even": words.mixed,
    }[tone]
    if kind == "in":
        return f"{how} {words.inside} {words.within} "
    return f"{how} {words.across} {kind} "


def _both(words: Vocabulary, added: int, removed: int) -> str:
    if added < removed:
        return f" ({words.count(removed)} fewer, {added:,} more)"
    return f" ({words.count(added)} more, {removed:,} fewer)"


def _openings(words: Vocabulary) -> Iterator[str]:
    """What a region's name may not hold without quotation marks."""
    return (_opening(words, tone, kind) for tone in _TONES for kind in _KINDS)


def _say(group: Group, texts: tuple[str, ...]) -> str:
    names = [texts[r] for r in group.regions]
    if group.star:
        return f"between {names[0]}{_EACH}{join_words(names[1:])}"
    return f"{group.kind} {join_words(names)}"


# ---- grouping -----------------------------------------------------------------------------


def _take(left: dict[int, set[int]], group: Group) -> None:
    for a, b in group.places:
        if b is not None:
            left[a].discard(b)
            left[b].discard(a)


def _large_clique(left: dict[int, set[int]], rank: dict[int, int]) -> tuple[int, ...]:
    """A large set of regions of which every pair remains; greedy, from every start."""
    best: tuple[int, ...] = ()
    for start in sorted(left, key=rank.__getitem__):
        members, near = [start], set(left[start])
        while near:
            best_next = min(near, key=lambda r: (-len(left[r] & near), rank[r]))
            members.append(best_next)
            near &= left[best_next]
        if len(members) > len(best):
            best = tuple(members)
    return tuple(sorted(best, key=rank.__getitem__))
