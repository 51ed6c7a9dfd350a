"""The search methods as the paper's printed numbers show they were run, quirks included.

Only for reproducing its tables and figures. Every method here is a composition of the library's
blocks, or small blocks and streams of its own; the clique searches are our reading, since the
authors' own file is missing. The orders in which pairs come are in
`denseflip.paper.published_orders`, the classifier in `denseflip.paper.published_classifier`; what
was found about each reading is in the page "Reproduction" of the documentation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Ask, Counterfactual, Step
from denseflip.errors import UnknownNameError
from denseflip.graph import Graph, Taxonomy
from denseflip.graph.cells import Cells
from denseflip.graph.density import two_hop
from denseflip.oracles.base_session import BaseSession
from denseflip.paper.published_orders import changes, looped_swaps, shuffled_changes
from denseflip.search.core.engine import walk
from denseflip.search.core.method import Conversation, Method, Stream
from denseflip.search.core.problem import BACKGROUND, REGIONS, Problem, Walk
from denseflip.search.core.refinement import BackwardRefine, Candidate, Refine
from denseflip.search.methods.baselines import replace_by
from denseflip.search.methods.blocks import DENSIFY, SPARSIFY, State
from denseflip.search.methods.dcs import DCS
from denseflip.search.methods.densify import clique_size
from denseflip.search.methods.registry import triangles
from denseflip.search.methods.sparsify import CliqueSparsify

LOBES = (
    "Frontal Lobe",
    "Insula & Cingulate Gyri",
    "Temporal Lobe",
    "Occipital Lobe",
    "Parietal Lobe",
    "Central Structures",
    "Posterior Fossa",
)


def published_distance(a: Graph, b: Graph) -> float:
    """The paper's d%: a self-loop at every node in both graphs, rounded to three places."""
    changed = a.distance(b)
    union = (a.n_edges + b.n_edges + changed) // 2 + a.n_nodes
    return round(changed / union, 3) if union else 0.0


# ---- single edges and whole graphs ------------------------------------------------------


