"""`RegionTable`: where the edits lie, by region and by pair of regions."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidNodesError, InvalidParameterError
from denseflip.graph import Edits, Pair, Taxonomy

Cell = tuple[int, int]  # positions of two regions, the lower first; equal for a region by itself
_EXACT_SETS = 200_000  # try all sets of regions up to this many, beyond it grow one greedily


@dataclass(frozen=True)
class PairRow:
    """The edits of one cell: between two regions, or inside one (``region_a == region_b``).

    ``share`` is the share of all edits.
    """

    region_a: str
    region_b: str
    added: int
    removed: int
    share: float

    @property
    def total(self) -> int:
        """Edits in the cell."""
        return self.added + self.removed

    @property
    def within(self) -> bool:
        """Whether the cell is one region by itself."""
        return self.region_a == self.region_b


@dataclass(frozen=True)
class RegionRow:
    """The edits that touch one region.

    Attributes
    ----------
    region, n_nodes : name and size.
    added_within, added_between, removed_within, removed_between : edits with both ends, or
        exactly one end, in the region.
    added_share, removed_share : share of the endpoints of all added (removed) edges that lie in
        the region: the bars of the paper's figures. Each sums to 1 over the regions, or is 0
        everywhere if there is no such edge.
    """

    region: str
    n_nodes: int
    added_within: int
    added_between: int
    removed_within: int
    removed_between: int
    added_share: float
    removed_share: float

    @property
    def added(self) -> int:
        """Added edges that touch the region."""
        return self.added_within + self.added_between

    @property
    def removed(self) -> int:
        """Removed edges that touch the region."""
        return self.removed_within + self.removed_between

    @property
    def total(self) -> int:
        """Edits that touch the region."""
        return self.added + self.removed


@dataclass(frozen=True)
class RegionTable:
    """Edits sorted by the regions of their ends.

    Examples
    --------
    >>> lobes = Taxonomy.from_labels("lobe", ["Front", "Front", "Back", "Back"])
    >>> table = RegionTable(lobes, Edits(added=((0, 2), (0, 3)), removed=((0, 1),)))
    >>> [(row.region_a, row.region_b, row.total) for row in table.pairs]
    [('Front', 'Back', 2), ('Front', 'Front', 1)]
    >>> table.within, table.between
    (1, 2)
    """

    taxonomy: Taxonomy
    edits: Edits

    def __post_init__(self) -> None:
        largest = max((v for _, v in self.edits.pairs), default=-1)
        if largest >= len(self.taxonomy.index):
            msg = (
                f"Taxonomy {self.taxonomy.name!r} sorts {len(self.taxonomy.index)} nodes, but an "
                f"edit is on node {largest}. Use the node table of the same parcellation."
            )
            raise InvalidNodesError(msg)

    # ---- counts -------------------------------------------------------------------------

    @cached_property
    def added_matrix(self) -> npt.NDArray[np.int64]:
        """Added edges by region × region, symmetric."""
        return self._count(self.edits.added)

    @cached_property
    def removed_matrix(self) -> npt.NDArray[np.int64]:
        """Removed edges by region × region, symmetric."""
        return self._count(self.edits.removed)

    @property
    def matrix(self) -> npt.NDArray[np.int64]:
        """All edits by region × region, symmetric."""
        return self.added_matrix + self.removed_matrix

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Cells that hold an edit, the fullest first, ties by region."""
        matrix = np.triu(self.matrix)
        a, b = np.nonzero(matrix)
        order = np.lexsort((b, a, -matrix[a, b]))
        return tuple(zip(a[order].tolist(), b[order].tolist(), strict=True))

    @cached_property
    def pairs(self) -> tuple[PairRow, ...]:
        """Cells that hold an edit, the fullest first."""
        names, n = self.taxonomy.regions, len(self.edits)
        return tuple(
            PairRow(
                names[a],
                names[b],
                int(self.added_matrix[a, b]),
                int(self.removed_matrix[a, b]),
                int(self.matrix[a, b]) / n,
            )
            for a, b in self.cells
        )

    @cached_property
    def rows(self) -> tuple[RegionRow, ...]:
        """One row per region, in the order of the taxonomy, untouched regions included."""
        sizes = np.bincount(self.taxonomy.array, minlength=len(self.taxonomy.regions)).tolist()
        sides = []
        for matrix in (self.added_matrix, self.removed_matrix):
            inside = matrix.diagonal()
            outside = matrix.sum(axis=1) - inside
            ends = 2 * inside + outside
            share = ends / max(1, int(ends.sum()))
            sides.append((inside.tolist(), outside.tolist(), share.tolist()))
        (a_in, a_out, a_share), (r_in, r_out, r_share) = sides
        columns = (a_in, a_out, r_in, r_out, a_share, r_share)
        return tuple(
            RegionRow(name, *values)
            for name, *values in zip(self.taxonomy.regions, sizes, *columns, strict=True)
        )

    @property
    def within(self) -> int:
        """Edits with both ends in one region."""
        return int(np.trace(self.matrix))

    @property
    def between(self) -> int:
        """Edits from one region to another."""
        return len(self.edits) - self.within

    @property
    def touched(self) -> tuple[str, ...]:
        """Regions with an edit, the most often touched first."""
        return tuple(r.region for r in sorted(self.rows, key=lambda r: -r.total) if r.total)

    def edits_in(self, cells: Iterator[Cell] | tuple[Cell, ...] | list[Cell]) -> Edits:
        """The edits inside these cells."""
        wanted = {(min(c), max(c)) for c in cells}
        return self.edits.only(p for p in self.edits.pairs if self._cell_of(p) in wanted)

    # ---- the smallest set that holds a share ----------------------------------------------

    def smallest(
        self, share: float = 0.8, of: Literal["pairs", "regions"] = "pairs"
    ) -> tuple[tuple[str, str], ...] | tuple[str, ...]:
        """The smallest set of region pairs (or of regions) that holds a share of the edits.

        A set of regions holds an edit if both its ends are in the set. Ties go to the set that
        holds most, then to the first regions. Exact unless there are more than about 200,000
        sets of regions to try; then regions are dropped one by one, the emptiest first.

        Parameters
        ----------
        share : the share wanted, above 0 and at most 1.
        of : ``"pairs"`` or ``"regions"``.
        """
        if not 0 < share <= 1:
            msg = f"share must be above 0 and at most 1; got {share!r}."
            raise InvalidParameterError(msg)
        if of not in ("pairs", "regions"):
            msg = f"of must be 'pairs' or 'regions'; got {of!r}."
            raise InvalidParameterError(msg)
        need = share * len(self.edits) - 1e-9
        if of == "pairs":
            held = np.cumsum([row.total for row in self.pairs])
            k = int(np.searchsorted(held, need)) + 1 if len(held) else 0
            return tuple((row.region_a, row.region_b) for row in self.pairs[:k])
        return tuple(self.taxonomy.regions[i] for i in self._smallest_regions(need))

    def _smallest_regions(self, need: float) -> tuple[int, ...]:
        if not len(self.edits):
            return ()
        upper = np.triu(self.matrix)
        busy = [i for i, row in enumerate(self.rows) if row.total]
        tried = 0
        for size in range(1, len(busy) + 1):
            best: tuple[int, tuple[int, ...]] = (-1, ())
            for chosen in itertools.combinations(busy, size):
                tried += 1
                if tried > _EXACT_SETS:
                    return _peel(upper, busy, need)
                held = int(upper[np.ix_(chosen, chosen)].sum())
                if held > best[0]:
                    best = (held, chosen)
            if best[0] >= need:
                return best[1]
        return tuple(busy)

    # ---- forms --------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready form."""
        return {
            "taxonomy": self.taxonomy.name,
            "within": self.within,
            "between": self.between,
            "pairs": [vars(row) | {"total": row.total} for row in self.pairs],
            "regions": [vars(row) | {"total": row.total} for row in self.rows],
        }

    def __str__(self) -> str:
        head = f"{len(self.edits)} edits by {self.taxonomy.name}"
        lines = [f"{head}: {self.within} within a region, {self.between} between two"]
        for row in self.pairs:
            name = row.region_a if row.within else f"{row.region_a} – {row.region_b}"
            counts = f"+{row.added} −{row.removed}"
            lines.append(f"  {counts:>10}  {100 * row.share:3.0f} %  {name}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Table for notebooks."""
        body = "".join(
            f"<tr><td>{html.escape(r.region_a)}</td><td>{html.escape(r.region_b)}</td>"
            f"<td>{r.added}</td><td>{r.removed}</td><td>{100 * r.share:.0f} %</td></tr>"
            for r in self.pairs
        )
        head = "<tr><th>region</th><th>region</th><th>added</th><th>removed</th><th>share</th></tr>"
        return f"<table>{head}{body}</table>"

    # ---- helpers ------------------------------------------------------------------------

    def _cell_of(self, pair: Pair) -> Cell:
        a, b = self.taxonomy.index[pair[0]], self.taxonomy.index[pair[1]]
        return (a, b) if a <= b else (b, a)

    def _count(self, pairs: tuple[Pair, ...]) -> npt.NDArray[np.int64]:
        k = len(self.taxonomy.regions)
        ends = self.taxonomy.array[np.asarray(pairs, dtype=np.int64).reshape(-1, 2)]
        ends = np.sort(ends, axis=1)
        upper = np.bincount(ends[:, 0] * k + ends[:, 1], minlength=k * k).reshape(k, k)
        counts: npt.NDArray[np.int64] = upper + np.triu(upper, k=1).T
        return counts


def _peel(upper: npt.NDArray[np.int64], busy: list[int], need: float) -> tuple[int, ...]:
    """Drop the region whose loss costs least, as long as enough is held."""
    kept = list(busy)
    while len(kept) > 1:
        full = upper[np.ix_(kept, kept)]
        loss = full.sum(axis=0) + full.sum(axis=1) - full.diagonal()
        least = int(np.argmin(loss))
        if int(full.sum()) - int(loss[least]) < need:
            break
        del kept[least]
    return tuple(kept)
