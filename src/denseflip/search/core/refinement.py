"""Refinement: bring a counterfactual closer to the original without losing the flip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

_WASTE = 4.0  # graphs evaluated per query at most, where that is quicker
_RUN = 16  # batches in a row that are expected to succeed, before the odds are updated
_FREELY = 32  # graphs evaluated ahead where they cost next to nothing
_NONE: frozenset[Pair] = frozenset()
_KEEP_ALONE = 8  # with more parts than this, keeping one part alone hardly ever works


class Candidate:
    """A counterfactual being refined.

    Its operations query the oracle about the graph with some edits undone, and keep that graph if
    it is still a counterfactual. So a refiner can neither lose the flip nor add an edit, wherever
    it is interrupted.
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
    def likely_to_succeed(self) -> bool:
        """Whether undoing the next edits is more likely than not to leave a counterfactual."""
        return self._odds.chance > 0.5

    def undo(self, pairs: Iterable[Pair], structure: str = "edge") -> bool:
        """Undo these edits if the graph stays a counterfactual; return whether it did."""
        return self.undo_first((pairs,), structure) is not None

    def undo_first(self, choices: Iterable[Iterable[Pair]], structure: str = "edge") -> int | None:
        """Undo the first choice of edits that leaves a counterfactual; return its index, or None.

        The choices are tried in order, each by itself. They are generated lazily and may not depend
        on the answers, so that several can be evaluated together.
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
        """Undo one choice after the other, up to the first that loses the flip.

        Returns the number of choices that were undone.
        """

        def graphs() -> Iterator[tuple[tuple[Pair, ...], Graph]]:
            graph, undone = self.graph, set[Pair]()
            for pairs in choices:
                chosen = self._chosen(pairs, undone)
                undone.update(chosen)
                graph = self._without(graph, chosen)
                yield chosen, graph

        n_undone = 0
        walk = self.session.look_ahead(graphs(), self._run_odds)
        for chosen, graph in walk:
            answer = self.session.query(graph)
            if not self._accepts(answer):
                walk.close()
                self._run_odds.count(0, yes=1)  # in a run, the end is what is predicted
                self._odds.count(1)
                break
            self._keep(chosen, graph, answer.label, structure)
            n_undone += 1
        self._odds.count(n_undone, yes=n_undone)
        return n_undone

    def _accepts(self, answer: Answer) -> bool:
        return self.problem.accepts(answer.label)

    def _chosen(self, pairs: Iterable[Pair], before: AbstractSet[Pair] = _NONE) -> tuple[Pair, ...]:
        """Edits to undo, sorted and checked; ``before`` are those undone by earlier choices."""
        chosen = tuple(sorted(pairs))
        once = len(set(chosen)) == len(chosen) and before.isdisjoint(chosen)
        if not once or not self.pairs.issuperset(chosen):
            msg = f"A refiner may undo each edit of the counterfactual once; got {chosen!r:.80}."
            raise InvalidParameterError(msg)
        return chosen

    @staticmethod
    def _without(graph: Graph, chosen: tuple[Pair, ...]) -> Graph:
        n = graph.n_nodes  # edits are checked already
        return graph.toggle_codes(tuple([u * n + v for u, v in chosen]))

    def _keep(self, chosen: tuple[Pair, ...], graph: Graph, label: Label, structure: str) -> None:
        self.graph, self.label = graph, label
        if self.minimal:
            self.minimal = False  # a certificate is valid for one set of edits only
        self.pairs.difference_update(chosen)
        step = Step("refine", structure, chosen, ask=Ask.YES)
        self.steps.append(step)
        if self.session.on_event is not None:
            self.session.notify("step", graph, step)

    def move(self, graph: Graph, label: Label, block: str) -> None:
        """Replace the graph by another counterfactual, in one step; ``block`` says who found it."""
        toggled = tuple(self.graph ^ graph)
        if not toggled:
            return
        self.graph, self.label, self.minimal = graph, label, None
        self.pairs = set(self.problem.graph ^ graph)
        self.steps.append(Step(block, "edges", toggled))

    def structures(self) -> list[list[Pair]]:
        """The edits grouped by the structure that changed them last.

        If the search changed single edges or a whole graph, and the nodes have regions, the groups
        are the pairs of regions instead.
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
        """The edits, the least useful first, in an order that does not depend on node numbers.

        If the labels of the background are known, edits that make the graph least like the target
        class come first. Ties are broken by structure.
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
        """Refine in place; the end of the budget may interrupt it at any query."""
        ...


def shuffled_changes(candidate: Candidate) -> list[Pair]:
    """The changed pairs in random order."""
    queue = sorted(candidate.pairs)
    candidate.problem.rng.shuffle(queue)
    return queue


@dataclass(frozen=True)
class BackwardRefine:
    """Backward search of Abrate & Bonchi, as in the paper's DAT+BW.

    The changed pairs are shuffled into a queue, and a batch of them is undone at a time. If the
    flip stays, the next batch is one larger; otherwise the pairs go back to the end of the queue
    and the next batch is one smaller. A single pair that loses the flip is needed, and leaves the
    queue.

    Parameters
    ----------
    start : size of the first batch.
    max_questions : the largest number of queries.
    order : the queue to begin with, as a function of the candidate.
    """

    start: int = 5
    max_questions: int = 2000
    order: Callable[[Candidate], list[Pair]] = shuffled_changes

    def __post_init__(self) -> None:
        whole_number("start", self.start, minimum=1)
        whole_number("max_questions", self.max_questions)

    def __call__(self, candidate: Candidate) -> None:
        """Refine until one change is left, the queue is empty or the queries are used up."""
        queue = list(self.order(candidate))
        head, k, left = 0, self.start, self.max_questions
        while head < len(queue) and len(candidate.pairs) > 1 and left > 0:
            # Far from the boundary nearly every batch can be undone, near it hardly any: look
            # ahead along the likelier answer.
            places: list[tuple[int, int, int]] = []
            if candidate.likely_to_succeed:
                queries = candidate.session.calls
                n = candidate.undo_while(
                    _growing(queue, head, k, min(left, _RUN), len(candidate.pairs), places)
                )
                queries = candidate.session.calls - queries
                start = head if queries < 2 else places[queries - 2][0]
                head, _, k = places[queries - 1]
                if queries == n:
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
                queries = hit + 1
                head, end, k = places[hit]
                del queue[end:]  # pairs put back only while looking ahead
                k += 1
            left -= queries
        if left <= 0 and head < len(queue) and len(candidate.pairs) > 1:
            candidate.problem.note(
                f"The backward search stopped at its limit of {self.max_questions:,} queries, with "
                f"{len(candidate.pairs):,} edits left; '+min' may undo more of them."
            )


def _growing(
    queue: list[Pair],
    head: int,
    k: int,
    most: int,
    n_pairs: int,
    places: list[tuple[int, int, int]],
) -> Iterator[list[Pair]]:
    """Batches to undo, as if every one kept the flip; see `_shrinking`."""
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
    """Batches to undo, as if every one lost the flip.

    The queue is read from ``head`` and only grows at its end. Its state at each batch is therefore
    two numbers, which are appended to ``places`` with the size of the batch.
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

    Changed pairs are undone one by one, up to the first that loses the flip. Pairs whose nodes
    occur least among the changes come first.
    """

    def __call__(self, candidate: Candidate) -> None:
        """Refine up to the first failure."""
        uses = Counter(v for pair in candidate.pairs for v in pair)
        order = sorted(candidate.pairs, key=lambda p: (uses[p[0]] + uses[p[1]], p))
        candidate.undo_while([pair] for pair in order[:-1])  # the last change is kept


@dataclass(frozen=True)
class MinimalRefine:
    """Delta debugging to a 1-minimal set: no single edit can be undone without losing the flip.

    Whole structures (cliques, region blocks) are tried first, then pairs, so that the rest still
    consists of few structures. The result carries the certificate (`Counterfactual.minimal`).
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

    Coarse parts are kept alone or undone first, then finer ones. The pass over single units is
    repeated until it changes nothing; that last pass is the certificate.
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
                tried = []  # undoing it would give the original
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
    "bw": (BackwardRefine, "backward search: undo growing batches of random edits"),
    "bw1": (
        EdgeBackwardRefine,
        "undo edits one by one, rarest nodes first, up to the first failure",
    ),
    "min": (MinimalRefine, "delta debugging to a certified 1-minimal set, whole structures first"),
}
REFINER_WORDS = {"backward": "bw", "minimal": "min", "minimise": "min", "minimize": "min"}


def as_refiners(refine: str | Refine | Iterable[str | Refine]) -> tuple[Refine, ...]:
    """Refiners by name, one or several, or callables as they are."""
    if isinstance(refine, str) or not isinstance(refine, Iterable):
        refine = (refine,)
    known = {name: make for name, (make, _) in REFINERS.items()}
    return tuple(by_name("refine", item, known, "refinement", REFINER_WORDS) for item in refine)


def by_name(
    parameter: str,
    given: Any,
    known: Mapping[str, Callable[[], Any]],
    kind: str = "",
    aliases: Mapping[str, str] | None = None,
) -> Any:
    """Make the part of a search that a name refers to; return a callable as it is.

    Parameters
    ----------
    parameter : the name of the parameter, for messages.
    given : the name, or the callable.
    known : name → what makes the part.
    kind : what the name refers to, for messages; by default the name of the parameter.
    aliases : as in `UnknownNameError`.
    """
    if not isinstance(given, str):
        return check_callable(parameter, given)
    if given not in known:
        raise UnknownNameError(kind or parameter, given, known, aliases=aliases)
    return known[given]()
