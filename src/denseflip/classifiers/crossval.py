"""How accurate is a classifier on graphs it was not trained on? (decision D12)

`evaluate` repeats the complete training, including the selection of settings, inside repeated
stratified cross-validation, and again on shuffled labels. The accuracy on the training graphs
themselves, which is the paper's protocol, is reported for comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from denseflip.classifiers.confounds import (
    BySite,
    Confounds,
    Runs,
    confounds_alone,
    judge_aware,
    read_confounds,
)
from denseflip.classifiers.evaluation import Confounding, Evaluation
from denseflip.classifiers.evaluation_design import RefitRecipe, answers_of, design_of
from denseflip.classifiers.features import Features
from denseflip.classifiers.presets import INNER_FOLDS, Design, check_classes, fit_design
from denseflip.classifiers.recipes import Positions
from denseflip.counterfactual import wilson_interval
from denseflip.datasets import Dataset
from denseflip.errors import InvalidParameterError
from denseflip.notebook import with_bar
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.protocol import Oracle
from denseflip.threads import single_thread


@with_bar("Evaluating")
def evaluate(
    dataset: Dataset,
    oracle: Any = None,
    *,
    preset: str | None = None,
    features: str | Features | None = None,
    estimator: Any = None,
    regions: str | None = None,
    confounds: Sequence[str] | str | None = None,
    site: str | None = None,
    folds: int = 5,
    repeats: int = 10,
    permutations: int = 200,
    inner_folds: int = INNER_FOLDS,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Evaluate a classifier on held-out graphs, and for comparison by the paper's protocol.

    Parameters
    ----------
    oracle : the classifier. The name of a preset, a scikit-learn estimator or pipeline (on
        `features`), a classifier of `fit_oracle`, or an oracle that offers ``refit(dataset)`` is
        retrained in every fold. Any other oracle or function is evaluated as it is, on graphs that
        it may have been trained on; `Evaluation.protocol` is then ``"as given"``.
    preset, features, estimator, regions : the classifier, as in `fit_oracle`.
    confounds : columns of the data set's subject table (age, site …), a list or a text with commas.
        They are regressed out inside each fold; see `Evaluation.confounds`.
    site : which of them is the site; by default recognised by its name.
    folds : number of folds; each graph is answered by a classifier trained on the other folds.
    repeats : number of repetitions with new folds; the figures are means.
    permutations : number of runs with shuffled labels; 0 gives no p-value.
    inner_folds : folds inside each training part, for selecting the setting.
    seed : sets folds and shuffles.
    progress : called with (done, total) at the start and after every repeat and permutation; by
        default a notebook shows a bar.

    Examples
    --------
    >>> from denseflip.datasets import load_dataset
    >>> judged = evaluate(load_dataset("mice"), lambda adjacency: 0, permutations=19)
    >>> judged.protocol, judged.accuracy, judged.level
    ('as given', 0.5, 'chance')
    """
    design = design_of(dataset, oracle, preset, features, estimator, regions)
    check_classes(dataset, folds if isinstance(design, Design) else None)
    for name, value, least in (("repeats", repeats, 1), ("permutations", permutations, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            msg = f"'{name}' must be a whole number from {least}; got {value!r}."
            raise InvalidParameterError(msg)
    if confounds is None and site is not None:
        confounds = [site]
    known = None
    if confounds is not None:
        known = read_confounds(dataset, confounds, site=site, folds=folds)
    runs = Runs(folds, repeats, permutations, inner_folds, seed)
    tell = progress or (lambda done, total: None)
    if not isinstance(design, Design):
        return _evaluate_as_given(dataset, design, known, runs, tell)
    return _evaluate_design(dataset, design, known, runs, tell, oracle)


def _evaluate_design(
    dataset: Dataset,
    design: Design,
    confounds: Confounds | None,
    runs: Runs,
    progress: Callable[[int, int], None],
    given: Any,
) -> Evaluation:
    """`evaluate` for a design, which is retrained."""
    _, y = np.unique(dataset.label_array(), return_inverse=True)
    n_classes = int(y.max()) + 1
    total = (runs.repeats + runs.permutations) * (2 if confounds is not None else 1)
    ticked = count(0)

    def tick() -> None:
        progress(next(ticked), total)

    tick()
    tables, null = [], []
    chosen: Counter[str] = Counter()
    rows = design.features.transform(dataset.graphs)
    with single_thread():
        prepared = design.recipe.prepare(rows)
        for r in range(runs.repeats):
            answers, settings = runs.nested(design.recipe, prepared, y, runs.rng(0, r))
            tables.append(confusion_table(y, answers, n_classes))
            chosen.update(str(s) for s in settings if s is not None)
            tick()
        for p in range(runs.permutations):
            rng = runs.rng(1, p)
            shuffled = rng.permutation(y)
            answers, _ = runs.nested(design.recipe, prepared, shuffled, rng)
            null.append(float(np.mean(answers == shuffled)))
            tick()
        aware = None
        if confounds is not None:
            regressed = not isinstance(design.recipe, RefitRecipe)
            found = judge_aware(
                design.recipe, rows, confounds, y, runs, regressed=regressed, tick=tick
            )
            plain = float(np.mean([accuracy_of(table) for table in tables]))
            aware = _confounding(confounds, y, runs, *found, plain=plain, regressed=regressed)
    if isinstance(design.recipe, RefitRecipe):
        described = type(given).__name__
        labels = answers_of(coerce_oracle(given), dataset, dataset.graphs)
    else:
        fitted = fit_design(dataset, design, inner_folds=runs.inner_folds, seed=runs.seed)
        described = fitted.card["estimator"]
        labels = np.asarray(fitted.predict(dataset.graphs))
    # An oracle may answer a class that has no graph here; that counts as wrong.
    seen = np.unique(dataset.label_array())
    answers = np.where(np.isin(labels, seen), np.searchsorted(seen, labels), (y + 1) % n_classes)
    training = confusion_table(y, answers, n_classes)
    counts = {name: number for name, number in dataset.class_counts().items() if number}
    return Evaluation(
        dataset=dataset.name,
        class_counts=counts,
        preset=design.preset,
        features=design.features.name,
        estimator=described,
        **runs._asdict(),
        **_figures(tables, null, counts),
        chosen={design.recipe.parameter: dict(chosen.most_common())} if chosen else {},
        training_accuracy=accuracy_of(training),
        training_f1=f1_of(training),
        confounds=aware,
    )


def _evaluate_as_given(
    dataset: Dataset,
    oracle: Oracle,
    confounds: Confounds | None,
    runs: Runs,
    progress: Callable[[int, int], None],
) -> Evaluation:
    """Evaluate an oracle that cannot be retrained, on graphs that it may have been trained on.

    The p-value compares the same answers with shuffled labels: it tests whether answers and labels
    are related here, not whether they would be on new graphs.
    """
    total = runs.permutations + 1
    progress(0, total)
    truth = dataset.label_array()
    answers = answers_of(oracle, dataset, dataset.graphs)
    present = np.unique(np.concatenate([truth, answers]))
    y, found = np.searchsorted(present, truth), np.searchsorted(present, answers)
    table = confusion_table(y, found, len(present))
    accuracy = accuracy_of(table)
    null, within = [], []
    for p in range(runs.permutations):
        rng = runs.rng(1, p)
        null.append(float(np.mean(rng.permutation(y) == found)))
        if confounds is not None:
            within.append(float(np.mean(confounds.shuffle(y, rng) == found)))
        progress(p + 1, total)
    aware = None
    if confounds is not None:
        unknown = (None, 0, "The classifier cannot be retrained, so no site could be left out.")
        aware = _confounding(
            confounds, y, runs, [accuracy], within, unknown, plain=accuracy, regressed=False
        )
    progress(total, total)
    counts = dataset.class_counts()
    return Evaluation(
        dataset=dataset.name,
        class_counts={dataset.class_names[int(i)]: counts[dataset.class_names[i]] for i in present},
        preset=None,
        features="as it is",
        estimator=type(oracle).__name__,
        **runs._replace(folds=0, inner_folds=0, repeats=1)._asdict(),
        **_figures([table], null, counts),
        chosen={},
        training_accuracy=accuracy,
        training_f1=f1_of(table),
        protocol="as given",
        confounds=aware,
    )


def _confounding(
    confounds: Confounds,
    y: Positions,
    runs: Runs,
    accuracies: list[float],
    null: list[float],
    by_site: BySite,
    *,
    plain: float,
    regressed: bool,
) -> Confounding:
    accuracy, alone, n = float(np.mean(accuracies)), confounds_alone(confounds, y, runs), len(y)
    unseen, n_judged, remark = by_site
    return Confounding(
        columns=confounds.columns,
        site=confounds.site,
        n_sites=confounds.n_sites,
        n_coded=confounds.coded.shape[1],
        regressed=regressed,
        plain=plain,
        accuracy=accuracy,
        interval=wilson_interval(accuracy, n),
        p_value=p_value(accuracy, null),
        null_mean=float(np.mean(null)) if null else None,
        alone=alone,
        alone_interval=wilson_interval(alone, n),
        leave_site_out=unseen,
        leave_site_out_interval=None if unseen is None else wilson_interval(unseen, n_judged),
        remark=remark,
    )


def _figures(
    tables: Sequence[Positions], null: list[float], class_counts: Mapping[str, int]
) -> dict[str, Any]:
    """The figures of an `Evaluation` from the confusion table of each repeat."""
    accuracies = [accuracy_of(table) for table in tables]
    accuracy, n = float(np.mean(accuracies)), sum(class_counts.values())
    return {
        "accuracy": accuracy,
        "interval": wilson_interval(accuracy, n),
        "f1": float(np.mean([f1_of(table) for table in tables])),
        "balanced_accuracy": float(np.mean([balanced_accuracy_of(table) for table in tables])),
        "majority_rate": max(class_counts.values()) / n,
        "p_value": p_value(accuracy, null),
        "null_mean": float(np.mean(null)) if null else None,
        "confusion": tuple(tuple(row) for row in np.sum(tables, axis=0).tolist()),
        "repeat_accuracies": tuple(accuracies),
    }


# ---- figures ------------------------------------------------------------------------------


def confusion_table(truth: Positions, answers: Positions, n_classes: int) -> Positions:
    """Counts by true class (row) and predicted class (column)."""
    flat = np.bincount(truth * n_classes + answers, minlength=n_classes**2)
    return flat.reshape(n_classes, n_classes)


def accuracy_of(table: Positions) -> float:
    """Share of correct answers."""
    return float(np.trace(table) / table.sum())


def balanced_accuracy_of(table: Positions) -> float:
    """Mean over the classes with graphs of the share of correct answers."""
    sizes = table.sum(axis=1)
    return float(np.mean(np.diagonal(table)[sizes > 0] / sizes[sizes > 0]))


def f1_of(table: Positions) -> float:
    """F1 of the second class if there are two, else the mean over the classes."""
    hits = np.diagonal(table)
    both = table.sum(axis=0) + table.sum(axis=1)
    scores = 2 * hits / np.maximum(both, 1)
    return float(scores[1] if len(table) == 2 else scores.mean())


def p_value(observed: float, null: list[float]) -> float | None:
    """Share of shuffles with at least the observed value, the observed run included."""
    if not null:
        return None
    # Means over repeats have rounding errors; ties must count as ties.
    return (1 + sum(x >= observed - 1e-12 for x in null)) / (1 + len(null))
