"""A folder that `export_dataset` wrote, recognised when it is imported again."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from denseflip.datasets.base import Card
from denseflip.datasets.files import SUFFIXES
from denseflip.errors import FileFormatError

GRAPHS, LABELS, NODES, CARD = "graphs", "labels.csv", "nodes.csv", "card.json"


@dataclass(frozen=True)
class Exported:
    """What such a folder holds beside its graphs; None where a file is not there."""

    graphs: Path
    labels: Path | None
    nodes: Path | None
    class_names: tuple[str, ...] = ()
    card: Card | None = None
    attributes: dict[str, Any] = field(default_factory=dict)


def find_exported(folder: Path) -> Exported | None:
    """The parts of an exported folder, or None if the graphs of this folder lie in it directly."""
    graphs, labels, nodes = folder / GRAPHS, folder / LABELS, folder / NODES
    if not graphs.is_dir() or not graph_files(graphs):
        return None
    if any(p not in (labels, nodes) for p in graph_files(folder)):
        return None
    card = _read_card(folder / CARD)
    try:
        return Exported(
            graphs=graphs,
            labels=labels if labels.is_file() else None,
            nodes=nodes if nodes.is_file() else None,
            class_names=tuple(str(x) for x in card.get("class_names", ())),
            card=Card.from_dict(card) if card else None,
            attributes=dict(card.get("attributes", {})),
        )
    except (TypeError, ValueError) as error:
        msg = f"{folder / CARD}: not the card of a data set ({error}). Correct or remove it."
        raise FileFormatError(msg) from error


def graph_files(folder: Path) -> list[Path]:
    """The files of a folder whose ending is that of a graph file, in the order of their names."""
    return [
        p
        for p in sorted(folder.iterdir())
        if p.is_file() and p.suffix.lower() in SUFFIXES and not p.name.startswith(".")
    ]


def where_graphs_are(folder: Path, skip: Collection[Path] = ()) -> str:
    """A hint at the sub-folders that hold graph files; empty if there are none."""
    inner = [
        p.name
        for p in sorted(folder.iterdir())
        if p.is_dir() and any(f.resolve() not in skip for f in graph_files(p))
    ]
    if not inner:
        return ""
    return f" There are some in its sub-folder {', '.join(inner[:3])}: give that folder."


def _read_card(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        msg = f"{path}: cannot be read as JSON ({error}). Correct or remove it."
        raise FileFormatError(msg) from error
    if not isinstance(card, dict):
        msg = f"{path}: not the card of a data set. Correct or remove it."
        raise FileFormatError(msg)
    return card
