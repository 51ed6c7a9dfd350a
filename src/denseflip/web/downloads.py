"""Downloads of a job: the page, JSON, CSV, the reference strip, BrainNet files."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from denseflip.cohort.cohort import Cohort
from denseflip.errors import InvalidParameterError, MissingInputError
from denseflip.experiments.story_tables import edit_table, reference_table, region_table
from denseflip.experiments.table import Table
from denseflip.graph.edits import list_edits
from denseflip.limits import check_dense
from denseflip.report.canvas import svg_text
from denseflip.report.cohort_page import make_cohort_page
from denseflip.report.page import make_page
from denseflip.report.reference_strip import plot_reference
from denseflip.story.story import Story

FILES = {
    "report.html": "text/html; charset=utf-8",
    "result.json": "application/json",
    "edits.csv": "text/csv; charset=utf-8",
    "regions.csv": "text/csv; charset=utf-8",
    "reference.csv": "text/csv; charset=utf-8",
    "reference.svg": "image/svg+xml",
    "explanations.csv": "text/csv; charset=utf-8",
    "index.html": "text/html; charset=utf-8",
    "cohort.html": "text/html; charset=utf-8",
    "cohort.tsv": "text/tab-separated-values; charset=utf-8",
    "brain.node": "text/plain; charset=utf-8",
    "brain.edge": "text/plain; charset=utf-8",
}
_TABLES = {
    "edits.csv": edit_table,
    "regions.csv": region_table,
    "reference.csv": reference_table,
}
_OF_MANY = ("cohort.html", "cohort.tsv", "explanations.csv", "index.html")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # read as a formula by a spreadsheet


def make_file(
    name: str, result: dict[str, Any], *, answer: int | None = None, whatif: Any = None
) -> str:
    """Return the text of a file.

    Parameters
    ----------
    name : one of `FILES`.
    result : the result of the job.
    answer : which answer of the front; by default the chosen one.
    whatif : data of the "what if" panel of the page (`whatif_data`).
    """
    if "many" in result:
        return _of_many(name, result["kept"]["files"])
    if name == "result.json":
        return json.dumps(result.get("record") or result, ensure_ascii=False)
    if name == "cohort.tsv" and "tsv" in result:
        return str(result["tsv"])
    if name == "cohort.html" and "cohort" in result:
        return make_cohort_page(Cohort.from_dict(result["record"]))
    if "story" not in result or name in _OF_MANY:
        msg = f"This job has no {name}: it does not explain a single graph."
        raise InvalidParameterError(msg)
    story = story_of(result, answer)
    if name == "report.html":
        front = [Story.from_dict(one) for one in result.get("front", ())]
        return make_page(story, front=front, card=result.get("card") or None, whatif=whatif)
    if name in _TABLES:
        return no_formulas(_TABLES[name]([(story.subject, story)])).to_csv()
    if name == "reference.svg":
        return svg_text(plot_reference(story))
    return brainnet_nodes(story) if name == "brain.node" else brainnet_edges(story)


def _of_many(name: str, made: dict[str, str]) -> str:
    if name not in made:
        msg = f"This job of many graphs has no {name}. Available: {', '.join(made)}."
        raise InvalidParameterError(msg)
    return made[name]


def story_of(result: dict[str, Any], answer: int | None = None) -> Story:
    """Return the story of a job: the chosen one, or another one of its front."""
    front = result.get("front", ())
    if answer is None or not front:
        return Story.from_dict(result["story"])
    if not 0 <= answer < len(front):
        msg = f"answer must be a number from 0 to {len(front) - 1}; got {answer}."
        raise InvalidParameterError(msg, parameter="answer")
    return Story.from_dict(front[answer])


def no_formulas(table: Table) -> Table:
    """Return a table in which a spreadsheet finds no formulas."""
    rows = (tuple(_cell(x) if isinstance(x, str) else x for x in row) for row in table.rows)
    return replace(table, rows=tuple(rows))


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def brainnet_nodes(story: Story) -> str:
    """Nodes for BrainNet Viewer: x y z colour size label, separated by tabs."""
    points = story.nodes.coordinates
    if points is None:
        msg = "BrainNet Viewer needs coordinates; these nodes have none."
        raise MissingInputError(msg)
    changed = [0] * story.nodes.n_nodes
    for _, u, v in list_edits(story.result.edits)[1]:
        changed[u] += 1
        changed[v] += 1
    index = story.taxonomy.index if story.taxonomy is not None else [0] * len(changed)
    lines = [
        f"{x:g}\t{y:g}\t{z:g}\t{index[i] + 1}\t{changed[i]}\t{'_'.join(name.split()) or '-'}"
        for i, ((x, y, z), name) in enumerate(zip(points, story.nodes.names, strict=True))
    ]
    return "\n".join(lines) + "\n"


def brainnet_edges(story: Story) -> str:
    """Edits for BrainNet Viewer: a matrix, 1 where a connection is added, −1 where removed."""
    n = story.nodes.n_nodes
    check_dense(n, "brain.edge", itemsize=4)
    marks: dict[int, dict[int, str]] = {}
    for change, u, v in list_edits(story.result.edits)[1]:
        value = "-1" if change == "removed" else "1"
        marks.setdefault(u, {})[v] = marks.setdefault(v, {})[u] = value
    lines = []
    for u in range(n):
        row = ["0"] * n
        for v, value in marks.get(u, {}).items():
            row[v] = value
        lines.append("\t".join(row))
    return "\n".join(lines) + "\n"
