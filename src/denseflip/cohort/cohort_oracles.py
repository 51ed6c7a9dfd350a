"""The classifiers of a cohort: retrained for each labelling, or used as they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from denseflip.cohort.labelling import Fit
from denseflip.datasets import Dataset
from denseflip.errors import DatasetError, InvalidParameterError
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.session import Session
from denseflip.runs.identity import content_id, describe_given, describe_untrained
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
            msg = f"{spec.name} names a class {named[place]!r} that the data set names {known!r}."
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
            f"{dataset.n_classes - 1} ({', '.join(dataset.class_names)}), so correct answers "
            "cannot be recognised."
        )
        raise DatasetError(msg, parameter="oracle")
