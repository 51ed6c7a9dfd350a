"""One labelling of a cohort, true or permuted: train, explain, count by cell.

The cohort is split into folds. For each fold a classifier is trained on the others, so every
patient is explained with a classifier that was not trained on it. Only correctly classified
patients count: the reason for a wrong answer says nothing about the group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denseflip.classifiers.recipes import stratified_folds
from denseflip.classifiers.refits import Refits, make_refits
from denseflip.cohort.scan import Scan, spreads_of
from denseflip.cohort.settings import (
    SCAN,
    CohortSettings,
    cells_of,
    group_of,
    held_by,
    spoken_of,
    terms_of,
)
from denseflip.cohort.stats import group_difference
from denseflip.constraints import Constraints
from denseflip.counterfactual import AsRead, Counterfactual
from denseflip.datasets import Dataset
from denseflip.errors import MissingInputError, OracleError
from denseflip.graph import Cells
from denseflip.oracles.background import Background
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import Session
from denseflip.request import BALANCE, IN_RANGE, Request
from denseflip.result_scores import Stability
from denseflip.search.claims.places import in_cells, whole_claim
from denseflip.search.claims.redraw import claim_of, redraw
from denseflip.search.claims.reference import judge_claim, limits_of
from denseflip.search.claims.stability import claim_stability
from denseflip.search.constraints.constrained_session import known_constraints_of
from denseflip.search.core.method import Method
from denseflip.search.explain import explain
from denseflip.search.methods.registry import method_for, takes
from denseflip.serialise import Serialisable

Fit = Callable[[Dataset], Oracle]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Patient(Serialisable, named="a patient of a cohort"):
    """The result of one patient under the true labels.

    Attributes
    ----------
    id, label : of the graph; the label is the true class.
    answer : the class that a classifier not trained on it gives it.
    changes : cell number → connections added less removed, of the counterfactual found.
    true_as_read : whether redraws of the change flip, too.
    questions : number of queries.
    in_range : whether every place that is changed ends in the range of the graphs that the
        classifier was trained on and puts in the other class, as for a single graph (`Limits`);
        None if that is not known, and under permuted labels.
    balanced : whether as many connections change elsewhere, so that their number is kept.
    stability : for how many classifiers trained again on resampled data the change holds; None if
        the classifier cannot be trained again, and under permuted labels.
    """

    id: str
    label: int
    answer: int | None
    changes: Mapping[int, int]
    true_as_read: bool
    questions: int
    status: str = ""
    in_range: bool | None = None
    balanced: bool = False
    stability: Stability | None = None

    @property
    def right(self) -> bool:
        """Whether it is classified correctly."""
        return self.answer == self.label

    @property
    def told(self) -> bool:
        """Whether it counts: classified correctly, with a change found that holds in redraws."""
        return self.right and self.true_as_read and bool(self.changes)


@dataclass(frozen=True)
class Labelling(Serialisable, named="the counts of a cohort"):
    """The counts of one labelling.

    Attributes
    ----------
    more, fewer : by cell: number of patients in which more connections there, or fewer, indicate
        the reference class (`spoken_of`). More indicate it if adding them changes the answer to
        that class, or removing them changes the answer from it.
    difference : by cell: how the densities of the groups differ, from `group_difference`.
    explained, right, told : patients explained, correctly classified, and counted.
    questions : number of queries, without those for background labels.
    patients : the result of each patient; a store keeps them only for the true labels.
    """

    more: tuple[int, ...]
    fewer: tuple[int, ...]
    difference: tuple[float, ...]
    explained: int
    right: int
    told: int
    questions: int
    patients: tuple[Patient, ...] = field(default=(), repr=False)

    @property
    def in_range(self) -> int:
        """How many of the patients counted have a change in range."""
        return sum(patient.told and patient.in_range is True for patient in self.patients)

    @property
    def balanced(self) -> int:
        """How many of the patients counted have a change that keeps the number of connections."""
        return sum(patient.told and patient.balanced for patient in self.patients)

    @property
    def stability(self) -> float | None:
        """Mean share of redraws that flip classifiers trained again, over the patients counted."""
        seen = [p.stability.share for p in self.patients if p.told and p.stability is not None]
        known = [share for share in seen if share is not None]
        return float(np.mean(known)) if known else None


# ---- the work ------------------------------------------------------------------------------


def permuted(dataset: Dataset, number: int, seed: int, strata: Ints | None = None) -> Dataset:
    """The data set with its labels permuted; number 0 is the data set as it is.

    With strata, labels are permuted only within each of them.
    """
    if not number:
        return dataset
    rng = np.random.default_rng([seed, 20, number])
    labels = dataset.label_array()
    if strata is None or not strata.any():
        return replace(dataset, labels=tuple(rng.permutation(labels).tolist()))
    mixed = labels.copy()
    for stratum in np.unique(strata):
        at = np.flatnonzero(strata == stratum)
        mixed[at] = labels[rng.permutation(at)]
    return replace(dataset, labels=tuple(mixed.tolist()))


def run_labelling(
    dataset: Dataset,
    settings: CohortSettings,
    fit: Fit | Oracle,
    number: int,
    *,
    judged: bool = True,
) -> Labelling:
    """Train, explain and count under one labelling.

    Under permuted labels, patients who are classified wrongly are not explained: they do not count.

    Parameters
    ----------
    dataset : the cohort with its true labels.
    settings : as returned by `check_cohort`.
    fit : trains a classifier on a data set; or a fixed classifier, which is then used for all
        patients, including those that it was trained on.
    number : 0 for the true labels, else the number of the permutation.
    judged : whether to judge the range and the stability of changes, under the true labels.
    """
    labelled = permuted(dataset, number, settings.seed, held_by(dataset, settings)[1])
    terms = terms_of(dataset, settings)
    cells, group = cells_of(dataset, settings), group_of(dataset, settings)
    labels = labelled.label_array()
    spoken = spoken_of(dataset, settings)
    densities = np.stack([cells.densities(g) for g in dataset.graphs])
    difference = group_difference(densities, labels == spoken)
    rng = np.random.default_rng([settings.seed, 21, number])
    fixed = hasattr(fit, "predict")
    fold = np.zeros(len(labels), dtype=np.int64) if fixed else folds_of(labels, settings.folds, rng)
    chosen = _chosen(labels, group, settings.patients, rng)
    search: Any = None if settings.method == SCAN else method_of(settings, cells)
    found: dict[int, Patient] = {}
    for k in range(int(fold.max()) + 1):
        inside = [i for i in chosen if fold[i] == k]
        if not inside:
            continue
        known = labelled if fixed else labelled.subset(fold != k)
        oracle: Any = fit if fixed else fit(known)  # type: ignore[operator]
        background = Background(known.graphs)
        if settings.method == SCAN:
            spreads = tuple(spreads_of(cells, known.graphs).tolist())  # once, not per patient
            search = Scan(
                cells.taxonomy.name,
                settings.max_cells,
                spreads,
                settings.in_range or IN_RANGE[0],
                settings.balance or BALANCE[0],
            )
        judging = None
        if judged and not number:
            judging = _Judging(background, _refits(known, oracle))
        answers: dict[int, Any] = {}
        if number:  # nobody reads of patients who do not count
            asked = Session(oracle).query_all([labelled.graphs[i] for i in inside])
            answers = {i: a.label for i, a in zip(inside, asked, strict=True)}
        for i in inside:
            if answers and answers[i] != labelled.labels[i]:
                found[i] = Patient(labelled.ids[i], labelled.labels[i], answers[i], {}, False, 1)
                continue
            seed = int(np.random.default_rng([settings.seed, 22, number, i]).integers(2**31))
            result = explain(
                labelled.graphs[i],
                oracle,
                search,
                nodes=labelled.nodes,
                background=background,
                constraints=terms,
                seed=seed,
                confirm=0,
            )
            found[i] = _patient(labelled, i, result, cells, oracle, terms, judging)
    patients = tuple(found[i] for i in sorted(found))
    more, fewer = count_changes(patients, len(cells), spoken)
    return Labelling(
        more,
        fewer,
        tuple(difference.tolist()),
        len(patients),
        sum(p.right for p in patients),
        sum(p.told for p in patients),
        sum(p.questions for p in patients),
        patients,
    )


def method_of(settings: CohortSettings, cells: Cells) -> Method:
    """The method of the settings, searching in these cells where it has such an option."""
    request = Request(settings.method, in_range=settings.in_range, balance=settings.balance)
    if takes(settings.method, "max_cells"):
        request = replace(request, max_cells=settings.max_cells)
    return method_for(replace(request, regions=cells.taxonomy.name))


def _patient(
    dataset: Dataset,
    i: int,
    result: Counterfactual,
    cells: Cells,
    oracle: Oracle,
    constraints: Constraints | None,
    judging: _Judging | None,
) -> Patient:
    """The result of one patient."""
    changes: dict[int, int] = {}
    read, asked, in_range, balanced = result.as_read, result.calls, None, False
    stability = None
    if result.found:
        session = Session(oracle)
        nodes = dataset.nodes
        if read is None:  # a search over pairs: use the claim of its shortest sentence
            claim = claim_of(result, session, cells.taxonomy, nodes=nodes, constraints=constraints)
            read = redraw(
                result, claim, session, seed=result.seed, nodes=nodes, constraints=constraints
            )
            asked += session.calls
        else:
            claim = whole_claim(result, "regions", cells.taxonomy, nodes)[0]
            claim = replace(claim, reading=read.reading)
        balanced = claim.balanced
        # One region with all regions is counted in the pairs of regions that change.
        counted = in_cells(result, claim) if claim.with_all else claim.amounts
        for (a, b), added, removed in counted:
            assert b is not None
            changes[cells.number((a, b))] = added - removed
        if judging is not None and _is_about(read, cells):
            background, refits = judging
            bound = known_constraints_of(result, nodes, background, constraints)
            limits = limits_of(result, claim, background, session, bound)
            if limits is not None:
                places = judge_claim(claim, limits.reference, limits.redraw)
                known = {place.in_range for place in places}
                in_range = None if None in known else all(known)
            if refits is not None:
                stability = claim_stability(
                    result, claim, session, refits, background, bound, result.seed
                )
    return Patient(
        dataset.ids[i],
        dataset.labels[i],
        result.label_before if isinstance(result.label_before, int) else None,
        dict(sorted(changes.items())),
        _is_about(read, cells) and read is not None and read.true,
        asked,
        str(result.status),
        in_range,
        balanced,
        stability,
    )


class _Judging(NamedTuple):
    """What a change is judged with, beside its redraws: real graphs, and the refits."""

    background: Background
    refits: Refits | None


def _refits(dataset: Dataset, oracle: Oracle) -> Refits | None:
    """The classifier trained again on samples of its training data; None if it cannot be."""
    try:
        return make_refits(dataset, oracle)
    except (MissingInputError, OracleError):
        return None


def _is_about(read: AsRead | None, cells: Cells) -> bool:
    """Whether a sentence was tested in these regions; a method may have chosen others."""
    return read is not None and read.language == "regions" and read.regions == cells.taxonomy.name


def count_changes(patients: Sequence[Patient], n_cells: int, spoken: int) -> list[tuple[int, ...]]:
    """Number of patients in which each cell is changed, by direction; see `Labelling`."""
    more, fewer = np.zeros(n_cells, dtype=np.int64), np.zeros(n_cells, dtype=np.int64)
    for patient in patients:
        if not patient.told:
            continue
        sign = -1 if patient.label == spoken else 1
        for cell, change in patient.changes.items():
            if change:
                (more if sign * change > 0 else fewer)[cell] += 1
    return [tuple(side.tolist()) for side in (more, fewer)]


def folds_of(labels: Ints, folds: int, rng: np.random.Generator) -> Ints:
    """The fold of each patient; every class is spread evenly over the folds."""
    _, y = np.unique(labels, return_inverse=True)
    return stratified_folds(y, folds, rng)


def _chosen(labels: Ints, group: int | None, most: int | None, rng: np.random.Generator) -> Ints:
    """Positions of the patients to explain: all, or a sample drawn evenly by class."""
    members = np.flatnonzero(labels == group) if group is not None else np.arange(len(labels))
    if most is None or most >= len(members):
        return members
    drawn: list[Any] = []
    classes = np.unique(labels[members])
    queues = {int(c): rng.permutation(members[labels[members] == c]).tolist() for c in classes}
    while len(drawn) < most:
        for queue in queues.values():
            if queue and len(drawn) < most:
                drawn.append(queue.pop())
    return np.sort(np.asarray(drawn, dtype=np.int64))
