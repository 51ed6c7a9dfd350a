"""Blocks of the published clique searches (our reading: the authors' own file is missing)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Ask, Step
from denseflip.graph.density import harmonic_centrality, two_hop
from denseflip.search.blocks import DENSIFY, SPARSIFY, State
from denseflip.search.densify import clique_size
from denseflip.search.sparsify import CliqueSparsify


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
            yield from CliqueSparsify(ask=self.ask)(state, node)
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
    key = "published harmonic"
    if key not in state.memory:
        state.memory[key] = harmonic_centrality(state.original)
    index = np.arange(state.original.n_nodes)
    order: list[int] = np.lexsort((index, state.memory[key], state.counts, last)).tolist()
    return order


def _join(state: State, nodes: list[int]) -> Step:
    return Step(DENSIFY, "clique", state.missing(nodes), nodes=tuple(sorted(nodes)))
