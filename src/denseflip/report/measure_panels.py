"""Measures by method: one panel per measure, one line per method.

Every mark has its value next to it, so the figure can be read without its axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from denseflip.report.canvas import NARROW, need, new_figure, style, words
from denseflip.report.palette import AXIS, GRID, INK, MEASURED, PAPER, QUIET

_ROW = 0.27  # inches of a method
_PANEL = 1.85  # inches of a measure
_NAME = 30  # letters of a method's name at most
_TICKS = 4  # of a logarithmic axis, at most
_MARKS = 0.66  # share of a panel for marks; the figures stand to their right


@dataclass(frozen=True)
class Spread:
    """A central value and its range: quartiles or an interval."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True)
class Panel:
    """One measure of all methods.

    Attributes
    ----------
    title : its name.
    spreads : one per method; None if there are no values.
    share : whether it is a share, drawn as bars from 0 to 100 %.
    log : whether its axis is logarithmic, if all values are positive.
    """

    title: str
    spreads: tuple[Spread | None, ...]
    share: bool = False
    log: bool = False

    def text(self, spread: Spread | None) -> str:
        """The central value as text."""
        if spread is None:
            return "–"
        return f"{100 * spread.middle:.0f} %" if self.share else number(spread.middle)


def number(value: float) -> str:
    """A number in a few characters.

    >>> [number(x) for x in (0.0347, 0.5, 12, 12.5, 1234.4)]
    ['0.035', '0.5', '12', '12.5', '1,234']
    """
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2g}"


def plot_measured(names: Sequence[str], panels: Sequence[Panel], *, narrow: bool = False) -> Any:
    """Draw measures by method.

    Parameters
    ----------
    names : the methods, from the top.
    panels : the measures; side by side, or one below the other if ``narrow`` (for a phone).

    Returns
    -------
    matplotlib.figure.Figure
    """
    need("matplotlib")
    shown = [words(name, _NAME) for name in names]
    margin = min(0.085 * max(map(len, shown), default=1) + 0.25, 2.5)
    body, head, foot = _ROW * len(names), 0.34, 0.36
    if narrow:
        width, height = NARROW, len(panels) * (head + body + foot)
    else:
        width, height = margin + _PANEL * len(panels) + 0.1, head + body + foot
    with style():
        figure = new_figure(width, height)
        for i, panel in enumerate(panels):
            if narrow:
                left, across = margin, width - margin - 0.1
                base = height - (i + 1) * (head + body + foot) + foot
            else:
                left, across, base = margin + i * _PANEL, _PANEL - 0.2, foot
            axes = figure.add_axes((left / width, base / height, across / width, body / height))
            _draw(axes, panel, shown if narrow or i == 0 else [""] * len(shown))
    return figure


def _draw(axes: Any, panel: Panel, names: Sequence[str]) -> None:
    known = [s for s in panel.spreads if s is not None]
    log = panel.log and all(s.low > 0 for s in known)
    for y, spread in enumerate(panel.spreads):
        if spread is None:
            continue
        if panel.share:
            axes.barh(y, spread.middle, height=0.56, color=MEASURED, alpha=0.85, lw=0)
        axes.plot([spread.low, spread.high], [y, y], color=INK, lw=1.3, clip_on=False)
        if not panel.share:
            look = {"color": MEASURED, "markeredgecolor": PAPER, "markeredgewidth": 0.6}
            axes.plot([spread.middle], [y], marker="o", ms=6.5, zorder=3, clip_on=False, **look)
    _axis(axes, panel, known, log=log)
    beside = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 8.5}
    for y, spread in enumerate(panel.spreads):
        axes.text(_MARKS + 0.06, y, panel.text(spread), **beside)
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=7.8, color=AXIS, labelcolor=QUIET)
    axes.set_title(words(panel.title), fontsize=9.5, weight="bold", loc="left", pad=6)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.spines["bottom"].set_bounds(*_ends(axes, log=log))


def _axis(axes: Any, panel: Panel, known: Sequence[Spread], *, log: bool) -> None:
    """Set limits that leave space for the values at the right, and a few ticks."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

    low = min((s.low for s in known), default=0.0)
    high = max((s.high for s in known), default=1.0)
    if panel.share:
        axes.set_xlim(0, 1 / _MARKS)
        axes.set_xticks([0, 0.5, 1], ["0", "50", "100 %"])
        return
    if log:
        high = max(high, low * 10)
        axes.set_xscale("log")
        axes.set_xlim(low, low * (high / low) ** (1 / _MARKS))
        ticks = _log_ticks(low, high)
    else:
        high = high or 1.0
        axes.set_xlim(0, high / _MARKS)
        ticks = [t for t in MaxNLocator(3).tick_values(0, high) if 0 <= t <= high]
    axes.set_xticks(ticks)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: number(x)))


def _log_ticks(low: float, high: float) -> list[float]:
    """A few round ticks for a logarithmic axis: 1, 2 and 5 per decade, or 1 only.

    >>> _log_ticks(3, 500), _log_ticks(17, 170)
    ([10.0, 100.0], [20.0, 50.0, 100.0])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [s * 10.0**k for k in powers for s in (1, 2, 5) if low <= s * 10.0**k <= high]
    coarse = [t for t in fine if math.log10(t) % 1 == 0]
    return fine if len(fine) <= _TICKS else coarse[:: -(-len(coarse) // _TICKS)]


def _ends(axes: Any, *, log: bool) -> tuple[float, float]:
    """End the axis at its marks, not below the values."""
    low, high = axes.get_xlim()
    return low, low * (high / low) ** _MARKS if log else low + (high - low) * _MARKS
