"""The parts of a cohort: the spec of each, its work, and reading its record from a store.

A part is the evaluation of the classifier, one labelling, or the shared change. A store may have
been modified or may come from somebody else, so records are checked when they are read.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from denseflip.classifiers.evaluation import Evaluation
from denseflip.cohort.cohort_oracles import Untrained, fit_of
from denseflip.cohort.labelling import Labelling, run_labelling
from denseflip.cohort.settings import CohortSettings
from denseflip.cohort.shared import Shared, find_shared
from denseflip.datasets import Dataset
from denseflip.errors import EngineError, FileFormatError, StoreError
from denseflip.runs.identity import versions
from denseflip.runs.result_store import Record, make_record
from denseflip.runs.sources import (
    DataSpec,
    OracleSpec,
    evaluate_oracle_of,
    load_data,
    load_oracle_of,
)
from denseflip.runs.spec_base import Listener, Spec
from denseflip.serialise import read, write

_REPEATS, _SHUFFLES = 10, 200  # of the evaluation
_PART = "a part of this cohort"


class _Judged(NamedTuple):
    """The result of the part ``judge``."""

    evaluation: Evaluation | None


@cache
def cohort_code() -> str:
    """Digest of the files of this package that determine the results."""
    h = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.name not in {"cohort.py", "words.py"}:  # these only display results
            h.update(path.name.encode() + b"\0" + path.read_bytes())
    return h.hexdigest()[:16]


@dataclass(frozen=True)
class CohortSpec(Spec):
    """One part of a cohort.

    Attributes
    ----------
    settings : how the cohort is analysed.
    part : ``judge`` (held-out accuracy), ``labels`` (a labelling) or ``shared`` (the change).
    number : number of the labelling; 0 is the true one.
    refit : whether the classifier is retrained for each.
    subjects : digest of the confound columns, which the data set's own digest leaves out.
    code : digest of the source files that determine it, besides those of every result.
    """

    data: DataSpec
    oracle: OracleSpec
    versions: Mapping[str, Any] = field(default_factory=lambda: dict(versions()), kw_only=True)
    settings: CohortSettings = field(default_factory=CohortSettings, kw_only=True)
    part: str = field(default="labels", kw_only=True)
    number: int = field(default=0, kw_only=True)
    refit: bool = field(default=True, kw_only=True)
    subjects: str = field(default="", kw_only=True)
    code: str = field(default_factory=lambda: str(cohort_code()), kw_only=True)

    kind = "cohort"

    @property
    def sources(self) -> tuple[DataSpec, OracleSpec]:
        """The data set and the oracle."""
        return self.data, self.oracle

    @property
    def identity(self) -> dict[str, Any]:
        """Everything the numbers depend on."""
        return {
            "kind": self.kind,
            "data": {"name": self.data.name, "digest": self.data.digest},
            "oracle": self.oracle.identity,
            "versions": dict(self.versions),
            "settings": self.settings.to_dict(),
            "part": self.part,
            "number": self.number,
            "refit": self.refit,
            "subjects": self.subjects,
            "cohort": self.code,
        }

    def work(self, on_event: Listener | None = None) -> Record:
        """Evaluate the classifier, run one labelling, or find the shared change."""
        if self.code != cohort_code():
            msg = (
                "This worker has a different version of the cohort code. Install the same version "
                "of denseflip on all machines."
            )
            raise EngineError(msg)
        started = time.perf_counter()
        dataset = _dataset(self.data, self.subjects)
        fit = fit_of(self.oracle) if self.refit else load_oracle_of(self.oracle, dataset)
        result: dict[str, Any]
        if self.part == "judge":
            result = write(_Judged(_judge(self.oracle, dataset, self.settings)))
        elif self.part == "shared":
            result = write(find_shared(dataset, self.settings, fit))
        else:
            found = run_labelling(dataset, self.settings, fit, self.number)
            result = (replace(found, patients=()) if self.number else found).to_dict()
        times = {"total": time.perf_counter() - started}
        return make_record(self.identity, result=result, times=times)


_loaded: dict[tuple[str, str], Dataset] = {}  # by digests, in every process


def _dataset(spec: DataSpec, subjects: str) -> Dataset:
    key = (spec.digest, subjects)
    if key not in _loaded:
        _loaded.clear()
        _loaded[key] = load_data(spec)
    return _loaded[key]


def _judge(spec: OracleSpec, dataset: Dataset, settings: CohortSettings) -> Evaluation | None:
    """The held-out accuracy: evaluated here if it can be trained, else read from its card."""
    numbers: dict[str, Any] = {
        "folds": settings.folds,
        "repeats": _REPEATS,
        "permutations": _SHUFFLES,
        "seed": settings.seed,
    }
    if settings.confounds:
        numbers |= {"confounds": list(settings.confounds), "site": settings.site}
    if spec.kind == "preset":
        return evaluate_oracle_of(spec, dataset, **numbers)
    if isinstance(spec.given, Untrained):
        from denseflip.classifiers.crossval import evaluate

        given = spec.given
        return evaluate(dataset, estimator=given.estimator, features=given.features, **numbers)
    ready = load_oracle_of(spec, dataset)
    if settings.confounds:  # its card does not cover these confounds
        from denseflip.classifiers.crossval import evaluate

        return evaluate(dataset, ready, **numbers)
    judged = (getattr(ready, "card", None) or {}).get("evaluation")
    return None if judged is None else Evaluation.from_dict(judged)


# ---- records ----------------------------------------------------------------------------------


def read_judged(result: Mapping[str, Any], folder: Path) -> Evaluation | None:
    """The held-out accuracy, if the classifier could be evaluated."""
    with _told(folder):
        return read(_Judged, result, _PART).evaluation


def read_labellings(
    results: Sequence[Mapping[str, Any]], dataset: Dataset, n_cells: int, folder: Path
) -> list[Labelling]:
    """The counts under each labelling, checked against the cells and patients of this data."""
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


def read_shared(result: Mapping[str, Any], dataset: Dataset, n_cells: int, folder: Path) -> Shared:
    """The changes chosen on each half, checked against this data, and their number of queries."""
    with _told(folder):
        found = read(Shared, result, _PART)
        for change in found.shared:
            _fits(0 <= change.source < len(dataset.class_names), "a class")
            for half in change.halves:
                _fits(all(0 <= cell < n_cells for cell in half.amounts), "a change")
                _fits(set(half.counted) <= set(dataset.ids), "a patient")
        return found


def _fits(sound: bool, what: str) -> None:
    if not sound:
        msg = f"Not {_PART}: {what} of another cohort."
        raise FileFormatError(msg)


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except FileFormatError as error:
        msg = (
            f"{folder}: its content was modified. {error} Delete the folder or use another, and "
            "run again."
        )
        raise StoreError(msg, parameter="folder") from error
