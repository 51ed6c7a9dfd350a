"""Shared parts of all static figures: the figure, headline, legend and note, edges and nodes.

Figures are created without pyplot, so none stays open and no display is needed.
"""

from __future__ import annotations

import importlib
import io
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.checks import check_new_file
from denseflip.errors import InvalidParameterError, MissingExtraError
from denseflip.report.palette import ADDED, AXIS, INK, PAPER, QUIET, REMOVED, REMOVED_DASH
from denseflip.report.scene import Scene

FORMATS = ("png", "svg", "pdf")
NARROW = 3.55  # inches: the width of a phone, where letters of 8 points are ten pixels high
NOTE = 8.5  # points
_LEGEND = 23  # regions listed at most


def need(*packages: str) -> None:
    """Raise an error that names the extra if a package is not installed."""
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise MissingExtraError(package, "brain") from error


def new_figure(width: float, height: float) -> Any:
    """An empty white figure, in inches; notebooks display it although pyplot does not manage it."""
    need("matplotlib")
    return _figure_class()(figsize=(width, height), facecolor=PAPER)


@cache
def _figure_class() -> Any:
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A matplotlib figure that shows itself at the end of a notebook cell."""

        def _repr_png_(self) -> bytes:
            return _saved(self, format="png", dpi=110)

    return Picture


def style() -> Any:
    """The typographic settings of all pictures, as a context."""
    import matplotlib as mpl

    return mpl.rc_context(
        {
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans"],  # ships with matplotlib: the same everywhere
            "font.size": 9,
            "text.color": INK,
            "axes.edgecolor": AXIS,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "hatch.linewidth": 0.7,
            "svg.hashsalt": "denseflip",
            "svg.fonttype": "path",
            "pdf.fonttype": 42,  # embedded as TrueType, as journals ask
        }
    )


def words(text: str, limit: int = 200) -> str:
    """Prepare a text from data for matplotlib: no formulas, one line, limited length.

    >>> words("costs $5"), words("a rather long name", 10)
    ('costs \\\\$5', 'a rather …')
    """
    line = " ".join(str(text).split())
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + " …"
    line = line.replace("$", r"\$")
    return f" {line}" if line.startswith("_") else line  # legends ignore names that start with "_"


def save_figure(
    figure: Any, path: str | Path | None, *, force: bool = False, dpi: int = 300
) -> Any:
    """Write the figure if a path is given, and return it."""
    if path is None:
        return figure
    target = Path(path)
    kind = target.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        msg = (
            f"{target}: figures can be written as {', '.join('.' + f for f in FORMATS)}; "
            f"got {target.suffix!r}. Change the file extension."
        )
        raise InvalidParameterError(msg)
    check_new_file(target, force=force)
    # No date in the metadata, so that the same story gives the same file.
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with style():
        figure.savefig(target, dpi=dpi, metadata=metadata[kind], facecolor=PAPER)
    return figure


def svg_text(figure: Any) -> str:
    """The figure as SVG."""
    written = io.StringIO()  # with bytes, each of thousands of short texts is encoded by itself
    with style():
        figure.savefig(written, format="svg", metadata={"Date": None}, facecolor=PAPER)
    return written.getvalue()


def _saved(figure: Any, **how: Any) -> bytes:
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, **how)
    return buffer.getvalue()


def png_bytes(figure: Any, dpi: int = 130) -> bytes:
    """The figure as a small PNG: 256 colours are enough for lines on white."""
    from PIL import Image

    drawn = _saved(figure, format="png", dpi=dpi, metadata={"Software": None})
    small = io.BytesIO()
    octree = Image.Quantize.FASTOCTREE  # keeps rare colours, such as those of small regions
    picture = (
        Image.open(io.BytesIO(drawn)).convert("RGB").quantize(256, octree, dither=Image.Dither.NONE)
    )
    picture.save(small, format="PNG", optimize=True)
    return small.getvalue()


# ---- headline, legend and note ------------------------------------------------------------


def write_headline(figure: Any, title: str) -> None:
    """Write a title at the top: one line, or two smaller ones."""
    if not title:
        return
    width = figure.get_figwidth()
    size = next((s for s in (11, 9) if len(title) * s * 0.0088 < width), 8)
    lines = textwrap.wrap(title, max(20, int(width / (size * 0.0088))))
    top = 1 - 0.21 / figure.get_figheight()
    text = "\n".join(words(line) for line in lines[:2])
    figure.text(0.5, top, text, ha="center", va="center", fontsize=size, weight="bold")


def framed(scene: Scene, width: float, body: float, *, regions: bool = True) -> tuple[Any, Any]:
    """A figure with headline, legend and note around an empty area of ``body`` inches."""
    handles = region_handles(scene) if regions and scene.has_regions else []
    longest = max((len(h.get_label()) for h in handles), default=1)
    columns = max(1, min(len(handles), int((width - 0.3) / (0.075 * longest + 0.4))))
    rows = -(-len(handles) // columns) if handles else 0
    lines = note_lines(scene.note, width)
    note = 0.17 * len(lines) + 0.08 if lines else 0.0
    bottom = 0.36 + 0.22 * rows + note
    head = 0.42 if scene.title else 0.08
    height = body + bottom + head
    figure = new_figure(width, height)
    host = figure.add_axes((0.15 / width, bottom / height, 1 - 0.3 / width, body / height))
    write_headline(figure, scene.title)
    place = {"frameon": False, "handletextpad": 0.5, "columnspacing": 1.4, "borderpad": 0.1}
    figure.legend(
        handles=edge_handles(scene), loc="center", ncols=2, fontsize=10, handlelength=3.2,
        bbox_to_anchor=(0.5, (bottom - 0.16) / height), **place,
    )  # fmt: skip
    if handles:
        figure.legend(
            handles=handles, loc="center", ncols=columns, fontsize=8.5,
            bbox_to_anchor=(0.5, (note + 0.04 + 0.11 * rows) / height), **place,
        )  # fmt: skip
    if lines:
        figure.text(
            0.5, 0.06 / height, "\n".join(lines), ha="center", va="bottom", fontsize=NOTE,
            color=QUIET,
        )  # fmt: skip
    return figure, host


def note_lines(note: str, width: float) -> list[str]:
    """Wrap a note to the width of a figure, in inches."""
    return textwrap.wrap(note, max(24, int((width - 0.2) / (NOTE * 0.0083))))


def inside(ax: Any, scene: Scene) -> None:
    """Add headline, legend and note to axes of the caller."""
    ax.set_title(words(scene.title), fontsize=10)
    ax.legend(
        handles=edge_handles(scene), loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=2,
        frameon=False, fontsize=8,
    )  # fmt: skip
    if scene.note:
        ax.text(0.5, -0.1, scene.note, transform=ax.transAxes, ha="center", fontsize=7, color=QUIET)


def edge_handles(scene: Scene) -> list[Any]:
    """Legend entries for the two kinds of edit, with the counts of all edits."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=REMOVED, linestyle=REMOVED_DASH, lw=2, label=f"REM {scene.n_removed}"),
        Line2D([], [], color=ADDED, lw=2, label=f"ADD {scene.n_added}"),
    ]


