"""Amounts in words: "144 more connections between … (28 → 172 of 1,089)"; and read back.

Every place is said by itself, with how many edges come or go there, how many there were and would
be, and how many there could be. What kind of connections is meant (any, typical ones, distinctive
ones) is said too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from denseflip.counterfactual import Reading
from denseflip.graph import Taxonomy
from denseflip.search.claims.claim import Amount, Places
from denseflip.story.naming import join_words, reader, written
from denseflip.story.units import Unit
from denseflip.story.vocabulary import Vocabulary

ITEM = "\n- "  # what a list of amounts has before every one
_NUMBER = r"(?:one|\d[\d,]*)"
_BRACKET = r"(?: \(\d[\d,]* → \d[\d,]* of \d[\d,]*\))?"


@dataclass(frozen=True)
class Wording:
    """How amounts are said: the words, the names, and which connections are meant.

    Attributes
    ----------
    words : the vocabulary.
    taxonomy : the regions, or the nodes.
    reading : which connections are meant.
    before, after : the names of the original's class and of the class that is led to.
    """

    words: Vocabulary
    taxonomy: Taxonomy
    reading: Reading = "any"
    before: str = ""
    after: str = ""

    # ---- said ---------------------------------------------------------------------------

    def clause(self, claim: Sequence[Amount], places: Places | None = None) -> str:
        """All amounts as one part of a sentence."""
        pieces = self.pieces(claim, places)
        if len(pieces) == 2 and " and " not in pieces[0]:
            return " and ".join(pieces)
        return join_words(pieces, comma=True)

    def pieces(self, claim: Sequence[Amount], places: Places | None = None) -> tuple[str, ...]:
        """Every amount by itself; with the numbers before and after if the places are given."""
        texts = written(self.taxonomy, phrases(self.words))
        joint = contracted(texts)
        return tuple(
            f"{self._amount(amount)} {self._place(amount.unit, texts, joint)}"
            f"{'' if places is None else _bracket(amount, places)}"
            for amount in claim
        )

    def totals(self, claim: Sequence[Amount]) -> str:
        """How many edges come and go altogether: ``12 more and 8 fewer connections``."""
        added, removed = (sum(getattr(a, side) for a in claim) for side in ("added", "removed"))
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
        many = self.words.inside if amount.unit[0] == amount.unit[1] else self.words.across
        return f"{' and '.join(said)} {self.words.unit if sides[-1][0] == 1 else many}"

    def _meant(self, *, more: bool) -> str:
        if self.reading == "typical":
            return f"{'' if more else 'not '}typical of {self.after}"
        return f"that {self.after} has {'more' if more else 'less'} often than {self.before}"

    def _place(self, unit: Unit, texts: tuple[str, ...], joint: dict[Unit, str]) -> str:
        a, b = unit
        if b is None:
            return f"{'of' if self.reading == 'any' else 'at'} {texts[a]}"
        if a == b:
            return f"{self.words.within} {texts[a]}"
        return f"between {joint.get(unit) or f'{texts[a]} and {texts[b]}'}"


def _sides(amount: Amount) -> list[tuple[int, bool]]:
    """The numbers of an amount with their direction, the larger first."""
    both = [(amount.added, True), (amount.removed, False)]
    return sorted((side for side in both if side[0]), key=lambda side: -side[0])


def _number(n: int) -> str:
    return "one" if n == 1 else f"{n:,}"


def _bracket(amount: Amount, places: Places) -> str:
    there = len(places.present(amount.unit))
    possible = there + len(places.absent(amount.unit))
    if possible == 1:  # a single pair, of which everything is said
        return ""
    return f" ({there:,} → {there + amount.added - amount.removed:,} of {possible:,})"


def phrases(words: Vocabulary) -> Iterator[str]:
    """What a region's name may not hold without quotation marks."""
    for direction in (words.less, words.more):
        yield f"{direction} of th"
        for noun in (words.unit, words.inside, words.across):
            yield f"{direction} {noun}"


