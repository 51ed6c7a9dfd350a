"""The embedded mouse connectomes; no network is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from denseflip.datasets.atlas import DATA, load_mouse_atlas
from denseflip.datasets.base import Dataset
from denseflip.datasets.cards import MICE
from denseflip.datasets.dataset_file import read_dataset
from denseflip.errors import InvalidParameterError, UnknownNameError, shown

STRAINS = ("B6", "BTBR", "CAST", "DBA2")
SEXES = ("female", "male")
DEFAULT_TASK = "B6-BTBR"


def load_mice(task: str = DEFAULT_TASK, *, classes: Sequence[str] | None = None) -> Dataset:
    """Mouse connectomes: 332 regions, 5,495 edges each.

    Parameters
    ----------
    task : strains joined by ``-`` (default ``"B6-BTBR"``; the first is class 0), ``"strain"`` for
        all four, or ``"sex"``.
    classes : the strains as a sequence, instead of ``task``.

    Examples
    --------
    >>> load_mice()
    Dataset('mice', 16 graphs, 332 nodes, classes: B6 8, BTBR 8)
    >>> load_mice(classes=("CAST", "DBA2")).name
    'mice:CAST-DBA2'
    """
    if classes is not None:
        if task != DEFAULT_TASK:
            msg = f"Pass task or classes, not both; got task={task!r}, classes={classes!r}."
            raise InvalidParameterError(msg)
        task = "-".join([classes] if isinstance(classes, str) else classes)
    if not isinstance(task, str):
        raise UnknownNameError("task or strain of mice", shown(task), (*STRAINS, "strain", "sex"))
    everything = _all_mice()
    if task == "sex":
        sexes = everything.attributes["sex"]
        labels = tuple(SEXES.index(s) for s in sexes)
        return replace(everything, name="mice:sex", labels=labels, class_names=SEXES, attributes={})
    strains = STRAINS if task == "strain" else tuple(task.split("-"))
    known = {s.lower(): s for s in STRAINS}
    for strain in strains:
        if strain.lower() not in known:
            raise UnknownNameError(
                "task or strain of mice", strain, (*STRAINS, "strain", "sex", DEFAULT_TASK)
            )
    strains = tuple(known[s.lower()] for s in strains)
    if len(set(strains)) != len(strains) or len(strains) < 2:
        msg = f"A task needs two or more different strains of {', '.join(STRAINS)}; got {task!r}."
        raise InvalidParameterError(msg)
    task = task if task == "strain" else "-".join(strains)
    name = "mice" if task == DEFAULT_TASK else f"mice:{task}"
    position = {STRAINS.index(s): i for i, s in enumerate(strains)}
    chosen = np.concatenate([np.flatnonzero(everything.label_array() == x) for x in position])
    part = everything.subset(chosen)
    labels = tuple(position[x] for x in part.labels)
    return replace(part, name=name, labels=labels, class_names=strains, attributes={})


@cache
def _all_mice() -> Dataset:
    stored = read_dataset(DATA / "mice.dfd")
    return replace(stored, nodes=load_mouse_atlas(), card=MICE)