def region_handles(scene: Scene) -> list[Any]:
    """Legend entries for the regions; if there are many, those with most changes."""
    from matplotlib.lines import Line2D

    total = scene.ends
    shown = list(range(len(total)))
    if len(shown) > _LEGEND:
        shown = sorted(sorted(shown, key=lambda r: (-total[r], r))[:_LEGEND])
    handles = [
        Line2D(
            [],
            [],
            color=scene.colours[r],
            marker=scene.markers[r],
            ls="",
            ms=6,
            mec=INK,
            mew=0.5,
            label=words(scene.taxonomy.regions[r], 40),
        )
        for r in shown
    ]
    if len(shown) < len(total):
        text = f"and {len(total) - len(shown)} other regions"
        handles.append(Line2D([], [], ls="", label=text))
    return handles


# ---- edges and nodes ----------------------------------------------------------------------


def line_style(n_edges: int) -> tuple[float, float]:
    """Line width and opacity: bold for few edges, thin and transparent for many."""
    width = float(np.clip(7.0 / np.sqrt(n_edges + 8), 0.5, 2.0))
    return width, float(np.clip(1.05 - 0.1 * np.log10(n_edges + 1) ** 1.6, 0.5, 0.95))


def draw_edges(ax: Any, segments: dict[str, npt.NDArray[np.float64]]) -> None:
    """Draw removed pairs as dashed red lines and added ones as solid blue; one collection each.

    ``segments`` has two points per straight line, or three per curve (the middle one is the control
    point).
    """
    width, opacity = line_style(sum(len(s) for s in segments.values()))
    for kind in ("added", "removed"):
        if len(segments[kind]):
            draw_kind(ax, kind, segments[kind], width, opacity)


