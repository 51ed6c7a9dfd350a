"""`Refits`: a classifier trained again on resampled data, several times.

An explanation that holds for most of them tells of the groups; one that holds for few tells of one
fit. `make_refits` trains whatever can be trained again. `known_refits` returns the refits of a
classifier of this package if they are cheap, and keeps them for the next explanation.
"""

from __future__ import annotations

import math
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload
from weakref import WeakKeyDictionary

import numpy as np

from denseflip.classifiers.confounds import is_site
from denseflip.classifiers.evaluation_design import RefitRecipe, design_of
from denseflip.classifiers.features import Features
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.heads import is_estimator
from denseflip.classifiers.persist import SUFFIX, load_oracle
from denseflip.classifiers.presets import (
    PRESETS,
    Design,
    check_classes,
    fit_samples,
    get_preset,
    select_setting,
)
from denseflip.classifiers.recipes import Matrix, Positions
from denseflip.datasets import Dataset
from denseflip.errors import (
    InvalidParameterError,
    MissingInputError,
    OracleError,
    UnknownNameError,
    counted,
    said,
    shown,
    whole_number,
)
from denseflip.graph import Graph
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.open import import_value
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import Session
from denseflip.oracles.weighted import WeightedOracle
from denseflip.threads import single_thread

REFITS = 20  # refits by default
AFFORDABLE = 10.0  # seconds that refits may cost if nobody asked for them
_STREAM = 19  # makes the samples independent of other draws with the same seed
_KEPT = 8_000_000  # numbers of features kept in memory
_MOST_VALUES = 10  # a column of numbers with more different values is split at its median


@dataclass(frozen=True, eq=False)
class Refits(Sequence[Oracle]):
    """Classifiers of one kind, each trained on another sample; see `make_refits`.

    Attributes
    ----------
    oracles : the classifiers.
    notes : remarks for the reader, for example on refits that give every graph the same label.
    """

    oracles: tuple[Oracle, ...]
    notes: tuple[str, ...] = ()

    @overload
    def __getitem__(self, key: int) -> Oracle: ...
    @overload
    def __getitem__(self, key: slice) -> Refits: ...
    def __getitem__(self, key: int | slice) -> Oracle | Refits:
        if isinstance(key, slice):
            return Refits(self.oracles[key], self.notes)
        return self.oracles[key]

    def __len__(self) -> int:
        return len(self.oracles)

    def __repr__(self) -> str:
        return f"Refits({counted(len(self), 'classifier', 'classifiers')})"


def make_refits(
    dataset: Dataset,
    classifier: Any,
    n: int = REFITS,
    *,
    columns: Sequence[str] | None = None,
    seed: int = 0,
) -> Refits:
    """Train a classifier again on bootstrap samples of a data set.

    Each sample draws as many graphs of every class as the data set has, with replacement. A setting
    that was selected on the whole data set, such as C or k, stays the same. The same seed gives the
    same samples, and the first of 20 refits are those of a smaller number.

    Parameters
    ----------
    dataset : the data set that the classifier was trained on.
    classifier : the name of a preset; a classifier of `fit_oracle`; a scikit-learn estimator or
        pipeline as an oracle (`as_oracle`); an oracle that offers ``refit(dataset)``; a function
        ``fit(dataset)`` that returns an oracle, also by name (``"module:function"``); or a folder
        with several models (``.dfo``), which are used as they are.
    n : the number of refits.
    columns : columns of the subject table; samples keep the number of graphs of each class for each
        of their values as well. By default the column of the site, if there is one.
    seed : sets the samples.

    Raises
    ------
    MissingInputError
        If the classifier cannot be trained again.
    OracleError
        If training fails, or if every refit gives all graphs the same label.

    Examples
    --------
    >>> from denseflip import fit_oracle, load_dataset
    >>> mice = load_dataset("mice")
    >>> make_refits(mice, "edges-svm", 3)
    Refits(3 classifiers)
    """
    n = whole_number("refits", n, minimum=1)
    if (folder := _folder(classifier)) is not None:
        return _checked(dataset, _models(folder))
    fit = _fit_function(dataset, classifier)
    if fit is None:
        raise MissingInputError(_NOT_REFITTABLE, parameter="refits")
    strata = _strata(dataset, columns)
    oracles = []
    for number in range(n):
        rng = np.random.default_rng([seed, _STREAM, number])
        try:
            oracles.append(coerce_oracle(fit(_sample(strata, rng))))
        except Exception as error:
            msg = f"Refit {number + 1} of {n} could not be trained: {said(error)}"
            raise OracleError(msg, parameter="refits") from error
    return _checked(dataset, oracles)


