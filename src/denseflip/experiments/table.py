"""`Table`: rows and columns that can be written as CSV, TSV, Markdown, LaTeX, HTML and JSON.

The same table always gives the same bytes: numbers are formatted here, once, and nothing depends
on the time or the machine.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from denseflip.checks import in_markdown
from denseflip.errors import UnknownNameError
from denseflip.files import write_whole
from denseflip.report.html import TableContext

MISSING = "–"
_LONG = 60  # cells longer than this are set as paragraphs in LaTeX
_COLUMNS = 11  # columns that fit an ordinary screen
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "△": r"$\triangle$",
    "∪": r"$\cup$",
    "≤": r"$\le$",
    "×": r"$\times$",
    "→": r"$\rightarrow$",
    "−": "$-$",
    "…": r"\dots{}",
}


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    name : a short name, used for files.
    title : one line above it.
    columns : headings.
    rows : cells: numbers, strings, booleans or None.
    notes : sentences below it.
    keys : number of leading columns that identify a row; 0 if unknown.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...] = field(default_factory=tuple)
    keys: int = 0

    def texts(self) -> list[list[str]]:
        """Return the cells as displayed."""
        return [[show(cell) for cell in row] for row in self.rows]

    def to_csv(self) -> str:
        """Return comma-separated values: missing values as empty cells, numbers in full."""
        return self._separated(",")

    def to_tsv(self) -> str:
        """Return tab-separated values."""
        return self._separated("\t")

    def _separated(self, sign: str) -> str:
        out = io.StringIO()
        writer = csv.writer(out, delimiter=sign, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([_plain(cell) for cell in row])
        return out.getvalue()

    def to_markdown(self) -> str:
        """Return a Markdown table with title and notes."""
        names, *body = [
            [in_markdown(cell).replace("|", "\\|") for cell in row]
            for row in (self.columns, *self.texts())
        ]
        widths = [
            max(3, len(head), *(len(row[i]) for row in body)) if body else max(3, len(head))
            for i, head in enumerate(names)
        ]

        def line(cells: Sequence[str]) -> str:
            padded = (c.ljust(w) for c, w in zip(cells, widths, strict=True))
            return "| " + " | ".join(padded) + " |"

        rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
        title = in_markdown(self.title)
        text = [f"**{title}**", "", line(names), rule, *(line(row) for row in body)]
        for note in self.notes:
            text += ["", in_markdown(note)]
        return "\n".join(text) + "\n"

    def to_latex(self) -> str:
        """Return a LaTeX table for the package booktabs."""
        head = " & ".join(rf"\textbf{{{_latex(c)}}}" for c in self.columns)
        texts = self.texts()
        widest = [max((len(row[i]) for row in texts), default=0) for i in range(len(self.columns))]
        layout = "l" + "".join("p{7cm}" if width > _LONG else "r" for width in widest[1:])
        lines = [
            r"\begin{table}[t]",
            r"  \centering",
            rf"  \caption{{{_latex(self.title)}}}",
            rf"  \label{{tab:{self.name}}}",
            rf"  \begin{{tabular}}{{{layout}}}",
            r"  \toprule",
            rf"  {head} \\",
            r"  \midrule",
            *(rf"  {' & '.join(_latex(c) for c in row)} \\" for row in texts),
            r"  \bottomrule",
            r"  \end{tabular}",
            *(rf"  \par\smallskip {{\footnotesize {_latex(note)}}}" for note in self.notes),
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def to_html(self) -> str:
        """Return an HTML table, everything escaped."""
        return self.context().render()

    def context(self) -> TableContext:
        """Return the table for the template of a page."""
        rows = tuple(tuple(row) for row in self.texts())
        return TableContext(self.name, self.title, self.columns, rows, self.notes)

    def for_page(self, most: int = _COLUMNS) -> list[Table]:
        """Split the table into parts that fit a screen; not without keys.

        Columns with the same value in every row, or with none, are summarised below.
        """
        if not self.keys or not self.rows:
            return [self]
        each = list(zip(*self.rows, strict=True))
        keys, same = [], []
        for i in range(self.keys):
            if len(self.rows) > 1 and len(set(map(show, each[i]))) == 1:
                same += [f"{_heading(self.columns[i])} {show(each[i][0])}"] if each[i][0] else []
            else:
                keys.append(i)
        rest = range(self.keys, len(self.columns))
        there = [i for i in rest if any(show(cell) != MISSING for cell in each[i])]
        none = [_heading(self.columns[i]) for i in rest if i not in there]
        notes = [f"In all rows: {', '.join(same)}."] if same else []
        notes += [f"Not measured: {', '.join(none)}."] if none else []
        room = max(1, most - len(keys))
        parts = -(-len(there) // room) or 1
        size = -(-len(there) // parts)
        tables = []
        for k in range(parts):
            chosen = [*keys, *there[k * size : (k + 1) * size]]
            tables.append(
                Table(
                    f"{self.name}-{k + 1}" if k else self.name,
                    self.title if not k else f"{self.title}, part {k + 1} of {parts}",
                    tuple(_heading(self.columns[i]) for i in chosen),
                    tuple(tuple(row[i] for i in chosen) for row in self.rows),
                    (*self.notes, *notes) if k == parts - 1 else (),
                )
            )
        return tables

    def to_json(self) -> str:
        """Return a JSON list of one object per row."""
        rows = [dict(zip(self.columns, map(_json, row), strict=True)) for row in self.rows]
        return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"

    def to(self, form: str) -> str:
        """Return the table in a format: csv, tsv, markdown, latex, html or json."""
        if form not in FORMS:
            raise UnknownNameError("table form", form, FORMS)
        text: str = getattr(self, f"to_{form}")()
        return text

    def write(self, folder: Path, forms: Sequence[str] = ("csv", "markdown", "latex")) -> None:
        """Write the table into a folder, one file per format."""
        for form in forms:
            write_whole(folder / f"{self.name}.{FORMS[form]}", self.to(form))


FORMS = {
    "csv": "csv",
    "tsv": "tsv",
    "markdown": "md",
    "latex": "tex",
    "html": "html",
    "json": "json",
}


def show(cell: Any) -> str:
    """Format a cell: numbers with at most four significant digits.

    >>> [show(x) for x in (3, 0.12345, 1234.5, True, None)]
    ['3', '0.1235', '1234', 'yes', '–']
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return MISSING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        if cell.is_integer() and abs(cell) < 1e15:
            return str(int(cell))
        return f"{cell:.0f}" if abs(cell) >= 1000 else f"{cell:.4g}"
    if isinstance(cell, (list, tuple)):
        return "; ".join(show(x) for x in cell)
    return str(cell)


def _heading(column: str) -> str:
    return column.replace("_", " ")


def _plain(cell: Any) -> Any:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, (list, tuple)):
        return "; ".join(str(x) for x in cell)
    return cell


def _json(cell: Any) -> Any:
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _latex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text)