def draw_kind(
    ax: Any, kind: str, segments: npt.NDArray[np.float64], widths: Any, opacity: float
) -> Any:
    """Draw lines or curves of one kind of edit, as `draw_edges` does; return their collection.

    ``widths`` is one width in points, or one for each; dashes of wide lines keep a readable length.
    """
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

    looks: dict[str, dict[str, Any]] = {
        "added": {"edgecolors": ADDED, "linestyles": "solid", "zorder": 2},
        "removed": {"edgecolors": REMOVED, "linestyles": [REMOVED_DASH], "zorder": 3},
    }
    look = looks[kind]
    if kind == "removed" and np.ndim(widths):  # matplotlib multiplies dashes by the width
        on, off = np.clip(0.4 * widths, 2.5, 5), np.clip(0.25 * widths, 1.7, 2.5)
        look["linestyles"] = [(0, (a, b)) for a, b in zip(on / widths, off / widths, strict=True)]
    curved = segments.shape[1] == 3
    codes = [Path.MOVETO, Path.CURVE3, Path.CURVE3] if curved else None
    lines = PathCollection(
        [Path(points, codes) for points in segments],
        facecolors="none",
        linewidths=widths,
        alpha=opacity,
        joinstyle="round",
        **look,
    )
    lines.set_gid(kind)
    return ax.add_collection(lines, autolim=False)


def draw_nodes(ax: Any, scene: Scene, *places: npt.NDArray[np.float64], scale: float = 1.0) -> None:
    """Draw nodes in the colour of their region; larger with more changes, faint without any.

    ``places`` are the positions of all nodes, several times where they are seen from several sides.
    """
    changes, index = scene.changes, scene.taxonomy.array
    for region in range(len(scene.taxonomy.regions)):
        members = scene.taxonomy.members(region)
        quiet = members[changes[members] == 0]
        if len(quiet):  # with one shape and one size, a file holds the shape once
            size, colour = np.array([9 * scale]), scene.colours[region]
            look = {"facecolors": colour, "edgecolors": "face", "alpha": 0.45, "linewidths": 0}
            dots = np.concatenate([at[quiet] for at in places])
            _dots(ax, dots, [scene.markers[region]], size, zorder=4, **look)
    busy = np.flatnonzero(changes > 0)
    busy = busy[np.argsort(index[busy], kind="stable")]  # region by region: later ones on top
    if len(busy):
        top = max(int(changes.max(initial=0)), 1)
        # Shapes, sizes and colours are used again for the next positions.
        _dots(
            ax,
            np.concatenate([at[busy] for at in places]),
            [scene.markers[region] for region in index[busy]],
            scale * (16 + 44 * np.sqrt(changes[busy] / top)),
            facecolors=[scene.colours[region] for region in index[busy]],
            edgecolors=INK,
            linewidths=0.5 * scale**0.5,
            zorder=5,
        )


def _dots(
    ax: Any,
    places: npt.NDArray[np.float64],
    markers: list[str],
    sizes: npt.NDArray[np.float64],
    **look: Any,
) -> None:
    """Draw markers as one collection; ``Axes.scatter``, region by region, takes far longer.

    ``sizes`` are areas in square points, one for each place or one for all, as are ``markers``.
    """
    from matplotlib.collections import PathCollection
    from matplotlib.transforms import IdentityTransform

    dots = PathCollection(
        [_marker_path(marker) for marker in markers],
        sizes,
        offsets=places,
        offset_transform=ax.transData,
        **look,
    )
    dots.set_transform(IdentityTransform())
    ax.add_collection(dots, autolim=False)


@cache
def _marker_path(marker: str) -> Any:
    from matplotlib.markers import MarkerStyle

    style = MarkerStyle(marker)
    return style.get_path().transformed(style.get_transform())
