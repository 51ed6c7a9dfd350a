"""The layout and the words of the reference strip: real graphs as dots, and the change as an arrow.

`make_strip` and `make_small_strip` lay it out for pages and the app, as SVG that needs no library
and follows the colours of the page. `plot_reference` draws the same with matplotlib.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING, ClassVar

from denseflip.graph.readable_names import readable
from denseflip.report.html import Context, cut_middle

if TYPE_CHECKING:
    from denseflip.search.claims.reference import PlaceReference
    from denseflip.story.story import Story

ACROSS = 74.0  # percent of a row's width …
_LEFT = 13.0  # … from here on; the rest is for the numbers at the ends
_PIXELS = 520.0  # the width of a row on a usual screen, for keeping dots apart
_LANE = 26.0  # pixels: the height of a lane of dots
_FEW, _MANY = 40, 120  # graphs of a class up to which dots are large, or less so
_THREE, _TWO = 36.0, 14.0  # percent: widths of an interval that fit three or two numbers
_NEAR = 40  # dots that a new one is kept apart from
_SMALL = 200  # pixels: the width of a small strip
ROWS, SMALL_ROWS = 8, 3  # most places of a strip and of a small one


@dataclass(frozen=True)
class Dot:
    """A real graph: its position in percent of the width, and its height in pixels."""

    x: float
    y: float


@dataclass(frozen=True)
class Label:
    """A number below the axis: its position in percent, and which end of the text is there."""

    x: float
    anchor: str
    text: str


@dataclass(frozen=True)
class StripRow:
    """One place. Positions are in percent of the width.

    Attributes
    ----------
    name : the name of the place.
    alt : the numbers in words, for screen readers.
    radius : of the dots, in pixels.
    same, group : the graphs of the original's class and of the new class.
    low, width : the interval; None if there is none.
    median : of the new class; None without graphs.
    labels : the numbers of the interval.
    start, end : the arrow.
    before, after : the numbers at its ends.
    way : where it points: ``right``, ``left`` or ``none``.
    """

    name: str
    alt: str
    radius: float
    same: tuple[Dot, ...]
    group: tuple[Dot, ...]
    low: float | None
    width: float
    median: float | None
    labels: tuple[Label, ...]
    start: float
    end: float
    before: str
    after: str
    way: str


@dataclass(frozen=True)
class SmallRow:
    """One place of a small strip, in pixels; ``same`` and ``group`` are SVG paths of ticks."""

    alt: str
    same: str
    group: str
    low: int | None
    width: int
    start: int
    end: int
    way: str


@dataclass(frozen=True)
class Lane:
    """A class: its name, its number of graphs, and whether its colour is the first or second."""

    name: str
    count: str
    kind: str

    def fitting(self, letters: int) -> str:
        """The name and the number in at most so many letters; the number is never cut."""
        return f"{cut_middle(self.name, letters - len(self.count) - 3)} ({self.count})"


@dataclass(frozen=True)
class Strip:
    """The strip of a story for a page."""

    subject: str
    same: Lane
    group: Lane
    rows: tuple[StripRow, ...]
    shaded: str
    caption: str
    more: str


@dataclass(frozen=True)
class SmallStrip:
    """The strip of a story for a table: its first places, and how many are left out."""

    same: str
    group: str
    rows: tuple[SmallRow, ...]
    more: str


@dataclass(frozen=True)
class StripContext(Context):
    """A strip by itself, as a fragment of HTML."""

    template: ClassVar = "strip.html.j2"
    strip: Strip | None
    small: SmallStrip | None


# ---- pages ----------------------------------------------------------------------------------


def make_strip(story: Story) -> Strip | None:
    """The strip of a story for a page; None if there is no reference."""
    if not story.reference:
        return None
    same, group = lanes_of(story)
    rows = []
    for place, name in list(zip(story.reference, place_titles(story), strict=True))[:ROWS]:
        low = None if place.low is None else _percent(place, place.low)
        rows.append(
            StripRow(
                name=name,
                alt=_alt(story, place, name),
                radius=diameter(place) / 2 - 0.5,
                same=_dots(place, place.same),
                group=_dots(place, place.group),
                low=low,
                width=0.0 if low is None else _width(place),
                median=None if place.median is None else _percent(place, place.median),
                labels=tuple(
                    Label(_percent(place, value), anchor, text)
                    for value, text, anchor in tick_marks(place)
                ),
                start=_percent(place, place.before),
                end=_percent(place, place.after),
                before=f"{place.before:,}",
                after=f"{place.after:,}",
                way=_way(place),
            )
        )
    shaded = ""
    if story.reference[0].low is not None:
        shaded = f"shaded: 95 % prediction interval of {members_words(story, group)}"
    more = left_out(story, ROWS)
    return Strip(story.subject, same, group, tuple(rows), shaded, _caption(story), more)


def make_small_strip(story: Story) -> SmallStrip | None:
    """The strip of a story for a table, with ticks instead of dots; None without a reference."""
    if not story.reference:
        return None
    same, group = lanes_of(story)
    rows = []
    for place, name in list(zip(story.reference, place_titles(story), strict=True))[:SMALL_ROWS]:
        pixels = {
            key: round(_percent(place, value) * _SMALL / 100)
            for key, value in (("start", place.before), ("end", place.after))
        }
        known = place.low is not None
        rows.append(
            SmallRow(
                alt=_alt(story, place, name),
                same=_ticks(place, place.same, 1),
                group=_ticks(place, place.group, 23),
                low=round(_percent(place, place.low or 0) * _SMALL / 100) if known else None,
                width=max(1, round(_width(place) * _SMALL / 100)) if known else 0,
                way=_way(place),
                **pixels,
            )
        )
    return SmallStrip(same.kind, group.kind, tuple(rows), left_out(story, SMALL_ROWS))


def strip_html(story: Story, *, small: bool = False) -> str:
    """The strip as a fragment of HTML; empty if there is no reference."""
    if not story.reference:
        return ""
    strip = None if small else make_strip(story)
    return StripContext(strip, make_small_strip(story) if small else None).render()


def _dots(place: PlaceReference, counts: Sequence[int]) -> tuple[Dot, ...]:
    at = [_percent(place, count) for count in counts]
    step = diameter(place)
    heights = spread([x * _PIXELS / 100 for x in at], step, _LANE - step)
    return tuple(Dot(x, round(y, 1)) for x, y in zip(at, heights, strict=True))


def _ticks(place: PlaceReference, counts: Sequence[int], top: int) -> str:
    at = sorted({round(_percent(place, count) * _SMALL / 100) for count in counts})
    return "".join(f"M{x} {top}v6" for x in at)


# ---- positions ------------------------------------------------------------------------------


def spread(at: Sequence[float], step: float, room: float) -> list[float]:
    """Offsets across a lane that keep dots apart: as near to the middle as there is room.

    Parameters
    ----------
    at : positions along the lane.
    step : the diameter of a dot.
    room : how far apart the outermost dots may be. Dots that do not fit overlap.

    >>> spread([0.0, 9.0, 9.0, 9.0], 4.0, 20.0)
    [0.0, 0.0, 4.0, -4.0]
    """
    if len(at) > _MANY:
        return _stacked(at, step, room)
    quarter = step / 4
    levels = [0.0]
    for k in range(1, int(room / 2 / quarter) + 1):
        levels += [k * quarter, -k * quarter]
    out = [0.0] * len(at)
    near: list[int] = []
    for i in sorted(range(len(at)), key=at.__getitem__):
        near = [j for j in near[-_NEAR:] if at[i] - at[j] < step]

        def apart(level: float, i: int = i, near: list[int] = near) -> float:
            return min((hypot(at[i] - at[j], level - out[j]) for j in near), default=step)

        free = (level for level in levels if apart(level) > 0.97 * step)
        best = next(free, None)
        out[i] = max(levels, key=apart) if best is None else best
        near.append(i)
    return out


def _stacked(at: Sequence[float], step: float, room: float) -> list[float]:
    """The same for many dots, faster: one column for each step."""
    columns = [round(x / step) for x in at]
    sizes, seen = Counter(columns), Counter[int]()
    out = []
    for column in columns:
        gap = min(step, room / max(1, sizes[column] - 1))
        out.append((seen[column] - (sizes[column] - 1) / 2) * gap)
        seen[column] += 1
    return out


def value_ends(place: PlaceReference) -> tuple[float, float]:
    """The smallest and the largest number of a place, never the same."""
    every = [*place.group, *place.same, place.before, place.after]
    every += [end for end in (place.low, place.high) if end is not None]
    low, high = min(every), max(every)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def axis_limits(low: float, high: float) -> tuple[float, float]:
    """The ends of the axis: with room at both sides, as on the page."""
    whole = (high - low) * 100 / ACROSS
    start = low - whole * _LEFT / 100
    return start, start + whole


def _percent(place: PlaceReference, value: float) -> float:
    low, high = value_ends(place)
    return round(_LEFT + ACROSS * (value - low) / (high - low), 2)


def _width(place: PlaceReference) -> float:
    """The width of the interval, in percent."""
    assert place.low is not None
    assert place.high is not None
    return round(_percent(place, place.high) - _percent(place, place.low), 2)


def _way(place: PlaceReference) -> str:
    if place.after == place.before:
        return "none"
    return "right" if place.after > place.before else "left"


def diameter(place: PlaceReference) -> float:
    """The diameter of a dot, in pixels; the larger of the two groups sets it."""
    largest = max(len(place.group), len(place.same))
    return 8.0 if largest <= _FEW else 6.5 if largest <= _MANY else 4.5


def tick_marks(place: PlaceReference) -> list[tuple[float, str, str]]:
    """The numbers below the axis: the ends of the interval and, if it fits, the median.

    Each is a value, its text, and which end of the text is there, so that two do not overlap.
    """
    low, middle, high = place.low, place.median, place.high
    if low is None or high is None:
        return [] if middle is None else [(middle, f"{middle:,.0f}", "middle")]
    ends = [(low, f"{low:,}"), (high, f"{high:,}")]
    width = _width(place)
    if width < _TWO:
        return [(*ends[0], "end"), (*ends[1], "start")]
    marks: list[tuple[float, str, str]] = [(*end, "middle") for end in ends]
    if middle is not None and width >= _THREE:
        apart = [abs(_percent(place, middle) - _percent(place, end)) for end in (low, high)]
        if min(apart) >= _TWO:
            marks.insert(1, (middle, f"{middle:,.0f}", "middle"))
    return marks


# ---- words ----------------------------------------------------------------------------------


def lanes_of(story: Story) -> tuple[Lane, Lane]:
    """The original's class and the new one; a class has the same colour in every story."""
    labels = list(story.class_names)
    before, after = story.result.label_before, story.claim.label
    first = before in labels and (after not in labels or labels.index(before) < labels.index(after))
    kinds = ("class-1", "class-2") if first else ("class-2", "class-1")
    place = story.reference[0]
    return (
        Lane(story.class_name(before), f"{len(place.same):,}", kinds[0]),
        Lane(story.class_name(after), f"{len(place.group):,}", kinds[1]),
    )


