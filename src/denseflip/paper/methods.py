"""The search methods as the paper's printed numbers show they were run, quirks included.

Only for reproducing its tables and figures. Every method here is an ordinary composition of the
library's blocks with parameters that are no defaults, or a small block of its own
(`published_blocks`, `published_order`). The classifier is in `published_classifier`; what was
found about each reading is in the page "Reproduction" of the documentation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from denseflip.counterfactual import Ask, Counterfactual, Step
from denseflip.errors import UnknownNameError
from denseflip.graph import Graph
from denseflip.paper.blocks import (
    PublishedDensify,
    PublishedRegionDensify,
    PublishedSparsify,
)
from denseflip.paper.orders import changes, looped_swaps, shuffled_changes
from denseflip.search.baselines import EdgeSwap
from denseflip.search.dcs import DCS
from denseflip.search.methods import Recipe, tri
from denseflip.search.problem import Method, Problem
from denseflip.search.rank import RegionRank
from denseflip.search.refine import BackwardRefine, Candidate, Refine

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


@dataclass(frozen=True)
class PublishedTriangles:
    """TRI with the authors' limit: the loop runs while i < |E-| - 2 (D2)."""

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield the steps of `tri` up to that limit."""
        return tri(max_iterations=max(0, problem.graph.n_edges - 2))(problem)


@dataclass(frozen=True)
class PublishedClosest:
    """DAT with the authors' distance: self-loops counted, rounded, ties to the lowest index."""

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield one step: the change into the closest graph of another class."""
        _, others = problem.split_background("dat")
        assert problem.session is not None
        assert problem.background is not None
        problem.session.charge(len(problem.background))
        chosen = min(others, key=lambda g: published_distance(problem.graph, g))
        yield Step("replace", "graph", tuple(problem.graph ^ chosen), ask=Ask.KNOWN, iteration=1)


@dataclass(frozen=True)
class HalfOfTheNodes:
    """A `DCS` with as many iterations as half the nodes: no node is taken twice."""

    search: DCS

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield the steps of the search up to that limit."""
        limit = problem.graph.n_nodes // 2
        for step in self.search(problem):
            if step.iteration > limit:
                return
            yield step


@dataclass(frozen=True)
class PublishedEdgeBackward:
    """RCLI+BW: undo pairs one by one, rarest ends first, up to the first that loses the flip.

    As `EdgeBackwardRefine`, but equally rare pairs come in the order of the authors' set, and the
    last pair left is tried too, though undoing it can only give the original back.
    """

    def __call__(self, candidate: Candidate) -> None:
        """Refine up to the first failure."""
        uses = Counter(v for pair in candidate.pairs for v in pair)
        for pair in sorted(changes(candidate), key=lambda p: uses[p[0]] + uses[p[1]]):
            if not candidate.undo([pair]):
                return


def _cliques() -> Method:
    return HalfOfTheNodes(
        DCS(
            sparsify=PublishedSparsify(Ask.NO),
            densify=PublishedDensify(),
            max_iterations=None,
        )
    )


def _region_cliques() -> Method:
    return HalfOfTheNodes(
        DCS(
            rank=RegionRank(("lobe",), self_loops=True, tie_order=LOBES),
            sparsify=PublishedSparsify(Ask.IGNORED),
            densify=PublishedRegionDensify(),
            max_iterations=None,
        )
    )


@dataclass(frozen=True)
class _Published:
    build: Callable[[], Method]
    refine: tuple[Refine, ...] = ()


PUBLISHED: dict[str, _Published] = {
    "edg": _Published(lambda: EdgeSwap(2000, looped_swaps)),
    "tri": _Published(PublishedTriangles),
    "cli": _Published(_cliques),
    "rcli": _Published(_region_cliques),
    "rcli+bw": _Published(_region_cliques, (PublishedEdgeBackward(),)),
    "dat": _Published(PublishedClosest),
    "dat+bw": _Published(PublishedClosest, (BackwardRefine(order=shuffled_changes),)),
}


def published_method(name: str, graph: Any = None, nodes: Any = None) -> Recipe:
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
    return Recipe(key, entry.build(), entry.refine)


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
