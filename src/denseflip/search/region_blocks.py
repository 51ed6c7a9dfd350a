"""`blocks`: bring whole region × region cells to the density that the target class has there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Step
from denseflip.errors import InvalidParameterError
from denseflip.graph import Graph, Taxonomy
from denseflip.search.problem import Problem


@dataclass(frozen=True)
class RegionBlocks:
    """One region cell per iteration is given as many edges as the target class has in it.

    A cell is a pair of regions, or one region with itself. Its wanted change is the target class's
    mean number of edges in it less the graph's, rounded; cells come by the size of that change,
    largest first, ties by region, whatever the strength. The pairs that
    the two classes use most differently go first.

    Parameters
    ----------
    regions : the taxonomy, for example ``"lobe"`` or ``"lobe*hemisphere"``; None for the default.
    strength : what the target class "has": ``"mean"`` over its graphs, ``"max"`` (the most, where
        edges are wanted, else the least), ``"full"`` (fill or empty the cell), or a number that
        multiplies the mean's change.
    """

    regions: str | None = None
    strength: str | float = "mean"

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
        taxonomy = problem.taxonomy(self.regions, "blocks")
        _, others = problem.split_background("blocks")
        contrast = problem.contrast("blocks")
        graph, n = problem.graph, problem.graph.n_nodes
        usual, wanted = self._wanted(graph, others, taxonomy)
        a, b = np.triu_indices(len(taxonomy.regions))
        order = np.lexsort((b, a, -np.abs(usual[a, b])))
        number = 0
        for a_, b_ in zip(a[order].tolist(), b[order].tolist(), strict=True):
            change = int(wanted[a_, b_])
            if change == 0:
                continue
            codes = _cell(taxonomy, a_, b_, n)
            present = np.isin(codes, graph.codes, assume_unique=True)
            codes = codes[~present] if change > 0 else codes[present]
            values = contrast.at(codes)
            # Added: what the target class has most beyond ours; removed: the opposite.
            strongest = np.lexsort((codes, values if change > 0 else -values))[: abs(change)]
            toggled = tuple(sorted(divmod(int(c), n) for c in codes[strongest]))
            if not toggled:
                continue
            number += 1
            ends = (taxonomy.regions[a_], taxonomy.regions[b_])
            name = " – ".join(dict.fromkeys(ends))
            kind = "densify" if change > 0 else "sparsify"
            yield Step(kind, "block", toggled, name=name, iteration=number)

    def _wanted(
        self, graph: Graph, others: Sequence[Graph], taxonomy: Taxonomy
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Change of every cell to the target class's mean, and to what the strength asks for."""
        has = count_cells(graph, taxonomy)
        counts = np.stack([count_cells(g, taxonomy) for g in others])
        change = counts.mean(axis=0) - has
        usual = np.rint(change).astype(np.int64)
        if self.strength == "max":
            most, least = counts.max(axis=0) - has, counts.min(axis=0) - has
            change = np.where(change > 0, most, np.where(change < 0, least, 0))
        elif self.strength == "full":
            sizes = np.bincount(taxonomy.array, minlength=len(taxonomy.regions))
            room = np.outer(sizes, sizes).astype(float)
            np.fill_diagonal(room, sizes * (sizes - 1) / 2)
            change = np.where(usual > 0, room - has, np.where(usual < 0, -has, 0))
        elif not isinstance(self.strength, str):
            change = change * self.strength
        return usual, np.rint(change).astype(np.int64)


def count_cells(graph: Graph, taxonomy: Taxonomy) -> npt.NDArray[np.int64]:
    """Edges in every region × region cell, as a symmetric matrix."""
    k = len(taxonomy.regions)
    ends = np.sort(taxonomy.array[graph.pairs], axis=1)
    upper = np.bincount(ends[:, 0] * k + ends[:, 1], minlength=k * k).reshape(k, k)
    return upper + np.triu(upper, k=1).T


def _cell(taxonomy: Taxonomy, a: int, b: int, n: int) -> npt.NDArray[np.int64]:
    """Sorted codes of all pairs with one end in region ``a`` and the other in ``b``."""
    x, y = taxonomy.members(a), taxonomy.members(b)
    u, v = (m.ravel() for m in np.meshgrid(x, y, indexing="ij"))
    low, high = np.minimum(u, v), np.maximum(u, v)
    return np.unique((low * n + high)[low != high])
