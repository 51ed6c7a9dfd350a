"""How good is a classifier on graphs it has not seen? (decision D12)

`evaluate` runs the whole making of a classifier, selection of its setting included, inside
repeated stratified cross-validation, and again on shuffled labels. The paper's protocol, accuracy
on the very graphs it was trained on, stands beside it for comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from denseflip.checks import renamed
from denseflip.classifiers.evaluation import Evaluation
from denseflip.classifiers.features import Features
from denseflip.classifiers.presets import (
    INNER_FOLDS,
    Design,
    check_classes,
    fit_design,
    make_design,
)
from denseflip.classifiers.recipes import Positions, nested_answers
from denseflip.counterfactual import wilson_interval
from denseflip.datasets import Dataset
from denseflip.errors import InvalidParameterError
from denseflip.oracles.threads import single_thread


@renamed(taxonomy="regions")
def evaluate(
    dataset: Dataset,
    preset: str | None = None,
    *,
    features: str | Features | None = None,
    estimator: Any = None,
    regions: str | None = None,
    folds: int = 5,
    repeats: int = 10,
    permutations: int = 200,
    inner_folds: int = INNER_FOLDS,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Judge a classifier on graphs it has not seen, and beside it by the paper's protocol.

    Parameters
    ----------
    preset, features, estimator, regions : what is judged, as in `fit_oracle`.
    folds : every graph is answered by a classifier trained on the other folds.
    repeats : how often that is done with new folds; the figures are means.
    permutations : how often it is done (once each) with shuffled labels; 0 gives no p-value.
    inner_folds : folds inside each training part, for selecting the setting.
    seed : decides folds and shuffles.
    progress : called with (done, total) at the start and after every repeat and permutation.
    """
    check_classes(dataset, folds)
    for name, value, least in (("repeats", repeats, 1), ("permutations", permutations, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            msg = f"'{name}' must be a whole number from {least}; got {value!r}."
            raise InvalidParameterError(msg)
    design = make_design(dataset, preset, features=features, estimator=estimator, regions=regions)
    return evaluate_design(
        dataset,
        design,
        folds=folds,
        repeats=repeats,
        permutations=permutations,
        inner_folds=inner_folds,
        seed=seed,
        progress=progress,
    )


def evaluate_design(
    dataset: Dataset,
    design: Design,
    *,
    folds: int,
    repeats: int,
    permutations: int,
    inner_folds: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """`evaluate` for a design and numbers already checked."""
    _, y = np.unique(dataset.label_array(), return_inverse=True)
    n_classes = int(y.max()) + 1
    total = repeats + permutations
    accuracies, f1s, balanced, null = [], [], [], []
    confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
    chosen: Counter[str] = Counter()
    if progress:
        progress(0, total)
    rows = design.features.transform(dataset.graphs)
    with single_thread():
        prepared = design.recipe.prepare(rows)
        for r in range(repeats):
            rng = np.random.default_rng([seed, 0, r])
            answers, settings = nested_answers(design.recipe, prepared, y, folds, inner_folds, rng)
            table = confusion_table(y, answers, n_classes)
            accuracies.append(accuracy_of(table))
            f1s.append(f1_of(table))
            balanced.append(balanced_accuracy_of(table))
            confusion += table
            chosen.update(str(s) for s in settings if s is not None)
            if progress:
                progress(r + 1, total)
        for p in range(permutations):
            rng = np.random.default_rng([seed, 1, p])
            shuffled = rng.permutation(y)
            answers, _ = nested_answers(design.recipe, prepared, shuffled, folds, inner_folds, rng)
            null.append(float(np.mean(answers == shuffled)))
            if progress:
                progress(repeats + p + 1, total)
    accuracy = float(np.mean(accuracies))
    oracle = fit_design(dataset, design, inner_folds=inner_folds, seed=seed)
    answers = np.searchsorted(oracle.classes, oracle.predict(dataset.graphs))
    training = confusion_table(y, answers, n_classes)
    counts = {name: count for name, count in dataset.class_counts().items() if count}
    return Evaluation(
        dataset=dataset.name,
        class_counts=counts,
        preset=design.preset,
        features=design.features.name,
        estimator=oracle.card["estimator"],
        folds=folds,
        inner_folds=inner_folds,
        repeats=repeats,
        permutations=permutations,
        seed=seed,
        accuracy=accuracy,
        interval=wilson_interval(accuracy, len(y)),
        f1=float(np.mean(f1s)),
        balanced_accuracy=float(np.mean(balanced)),
        majority_rate=max(counts.values()) / len(y),
        p_value=p_value(accuracy, null),
        null_mean=float(np.mean(null)) if null else None,
        confusion=tuple(tuple(int(x) for x in row) for row in confusion),
        repeat_accuracies=tuple(accuracies),
        chosen={design.recipe.parameter: dict(chosen.most_common())} if chosen else {},
        training_accuracy=accuracy_of(training),
        training_f1=f1_of(training),
    )


# ---- figures ------------------------------------------------------------------------------


def confusion_table(truth: Positions, answers: Positions, n_classes: int) -> Positions:
    """Counts by true class (row) and answered class (column)."""
    flat = np.bincount(truth * n_classes + answers, minlength=n_classes**2)
    return flat.reshape(n_classes, n_classes)


def accuracy_of(table: Positions) -> float:
    """Share of right answers."""
    return float(np.trace(table) / table.sum())


def balanced_accuracy_of(table: Positions) -> float:
    """Mean over the classes of the share of right answers."""
    return float(np.mean(np.diagonal(table) / table.sum(axis=1)))


def f1_of(table: Positions) -> float:
    """F1 of the second class if there are two, else the mean over the classes."""
    hits = np.diagonal(table)
    both = table.sum(axis=0) + table.sum(axis=1)
    scores = 2 * hits / np.maximum(both, 1)
    return float(scores[1] if len(table) == 2 else scores.mean())


def p_value(observed: float, null: list[float]) -> float | None:
    """Share of shuffles that did at least as well, the observed run counted among them."""
    if not null:
        return None
    # Means over repeats carry rounding; a tie must count as one.
    return (1 + sum(x >= observed - 1e-12 for x in null)) / (1 + len(null))
