"""Charts of measures by method, each with its table, per data set and oracle of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from denseflip.as_read import wilson_interval
from denseflip.experiments.results import Row, typical
from denseflip.experiments.table import MISSING, Table, show
from denseflip.report.canvas import save_figure
from denseflip.report.html import TableContext
from denseflip.report.measure_panels import Panel, Spread, plot_measured
from denseflip.report.page_figures import PageFigure, page_figure


@dataclass(frozen=True)
class Picture:
    """A chart of the page: its title, the drawing, and the table of its values."""

    name: str
    figure: PageFigure
    table: TableContext | None = None


@dataclass(frozen=True)
class Shown:
    """A measure of a chart: its column and title, whether a share, whether logarithmic."""

    column: str
    title: str
    share: bool = False
    log: bool = False


FLIPS = Shown("found", "flip rate", share=True)
BENCH = (
    FLIPS,
    Shown("relative_distance", "d%"),
    Shown("calls", "questions", log=True),
    Shown("cells", "cells"),
    Shown("as_read", "true as read", share=True),
)
HOW_TO_READ = (
    "In the charts by method, the flip rate is the share of graphs with a counterfactual, and its "
    "line is the 95 % interval. All other measures are of the counterfactuals found: medians "
    "(means for shares), with lines for the interquartile range. Cells are the region pairs (or "
    "nodes, or connections) that the shortest sentence names. True as read is the share of its "
    "redraws that flip the classifier too."
)


def method_charts(
    rows: Sequence[Row],
    measures: Sequence[Shown] = BENCH,
    *,
    called: Callable[[str], str] = str,
    folder: Path | None = None,
) -> list[Picture]:
    """One chart per data set and oracle, with its table.

    Measures that no method has are left out, and so are charts without results.

    Parameters
    ----------
    rows : the results; methods are shown in the order of the rows.
    measures : the panels.
    called : returns the displayed name of a data set or method.
    folder : where to write the wide charts, as ``methods-1.svg`` and so on.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    groups: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        by_method = groups.setdefault((row["data"], row["oracle"]), {})
        by_method.setdefault(_name(row, called), []).append(row)
    oracles = {oracle for _, oracle in groups}
    pictures = []
    for i, ((data, oracle), by_method) in enumerate(groups.items()):
        title = called(data) if len(oracles) == 1 else f"{called(data)}, {oracle}"
        chosen = [m for m in measures if any(_values(v, m.column) for v in by_method.values())]
        table = _table(f"chart-{i + 1}", title, by_method, chosen)
        path = None if folder is None else folder / f"methods-{i + 1}.svg"
        figure = _figure(title, by_method, chosen, path)
        pictures.append(Picture(f"{title}: comparison of methods", figure, table.context()))
    return pictures


def _name(row: Row, called: Callable[[str], str]) -> str:
    name = called(row["method"])
    return f"{name} ({row['parameters']})" if row["parameters"] else name


def _values(members: Sequence[Row], column: str) -> list[float]:
    """Return the values of a column: flips of all rows, other measures of those found."""
    rows = members if column == FLIPS.column else [r for r in members if r["found"]]
    return [float(r[column]) for r in rows if isinstance(r[column], (bool, int, float))]


def spread_of(members: Sequence[Row], column: str) -> Spread | None:
    """Return the median and interquartile range; for the flip rate, the 95 % interval."""
    values = _values(members, column)
    if not values:
        return None
    middle = typical(column, values)
    assert middle is not None
    if column == FLIPS.column:
        return Spread(middle, *wilson_interval(middle, len(values)))
    low, high = np.percentile(values, (25, 75)).tolist()
    return Spread(middle, low, high)


def _figure(
    title: str,
    by_method: Mapping[str, Sequence[Row]],
    measures: Sequence[Shown],
    path: Path | None,
) -> PageFigure:
    panels = [
        Panel(m.title, tuple(spread_of(v, m.column) for v in by_method.values()), m.share, m.log)
        for m in measures
    ]
    names = list(by_method)
    pictures = [plot_measured(names, panels, narrow=narrow) for narrow in (False, True)]
    save_figure(pictures[0], path, force=True)
    said = "; ".join(
        f"{name}: " + ", ".join(f"{p.title} {p.text(p.spreads[i])}" for p in panels)
        for i, name in enumerate(names)
    )
    caption = f"{', '.join(m.title for m in measures)}, by method, on {title}."
    alt = f"Chart of methods on {title}. {said}."
    return page_figure(pictures, alt, caption[0].upper() + caption[1:])


def _table(
    name: str, title: str, by_method: Mapping[str, Sequence[Row]], measures: Sequence[Shown]
) -> Table:
    body = []
    for method, members in by_method.items():
        cells: list[Any] = [method, len(members)]
        for measure in measures:
            spread = spread_of(members, measure.column)
            if spread is None:
                cells.append(MISSING)
                continue
            low, high = show(_round(spread.low)), show(_round(spread.high))
            cells.append(f"{show(_round(spread.middle))} ({low} – {high})")
        body.append(tuple(cells))
    columns = ("method", "n", *(m.title for m in measures))
    return Table(name, f"{title}: values of the chart", columns, tuple(body))


def _round(value: float) -> float:
    return float(f"{value:.3g}")