@dataclass(frozen=True)
class PublishedSwaps(Stream):
    """EDG with the authors' lists: self-loops are among the removals, and remove nothing (D10)."""

    max_iterations: int = 2000

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield one swap per iteration; where a loop would go, only the addition."""
        removals, additions = looped_swaps(problem)
        swaps = zip(removals, additions, strict=False)
        for i, (gone, new) in enumerate(islice(swaps, self.max_iterations), start=1):
            loop = gone[0] == gone[1]
            yield Step("swap", "edge", (new,) if loop else (gone, new), iteration=i)
        if next(swaps, None) is not None:
            problem.note(f"The iteration limit of {self.max_iterations} was reached.")


@dataclass(frozen=True)
class PublishedTriangles(Stream):
    """TRI with the authors' limit: the loop runs while i < |E-| - 2 (D2)."""

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield the steps of `tri` up to that limit."""
        return triangles(max_iterations=max(0, problem.graph.n_edges - 2))(problem)


@dataclass(frozen=True)
class PublishedClosest(Conversation):
    """DAT with the authors' distance: self-loops counted, rounded, ties to the lowest index."""

    needs: ClassVar[frozenset[str]] = frozenset({BACKGROUND})

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Change the original into the closest graph of another class."""
        _, others = problem.split_background("dat")
        session.charge(len(problem.background_labels))
        chosen = min(others, key=lambda g: published_distance(problem.graph, g))
        return replace_by(problem, chosen, session)


# ---- cliques ----------------------------------------------------------------------------


@dataclass(frozen=True)
class PublishedRegionRank:
    """RCLI's ranking: lobes by density, densest first; inside a lobe, nodes by triangles.

    A loop at every node counts among a lobe's edges and among its pairs (D8, D10). Equally dense
    lobes come in the order of `LOBES`, others behind them in the order of the node table.
    """

    needs: ClassVar[frozenset[str]] = frozenset({REGIONS})

    def __call__(self, problem: Problem) -> npt.NDArray[np.int64]:
        """Every node once: lobe by lobe."""
        lobes = problem.taxonomy("lobe", "rcli")
        index, density = lobes.array, looped_densities(problem.graph, lobes)
        place = {name: i for i, name in enumerate((*LOBES, *lobes.regions)[::-1])}
        order = np.array([-place[name] for name in lobes.regions])
        nodes = np.arange(problem.graph.n_nodes)
        return np.lexsort((nodes, -problem.triangles, order[index], -density[index]))


def looped_densities(graph: Graph, regions: Taxonomy) -> npt.NDArray[np.float64]:
    """Edges and loops inside each region over the pairs and loops that it could hold."""
    cells = Cells(regions)
    sizes = cells.region_sizes
    held = cells.count(graph)[cells.within] + sizes
    possible = sizes * (sizes + 1) // 2
    out: npt.NDArray[np.float64] = np.divide(
        held, possible, out=np.zeros(len(sizes)), where=possible > 0
    )
    return out


@dataclass(frozen=True)
class PublishedSparsify:
    """`CliqueSparsify`, except that a node without edges is a clique by itself.

    The library passes such a node over. In the published runs every node carried a self-loop, so
    an iteration was spent on it: nothing is removed, yet a pair may be added.
    """

    ask: Ask

    def __call__(self, state: State, node: int) -> Iterator[Step]:
        """Yield the removal of one clique, possibly of no edge."""
        if state.original_neighbours[node]:
            for step in CliqueSparsify()(state, node):
                yield step._replace(ask=self.ask)
            return
        state.removed_structures.append(frozenset((node,)))
        state.counts[node] += 1
        state.last_size = 1
        yield Step(SPARSIFY, "clique", (), ask=self.ask, nodes=(node,))


@dataclass(frozen=True)
class PublishedDensify:
    """CLI's densify: one clique per iteration, whatever it adds.

    Its size m is the smallest with m(m-1)/2 at least the edges removed plus k (k nodes had the
    removed clique). Nodes within two hops of the given one in the current graph come first, then
    all others; among each by how often they were in removed cliques, then by harmonic centrality
    in the original, lowest first, then by index.
    """

    def __call__(self, state: State, node: int) -> Iterator[Step]:
        """Yield the addition of one clique."""
        size = max(2, clique_size(state.removed_now + state.last_size))
        near = two_hop(node, state.neighbours)
        far = np.array([v not in near for v in range(state.original.n_nodes)])
        yield _join(state, _by_use(state, far)[:size])


@dataclass(frozen=True)
class PublishedRegionDensify:
    """RCLI's densify: a clique that grows node by node, with a question after each size.

    All nodes in order of how often they were in removed cliques, then of harmonic centrality in
    the original, then of index, the given node last. The first k of them are joined (k nodes had
    the removed clique), then k + 1, and so on up to k + ``slack``; a size that by itself adds as
    many edges as were removed is the last. Nothing happens where nothing was really removed.
    """

    slack: int = 10

    def __call__(self, state: State, node: int) -> Iterator[Step]:
        """Yield one step per size."""
        removed = state.removed_now
        if not removed:
            return
        order = _by_use(state, np.arange(state.original.n_nodes) == node)
        for size in range(state.last_size, state.last_size + self.slack + 1):
            step = _join(state, order[:size])
            yield step
            if len(step.toggled) >= removed:
                return


def _by_use(state: State, last: npt.NDArray[np.bool_]) -> list[int]:
    """Nodes by (last, uses in removed cliques, harmonic centrality in the original, index)."""
    index = np.arange(state.original.n_nodes)
    order: list[int] = np.lexsort((index, state.problem.harmonic, state.counts, last)).tolist()
    return order


def _join(state: State, nodes: list[int]) -> Step:
    return Step(DENSIFY, "clique", state.missing(nodes), nodes=tuple(sorted(nodes)))


@dataclass(frozen=True)
class HalfOfTheNodes(Stream):
    """A `DCS` with as many iterations as half the nodes: no node is taken twice."""

    search: DCS

    @property
    def needs(self) -> frozenset[str]:
        """What the search needs."""
        return self.search.needs

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield the steps of the search up to that limit."""
        limit = problem.graph.n_nodes // 2
        for step in self.search(problem):
            if step.iteration > limit:
                return
            yield step


