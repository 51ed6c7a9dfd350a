"""Searches that do not use dense structures: single edges, and whole graphs."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import ClassVar

import numpy as np

from denseflip.counterfactual import Ask, Step
from denseflip.errors import whole_number
from denseflip.graph import Codes, Graph, Pair
from denseflip.graph.lazy_pairs import LazyPairs
from denseflip.graph.node_order import pair_places
from denseflip.graph.pairs import are_among
from denseflip.oracles.base_session import BaseSession
from denseflip.search.constraints.free_pairs import FreePairs
from denseflip.search.core.method import Conversation, Stream
from denseflip.search.core.probing import Probe, gallop
from denseflip.search.core.problem import BACKGROUND, Problem, StopSearch, Walk
from denseflip.search.methods.orders import all_unjoined, decoded

_DENSE_PAIRS = 5_000_000  # up to here all unjoined pairs are shuffled at once


def shuffled(problem: Problem) -> tuple[Iterator[Pair], Iterator[Pair]]:
    """Edges and unjoined pairs of the original, each in random order."""
    graph, rng = problem.graph, problem.rng
    edges = rng.permutation(graph.codes.copy())  # permutation needs a writable array
    return problem.free_pairs(decoded(edges, graph.n_nodes)), _additions(problem)


def _additions(problem: Problem) -> Iterator[Pair]:
    """Unjoined pairs that may be added, in random order."""
    graph, rng = problem.graph, problem.rng
    if graph.n_pairs <= _DENSE_PAIRS:
        codes = rng.permutation(all_unjoined(graph))
        return problem.free_pairs(decoded(codes, graph.n_nodes))
    bound = problem.constraints
    free = FreePairs.all_of(graph) if bound is None else bound.free_pairs
    return _shuffled_lazily(free.absent, graph.n_nodes, rng)


def _shuffled_lazily(
    codes: Codes | LazyPairs, n_nodes: int, rng: np.random.Generator
) -> Iterator[Pair]:
    """Pairs in random order: all at once if they are few, else drawn without repeats."""
    if len(codes) <= _DENSE_PAIRS:
        yield from decoded(rng.permutation(codes[:]), n_nodes)
        return
    seen: set[int] = set()
    while len(seen) < len(codes):
        drawn = dict.fromkeys(rng.integers(len(codes), size=1024).tolist())
        ranks = [rank for rank in drawn if rank not in seen]
        seen.update(ranks)
        yield from decoded(codes[np.array(ranks, dtype=np.int64)], n_nodes)


@dataclass(frozen=True)
class EdgeSwap(Stream):
    """Swap one random edge for one random pair at a time (paper: EDG).

    Parameters
    ----------
    max_iterations : the largest number of iterations.
    """

    max_iterations: int = 2000

    def __post_init__(self) -> None:
        whole_number("max_iterations", self.max_iterations)

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield one swap per iteration."""
        removals, additions = shuffled(problem)
        pairs: Iterator[tuple[Pair, ...]] = zip(removals, additions, strict=False)
        if problem.one_way:
            pairs = ((pair,) for pair in chain(removals, additions))
        for i, swap in enumerate(islice(pairs, min(self.max_iterations, sys.maxsize)), start=1):
            yield Step("swap", "edge", swap, Ask.YES, (), "", i)
        if next(pairs, None) is not None:
            problem.note(f"The iteration limit of {self.max_iterations} was reached.")


