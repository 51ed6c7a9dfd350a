"""What a sentence names, put into words and read back from them.

Regions are written with an article where one belongs, and never so that one could be mistaken for
another.

What the words denote, exactly:

- ``in A, B and C`` (or ``within``): inside A, inside B, inside C;
- ``between A and B``: that pair;
- ``between A, B and C``: every pair of two different regions among them;
- ``between A and each of B, C and D``: A–B, A–C and A–D, nothing else;
- ``at node a and node b``: every edit with an end at one of these nodes.

`group` only groups what is named in full, so nothing is said that is not meant.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from denseflip.checks import renamed, renamed_names
from denseflip.errors import FileFormatError
from denseflip.graph import Taxonomy
from denseflip.graph.nodes import CROSS
from denseflip.story.units import NODE_PREFIX, Unit
from denseflip.story.vocabulary import VOCABULARIES, Vocabulary

Tone = Literal["less", "more", "mostly less", "mostly more", "even"]
_KINDS = ("in", "between", "at")
_TONES: tuple[Tone, ...] = ("less", "more", "mostly less", "mostly more", "even")
_EACH = " and each of "
_MANY = 400  # beyond so many pairs nobody reads the list, and looking for complete sets takes long


_SIDES = {"L": "left", "R": "right", "M": "midline"}
_ALONE = {"L": "left hemisphere", "R": "right hemisphere", "M": "midline"}
_SIDE_TAXONOMIES = {"hemisphere", "side"}
_UNSAFE = re.compile(r"[,;:()“”\n\r\t]| and |^\s|\s$|^$")
_RESERVED = {"in", "within", "between", "at", "each", "and", "then", "the"}
# A single word takes an article if it is a noun such as these; "Frontal" or "Visual" takes none.
_NOUN = re.compile(
    r"(?:lobes?|lobules?|gyrus|gyri|sulcus|sulci|cortex|cortices|fossa|insula|structures?|areas?|"
    r"regions?|networks?|systems?|poles?|tracts?|matter|hemispheres?|midline|brain|stem|cerebrum|"
    r"cerebellum|vermis|thalamus|prethalamus|amygdala|hippocampus|hippocampi|striatum|pallium|"
    r"pallidum|encephalon|putamen|caudate|nucleus|nuclei|ganglia|cuneus|pons|medulla|tectum|"
    r"pretectum|tegmentum|septum|isthmus|cingulum|operculum)$",
    re.IGNORECASE,
)


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
    """What a statement names, by direction: the units with less, with more, and with both."""

    less: frozenset[Unit]
    more: frozenset[Unit]
    mixed: frozenset[Unit]

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
            piece = opening + _join(said, comma=True).removeprefix(f"{kind} ")
            if tone not in ("less", "more"):
                inside = {u for g in chosen for u in g.units}
                added = sum(row[1] for row in mine if row[0] in inside)
                removed = sum(row[2] for row in mine if row[0] in inside)
                piece += _both(words, added, removed)
            pieces.append(piece)
    if len(pieces) == 2 and not any(" and " in p for p in pieces[:1]):
        return " and ".join(pieces)
    return _join(pieces, comma=True)


@renamed(taxonomy="regions")
def read_statement(
    text: str, regions: Taxonomy, vocabulary: str | Vocabulary | None = None
) -> NamedUnits:
    """Read back what a statement names.

    Parameters
    ----------
    text : a statement in the standard form.
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
        reading = _Reading(text, regions, words)
        for start in re.finditer(" had ", text):
            said = reading.clause(start.end())
            if said is not None:
                return said
    msg = f"Not a statement about the regions {regions.name!r}: {text[:80]!r}."
    raise FileFormatError(msg)


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
        return f"between {names[0]}{_EACH}{_join(names[1:])}"
    return f"{group.kind} {_join(names)}"


def _join(items: Sequence[str], *, comma: bool = False) -> str:
    if len(items) < 2:
        return "".join(items)
    last = ", and " if comma else " and "
    return ", ".join(items[:-1]) + last + items[-1]


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
                return NamedUnits(*(frozenset(said[c]) for c in ("less", "more", "mixed")))
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


# ---- names of regions -----------------------------------------------------------------------


def readable(taxonomy: Taxonomy) -> tuple[str, ...]:
    """Region names with a hemisphere spelled out: ``Frontal Lobe L`` is ``left Frontal Lobe``."""
    parts = taxonomy.name.split(CROSS)
    if parts[-1] not in _SIDE_TAXONOMIES:
        return taxonomy.regions
    names = []
    for region in taxonomy.regions:
        head, _, side = region.rpartition(" ")
        if len(parts) == 1:
            names.append(_ALONE.get(region, region))
        else:
            names.append(f"{_SIDES[side]} {head}" if head and side in _SIDES else region)
    return tuple(names) if len(set(names)) == len(names) else taxonomy.regions


def with_article(name: str) -> str:
    """The name as it stands in a sentence.

    >>> with_article("Frontal Lobe"), with_article("Insula & Cingulate Gyri"), with_article("V1")
    ('the Frontal Lobe', 'the Insula & Cingulate Gyri', 'V1')
    >>> with_article("Frontal"), with_article("left Frontal"), with_article("left isocortex")
    ('Frontal', 'left Frontal', 'the left isocortex')
    """
    first = name.split(" ")[0]
    if name.startswith(NODE_PREFIX) or (first.lower() == "the" and " " in name):
        return name
    if first.lower() in _RESERVED:
        return f"the {name}"
    head, _, rest = name.partition(" ")
    sided = rest if rest and head.lower() in _SIDES.values() else name
    code = len(name) == 1 or any(c.isdigit() for c in name)
    bare = " " not in sided and not (sided.isalpha() and _NOUN.search(sided))
    return name if code or bare else f"the {name}"


def written(taxonomy: Taxonomy, phrases: Iterable[str] = ()) -> tuple[str, ...]:
    """Every region as a sentence writes it, each different and each readable back.

    A name that could be mistaken for something else (it holds a comma, an "and", one of the
    sentence's own phrases, or reads like another region) stands in quotation marks.
    """
    names = readable(taxonomy)
    texts = [with_article(name) for name in names]
    often = Counter(texts)
    own = [p.strip() for p in phrases]
    return tuple(
        _quoted(name) if _UNSAFE.search(name) or often[text] > 1 or _holds(name, own) else text
        for name, text in zip(names, texts, strict=True)
    )


def _holds(name: str, phrases: list[str]) -> bool:
    return any(p and p in name for p in phrases)


def _quoted(name: str) -> str:
    return "“" + name.replace("”", "””") + "”"


def reader(texts: tuple[str, ...]) -> tuple[re.Pattern[str], Mapping[str, int]]:
    """A pattern that matches one written region, the longest first, and where it stands."""
    position = {text: i for i, text in enumerate(texts)}
    longest = sorted(texts, key=lambda t: (-len(t), t))
    # A plain name ends where a separator follows, so "V1" is not read in "V12".
    plain = "|".join(re.escape(t) for t in longest if not t.startswith("“"))
    quoted = "|".join(re.escape(t) + "(?!”)" for t in longest if t.startswith("“"))
    after = r"(?=,| and | \(|\.|;|$)"
    either = "|".join(x for x in (quoted, f"(?:{plain}){after}" if plain else "") if x)
    return re.compile(either or "(?!)"), position


__getattr__ = renamed_names(__name__, {"Said": "NamedUnits"})
