"""The still pictures of the page: drawn, described in words, and inlined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from denseflip.errors import MissingExtraError
from denseflip.report.canvas import png_bytes, svg_text
from denseflip.report.comparison import plot_comparison
from denseflip.report.markup import data_uri, esc
from denseflip.report.plot import plot_connectome, plot_region_matrix, plot_regions
from denseflip.report.scene import Scene

if TYPE_CHECKING:
    from denseflip.story.story import Story

_SVG_LIMIT = 1_500_000  # characters; beyond, a bitmap is smaller and scrolls better


def story_figures(
    story: Story, scene: Scene, note: str, *, taxonomy: str | None, max_edges: int | None
) -> str:
    """The connectome, the bars and the matrix of one story, as figures with captions.

    ``scene`` is of all edits; ``note`` says which of them the connectome leaves out.
    """
    if not story.result.edits:
        return ""
    state = "" if story.result.found else " of the last graph tried, which did not flip the label"
    try:
        connectome = plot_connectome(story, taxonomy=taxonomy, max_edges=max_edges, title="")
    except MissingExtraError as error:
        return f'<p class="warning">There are no pictures on this page. {esc(error)}</p>'
    place = "on a glass brain" if scene.in_mni else "on a circle of nodes sorted by region"
    caption = f"The edits{state}, {place}: removed red and dashed, added blue and solid."
    if note:
        caption += f" {note}"
    parts = [
        _figure(connectome, f"{counts_words(scene)} {place}. {_busiest(scene)}", caption, "hero")
    ]
    if scene.has_regions:
        whole = "Ends of changed edges by region, in percent of the removed and of the added ones."
        bars = plot_regions(story, taxonomy=taxonomy, title="")
        matrix = plot_region_matrix(story, taxonomy=taxonomy, title="")
        parts.append(_figure(bars, f"Bar chart. {_busiest(scene)}", whole))
        between = "Changed edges between each two regions; within one region on the diagonal."
        parts.append(_figure(matrix, f"Two matrices, region by region. {_pairs(scene)}", between))
    return "\n".join(parts)


def comparison_figure(
    stories: Mapping[str, Story], *, taxonomy: str | None, max_edges: int | None
) -> str:
    """All methods side by side, as one figure."""
    try:
        picture = plot_comparison(stories, taxonomy=taxonomy, max_edges=max_edges, title="")
    except MissingExtraError:
        return ""
    words = "; ".join(
        f"{name}: {len(s.result.removed)} removed, {len(s.result.added)} added"
        for name, s in stories.items()
    )
    caption = "What each method changes, and where: the connectome above, its regions below."
    return _figure(picture, f"Comparison of methods. {words}.", caption, "hero")


def counts_words(scene: Scene) -> str:
    """How many edges are removed and added, in words."""
    return f"{_edges(scene.n_removed)} removed and {_edges(scene.n_added)} added"


def _edges(count: int) -> str:
    return f"{count:,} edge{'' if count == 1 else 's'}"


def _busiest(scene: Scene) -> str:
    """The regions with most changes, for readers who cannot see the picture."""
    if not scene.has_regions:
        return ""
    sentences = []
    for kind, pairs in (("removed", scene.removed), ("added", scene.added)):
        if pairs:
            ends = scene.endpoints(pairs)
            order = sorted(range(len(ends)), key=lambda r: (-ends[r], r))[:3]
            named = ", ".join(
                f"{scene.taxonomy.regions[r]} {100 * ends[r] / ends.sum():.0f} %"
                for r in order
                if ends[r]
            )
            sentences.append(f"Ends of {kind} edges: {named}.")
    return " ".join(sentences)


def _pairs(scene: Scene) -> str:
    names = scene.taxonomy.regions
    sentences = []
    for kind, pairs in (("removed", scene.removed), ("added", scene.added)):
        counts = scene.matrix(pairs)
        cells = [(int(counts[a, b]), a, b) for a in range(len(names)) for b in range(a + 1)]
        top = [c for c in sorted(cells, key=lambda c: (-c[0], c[1:]))[:3] if c[0]]
        if top:
            said = ", ".join(
                f"{n} {'within ' + names[a] if a == b else names[b] + ' – ' + names[a]}"
                for n, a, b in top
            )
            sentences.append(f"Most {kind}: {said}.")
    return " ".join(sentences)


def _figure(figure: Any, alt: str, caption: str, kind: str = "") -> str:
    drawn = svg_text(figure)
    if len(drawn) <= _SVG_LIMIT:
        source = data_uri(drawn, "image/svg+xml")
    else:
        source = data_uri(png_bytes(figure), "image/png")
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    image = f'<img src="{source}" alt="{esc(alt.strip())}" width="{width}" height="{height}">'
    return (
        f'<figure class="{kind}"><div class="scroll-x">{image}</div>'
        f"<figcaption>{esc(caption)}</figcaption></figure>"
    )
