"""Write explanations as a BIDS derivative: tables per participant, with their sidecars.

The folder follows the rules for derivatives of the Brain Imaging Data Structure: a
``dataset_description.json`` with ``GeneratedBy``, a folder ``sub-LABEL`` per participant,
tab-separated tables with ``n/a`` for missing values, and a JSON file that describes the columns.
BIDS has no standard name for counterfactuals: the suffixes ``edits``, ``regions``, ``reference``
and ``explanations`` are our own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from denseflip._version import __version__
from denseflip.checks import check_new_folder
from denseflip.datasets import Dataset
from denseflip.errors import DenseflipError
from denseflip.experiments.explain_many import COLUMNS, Explained, explanation_row
from denseflip.experiments.story_tables import (
    EDIT_COLUMNS,
    REFERENCE_COLUMNS,
    REGION_COLUMNS,
    edit_table,
    reference_table,
    region_table,
)
from denseflip.experiments.table import Table
from denseflip.files import whole_folder, write_whole
from denseflip.graph import Nodes
from denseflip.story.story import Story

BIDS_VERSION = "1.9.0"
_DESC = "desc-counterfactual"
_EXPLAINED = {
    "class": "Class of the participant in the data set",
    "before": "Class that the classifier gives",
    "correct": "Whether the classifier is right",
    "after": "Class after the change",
    "status": "How the search ended",
    "cells": "Places that the sentence names",
    "edits": "Connections changed",
    "added": "Connections added",
    "removed": "Connections removed",
    "relative_distance": "Changes as a share of the connections of both graphs",
    "calls": "Queries to the classifier",
    "true_as_read": "Whether the sentence is true as read",
    "as_read": "Share of random changes as the sentence says that change the class",
    "badge": "What was tested about the sentence",
    "language": "What the sentence names",
    "sentence": "The explanation in words",
    "failure": "Why there is no explanation",
}


def write_bids(
    explained: Sequence[Explained],
    folder: str | Path,
    *,
    dataset: Dataset | None = None,
    oracle: str = "",
    command: str = "",
    force: bool = False,
) -> Path:
    """Write the explanations of one or many graphs as a BIDS derivative.

    Parameters
    ----------
    explained : the explanations; those that failed are listed, without tables.
    folder : the folder of the derivative; created if missing.
    dataset : the data set of the graphs, for its description.
    oracle : the name of the classifier.
    command : the command that reproduces the folder.
    force : replace the content of a folder that is not empty.

    Returns
    -------
    The folder. It appears complete or not at all.
    """
    target = check_new_folder(folder, force=force, error=DenseflipError)
    with whole_folder(target) as fresh:
        _write_all(explained, fresh, dataset, oracle, command)
    return target


def bids_labels(ids: Sequence[str]) -> dict[str, str]:
    """Map ids to labels of participants, which have only letters and digits.

    >>> bids_labels(["sub-01", "NYU_0051", "NYU-0051"])
    {'sub-01': '01', 'NYU_0051': 'NYU0051', 'NYU-0051': 'NYU0051x2'}
    """
    labels: dict[str, str] = {}
    taken: set[str] = set()
    for id in ids:
        plain = _alphanumeric(id.removeprefix("sub-")) or "graph"
        label, number = plain, 1
        while label.lower() in taken:
            number += 1
            label = f"{plain}x{number}"
        taken.add(label.lower())
        labels[id] = label
    return labels


def _write_all(
    explained: Sequence[Explained],
    folder: Path,
    dataset: Dataset | None,
    oracle: str,
    command: str,
) -> None:
    name = dataset.name if dataset is not None else "graphs"
    labels = bids_labels([one.id for one in explained])
    _write_json(folder / "dataset_description.json", _description(name, command))
    write_whole(folder / "README", _readme(name, oracle, command))
    people = Table(
        "participants",
        "",
        ("participant_id", "source_id", "group"),
        tuple((f"sub-{labels[one.id]}", one.id, one.label) for one in explained),
    )
    columns = {
        "participant_id": "Label of the participant",
        "source_id": "Id in the data set",
        "group": "Class in the data set",
    }
    _write_table(people, folder / "participants", columns)
    rows = [dict(zip(COLUMNS, explanation_row(one), strict=True)) for one in explained]
    summary = Table(
        "explanations",
        "",
        ("participant_id", *_EXPLAINED),
        tuple((f"sub-{labels[row['id']]}", *(row[x] for x in _EXPLAINED)) for row in rows),
    )
    _write_table(summary, folder / f"{_DESC}_explanations", {**columns, **_EXPLAINED})
    nodes = next((one.story.nodes for one in explained if one.story is not None), None)
    if nodes is not None:
        _write_nodes(nodes, folder / f"seg-{_alphanumeric(name) or 'graphs'}_dseg")
    for one in explained:
        if one.story is not None:
            _write_one(one.id, one.story, folder / f"sub-{labels[one.id]}", oracle)


def _write_one(id: str, story: Story, home: Path, oracle: str) -> None:
    home.mkdir()
    about = {
        "Description": story.statement,
        "Classifier": oracle or None,
        "Method": story.result.method,
        "Seed": story.result.seed,
        "ClassBefore": story.class_name(story.result.label_before),
        "ClassAfter": story.class_name(story.result.label_after) if story.result.found else None,
        "Found": story.result.found,
        "TrueAsRead": story.true_as_read,
        "Notes": list(story.footnotes),
        "Methods": story.methods_text(),
    }
    about = {key: value for key, value in about.items() if value is not None}
    for table, columns in (
        (edit_table([(id, story)]), EDIT_COLUMNS),
        (region_table([(id, story)]), REGION_COLUMNS),
        (reference_table([(id, story)]), REFERENCE_COLUMNS),
    ):
        if table.rows or table.name == "edits":
            _write_table(table, home / f"{home.name}_{_DESC}_{table.name}", columns, about)


def _write_nodes(nodes: Nodes, place: Path) -> None:
    """The node table, which an import finds by its name."""
    points = nodes.coordinates
    head = ("index", "name", *nodes.regions, *("xyz" if points else ()))
    rows = tuple(
        (i + 1, name, *(x[i] for x in nodes.regions.values()), *(points[i] if points else ()))
        for i, name in enumerate(nodes.names)
    )
    columns = {
        "index": "Number of the node, counted from 1",
        "name": "Name of the node",
        **{x: f"Region of the node in the partition {x}" for x in nodes.regions},
        **dict.fromkeys("xyz", "Coordinate in millimetres"),
    }
    _write_table(Table("dseg", "", head, rows), place, columns)


def _write_table(
    table: Table, place: Path, columns: Mapping[str, str], about: Mapping[str, Any] | None = None
) -> None:
    """Write a table and the description of its columns."""
    rows = tuple(tuple(_cell(x) for x in row) for row in table.rows)
    text = Table(table.name, "", table.columns, rows).to_tsv()
    write_whole(place.with_name(f"{place.name}.tsv"), text)
    described = {x: {"Description": columns[x]} for x in table.columns if x in columns}
    _write_json(place.with_name(f"{place.name}.json"), {**(about or {}), **described})


def _cell(value: Any) -> Any:
    if value is None or value == "" or value != value:
        return "n/a"
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(value.split()) if isinstance(value, str) else value


def _description(name: str, command: str) -> dict[str, Any]:
    made = {"Name": "denseflip", "Version": __version__}
    if command:
        made["Description"] = command
    return {
        "Name": f"Counterfactual explanations of {name}",
        "BIDSVersion": BIDS_VERSION,
        "DatasetType": "derivative",
        "GeneratedBy": [made],
    }


def _readme(name: str, oracle: str, command: str) -> str:
    lines = [
        f"Counterfactual explanations of {name}, written by denseflip {__version__}.",
        "",
        f"Classifier: {oracle or 'not named'}.",
        "Each sub-*/ folder holds what would change the classifier's answer about one participant:",
        "edits (one row per connection), regions (per pair of regions) and reference (what other",
        "graphs have in the places that the sentence names). They describe the classifier, not the",
        "condition.",
    ]
    return "\n".join([*lines, *(["", f"Command: {command}"] if command else [])]) + "\n"


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    write_whole(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def _alphanumeric(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "", text)
