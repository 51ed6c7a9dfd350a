"""The static figures of the page: drawn, described for screen readers, and embedded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from denseflip.graph import Taxonomy
from denseflip.report.canvas import png_bytes, svg_text
from denseflip.report.circle import circle_layout
from denseflip.report.comparison import plot_comparison
from denseflip.report.html import data_uri
from denseflip.report.plot import plot_connectome, plot_region_matrix, plot_regions
from denseflip.report.ribbons import has_ribbons
from denseflip.report.scene import Scene
from denseflip.report.small_svg import small_svg, svg_uri

if TYPE_CHECKING:
    from denseflip.story.story import Story

PHONE = 600  # pixels; narrower screens get the narrow figures, as in page.css
BARS_FROM, MATRIX_FROM = 3, 2  # regions, and region pairs, that a chart needs to inform
MOST_NODES = 2000  # of a picture by node; larger graphs are drawn by region
_SVG_LIMIT = 300_000  # characters; above, a bitmap is smaller and scrolls better


@dataclass(frozen=True)
class DrawnFigure:
    """An image as a ``data:`` URL, and its size in pixels."""

    source: str
    width: int
    height: int


@dataclass(frozen=True)
class PageFigure:
    """A figure for wide screens and paper, its version for phones if any, and its texts."""

    wide: DrawnFigure
    narrow: DrawnFigure | None
    alt: str
    caption: str
    phone: int = PHONE


def story_figures(
    story: Story,
    scene: Scene,
    note: str,
    *,
    regions: str | Taxonomy | None,
    max_edges: int | None,
    narrow: bool = True,
) -> tuple[PageFigure | None, tuple[PageFigure, ...]]:
    """The connectome of one story, and the charts that say more than its sentence.

    Bars need at least three regions with edits, a matrix at least two region pairs. ``scene`` has
    all edits; ``note`` says which of them the connectome leaves out. ``narrow`` adds the charts'
    versions for phones. A graph of more than 2,000 nodes is drawn by region: its matrix takes the
    place of the connectome.

    Raises
    ------
    MissingExtraError
        If the plotting packages are not installed.
    """
    if not story.result.edits:
        return None, ()
    same: dict[str, Any] = {"regions": regions, "title": ""}
    state = "" if story.result.found else " of the last graph tried, which did not flip the label"
    circle = "on a circle of nodes" + (" sorted by region" if scene.has_regions else "")
    place = "on a glass brain" if scene.in_mni else circle
    caption = f"The edits{state}, {place}: removed red and dashed, added blue and solid."
    if not scene.in_mni and has_ribbons(scene, circle_layout(scene)):
        caption += " A ribbon stands for all edits between two regions; its width is their number."
    elif note:
        caption += f" {note}"
    large = story.result.original.n_nodes > MOST_NODES
    connectome = None
    if not large:
        drawn = [plot_connectome(story, max_edges=max_edges, **same)]
        alt = f"{counts_words(scene)} {place}. {_busiest(scene)}"
        connectome = page_figure(drawn, alt, caption)
    parts, forms = [], (False, True) if narrow else (False,)
    if scene.has_regions and (scene.ends > 0).sum() >= BARS_FROM:
        whole = "Ends of changed edges by region, in percent of all removed and all added edges."
        bars = [plot_regions(story, narrow=n, **same) for n in forms]
        parts.append(page_figure(bars, f"Bar chart. {_busiest(scene)}", whole))
    pairs = scene.cells.tally([*scene.removed, *scene.added]) if scene.has_regions else ()
    if len(pairs) >= (1 if large else MATRIX_FROM):
        matrix = [plot_region_matrix(story, narrow=n, **same) for n in forms]
        between = "Changed edges for each region pair; within one region on the diagonal."
        figure = page_figure(matrix, f"Two matrices, region by region. {_pairs(scene)}", between)
        if large:
            return figure, tuple(parts)
        parts.append(figure)
    return connectome, tuple(parts)


def comparison_figure(
    stories: Mapping[str, Story],
    what: str = "method",
    *,
    regions: str | Taxonomy | None,
    max_edges: int | None,
) -> PageFigure:
    """All methods (or classifiers) side by side, as one figure."""
    pictures = [
        plot_comparison(stories, regions=regions, max_edges=max_edges, title="", narrow=n)
        for n in (False, True)
    ]
    words = "; ".join(
        f"{name}: {len(s.result.removed)} removed, {len(s.result.added)} added"
        for name, s in stories.items()
    )
    verb = "changes" if what == "method" else "takes"
    caption = f"What each {what} {verb}, and where. On a wide screen also by region, as bars."
    return page_figure(pictures, f"Comparison of {what}s. {words}.", caption)


def counts_words(scene: Scene) -> str:
    """The numbers of removed and added edges, in words."""
    return f"{_edges(scene.n_removed)} removed and {_edges(scene.n_added)} added"


def _edges(count: int) -> str:
    return f"{count:,} edge{'' if count == 1 else 's'}"


def _busiest(scene: Scene) -> str:
    """The regions with most changes, for screen readers."""
    if not scene.has_regions:
        return ""
    sentences = []
    for kind, pairs in (("removed", scene.removed), ("added", scene.added)):
        if pairs:
            ends = scene.cells.ends(pairs)
            order = sorted(range(len(ends)), key=lambda r: (-ends[r], r))[:3]
            named = ", ".join(
                f"{scene.taxonomy.regions[r]} {100 * ends[r] / ends.sum():.0f} %"
                for r in order
                if ends[r]
            )
            sentences.append(f"Ends of {kind} edges: {named}.")
    return " ".join(sentences)


def _pairs(scene: Scene) -> str:
    """The region pairs with most changes, for screen readers."""
    sentences = []
    for kind, pairs in (("removed", scene.removed), ("added", scene.added)):
        fullest = list(scene.cells.tally(pairs).items())[:3]
        if fullest:
            said = ", ".join(
                f"{count} {'within ' if a == b else ''}{scene.cells.name((a, b))}"
                for (a, b), count in fullest
            )
            sentences.append(f"Most {kind}: {said}.")
    return " ".join(sentences)


def page_figure(pictures: list[Any], alt: str, caption: str) -> PageFigure:
    """Draw a figure, wide and if given narrow, ready for a page."""
    wide, *narrow = map(_drawn, pictures)
    return PageFigure(wide, narrow[0] if narrow else None, alt.strip(), caption)


def _drawn(figure: Any) -> DrawnFigure:
    width, height = figure.get_size_inches()
    return DrawnFigure(_source(figure), round(96 * width), round(96 * height))


def _source(figure: Any) -> str:
    """An image as a ``data:`` URL: SVG, or a bitmap if the SVG is too large."""
    drawn = small_svg(svg_text(figure))
    if len(drawn) <= _SVG_LIMIT:
        return svg_uri(drawn)
    return data_uri(png_bytes(figure, dpi=200 if figure.get_figwidth() < 5 else 130), "image/png")
