"""Digests of what a result depends on: content ids, the data set, the versions of the code.

A changed default, another file of the same name or another version gives another id, so an old
result is never mistaken for a new one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from denseflip._version import __version__
from denseflip.datasets import Dataset

#: Packages that only read or display. The source of all others is part of the ids of results.
_NO_CODE = (
    *("_version.py", "checks.py", "errors.py", "files.py", "limits.py", "option.py"),
    *("cli/*", "datasets/*", "report/*", "web/*"),
    *("paper/paper_claims.py", "paper/paper_figures.py", "paper/paper_page.py"),
    *("paper/paper_tables.py",),
)


def canonical_json(data: Any) -> str:
    """Return canonical JSON for identities: sorted keys, no spaces, no NaN."""
    return plain_json(data, sort=True)


def plain_json(data: Any, *, sort: bool = False) -> str:
    """Return JSON on one line with keys in their order, which may matter: the classes of a
    confusion matrix follow its rows.

    >>> plain_json({"control": 9, "case": 11})
    '{"control":9,"case":11}'
    """
    return json.dumps(
        data, sort_keys=sort, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def content_id(data: Any) -> str:
    """SHA-256 of the canonical JSON, as 64 hexadecimal digits.

    >>> content_id({"b": 1, "a": [1.5, None]}) == content_id({"a": [1.5, None], "b": 1})
    True
    """
    return hashlib.sha256(canonical_json(data).encode()).hexdigest()


def dataset_digest(dataset: Dataset) -> str:
    """Hash everything in a data set that a result can depend on.

    Graphs, labels, ids, nodes, and weights if they were kept, since a classifier may use them.
    """
    h = hashlib.sha256()
    for example in dataset:
        h.update(canonical_json([example.id, example.label]).encode())
        h.update(example.graph.digest)
    h.update(canonical_json([list(dataset.class_names), dataset.nodes.to_dict()]).encode())
    for row in () if dataset.weights is None else dataset.weights:
        h.update(row.tobytes())
    return h.hexdigest()[:32]


@cache
def versions() -> Mapping[str, Any]:
    """Return the versions that a result depends on."""
    from importlib.metadata import version

    def minor(package: str) -> str:
        return ".".join(version(package).split(".")[:2])

    return {
        "code": code_digest(),
        "denseflip": __version__,
        "numpy": minor("numpy"),
        "scikit-learn": minor("scikit-learn"),
    }


def code_digest(root: Path | None = None) -> str:
    """Hash the source files that decide results, so that an edited search is run again.

    A new release changes it too. Code that only displays results (tables, pages, commands) does
    not.
    """
    root = root or Path(__file__).parents[1]
    h = hashlib.sha256()
    for path in code_files(root):
        h.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return h.hexdigest()[:16]


def code_files(root: Path) -> list[Path]:
    """List the source files that decide results: all that a worker runs except data loaders.

    The content of a data set is in its digest.
    """
    shown = {path for pattern in _NO_CODE for path in root.glob(pattern)}
    return sorted(path for path in root.rglob("*.py") if path not in shown)
