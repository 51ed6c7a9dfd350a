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
