"""Run a cohort: every labelling is a spec for the engines and a record of the store.

One worker trains and explains a whole labelling (the true one, or a permutation) and returns a few
hundred numbers. An interrupted run continues from the finished labellings, on any engine, with the
same result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from denseflip.classifiers.confounds import column_names
from denseflip.classifiers.presets import PRESETS
from denseflip.cohort.cohort import CORRECTIONS, Cohort, assemble, gate
from denseflip.cohort.cohort_parts import (
    CohortSpec,
    check_answers,
    fit_of,
    preset_of_file,
    read_judged,
    read_labellings,
    read_shared,
    spec_of,
)
from denseflip.cohort.labelling import Labelling, run_labelling
from denseflip.cohort.settings import (
    CohortSettings,
    cells_of,
    check_cohort,
    check_labellings,
    group_of,
)
from denseflip.cohort.stats import check_permutations
from denseflip.constraints import Constraints
from denseflip.datasets import Dataset
from denseflip.errors import EngineError, InvalidParameterError, UnknownNameError, whole_number
from denseflip.notebook import with_bar
from denseflip.oracles.protocol import Oracle
from denseflip.runs.engines import make_engine
from denseflip.runs.identity import check_sendable, content_id
from denseflip.runs.result_store import Store, open_store
from denseflip.runs.run import run_specs
from denseflip.runs.sources import (
    OracleSpec,
    data_of,
    load_oracle_of,
)
from denseflip.story.wording.vocabulary import Vocabulary

PERMUTATIONS = 200  # of the labels, if the classifier can be retrained
_PILOT = 4  # subjects explained for the estimate, under each of …
_PERMUTED = 2  # … the true labels and this many permutations
_PER_PERSON = 16  # queries of the shared change per cell and patient: two directions, 8 levels

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Estimate:
    """Estimated cost of a cohort, measured on a few subjects under true and permuted labels.

    Attributes
    ----------
    labellings : number of labellings: the true labels and the permutations.
    patients : number of patients explained under each.
    questions : approximate number of queries.
    seconds : approximate time for one worker.
    workers : number of workers.
    """

    labellings: int
    patients: int
    questions: int
    seconds: float
    workers: int = 1

    @property
    def wall(self) -> float:
        """Approximate seconds until it is done."""
        return self.seconds / max(1, self.workers)

    def __str__(self) -> str:
        minutes = self.wall / 60
        time_words = f"{minutes:.0f} min" if minutes >= 2 else f"{max(1, round(self.wall))} s"
        return (
            f"{self.labellings} labellings of {self.patients} subjects each: about "
            f"{self.questions:,} queries and {time_words} on {self.workers} "
            f"worker{'' if self.workers == 1 else 's'}."
        )


# ---- the one call ---------------------------------------------------------------------------


@with_bar("Explaining the cohort")
def explain_cohort(
    dataset: Dataset | str | Path,
    oracle: Any = None,
    *,
    group: str | None = None,
    regions: str | None = None,
    permutations: int | None = None,
    level: float = 0.05,
    correction: str = "max",
    patients: int | None = None,
    method: str = "scan",
    folds: int = 5,
    max_cells: int = 5,
    cover: float = 0.9,
    in_range: str | None = None,
    balance: str | bool | None = None,
    vocabulary: str | Vocabulary = "auto",
    constraints: Constraints | Mapping[str, Any] | None = None,
    confounds: Sequence[str] | str | None = None,
    site: str | None = None,
    features: Any = None,
    seed: int = 0,
    input: str = "auto",
    batch: bool = False,
    engine: str = "auto",
    jobs: int = 1,
    scheduler: str | None = None,
    store: str | Path | Store | None = None,
    progress: Progress | None = None,
    confirm: Callable[[Estimate], bool] | None = None,
) -> Cohort:
    """Find what the explanations of a whole group have in common, and test it against chance.

    The classifier is evaluated first, on patients that it was not trained on; if it is at chance,
    nothing else is reported. Otherwise every patient is explained with a classifier that was not
    trained on it, and for each region pair the correctly classified patients whose decision
    depends on it are counted. Then the labels are permuted many times, and each time classifiers
    are retrained and all patients explained again: a p-value is the share of permutations in
    which *any* region pair reaches the same count (Westfall and Young). Finally, one shared
    change is chosen on one half and tested on the other.

    Parameters
    ----------
    dataset : the data set, its name or its file. It needs two classes, or choose one (`group`).
    oracle : a name as in `open_oracle`; ``regions-logistic`` by default. A preset, by name, or an
        untrained scikit-learn estimator is retrained for every labelling, and so is a preset that
        was trained before (a ``.dfo`` file or an oracle), unless ``permutations=0``. Anything else
        (a function, another oracle) is used as it is: then there are no p-values, and patients may
        be explained with a classifier that was trained on them.
    group : the class whose patients are explained; both of two by default.
    regions : the taxonomy to count in; the node table's first by default.
    permutations : number of label permutations; 0 for no p-values. By default 200 for a classifier
        that can be retrained, else 0.
    level : the significance level.
    correction : ``"max"``, family-wise, or ``"bh"``, the false discovery rate.
    patients : maximum number of patients to explain under each labelling, drawn for each; the true
        labels are treated like all others, so the p-values stay valid.
    method : the search, the same for all labellings: ``"scan"``, or the name of any method.
    folds, max_cells, cover, seed : see `CohortSettings`.
    in_range, balance : as in `explain`, for every patient, every labelling and the shared change.
        By default changes in range are preferred, and the number of edges is kept if the graphs of
        the new class have nearly the same number. The statement says how many are in range.
    vocabulary : the words of the statement and the page, as in `explain`; ``"auto"`` chooses them
        by the node table. The results do not depend on it.
    constraints : what may change, as in `explain`; the same for every patient, every labelling and
        the shared change. See `CohortSettings` for those that a cohort refuses.
    confounds, site : columns of the subject table, as in `evaluate`: if the classifier does not
        beat them, no conclusions about the groups are drawn. Labels are permuted within the site
        and within every other confound that is not numeric or has two values. The p-values do not
        account for other numeric confounds; the statement says so.
    features : the features of an estimator, as in `fit_oracle`.
    input, batch : the graph format of a ``module:function``, as in `as_oracle`.
    engine, jobs, scheduler : where the work is done; the results are the same everywhere.
    store : a folder for finished parts; the same call continues from there.
    progress : called with (done, total), in labellings; by default a notebook shows a bar.
    confirm : called with the `Estimate` before the labellings start; if it returns False, the
        result contains only the accuracy.

    Raises
    ------
    DatasetError
        If a class has too few patients for two halves, if all are in one class, or if the
        classifier assigns all of them to one class.
    InvalidParameterError
        If there are too few permutations for the level, if permutations are requested for a
        classifier that cannot be retrained, or if there are too many classes to compare.
    MissingInputError
        If the nodes have no regions.

    Examples
    --------
    >>> cohort = explain_cohort("mice", regions="hemisphere")  # doctest: +SKIP
    >>> [(row.name, row.direction, row.patients) for row in cohort.named]  # doctest: +SKIP
    [('L – R', 'fewer', 16)]
    """
    if permutations is not None:
        permutations = whole_number("permutations", permutations)
    check_permutations(PERMUTATIONS if permutations is None else permutations, level)
    if correction not in CORRECTIONS:
        raise UnknownNameError("correction", str(correction), CORRECTIONS, parameter="correction")
    terms: Any = constraints or {}
    settings = CohortSettings(
        regions, group, method, patients, folds, max_cells, float(cover), seed,
        constraints=terms, confounds=column_names(confounds), site=site, in_range=in_range,
        balance=balance,  # type: ignore[arg-type]
    )  # fmt: skip
    workers = 1 if engine == "serial" else jobs
    runner = make_engine(engine, jobs, scheduler)
    data = data_of(dataset)
    assert data.given is not None
    loaded = data.given.check_shared_nodes("A cohort")
    settings = check_cohort(loaded, settings)
    words = Vocabulary.of(vocabulary, loaded.nodes)
    spec, refit = spec_of(oracle, features, input, batch, lasting=store is not None)
    if not refit and permutations != 0 and (preset := preset_of_file(spec, loaded)) is not None:
        spec, refit = preset, True
    if not refit and permutations:
        msg = (
            f"{spec.name} cannot be retrained, so permuting the labels {permutations} times is not "
            "possible. Use permutations=0 for results without p-values, or a classifier that can "
            f"be retrained: a preset ({', '.join(PRESETS)}), a file of one, or an untrained "
            "scikit-learn estimator."
        )
        raise InvalidParameterError(msg, parameter=("permutations", "oracle"))
    if permutations is None:
        permutations = PERMUTATIONS if refit else 0
    if workers > 1 or engine in {"processes", "dask"}:
        check_sendable(oracle=spec.given)
    known = {name: list(loaded.subjects[name]) for name in settings.confounds}
    shared: dict[str, Any] = {"settings": settings, "refit": refit}
    shared["subjects"] = content_id(known) if known else ""
    if not refit:
        check_answers(spec, loaded)
    if permutations:
        check_labellings(loaded, settings, level)
    with open_store(store) as kept:

        def run(specs: Sequence[CohortSpec], told: Progress | None) -> dict[str, Any]:
            outcome = run_specs(list(specs), kept, runner, progress=told, workers=workers)
            if outcome.failures:
                first = outcome.failures[0]
                msg = (
                    f"{len(outcome.failures)} of {outcome.total} parts of the cohort failed. First "
                    f"error: {first.message} Finished parts are kept; run again to continue."
                )
                raise EngineError(msg)
            return {s.id: outcome.records[s.id]["result"] for s in specs}

        judge = CohortSpec(data, spec, part="judge", **shared)
        evaluation = read_judged(run([judge], None)[judge.id], kept.folder)
        facts: dict[str, Any] = {
            "oracle": spec.name,
            "refitted": refit,
            "evaluation": evaluation,
            "level": level,
            "correction": correction,
            "vocabulary": words,
        }
        if gate(evaluation):
            return _nothing(loaded, settings, facts, ())
        true = CohortSpec(data, spec, **shared)
        change = CohortSpec(data, spec, part="shared", **shared)
        null = [CohortSpec(data, spec, number=i + 1, **shared) for i in range(permutations)]
        if confirm is not None:
            have = {record["id"] for record in kept.records()}
            left = sum(labelling.id not in have for labelling in (true, *null))
            told = estimate_cohort(loaded, spec, settings, refit, left, workers=workers)
            if not confirm(told):
                return _nothing(
                    loaded, settings, facts, ("The run was declined; no patient was explained.",)
                )
        results = run([true, change, *null], progress)
        fits = (loaded, len(cells_of(loaded, settings)), kept.folder)
        labellings = read_labellings([results[x.id] for x in (true, *null)], *fits)
        changes, asked = read_shared(results[change.id], *fits)
    return assemble(
        loaded,
        settings,
        observed=labellings[0],
        null=labellings[1:],
        shared=changes,
        questions=sum(labelling.questions for labelling in labellings) + asked,
        notes=_notes(settings, loaded, refit, permutations),
        **facts,
    )


def estimate_cohort(
    dataset: Dataset,
    oracle: OracleSpec,
    settings: CohortSettings,
    refit: bool,
    labellings: int,
    *,
    workers: int = 1,
) -> Estimate:
    """Explain a few subjects and estimate the cost of all labellings.

    Under permuted labels most searches are short, because subjects who are classified wrongly are
    not explained. So both kinds of labelling are tried.
    """
    spent = {"fit": 0.0, "fits": 0}
    made: Any = fit_of(oracle) if refit else load_oracle_of(oracle, dataset)

    def timed(train: Dataset) -> Oracle:
        started = time.perf_counter()
        trained: Oracle = made(train)
        spent["fit"] += time.perf_counter() - started
        spent["fits"] += 1
        return trained

    def pilot(numbers: Sequence[int]) -> tuple[float, float]:
        """Seconds and queries per subject under some labellings, without training."""
        started, fitted = time.perf_counter(), spent["fit"]
        found = [
            run_labelling(dataset, few, timed if refit else made, i, judged=False) for i in numbers
        ]
        people = max(1, sum(labelling.explained for labelling in found))
        seconds = time.perf_counter() - started - (spent["fit"] - fitted)
        return seconds / people, sum(labelling.questions for labelling in found) / people

    few = replace(settings, patients=_PILOT)
    per_person, asked = pilot([0])
    null = labellings - 1
    per_null, asked_null = pilot(range(1, 1 + min(null, _PERMUTED))) if null else (0.0, 0.0)
    per_fit = spent["fit"] / max(1, spent["fits"])
    group = group_of(dataset, settings)
    everybody = len(dataset) if group is None else dataset.labels.count(group)
    n = everybody if settings.patients is None else min(settings.patients, everybody)
    shared = _PER_PERSON * len(cells_of(dataset, settings)) * everybody
    questions = n * (asked + null * asked_null) + shared
    seconds = n * (per_person + null * per_null) + labellings * settings.folds * per_fit
    seconds += shared * per_person / max(1.0, asked)
    return Estimate(labellings, n, round(questions), seconds, workers)


# ---- results --------------------------------------------------------------------------------


def _nothing(
    dataset: Dataset, settings: CohortSettings, facts: dict[str, Any], notes: Sequence[str]
) -> Cohort:
    """A cohort that contains only the classifier's accuracy."""
    n = len(cells_of(dataset, settings))
    observed = Labelling((0,) * n, (0,) * n, (0.0,) * n, 0, 0, 0, 0)
    return assemble(
        dataset, settings, observed=observed, null=(), shared=(), questions=0, notes=notes, **facts
    )


def _notes(
    settings: CohortSettings, dataset: Dataset, refit: bool, permutations: int
) -> tuple[str, ...]:
    notes = [f"The test uses the search {settings.method} for both true and permuted labels."]
    group = group_of(dataset, settings)
    total = len(dataset) if group is None else dataset.labels.count(group)
    if settings.patients is not None and settings.patients < total:
        notes.append(
            f"{settings.patients} of {total} patients were drawn and explained under each "
            "labelling; the shared change uses all."
        )
    if refit:
        notes.append(
            f"Classifiers were trained on {settings.folds - 1} of {settings.folds} folds of the "
            "cohort and used to explain the rest: no patient is explained with a classifier that "
            "was trained on it."
        )
    if permutations:
        notes.append(
            "A p-value is the share of random labellings with at least the same count. If some "
            "region pairs do differ, the p-value of another pair does not prove that this pair "
            "differs by itself."
        )
    return tuple(notes)