def contracted(texts: Sequence[str]) -> dict[Unit, str]:
    """Pairs of regions that differ in their side only: ``the left and the right isocortex``."""
    if {"left", "right", "the left", "the right"} & set(texts):
        return {}
    at = {text: i for i, text in enumerate(texts)}
    out: dict[Unit, str] = {}
    for text, i in at.items():
        left = re.match(r"(the |)left (?=.)", text)
        if left is None:
            continue
        j = at.get(f"{left[1]}right {text[left.end() :]}")
        if j is not None:
            pair = (min(i, j), max(i, j))
            out[pair] = f"{left[0]}and {left[1]}right {text[left.end() :]}"
    return out


# ---- read back ------------------------------------------------------------------------------


class AmountReader:
    """Reads amounts back, in a sentence or in a list."""

    def __init__(self, taxonomy: Taxonomy, words: Vocabulary) -> None:
        texts = written(taxonomy, phrases(words))
        region, self.position = reader(texts)
        self.words = words
        self.joint = {text: unit for unit, text in contracted(texts).items()}
        one = _either((words.more, words.less))
        nouns = _either((words.unit, words.inside, words.across))
        meant = r"(?:not )?typical of .+?|that .+? has (?:more|less) often than .+?"
        amount = rf"(?P<n>{_NUMBER}) (?P<d>{one})"
        other = rf"(?P<m>{_NUMBER}) (?P<e>{one})"
        plain = rf"{amount}(?: and {other})? {nouns}"
        kind = (
            rf"{amount} of the {re.escape(words.units)} (?:{meant})"
            rf"(?: and {other} of those (?:{meant}))?"
        )
        joint = f"(?P<joint>{_either(self.joint)})|" if self.joint else ""
        first, second = f"(?P<a>{region.pattern})", f"(?P<b>{region.pattern})"
        self.patterns = [
            re.compile(f"{start} {place}{_BRACKET}", re.DOTALL)
            for start in (plain, kind)
            for place in (
                f"between (?:{joint}{first} and {second})",
                f"{re.escape(words.within)} (?P<c>{region.pattern})",
                f"(?:of|at) (?P<node>{region.pattern})",
            )
        ]

    def sentence(self, text: str, at: int) -> tuple[Amount, ...] | None:
        """The amounts from here to ``, then``; None if that is not what stands there."""
        return self._series(text, at, re.compile(", and |, | and "), re.compile(", then "))

    def listed(self, text: str, at: int) -> tuple[Amount, ...] | None:
        """The amounts of a list from here to the end; None if that is not what stands there."""
        return self._series(text, at, re.compile(ITEM), re.compile(r"\s*\Z"))

    def _series(
        self, text: str, at: int, between: re.Pattern[str], end: re.Pattern[str]
    ) -> tuple[Amount, ...] | None:
        amounts: list[Amount] = []
        while (match := self._one(text, at)) is not None:
            amounts.append(self._made(match.groupdict()))
            at = match.end()
            if end.match(text, at):
                return tuple(amounts)
            mark = between.match(text, at)
            if mark is None:
                return None
            at = mark.end()
        return None

    def _one(self, text: str, at: int) -> re.Match[str] | None:
        # A class may be called anything, so of what could be meant the shortest is.
        found = (match for p in self.patterns if (match := p.match(text, at)) is not None)
        return min(found, key=lambda match: match.end(), default=None)

    def _made(self, found: dict[str, str | None]) -> Amount:
        added = removed = 0
        for number, direction in ((found["n"], found["d"]), (found["m"], found["e"])):
            if number is not None:
                value = 1 if number == "one" else int(number.replace(",", ""))
                if direction == self.words.more:
                    added += value
                else:
                    removed += value
        return Amount(self._unit(found), added, removed)

    def _unit(self, found: dict[str, str | None]) -> Unit:
        if joint := found.get("joint"):
            return self.joint[joint]
        if node := found.get("node"):
            return (self.position[node], None)
        if inside := found.get("c"):
            return (self.position[inside],) * 2
        a, b = sorted(self.position[str(found[end])] for end in ("a", "b"))
        return (a, b)


def _either(texts: Iterable[str]) -> str:
    longest = sorted(set(texts), key=lambda text: (-len(text), text))
    return "(?:" + "|".join(re.escape(text) for text in longest) + ")"
