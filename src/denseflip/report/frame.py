"""What stands round a connectome: headline, legend and note."""

from __future__ import annotations

import textwrap
from typing import Any

from denseflip.report.canvas import new_figure, words, write_headline
from denseflip.report.draw import edge_handles, region_handles
from denseflip.report.palette import QUIET
from denseflip.report.scene import Scene

NARROW = 3.55  # inches: the width of a phone, where letters of 8 points are ten pixels high
NOTE = 8.5  # points


def framed(scene: Scene, width: float, body: float, *, regions: bool = True) -> tuple[Any, Any]:
    """A figure with headline, legend and note round an empty place of ``body`` inches."""
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
    """A note broken into lines that fit a picture of so many inches."""
    return textwrap.wrap(note, max(24, int((width - 0.2) / (NOTE * 0.0083))))


def inside(ax: Any, scene: Scene) -> None:
    """Headline, legend and note of axes that someone else owns."""
    ax.set_title(words(scene.title), fontsize=10)
    ax.legend(
        handles=edge_handles(scene), loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=2,
        frameon=False, fontsize=8,
    )  # fmt: skip
    if scene.note:
        ax.text(0.5, -0.1, scene.note, transform=ax.transAxes, ha="center", fontsize=7, color=QUIET)
