"""All methods side by side: the paper's figure, a connectome above and its bars below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from denseflip.errors import InvalidParameterError
from denseflip.graph import Nodes, Taxonomy
from denseflip.report.brain import check_views, draw_glass, views_aspect
from denseflip.report.canvas import (
    NARROW,
    NOTE,
    need,
    new_figure,
    note_lines,
    region_handles,
    save_figure,
    style,
    words,
    write_headline,
)
from denseflip.report.circle_drawing import draw_circle
from denseflip.report.palette import ADDED, QUIET, REMOVED_INK
from denseflip.report.region_charts import bar_regions, bar_table, draw_bars
from denseflip.report.scene import MAX_EDGES, Scene, as_story, make_scene, status_words

if TYPE_CHECKING:
    from denseflip.story.story import Story

COLUMNS = 3
_BAR_ROWS = 8
_WIDTH = 3.3  # inches of one column


def plot_comparison(
    stories: Sequence[Story | Any] | Mapping[str, Story | Any],
    *,
    nodes: Nodes | None = None,
    regions: str | Taxonomy | None = None,
    max_edges: int | None = MAX_EDGES,
    views: str = "z",
    columns: int = COLUMNS,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    narrow: bool = False,
    by_size: bool = False,
) -> Any:
    """Draw several explanations of one graph side by side.

    Parameters
    ----------
    stories : one story per method, the result of `compare`, or a mapping from names to stories.
        Results of `explain` are accepted together with their ``nodes``.
    nodes : as in `plot_connectome`, for all results.
    views, regions, max_edges : as in `plot_connectome`; the default view is from above.
    columns : maximum number of figures per row.
    title, path, force : as in `plot_connectome`.
    narrow : lay it out for a phone: two per row, without the bars.
    by_size : divide the bars by the size of their regions, as in `plot_regions`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    named = name_stories(stories, nodes)
    check_views(views)
    if isinstance(columns, bool) or columns < 1:
        msg = f"columns must be 1 or more; got {columns!r}."
        raise InvalidParameterError(msg)
    need("matplotlib")
    regions = regions or shared_regions(named)
    scenes = {
        name: make_scene(story, regions=regions, max_edges=max_edges, title=name)
        for name, story in named.items()
    }
    everything = {name: make_scene(story, regions=regions) for name, story in named.items()}
    first = next(iter(scenes.values()))
    if first.in_mni:
        need("nilearn")
    columns = min(2 if narrow else columns, len(scenes))
    across = NARROW / 2 if narrow else _WIDTH  # inches of one column
    rows = -(-len(scenes) // columns)
    picture = across * min(views_aspect(views), 1.15) if first.in_mni else across
    shown = bar_regions(list(everything.values()), _BAR_ROWS, by_size=by_size)
    with_bars = first.has_regions and not narrow
    bars = 0.3 * min(len(shown) + 1, _BAR_ROWS) + 0.4 if with_bars else 0.0
    cell = 0.5 + picture + bars + (0.15 if narrow else 0.35)
    with style():
        handles = region_handles(first) if first.has_regions else []
        width = NARROW if narrow else columns * _WIDTH + (1.0 if columns == 1 else 0.0)
        per_row = max(
            1, int(width / (0.078 * max([8, *(len(h.get_label()) for h in handles)]) + 0.4))
        )
        legend = 0.21 * -(-len(handles) // per_row) + 0.15 if handles else 0.1
        notes = [
            line
            for name, scene in scenes.items()
            if scene.note
            for line in note_lines(f"{name}: {scene.note}", width)
        ]
        head, foot = 0.42 if title != "" else 0.08, 0.12 + 0.18 * len(notes)
        height = head + legend + rows * cell + foot
        figure = new_figure(width, height)
        write_headline(figure, title if title is not None else _title(named))
        if handles:
            figure.legend(
                handles=handles, loc="center", ncols=min(per_row, len(handles)), fontsize=8.5,
                frameon=False, columnspacing=1.2, handletextpad=0.3,
                bbox_to_anchor=(0.5, 1 - (head + legend / 2) / height),
            )  # fmt: skip
        for i, (name, scene) in enumerate(scenes.items()):
            left = (i % columns) * width / columns
            top = height - head - legend - (i // columns) * cell
            base = _picture(figure, scene, named[name], (left, top), (across, picture), views)
            if bars:
                _bars(figure, everything[name], shown, (left, base), bars, by_size=by_size)
        for k, note in enumerate(notes):
            place = (foot - 0.15 - 0.18 * k) / height
            figure.text(0.5, place, words(note), ha="center", fontsize=NOTE, color=QUIET)
    return save_figure(figure, path, force=force)


def _picture(
    figure: Any,
    scene: Scene,
    story: Story,
    corner: tuple[float, float],
    room: tuple[float, float],
    views: str,
) -> float:
    """Draw one connectome with its name and counts below ``corner``; return its lower end."""
    width, height = figure.get_size_inches()
    left, top = corner
    across, size = room
    middle = (left + across / 2) / width
    bold = {"va": "center", "weight": "bold"}
    name = words(scene.title, int(11 * across))
    figure.text(middle, (top - 0.12) / height, name, ha="center", fontsize=10, **bold)
    line = (top - 0.34) / height
    counts = {"fontsize": 9, **bold}
    gap = 0.1 / width
    removed, added = f"REM {scene.n_removed}", f"ADD {scene.n_added}"
    figure.text(middle - gap, line, removed, ha="right", color=REMOVED_INK, **counts)
    figure.text(middle + gap, line, added, ha="left", color=ADDED, **counts)
    base = top - 0.5 - size
    host = figure.add_axes(
        ((left + 0.1) / width, base / height, (across - 0.2) / width, size / height)
    )
    if scene.in_mni:
        draw_glass(host, scene, views=views, labels=False)
    else:
        draw_circle(host, scene, labels=False, names=False)
    if not story.result.found:
        note = status_words(story)
        place = (base - 0.03) / height
        figure.text(middle, place, note, ha="center", va="center", fontsize=8.5, color=QUIET)
    return float(base)


def _bars(
    figure: Any,
    scene: Scene,
    regions: list[int],
    corner: tuple[float, float],
    size: float,
    *,
    by_size: bool,
) -> None:
    width, height = figure.get_size_inches()
    left, top = corner
    names, _ = bar_table(scene, regions)
    margin = min(0.07 * max(len(n) for n in names) + 0.2, 1.78) if names else 0.2
    place = (left + margin, top - size + 0.2, _WIDTH - margin - 0.15, size - 0.35)
    axes = figure.add_axes(
        (place[0] / width, place[1] / height, place[2] / width, place[3] / height)
    )
    draw_bars(axes, scene, regions, rows=len(regions), compact=True, by_size=by_size)


def name_stories(
    stories: Sequence[Story | Any] | Mapping[str, Story | Any], nodes: Nodes | None = None
) -> dict[str, Story]:
    """Stories by the name of their method, or by the given names.

    Rows of a comparison whose method does not apply are left out.
    """
    if isinstance(stories, Mapping):
        named = {str(name): as_story(one, nodes) for name, one in stories.items()}
    elif not isinstance(stories, Iterable) or isinstance(stories, str):
        msg = (
            "A comparison needs several stories: plot_comparison([story, other]); got "
            f"{type(stories).__name__}."
        )
        raise InvalidParameterError(msg)
    else:
        named = {}
        for one in stories:
            if getattr(one, "story", one) is None:
                continue
            story = as_story(one, nodes)
            name = story.result.method or "unnamed"
            same = sum(1 for k in named if k == name or k.startswith(f"{name} ("))
            named[f"{name} ({same + 1})" if same else name] = story
    if not named:
        msg = "A comparison needs at least one story; got none."
        raise InvalidParameterError(msg)
    return named


def shared_regions(named: Mapping[str, Story]) -> Taxonomy | None:
    """Regions for all stories: those that all of them use, else the first of the node table.

    Stories may use different regions, or nodes; side by side they need the same regions.
    """
    first, *rest = named.values()
    if all(story.taxonomy == first.taxonomy for story in rest) or not first.nodes.regions:
        return first.taxonomy
    return first.nodes.taxonomy()


def _title(named: Mapping[str, Story]) -> str:
    subjects = list(dict.fromkeys(str(story.subject) for story in named.values()))
    return f"{subjects[0]}: what each method changes" if len(subjects) == 1 else "Comparison"
