"""Choosing, among honest classifiers, the one whose decision can be told in fewest words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from denseflip.classifiers.crossval import evaluate
from denseflip.classifiers.evaluation import Evaluation
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.presets import fit_oracle
from denseflip.datasets.base import Dataset
from denseflip.graph import Graph
from denseflip.search.explain import explain
from denseflip.search.methods import make_method


@dataclass(frozen=True)
class RatedClassifier:
    """One classifier: how good it is, and how many region pairs `blocks` needs to flip it.

    Attributes
    ----------
    preset : its name.
    oracle : itself, trained on the whole data set, with the evaluation in its card.
    evaluation : how good it is on graphs it has not seen.
    n_pairs : region pairs that `blocks` changed; None if it found no counterfactual.
    """

    preset: str
    oracle: FittedOracle
    evaluation: Evaluation
    n_pairs: int | None


@dataclass(frozen=True)
class Choice:
    """The classifier chosen, all that were rated, and the reason in words."""

    rated: tuple[RatedClassifier, ...]
    chosen: RatedClassifier
    reason: str

    @property
    def oracle(self) -> FittedOracle:
        """The chosen classifier."""
        return self.chosen.oracle

    @property
    def evaluation(self) -> Evaluation:
        """Its honest evaluation."""
        return self.chosen.evaluation


def choose_classifier(
    dataset: Dataset,
    graph: Graph,
    presets: Sequence[str],
    *,
    regions: str | None = None,
    repeats: int = 3,
    permutations: int = 60,
    seed: int = 0,
) -> Choice:
    """Train and evaluate some presets and take the one that serves an explanation best.

    Only classifiers clearly better than chance count (all, if none is); among them the one that
    `blocks` flips with the fewest region pairs, then the more accurate one.

    Parameters
    ----------
    dataset : what they are trained and judged on.
    graph : the graph that is to be explained.
    presets : names of classifiers, as `fit_oracle` takes them.
    regions : the taxonomy that region features and `blocks` work with; by default the first.
    repeats, permutations, seed : as in `evaluate`.
    """
    rated = [_rate(dataset, graph, p, regions, repeats, permutations, seed) for p in presets]
    honest = [r for r in rated if r.evaluation.better_than_chance] or rated
    chosen = min(honest, key=lambda r: (r.n_pairs is None, r.n_pairs or 0, -r.evaluation.accuracy))
    return Choice(tuple(rated), chosen, _reason(rated, honest, chosen))


def _rate(
    dataset: Dataset,
    graph: Graph,
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
    card: dict[str, Any] = {**oracle.card, "evaluation": evaluation.to_dict()}
    oracle = replace(oracle, card=card)
    method = make_method("blocks", regions=regions)
    result = explain(graph, oracle, method, nodes=dataset.nodes, background=dataset.graphs)
    return RatedClassifier(preset, oracle, evaluation, result.iterations if result.found else None)


def _reason(
    rated: Sequence[RatedClassifier], honest: Sequence[RatedClassifier], chosen: RatedClassifier
) -> str:
    good = sum(t.evaluation.better_than_chance for t in rated)
    opening = (
        f"{'All' if good == len(rated) else good} of them are clearly better than chance."
        if good
        else "None of them is clearly better than chance: read what follows as an exercise."
    )
    if chosen.n_pairs is None:
        return f"{opening} {chosen.preset} is taken: the most accurate."
    others = [t for t in honest if t is not chosen and t.n_pairs is not None]
    most = max((t.evaluation.accuracy for t in others), default=chosen.evaluation.accuracy)
    price = "" if chosen.evaluation.accuracy >= most else " (at the price of a little accuracy)"
    pairs = "one region pair" if chosen.n_pairs == 1 else f"{chosen.n_pairs} region pairs"
    verb = "changes" if chosen.n_pairs == 1 else "change"
    rest = " and ".join(f"{t.n_pairs} ({t.preset})" for t in others)
    compared = f", against {rest}," if rest else ""
    return (
        f"{opening} {chosen.preset} is taken{price}: {pairs} brought to the other strain's "
        f"density{compared} {verb} its mind, so its decision can be told in fewest words."
    )
