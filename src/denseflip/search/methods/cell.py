"""Blocks that empty or fill a cell of regions: all pairs between two regions, or inside one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from denseflip.counterfactual import Ask, Step
from denseflip.graph import Cells, Pair
from denseflip.graph.cells import Cell
from denseflip.search.core.problem import REGIONS
from denseflip.search.methods.blocks import DENSIFY, SPARSIFY, State, Turn

_TRIANGLE = 3  # edges to add when nothing was removed yet


@dataclass(frozen=True)
class CellSparsify:
    """Remove the remaining edges of the densest cell of the node's region.

    Density is the share of the cell's pairs that are edges of the original and not removed yet.
    Ties go to the region that comes first. A region whose cells are empty is skipped.

    Parameters
    ----------
    regions : the taxonomy, for example ``"lobe"`` or ``"lobe*hemisphere"``; None for the default.
    """

    regions: str | None = None
    needs: ClassVar[frozenset[str]] = frozenset({REGIONS})

    def __call__(self, state: State, node: int) -> Iterable[Step]:
        """Yield the removal of one cell's edges, or nothing if none are left."""
        return state.turn(self)(node)

    def start(self, state: State) -> Turn:
        """Start with all edges of the original, cell by cell."""
        n = state.original.n_nodes
        cells = Cells(state.problem.taxonomy(self.regions, "cell"))
        left = cells.split(state.problem.free(state.original.codes))

        def turn(node: int) -> tuple[Step, ...]:
            mine = [c for c in _cells_of(cells, node) if c in left]
            if not mine:
                return ()
            cell = max(mine, key=lambda c: len(left[c]) / _size(cells, c))  # the first of equals
            removed = tuple((int(c) // n, int(c) % n) for c in np.sort(left.pop(cell)))
            nodes = sorted({v for pair in removed for v in pair})
            state.counts[nodes] += 1
            state.removed_structures.append(frozenset(nodes))
            state.last_size = len(nodes)
            name = cells.name(cell)
            return (Step(SPARSIFY, "cell", removed, Ask.YES, tuple(nodes), name, state.iteration),)

        return turn


@dataclass(frozen=True)
class CellDensify:
    """Add as many edges as were removed, in the sparsest cell of the node's region.

    Pairs of nodes that were least often in removed structures come first, then those from the
    sparse end of the ranking. A full cell is followed by the next sparsest of the region.

    Parameters
    ----------
    regions : as in `CellSparsify`.
    """

    regions: str | None = None
    needs: ClassVar[frozenset[str]] = frozenset({REGIONS})

    def __call__(self, state: State, node: int) -> Iterable[Step]:
        """Yield one step per cell until the iteration is balanced."""
        return state.turn(self)(node)

    def start(self, state: State) -> Turn:
        """Start with the cells of the taxonomy."""
        cells = Cells(state.problem.taxonomy(self.regions, "cell"))

        def turn(node: int) -> Iterator[Step]:
            lacking = state.removed_now if state.sparsified_now else state.last_removed or _TRIANGLE
            candidates: list[tuple[float, int, Cell, list[Pair]]] = []
            for cell in _cells_of(cells, node):
                missing = _missing(state, cells, cell)
                if missing:
                    density = -len(missing) / _size(cells, cell)
                    candidates.append((density, len(candidates), cell, missing))
            for _, _, cell, missing in sorted(candidates):
                missing.sort(key=lambda pair: _least_used_first(state, pair))
                new = tuple(sorted(missing[:lacking]))
                nodes = sorted({v for pair in new for v in pair})
                state.counts[nodes] -= 1
                lacking -= len(new)
                name = cells.name(cell)
                yield Step(DENSIFY, "cell", new, Ask.YES, tuple(nodes), name, state.iteration)
                if lacking <= 0:
                    return

        return turn


def _cells_of(cells: Cells, node: int) -> list[Cell]:
    """Cells of the node's region with every region, in order."""
    region = cells.cell(node, node)[0]
    return [(min(region, b), max(region, b)) for b in range(cells.n_regions)]


def _size(cells: Cells, cell: Cell) -> int:
    return int(cells.sizes[cells.number(cell)])


def _missing(state: State, cells: Cells, cell: Cell) -> list[Pair]:
    n = state.original.n_nodes
    pairs = [divmod(code, n) for code in cells.members(cell).tolist()]
    missing = [(u, v) for u, v in pairs if not state.has_edge(u, v)]
    return list(state.may_change(missing)) if state.bound else missing


def _least_used_first(state: State, pair: Pair) -> tuple[int, int, Pair]:
    u, v = pair
    used = int(state.counts[u] + state.counts[v])
    return used, -int(state.position[u] + state.position[v]), pair
