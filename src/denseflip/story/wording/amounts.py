"""Amounts in words: "144 more connections between … (28 → 172 of 1,089)".

Every place is named with the number of edges added or removed, the numbers before and after, and
the number of possible edges. The text also says which connections are meant (any, typical or
distinctive).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from denseflip.counterfactual import Reading
from denseflip.errors import counted
from denseflip.graph import Pair, Taxonomy
from denseflip.graph.nodes import TYPE
from denseflip.search.claims.claim import ALL_REGIONS, Amount, Claim, Place
from denseflip.search.claims.intervals import FEWEST
from denseflip.search.claims.places import Places
from denseflip.search.claims.reference import PlaceReference
from denseflip.story.wording.naming import join_words, members_of, written
from denseflip.story.wording.vocabulary import Vocabulary

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
    brief : whether connections "set B6 apart" and not "set B6 apart from BTBR".
    """

    words: Vocabulary
    taxonomy: Taxonomy
    reading: Reading = "any"
    before: str = ""
    after: str = ""
    brief: bool = False

    def clause(
        self, amounts: Sequence[Amount], brackets: Sequence[str] = (), elsewhere: str = ""
    ) -> str:
        """All amounts as one part of a sentence; each place may be followed by a bracket."""
        pieces = [*self.pieces(amounts, brackets), *filter(None, [elsewhere])]
        first = re.sub(r"\(.*?\)", "", pieces[0])
        clear = all(piece.endswith(")") for piece in pieces[:-1])
        if clear or (len(pieces) == 2 and " and " not in first):
            return join_words(pieces)
        return join_words(pieces, comma=True)

    def pieces(self, amounts: Sequence[Amount], brackets: Sequence[str] = ()) -> tuple[str, ...]:
        """Every amount separately; the noun only in the first, where it is clear."""
        ends = brackets or [""] * len(amounts)
        same = self.words.inside == self.words.across
        return tuple(
            self._piece(amount, end, first=not (i and same) or self.typed)
            for i, (amount, end) in enumerate(zip(amounts, ends, strict=True))
        )

    def items(self, amounts: Sequence[Amount], brackets: Sequence[str]) -> tuple[str, ...]:
        """Every amount as an item of a list, in full."""
        return tuple(
            f"{self._plain(amount)} {self._place(amount.place)}".rstrip() + end
            for amount, end in zip(amounts, brackets, strict=True)
        )

    def totals(self, amounts: Sequence[Amount], where: str) -> str:
        """The total numbers of edges added and removed, and where.

        ``12 more and 8 fewer connections in 3 places``.
        """
        added, removed = (sum(getattr(a, side) for a in amounts) for side in ("added", "removed"))
        amount = Amount((0, 1), added, removed)
        if self._is_exchange(amount):
            return self._exchange(amount, where)
        return f"{self._amount(amount, first=True)} {where}"

    def _piece(self, amount: Amount, end: str, *, first: bool) -> str:
        place = self._place(amount.place)
        if not self._is_exchange(amount):
            return f"{self._amount(amount, first=first)} {place}".rstrip() + end
        sides = ", ".join(
            f"{_number(n)} {self.words.more if up else self.words.less}" for n, up in _sides(amount)
        )
        end = f" ({sides}: {end[2:]}" if end else f" ({sides})"
        return self._exchange(amount, place) + end

    def _is_exchange(self, amount: Amount) -> bool:
        """Whether some connections are added and others removed, and only some are meant."""
        return self.reading != "any" and amount.change == "mixed"

    def _exchange(self, amount: Amount, place: str) -> str:
        """``195 connections in the Frontal Lobe changed to what sets ASD apart from TD``."""
        if self.reading == "typical":
            what = f"{members_of(self.after, self.words.members)} usually have"
        else:
            what = f"sets {self._apart(self.after, self.before)}"
        return f"{amount.total:,} {self.words.units} {place} changed to what {what}"

    def _amount(self, amount: Amount, *, first: bool) -> str:
        if self.reading == "any":
            return self._plain(amount) if first else self._without_noun(amount)
        ((number, more),) = _sides(amount)
        direction = self.words.more if more else self.words.less
        noun = f" {self.words.unit if number == 1 else self.words.units}" if first else ""
        return f"{_number(number)} {direction}{noun} that {self._meant(number, more=more)}"

    def _plain(self, amount: Amount) -> str:
        many = self.words.inside if amount.place[0] == amount.place[1] else self.words.across
        noun = self.words.unit if _sides(amount)[-1][0] == 1 else many
        if self._compound(amount.place):
            one, other = (self.taxonomy.regions[x] for x in amount.place if x is not None)
            noun = f"{one}–{other} {noun}"
        return f"{self._without_noun(amount)} {noun}"

    @property
    def typed(self) -> bool:
        """Whether places are pairs of types of nodes."""
        return self.taxonomy.name == TYPE

    def _compound(self, place: Place) -> bool:
        """Whether edges between types are named as ``C–N bonds``, where these are single words."""
        return (
            self.typed
            and self.words.compound
            and all(" " not in self.taxonomy.regions[x] for x in place if x is not None)
        )

    def _without_noun(self, amount: Amount) -> str:
        sides = _sides(amount)
        number = _number_word if self.typed else _number
        said = [f"{number(n)} {self.words.more if up else self.words.less}" for n, up in sides]
        return " and ".join(said)

    def _meant(self, number: int, *, more: bool) -> str:
        """Which connections a reading means."""
        if self.reading == "typical":
            who = members_of(self.after, self.words.members)
            return f"{who} usually {'have' if more else 'lack'}"
        one, other = (self.after, self.before) if more else (self.before, self.after)
        return f"{'sets' if number == 1 else 'set'} {self._apart(one, other)}"

    def _apart(self, one: str, other: str) -> str:
        return f"{one} apart" if self.brief else f"{one} apart from {other}"

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return written(self.taxonomy, phrases(self.words))

    @cached_property
    def _joint(self) -> dict[Place, str]:
        return contracted(self._texts)

    def _place(self, place: Place) -> str:
        (a, b), texts = place, self._texts
        if b is None:
            return f"{'of' if self.reading == 'any' else 'at'} {texts[a]}"
        if self._compound(place):
            return ""
        if self.typed:
            return f"between {texts[a]}{'' if a == b else f' and {texts[b]}'} nodes"
        if a == b:
            return f"{self.words.within} {texts[a]}"
        if b == len(texts):
            return f"between {texts[a]} and {ALL_REGIONS}"
        return f"between {self._joint.get(place) or f'{texts[a]} and {texts[b]}'}"


