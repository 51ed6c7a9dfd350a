"""`tellability`: how often a classifier's decisions can be described truthfully in few cells.

A classifier may be accurate and yet use features that no short sentence can describe. This measure
complements the accuracy. Classifiers are trained on the training part of each fold, decisions
about held-out graphs are explained with the training graphs as background, and every sentence is
tested with redraws that its search did not use.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from denseflip.classifiers.presets import check_classes, default_preset, fit_oracle
from denseflip.classifiers.recipes import Positions, stratified_folds
from denseflip.counterfactual import wilson_interval
from denseflip.datasets import Dataset
from denseflip.errors import InvalidParameterError, counted, whole_number
from denseflip.oracles.background import Background
from denseflip.oracles.protocol import Oracle, about_graph
from denseflip.oracles.session import Session
from denseflip.search.claims.redraw import DRAWS, FEW_CELLS, claim_of, redraw
from denseflip.search.claims.sides import Sides
from denseflip.search.explain import explain
from denseflip.serialise import Serialisable

if TYPE_CHECKING:
    from denseflip.classifiers.evaluation import Evaluation

GRAPHS = 12  # held-out graphs to explain


@dataclass(frozen=True)
class ToldDecision(Serialisable, named="a described decision"):
    """One decision about a held-out graph, and the sentence that describes it.

    Attributes
    ----------
    graph : its id.
    right : whether the decision is correct.
    found : whether a counterfactual was found.
    cells : number of cells, nodes or pairs that the sentence names.
    language : ``"regions (lobe)"``, ``"nodes"`` or ``"pairs"``.
    reading : which connections the sentence means; see `AsRead`.
    draws, flips : number of fresh redraws, and how many flipped; none for a list of pairs.
    edits : connections that it changes, as a share of the graph's own.
    questions : number of queries of the search.
    told : whether the sentence is short enough and true as read.
    """

    graph: str
    right: bool
    found: bool
    cells: int | None = None
    language: str = ""
    reading: str = ""
    draws: int = 0
    flips: int = 0
    edits: float | None = None
    questions: int = 0
    told: bool = False


@dataclass(frozen=True)
class Tellability(
    Serialisable,
    named="a tellability",
    keys=(
        ...,
        "share",
        "interval",
        "median_cells",
        "median_edits",
        "languages",
        "readings",
        "verdict",
    ),
):
    """How many decisions have a short sentence that is true as read; result of `tellability`.

    Attributes
    ----------
    dataset, preset : what was evaluated.
    method, max_cells, folds, draws, seed : how.
    decisions : every decision that was explained.
    """

    dataset: str
    preset: str
    method: str
    max_cells: int
    folds: int
    draws: int
    seed: int
    decisions: tuple[ToldDecision, ...]

    @property
    def n_graphs(self) -> int:
        """Number of decisions that were explained."""
        return len(self.decisions)

    @property
    def told(self) -> tuple[ToldDecision, ...]:
        """The decisions with a short sentence that is true as read."""
        return tuple(d for d in self.decisions if d.told)

    @property
    def share(self) -> float:
        """Their share of all decisions."""
        return len(self.told) / self.n_graphs

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of that share."""
        return wilson_interval(self.share, self.n_graphs)

    @property
    def median_cells(self) -> float | None:
        """Median number of cells of their sentences; None if there are none."""
        return statistics.median([d.cells for d in self.told if d.cells]) if self.told else None

    @property
    def median_edits(self) -> float | None:
        """Median number of connections that they change, as a share of the graph's own."""
        shares = [d.edits for d in self.told if d.edits is not None]
        return statistics.median(shares) if shares else None

    @property
    def languages(self) -> dict[str, int]:
        """Number of sentences in each language, most frequent first."""
        return dict(Counter(d.language for d in self.told).most_common())

    @property
    def readings(self) -> dict[str, int]:
        """Number of sentences in each reading, most frequent first; lists of pairs have none."""
        return dict(Counter(d.reading for d in self.told if d.reading).most_common())

    @property
    def verdict(self) -> str:
        """The figures in a sentence."""
        most = counted(self.max_cells, "cell", "cells")
        opening = (
            f"{len(self.told)} of {self.n_graphs} decisions about held-out graphs have a sentence "
            f"that is true as read and names at most {most}"
        )
        if not self.told:
            return f"{opening}."
        spoken = ", ".join(f"{name} {n}" for name, n in self.languages.items())
        read = ", ".join(f"{name} {n}" for name, n in self.readings.items())
        how = f"{spoken}; read as {read}" if read else spoken
        return f"{opening}, with a median of {self.median_cells:g} ({how})."


