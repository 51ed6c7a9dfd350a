"""Choose a classifier by its accuracy on held-out graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from denseflip.classifiers.crossval import evaluate
from denseflip.classifiers.evaluation import Evaluation
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.presets import fit_oracle
from denseflip.datasets.base import Dataset
from denseflip.errors import InvalidParameterError
from denseflip.story.wording.naming import join_words


@dataclass(frozen=True)
class RatedClassifier:
    """One classifier and its evaluation.

    Attributes
    ----------
    preset : its name.
    oracle : the classifier, trained on the whole data set, with the evaluation in its card.
    evaluation : evaluation on held-out graphs.
    """

    preset: str
    oracle: FittedOracle
    evaluation: Evaluation


@dataclass(frozen=True)
class Choice:
    """The chosen classifier, all that were evaluated, and the reason in words."""

    rated: tuple[RatedClassifier, ...]
    chosen: RatedClassifier
    reason: str

    @property
    def oracle(self) -> FittedOracle:
        """The chosen classifier."""
        return self.chosen.oracle

    @property
    def evaluation(self) -> Evaluation:
        """Its evaluation on held-out graphs."""
        return self.chosen.evaluation


def choose_classifier(
    dataset: Dataset,
    presets: Sequence[str],
    *,
    regions: str | None = None,
    repeats: int = 3,
    permutations: int = 60,
    seed: int = 0,
) -> Choice:
    """Train and evaluate presets, and choose the most accurate one.

    Those that are not clearly better than chance come last. How easily a classifier can be
    explained plays no part: an explanation is worth no more than what it explains. If several are
    equally accurate, the first is chosen.

    Parameters
    ----------
    dataset : the data set to train and evaluate on.
    presets : names of classifiers, as `fit_oracle` takes them.
    regions : taxonomy of region features; by default the first.
    repeats, permutations, seed : as in `evaluate`.

    Raises
    ------
    InvalidParameterError
        If no preset is given.
    """
    names = [presets] if isinstance(presets, str) else list(presets)
    if not names:
        msg = "presets must have at least one classifier, for example edges-svm; got none."
        raise InvalidParameterError(msg, parameter="presets")
    rated = tuple(_rate(dataset, p, regions, repeats, permutations, seed) for p in names)
    chosen = max(rated, key=_merit)  # the first of the best
    return Choice(rated, chosen, _reason(rated, chosen))


def _merit(rated: RatedClassifier) -> tuple[bool, float]:
    return rated.evaluation.better_than_chance, rated.evaluation.accuracy


def _rate(
    dataset: Dataset,
    preset: str,
    regions: str | None,
    repeats: int,
    permutations: int,
    seed: int,
) -> RatedClassifier:
    evaluation = evaluate(
        dataset, preset, regions=regions, repeats=repeats, permutations=permutations, seed=seed
    )
    oracle = fit_oracle(dataset, preset, regions=regions, seed=seed)
    return RatedClassifier(preset, oracle.with_card(evaluation=evaluation.to_dict()), evaluation)


def _reason(rated: Sequence[RatedClassifier], chosen: RatedClassifier) -> str:
    right = f"{100 * chosen.evaluation.accuracy:.0f} % of held-out graphs"
    if not chosen.evaluation.better_than_chance:
        return (
            f"No classifier is clearly better than chance. {chosen.preset} is used; it classifies "
            f"{right} correctly. Treat the results as an illustration only."
        )
    if len(rated) == 1:
        return f"{chosen.preset} classifies {right} correctly, clearly better than chance."
    good = sum(r.evaluation.better_than_chance for r in rated)
    opening = "All" if good == len(rated) else f"{good} of {len(rated)}"
    verb = "is" if good == 1 else "are"
    level = [r.preset for r in rated if _merit(r) == _merit(chosen)]
    if len(level) > 1:
        why = f"{join_words(level)} are equally accurate, and it is the first of them"
    else:
        why = "the most accurate"
    return (
        f"{opening} {verb} clearly better than chance. {chosen.preset} is used, which classifies "
        f"{right} correctly: {why}."
    )