@dataclass(frozen=True)
class Bidirectional(Stream):
    """Toggle random batches of pairs until the label flips, then search backward.

    The forward phase of Abrate & Bonchi's bidirectional searches; ``+bw`` is the backward phase.

    ``obs`` toggles ``batch`` random pairs per iteration, drawn alternately from the edges and from
    the unjoined pairs. If no pair is left, it begins again and lets pairs change back, which keeps
    the number of edges. With ``data_driven`` (``dbs``), edges that the current class has more often
    than the target class come first, and unjoined pairs that it has less often. They are drawn with
    a probability proportional to the difference. The others follow in random order.
    """

    batch: int = 5
    data_driven: bool = False
    max_iterations: int = 2000

    @property
    def needs(self) -> frozenset[str]:
        """The background, if pairs are drawn by the data."""
        return frozenset({BACKGROUND}) if self.data_driven else frozenset()

    def __post_init__(self) -> None:
        whole_number("batch", self.batch, minimum=1)
        whole_number("max_iterations", self.max_iterations)

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield one batch of toggled pairs per iteration."""
        removals, additions = _drawn_by_contrast(problem) if self.data_driven else shuffled(problem)
        pairs = _alternating(removals, additions)
        changed: list[Pair] = []
        for i in range(1, self.max_iterations + 1):
            toggled = tuple(islice(pairs, min(self.batch, sys.maxsize)))
            if not toggled:
                if not (self.data_driven or problem.one_way):
                    yield from self._swap_on(problem, changed, i)
                return
            changed += toggled
            yield Step("swap", "edges", toggled, iteration=i)
        problem.note(f"The iteration limit of {self.max_iterations} was reached.")

    def _swap_on(self, problem: Problem, changed: Sequence[Pair], start: int) -> Iterator[Step]:
        """Begin again at the original when all pairs were toggled, and keep the number of edges.

        Pairs that were changed before may be changed back, so the edges do not run out. A class
        that needs about as many edges as the original, elsewhere, is not passed by.
        """
        undo = set(changed)
        joined, unjoined = (deque(side) for side in shuffled(problem))
        if not (joined or unjoined):
            return
        end = min(self.max_iterations + 1, start + problem.graph.n_pairs)
        for i in range(start, end):
            swapped: list[tuple[Pair, bool]] = []
            while len(swapped) < self.batch and (joined or unjoined):
                removing = bool(joined) and (not unjoined or not len(swapped) % 2)
                swapped.append(((joined if removing else unjoined).popleft(), removing))
            for pair, removed in swapped:
                (unjoined if removed else joined).append(pair)
            toggled = undo ^ {pair for pair, _ in swapped}
            yield Step("swap", "edges", tuple(sorted(toggled)), iteration=i)
            undo = set()


def _alternating(first: Iterable[Pair], second: Iterable[Pair]) -> Iterator[Pair]:
    a, b = iter(first), iter(second)
    while True:
        x, y = next(a, None), next(b, None)
        if x is None and y is None:
            return
        yield from (p for p in (x, y) if p is not None)


def _drawn_by_contrast(problem: Problem) -> tuple[Iterator[Pair], Iterator[Pair]]:
    graph, rng = problem.graph, problem.rng
    contrast = problem.contrast("dbs")
    edges = graph.codes
    gains = contrast.at(edges)
    removals = _weighted(edges, gains, rng)
    free = ~are_among(contrast.codes, edges)
    wanted = free & (contrast.values < 0)
    additions = _weighted(contrast.codes[wanted], -contrast.values[wanted], rng)
    first = {divmod(int(c), graph.n_nodes) for c in contrast.codes[wanted]}
    rest = (p for p in _additions(problem) if p not in first)
    wanted_first = chain(problem.free_pairs(decoded(additions, graph.n_nodes)), rest)
    return problem.free_pairs(decoded(removals, graph.n_nodes)), wanted_first


def _weighted(codes: Codes, weights: Codes, rng: np.random.Generator) -> Codes:
    """All codes in random order: positive weights first, drawn without replacement by weight."""
    # The key u^(1/w), largest first, draws by weight (Efraimidis & Spirakis 2006).
    keys = np.log(1.0 - rng.random(len(codes)))
    good = weights > 0
    keys[good] /= weights[good]
    order = np.lexsort((-keys, ~good))
    return codes[order]


@dataclass(frozen=True)
class ClosestGraph(Conversation):
    """Take the closest background graph of another class (paper: DAT).

    The search consists of the labels of the background, and each of them counts as one query.

    Parameters
    ----------
    medoid : take the medoid of that class instead, the member closest to all the others.
    """

    medoid: bool = False
    needs: ClassVar[frozenset[str]] = frozenset({BACKGROUND})

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Change the original into that graph in one step."""
        name = "medoid" if self.medoid else "dat"
        if problem.background is not None:
            # Before the labels are queried: the search may not exceed its budget.
            session.charge_background(problem.background.graphs)
        try:
            _, others = problem.split_background(name)
        except StopSearch:
            return replace_by(problem, problem.graph, session)
        restricted = problem.constraints is not None and not problem.constraints.any_pair
        if restricted:
            others = [problem.allowed_part(g) for g in others]
        elif problem.constraints is not None or session.required_confidence is not None:
            good = [g for g in others if problem.accepts(session.recall(g).label)]
            others = good or others  # a graph that is not accepted still shows the distance
        if self.medoid:
            costs = [sum(g.relative_distance(h) for h in others) for g in others]
        else:
            costs = [problem.graph.relative_distance(g) for g in others]
        if restricted:
            return first_allowed(problem, [others[i] for i in np.argsort(costs)], session)
        return replace_by(problem, others[int(np.argmin(costs))], session)