def _sides(amount: Amount) -> list[tuple[int, bool]]:
    """The numbers of an amount with their direction, the larger first."""
    both = [(amount.added, True), (amount.removed, False)]
    return sorted((side for side in both if side[0]), key=lambda side: -side[0])


def _number(n: int) -> str:
    return "one" if n == 1 else f"{n:,}"


def _number_word(n: int) -> str:
    """A number below ten in words."""
    words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    return words[n] if n < len(words) else f"{n:,}"


def bracket(amount: Amount, places: Places) -> str:
    """The numbers of edges before and after a change, of all that are possible."""
    possible, there = places.counts(amount.place)
    if possible == 1:  # a single pair needs no numbers
        return ""
    return f" ({there:,} → {there + amount.added - amount.removed:,} of {possible:,})"


def with_shared(brackets: Sequence[str], claim: Claim, pairs: Iterable[Pair]) -> tuple[str, ...]:
    """Brackets of nodes, with the number of changed pairs that join another named node."""
    if claim.language != "nodes":
        return tuple(brackets)
    named = {place[0] for place in claim.places}
    shared = Counter(node for pair in pairs if named.issuperset(pair) for node in pair)
    out = []
    for text, (node, _) in zip(brackets, claim.places, strict=True):
        n = shared[node]
        join = f"; {'one joins' if n == 1 else f'{n:,} join'} another node named here)"
        out.append(f"{text[:-1]}{join}" if n else text)
    return tuple(out)


def reference_bracket(place: PlaceReference, group: str, *, long: bool) -> str:
    """The numbers of edges before and after a change, and what real graphs have.

    ``group`` are the graphs that it is compared with, for example ``B6 mice``; empty if they were
    named before.
    """
    n = len(place.group)
    if beyond := _beyond(place):
        usual = f"{beyond} {f'the {n:,} {group}' if group else f'those {n:,}'}"
        return f" ({change_of(place)}; {usual}, which have {_extremes(place)})"
    if few := _few(place):
        return f" ({change_of(place)}; {few})"
    usual = f"{f'{group} ' if group else ''}usually {'have ' if long else ''}{place.median:,.0f}"
    return f" ({change_of(place)}; {usual}{_interval(place, long=long)})"


def reference_sentence(places: Sequence[PlaceReference], group: str) -> str | None:
    """What real graphs have in one or two places, as a sentence; None if it needs a list."""
    extremes = [_beyond(place) for place in places]
    if few := _few(places[0]):
        return f"There is {few}." if len(places) == 1 else None
    if not any(extremes):
        if len(places) == 1:
            usual = f"{places[0].median:,.0f} there{_interval(places[0], long=True)}"
        else:
            each = (f"{p.median:,.0f}{_interval(p, bracket=True)}" for p in places)
            usual = f"{join_words(list(each))} there"
        return f"{group[0].upper()}{group[1:]} usually have {usual}."
    if len(places) > 1 or extremes[0] is None:
        return None
    whom = f"the {len(places[0].group):,} {group}, which have {_extremes(places[0])}"
    return f"That is {extremes[0]} {whom}."


def change_of(place: PlaceReference) -> str:
    """The numbers of edges of a place before and after a change."""
    return f"{place.before:,} → {place.after:,}"


def _beyond(place: PlaceReference) -> str | None:
    """How a place out of range compares with all graphs, if it ends beyond them.

    ``more than any of``, or ``still above all of`` if the place loses edges.
    """
    least, most = min(place.group), max(place.group)
    if place.in_range is not False or least <= place.after <= most:
        return None
    above = place.after > most
    if (place.after > place.before) == above:
        return f"{'more' if above else 'fewer'} than any of"
    return f"still {'above' if above else 'below'} all of"


def _extremes(place: PlaceReference) -> str:
    """The smallest and the largest number of the group."""
    return f"{min(place.group):,}–{max(place.group):,}"


def _few(place: PlaceReference) -> str | None:
    """The graphs of a group that is too small to say what is usual."""
    if len(place.group) >= FEWEST:
        return None
    counts = join_words([f"{count:,}" for count in place.group])
    return f"only {counted(len(place.group), 'reference graph', 'reference graphs')}, with {counts}"


def _interval(place: PlaceReference, *, long: bool = False, bracket: bool = False) -> str:
    if place.low is None or place.high is None:
        return ""
    if long:
        return f", 95 % between {place.low:,} and {place.high:,}"
    ends = f"95 % {place.low:,}–{place.high:,}"
    return f" ({ends})" if bracket else f", {ends}"


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
