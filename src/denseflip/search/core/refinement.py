"""Refinement: bring a counterfactual closer to the original without losing the flip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Protocol

import numpy as np

from denseflip.counterfactual import Ask, Label, Step
from denseflip.errors import InvalidParameterError, UnknownNameError, check_callable, whole_number
from denseflip.graph import Graph, Pair
from denseflip.graph.node_order import pair_places
from denseflip.graph.pairs import are_among
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.lookahead import FlipOdds
from denseflip.oracles.protocol import Answer
from denseflip.search.core.problem import Problem, Walk

_WASTE = 4.0  # refinement may evaluate so many times more than it asks, where that is quicker
_RUN = 16  # handfuls in a row that are taken to go, before the odds are judged anew
_FREELY = 32  # graphs that refinement looks ahead by where they cost next to nothing
_NONE: frozenset[Pair] = frozenset()
_KEEP_ALONE = 8  # keeping one part alone hardly ever works when parts are smaller than this


class Candidate:
    """A counterfactual being refined.

    Its operations ask the oracle about the graph with some edits undone and keep that graph if it
    is still a counterfactual. So whatever a refiner does, and whenever it is interrupted, the flip
    is never lost and no edit is ever added.
    """

    def __init__(self, problem: Problem, found: Walk, session: BaseSession) -> None:
        self.problem = problem
        self.session = session
        self.graph: Graph = found.graph
        self.label: Label = found.label
        self.pairs: set[Pair] = set(problem.graph ^ found.graph)
        self.search_steps: Sequence[Step] = tuple(found.trace)
        self.steps: list[Step] = []
        self.minimal: bool | None = None
        self._odds = FlipOdds(_WASTE, memory=256, freely=_FREELY)
        self._run_odds = FlipOdds(_WASTE, memory=256, freely=_FREELY)

    @property
    def hopeful(self) -> bool:
        """Whether the next undoing is more likely to leave a counterfactual than not."""
        return self._odds.chance > 0.5

    def undo(self, pairs: Iterable[Pair], structure: str = "edge") -> bool:
        """Undo these edits if the graph stays a counterfactual; say whether it did."""
        return self.undo_first((pairs,), structure) is not None

    def undo_first(self, choices: Iterable[Iterable[Pair]], structure: str = "edge") -> int | None:
        """Undo the first choice of edits that leaves a counterfactual; say which, or None.

        The choices are tried in order, each by itself. They are made lazily and may not depend on
        the answers, so that several can be evaluated together: most answers are no.
        """

        def graphs() -> Iterator[tuple[tuple[int, tuple[Pair, ...]], Graph]]:
            for i, pairs in enumerate(choices):
                chosen = self._chosen(pairs)
                yield (i, chosen), self._without(self.graph, chosen)

        hit = self.session.first(graphs(), self._accepts, odds=self._odds)
        if hit is None:
            return None
        self._keep(hit.item[1], hit.graph, hit.answer.label, structure)
        return hit.item[0]

    def undo_while(self, choices: Iterable[Iterable[Pair]], structure: str = "edge") -> int:
        """Undo choice after choice, each on top of those before, up to the first that loses the
        flip; say how many were undone.
        """

        def graphs() -> Iterator[tuple[tuple[Pair, ...], Graph]]:
            graph, gone = self.graph, set[Pair]()
            for pairs in choices:
                chosen = self._chosen(pairs, gone)
                gone.update(chosen)
                graph = self._without(graph, chosen)
                yield chosen, graph

        undone = 0
        walk = self.session.look_ahead(graphs(), self._run_odds)
        for chosen, graph in walk:
            answer = self.session.query(graph)
            if not self._accepts(answer):
                walk.close()
                self._run_odds.count(0, yes=1)  # here it is the no that ends the run
                self._odds.count(1)
                break
            self._keep(chosen, graph, answer.label, structure)
            undone += 1
        self._odds.count(undone, yes=undone)
        return undone

    def _accepts(self, answer: Answer) -> bool:
        return self.problem.accepts(answer.label)

    def _chosen(self, pairs: Iterable[Pair], gone: AbstractSet[Pair] = _NONE) -> tuple[Pair, ...]:
        """Edits to undo, sorted and checked; those gone are undone by then, if all goes well."""
        chosen = tuple(sorted(pairs))
        once = len(set(chosen)) == len(chosen) and gone.isdisjoint(chosen)
        if not once or not self.pairs.issuperset(chosen):
            msg = f"A refiner may undo edits of the counterfactual, each once; got {chosen!r:.80}."
            raise InvalidParameterError(msg)
        return chosen

    @staticmethod
    def _without(graph: Graph, chosen: tuple[Pair, ...]) -> Graph:
        n = graph.n_nodes  # edits are checked pairs: no need to check again
        return graph.toggle_codes(tuple([u * n + v for u, v in chosen]))

    def _keep(self, chosen: tuple[Pair, ...], graph: Graph, label: Label, structure: str) -> None:
        self.graph, self.label = graph, label
        if self.minimal:
            self.minimal = False  # a certificate holds for one set of edits only
        self.pairs.difference_update(chosen)
        step = Step("refine", structure, chosen, ask=Ask.YES)
        self.steps.append(step)
        if self.session.on_event is not None:
            self.session.notify("step", graph, step)

    def move(self, graph: Graph, label: Label, block: str) -> None:
        """Go over to another counterfactual, in one step that bears the name of who found it."""
        toggled = tuple(self.graph ^ graph)
        if not toggled:
            return
        self.graph, self.label, self.minimal = graph, label, None
        self.pairs = set(self.problem.graph ^ graph)
        self.steps.append(Step(block, "edges", toggled))

    def structures(self) -> list[list[Pair]]:
        """The edits grouped by the structure that made them, later structures first claim.

        Where the search moved single edges or a whole graph, and the nodes have regions, the
        groups are the pairs of regions instead: refinement speaks the language of density.
        """
        owner: dict[Pair, int] = {}
        for i, step in enumerate(self.search_steps):
            owner.update(dict.fromkeys(step.toggled, i))
        ordered = self.ordered()
        groups: dict[Any, list[Pair]] = {}
        for pair in ordered:
            groups.setdefault(owner.get(pair, -1), []).append(pair)
        whole = len(groups) == 1 or all(len(g) == 1 for g in groups.values())
        nodes = self.problem.nodes
        if whole and nodes is not None and nodes.regions:
            regions = nodes.taxonomy()
            groups = {}
            for u, v in ordered:
                names = sorted((regions.region_of(u), regions.region_of(v)))
                groups.setdefault(tuple(names), []).append((u, v))
        return [groups[key] for key in sorted(groups)]

    def ordered(self) -> list[Pair]:
        """The edits, those first that one would rather do without; renumbering nodes keeps it.

        Where the classes of the background are known, by how little the change makes the graph
        like the target class; then, and else, by structure.
        """
        problem = self.problem
        n = problem.graph.n_nodes
        codes = np.array(sorted(u * n + v for u, v in self.pairs), dtype=np.int64)
        gains = np.zeros(len(codes), dtype=np.int64)
        contrast = problem.known_contrast()
        if contrast is not None:
            gains = contrast.at(codes)
            gains = np.where(are_among(codes, problem.graph.codes), gains, -gains)
        order = np.lexsort((pair_places(codes, problem.places), gains))
        return [divmod(code, n) for code in codes[order].tolist()]


class Refine(Protocol):
    """A refiner: works on a candidate through `Candidate.undo`."""

    def __call__(self, candidate: Candidate) -> None:
        """Refine in place; may be interrupted by the end of the budget at any question."""
        ...


def shuffled_changes(candidate: Candidate) -> list[Pair]:
    """The changed pairs in random order."""
    queue = sorted(candidate.pairs)
    candidate.problem.rng.shuffle(queue)
    return queue


@dataclass(frozen=True)
class BackwardRefine:
    """Backward search of Abrate & Bonchi, as the paper's DAT+BW ran it.

    The changed pairs are shuffled into a queue. A handful is undone at a time; if the flip stays,
    the next handful is one larger, else the pairs go back to the end of the queue and the next is
    one smaller. What loses the flip when the handful has come down to one pair leaves the queue:
    it is needed, and only so can the queue ever become empty.

    Parameters
    ----------
    start : size of the first handful.
    max_questions : stop after so many.
    order : the queue to begin with, as a function of the candidate.
    """

    start: int = 5
    max_questions: int = 2000
    order: Callable[[Candidate], list[Pair]] = shuffled_changes

    def __post_init__(self) -> None:
        whole_number("start", self.start, minimum=1)
        whole_number("max_questions", self.max_questions)

    def __call__(self, candidate: Candidate) -> None:
        """Refine until one change is left, the queue is empty or the questions are used up."""
        queue = list(self.order(candidate))
        head, k, left = 0, self.start, self.max_questions
        while head < len(queue) and len(candidate.pairs) > 1 and left > 0:
            # Far from the boundary nearly every handful can go, near it hardly any: look ahead
            # along the likelier answer.
            places: list[tuple[int, int, int]] = []
            if candidate.hopeful:
                asked = candidate.session.calls
                n = candidate.undo_while(
                    _growing(queue, head, k, min(left, _RUN), len(candidate.pairs), places)
                )
                asked = candidate.session.calls - asked
                start = head if asked < 2 else places[asked - 2][0]
                head, _, k = places[asked - 1]
                if asked == n:
                    k += 1
                elif k > 1:
                    queue.extend(queue[start:head])
                    k -= 1
            else:
                hit = candidate.undo_first(_shrinking(queue, head, k, left, places))
                if hit is None:
                    left -= len(places)
                    head = places[-1][0] if places else head
                    break
                asked = hit + 1
                head, end, k = places[hit]
                del queue[end:]  # what was put back only in looking ahead
                k += 1
            left -= asked
        if left <= 0 and head < len(queue) and len(candidate.pairs) > 1:
            candidate.problem.note(
                f"The backward search stopped at its limit of {self.max_questions:,} questions, "
                f"with {len(candidate.pairs):,} edits left; more of them may be undone ('+min')."
            )


def _growing(
    queue: list[Pair],
    head: int,
    k: int,
    most: int,
    n_pairs: int,
    places: list[tuple[int, int, int]],
) -> Iterator[list[Pair]]:
    """Handfuls to undo, as if every answer were yes; see `_shrinking`."""
    while head < len(queue) and len(places) < most and n_pairs > 1:
        chosen = queue[head : head + k]
        head += len(chosen)
        n_pairs -= len(chosen)
        places.append((head, len(queue), k))
        yield chosen
        k += 1


def _shrinking(
    queue: list[Pair], head: int, k: int, most: int, places: list[tuple[int, int, int]]
) -> Iterator[list[Pair]]:
    """Handfuls to undo, as if every answer were no.

    The queue is read from ``head`` and only grows at its end, so where it stands at each handful is
    told by two numbers, which go to ``places`` with the handful's size.
    """
    while head < len(queue) and len(places) < most:
        chosen = queue[head : head + k]
        head += len(chosen)
        places.append((head, len(queue), k))
        yield chosen
        if k > 1:
            queue.extend(chosen)
            k -= 1


@dataclass(frozen=True)
class EdgeBackwardRefine:
    """The edge-level backward search of the authors' notebook (their RCLI+BW).

    Changed pairs, those first whose ends occur least among the changes, are undone one by one
    until the first that loses the flip.
    """

    def __call__(self, candidate: Candidate) -> None:
        """Refine up to the first failure."""
        uses = Counter(v for pair in candidate.pairs for v in pair)
        order = sorted(candidate.pairs, key=lambda p: (uses[p[0]] + uses[p[1]], p))
        candidate.undo_while([pair] for pair in order[:-1])  # the last change is kept


@dataclass(frozen=True)
class MinimalRefine:
    """Delta debugging to a 1-minimal set: no single edit left can be undone alone.

    Whole structures first (cliques, region blocks), then pairs, so that what remains is still
    made of few structures. The result carries the certificate (`Counterfactual.minimal`).
    """

    def __call__(self, candidate: Candidate) -> None:
        """Refine until 1-minimal."""
        candidate.minimal = False
        groups = candidate.structures()
        if 1 < len(groups) < len(candidate.pairs):
            _ddmin(groups, candidate, "structure")
        _ddmin([[pair] for pair in candidate.ordered()], candidate, "edge")
        candidate.minimal = True


def shrink_groups(groups: list[list[Pair]], candidate: Candidate) -> None:
    """Undo whole groups of edits while the flip stays, until no single group can be undone."""
    _ddmin(groups, candidate, "structure")


def _ddmin(units: list[list[Pair]], candidate: Candidate, kind: str) -> None:
    """Undo units while the flip stays, until no single one can be undone (after Zeller's ddmin).

    Coarse parts first, kept alone or undone; then finer and finer ones. A pass over single units
    is repeated until it changes nothing: that last pass is the certificate.
    """
    parts = 2
    while len(units) > 1:
        parts = min(parts, len(units))
        bounds = [len(units) * i // parts for i in range(parts + 1)]
        chunks = [units[a:b] for a, b in pairwise(bounds)]
        if 2 < parts <= _KEEP_ALONE:  # with two parts, keeping one is undoing the other
            alone = candidate.undo_first((_others(units, c) for c in chunks), kind)
            if alone is not None:
                units, parts = chunks[alone], 2
                continue
        kept: list[list[Pair]] = []
        start = 0
        while start < len(chunks):
            tried = chunks[start:]
            if len(tried) == 1 and not kept:
                tried = []  # undoing it would give the original back
            hit = candidate.undo_first((chain.from_iterable(c) for c in tried), kind)
            stop = len(chunks) if hit is None else start + hit
            for chunk in chunks[start:stop]:
                kept += chunk
            start = stop + 1
        if len(kept) == len(units) and parts == len(units):
            return
        units, parts = kept, 2 * parts


def _others(units: list[list[Pair]], chunk: list[list[Pair]]) -> list[Pair]:
    inside = {id(unit) for unit in chunk}
    return [pair for unit in units if id(unit) not in inside for pair in unit]


REFINERS: dict[str, tuple[Callable[[], Refine], str]] = {
    "bw": (BackwardRefine, "backward search: undo a growing handful of random edits at a time"),
    "bw1": (
        EdgeBackwardRefine,
        "undo edits one by one, rarest ends first, up to the first failure",
    ),
    "min": (MinimalRefine, "delta debugging to a certified 1-minimal set, whole structures first"),
}
REFINER_WORDS = {"backward": "bw", "minimal": "min", "minimise": "min", "minimize": "min"}


def as_refiners(refine: str | Refine | Iterable[str | Refine]) -> tuple[Refine, ...]:
    """Refiners by name, one or several, or a user's own."""
    if isinstance(refine, str) or not isinstance(refine, Iterable):
        refine = (refine,)
    out: list[Refine] = []
    for item in refine:
        if isinstance(item, str):
            if item not in REFINERS:
                raise UnknownNameError("refinement", item, REFINERS, aliases=REFINER_WORDS)
            out.append(REFINERS[item][0]())
        else:
            out.append(check_callable("refine", item))
    return tuple(out)
