"""The costlier measures: how concise an explanation is, and how trustworthy.

Concentration is computed from the edits alone: an edit joins two nodes, so it touches one region
twice or two regions once each. Robustness, minimality and the test of a sentence query the
classifier through a session.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denseflip.constraints import Constraints
from denseflip.counterfactual import Counterfactual
from denseflip.errors import InvalidParameterError
from denseflip.graph import Cells, Graph, Nodes, Taxonomy
from denseflip.graph.cells import cover_cells, cover_regions
from denseflip.graph.pairs import random_codes
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import open_session
from denseflip.search.constraints.constrained_session import constrain, known_constraints_of
from denseflip.search.core.probing import fewest_parts

SHARE = 0.8  # of the edits that a cover must hold
_SMALL = 4096  # up to this many nodes, a table of all pairs is small and fastest


# ---- conciseness ----------------------------------------------------------------------------


def regions_touched(result: Counterfactual, regions: Taxonomy) -> int:
    """Number of regions with an end of at least one edit."""
    return int(np.count_nonzero(Cells(regions).ends(result.edits)))


def regions_to_cover(result: Counterfactual, regions: Taxonomy, share: float = SHARE) -> int | None:
    """Smallest number of regions that hold this share of the edits; None without edits.

    An edit is held if both its ends lie in the chosen regions. The number is exact for up to
    eighteen touched regions; beyond that it may be slightly too large (`cover_regions`).
    """
    return len(cover_regions(Cells(regions).tally(result.edits), share)) or None


def region_pairs_to_cover(
    result: Counterfactual, regions: Taxonomy, share: float = SHARE
) -> int | None:
    """Smallest number of region pairs that hold this share of the edits; None without edits.

    A pair is two regions, or one region with itself: a cell of the region × region matrix.
    """
    return len(cover_cells(Cells(regions).tally(result.edits), share)) or None


def region_entropy(result: Counterfactual, regions: Taxonomy) -> float | None:
    """Entropy of the edits' ends over all regions: 0 all in one, 1 evenly spread; None if no edits.

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


# ---- trustworthiness ------------------------------------------------------------------------


def density_drift(result: Counterfactual) -> float | None:
    """Edges of the counterfactual over edges of the original; None if the original has none."""
    before = result.original.n_edges
    return result.counterfactual.n_edges / before if before else None


def plausibility(result: Counterfactual, graphs: Iterable[Graph]) -> float | None:
    """Distance (d%) from the counterfactual to the nearest real graph of its class.

    A small value means that the counterfactual resembles an observed graph.

    Parameters
    ----------
    result : the explanation.
    graphs : the real graphs that the classifier assigns to the counterfactual's class. Without any
        the result is None.
    """
    real = list(graphs)
    return float(_relative_distances(result.counterfactual, real).min()) if real else None


def robustness(
    result: Counterfactual,
    oracle: Oracle | BaseSession,
    share: float,
    *,
    repeats: int = 10,
    seed: int = 0,
) -> float:
    """Share of random perturbations of the counterfactual that keep its label.

    Parameters
    ----------
    result : the explanation.
    oracle : the classifier that was explained, or a session with it.
    share : the share of all node pairs to flip, for example 0.01; at least one pair is flipped.
    repeats : number of perturbations.
    seed : the same seed gives the same perturbations.
    """
    if not 0 < share <= 1:
        msg = f"share must be larger than 0 and at most 1; got {share!r}."
        raise InvalidParameterError(msg)
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        msg = f"repeats must be a whole number, at least 1; got {repeats!r}."
        raise InvalidParameterError(msg)
    graph = result.counterfactual
    if graph.n_pairs == 0:
        return 1.0
    n_flips = max(1, round(share * graph.n_pairs))
    rng = np.random.default_rng([seed, n_flips])
    shaken = [graph.toggle_codes(random_codes(graph.n_nodes, n_flips, rng)) for _ in range(repeats)]
    labels = [answer.label for answer in open_session(oracle).query_all(shaken)]
    return sum(label == result.label_after for label in labels) / repeats


def seed_stability(results: Sequence[Counterfactual]) -> float | None:
    """Mean Jaccard similarity of the edits of one graph's explanations with different seeds.

    1 means the same edits every time. Only found counterfactuals count; with fewer than two of
    them the result is None.
    """
    edits = [set(r.edits.pairs) for r in results if r.found]
    if len(edits) < 2:
        return None
    return sum(_jaccard(a, b) for a, b in combinations(edits, 2)) / math.comb(len(edits), 2)


def is_minimal(result: Counterfactual, oracle: Oracle | BaseSession) -> bool:
    """Whether no single edit can be undone without losing the flip.

    Uses the result's certificate if it has one; otherwise makes one query per edit.
    """
    if not result.found:
        return False
    if result.minimal:
        return True
    graph = result.counterfactual
    undone = ((pair, graph.toggle([pair])) for pair in result.edits.pairs)
    flips = open_session(oracle).first(undone, lambda answer: result.accepts(answer.label))
    return flips is None


# ---- the test of a sentence -----------------------------------------------------------------


class SentenceTest(NamedTuple):
    """Whether the region pairs that a sentence names flip the classifier, and how many they are."""

    verified: bool
    n_named: int


def verify_cells(
    result: Counterfactual,
    regions: Taxonomy,
    session: BaseSession,
    nodes: Nodes | None = None,
    *,
    background: Background | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
) -> SentenceTest:
    """Find the fewest region pairs whose edits alone flip the classifier.

    This is the test behind a story's sentence, without the wording.

    Parameters
    ----------
    result : the explanation.
    regions : the regions of the nodes.
    session : the session to query through.
    nodes, background : the node table and the data set, if the constraints refer to them.
    constraints : the constraints of the search, if they have a mask or a predicate.
    """
    parts = Cells(regions).split(result.edits, fullest_first=True)
    bound = known_constraints_of(result, nodes, background, constraints)
    session = constrain(session, result, bound)
    enough = fewest_parts(result, tuple(parts.values()), session)
    if enough is None:
        return SentenceTest(False, len(parts))
    return SentenceTest(True, len(enough.chosen))


# ---- helpers --------------------------------------------------------------------------------


def _jaccard(a: set[tuple[int, int]], b: set[tuple[int, int]]) -> float:
    union = len(a | b)
    return len(a & b) / union if union else 1.0


def _relative_distances(graph: Graph, others: Sequence[Graph]) -> npt.NDArray[np.float64]:
    if graph.n_nodes > _SMALL:
        return np.array([graph.relative_distance(other) for other in others])
    # One look-up for all graphs together instead of one merge per graph.
    joined = np.zeros(graph.n_nodes**2, dtype=bool)
    joined[graph.codes] = True
    sizes = np.array([graph.check_same_nodes(other).n_edges for other in others])
    hits = np.concatenate(([0], np.cumsum(joined[np.concatenate([g.codes for g in others])])))
    ends = np.cumsum(sizes)
    shared = hits[ends] - hits[ends - sizes]
    union = graph.n_edges + sizes - shared
    distances: npt.NDArray[np.float64] = np.where(
        union > 0, (union - shared) / np.maximum(union, 1), 0.0
    )
    return distances
