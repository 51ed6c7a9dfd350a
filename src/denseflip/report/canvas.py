"""Figures without pyplot: nothing is left open behind, and no display is needed."""

from __future__ import annotations

import importlib
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

from denseflip.checks import check_new_file
from denseflip.errors import InvalidParameterError, MissingExtraError
from denseflip.report.palette import INK

FORMATS = ("png", "svg", "pdf")


def need(*packages: str) -> None:
    """Say which extra brings a package that is not installed."""
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise MissingExtraError(package, "brain") from error


def new_figure(width: float, height: float) -> Any:
    """An empty white figure, inches; a notebook shows it though pyplot does not know it."""
    need("matplotlib")
    return _figure_class()(figsize=(width, height), facecolor="white")


@cache
def _figure_class() -> Any:
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A matplotlib figure that shows itself at the end of a notebook cell."""

        def _repr_png_(self) -> bytes:
            import io

            buffer = io.BytesIO()
            with style():
                self.savefig(buffer, format="png", dpi=110)
            return buffer.getvalue()

    return Picture


def words(text: str, limit: int = 200) -> str:
    """A text from data as matplotlib draws it: no formulas, one line, not too long.

    >>> words("costs $5"), words("a rather long name", 10)
    ('costs \\\\$5', 'a rather …')
    """
    line = " ".join(str(text).split())
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + " …"
    line = line.replace("$", r"\$")
    return f" {line}" if line.startswith("_") else line  # a legend passes over such names


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


def style() -> Any:
    """The typographic settings of all pictures, as a context."""
    import matplotlib as mpl

    return mpl.rc_context(
        {
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans"],  # ships with matplotlib: the same everywhere
            "font.size": 9,
            "text.color": INK,
            "axes.edgecolor": "#b9bec7",
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "hatch.linewidth": 0.7,
            "svg.hashsalt": "denseflip",
            "svg.fonttype": "path",
        }
    )


def save_figure(
    figure: Any, path: str | Path | None, *, force: bool = False, dpi: int = 160
) -> Any:
    """Write the figure if a path is given; the figure is returned in any case."""
    if path is None:
        return figure
    target = Path(path)
    kind = target.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        msg = (
            f"{target}: pictures are written as {', '.join('.' + f for f in FORMATS)}; "
            f"got {target.suffix!r}. Change the file's ending."
        )
        raise InvalidParameterError(msg)
    check_new_file(target, force=force)
    # No date inside: the same story gives the same file.
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with style():
        figure.savefig(target, dpi=dpi, metadata=metadata[kind], facecolor="white")
    return figure


def svg_text(figure: Any) -> str:
    """The figure as SVG."""
    import io

    buffer = io.StringIO()
    with style():
        figure.savefig(buffer, format="svg", metadata={"Date": None}, facecolor="white")
    return buffer.getvalue()


def png_bytes(figure: Any, dpi: int = 130) -> bytes:
    """The figure as a small PNG: 256 colours are enough for lines on white."""
    import io

    from PIL import Image

    buffer, small = io.BytesIO(), io.BytesIO()
    with style():
        figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    octree = Image.Quantize.FASTOCTREE  # keeps rare colours, such as those of small regions
    picture = Image.open(buffer).convert("RGB").quantize(256, octree, dither=Image.Dither.NONE)
    picture.save(small, format="PNG", optimize=True)
    return small.getvalue()
