"""The classifiers of a cohort: trained again for each labelling, or used as they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from denseflip.cohort.labelling import Fit
from denseflip.datasets import Dataset
from denseflip.errors import DatasetError, InvalidParameterError, said
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.session import Session
from denseflip.runs.identity import content_id
from denseflip.runs.object_identity import describe_given, describe_untrained, pickle_anything
from denseflip.runs.sources import OracleSpec, load_oracle_of, oracle_of_words
from denseflip.search.core.target import class_names_of

DEFAULT_ORACLE = "regions-logistic"


@dataclass(frozen=True)
class Untrained:
    """An estimator and its features, to be trained for every labelling."""

    estimator: Any
    features: Any


def spec_of(
    oracle: Any, features: Any, input: str, batch: bool, *, lasting: bool
) -> tuple[OracleSpec, bool]:
    """The oracle's spec, and whether it is trained anew for each labelling."""
    if oracle is None and features is None:
        oracle = DEFAULT_ORACLE
    if isinstance(oracle, (str, Path)):
        if features is not None:
            msg = f"features are for an estimator; {str(oracle)!r} has its own."
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


def check_sendable(spec: OracleSpec, engine: str, workers: int) -> None:
    """Say so before any work if an object cannot be sent to where the work is done."""
    if spec.given is None or (workers == 1 and engine not in {"processes", "dask"}):
        return
    try:
        pickle_anything(spec.given)
    except Exception as error:  # whatever an object says when it is pickled
        msg = (
            f"oracle: {spec.name} cannot be sent to other processes ({said(error, 120)}). Give it "
            "by words (module:function, a file), or work in this process (jobs=1)."
        )
        raise InvalidParameterError(msg, parameter="jobs") from error


def fit_of(spec: OracleSpec) -> Fit:
    """What trains the classifier of a spec on a data set."""
    if isinstance(spec.given, Untrained):
        from denseflip.classifiers.presets import fit_oracle

        given = spec.given
        return lambda train: fit_oracle(train, estimator=given.estimator, features=given.features)
    return lambda train: load_oracle_of(spec, train)


def check_answers(spec: OracleSpec, dataset: Dataset) -> None:
    """Say so if a classifier puts everybody in one class: there is nobody to lead anywhere."""
    session = Session(load_oracle_of(spec, dataset))
    named = class_names_of(session.oracle)
    for place, known in enumerate(dataset.class_names):
        if named.get(place, known) in set(dataset.class_names) - {known}:
            msg = f"{spec.name} calls {named[place]!r} what the data set calls {known!r}."
            raise DatasetError(f"{msg} Let both count their classes alike.", parameter="oracle")
    labels = {answer.label for answer in session.query_all(dataset.graphs)}
    if len(labels) == 1:
        (only,) = labels
        name: Any = only
        if isinstance(only, int) and 0 <= only < dataset.n_classes:
            name = dataset.class_names[only]
        msg = (
            f"{spec.name} puts all {len(dataset)} patients of data set {dataset.name!r} in the "
            f"class {name!r}: there is no decision to explain. Check what the classifier wants "
            "to be given, or train one on this data set."
        )
        raise DatasetError(msg, parameter="oracle")
    if not labels & set(range(dataset.n_classes)):
        answers = ", ".join(sorted(map(repr, labels))[:5])
        msg = (
            f"{spec.name} answers {answers}, but the labels of data set {dataset.name!r} are 0 to "
            f"{dataset.n_classes - 1} ({', '.join(dataset.class_names)}): who is rightly "
            "classified cannot be told."
        )
        raise DatasetError(msg, parameter="oracle")
