"""The search methods in the form that reproduces the paper's printed numbers, with their quirks.

Use them only to reproduce the tables and figures. Every method is composed of the library's blocks
or of small blocks and streams defined here; the clique searches are our reconstruction, because the
authors' file is missing. The orders of pairs are in `denseflip.paper.published_orders`, the
classifier is in `denseflip.paper.published_classifier`. The page "Reproduction" of the
documentation gives the evidence.
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
from denseflip.search.methods.registry import triangles
from denseflip.search.methods.structure_blocks import CliqueSparsify, clique_size

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
    """EDG with the authors' lists: removals include self-loops, which remove nothing (D10)."""

    max_iterations: int = 2000

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield one swap per iteration; only the addition if the removal is a self-loop."""
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
    """DAT with the authors' distance: with self-loops, rounded, ties to the lowest index."""

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
    lobes come in the order of `LOBES`, then others in the order of the node table.
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
    """Density of each region: its edges and loops over its possible pairs and loops."""
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

    The library skips such a node. In the published runs every node had a self-loop, so an iteration
    was spent on it: nothing is removed, but a pair may be added.
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

    Its size m is the smallest with m(m-1)/2 at least the number of removed edges plus k (the size
    of the removed clique). Nodes within two hops of the given one in the current graph come first,
    then all others; both are sorted by how often they were in removed cliques, then by harmonic
    centrality in the original, lowest first, then by index.
    """

    def __call__(self, state: State, node: int) -> Iterator[Step]:
        """Yield the addition of one clique."""
        size = max(2, clique_size(state.removed_now + state.last_size))
        near = two_hop(node, state.neighbours)
        far = np.array([v not in near for v in range(state.original.n_nodes)])
        yield _join(state, _by_use(state, far)[:size])


@dataclass(frozen=True)
class PublishedRegionDensify:
    """RCLI's densify: a clique that grows node by node, with a query after each size.

    All nodes are sorted by how often they were in removed cliques, then by harmonic centrality in
    the original, then by index, the given node last. The first k of them are joined (k is the size
    of the removed clique), then k + 1, and so on up to k + ``slack``. It stops at a size that adds
    as many edges as were removed. It adds nothing if no edge was removed.
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
    """A `DCS` with half as many iterations as nodes, so that no node is used twice."""

    search: DCS

    @property
    def needs(self) -> frozenset[str]:
        """The requirements of the search."""
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
    """RCLI: the query after a removal is counted, but its answer is ignored (D7).

    A stream cannot ignore an answer, so this is a conversation that wraps one.
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
        """The requirements of the search."""
        return self.search.needs

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Follow the steps; a flip after a removal does not end the search."""
        steps = self.search(problem)
        return walk(problem, steps, session, may_stop=lambda step: step.block != SPARSIFY)


@dataclass(frozen=True)
class PublishedEdgeBackward:
    """RCLI+BW: undo pairs one by one, rarest ends first, until an undo loses the flip.

    Like `EdgeBackwardRefine`, but ties are in the order of the authors' set, and the last remaining
    pair is tried, too, although undoing it restores the original.
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


#: Method → how its search is built, and its refinements.
PUBLISHED: dict[str, tuple[Callable[[], Stream | Conversation], tuple[Refine, ...]]] = {
    "edg": (PublishedSwaps, ()),
    "tri": (PublishedTriangles, ()),
    "cli": (_cliques, ()),
    "rcli": (PublishedRegionCliques, ()),
    "rcli+bw": (PublishedRegionCliques, (PublishedEdgeBackward(),)),
    "dat": (PublishedClosest, ()),
    "dat+bw": (PublishedClosest, (BackwardRefine(order=shuffled_changes),)),
}


def published_method(name: str, graph: Any = None, nodes: Any = None) -> Method:
    """Return the paper's method of this name, for `explain`.

    Parameters
    ----------
    name : one of `PUBLISHED`: edg, tri, cli, rcli, rcli+bw, dat, dat+bw.
    graph, nodes : ignored; methods take them from the problem.

    Raises
    ------
    UnknownNameError
        If the paper has no such method.
    """
    key = name.strip().lower()
    if key not in PUBLISHED:
        raise UnknownNameError("published method", name, PUBLISHED)
    build, refine = PUBLISHED[key]
    return Method(key, build(), refine)


def published_measures(result: Counterfactual) -> dict[str, Any]:
    """The values of one result that the paper prints and plots: flipped or not, d% and C.

    C is as in the supplement: for TRI the iterations minus one (at least 1, because the axis is
    logarithmic), for EDG the iterations, for the others the queries, including that of the
    original. DAT+BW has three fewer, and RCLI+BW one more, for the counterfactual before the
    backward search.
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