@dataclass(frozen=True)
class PublishedRegionCliques(Conversation):
    """RCLI: the question after a removal is asked and counted, but its answer is not heeded (D7).

    To ask and not to listen is no quirk of a stream, so this is a conversation round one.
    """

    search: HalfOfTheNodes = HalfOfTheNodes(
        DCS(
            rank=PublishedRegionRank(),
            sparsify=PublishedSparsify(Ask.YES),
            densify=PublishedRegionDensify(),
            max_iterations=None,
        )
    )

    @property
    def needs(self) -> frozenset[str]:
        """What the search needs."""
        return self.search.needs

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Follow the steps; a flip after a removal does not end the search."""
        steps = self.search(problem)
        return walk(problem, steps, session, may_stop=lambda step: step.block != SPARSIFY)


@dataclass(frozen=True)
class PublishedEdgeBackward:
    """RCLI+BW: undo pairs one by one, rarest ends first, up to the first that loses the flip.

    As `EdgeBackwardRefine`, but equally rare pairs come in the order of the authors' set, and the
    last pair left is tried too, though undoing it can only give the original back.
    """

    def __call__(self, candidate: Candidate) -> None:
        """Refine up to the first failure."""
        uses = Counter(v for pair in candidate.pairs for v in pair)
        order = sorted(changes(candidate), key=lambda p: uses[p[0]] + uses[p[1]])
        candidate.undo_while([pair] for pair in order)


# ---- by name ----------------------------------------------------------------------------


def _cliques() -> HalfOfTheNodes:
    return HalfOfTheNodes(
        DCS(
            sparsify=PublishedSparsify(Ask.NO),
            densify=PublishedDensify(),
            max_iterations=None,
        )
    )


@dataclass(frozen=True)
class _Published:
    build: Callable[[], Stream | Conversation]
    refine: tuple[Refine, ...] = ()


PUBLISHED: dict[str, _Published] = {
    "edg": _Published(PublishedSwaps),
    "tri": _Published(PublishedTriangles),
    "cli": _Published(_cliques),
    "rcli": _Published(PublishedRegionCliques),
    "rcli+bw": _Published(PublishedRegionCliques, (PublishedEdgeBackward(),)),
    "dat": _Published(PublishedClosest),
    "dat+bw": _Published(PublishedClosest, (BackwardRefine(order=shuffled_changes),)),
}


def published_method(name: str, graph: Any = None, nodes: Any = None) -> Method:
    """The paper's method of this name, to be given to `explain`.

    Parameters
    ----------
    name : one of `PUBLISHED`: edg, tri, cli, rcli, rcli+bw, dat, dat+bw.
    graph, nodes : not needed; whatever a method must know of them it looks up in the problem.

    Raises
    ------
    UnknownNameError
        If the paper has no such method.
    """
    key = name.strip().lower()
    if key not in PUBLISHED:
        raise UnknownNameError("published method", name, PUBLISHED)
    entry = PUBLISHED[key]
    return Method(key, entry.build(), entry.refine)


def published_measures(result: Counterfactual) -> dict[str, Any]:
    """What the paper prints and plots of one result: flipped or not, d% and C.

    C is what the supplement draws: of TRI the iterations less one (never below 1, since the axis
    is logarithmic), of EDG the iterations, of the others the questions, the original's own among
    them; DAT+BW has three less, and RCLI+BW asks about the counterfactual once more before it
    goes back.
    """
    calls = result.calls
    if result.method == "tri":
        calls = max(1, result.iterations - 1)
    elif result.method == "edg":
        calls = result.iterations
    elif result.method == "dat+bw":
        calls -= 3
    elif result.method == "rcli+bw":
        calls += 1
    return {
        "flipped": result.found,
        "d": published_distance(result.original, result.counterfactual),
        "calls": calls,
    }


def published_distance_and_calls(result: Counterfactual) -> tuple[float, int]:
    """d% and C of one result as the paper plots them; see `published_measures`."""
    measures = published_measures(result)
    return float(measures["d"]), int(measures["calls"])
