"""How concentrated an explanation is: measures over the regions of its edits.

An edit joins two nodes and so touches one region twice or two regions once each. All measures here
are of the edits alone: they ask nothing of the oracle.
"""

from __future__ import annotations

import numpy as np

from denseflip.checks import renamed
from denseflip.counterfactual import Counterfactual
from denseflip.graph import Cells, Taxonomy
from denseflip.graph.cells import cover_cells, cover_regions

SHARE = 0.8


@renamed(taxonomy="regions")
def regions_touched(result: Counterfactual, regions: Taxonomy) -> int:
    """Number of regions with an end of at least one edit."""
    return int(np.count_nonzero(Cells(regions).ends(result.edits)))


@renamed(taxonomy="regions")
def regions_to_cover(result: Counterfactual, regions: Taxonomy, share: float = SHARE) -> int | None:
    """Smallest number of regions that hold this share of the edits; None without edits.

    An edit is held if both its ends lie in the chosen regions. The smallest number is exact up to
    eighteen touched regions; beyond, it may be a little too large (`cover_regions`).
    """
    return len(cover_regions(Cells(regions).tally(result.edits), share)) or None


@renamed(taxonomy="regions")
def region_pairs_to_cover(
    result: Counterfactual, regions: Taxonomy, share: float = SHARE
) -> int | None:
    """Smallest number of region pairs that hold this share of the edits; None without edits.

    A pair is two regions, or one region with itself: a cell of the region × region matrix.
    """
    return len(cover_cells(Cells(regions).tally(result.edits), share)) or None


@renamed(taxonomy="regions")
def region_entropy(result: Counterfactual, regions: Taxonomy) -> float | None:
    """Entropy of the edits' ends over all regions: 0 all in one, 1 evenly in all; None if none.

    With a single region in the taxonomy it is 0.
    """
    if not len(result.edits):
        return None
    if len(regions.regions) < 2:
        return 0.0
    ends = Cells(regions).ends(result.edits)
    p = np.sort(ends[ends > 0]).astype(np.float64)
    p /= p.sum()
    entropy = float(-(p * np.log(p)).sum() / np.log(len(regions.regions)))
    return max(0.0, entropy)  # a single region gives -0.0