_NOT_REFITTABLE = (
    "This classifier cannot be trained again here, so its stability is not known. Pass a function "
    "fit(dataset) that trains it, a list of several models of its kind, or a folder of them "
    f"({SUFFIX} files)."
)


@dataclass
class _Kept:
    """The refits of a classifier on a data set, or how many seconds one refit takes."""

    dataset: Dataset
    seconds: float
    refits: Refits | None = None


_kept: WeakKeyDictionary[FittedOracle, list[_Kept]] = WeakKeyDictionary()
_read: WeakKeyDictionary[FittedOracle, Refits] = WeakKeyDictionary()


def known_refits(
    dataset: Dataset | None, oracle: Any, *, seconds: float = AFFORDABLE
) -> Refits | None:
    """The refits of a classifier of this package; None if there are none, or they are expensive.

    One refit is trained first. The others are trained only if all of them together cost no more
    than this many seconds. Refits are kept as long as the classifier is in memory. Refits that were
    saved beside the file of a classifier are read, whatever they cost.
    """
    oracle = getattr(oracle, "oracle", oracle)  # an oracle may be wrapped to measure its time
    if not isinstance(oracle, FittedOracle):
        return None
    if oracle.path is not None and refits_folder(oracle.path).is_dir():
        if oracle not in _read:
            _read[oracle] = _saved(oracle, refits_folder(oracle.path))
        return _read[oracle]
    if dataset is None or not _is_of(oracle, dataset):
        return None
    listed = _kept.setdefault(oracle, [])
    kept = next((one for one in listed if one.dataset is dataset), None)
    try:
        if kept is None:
            new = "sklearn" not in sys.modules  # a new worker: the first refit includes its import
            for _ in range(1 + new):
                started = time.process_time()  # not of the clock: other programs do not count
                make_refits(dataset, oracle, 1)
                cost = time.process_time() - started
            kept = _Kept(dataset, cost)
            listed.append(kept)
        if kept.refits is None and kept.seconds < math.inf and REFITS * kept.seconds <= seconds:
            kept.refits = make_refits(dataset, oracle)
    except OracleError:  # the classifier gives every graph the same label
        listed[:] = [one for one in listed if one.dataset is not dataset]
        listed.append(kept := _Kept(dataset, math.inf))
    return kept.refits


def kept_refits(oracle: Any) -> list[_Kept]:
    """What `known_refits` keeps of a classifier, to be sent to another process with it."""
    oracle = getattr(oracle, "oracle", oracle)
    return _kept.get(oracle, []) if isinstance(oracle, FittedOracle) else []


def keep_refits(oracle: Any, kept: list[_Kept]) -> None:
    """Keep what another process has sent with this classifier."""
    if kept:
        _kept[getattr(oracle, "oracle", oracle)] = kept


def _is_of(oracle: FittedOracle, dataset: Dataset) -> bool:
    """Whether a preset was trained on this data set, as far as its card tells."""
    trained = oracle.card.get("dataset", {})
    facts = {"name": dataset.name, "n_graphs": len(dataset), "class_counts": dataset.class_counts()}
    return oracle.card.get("preset") in PRESETS and all(
        trained.get(key) == value for key, value in facts.items()
    )


# ---- how to train again -----------------------------------------------------------------------

Fit = Callable[[Positions], Any]  # trains on the graphs at these positions


