"""Amounts in words: "144 more connections between … (28 → 172 of 1,089)".

Every place is named with the number of edges added or removed, the numbers before and after, and
the number of possible edges. The text also says which connections are meant (any, typical or
distinctive).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from denseflip.counterfactual import Reading
from denseflip.graph import Taxonomy
from denseflip.search.claims.claim import Amount, Place
from denseflip.search.claims.places import Places
from denseflip.search.claims.reference import PlaceReference
from denseflip.story.wording.naming import join_words, written
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
    """

    words: Vocabulary
    taxonomy: Taxonomy
    reading: Reading = "any"
    before: str = ""
    after: str = ""

    def clause(
        self, amounts: Sequence[Amount], brackets: Sequence[str] = (), elsewhere: str = ""
    ) -> str:
        """All amounts as one part of a sentence.

        Parameters
        ----------
        amounts : the places with their amounts.
        brackets : what follows each place in brackets.
        elsewhere : what changes in other places; empty if nothing does.
        """
        pieces = [*self.pieces(amounts, brackets), *filter(None, [elsewhere])]
        if len(pieces) == 2 and " and " not in re.sub(r"\(.*?\)", "", pieces[0]):
            return " and ".join(pieces)
        return join_words(pieces, comma=True)

    def pieces(self, amounts: Sequence[Amount], brackets: Sequence[str] = ()) -> tuple[str, ...]:
        """Every amount separately; the noun only in the first, where it is clear."""
        texts = written(self.taxonomy, phrases(self.words))
        joint = contracted(texts)
        ends = brackets or [""] * len(amounts)
        same = self.words.inside == self.words.across
        return tuple(
            f"{self._amount(amount, first=not (i and same))} "
            f"{self._place(amount.place, texts, joint)}{end}"
            for i, (amount, end) in enumerate(zip(amounts, ends, strict=True))
        )

    def items(self, amounts: Sequence[Amount], brackets: Sequence[str]) -> tuple[str, ...]:
        """Every amount as an item of a list, in full."""
        texts = written(self.taxonomy, phrases(self.words))
        joint = contracted(texts)
        return tuple(
            f"{self._plain(amount)} {self._place(amount.place, texts, joint)}{end}"
            for amount, end in zip(amounts, brackets, strict=True)
        )

    def totals(self, amounts: Sequence[Amount]) -> str:
        """The total numbers of edges added and removed: ``12 more and 8 fewer connections``."""
        added, removed = (sum(getattr(a, side) for a in amounts) for side in ("added", "removed"))
        return self._amount(Amount((0, 1), added, removed), first=True)

    def _amount(self, amount: Amount, *, first: bool) -> str:
        if self.reading == "any":
            return self._plain(amount) if first else self._without_noun(amount)
        said = []
        for i, (number, more) in enumerate(_sides(amount)):
            direction = self.words.more if more else self.words.less
            noun = f" {self.words.unit if number == 1 else self.words.units}" if not i else ""
            said.append(f"{_number(number)} {direction}{noun} that {self._meant(more=more)}")
        return " and ".join(said)

    def _plain(self, amount: Amount) -> str:
        many = self.words.inside if amount.place[0] == amount.place[1] else self.words.across
        noun = self.words.unit if _sides(amount)[-1][0] == 1 else many
        return f"{self._without_noun(amount)} {noun}"

    def _without_noun(self, amount: Amount) -> str:
        sides = _sides(amount)
        said = [f"{_number(n)} {self.words.more if up else self.words.less}" for n, up in sides]
        return " and ".join(said)

    def _meant(self, *, more: bool) -> str:
        """Which connections a reading means."""
        if self.reading == "typical":
            return f"{self.after} usually {'has' if more else 'lacks'}"
        one, other = (self.after, self.before) if more else (self.before, self.after)
        return f"set {one} apart from {other}"

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


def bracket(amount: Amount, places: Places) -> str:
    """The numbers of edges before and after a change, of all that are possible."""
    possible, there = places.counts(amount.place)
    if possible == 1:  # a single pair needs no numbers
        return ""
    return f" ({there:,} → {there + amount.added - amount.removed:,} of {possible:,})"


def reference_bracket(place: PlaceReference, name: str, *, long: bool) -> str:
    """The numbers of edges before and after a change, and what real graphs have.

    Parameters
    ----------
    place : the place.
    name : the name of the class of these graphs; empty if it was said before.
    long : whether to write full words.
    """
    change = f"{place.before:,} → {place.after:,}"
    n, least, most = len(place.group), min(place.group), max(place.group)
    if place.in_range is False and not least <= place.after <= most:
        how = "more" if place.after > most else "fewer"
        graphs = f"the {n:,} {name} graphs" if name else f"those {n:,}"
        return f" ({change}; {how} than any of {graphs} has: {least:,}–{most:,})"
    usual = f"{place.median:,.0f}"
    if place.low is None or place.high is None:
        return f" ({change}; {name or 'they'} usually {usual})"
    if long:
        return (
            f" ({change}; usual for {name} is {usual}, 95 % between {place.low:,} and "
            f"{place.high:,})"
        )
    who = f"{name} usually" if name else "usually"
    return f" ({change}; {who} {usual}, 95 % {place.low:,}–{place.high:,})"


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
