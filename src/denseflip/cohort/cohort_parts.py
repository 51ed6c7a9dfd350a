"""The parts of a cohort: its classifiers, the spec and work of each part, and its stored record.

A part is the evaluation of the classifier, one labelling, or the shared change. A store may have
been modified or may come from somebody else, so records are checked when they are read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from denseflip.classifiers.evaluation import Evaluation
from denseflip.cohort.labelling import Fit, Labelling, run_labelling
from denseflip.cohort.settings import CohortSettings
from denseflip.cohort.shared import Shared
from denseflip.cohort.shared_search import find_shared
from denseflip.datasets import Dataset
from denseflip.errors import (
    DatasetError,
    FileFormatError,
    InvalidParameterError,
    StoreError,
)
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.session import Session
from denseflip.runs.identity import (
    content_id,
    describe_given,
    describe_untrained,
    versions,
)
from denseflip.runs.result_store import Record, make_record
from denseflip.runs.sources import (
    DataSpec,
    OracleSpec,
    evaluate_oracle_of,
    load_data,
    load_oracle_of,
    oracle_of_words,
    preset_oracle,
)
from denseflip.runs.spec_base import Listener, Spec
from denseflip.search.core.target import class_names_of
from denseflip.serialise import read, write

DEFAULT_ORACLE = "regions-logistic"


@dataclass(frozen=True)
class Untrained:
    """An estimator and its features, to be trained for every labelling."""

    estimator: Any
    features: Any


def spec_of(
    oracle: Any, features: Any, input: str, batch: bool, *, lasting: bool
) -> tuple[OracleSpec, bool]:
    """The oracle's spec, and whether it is retrained for each labelling."""
    if oracle is None and features is None:
        oracle = DEFAULT_ORACLE
    if isinstance(oracle, (str, Path)):
        if features is not None:
            msg = f"features applies only to an estimator; {str(oracle)!r} has its own features."
            raise InvalidParameterError(msg, parameter="features")
        spec = oracle_of_words(str(oracle), input=input, batch=batch)
        return spec, spec.kind == "preset"
    untrained = hasattr(oracle, "fit") and not hasattr(oracle, "classes_")
    if oracle is None or untrained:
        given = Untrained(oracle, features)
        described = [describe_untrained(oracle, "oracle", lasting=lasting)]
        described.append(describe_given(features, "features", lasting=lasting))
        name = f"{features}, default" if oracle is None else type(oracle).__name__
        return OracleSpec(name, "given", content_id(described), given=given), True
    ready = coerce_oracle(oracle)
    digest = content_id(describe_given(ready, "oracle", lasting=lasting))
    preset = (getattr(ready, "card", None) or {}).get("preset")
    name = getattr(oracle, "__name__", None) or preset or type(oracle).__name__
    return OracleSpec(str(name), "given", digest, given=ready), False


def preset_of_file(spec: OracleSpec, dataset: Dataset) -> OracleSpec | None:
    """The preset that a file was trained from; None if it cannot be trained the same way here."""
    from denseflip.classifiers.fitted import FittedOracle
    from denseflip.classifiers.presets import PRESETS, make_design

    saved = load_oracle_of(spec, dataset) if spec.kind in ("file", "given") else None
    if not isinstance(saved, FittedOracle) or saved.card.get("preset") not in PRESETS:
        return None
    preset = str(saved.card["preset"])
    same = make_design(dataset, preset).features.to_dict() == saved.features.to_dict()
    return preset_oracle(preset, seed=saved.card.get("seed", 0)) if same else None


def fit_of(spec: OracleSpec) -> Fit:
    """A function that trains the classifier of a spec on a data set."""
    if isinstance(spec.given, Untrained):
        from denseflip.classifiers.presets import fit_oracle

        given = spec.given
        return lambda train: fit_oracle(train, estimator=given.estimator, features=given.features)
    return lambda train: load_oracle_of(spec, train)


def check_answers(spec: OracleSpec, dataset: Dataset) -> None:
    """Raise an error if a classifier assigns all graphs to one class, or has other classes."""
    session = Session(load_oracle_of(spec, dataset))
    named = class_names_of(session.oracle)
    for place, known in enumerate(dataset.class_names):
        if named.get(place, known) in set(dataset.class_names) - {known}:
            msg = f"{spec.name} has the class {named[place]!r} where the data set has {known!r}."
            raise DatasetError(
                f"{msg} Both must list the same classes in the same order.", parameter="oracle"
            )
    labels = {answer.label for answer in session.query_all(dataset.graphs)}
    if len(labels) == 1:
        (only,) = labels
        name: Any = only
        if isinstance(only, int) and 0 <= only < dataset.n_classes:
            name = dataset.class_names[only]
        msg = (
            f"{spec.name} assigns all {len(dataset)} patients of data set {dataset.name!r} to the "
            f"class {name!r}: there is no decision to explain. Check the input format of the "
            "classifier, or train one on this data set."
        )
        raise DatasetError(msg, parameter="oracle")
    if not labels & set(range(dataset.n_classes)):
        answers = ", ".join(sorted(map(repr, labels))[:5])
        msg = (
            f"{spec.name} answers {answers}, but the labels of data set {dataset.name!r} are 0 to "
            f"{dataset.n_classes - 1} ({', '.join(dataset.class_names)}), so its answers cannot "
            f"be compared with the labels."
        )
        raise DatasetError(msg, parameter="oracle")


_REPEATS, _SHUFFLES = 10, 200  # of the evaluation
_PART = "a part of this cohort"


class _Judged(NamedTuple):
    """The result of the part ``judge``."""

    evaluation: Evaluation | None


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
    """

    data: DataSpec
    oracle: OracleSpec
    versions: Mapping[str, Any] = field(default_factory=lambda: dict(versions()), kw_only=True)
    settings: CohortSettings = field(default_factory=CohortSettings, kw_only=True)
    part: str = field(default="labels", kw_only=True)
    number: int = field(default=0, kw_only=True)
    refit: bool = field(default=True, kw_only=True)
    subjects: str = field(default="", kw_only=True)

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
        }

    def work(self, on_event: Listener | None = None) -> Record:
        """Evaluate the classifier, run one labelling, or find the shared change."""
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