def place_titles(story: Story) -> list[str]:
    """The name of each place, as in the sentence."""
    known = dict(zip(story.claim.taxonomy.regions, readable(story.claim.taxonomy), strict=True))
    out = []
    for place in story.reference:
        names = list(dict.fromkeys(known.get(name, name) for name in place.place))
        within = len(place.place) == 2 and len(names) == 1
        out.append(f"within {names[0]}" if within else " – ".join(names))
    return out


def members_words(story: Story, lane: Lane, noun: str = "") -> str:
    """Which graphs a lane holds: ``mice classified as B6``, or those whose true class it is."""
    how = "whose true class is" if story.result.by_true_labels else "classified as"
    return f"{noun or story.vocabulary.members} {how} {lane.name}"


def _caption(story: Story) -> str:
    same, group = lanes_of(story)
    which = f"{members_words(story, group)} or {same.name}"
    text = f"Number of {story.vocabulary.units}. Each dot is one of the {which}. "
    if story.reference[0].group:
        text += f"Line: the median of {group.name}. "
    return f"{text}Arrow: {story.subject} before and after the change."


def left_out(story: Story, most: int) -> str:
    """How many places a strip leaves out; empty if none."""
    n = len(story.reference) - most
    return f"{n} more place{'' if n == 1 else 's'} not shown." if n > 0 else ""


def _alt(story: Story, place: PlaceReference, name: str) -> str:
    """The numbers of a row, in words."""
    same, group = lanes_of(story)
    text = f"{name}: {story.subject} has {place.before:,} before and {place.after:,} after. "
    for lane, counts in ((group, place.group), (same, place.same)):
        if not counts:
            what = "has the true class" if story.result.by_true_labels else "is classified as"
            text += f"No graph {what} {lane.name}. "
            continue
        middle = f"{sorted(counts)[len(counts) // 2]:,}"
        if lane is group and place.median is not None:
            middle = f"{place.median:,.0f}"
        text += (
            f"{lane.count} {lane.name} graph{'' if len(counts) == 1 else 's'}: median {middle}, "
            f"{min(counts):,} to {max(counts):,}"
        )
        if lane is group and place.low is not None:
            text += f", 95 % prediction interval {place.low:,} to {place.high:,}"
        text += ". "
    if place.in_range is None:
        return f"{text}Whether in range is not known."
    if place.is_out:
        return f"{text}Out of range."
    return f"{text}In range{', at the limit' if place.is_at_limit else ''}."