def tellability(
    dataset: Dataset,
    preset: str | None = None,
    *,
    regions: str | None = None,
    graphs: int = GRAPHS,
    max_cells: int = FEW_CELLS,
    method: str = "auto",
    folds: int = 5,
    draws: int = DRAWS,
    budget: int | None = None,
    seed: int = 0,
    fit: Callable[[Dataset], Oracle] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Tellability:
    """Measure how many decisions on held-out graphs have a short sentence that is true as read.

    Parameters
    ----------
    dataset, preset, regions : what is evaluated, as in `evaluate`.
    graphs : number of held-out graphs to explain, taken from the classes in turn; all if fewer.
    max_cells : the largest number of cells that a sentence may name.
    method : the search; `auto` chooses the language.
    folds : the folds of the first repeat of `evaluate` with the same seed.
    draws : number of fresh redraws per sentence.
    budget : the largest number of queries per explanation.
    seed : sets folds, graphs, searches and redraws.
    fit : trains a classifier that is not a preset; ``preset`` is then only its name.
    progress : called with (done, total) at the start and after every graph.

    Examples
    --------
    >>> from denseflip.datasets import make_synthetic
    >>> cohort = make_synthetic(strength=2.0, n_per_class=10)
    >>> told = tellability(cohort, "regions-logistic", graphs=2)
    >>> told.n_graphs, told.share
    (2, 1.0)
    """
    check_classes(dataset, folds)
    preset = preset or default_preset(dataset)
    graphs = whole_number("graphs", graphs, minimum=1)
    max_cells = whole_number("max_cells", max_cells, minimum=1)
    draws = whole_number("draws", draws, minimum=1)
    seed = whole_number("seed", seed)
    train = fit or (lambda part: fit_oracle(part, preset, regions=regions, seed=seed))
    _, y = np.unique(dataset.label_array(), return_inverse=True)
    fold = stratified_folds(y, folds, np.random.default_rng([seed, 0, 0]))
    chosen = sorted(_held_out(y, graphs, np.random.default_rng([seed, 3])))
    if progress:
        progress(0, len(chosen))
    decisions: dict[int, ToldDecision] = {}
    for number in range(folds):
        wanted = [i for i in chosen if fold[i] == number]
        if not wanted:
            continue
        part = dataset.subset(fold != number)
        desk = _Desk(dataset, train(part), Background(part.graphs), method, regions)
        for i in wanted:
            decisions[i] = desk.tell(i, max_cells, draws, budget, seed)
            if progress:
                progress(len(decisions), len(chosen))
    return Tellability(
        dataset.name,
        preset,
        method,
        max_cells,
        folds,
        draws,
        seed,
        tuple(decisions[i] for i in chosen),
    )


@dataclass(frozen=True)
class _Desk:
    """One trained classifier, its training graphs, and the settings of its explanations."""

    dataset: Dataset
    oracle: Oracle
    background: Background
    method: str
    regions: str | None

    def tell(
        self, i: int, max_cells: int, draws: int, budget: int | None, seed: int
    ) -> ToldDecision:
        example = self.dataset[i]
        nodes = self.dataset.nodes_of(example.graph)
        told = self.method in ("auto", "brief", "best")
        result = explain(
            example.graph,
            self.oracle,
            self.method,
            nodes=nodes,
            background=self.background,
            budget=budget,
            seed=seed,
            regions=self.regions if told and nodes.regions else None,
            max_cells=max_cells if told else None,
        )
        right = result.label_before == example.label
        if not result.found:
            return ToldDecision(example.id, right, found=False, questions=result.calls)
        session = Session(about_graph(self.oracle, result.original, result.target))
        taxonomy = nodes.taxonomy(self.regions) if nodes.regions else None
        claim = claim_of(result, session, taxonomy, nodes=nodes)
        known = zip(self.background.graphs, self.background.labels(session), strict=True)
        test = redraw(
            result,
            claim,
            session,
            sides=Sides.of(result, list(known), claim.label),
            draws=draws,
            seed=seed,
        )
        return ToldDecision(
            example.id,
            right,
            found=True,
            cells=len(claim.amounts),
            language=claim.spoken,
            reading="" if test is None else test.reading,
            draws=0 if test is None else test.draws,
            flips=0 if test is None else test.flips,
            edits=result.distance / max(1, example.graph.n_edges),
            questions=result.calls,
            told=len(claim.amounts) <= max_cells and (test is None or test.true),
        )


def _held_out(y: Positions, wanted: int, rng: np.random.Generator) -> Iterator[int]:
    """This many graphs, from the classes in turn."""
    queues = [rng.permutation(np.flatnonzero(y == label)).tolist() for label in range(y.max() + 1)]
    while wanted and any(queues):
        for queue in queues:
            if queue and wanted:
                yield queue.pop(0)
                wanted -= 1


# ---- comparison -----------------------------------------------------------------------------


def prefer(judged: Sequence[tuple[Evaluation, Tellability]]) -> tuple[str | None, str]:
    """The name of the classifier to prefer, and why; None if none is better than chance.

    Candidates are better than chance and not clearly less accurate than the best (whose accuracy
    lies in their interval). Among them, the one with the most decisions that have a short, true
    sentence; then the fewest cells; then the least specific reading; then the highest accuracy.
    """
    if not judged:
        msg = "There are no classifiers to choose from."
        raise InvalidParameterError(msg)
    good = [(e, t) for e, t in judged if e.better_than_chance]
    if not good:
        return None, (
            "No classifier is clearly better than chance on held-out graphs, so none is preferred: "
            "a sentence about a classifier that guesses says nothing about the classes."
        )
    best = max(e.accuracy for e, _ in good)
    level = [(e, t) for e, t in good if e.interval[1] >= best - 1e-12]
    evaluation, told = max(level, key=_merit)
    few = told.median_cells
    cells = "" if few is None else f" (a median of {few:g} cell{'' if few == 1 else 's'})"
    return told.preset, (
        f"Preferred classifier: {told.preset}. It classifies "
        f"{100 * evaluation.accuracy:.0f} % of held-out graphs correctly, and {len(told.told)} of "
        f"{told.n_graphs} decisions have a short sentence that is true as read{cells}."
    )


def _merit(judged: tuple[Evaluation, Tellability]) -> tuple[float, float, int, float]:
    evaluation, told = judged
    cells = told.median_cells or float("inf")
    return told.share, -cells, told.readings.get("any", 0), evaluation.accuracy
