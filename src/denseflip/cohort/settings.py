"""`CohortSettings`: how a cohort is analysed, and whether a data set allows it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.constraints import Constraints
from denseflip.datasets import Dataset
from denseflip.errors import (
    DatasetError,
    InvalidParameterError,
    UnknownNameError,
    shown,
    whole_number,
)
from denseflip.graph import Cells
from denseflip.oracles.background import Background
from denseflip.request import Request
from denseflip.search.constraints.bound_constraints import bind_constraints
from denseflip.search.methods.brief import unsuitable
from denseflip.search.methods.registry import method_for
from denseflip.serialise import Serialisable

Ints = npt.NDArray[np.int64]
SCAN = "scan"
MAX_CELLS = 5  # of an explanation and of the shared change
LEAST = 4  # patients of a class: two for each half
_NOT_HERE = {
    "max_cells": "use the parameter max_cells, which also applies to the shared change.",
    "predicate": "a function cannot be stored with the results. Use the other constraints.",
    "allowed": "an array cannot be stored with the results. Use freeze to name what must stay, "
    "or allow_seen.",
}


@dataclass(frozen=True)
class CohortSettings(Serialisable, named="the settings of a cohort", closed=True):
    """How a cohort is analysed.

    Attributes
    ----------
    regions : the taxonomy whose cells are counted; None for the node table's first.
    group : the class whose patients are explained; None for both classes of two.
    method : ``"scan"`` (see `Scan`), or any method by name; the same for all labellings.
    patients : maximum number of patients explained per labelling, drawn for each; None for all.
    folds : parts of the cohort; at most the number of patients of the smallest class.
    max_cells : maximum number of cells in an explanation or a shared change.
    cover : the share of the choosing half that a shared change must flip.
    seed : of permutations, folds, draws and redraws.
    constraints : what may change and what a changed graph must be like, as in `Constraints`; the
        same for every patient and labelling. ``predicate`` and ``allowed`` cannot be stored and
        are refused; ``allow_seen`` refers to the whole cohort.
    confounds, site : columns of the subject table. Labels are permuted within the strata of
        `held_by`, and the classifier is evaluated against all of them.
    in_range, balance : as in `Request`, for every patient and labelling and for the shared change;
        None for ``"prefer"`` and ``"auto"``.
    """

    regions: str | None = None
    group: str | None = None
    method: str = SCAN
    patients: int | None = None
    folds: int = 5
    max_cells: int = MAX_CELLS
    cover: float = 0.9
    seed: int = 0
    constraints: Mapping[str, Any] = field(default_factory=dict, hash=False)
    confounds: tuple[str, ...] = ()
    site: str | None = None
    in_range: str | None = None
    balance: str | None = None

    def __post_init__(self) -> None:
        whole_number("folds", self.folds, minimum=2)
        whole_number("max_cells", self.max_cells, minimum=1)
        whole_number("seed", self.seed)
        if self.patients is not None:
            whole_number("patients", self.patients, minimum=2)
        share = isinstance(self.cover, (int, float)) and not isinstance(self.cover, bool)
        if not share or not 0 < self.cover <= 1:
            msg = f"cover must be a share above 0 and at most 1; got {shown(self.cover)}."
            raise InvalidParameterError(msg, parameter="cover")
        terms = Constraints.of(self.constraints)
        request = Request(
            "brief" if self.method == SCAN else self.method,
            in_range=self.in_range,
            balance=self.balance,
            constraints=terms,
        )
        method_for(request)  # raises on an unknown name, and if the method has no such option
        object.__setattr__(self, "balance", request.balance)
        for name, instead in _NOT_HERE.items():
            if getattr(terms, name) is not None:
                msg = f"The constraint {name} is not available for a cohort: {instead}"
                raise InvalidParameterError(msg, parameter="constraints")
        object.__setattr__(self, "constraints", terms.given if terms else {})
        object.__setattr__(self, "confounds", tuple(self.confounds))


def cells_of(dataset: Dataset, settings: CohortSettings) -> Cells:
    """The cells that are counted; an error if there are too few."""
    taxonomy = dataset.nodes.taxonomy(settings.regions)
    if wrong := unsuitable(taxonomy):
        msg = f"{wrong} Choose another taxonomy."
        raise InvalidParameterError(msg, parameter="regions")
    return Cells(taxonomy)


def group_of(dataset: Dataset, settings: CohortSettings) -> int | None:
    """The label of the given class, or None for both classes of two."""
    if settings.group is not None:
        names = dataset.class_names
        if settings.group not in names:
            raise UnknownNameError("class", settings.group, names, parameter="group")
        return names.index(settings.group)
    present = [name for name, count in dataset.class_counts().items() if count]
    if len(present) > 2:
        msg = (
            f"Data set {dataset.name!r} has {len(present)} classes ({', '.join(present)}). Changes "
            "between more than two classes have no common direction: choose the class to explain "
            f"(group={present[0]!r}), or use a data set with two classes."
        )
        raise InvalidParameterError(msg, parameter="group")
    return None


def check_cohort(dataset: Dataset, settings: CohortSettings) -> CohortSettings:
    """The settings with as many folds as the classes allow; an error if halves are impossible."""
    cells_of(dataset, settings)
    group_of(dataset, settings)
    counts = {name: count for name, count in dataset.class_counts().items() if count}
    if len(counts) < 2:
        msg = (
            f"All {len(dataset)} graphs of data set {dataset.name!r} are of one class "
            f"({next(iter(counts), 'none')!r}); a cohort compares two groups."
        )
        raise DatasetError(msg)
    few = {name: count for name, count in counts.items() if count < LEAST}
    if few:
        listed = ", ".join(f"{name!r} has {count}" for name, count in few.items())
        msg = (
            f"Too few patients in data set {dataset.name!r} for two halves: every class needs at "
            f"least {LEAST}, but {listed}. Add graphs of that class, or remove the class."
        )
        raise DatasetError(msg)
    settings = replace(settings, folds=min(settings.folds, *counts.values()))
    if settings.confounds or settings.site:
        from denseflip.classifiers.confounds import read_confounds

        columns, site = settings.confounds or [settings.site or ""], settings.site
        known = read_confounds(dataset, columns, site=site, folds=settings.folds)
        settings = replace(settings, confounds=known.columns, site=known.site)
    terms = terms_of(dataset, settings)
    if terms is not None:
        for identity, graph in zip(dataset.ids, dataset.graphs, strict=True):
            try:
                bind_constraints(terms, graph, dataset.nodes)
            except InvalidParameterError as error:
                msg = f"Graph {identity!r} of data set {dataset.name!r}: {error}"
                raise InvalidParameterError(msg, parameter="constraints") from error
    return settings


def check_labellings(dataset: Dataset, settings: CohortSettings, level: float) -> None:
    """Raise an error if the labels have too few permutations for the significance level."""
    held, strata = held_by(dataset, settings)
    labels = dataset.label_array()
    ways = 1
    for stratum in np.unique(strata):
        left = int((strata == stratum).sum())
        for count in np.unique(labels[strata == stratum], return_counts=True)[1].tolist():
            ways *= math.comb(left, count)
            left -= count
        if ways * level >= 1:
            return
    within = f" within {' and '.join(held)}" if held else ""
    advice = "name fewer confounds" if held else "add graphs"
    msg = (
        f"The labels of data set {dataset.name!r} can be permuted{within} in only {ways:,} "
        f"way{'s' * (ways != 1)}, so no p-value could be as small as {level:g}: {advice}, "
        "use a larger level, or run without p-values (permutations=0)."
    )
    raise InvalidParameterError(msg, parameter=("confounds", "level") if held else "level")


def terms_of(dataset: Dataset, settings: CohortSettings) -> Constraints | None:
    """Bind the constraints to the nodes of the data set; None if there are none.

    The pairs of ``allow_seen`` are counted once, over the whole cohort and regardless of class, so
    they are the same for every labelling, fold and half.
    """
    given = dict(settings.constraints)
    if not given:
        return None
    if (least := given.pop("allow_seen", None)) is not None:
        n = dataset.graphs[0].n_nodes
        seen = Background(dataset.graphs).frequencies(range(len(dataset)))
        first, second = np.triu_indices(n, 1)
        often = seen.at(first * n + second) >= least / 100 - 1e-12
        allowed = np.zeros((n, n), dtype=bool)
        allowed[first[often], second[often]] = allowed[second[often], first[often]] = True
        given["allowed"] = allowed
    return Constraints.of(given)


def held_by(dataset: Dataset, settings: CohortSettings) -> tuple[tuple[str, ...], Ints]:
    """The confounds that permutations of the labels preserve, and the resulting strata.

    These are the site and every confound that is not numeric or has two values: labels are
    permuted only within its values.
    """
    table, n = dataset.subjects, len(dataset)
    held = tuple(
        name
        for name in settings.confounds
        if name == settings.site
        or len(set(table[name])) <= 2
        or not all(isinstance(x, float) for x in table[name])
    )
    rows = [tuple(str(table[name][i]) for name in held) for i in range(n)]
    place = {row: k for k, row in enumerate(dict.fromkeys(rows))}
    return held, np.array([place[row] for row in rows], dtype=np.int64)


def spoken_of(dataset: Dataset, settings: CohortSettings) -> int:
    """The reference class of the counts: the given one, or the second of two."""
    group = group_of(dataset, settings)
    return group if group is not None else int(dataset.label_array().max())
