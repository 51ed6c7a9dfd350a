"""Confounds: read from the subject table, coded, and regressed out inside each fold.

The regression is fitted on the training part alone; of the other graphs it uses only their
confounds. It removes linear effects. What remains may still depend on a confound in another way,
so the accuracy from the confounds alone and the accuracy on unseen sites are reported too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from denseflip.classifiers.recipes import (
    LinearSvmRecipe,
    LogisticRecipe,
    Matrix,
    NeighboursRecipe,
    Positions,
    Recipe,
    nested_answers,
    rotated,
    select,
    stratified_folds,
)
from denseflip.datasets import Dataset
from denseflip.datasets.subjects import Column
from denseflip.errors import (
    DatasetError,
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
    counted,
    shown,
)

#: Columns taken as the site if none is named, written without "_", "-" and spaces.
SITES = frozenset({"site", "siteid", "scanner", "scannerid", "center", "centre", "studysite"})


@dataclass(frozen=True, eq=False)
class Confounds:
    """The confounds of a data set's graphs as numbers; built by `read_confounds`.

    Attributes
    ----------
    columns : their names.
    coded : one row per graph; a text column is coded by one column per value except one.
    others : the same without the site, for training on some sites and evaluating on another.
    site : the name of the site's column, or None.
    sites : each graph's site as a number from 0; all 0 without a site.
    """

    columns: tuple[str, ...]
    coded: Matrix
    others: Matrix
    site: str | None = None
    sites: Positions = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def n_sites(self) -> int:
        """Number of sites; 0 without a site."""
        return 0 if self.site is None else int(self.sites.max()) + 1

    def shuffle(self, y: Positions, rng: np.random.Generator) -> Positions:
        """The labels shuffled within each site."""
        out = y.copy()
        for k in range(int(self.sites.max()) + 1):
            at = np.flatnonzero(self.sites == k)
            out[at] = y[rng.permutation(at)]
        return out


def read_confounds(
    dataset: Dataset, columns: Sequence[str] | str, *, site: str | None = None, folds: int = 2
) -> Confounds:
    """Read and check the confounds of a data set, which are columns of its subject table.

    The site is also a confound; by default it is recognised by its name. All columns must be known,
    complete and vary between graphs, and be fewer than the graphs of a training part.
    """
    names = [name for name in dict.fromkeys(column_names(columns)) if name]
    if site is not None and site not in names:
        names.append(site)
    if not names:
        msg = "confounds names no column; give at least one, for example ['age', 'site']."
        raise InvalidParameterError(msg, parameter="confounds")
    table = dataset.subjects
    if not table:
        msg = (
            f"Data set {dataset.name!r} has no subject table, so it has no confounds "
            f"({', '.join(names)}). Import it with a labels file that has them as further columns, "
            "or pass Dataset(…, subjects={'age': […], …})."
        )
        raise MissingInputError(msg, parameter="confounds")
    for name in names:
        if name not in table:
            where = f"in the subject table of data set {dataset.name!r}"
            raise UnknownNameError("confound", name, table, where, parameter="confounds")
    if site is None:
        site = next((name for name in names if is_site(name)), None)
    problems = [p for name in names if (p := _missing(dataset, name, table[name]))]
    if problems:
        without = [
            key for i, key in enumerate(dataset.ids) if any(table[x][i] is None for x in names)
        ]
        advice = (
            "Fill them in, leave the column out, or import the data without these graphs "
            f"(drop_subjects={','.join(without)!r})."
        )
        raise DatasetError(
            f"{' '.join(problems)} {advice}", parameter=("confounds", "drop_subjects")
        )
    for name in names:
        if len(set(table[name])) < 2:
            msg = (
                f"The confound {name!r} is {shown(table[name][0])} for all {len(dataset)} graphs, "
                "so it has no effect. Leave it out."
            )
            if name == site:
                msg = (
                    f"All {len(dataset)} graphs come from one site ({shown(table[name][0])}), so "
                    f"there is no other site to evaluate on. Leave {name!r} out of the confounds."
                )
            raise InvalidParameterError(msg, parameter="confounds")
    parts = {name: _coded(table[name], texts=name == site) for name in names}
    coded = np.hstack(list(parts.values()))
    fitted = len(dataset) - -(-len(dataset) // folds)  # graphs of the smallest training part
    if coded.shape[1] + 1 >= fitted:
        wide = max(parts, key=lambda name: parts[name].shape[1])
        msg = (
            f"More confounds than graphs to fit them: {', '.join(names)} need {coded.shape[1]} "
            f"columns, but a training part has {counted(fitted, 'graph', 'graphs')}. Name fewer; "
            f"{wide!r} alone needs {parts[wide].shape[1]}."
        )
        raise InvalidParameterError(msg, parameter="confounds")
    rest = [parts[name] for name in names if name != site]
    others = np.hstack(rest) if rest else np.zeros((len(dataset), 0))
    sites = np.zeros(len(dataset), dtype=np.int64)
    if site is not None:
        sites = np.unique([str(x) for x in table[site]], return_inverse=True)[1].astype(np.int64)
    return Confounds(tuple(names), coded, others, site, sites)


def column_names(columns: Any) -> tuple[str, ...]:
    """Names of columns, from a list or a text with commas; None is an empty list."""
    try:
        given = columns.split(",") if isinstance(columns, str) else list(columns or ())
    except TypeError as error:
        msg = f"confounds must be names of columns, for example ['age', 'site']; got {columns!r}."
        raise InvalidParameterError(msg, parameter="confounds") from error
    return tuple(str(name).strip() for name in given)


def is_site(name: str) -> bool:
    """Whether a column is named after sites."""
    return "".join(c for c in name.lower() if c.isalnum()) in SITES


def _missing(dataset: Dataset, name: str, column: Column) -> str:
    """A sentence that lists the graphs without a value in a column; empty if all have one."""
    ids = [key for key, value in zip(dataset.ids, column, strict=True) if value is None]
    if not ids:
        return ""
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return f"The confound {name!r} is missing for {', '.join(ids[:5])}{more}."


def _coded(column: Column, *, texts: bool) -> Matrix:
    """A column as numbers: standardised (mean 0, sd 1), or 0/1 for every value except one."""
    if not texts and all(isinstance(x, float) for x in column):
        values = np.asarray(column, dtype=np.float64)
        return np.asarray((values - values.mean()) / values.std(), dtype=np.float64)[:, None]
    kinds, at = np.unique([str(x) for x in column], return_inverse=True)
    return np.eye(len(kinds))[at][:, 1:]


# ---- answers --------------------------------------------------------------------------------


def regress_out(rows: Matrix, confounds: Matrix, train: Positions) -> Matrix:
    """Remove from the rows the linear effect of the confounds, fitted on the training part.

    >>> confounds, rows = np.array([[0.0], [1], [0], [1]]), np.array([[1.0], [3], [1], [9]])
    >>> regress_out(rows, confounds, np.array([0, 1, 2])).round(3).ravel().tolist()
    [1.667, 1.667, 1.667, 7.667]
    """
    centred = confounds - confounds[train].mean(axis=0)
    known = np.hstack([np.ones((len(rows), 1)), centred])
    fit = np.linalg.lstsq(known[train], rows[train], rcond=None)[0]
    return np.asarray(rows - centred @ fit[1:], dtype=np.float64)


def few_columns(recipe: Recipe, rows: Matrix) -> Matrix:
    """The rows, rotated into fewer columns if that does not change the answers of the recipe.

    Regression on the left and rotation on the right commute, so every fold works on few columns.
    """
    turned = isinstance(recipe, (NeighboursRecipe, LinearSvmRecipe)) or (
        isinstance(recipe, LogisticRecipe) and not recipe.scaled
    )
    return rotated(rows) if turned else rows


def adjusted_answers(
    recipe: Recipe,
    rows: Matrix,
    confounds: Matrix,
    y: Positions,
    fold: Positions,
    inner_folds: int,
    rng: np.random.Generator,
) -> Positions:
    """Answer for each row by a classifier that was not trained on it, with confounds regressed out.

    A fold with a single class in its training part is answered by -1, which is never right.
    """
    out = np.full(len(y), -1, dtype=np.int64)
    for i in range(int(fold.max()) + 1):
        train, test = np.flatnonzero(fold != i), np.flatnonzero(fold == i)
        if len(np.unique(y[train])) < 2 or not len(test):
            continue
        prepared = recipe.prepare(regress_out(rows, confounds, train))
        value = select(recipe, prepared, y, train, inner_folds, rng)
        out[test] = recipe.answers(prepared, y, train, test, [value])[0]
    return out


class Runs(NamedTuple):
    """The numbers of an evaluation, as in `evaluate`."""

    folds: int
    repeats: int
    permutations: int
    inner_folds: int
    seed: int

    def rng(self, *which: int) -> np.random.Generator:
        """The random numbers of one run."""
        return np.random.default_rng([self.seed, *which])

    def nested(
        self, recipe: Recipe, prepared: Matrix, y: Positions, rng: np.random.Generator
    ) -> tuple[Positions, list[Any]]:
        """`nested_answers` with these numbers of folds."""
        return nested_answers(recipe, prepared, y, self.folds, self.inner_folds, rng)


#: Accuracy on each site after training on the others, on how many graphs, and a remark.
BySite = tuple[float | None, int, str]


def judge_aware(
    recipe: Recipe,
    rows: Matrix,
    confounds: Confounds,
    y: Positions,
    runs: Runs,
    *,
    regressed: bool,
    tick: Callable[[], None],
) -> tuple[list[float], list[float], BySite]:
    """Accuracies of repeats and of shuffles with regard to confounds, and that on unseen sites.

    The folds are those of the plain evaluation.
    ``regressed`` says whether the rows are features from which confounds can be regressed out;
    ``tick`` is called after every repeat and permutation.
    """
    turned = few_columns(recipe, rows) if regressed else rows
    coded = confounds.coded if regressed else np.zeros((len(y), 0))

    def once(labels: Positions, rng: np.random.Generator) -> float:
        fold = stratified_folds(labels, runs.folds, rng)
        answers = adjusted_answers(recipe, turned, coded, labels, fold, runs.inner_folds, rng)
        tick()
        return float(np.mean(answers == labels))

    accuracies = [once(y, runs.rng(0, r)) for r in range(runs.repeats)]
    shuffles = (runs.rng(4, p) for p in range(runs.permutations))
    null = [once(confounds.shuffle(y, rng), rng) for rng in shuffles]
    by_site = _by_site(recipe, turned, confounds, y, regressed, runs.inner_folds, runs.rng(5))
    return accuracies, null, by_site


def confounds_alone(confounds: Confounds, y: Positions, runs: Runs) -> float:
    """Held-out accuracy of a logistic regression on the confounds alone, on the same folds."""
    found = []
    for r in range(runs.repeats):
        answers, _ = runs.nested(LogisticRecipe(scaled=True), confounds.coded, y, runs.rng(0, r))
        found.append(float(np.mean(answers == y)))
    return float(np.mean(found))


def _by_site(
    recipe: Recipe,
    rows: Matrix,
    confounds: Confounds,
    y: Positions,
    regressed: bool,
    inner_folds: int,
    rng: np.random.Generator,
) -> BySite:
    if confounds.site is None:
        return None, 0, "No confound is a site, so no site was left out."
    others = confounds.others if regressed else np.zeros((len(y), 0))
    answers = adjusted_answers(recipe, rows, others, y, confounds.sites, inner_folds, rng)
    judged = answers >= 0
    if not judged.any():
        return None, 0, "Leaving out any one site leaves only one class to train on."
    skipped = len(np.unique(confounds.sites[~judged]))
    remark = ""
    if skipped:
        which = counted(skipped, "site was", "sites were")
        remark = f"{which} not evaluated, as the other sites have graphs of one class only."
    return float(np.mean(answers[judged] == y[judged])), int(judged.sum()), remark
