"""`RegionTable`: the edits by region and by region pair."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidParameterError
from denseflip.graph import Cell, Cells, Edits, Taxonomy
from denseflip.graph.cells import cover_cells, cover_regions


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
        """Number of edits in the cell."""
        return self.added + self.removed

    @property
    def within(self) -> bool:
        """Whether the cell lies within one region."""
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
        self._cells.codes(self.edits)  # raises if an edit is on a node without a region

    @cached_property
    def _cells(self) -> Cells:
        return Cells(self.taxonomy)

    # ---- counts -------------------------------------------------------------------------

    @cached_property
    def added_matrix(self) -> npt.NDArray[np.int64]:
        """Added edges by region × region, symmetric."""
        return self._cells.matrix(self.edits.added)

    @cached_property
    def removed_matrix(self) -> npt.NDArray[np.int64]:
        """Removed edges by region × region, symmetric."""
        return self._cells.matrix(self.edits.removed)

    @property
    def matrix(self) -> npt.NDArray[np.int64]:
        """All edits by region × region, symmetric."""
        return self.added_matrix + self.removed_matrix

    @cached_property
    def tally(self) -> dict[Cell, int]:
        """Number of edits of every cell with an edit, largest first, ties by region."""
        return self._cells.tally(self.edits)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Cells with an edit, largest first, ties by region."""
        return tuple(self.tally)

    @cached_property
    def pairs(self) -> tuple[PairRow, ...]:
        """One row per cell with an edit, largest first."""
        names, n = self.taxonomy.regions, len(self.edits)
        added = self._cells.tally(self.edits.added)
        return tuple(
            PairRow(names[a], names[b], more := added.get((a, b), 0), total - more, total / n)
            for (a, b), total in self.tally.items()
        )

    @cached_property
    def rows(self) -> tuple[RegionRow, ...]:
        """One row per region, in the order of the taxonomy, untouched regions included."""
        sizes = self._cells.region_sizes.tolist()
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
        return sum(number for (a, b), number in self.tally.items() if a == b)

    @property
    def between(self) -> int:
        """Edits from one region to another."""
        return len(self.edits) - self.within

    @property
    def touched(self) -> tuple[str, ...]:
        """Regions with an edit, those with most edits first."""
        return tuple(r.region for r in sorted(self.rows, key=lambda r: -r.total) if r.total)

    def edits_in(self, cells: Iterable[Cell]) -> Edits:
        """The edits inside these cells."""
        wanted = {(min(c), max(c)) for c in cells}
        return self.edits.only(p for p in self.edits.pairs if self._cells.cell(*p) in wanted)

    # ---- the smallest set that contains a share -------------------------------------------

    def smallest(
        self, share: float = 0.8, of: Literal["pairs", "regions"] = "pairs"
    ) -> tuple[tuple[str, str], ...] | tuple[str, ...]:
        """The smallest set of region pairs (or regions) that contains a share of the edits.

        A set of regions contains an edit if both its ends are in the set. `cover_cells` and
        `cover_regions` of `denseflip.graph.cells` document how ties are broken, and when the set
        may be slightly too large.

        Parameters
        ----------
        share : the required share, above 0 and at most 1.
        of : ``"pairs"`` or ``"regions"``.
        """
        if of not in ("pairs", "regions"):
            msg = f"of must be 'pairs' or 'regions'; got {of!r}."
            raise InvalidParameterError(msg)
        names = self.taxonomy.regions
        if of == "pairs":
            return tuple((names[a], names[b]) for a, b in cover_cells(self.tally, share))
        return tuple(names[i] for i in cover_regions(self.tally, share))

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
        body = "".join(
            f"<tr><td>{html.escape(r.region_a)}</td><td>{html.escape(r.region_b)}</td>"
            f"<td>{r.added}</td><td>{r.removed}</td><td>{100 * r.share:.0f} %</td></tr>"
            for r in self.pairs
        )
        head = "<tr><th>region</th><th>region</th><th>added</th><th>removed</th><th>share</th></tr>"
        return f"<table>{head}{body}</table>"
