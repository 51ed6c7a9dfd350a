"""Cells of regions: blocks that empty or fill one, and the method `blocks`.

A cell is all pairs between two regions, or inside one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from denseflip.counterfactual import Ask, Step
from denseflip.errors import InvalidParameterError
from denseflip.graph import Cells, Codes, Graph
from denseflip.graph.cells import Cell, Ints
from denseflip.graph.node_order import pair_places
from denseflip.graph.pairs import are_among
from denseflip.search.core.method import Stream
from denseflip.search.core.problem import BACKGROUND, REGIONS, Problem
from denseflip.search.methods.blocks import (
    DENSIFY,
    State,
    StatefulBlock,
    Turn,
)

_AT_ONCE = 64  # pairs that are looked at in the time of one visit


@dataclass(frozen=True)
class CellSparsify(StatefulBlock):
    """Remove the remaining edges of the densest cell of the node's region.

    Density is the share of the cell's pairs that are edges of the original and not removed yet.
    Ties go to the region that comes first. A region whose cells are empty is skipped.

    Parameters
    ----------
    regions : the taxonomy, for example ``"lobe"`` or ``"lobe*hemisphere"``; None for the default.
    """

    regions: str | None = None
    needs: ClassVar[frozenset[str]] = frozenset({REGIONS})

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
            return state.removal("cell", removed, nodes, cells.name(cell))

        return turn


@dataclass(frozen=True)
class CellDensify(StatefulBlock):
    """Add as many edges as were removed, in the sparsest cell of the node's region.

    Pairs of nodes that were least often in removed structures come first, then those from the
    sparse end of the ranking. A full cell is followed by the next sparsest of the region.

    Parameters
    ----------
    regions : as in `CellSparsify`.
    """

    regions: str | None = None
    needs: ClassVar[frozenset[str]] = frozenset({REGIONS})

    def start(self, state: State) -> Turn:
        """Start with the cells of the taxonomy."""
        cells = Cells(state.problem.taxonomy(self.regions, "cell"))

        n = state.original.n_nodes
        inside = [set(cells.taxonomy.members(r).tolist()) for r in range(cells.n_regions)]

        def count_missing(cell: Cell) -> int:
            if state.bound:
                return len(_missing(state, cells, cell))
            fewer, more = sorted((inside[r] for r in cell), key=len)
            joined = sum(len(state.neighbours[u] & more) for u in fewer)
            return _size(cells, cell) - (joined if cell[0] != cell[1] else joined // 2)

        def turn(node: int) -> Iterator[Step]:
            lacking = state.lacking
            mine = _cells_of(cells, node)
            candidates = []
            for i, cell in enumerate(mine):
                state.problem.check_time()
                n_missing = count_missing(cell)
                state.work(_size(cells, cell) // _AT_ONCE)
                if n_missing:
                    candidates.append((-n_missing / _size(cells, cell), i))
            for _, i in sorted(candidates):
                missing = _missing(state, cells, mine[i])
                u, v = np.divmod(missing, n)
                used = state.counts[u] + state.counts[v]
                rank = state.position[u] + state.position[v]
                first = np.sort(missing[np.lexsort((missing, -rank, used))[:lacking]])
                new = tuple(divmod(int(code), n) for code in first)
                nodes = sorted({v for pair in new for v in pair})
                state.counts[nodes] -= 1
                lacking -= len(new)
                name = cells.name(mine[i])
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


def _missing(state: State, cells: Cells, cell: Cell) -> Codes:
    """Sorted codes of the pairs of a cell that are not joined now and may be added."""
    n = state.original.n_nodes
    fewer, _ = sorted((cells.taxonomy.members(r) for r in cell), key=len)
    joined = [min(u, v) * n + max(u, v) for u in fewer.tolist() for v in state.neighbours[u]]
    members = cells.members(cell)
    missing = members[~are_among(members, np.unique(np.array(joined, dtype=np.int64)))]
    return state.problem.free(missing)


@dataclass(frozen=True)
class RegionBlocks(Stream):
    """Change whole region pairs to the density of the target class, the most different first.

    A cell is a pair of regions, or one region with itself. Its change is the mean number of edges
    in the target class minus the number in the graph, rounded. Cells are sorted by the size of that
    change, largest first, ties by the names of the regions, whatever the strength. Within a cell,
    the pairs in which the two classes differ most change first.

    Parameters
    ----------
    regions : the taxonomy, for example ``"lobe"`` or ``"lobe*hemisphere"``; None for the default.
    strength : the number of edges to reach: the ``"mean"`` of the target class, its ``"max"`` (the
        least where edges are removed), ``"full"`` (fill or empty the cell), or a number that
        multiplies the change to the mean.
    """

    regions: str | None = None
    strength: str | float = "mean"
    needs: ClassVar[frozenset[str]] = frozenset({REGIONS, BACKGROUND})

    def __post_init__(self) -> None:
        s = self.strength
        if isinstance(s, str) and s not in {"mean", "max", "full"}:
            try:
                s = float(s)
            except ValueError:
                msg = f"strength must be 'mean', 'max', 'full' or a positive number; got {s!r}."
                raise InvalidParameterError(msg) from None
            object.__setattr__(self, "strength", s)
        if not isinstance(s, str) and not (np.isfinite(s) and s > 0):
            msg = f"strength must be 'mean', 'max', 'full' or a positive number; got {s!r}."
            raise InvalidParameterError(msg)

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield one cell's change per iteration."""
        cells = Cells(problem.taxonomy(self.regions, "blocks"))
        _, others = problem.split_background("blocks")
        contrast = problem.contrast("blocks")
        graph, n = problem.graph, problem.graph.n_nodes
        usual, wanted = self._wanted(graph, others, cells)
        # Ties by the names of the regions: their numbers depend on the order of the nodes.
        order = np.lexsort((cells_by_name(cells), -np.abs(usual)))
        order = order[wanted[order] != 0]
        number, none = 0, np.empty(0, dtype=np.int64)
        joined = cells.split(graph.codes)
        better = cells.split(contrast.codes[contrast.values < 0])
        for cell, change in zip(cells.at(order), wanted[order].tolist(), strict=True):
            problem.check_time()
            codes = joined.get(cell, none)
            if change > 0:
                # Usually enough pairs are more frequent in the target class.
                codes = problem.free(_others(better.get(cell, none), graph))
                if len(codes) < change:
                    codes = problem.free(_others(cells.members(cell), graph))
            else:
                codes = problem.free(codes)
            values = contrast.at(codes)
            # Added: the pairs that the target class has most more often; removed: the opposite.
            ties = pair_places(codes, problem.places)
            strongest = np.lexsort((ties, values if change > 0 else -values))[: abs(change)]
            toggled = tuple(sorted(divmod(int(c), n) for c in codes[strongest]))
            if not toggled:
                continue
            number += 1
            kind = "densify" if change > 0 else "sparsify"
            yield Step(kind, "block", toggled, name=cells.name(cell), iteration=number)
        stronger = "" if self.strength == "full" else " A larger change may: strength='full'."
        problem.note(
            f"All {number} cells in which the classes differ were changed to the target class's "
            f"{self.strength if isinstance(self.strength, str) else 'multiple'}, and the label did "
            f"not flip.{stronger}"
        )

    def _wanted(self, graph: Graph, others: Sequence[Graph], cells: Cells) -> tuple[Ints, Ints]:
        """The change of every cell to the mean of the target class, and to the strength."""
        has = cells.count(graph)
        counts = np.stack([cells.count(g) for g in others])
        change = counts.mean(axis=0) - has
        usual = np.rint(change).astype(np.int64)
        if self.strength == "max":
            most, least = counts.max(axis=0) - has, counts.min(axis=0) - has
            change = np.where(change > 0, most, np.where(change < 0, least, 0))
        elif self.strength == "full":
            change = np.where(usual > 0, cells.sizes - has, np.where(usual < 0, -has, 0))
        elif not isinstance(self.strength, str):
            change = change * self.strength
        return usual, np.rint(change).astype(np.int64)


def _others(codes: Codes, graph: Graph) -> Codes:
    """The pairs that a graph does not join."""
    return codes[~are_among(codes, graph.codes)]


def cells_by_name(cells: Cells) -> Ints:
    """The rank of every cell when cells are sorted by the names of their two regions."""
    regions = cells.taxonomy.regions
    names = [tuple(sorted(regions[r] for r in cell)) for cell in cells.at(range(len(cells)))]
    places = np.empty(len(names), dtype=np.int64)
    places[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return places
