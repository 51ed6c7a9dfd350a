"""`Evaluation`: the figures of an evaluation, and what they mean in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from denseflip.checks import visible_tree
from denseflip.errors import FileFormatError
from denseflip.limits import check_size, read_json
from denseflip.notebook import html_table
from denseflip.serialise import Serialisable


@dataclass(frozen=True)
class Confounding(Serialisable, named="the confounds of an evaluation"):
    """How a classifier compares with its confounds; a result of `evaluate` with ``confounds``.

    Attributes
    ----------
    columns : the confounds, columns of the data set's subject table.
    site : the confound that is the site; None if there is none.
    n_sites, n_coded : number of sites; number of columns that code the confounds.
    regressed : whether the confounds were regressed out of the features inside each fold, with
        coefficients from the training part alone. A classifier without features, or one that
        cannot be retrained, is evaluated without regression.
    plain : accuracy without regard to confounds.
    accuracy, interval : accuracy with regard to them, and its 95 % interval (Wilson's, by graphs).
    p_value, null_mean : from label shuffles *within sites* (among all graphs if there is no site).
    alone, alone_interval : accuracy from the confounds alone, on the same folds.
    leave_site_out, leave_site_out_interval : accuracy on each site after training on the others,
        with the other confounds regressed out; None if that was not possible.
    remark : the reason, or which sites were left out.
    """

    columns: tuple[str, ...]
    site: str | None
    n_sites: int
    n_coded: int
    regressed: bool
    plain: float
    accuracy: float
    interval: tuple[float, float]
    p_value: float | None
    null_mean: float | None
    alone: float
    alone_interval: tuple[float, float]
    leave_site_out: float | None = None
    leave_site_out_interval: tuple[float, float] | None = None
    remark: str = ""

    def beats(self, level: str) -> bool:
        """Whether the classifier beats its confounds, given the level of `accuracy`."""
        return level == "better" and self.plain > self.alone + 1e-12

    def verdict(self, level: str, *, seen: bool = False) -> str:
        """The figures in words.

        Parameters
        ----------
        level : of `accuracy`: ``better``, ``unclear`` or ``chance``.
        seen : whether the classifier may have been trained on the graphs it is evaluated on.
        """
        names = _listed(self.columns)
        within = "" if self.site is None else " within sites"
        figures = _percent(self.accuracy)
        if self.regressed:
            figures = (
                f"with {names} regressed out inside each fold, {figures} of held-out graphs are "
                "classified correctly"
            )
        else:
            figures = f"{names} could not be regressed out, so the {figures} are unadjusted"
        if self.p_value is not None:
            figures += f" (labels shuffled{within}: p = {self.p_value:.3g})"
        figures += f"; the confounds alone give {_percent(self.alone)}"
        if self.leave_site_out is not None:
            figures += f"; on sites not used for training, {_percent(self.leave_site_out)}"
        if seen and level != "chance":
            opening = "Whether it beats its confounds is unknown, as it may have seen the graphs"
        elif self.beats(level):
            opening = "It beats its confounds"
        elif level == "better":
            opening = "It does not beat its confounds, which do as well on their own"
        elif level == "unclear":
            opening = "It does not clearly beat its confounds"
        else:
            opening = "It does not beat its confounds"
        remark = f" {self.remark}" if self.remark else ""
        return f"{opening}: {figures}.{remark}"

    def _check(self) -> None:
        self.verdict("better")  # refuses an empty list of columns


def _listed(names: tuple[str, ...]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


Level = Literal["better", "unclear", "chance", "seen"]
Protocol = Literal["cross-validation", "as given"]
ALPHA = 0.05
#: The smallest p-value of k shuffles is 1 / (k + 1): fewer than these cannot reach ALPHA.
LEAST_SHUFFLES = 19


@dataclass(frozen=True)
class Evaluation(
    Serialisable,
    named="an evaluation",
    keys=(
        ...,
        "interval_kind",
        "beats_confounds",
        "plain_level",
        "level",
        "verdict",
        "warning",
    ),
):
    """The accuracy of a classifier and its significance; the result of `evaluate`.

    Attributes
    ----------
    dataset, class_counts : the data, and its graphs per class (in the order of `confusion`).
    preset, features, estimator : what was evaluated.
    folds, inner_folds, repeats, permutations, seed : how.
    accuracy, f1, balanced_accuracy : on held-out graphs, means over the repeats. F1 is that of
        the second class if there are two, else the mean over the classes.
    interval : 95 % interval of the accuracy: Wilson's, with the number of *graphs* as sample
        size. Repeats use the same graphs, so they stabilise the mean but do not narrow it.
    majority_rate : accuracy of always predicting the largest class.
    p_value : share of label shuffles (the real labels included) that reached the accuracy. A
        shuffle is one run while the accuracy is a mean over repeats, so this is conservative.
    null_mean : mean accuracy on shuffled labels.
    confusion : held-out graphs by true class (row) and prediction (column), summed over repeats.
    repeat_accuracies : accuracy of each repeat.
    chosen : how often each setting was selected in the outer folds.
    training_accuracy, training_f1 : the paper's protocol: on all graphs, after training on them.
    protocol : ``"cross-validation"``, or ``"as given"`` for an oracle that cannot be retrained:
        all figures are then on graphs that it may have seen, and there are no folds.
    confounds : how it compares with its confounds, if any were given.
    """

    interval_kind: ClassVar[str] = "Wilson, 95 %, sample size = graphs"

    dataset: str
    class_counts: Mapping[str, int]
    preset: str | None
    features: str
    estimator: str
    folds: int
    inner_folds: int
    repeats: int
    permutations: int
    seed: int
    accuracy: float
    interval: tuple[float, float]
    f1: float
    balanced_accuracy: float
    majority_rate: float
    p_value: float | None
    null_mean: float | None
    confusion: tuple[tuple[int, ...], ...]
    repeat_accuracies: tuple[float, ...]
    chosen: Mapping[str, Mapping[str, int]]
    training_accuracy: float
    training_f1: float
    protocol: Protocol = "cross-validation"
    confounds: Confounding | None = None

    def _repr_html_(self) -> str:
        low, high = self.interval
        seen = self.protocol == "as given"
        where = "these graphs" if seen else "held-out graphs"
        facts: list[tuple[str, object]] = [
            (f"accuracy, {where}", f"{self.accuracy:.3f} (95 %: {low:.2f} to {high:.2f})"),
            ("balanced accuracy", f"{self.balanced_accuracy:.3f}"),
            ("F1", f"{self.f1:.3f}"),
            ("always the largest class", f"{self.majority_rate:.3f}"),
        ]
        if self.p_value is not None and self.enough_shuffles:
            facts.append((f"p, {self.permutations:,} shuffles", f"{self.p_value:.3g}"))
        if not seen:
            facts.append(("accuracy, training graphs included", f"{self.training_accuracy:.3f}"))
        title = f"{self.preset or self.features} on {self.dataset} ({self.n_graphs:,} graphs)"
        return html_table(title, (), facts, notes=(self.verdict, self.warning or ""))

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return sum(self.class_counts.values())

    @property
    def level(self) -> Level:
        """``better`` than chance, ``chance``, ``unclear``, or ``seen``.

        Better: the p-value is at most 0.05 and the whole interval lies above the majority rate.
        Chance: the p-value is larger, or the accuracy does not exceed the majority rate. A
        p-value that could not be that small (fewer than 19 shuffles) is ignored. Seen: better, but
        on graphs that the classifier may have seen. With confounds, both accuracies are assessed
        and the worse level counts; a better one that does not exceed the accuracy of the confounds
        alone is ``unclear``.
        """
        level = self.plain_level
        if self.confounds is not None and level != "chance":
            aware = self.aware_level
            if aware == "better" and not self.confounds.beats(aware):
                aware = "unclear"
            level = aware if aware != "better" else level
        if self.protocol == "as given" and level != "chance":
            return "seen"
        return level

    @property
    def plain_level(self) -> Level:
        """The level without regard to confounds or to graphs that were possibly seen."""
        return self._level(self.accuracy, self.interval, self.p_value)

    @property
    def aware_level(self) -> Level:
        """The level with regard to the confounds; without any, that of the plain accuracy."""
        found = self.confounds
        if found is None:
            return self.plain_level
        return self._level(found.accuracy, found.interval, found.p_value)

    def _level(self, accuracy: float, interval: tuple[float, float], p: float | None) -> Level:
        if accuracy <= self.majority_rate + 1e-12:
            return "chance"
        if p is not None and self.enough_shuffles and p > ALPHA:
            return "chance"
        return "better" if interval[0] > self.majority_rate else "unclear"

    @property
    def beats_confounds(self) -> bool | None:
        """Whether the classifier beats its confounds; None if none were given.

        It does if, with regard to them, it is better than chance and its accuracy exceeds that
        of the confounds alone. A classifier that may have seen the graphs does not.
        """
        if self.confounds is None:
            return None
        return self.protocol != "as given" and self.confounds.beats(self.aware_level)

    @property
    def enough_shuffles(self) -> bool:
        """Whether the p-value of this many label shuffles can be as small as 0.05 at all."""
        return self.permutations >= LEAST_SHUFFLES

    @property
    def better_than_chance(self) -> bool:
        """Whether the classifier is clearly better than chance on graphs it has not seen."""
        return self.level == "better"

    @property
    def verdict(self) -> str:
        """The result in a few sentences; the last one is about confounds, if given."""
        if self.protocol == "as given":
            which = f"{_percent(self.accuracy)} of the {self.n_graphs} labelled graphs are"
            size = ""
        else:
            which = f"{_percent(self.accuracy)} of held-out graphs are"
            size = f", {self.n_graphs} graphs"
        figures = (
            f"{which} classified correctly (95 % interval "
            f"{_percent(self.interval[0])} to {_percent(self.interval[1])}{size}); always "
            f"predicting the largest class gives {_percent(self.majority_rate)}"
        )
        if self.p_value is not None and not self.enough_shuffles:
            figures += (
                f"; too few label shuffles ({self.permutations}) to test: at least "
                f"{LEAST_SHUFFLES} are needed"
            )
        elif self.p_value is not None:
            figures += (
                f"; permutation test of the accuracy p = {self.p_value:.3g} "
                f"({self.permutations:,} permutations)"
            )
        opening = {
            "better": "Better than chance",
            "unclear": "Not clearly better than chance",
            "chance": "Not better than chance",
            "seen": "Evaluated only on graphs that it may have seen",
        }["seen" if self.level == "seen" else self.plain_level]
        if self.protocol != "as given" and self.plain_level == "better" != self.level:
            opening = "Better than chance only if its confounds are ignored"
        if self.protocol == "as given" and self.level == "chance":
            opening = "Not better than chance, even on graphs that it may have seen"
        text = f"{opening}: {figures}."
        if self.confounds is not None:
            seen = self.protocol == "as given"
            text += f" {self.confounds.verdict(self.aware_level, seen=seen)}"
        return text

    @property
    def warning(self) -> str | None:
        """What to keep in mind when explaining this classifier; None if it is better."""
        if self.level == "better":
            return None
        if self.level == "seen":
            return (
                "This classifier could not be retrained here, so its accuracy on graphs it has not "
                "seen is unknown. If it was trained on these graphs, it may have memorised them. "
                "Evaluate it on graphs not used for training, or pass the estimator itself."
            )
        if self.plain_level in ("better", "unclear") and self.level != self.plain_level:
            return (
                "This classifier does no better than its confounds. A counterfactual shows what "
                "would change its answer, but that may reflect age, sex, site or motion and not "
                "the difference between the classes."
            )
        gap = ""
        if self.training_accuracy - self.accuracy > 0.1:
            gap = (
                f" Its {_percent(self.training_accuracy)} on the graphs it was trained on is "
                "memorisation."
            )
        if self.level == "unclear":
            return (
                "The evidence that this classifier has learned anything about the classes is weak: "
                "its interval includes the rate of always predicting the largest class. Read its "
                f"explanations as hypotheses.{gap}"
            )
        where = "graphs it has not seen" if self.protocol != "as given" else "these graphs"
        return (
            f"On {where}, this classifier does no better than guessing. A counterfactual still "
            "shows what would change its answer, but that says nothing about the difference "
            f"between the classes.{gap}"
        )


def read_evaluation(path: str | Path) -> Evaluation:
    """Read the evaluation of one classifier that `denseflip evaluate` wrote (out).

    Raises
    ------
    FileFormatError
        If the file is missing, is not an evaluation, or holds several.
    """
    source = Path(path)
    if not source.is_file():
        msg = f"{source}: there is no such file. `denseflip evaluate` writes one (out)."
        raise FileFormatError(msg)
    try:
        check_size(source.stat().st_size, f"{source}: the file")
        data = visible_tree(read_json(source.read_bytes(), str(source)))
    except OSError as error:
        msg = f"{source}: cannot be read ({error.strerror})."
        raise FileFormatError(msg) from error
    if isinstance(data, Mapping) and "presets" in data:
        msg = (
            f"{source}: contains the evaluations of several classifiers; expected one. "
            "Evaluate a single classifier."
        )
        raise FileFormatError(msg)
    try:
        return Evaluation.from_dict(data)
    except FileFormatError as error:
        msg = f"{source}: {error}"
        raise FileFormatError(msg) from error


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
