"""The reference strip as a figure: what real graphs have in each place that a sentence names."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from denseflip.errors import InvalidParameterError, MissingInputError
from denseflip.report.canvas import (
    NARROW,
    need,
    new_figure,
    note_lines,
    save_figure,
    style,
    words,
    write_headline,
)
from denseflip.report.html import cut_middle
from denseflip.report.palette import AXIS, CLASSES, INK, PAPER, QUIET, RANGE
from denseflip.report.scene import as_story, headline
from denseflip.report.strip_layout import (
    ACROSS,
    ROWS,
    Lane,
    axis_limits,
    diameter,
    lanes_of,
    left_out,
    members_words,
    place_titles,
    spread,
    tick_marks,
    value_ends,
)

if TYPE_CHECKING:
    from denseflip.search.claims.reference import PlaceReference
    from denseflip.story.story import Story

_WIDE = 7.2  # inches: two columns of a journal
_BODY, _GAP = 0.95, 0.34  # inches: the height of a row, and what is below it
_COLOURS = dict(zip(("class-1", "class-2"), CLASSES, strict=True))


def plot_reference(
    story: Story | Any,
    *,
    top: int = ROWS,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    narrow: bool = False,
) -> Any:
    """Draw what real graphs have in each place that the sentence names.

    Every graph of the background is a dot, in the lane of the class that the classifier gives it.
    The 95 % prediction interval of the new class is shaded, a line marks its median, and an arrow
    leads from the number of edges before the change to the number after it.

    Parameters
    ----------
    story : the result of `describe` with a background.
    top : maximum number of places; the figure says how many are left out.
    title, path, force, narrow : as in `plot_connectome`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidParameterError
        If ``top`` is less than 1.
    MissingInputError
        If the story has no reference: it was described without a background, found nothing, or
        lists single pairs.
    """
    story = as_story(story)
    if not story.reference:
        msg = (
            "This story has no reference graphs to draw. Describe it with a background, as in "
            "describe(result, nodes, oracle, background=dataset.graphs). A list of single pairs "
            "has none."
        )
        raise MissingInputError(msg, parameter="background")
    if isinstance(top, bool) or top < 1:
        msg = f"top must be a number of places, 1 or more; got {top!r}."
        raise InvalidParameterError(msg)
    need("matplotlib")
    across = NARROW if narrow else _WIDE
    title = headline(story) if title is None else title
    with style():
        names = [note_lines(name, across)[:2] for name in place_titles(story)[:top]]
        same, group = lanes_of(story)
        letters, size = (14, 7.5) if narrow else (28, 8.5)
        forms = (group.fitting, partial(cut_middle, story.subject), same.fitting)
        wrapped = [_two_lines(fitting, letters) for fitting in forms]
        margin = 0.0095 * size * max(len(line) for lines in wrapped for line in lines) + 0.15
        lanes = ["\n".join(map(words, lines)) for lines in wrapped]
        headings = [0.17 * len(lines) + 0.08 for lines in names]
        handles = _handles(story, same, group)
        columns = 1 if narrow else 2
        foot = 0.45 + 0.19 * -(-len(handles) // columns)
        head = 0.45 if title else 0.1
        height = head + sum(headings) + len(names) * (_BODY + _GAP) - _GAP + foot
        figure = new_figure(across, height)
        write_headline(figure, title)
        y = height - head
        for place, lines, heading in zip(story.reference[:top], names, headings, strict=True):
            text = "\n".join(map(words, lines))
            figure.text(0.1 / across, y / height, text, va="top", fontsize=9, weight="bold")
            y -= heading + _BODY
            box = (margin / across, y / height, 1 - (margin + 0.1) / across, _BODY / height)
            axes = figure.add_axes(box)
            _draw_row(axes, place, (group.kind, same.kind), across - margin - 0.1)
            axes.set_yticks([0, 1, 2], lanes, fontsize=size, linespacing=0.95)
            y -= _GAP
        axes.set_xlabel(f"number of {story.vocabulary.units}", fontsize=8.5)
        if more := left_out(story, top):
            corner = (1 - 0.1 / across, (foot - 0.42) / height)
            figure.text(*corner, more, ha="right", fontsize=8, color=QUIET)
        figure.legend(
            handles=handles, loc="lower left", ncols=columns, frameon=False, fontsize=size - 0.5,
            bbox_to_anchor=(0.1 / across, 0), borderaxespad=0.2, handlelength=2.4,
        )  # fmt: skip
    return save_figure(figure, path, force=force)


def _two_lines(fitting: Callable[[int], str], letters: int) -> list[str]:
    """A text in at most two lines, which break between words; ``fitting`` shortens it."""
    for most in range(2 * letters - 4, letters, -1):
        lines = textwrap.wrap(fitting(most), letters)
        if len(lines) <= 2:
            return lines
    return [fitting(letters)]


def _draw_row(axes: Any, place: PlaceReference, kinds: tuple[str, str], inches: float) -> None:
    """Draw one place: the graphs of the new class below, the arrow, those of the old one above."""
    low, high = value_ends(place)
    axes.set_xlim(*axis_limits(low, high))
    axes.set_ylim(-0.6, 2.6)
    points = 72 * inches * ACROSS / 100 / (high - low)  # per edge
    for lane, counts, kind in zip((0, 2), (place.group, place.same), kinds, strict=True):
        step = diameter(place) * 0.75  # pixels of a screen to points
        heights = spread([points * count for count in counts], step, 72 * _BODY / 3.5 - step)
        axes.scatter(
            counts, [lane + y * 3.2 / (72 * _BODY) for y in heights], s=step**2, zorder=3,
            gid="group" if lane == 0 else "same", linewidths=(0.5 if lane == 0 else 0.8) * step / 6,
            edgecolors=PAPER if lane == 0 else _COLOURS[kind],
            facecolors=_COLOURS[kind] if lane == 0 else PAPER,
        )  # fmt: skip
    if place.low is not None and place.high is not None:
        axes.axvspan(place.low, place.high, ymax=0.66, color=RANGE, lw=0, zorder=0, gid="interval")
    if place.median is not None:
        axes.plot(
            [place.median] * 2, [-0.78, 0.6], color=INK, lw=1.6, zorder=2, clip_on=False,
            gid="median",
        )  # fmt: skip
    right = place.after >= place.before
    axes.plot(place.before, 1, marker="o", ms=5, color=INK, mfc=PAPER, zorder=4, gid="before")
    axes.annotate(
        "", xy=(place.after, 1), xytext=(place.before, 1), zorder=3, gid="arrow",
        arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.6, "shrinkA": 2.5, "shrinkB": 0,
                    "mutation_scale": 11},
    )  # fmt: skip
    for value, to_right in ((place.before, not right), (place.after, right)):
        axes.annotate(
            f"{value:,}", (value, 1), xytext=(6 if to_right else -6, 0), fontsize=8.5,
            ha="left" if to_right else "right", va="center", textcoords="offset points",
            weight="bold" if to_right == right else "normal",
        )  # fmt: skip
    marks = tick_marks(place)
    axes.set_xticks([mark[0] for mark in marks], [mark[1] for mark in marks], fontsize=8)
    for (_, _, at), label in zip(marks, axes.get_xticklabels(), strict=True):
        label.set_horizontalalignment({"start": "left", "middle": "center", "end": "right"}[at])
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", length=3, color=AXIS)
    axes.spines[["left", "right", "top"]].set_visible(False)


def _handles(story: Story, same: Lane, group: Lane) -> list[Any]:
    """The entries of the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Line2D(
            [], [], ls="", marker="o", ms=5, color=_COLOURS[lane.kind], mew=0.8,
            mfc=_COLOURS[lane.kind] if lane is group else PAPER,
            label=words(members_words(story, lane, "a graph"), 60),
        )
        for lane in (same, group)
    ]  # fmt: skip
    if story.reference[0].low is not None:
        handles.append(Patch(facecolor=RANGE, label="95 % prediction interval of the filled dots"))
    if story.reference[0].group:
        handles.append(Line2D([], [], color=INK, lw=1.6, label="median of the filled dots"))
    text = words(f"{story.subject} before and after", 60)
    arrow = Line2D([], [], color=INK, lw=1.6, marker=">", markevery=[-1], ms=5, label=text)
    return [*handles, arrow]
