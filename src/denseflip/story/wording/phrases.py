"""The places of a sentence in words: with amounts (`Wording`), or grouped as in the paper.

`Wording` names every place with the number of edges added or removed, the numbers before and after,
and the number of possible edges: "144 more connections between … (28 → 172 of 1,089)". It also says
which connections are meant (any, typical or distinctive).

A sentence of the paper (`clause`) says where there would be less and more, but not how much. The
exact meaning of its phrases:

- ``in A, B and C`` (or ``within``): inside A, inside B, inside C;
- ``between A and B``: that pair;
- ``between A, B and C``: every pair of two different regions among them;
- ``between A and each of B, C and D``: A–B, A–C and A–D, nothing else;
- ``at node a and node b``: every edit with an end at one of these nodes.

`group` combines only places that are all named, so a phrase never includes others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from denseflip.counterfactual import Reading
from denseflip.graph import Taxonomy
from denseflip.search.claims.claim import Amount, Place, Places
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
            return tuple(_cell(regions[0], b) for b in regions[1:])
        return tuple(_cell(a, b) for i, a in enumerate(regions) for b in regions[i + 1 :])


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
    texts = written(taxonomy, _openings(words))
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


def _cell(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a <= b else (b, a)


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


# ---- amounts --------------------------------------------------------------------------------

ITEM = "\n- "  # prefix of every amount in a list


@dataclass(frozen=True)
class Wording:
    """The wording of amounts: the words, the names, and which connections are meant.

    Attributes
    ----------
    words : the vocabulary.
    taxonomy : the regions, or the nodes.
    reading : which connections are meant.
    before, after : the names of the original class and of the new class.
    """

    words: Vocabulary
    taxonomy: Taxonomy
    reading: Reading = "any"
    before: str = ""
    after: str = ""

    def clause(self, amounts: Sequence[Amount], places: Places | None = None) -> str:
        """All amounts as one part of a sentence."""
        pieces = self.pieces(amounts, places)
        if len(pieces) == 2 and " and " not in pieces[0]:
            return " and ".join(pieces)
        return join_words(pieces, comma=True)

    def pieces(self, amounts: Sequence[Amount], places: Places | None = None) -> tuple[str, ...]:
        """Every amount separately; with the numbers before and after if the places are given."""
        texts = written(self.taxonomy, phrases(self.words))
        joint = contracted(texts)
        return tuple(
            f"{self._amount(amount)} {self._place(amount.place, texts, joint)}"
            f"{'' if places is None else _bracket(amount, places)}"
            for amount in amounts
        )

    def totals(self, amounts: Sequence[Amount]) -> str:
        """The total numbers of edges added and removed: ``12 more and 8 fewer connections``."""
        added, removed = (sum(getattr(a, side) for a in amounts) for side in ("added", "removed"))
        return self._plain(Amount((0, 1), added, removed))

    def _amount(self, amount: Amount) -> str:
        if self.reading == "any":
            return self._plain(amount)
        said, nouns = [], f"of the {self.words.units} "
        for number, more in _sides(amount):
            direction = self.words.more if more else self.words.less
            said.append(f"{_number(number)} {direction} {nouns}{self._meant(more=more)}")
            nouns = "of those "
        return " and ".join(said)

    def _plain(self, amount: Amount) -> str:
        sides = _sides(amount)
        said = [f"{_number(n)} {self.words.more if up else self.words.less}" for n, up in sides]
        many = self.words.inside if amount.place[0] == amount.place[1] else self.words.across
        return f"{' and '.join(said)} {self.words.unit if sides[-1][0] == 1 else many}"

    def _meant(self, *, more: bool) -> str:
        if self.reading == "typical":
            return f"{'' if more else 'not '}typical of {self.after}"
        return f"that {self.after} has {'more' if more else 'less'} often than {self.before}"

    def _place(self, place: Place, texts: tuple[str, ...], joint: dict[Place, str]) -> str:
        a, b = place
        if b is None:
            return f"{'of' if self.reading == 'any' else 'at'} {texts[a]}"
        if a == b:
            return f"{self.words.within} {texts[a]}"
        return f"between {joint.get(place) or f'{texts[a]} and {texts[b]}'}"


def _sides(amount: Amount) -> list[tuple[int, bool]]:
    """The numbers of an amount with their direction, the larger first."""
    both = [(amount.added, True), (amount.removed, False)]
    return sorted((side for side in both if side[0]), key=lambda side: -side[0])


def _number(n: int) -> str:
    return "one" if n == 1 else f"{n:,}"


def _bracket(amount: Amount, places: Places) -> str:
    there = len(places.present(amount.place))
    possible = there + len(places.absent(amount.place))
    if possible == 1:  # a single pair needs no numbers
        return ""
    return f" ({there:,} → {there + amount.added - amount.removed:,} of {possible:,})"


def phrases(words: Vocabulary) -> Iterator[str]:
    """Phrases that put a region's name in quotation marks."""
    for direction in (words.less, words.more):
        yield f"{direction} of th"
        for noun in (words.unit, words.inside, words.across):
            yield f"{direction} {noun}"


def contracted(texts: Sequence[str]) -> dict[Place, str]:
    """Region pairs that differ only in their side: ``the left and the right isocortex``."""
    if {"left", "right", "the left", "the right"} & set(texts):
        return {}
    at = {text: i for i, text in enumerate(texts)}
    out: dict[Place, str] = {}
    for text, i in at.items():
        left = re.match(r"(the |)left (?=.)", text)
        if left is None:
            continue
        j = at.get(f"{left[1]}right {text[left.end() :]}")
        if j is not None:
            pair = (min(i, j), max(i, j))
            out[pair] = f"{left[0]}and {left[1]}right {text[left.end() :]}"
    return out
