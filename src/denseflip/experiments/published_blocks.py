"""Densify blocks of the published clique searches (our reading; the authors' file is missing)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from denseflip.counterfactual import Step
from denseflip.graph.density import harmonic_centrality
from denseflip.search.blocks import DENSIFY, State


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
        order = self._order(state, node)
        for size in range(state.last_size, state.last_size + self.slack + 1):
            chosen = order[:size]
            new = state.missing(chosen)
            yield Step(DENSIFY, "clique", new, nodes=tuple(sorted(chosen)))
            if len(new) >= removed:
                return

    def _order(self, state: State, node: int) -> list[int]:
        if self not in state.memory:
            state.memory[self] = harmonic_centrality(state.original)
        n = state.original.n_nodes
        last = np.arange(n) == node
        order: list[int] = np.lexsort(
            (np.arange(n), state.memory[self], state.counts, last)
        ).tolist()
        return order