def first_allowed(problem: Problem, graphs: Iterable[Graph], session: BaseSession) -> Walk:
    """The walk to the first of these graphs that flips.

    They are background graphs reduced to the differences that the constraints allow. Their labels
    are not known, so each is a query.
    """
    some = {g.key: g for g in graphs if g != problem.graph}
    hit = session.first(
        ((g, g) for g in some.values()), lambda answer: problem.accepts(answer.label)
    )
    if hit is None:
        problem.note(
            "The pairs that may change were set as in each background graph of the target class "
            f"in turn ({len(some):,}), and the label never flipped."
        )
        return problem.end(problem.graph, problem.label, [])
    toggled = tuple(problem.graph ^ hit.graph)
    step = Step("replace", "graph", toggled, iteration=1)
    return problem.end(hit.graph, hit.answer.label, [step])


def replace_by(problem: Problem, graph: Graph, session: BaseSession) -> Walk:
    """The walk to a background graph, whose label is known and counted.

    The original itself means that none of them was accepted.
    """
    toggled = tuple(problem.graph ^ graph)
    step = Step("replace", "graph", toggled, ask=Ask.KNOWN, iteration=1)
    return problem.end(graph, session.recall(graph).label, [step])


def helpful_changes(problem: Problem, needed_by: str) -> Codes:
    """Pairs whose change makes the graph more like the target class, the largest contrast first.

    These are edges that the original's class has more often, and unjoined pairs that it has less
    often. Ties are in an order that does not depend on the node numbers.
    """
    contrast = problem.contrast(needed_by)
    present = are_among(contrast.codes, problem.graph.codes)
    helps = np.where(present, contrast.values > 0, contrast.values < 0)
    codes, sizes = contrast.codes[helps], np.abs(contrast.values[helps])
    return problem.free(codes[np.lexsort((pair_places(codes, problem.places), -sizes))])


@dataclass(frozen=True)
class ContrastList(Conversation):
    """Make the graph more like the target class, the largest differences first.

    The length of the prefix that flips is found by doubling and bisection: a thousand edits take
    about twenty queries.
    """

    needs: ClassVar[frozenset[str]] = frozenset({BACKGROUND})

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Find a prefix that flips while the one before it does not."""
        order = helpful_changes(problem, "con")
        probe = Probe(problem, session)
        k = gallop(len(order), lambda k: probe.flips(order[:k]))
        if k is None:
            problem.note(
                f"No prefix of 1, 2, 4, … of the {len(order):,} changes that make the graph more "
                "like the target class flips the label: this classifier does not use what sets its "
                "classes apart. The method 'race' tries many orders."
            )
            return problem.end(problem.graph, problem.label)
        return problem.end(probe.graph(order[:k]), probe.answer(order[:k]).label)
