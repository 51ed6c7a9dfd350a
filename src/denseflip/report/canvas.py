"""Figures without pyplot: nothing is left open behind, and no display is needed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from denseflip.errors import InvalidParameterError, MissingExtraError
from denseflip.report.palette import INK

FORMATS = ("png", "svg", "pdf")
_FONTS = ("DejaVu Sans", "Arial", "Liberation Sans", "sans-serif")


def need(*packages: str) -> None:
    """Say which extra brings a package that is not installed."""
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise MissingExtraError(package, "brain") from error


def new_figure(width: float, height: float) -> Any:
    """An empty white figure, inches."""
    need("matplotlib")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), facecolor="white")


def style() -> Any:
    """The typographic settings of all pictures, as a context."""
    import matplotlib as mpl

    return mpl.rc_context(
        {
            "font.family": "sans-serif",
            "font.sans-serif": list(_FONTS),
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
    check_place(target, force=force)
    # No date inside: the same story gives the same file.
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with style():
        figure.savefig(target, dpi=dpi, metadata=metadata[kind], facecolor="white")
    return figure


def check_place(target: Path, *, force: bool) -> None:
    """Say why nothing can be written there."""
    if target.is_dir():
        msg = f"{target} is a folder; give the name of a file."
        raise InvalidParameterError(msg)
    if target.exists() and not force:
        msg = (
            f"{target} exists already and is left as it is. Choose another name, or allow "
            "overwriting (force=True, on the command line --force)."
        )
        raise InvalidParameterError(msg)
    if not target.parent.is_dir():
        msg = f"{target}: the folder {target.parent} does not exist. Create it first."
        raise InvalidParameterError(msg)


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
