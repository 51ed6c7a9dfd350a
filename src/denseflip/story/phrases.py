"""What a sentence names, gathered into phrases as the paper does, and read back from them.

A sentence of the paper says where there would be less and more, and not how much; `amounts` says
how much. `read_statement` reads both. What the phrases denote, exactly:

- ``in A, B and C`` (or ``within``): inside A, inside B, inside C;
- ``between A and B``: that pair;
- ``between A, B and C``: every pair of two different regions among them;
- ``between A and each of B, C and D``: A–B, A–C and A–D, nothing else;
- ``at node a and node b``: every edit with an end at one of these nodes.

`group` only groups what is named in full, so nothing is said that is not meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from denseflip.errors import FileFormatError
from denseflip.graph import Taxonomy
from denseflip.search.claims.claim import Amount
from denseflip.story.amounts import ITEM, AmountReader
from denseflip.story.naming import join_words, reader, written
from denseflip.story.units import Unit
from denseflip.story.vocabulary import VOCABULARIES, Vocabulary

Tone = Literal["less", "more", "mostly less", "mostly more", "even"]
_KINDS = ("in", "between", "at")
_TONES: tuple[Tone, ...] = ("less", "more", "mostly less", "mostly more", "even")
_EACH = " and each of "
_MANY = 400  # beyond so many pairs nobody reads the list, and looking for complete sets takes long


@dataclass(frozen=True)
class Group:
    """Some cells under one phrase; a star has its centre first."""

    kind: str  # "in", "between" or "at"
    regions: tuple[int, ...]
    star: bool = False

    @property
    def units(self) -> tuple[Unit, ...]:
        """What the phrase denotes."""
        regions = self.regions
        if self.kind == "in":
            return tuple((a, a) for a in regions)
        if self.kind == "at":
            return tuple((a, None) for a in regions)
        if self.star:
            return tuple(_cell(regions[0], b) for b in regions[1:])
        return tuple(_cell(a, b) for i, a in enumerate(regions) for b in regions[i + 1 :])


@dataclass(frozen=True)
class NamedUnits:
    """What a statement names, by direction: the units with less, with more, and with both.

    ``amounts`` are the numbers added and removed, where the statement says them.
    """

    less: frozenset[Unit]
    more: frozenset[Unit]
    mixed: frozenset[Unit]
    amounts: Mapping[Unit, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, amounts: Sequence[Amount]) -> NamedUnits:
        """What amounts name."""
        less = frozenset(unit for unit, added, _ in amounts if not added)
        more = frozenset(unit for unit, _, removed in amounts if not removed)
        mixed = frozenset(amount.unit for amount in amounts) - less - more
        return cls(less, more, mixed, {unit: (up, down) for unit, up, down in amounts})

    @property
    def units(self) -> frozenset[Unit]:
        """Everything it names."""
        return self.less | self.more | self.mixed


def group(units: Sequence[Unit]) -> tuple[Group, ...]:
    """Gather units into as few phrases as is easy, in the order given.

    Regions by themselves make one list; pairs that form a complete set of three or more regions
    are said together, then pairs that share a region, then what is left.
    """
    groups: list[Group] = []
    if inside := tuple(a for a, b in units if a == b):
        groups.append(Group("in", inside))
    if nodes := tuple(a for a, b in units if b is None):
        groups.append(Group("at", nodes))
    between = [(a, b) for a, b in units if b is not None and a != b]
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
    place = {cell: i for i, cell in enumerate(between)}
    found.sort(key=lambda g: min(place[u] for u in g.units if u[1] is not None))  # type: ignore[index]
    return (*groups, *found)


def clause(named: Sequence[tuple[Unit, int, int]], taxonomy: Taxonomy, words: Vocabulary) -> str:
    """Say units with their counts (added, removed): less, more, then where both happens."""
    texts = written(taxonomy, _openings(words))
    pieces = []
    for tone in _TONES:
        mine = [row for row in named if _tone(row[1], row[2]) == tone]
        groups = group([row[0] for row in mine])
        for kind in _KINDS:
            chosen = [g for g in groups if g.kind == kind]
            if not chosen:
                continue
            said = [_say(g, texts) for g in chosen]
            opening = _opening(words, tone, kind)
            piece = opening + join_words(said, comma=True).removeprefix(f"{kind} ")
            if tone not in ("less", "more"):
                inside = {u for g in chosen for u in g.units}
                added = sum(row[1] for row in mine if row[0] in inside)
                removed = sum(row[2] for row in mine if row[0] in inside)
                piece += _both(words, added, removed)
            pieces.append(piece)
    if len(pieces) == 2 and not any(" and " in p for p in pieces[:1]):
        return " and ".join(pieces)
    return join_words(pieces, comma=True)


def read_statement(
    text: str, regions: Taxonomy, vocabulary: str | Vocabulary | None = None
) -> NamedUnits:
    """Read back what a statement names.

    Parameters
    ----------
    text : a statement in the standard form, with its list if it has one.
    regions : the regions it was made with.
    vocabulary : its words; by default whichever of denseflip's own fits.

    Raises
    ------
    FileFormatError
        If the text is no such statement.
    """
    if vocabulary is None:
        tried = list(VOCABULARIES.values())
    else:
        own = isinstance(vocabulary, Vocabulary)
        tried = [vocabulary if own else Vocabulary.named(str(vocabulary))]  # type: ignore[list-item]
    for words in tried:
        said = _read_amounts(text, regions, words) if words.counts else _read(text, regions, words)
        if said is not None:
            return said
    msg = f"Not a statement about the regions {regions.name!r}: {text[:80]!r}."
    raise FileFormatError(msg)


def _read(text: str, regions: Taxonomy, words: Vocabulary) -> NamedUnits | None:
    reading = _Reading(text, regions, words)
    found = (reading.clause(start.end()) for start in re.finditer(" had ", text))
    return next((said for said in found if said is not None), None)


def _read_amounts(text: str, regions: Taxonomy, words: Vocabulary) -> NamedUnits | None:
    reading = AmountReader(regions, words)
    for start in re.finditer(ITEM, text):
        if (amounts := reading.listed(text, start.end())) is not None:
            return NamedUnits.of(amounts)
    for start in re.finditer(" had ", text):
        if (amounts := reading.sentence(text, start.end())) is not None:
            return NamedUnits.of(amounts)
    return None


# ---- words --------------------------------------------------------------------------------


def _tone(added: int, removed: int) -> Tone:
    if not added or not removed:
        return "more" if added else "less"
    if added == removed:
        return "even"
    return "mostly more" if added > removed else "mostly less"


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


def _openings(words: Vocabulary) -> dict[str, tuple[Tone, str]]:
    return {_opening(words, tone, kind): (tone, kind) for tone in _TONES for kind in _KINDS}


def _say(group: Group, texts: tuple[str, ...]) -> str:
    names = [texts[r] for r in group.regions]
    if group.star:
        return f"between {names[0]}{_EACH}{join_words(names[1:])}"
    return f"{group.kind} {join_words(names)}"


class _Reading:
    """A small recursive-descent reader of the clause after "had"."""

    def __init__(self, text: str, taxonomy: Taxonomy, words: Vocabulary) -> None:
        self.text = text
        self.openings = _openings(words)
        self.region, self.position = reader(written(taxonomy, self.openings))
        units = "|".join(re.escape(u) for u in (words.unit, words.units))
        self.counts = re.compile(rf" \([\d,]+ (?:{units}) (?:more|fewer), [\d,]+ (?:more|fewer)\)")

    def clause(self, at: int) -> NamedUnits | None:
        """What the clause that starts here says, if it is one and ends in ", then"."""
        said: dict[str, set[Unit]] = {"less": set(), "more": set(), "mixed": set()}
        opening = self._opening(at)
        while opening is not None:
            tone, kind, at = opening
            change = tone if tone in said else "mixed"
            while True:
                got = self._group(kind, at)
                if got is None:
                    return None
                found, at = got
                said[change].update(found.units)
                after = self._separator(at)
                if after is None or not self.text.startswith(f"{kind} ", after):
                    break
                at = after + len(kind) + 1
            if (counts := self.counts.match(self.text, at)) is not None:
                at = counts.end()
            if self.text.startswith(", then ", at):
                less, more, mixed = (frozenset(said[c]) for c in ("less", "more", "mixed"))
                return NamedUnits(less, more, mixed)
            after = self._separator(at)
            opening = None if after is None else self._opening(after)
        return None

    def _opening(self, at: int) -> tuple[Tone, str, int] | None:
        for phrase, (tone, kind) in self.openings.items():
            if self.text.startswith(phrase, at):
                return tone, kind, at + len(phrase)
        return None

    def _separator(self, at: int) -> int | None:
        for mark in (", and ", ", ", " and "):
            if self.text.startswith(mark, at):
                return at + len(mark)
        return None

    def _group(self, kind: str, at: int) -> tuple[Group, int] | None:
        regions: list[int] = []
        star = False
        while (match := self.region.match(self.text, at)) is not None:
            regions.append(self.position[match.group()])
            at = match.end()
            if len(regions) == 1 and self.text.startswith(_EACH, at):
                star, at = True, at + len(_EACH)
                continue
            after = self._separator(at)
            if after is None or self._opening(after) or not self.region.match(self.text, after):
                return Group(kind, tuple(regions), star), at
            at = after
        return None


# ---- grouping -----------------------------------------------------------------------------


def _cell(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a <= b else (b, a)


def _take(left: dict[int, set[int]], group: Group) -> None:
    for a, b in group.units:
        if b is not None:
            left[a].discard(b)
            left[b].discard(a)


def _large_clique(left: dict[int, set[int]], rank: dict[int, int]) -> tuple[int, ...]:
    """A large set of regions of which every pair is left; greedy, from every start."""
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
