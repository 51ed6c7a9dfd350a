"""Rankings: orders of the nodes from the densest to the sparsest region."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidParameterError
from denseflip.graph.density import (
    clustering,
    core_numbers,
    region_densities,
)
from denseflip.search.core.problem import BACKGROUND, REGIONS, Problem
from denseflip.search.methods.blocks import Rank

Ints = npt.NDArray[np.int64]


def _descending(score: npt.NDArray[np.generic]) -> Ints:
    """Nodes by score, highest first, ties by index."""
    return np.lexsort((np.arange(len(score)), -np.asarray(score, dtype=float)))


@dataclass(frozen=True)
class ScoreRank:
    """Nodes by one number each, highest first, ties by index."""

    by: str = "triangles"

    @property
    def needs(self) -> frozenset[str]:
        """The background, for the contrast."""
        return frozenset({BACKGROUND}) if self.by == "contrast" else frozenset()

    def __call__(self, problem: Problem) -> Ints:
        """Every node once, densest first."""
        return _descending(SCORES[self.by](problem))


@dataclass(frozen=True)
class RandomRank:
    """Nodes in random order: a baseline for the other rankings."""

    def __call__(self, problem: Problem) -> Ints:
        """A permutation drawn from the problem's generator."""
        return problem.rng.permutation(problem.graph.n_nodes)


@dataclass(frozen=True)
class RegionRank:
    """Regions by density, densest first; inside a region, nodes by triangles (paper: RCLI).

    Parameters
    ----------
    levels : taxonomies from coarse to fine; empty for the node table's default one.
    """

    needs: ClassVar[frozenset[str]] = frozenset({REGIONS})
    levels: tuple[str, ...] = ()

    def __call__(self, problem: Problem) -> Ints:
        """Every node once: region by region, densest first."""
        keys: list[npt.NDArray[np.generic]] = []
        name: str | None = None
        for level in self.levels or (None,):
            name = level if name is None else f"{name}*{level}"
            taxonomy = problem.taxonomy(name, "rcli")
            density = region_densities(problem.graph, taxonomy)
            keys += [-density[taxonomy.array], taxonomy.array]
        keys += [-problem.triangles, np.arange(problem.graph.n_nodes)]
        return np.lexsort(tuple(reversed(keys)))


def _contrast_at_nodes(problem: Problem) -> Ints:
    contrast = problem.contrast("rank=contrast")
    n = problem.graph.n_nodes
    ends = np.concatenate(np.divmod(contrast.codes, max(n, 1)))
    out: Ints = np.zeros(n, dtype=np.int64)
    np.add.at(out, ends, np.tile(contrast.values, 2))
    return out


SCORES: dict[str, Callable[[Problem], npt.NDArray[np.generic]]] = {
    "triangles": lambda p: p.triangles,
    "degree": lambda p: p.graph.degrees(),
    "clustering": lambda p: clustering(p.graph),
    "core": lambda p: core_numbers(p.graph),
    "harmonic": lambda p: p.harmonic,
    "contrast": _contrast_at_nodes,
}

RANKS: dict[str, tuple[Callable[[], Rank], str]] = {
    "triangles": (ScoreRank, "triangles through the node (the paper's choice)"),
    "degree": (lambda: ScoreRank("degree"), "number of neighbours"),
    "clustering": (lambda: ScoreRank("clustering"), "share of neighbour pairs that are joined"),
    "core": (lambda: ScoreRank("core"), "largest k-core the node lies in"),
    "harmonic": (lambda: ScoreRank("harmonic"), "closeness to all others; low at the periphery"),
    "contrast": (lambda: ScoreRank("contrast"), "how differently the classes use its pairs"),
    "regions": (RegionRank, "regions by density, then triangles inside (needs regions)"),
    "random": (RandomRank, "a random order, as a baseline"),
}


def check_ranking(ranking: object, n_nodes: int) -> Ints:
    """Return a ranking as an array; raise an error if it is not a permutation of the nodes."""
    order = np.asarray(ranking)
    if order.shape != (n_nodes,) or not np.array_equal(np.sort(order), np.arange(n_nodes)):
        msg = (
            f"A rank must return every node 0..{n_nodes - 1} exactly once; got an array of shape "
            f"{order.shape} starting {order.ravel()[:5].tolist()}."
        )
        raise InvalidParameterError(msg)
    return order.astype(np.int64)
