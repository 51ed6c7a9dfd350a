"""`Cells`: counts by pair of regions, and the smallest cover of a share of edits.

A cell is a pair of regions, or one region with itself. Every node pair lies in exactly one cell, so
edges, edits and possible edges can be counted by cell. Searches, sentences, measures, features and
charts use these counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidNodesError, InvalidParameterError
from denseflip.graph.core import Graph
from denseflip.graph.edits import Edits
from denseflip.graph.nodes import Taxonomy
from denseflip.graph.pairs import Codes, Pair

Cell = tuple[int, int]  # positions of two regions, the lower first; equal for a region with itself
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Content = Graph | Edits | Codes | Iterable[Pair]  # what can be counted by cell

_TABLE_REGIONS = 512  # up to here cell numbers are in a lookup table, beyond it computed
_TABLE_NODES = 512  # up to here the cell number of every pair is in a lookup table
_ALL_SETS = 18  # up to this many regions, all sets are compared
_TRIED_SETS = 200_000  # beyond that, the number of sets tried before regions are dropped greedily


@dataclass(frozen=True)
class Cells:
    """The cells of a taxonomy.

    With k regions there are k(k+1)/2 cells. They are numbered row by row in the upper triangle of
    the region × region matrix, so the order of numbers is the order of regions. Arrays "by cell"
    have one entry per number. `tally` and `split` hold only the cells in use, for taxonomies with
    as many regions as nodes.

    Methods count a `Graph` (its edges), `Edits` (both added and removed), node pairs, or an array
    of pair codes over the taxonomy's nodes.

    >>> cells = Cells(Taxonomy.from_labels("lobe", ["Front", "Front", "Back", "Back"]))
    >>> edits = Edits(added=((0, 2), (0, 3)), removed=((0, 1),))
    >>> {cells.name(cell): number for cell, number in cells.tally(edits).items()}
    {'Front – Back': 2, 'Front': 1}
    >>> cells.sizes.tolist(), cells.count(edits).tolist()
    ([1, 4, 1], [1, 2, 0])
    """

    taxonomy: Taxonomy

    # ---- cells ----------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes in the taxonomy."""
        return len(self.taxonomy.index)

    @property
    def n_regions(self) -> int:
        """Number of regions."""
        return len(self.taxonomy.regions)

    def __len__(self) -> int:
        return self.n_regions * (self.n_regions + 1) // 2

    def cell(self, u: int, v: int) -> Cell:
        """The cell of a pair of nodes."""
        a, b = self.taxonomy.index[u], self.taxonomy.index[v]
        return (a, b) if a <= b else (b, a)

    def name(self, cell: Cell) -> str:
        """``"Front – Back"``, or ``"Front"`` for a region with itself."""
        a, b = (self.taxonomy.regions[r] for r in cell)
        return a if cell[0] == cell[1] else f"{a} – {b}"

    def number(self, cell: Cell) -> int:
        """The number of a cell; its two regions may be in either order."""
        a, b = min(cell), max(cell)
        return a * (2 * self.n_regions - a - 1) // 2 + b

    def marked(self, cells: Sequence[Cell]) -> npt.NDArray[np.bool_]:
        """Which cells are among these, by cell."""
        out = np.zeros(len(self), dtype=bool)
        a, b = np.array(cells, dtype=np.int64).reshape(-1, 2).T
        out[self._number(a, b)] = True
        return out

    def at(self, numbers: Iterable[int] | Ints) -> tuple[Cell, ...]:
        """The cells with these numbers: the inverse of `number`."""
        asked = np.fromiter(numbers, dtype=np.int64)
        a = np.searchsorted(self.within, asked, side="right") - 1
        b = asked - self.within[a] + a
        return tuple(zip(a.tolist(), b.tolist(), strict=True))

    @cached_property
    def within(self) -> Ints:
        """Number of each region's cell with itself."""
        a = np.arange(self.n_regions, dtype=np.int64)
        return a * (2 * self.n_regions - a + 1) // 2

    @cached_property
    def region_sizes(self) -> Ints:
        """Number of nodes in each region."""
        return np.bincount(self.taxonomy.array, minlength=self.n_regions).astype(np.int64)

    @cached_property
    def sizes(self) -> Ints:
        """Number of node pairs in each cell, joined or not."""
        a, b = np.triu_indices(self.n_regions)
        sizes = self.region_sizes[a] * self.region_sizes[b]
        sizes[self.within] = self.region_sizes * (self.region_sizes - 1) // 2
        return sizes

    def members(self, cell: Cell) -> Codes:
        """Sorted codes of all node pairs in a cell."""
        x, y = (self.taxonomy.members(r) for r in cell)
        u, v = (m.ravel() for m in np.meshgrid(x, y, indexing="ij"))
        if cell[0] == cell[1]:
            u, v = u[u < v], v[u < v]
        return np.sort(np.minimum(u, v) * self.n_nodes + np.maximum(u, v))

    # ---- counts ---------------------------------------------------------------------------

    def codes(self, content: Content) -> Codes:
        """Pair codes of a graph, edits or pairs, in the order given.

        It raises if their nodes are not those of the taxonomy.
        """
        n = self.n_nodes
        if isinstance(content, Graph):
            if content.n_nodes != n:
                self._refuse(f"the graph has {content.n_nodes}")
            return content.codes
        if isinstance(content, np.ndarray) and content.ndim == 1:
            if len(content) and not 0 <= content.min() <= content.max() < n * n:
                self._refuse(f"the codes reach from {content.min()} to {content.max()}")
            return content
        listed = content.pairs if isinstance(content, Edits) else content
        pairs = np.asarray(
            listed if isinstance(listed, np.ndarray) else list(listed), dtype=np.int64
        ).reshape(-1, 2)
        if len(pairs) and not 0 <= pairs.min() <= pairs.max() < n:
            wrong = pairs.max() if pairs.max() >= n else pairs.min()
            self._refuse(f"a pair is on node {wrong}")
        codes: Codes = pairs.min(axis=1) * n + pairs.max(axis=1)
        return codes

    def numbers(self, content: Content) -> Ints:
        """The number of the cell of each pair, in the order given."""
        codes, n = self.codes(content), max(self.n_nodes, 1)
        if n <= _TABLE_NODES:
            return np.asarray(self._by_code[codes])
        u = codes // n  # with the difference below, faster than np.divmod
        a, b = self.taxonomy.array[u], self.taxonomy.array[codes - u * n]
        if self.n_regions <= _TABLE_REGIONS:
            found: Ints = self._table.take(a * self.n_regions + b)
            return found
        return self._number(a, b)

    def count(self, content: Content) -> Ints:
        """How many of the pairs lie in each cell, by cell."""
        return np.bincount(self.numbers(content), minlength=len(self)).astype(np.int64)

    def matrix(self, content: Content) -> Ints:
        """How many of the pairs lie in each cell, region × region, symmetric."""
        return self.square(self.count(content))

    def square(self, values: npt.NDArray[np.int64]) -> Ints:
        """Values by cell as a symmetric region × region matrix."""
        a, b = self._upper
        out = np.empty((self.n_regions, self.n_regions), dtype=values.dtype)
        out[a, b] = out[b, a] = values
        return out

    def ends(self, content: Content) -> Ints:
        """How many endpoints of the pairs lie in each region: two for a pair inside it."""
        u, v = np.divmod(self.codes(content), max(self.n_nodes, 1))
        ends = self.taxonomy.array[np.concatenate((u, v))]
        return np.bincount(ends, minlength=self.n_regions).astype(np.int64)

    def densities(self, content: Content) -> Floats:
        """Pairs over possible pairs, by cell; 0 where none is possible."""
        out: Floats = np.divide(
            self.count(content), self.sizes, out=np.zeros(len(self)), where=self.sizes > 0
        )
        return out

    # ---- orders and groups ----------------------------------------------------------------

    def order(self, values: npt.NDArray[np.int64] | Floats) -> Ints:
        """Numbers of all cells by the absolute size of their values, largest first, ties by region.

        A change of -3 comes before one of 2.
        """
        return np.argsort(-np.abs(values), kind="stable")

    def tally(self, content: Content) -> dict[Cell, int]:
        """How many of the pairs each cell holds, largest first, ties by region.

        Only cells that hold a pair.
        """
        held, counts = np.unique(self.numbers(content), return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return dict(zip(self.at(held[order]), counts[order].tolist(), strict=True))

    def split(self, content: Content, *, fullest_first: bool = False) -> dict[Cell, Codes]:
        """The sorted codes of the pairs by cell; only cells that hold a pair.

        Cells are in the order of their first pair, or largest first with ties by region.
        """
        codes = np.sort(self.codes(content))
        _, first, place, counts = np.unique(
            self.numbers(codes), return_index=True, return_inverse=True, return_counts=True
        )
        groups = np.split(codes[np.argsort(place, kind="stable")], np.cumsum(counts)[:-1])
        order = np.argsort(-counts if fullest_first else first, kind="stable")
        cells = self.at(self.numbers(codes[first]))
        return {cells[i]: groups[i] for i in order.tolist()}

    # ---- helpers --------------------------------------------------------------------------

    @cached_property
    def _by_code(self) -> Ints:
        regions = self.taxonomy.array
        return self._table.take(regions[:, None] * self.n_regions + regions).ravel()

    @cached_property
    def _upper(self) -> tuple[Ints, Ints]:
        a, b = np.triu_indices(self.n_regions)
        return a, b

    @cached_property
    def _table(self) -> Ints:
        """The numbers of all cells, row by row."""
        a = np.arange(self.n_regions, dtype=np.int64)
        return self._number(a[:, None], a[None, :]).ravel()

    def _number(self, a: Ints, b: Ints) -> Ints:
        low, high = np.minimum(a, b), np.maximum(a, b)
        out: Ints = low * (2 * self.n_regions - low - 1) // 2 + high
        return out

    def _refuse(self, what: str) -> None:
        msg = (
            f"Taxonomy {self.taxonomy.name!r} assigns {self.n_nodes} nodes to regions, but "
            f"{what}. Use the "
            "node table of the same parcellation."
        )
        raise InvalidNodesError(msg)


def cover_cells(tally: Mapping[Cell, int], share: float) -> tuple[Cell, ...]:
    """The smallest set of cells that holds a share of the pairs of a `Cells.tally`, largest first.

    >>> cover_cells({(0, 1): 5, (1, 1): 3, (0, 0): 2}, 0.8)
    ((0, 1), (1, 1))
    """
    need = _needed(tally, share)
    cells = sorted((c for c in tally if tally[c]), key=lambda c: (-tally[c], c))
    held = list(itertools.accumulate(tally[c] for c in cells))
    return tuple(cells[: 1 + sum(h < need for h in held)])


def cover_regions(tally: Mapping[Cell, int], share: float) -> tuple[int, ...]:
    """The smallest set of regions that holds a share of the pairs of a `Cells.tally`, ascending.

    A set of regions holds a pair if both ends of it are in the set. Ties go to the set that holds
    most, then to the first regions. Exact up to 18 regions in use, and beyond that if at most
    200,000 sets have to be tried. Otherwise regions are dropped greedily, the emptiest first, and
    the set may be slightly too large.

    >>> cover_regions({(0, 1): 5, (1, 1): 3, (0, 2): 2}, 0.8)
    (0, 1)
    """
    need = _needed(tally, share)
    busy = sorted({region for cell, number in tally.items() if number for region in cell})
    if not busy:
        return ()
    place = {region: i for i, region in enumerate(busy)}
    upper = np.zeros((len(busy), len(busy)), dtype=np.int64)
    for (a, b), number in tally.items():
        if number:
            upper[place[min(a, b)], place[max(a, b)]] += number
    if len(busy) <= _ALL_SETS:
        chosen = _best_of_all(upper, need)
    else:
        chosen = _best_of_small(upper, need) or _peeled(upper, need)
    return tuple(busy[i] for i in chosen)


def _needed(tally: Mapping[Cell, int], share: float) -> float:
    if not 0 < share <= 1:
        msg = f"share must be above 0 and at most 1; got {share!r}."
        raise InvalidParameterError(msg)
    return share * sum(tally.values()) - 1e-9


def _best_of_all(upper: Ints, need: float) -> tuple[int, ...]:
    """Compare all sets of regions; a set is an int whose highest bit is the first region."""
    k = len(upper)
    held, size = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for i in range(k - 1, -1, -1):
        # Add region i to every set of the later regions, with the pairs that i shares with them.
        shared = np.zeros(1, dtype=np.int64)
        for j in range(k - 1, i, -1):
            shared = np.concatenate((shared, shared + upper[i, j]))
        held = np.concatenate((held, held + shared + upper[i, i]))
        size = np.concatenate((size, size + 1))
    enough = np.flatnonzero(held >= need)
    # Of two numbers with equally many bits, the larger has the earlier regions.
    best = int(enough[np.lexsort((-enough, -held[enough], size[enough]))[0]])
    return tuple(i for i in range(k) if best >> (k - 1 - i) & 1)


def _best_of_small(upper: Ints, need: float) -> tuple[int, ...] | None:
    """Try sets of one region, of two, …; None if there are too many."""
    tried = 0
    for size in range(1, len(upper) + 1):
        best: tuple[int, tuple[int, ...]] = (-1, ())
        for chosen in itertools.combinations(range(len(upper)), size):
            tried += 1
            if tried > _TRIED_SETS:
                return None
            held = int(upper[np.ix_(chosen, chosen)].sum())
            if held > best[0]:
                best = (held, chosen)
        if best[0] >= need:
            return best[1]
    return None


def _peeled(upper: Ints, need: float) -> tuple[int, ...]:
    """Drop the region that holds least, as long as the rest holds enough."""
    kept = list(range(len(upper)))
    while len(kept) > 1:
        full = upper[np.ix_(kept, kept)]
        loss = full.sum(axis=0) + full.sum(axis=1) - full.diagonal()
        least = int(np.argmin(loss))
        if int(full.sum()) - int(loss[least]) < need:
            break
        del kept[least]
    return tuple(kept)
