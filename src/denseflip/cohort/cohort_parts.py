"""Read the stored parts of a cohort, and check that they belong to this cohort.

A part is the record of one labelling, of the shared change or of the evaluation. The file may have
been changed since it was written, or may come from somebody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from denseflip.checks import parsing, typed
from denseflip.classifiers.evaluation import Evaluation
from denseflip.cohort.labelling import Labelling
from denseflip.cohort.shared import SharedChange
from denseflip.datasets import Dataset
from denseflip.errors import FileFormatError, StoreError


def read_judged(result: Mapping[str, Any], folder: Path) -> Evaluation | None:
    """The honest accuracy, if the classifier could be judged."""
    with _told(folder):
        judged = result["evaluation"]
        return None if judged is None else Evaluation.from_dict(judged)


def read_labellings(
    results: Sequence[Mapping[str, Any]], dataset: Dataset, n_cells: int, folder: Path
) -> list[Labelling]:
    """What was counted under each labelling, over as many cells and for patients of this data."""
    with _told(folder):
        found = [Labelling.from_dict(result) for result in results]
        everybody = set(dataset.ids)
        for labelling in found:
            for values in (labelling.more, labelling.fewer, labelling.difference):
                _fits(len(values) == n_cells, "its cells")
            for patient in labelling.patients:
                _fits(patient.id in everybody, "a patient")
                for label in (patient.label, patient.answer):
                    _fits(label is None or 0 <= label < len(dataset.class_names), "a class")
                _fits(all(0 <= cell < n_cells for cell in patient.changes), "a change")
        return found


def read_shared(
    result: Mapping[str, Any], dataset: Dataset, n_cells: int, folder: Path
) -> tuple[list[SharedChange], int]:
    """What was chosen on either half, for patients of this data, and the questions that it took."""
    with _told(folder):
        found = [SharedChange.from_dict(part) for part in result["shared"]]
        for change in found:
            _fits(0 <= change.source < len(dataset.class_names), "a class")
            for half in change.halves:
                _fits(all(0 <= cell < n_cells for cell in half.amounts), "a change")
                _fits(set(half.counted) <= set(dataset.ids), "a patient")
        return found, typed(result, "questions", int)


def _fits(sound: bool, what: str) -> None:
    if not sound:
        msg = f"{what} of another cohort"
        raise ValueError(msg)


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        with parsing("a part of this cohort"):
            yield
    except FileFormatError as error:
        msg = (
            f"{folder}: what it keeps is no longer what was written. {error} Delete the folder, or "
            "use another, and run again."
        )
        raise StoreError(msg, parameter="folder") from error