def _fit_function(dataset: Dataset, classifier: Any) -> Fit | None:
    """How to train a classifier on some graphs of a data set; None if it cannot be trained."""
    if isinstance(classifier, str):
        if ":" not in classifier:
            get_preset(classifier)  # raises if there is none
        else:
            classifier = import_value(classifier, "refits")
    trains = callable(classifier) and not hasattr(classifier, "predict")
    if trains and not isinstance(classifier, type):
        return lambda at: classifier(resample(dataset, at))
    if isinstance(classifier, WeightedOracle):  # it knows the weights of its own graphs only
        return None
    known = isinstance(classifier, (str, FittedOracle)) or is_estimator(classifier)
    if not (known or callable(getattr(classifier, "refit", None))):
        return None
    design = design_of(dataset, classifier, None, None, None, None)
    if not isinstance(design, Design):
        return None
    if isinstance(recipe := design.recipe, RefitRecipe):
        return lambda at: recipe.refit(resample(dataset, at))
    check_classes(dataset)
    shared = SharedFeatures(design.features)
    rows = shared.transform(dataset.graphs)
    value = _setting(dataset, classifier, design, rows)
    train = fit_samples(dataset, replace(design, features=shared), rows, value)

    def fit(at: Positions) -> FittedOracle:
        with single_thread():
            return train(at)

    return fit


def _setting(dataset: Dataset, classifier: Any, design: Design, rows: Matrix) -> Any:
    """The setting of a classifier, or the one that would be selected on the whole data set.

    It is not selected again for each sample: a refit is the same classifier on other data.
    """
    if isinstance(classifier, FittedOracle):
        chosen = classifier.card.get("chosen") or {}
        if design.recipe.parameter in chosen:
            return chosen[design.recipe.parameter]
    with single_thread():
        return select_setting(dataset, design, rows)


def resample(dataset: Dataset, at: Positions) -> Dataset:
    """The data set of the graphs at these positions; copies of a graph get ids of their own."""
    whole, ids, seen = dataset.subset(np.unique(at)), [], dict[str, int]()
    place = {key: i for i, key in enumerate(whole.ids)}
    for i in at.tolist():
        key = dataset.ids[i]
        seen[key] = seen.get(key, 0) + 1
        ids.append(key if seen[key] == 1 else f"{key} (copy {seen[key]})")
    rows = [place[dataset.ids[i]] for i in at.tolist()]
    return replace(
        whole,
        graphs=tuple(whole.graphs[i] for i in rows),
        labels=tuple(whole.labels[i] for i in rows),
        ids=tuple(ids),
        subjects={k: tuple(column[i] for i in rows) for k, column in whole.subjects.items()},
        weights=None if whole.weights is None else whole.weights[rows],
    )


def _strata(dataset: Dataset, columns: Sequence[str] | None) -> list[Positions]:
    """The positions of the graphs of each class, and of each value of some columns."""
    table = dataset.subjects
    if columns is None:
        columns = [name for name in table if is_site(name) and None not in table[name]][:1]
    for name in columns:
        if name not in table:
            where = f"in the subject table of data set {dataset.name!r}"
            raise UnknownNameError("column", name, table, where, parameter="columns")
    values = [_few_values(table[name]) for name in columns]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i, label in enumerate(dataset.labels):
        groups.setdefault((label, *(column[i] for column in values)), []).append(i)
    return [np.array(groups[key]) for key in sorted(groups, key=str)]


def _few_values(column: Sequence[Any]) -> Sequence[Any]:
    """The column, or, for many different numbers, whether they exceed the median."""
    numbers = [x for x in column if isinstance(x, (int, float))]
    if len(set(column)) <= _MOST_VALUES or len(numbers) < len(column):
        return column
    middle = float(np.median(numbers))
    return [x > middle for x in numbers]


def _sample(strata: Sequence[Positions], rng: np.random.Generator) -> Positions:
    """A bootstrap sample: as many graphs of every stratum as there are."""
    return np.sort(np.concatenate([rng.choice(at, size=len(at)) for at in strata]))


