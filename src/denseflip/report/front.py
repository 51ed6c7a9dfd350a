"""The Pareto front: a small plot of places against edits, and the sentences of its answers.

Also the texts on how far a sentence holds, which pages and the command line share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from denseflip.report.strip_layout import Strip, make_strip

if TYPE_CHECKING:
    from denseflip.story.story import Story

_WIDTH, _HEIGHT = 460.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 30.0, 70.0, 40.0, 44.0  # room for ticks and labels
LISTED = 40  # maximum length of a list on the page; the data contain all
_SHAPES = {  # one for each reading, so that colour is not the only difference
    "any": "M6 0A6 6 0 1 1 -6 0A6 6 0 1 1 6 0Z",
    "typical": "M0 -7.5L7.5 0L0 7.5L-7.5 0Z",
    "distinctive": "M0 -7L7 6L-7 6Z",
    "listed": "M-5.5 -5.5H5.5V5.5H-5.5Z",
}


_FRONT = (
    "Trade-off between places and edits",
    "The Pareto front: no other answer found beats one of these in places, in edits and in how "
    "generally it holds.",
)
_DIVERSE = (
    "Alternative answers in other places",
    "Each of them flips the classifier by itself. The main places of one are left unchanged by the "
    "others.",
)


@dataclass(frozen=True)
class Told:
    """A sentence on a page: complete, or a lead and a list."""

    lead: str
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """One answer of the front: its point and its texts.

    Attributes
    ----------
    identity : its anchor in the page.
    kind : its reading, ``any``, ``typical`` or ``distinctive``; ``listed`` if none is true.
    x, y, shape : its point.
    edits, named, truth : its size, what it names, and how far it holds, in a few words.
    read : how far it holds, in a sentence.
    count : the number next to the point.
    sentence : its sentence.
    strip : what real graphs have in its places.
    current : whether it is the answer that the page explains.
    """

    identity: str
    kind: str
    x: float
    y: float
    shape: str
    count: str
    named: str
    edits: str
    truth: str
    read: str
    sentence: Told
    strip: Strip | None
    current: bool


@dataclass(frozen=True)
class Tick:
    """A tick on the axis of places."""

    x: float
    text: str


@dataclass(frozen=True)
class Legend:
    """A legend entry: the mark of a reading, and its meaning."""

    kind: str
    shape: str
    text: str


@dataclass(frozen=True)
class FrontPicture:
    """The plot of a front and all its answers, fewest places first."""

    width: float
    height: float
    base: float
    left: float
    right: float
    middle: float
    title: str
    lead: str
    alt: str
    ticks: tuple[Tick, ...]
    legend: tuple[Legend, ...]
    answers: tuple[Answer, ...]


def draw_front(stories: Sequence[Story], current: Story) -> FrontPicture | None:
    """Plot several answers; None if there are fewer than two.

    Parameters
    ----------
    stories : one story for each answer.
    current : the story that the page explains; the point with the same edits is marked.
    """
    if len(stories) < 2:
        return None
    cells = [len(story.claim.amounts) for story in stories]
    edits = [story.result.distance for story in stories]
    across = _scale(cells, _LEFT + 16, _WIDTH - _RIGHT)
    up = _scale(edits, _HEIGHT - _BOTTOM - 16, _TOP)
    answers = []
    for i, story in enumerate(stories):
        kind = reading_kind(story)
        answers.append(
            Answer(
                identity=f"answer-{i + 1}",
                kind=kind,
                x=across[i],
                y=up[i],
                shape=_SHAPES[kind],
                count=f"{edits[i]:,}",
                named=named_words(story),
                edits=f"{edits[i]:,} edit{'' if edits[i] == 1 else 's'}",
                truth=truth_words(story),
                read=beside(story)[0],
                sentence=told(story),
                strip=make_strip(story),
                current=story.result.edits == current.result.edits,
            )
        )
    ticks = sorted(dict(zip(across, cells, strict=True)).items())
    kinds = [kind for kind in _SHAPES if any(answer.kind == kind for answer in answers)]
    words = "; ".join(f"{a.named}, {a.edits}, {a.truth}" for a in answers)
    return FrontPicture(
        width=_WIDTH,
        height=_HEIGHT,
        base=_HEIGHT - _BOTTOM,
        left=_LEFT,
        right=_WIDTH - _RIGHT + 16,
        middle=(_LEFT + _WIDTH - _RIGHT) / 2,
        title=_DIVERSE[0] if current.result.diverse else _FRONT[0],
        lead=_DIVERSE[1] if current.result.diverse else _FRONT[1],
        alt=f"{len(answers)} answers, by number of places named and of edits: {words}.",
        ticks=tuple(Tick(x, f"{n:,}") for x, n in ticks),
        legend=tuple(Legend(kind, _SHAPES[kind], _legend(kind, current)) for kind in kinds),
        answers=tuple(answers),
    )


def _scale(values: Sequence[int], low: float, high: float) -> list[float]:
    """Positions for values between two ends, in even steps, so that no two points overlap.

    The numbers are next to the points; even steps separate 3 and 4 even if another value is 2,000.
    """
    steps = sorted(set(values))
    if len(steps) == 1:
        return [round((low + high) / 2, 1)] * len(values)
    return [round(low + (high - low) * steps.index(v) / (len(steps) - 1), 1) for v in values]


# ---- words ----------------------------------------------------------------------------------


def told(story: Story, most: int = LISTED) -> Told:
    """The sentence of a story; a lead and a list if it is long, the list cut if very long."""
    items = story.items
    if len(items) > most + 1:  # never leave out just one
        items = (*items[:most], f"… and {len(items) - most:,} more")
    return Told(story.lead, items)


def reading_kind(story: Story) -> str:
    """The reading in which the sentence is true; ``listed`` if none."""
    if story.language == "pairs":
        return "listed"
    return story.reading or "listed"


def language_words(story: Story) -> str:
    """What the sentence names: ``in terms of regions (lobe, 7)``, ``in terms of nodes`` …

    Empty if nothing was found.
    """
    if not story.result.found:
        return ""
    if story.language == "regions" and story.taxonomy is not None:
        n = len(story.taxonomy.regions)
        return f"in terms of regions ({story.taxonomy.name}, {n})"
    return f"in terms of {'nodes' if story.language == 'nodes' else 'node pairs'}"


def named_words(story: Story) -> str:
    """The number of places that the sentence names, in words."""
    n = len(story.claim.amounts)
    first, _, rest = story.sentences.noun.partition(" of ")
    noun = f"{first}{'' if n == 1 else 's'}" + (f" of {rest}" if rest else "")
    return f"{'one' if n == 1 else f'{n:,}'} {noun}"


def truth_words(story: Story) -> str:
    """How far the sentence holds as read, in a few words."""
    test = story.as_read
    if story.language == "pairs" and story.verified:
        return "every connection is named"
    if test is None or not test.draws:
        return "not tested as read"
    what = f"true of {_meant(test.reading, story)}" if test.true else "true of those listed only"
    stable = ""
    if story.stability is not None and story.stability.agreeing:
        seen = story.stability
        stable = f"; holds for {seen.holds} of {seen.agreeing} classifiers trained again"
    if test.only:
        return f"{what}: there is no other choice of the same size{stable}"
    return f"{what}: {test.flips} of {test.draws} random choices flip the answer{stable}"


def beside(story: Story) -> tuple[str, tuple[str, ...]]:
    """The line below a sentence: how far it holds, with its interval; and the other footnotes."""
    read = story.sentences.read or ""
    return read, tuple(note for note in story.footnotes if note != read)


def read_cell(story: Story) -> str:
    """The same for a table cell: ``yes, 20 of 20``."""
    test = story.as_read
    if not story.result.found or test is None:
        return "–"
    if not test.draws:
        return "pair by pair"
    what = {"any": "", "typical": " (typical)", "distinctive": " (distinctive)"}[test.reading]
    said = f"yes{what}" if test.true else "no"
    return f"{said}, no other choice" if test.only else f"{said}, {test.flips} of {test.draws}"


def _meant(reading: str, story: Story) -> str:
    after = story.class_name(story.claim.label)
    before = story.class_name(story.result.label_before)
    units = story.vocabulary.units
    return {
        "any": f"any {units} there",
        "typical": f"{units} typical of {after}",
        "distinctive": f"{units} that {after} has more often than {before}",
    }[reading]


def _legend(kind: str, story: Story) -> str:
    if kind == "listed":
        return f"true of the listed {story.vocabulary.units} only"
    return f"true of {_meant(kind, story)}"
