"""How concentrated an explanation is: measures over the regions of its edits.

An edit joins two nodes and so touches one region twice or two regions once each. All measures here
are of the edits alone: they ask nothing of the oracle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from denseflip.counterfactual import Counterfactual
from denseflip.errors import InvalidParameterError
from denseflip.graph import Taxonomy

SHARE = 0.8


def regions_touched(result: Counterfactual, taxonomy: Taxonomy) -> int:
    """Number of regions with an end of at least one edit."""
    return len(_ends(result, taxonomy))


def regions_to_cover(
    result: Counterfactual, taxonomy: Taxonomy, share: float = SHARE
) -> int | None:
    """Smallest number of regions that hold this share of the edits; None without edits.

    An edit is held if both its ends lie in the chosen regions. The smallest number is exact up to
    twelve touched regions; beyond, regions are added greedily, so it may be a little too large.
    """
    cells = _cells(result, taxonomy)
    if not cells:
        return None
    needed = _needed(sum(cells.values()), share)
    touched = sorted({r for cell in cells for r in cell})
    if len(touched) <= _EXACT:
        return _smallest_exact(cells, touched, needed)
    return _smallest_greedy(cells, touched, needed)


def region_pairs_to_cover(
    result: Counterfactual, taxonomy: Taxonomy, share: float = SHARE
) -> int | None:
    """Smallest number of region pairs that hold this share of the edits; None without edits.

    A pair is two regions, or one region with itself: a cell of the region × region matrix.
    """
    cells = _cells(result, taxonomy)
    if not cells:
        return None
    needed = _needed(sum(cells.values()), share)
    counts = np.cumsum(sorted(cells.values(), reverse=True))
    return int(np.searchsorted(counts, needed)) + 1


def region_entropy(result: Counterfactual, taxonomy: Taxonomy) -> float | None:
    """Entropy of the edits' ends over all regions: 0 all in one, 1 evenly in all; None if none.

    With a single region in the taxonomy it is 0.
    """
    ends = _ends(result, taxonomy)
    if not ends:
        return None
    if len(taxonomy.regions) < 2:
        return 0.0
    p = np.array(sorted(ends.values()), dtype=np.float64)
    p /= p.sum()
    entropy = float(-(p * np.log(p)).sum() / np.log(len(taxonomy.regions)))
    return max(0.0, entropy)  # a single region gives -0.0


_EXACT = 12


def _ends(result: Counterfactual, taxonomy: Taxonomy) -> Counter[int]:
    index = taxonomy.index
    return Counter(index[v] for pair in result.edits.pairs for v in pair)


def _cells(result: Counterfactual, taxonomy: Taxonomy) -> Counter[tuple[int, int]]:
    index = taxonomy.index
    return Counter(
        (min(index[u], index[v]), max(index[u], index[v])) for u, v in result.edits.pairs
    )


def _needed(total: int, share: float) -> int:
    if not 0 < share <= 1:
        msg = f"share must be larger than 0 and at most 1; got {share!r}."
        raise InvalidParameterError(msg)
    return int(np.ceil(share * total - 1e-9))


def _held(cells: Counter[tuple[int, int]], chosen: Iterable[int]) -> int:
    inside = set(chosen)
    return sum(n for (a, b), n in cells.items() if a in inside and b in inside)


def _smallest_exact(cells: Counter[tuple[int, int]], touched: list[int], needed: int) -> int:
    # All subsets at once: bit i of a subset's number says whether region i is in it.
    position = {region: i for i, region in enumerate(touched)}
    subsets = np.arange(1 << len(touched))
    held = np.zeros(len(subsets), dtype=np.int64)
    for (a, b), count in cells.items():
        mask = (1 << position[a]) | (1 << position[b])
        held[(subsets & mask) == mask] += count
    sizes = np.array([int(s).bit_count() for s in subsets[held >= needed]])
    return int(sizes.min())


def _smallest_greedy(cells: Counter[tuple[int, int]], touched: list[int], needed: int) -> int:
    start = max(cells, key=lambda cell: (cells[cell], tuple(-r for r in cell)))
    chosen = set(start)
    while _held(cells, chosen) < needed:
        rest = [r for r in touched if r not in chosen]
        chosen.add(max(rest, key=lambda r: (_held(cells, {*chosen, r}), -r)))
    return len(chosen)