class SharedFeatures:
    """Features that are computed once per graph for all refits."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self._rows: OrderedDict[int, Matrix] = OrderedDict()
        self._last: tuple[list[int], Matrix] = ([], np.zeros((0, 0)))

    def __reduce__(self) -> Any:  # another process gets the features, not the rows kept here
        return SharedFeatures, (self.features,)

    @property
    def name(self) -> str:
        """The name of the features."""
        return self.features.name

    @property
    def any_size(self) -> bool:
        """Whether graphs with different numbers of nodes give rows of the same length."""
        return self.features.any_size

    def to_dict(self) -> dict[str, Any]:
        """The plain form of the features."""
        return self.features.to_dict()

    def transform(self, graphs: Sequence[Graph]) -> Matrix:
        """One row per graph."""
        keys = [graph.key for graph in graphs]
        if keys and keys == self._last[0]:  # the refits get the same graphs one after the other
            return self._last[1]
        known = self._rows
        new = {key: graph for key, graph in zip(keys, graphs, strict=True) if key not in known}
        found: dict[int, Matrix] = {}
        if new:
            rows = self.features.transform(list(new.values()))
            found = dict(zip(new, rows, strict=True))
        out = np.stack([found[key] if key in found else known[key] for key in keys])
        known.update(found)
        most = max(1, _KEPT // max(1, out.shape[1]))
        while len(known) > most:
            known.popitem(last=False)
        self._last = (keys, out)
        return out


# ---- refits beside the file of a classifier -----------------------------------------------------


def refits_folder(path: Path) -> Path:
    """Where the refits of a classifier are saved: ``x-refits`` beside ``x.dfo``."""
    return path.with_name(f"{path.stem}-refits")


def save_refits(refits: Refits, path: Path) -> Path:
    """Save refits beside the file of their classifier; return the folder.

    Files of refits that were there are replaced; other files stay.
    """
    folder = refits_folder(path)
    folder.mkdir(exist_ok=True)
    for old in folder.glob(f"refit-*{SUFFIX}"):
        old.unlink()
    for number, refit in enumerate(refits, 1):
        assert isinstance(refit, FittedOracle)
        refit.save(folder / f"refit-{number:03d}{SUFFIX}")
    return folder


def _saved(oracle: FittedOracle, folder: Path) -> Refits:
    """The refits in the folder of a classifier; they share the features of each graph."""
    models = _models(folder)
    features = oracle.features.to_dict()
    for model in models:
        if model.features.to_dict() != features or model.class_names != oracle.class_names:
            msg = (
                f"{folder}: {model.path and model.path.name} is not a refit of {oracle.path}: its "
                "features or classes are others. Train both again, or "
                "delete the folder."
            )
            raise InvalidParameterError(msg, parameter="refits")
    shared = SharedFeatures(oracle.features)
    return Refits(tuple(replace(model, features=shared) for model in models))


# ---- models that are there --------------------------------------------------------------------


def _folder(classifier: Any) -> Path | None:
    """The folder that is named, if one is."""
    if isinstance(classifier, Path):
        return classifier
    if isinstance(classifier, str) and Path(classifier).is_dir():
        return Path(classifier)
    return None


def _models(folder: Path) -> list[FittedOracle]:
    """The classifiers in the files of a folder, by name."""
    if not folder.is_dir():
        msg = f"{folder}: there is no such folder."
        raise InvalidParameterError(msg, parameter="refits")
    files = sorted(folder.glob(f"*{SUFFIX}"))
    if not files:
        msg = f"{folder}: the folder has no models ({SUFFIX} files written by `denseflip train`)."
        raise InvalidParameterError(msg, parameter="refits")
    return [load_oracle(file) for file in files]


def _checked(dataset: Dataset, oracles: Sequence[Oracle]) -> Refits:
    """The refits, if some of them distinguish graphs of the data set."""
    n, constant = len(oracles), dict[Any, int]()
    for oracle in oracles:
        labels = {answer.label for answer in Session(oracle).query_all(dataset.graphs)}
        if len(labels) == 1:
            [label] = labels
            constant[label] = constant.get(label, 0) + 1
    total = sum(constant.values())
    named = " or ".join(shown(label) for label in constant)
    if total == n:
        msg = (
            f"All {counted(n, 'refit', 'refits')} give every graph of data set {dataset.name!r} "
            f"the same label ({named}), so they say nothing about stability."
        )
        raise OracleError(msg, parameter="refits")
    if not total:
        return Refits(tuple(oracles))
    note = f"{total} of {n} refits give every graph the same label ({named})."
    return Refits(tuple(oracles), (note,))
