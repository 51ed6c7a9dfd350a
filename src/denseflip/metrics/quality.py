"""Whether an explanation can be believed: plausible, robust, stable, no larger than needed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Counterfactual
from denseflip.errors import InvalidParameterError
from denseflip.graph import Codes, Graph
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import Session, open_session

_SMALL = 4096  # up to so many nodes a table of all pairs is small, and the quickest way


def density_drift(result: Counterfactual) -> float | None:
    """Edges of the counterfactual over edges of the original; None if the original has none."""
    before = result.original.n_edges
    return result.counterfactual.n_edges / before if before else None


def plausibility(result: Counterfactual, graphs: Iterable[Graph]) -> float | None:
    """Distance (d%) from the counterfactual to the nearest real graph of its class.

    Small means that the counterfactual looks like something that was seen.

    Parameters
    ----------
    result : the explanation.
    graphs : the real graphs that the oracle puts in the counterfactual's class. With none there is
        no answer: None.
    """
    real = list(graphs)
    return float(_relative_distances(result.counterfactual, real).min()) if real else None


def robustness(
    result: Counterfactual,
    oracle: Oracle | Session,
    share: float,
    *,
    repeats: int = 10,
    seed: int = 0,
) -> float:
    """Share of random perturbations of the counterfactual that keep its label.

    Parameters
    ----------
    result : the explanation.
    oracle : the oracle that was explained, or a session with it.
    share : how many of all node pairs are flipped, for example 0.01; at least one pair is.
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
    shaken = [
        graph.toggle_codes(_random_codes(graph.n_nodes, n_flips, rng)) for _ in range(repeats)
    ]
    labels = [answer.label for answer in open_session(oracle).ask_all(shaken)]
    return sum(label == result.label_after for label in labels) / repeats


def seed_stability(results: Sequence[Counterfactual]) -> float | None:
    """Mean Jaccard similarity of the edits of one graph's explanations with different seeds.

    1 means the same edits every time. Only found counterfactuals count; with fewer than two of
    them there is nothing to compare: None.
    """
    edits = [set(r.edits.pairs) for r in results if r.found]
    if len(edits) < 2:
        return None
    return sum(_jaccard(a, b) for a, b in combinations(edits, 2)) / math.comb(len(edits), 2)


def is_minimal(result: Counterfactual, oracle: Oracle | Session) -> bool:
    """Whether no single edit can be undone without losing the flip.

    Takes the result's certificate if it has one, else asks the oracle one question per edit.
    """
    if not result.found:
        return False
    if result.minimal:
        return True
    graph, wanted = result.counterfactual, result.target
    spare = open_session(oracle).first(
        ((pair, graph.toggle([pair])) for pair in result.edits.pairs),
        lambda answer: (
            answer.label != result.label_before if wanted is None else answer.label == wanted
        ),
    )
    return spare is None


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


def _random_codes(n_nodes: int, k: int, rng: np.random.Generator) -> Codes:
    """Codes of ``k`` different node pairs, all equally likely."""
    ranks = rng.choice(n_nodes * (n_nodes - 1) // 2, size=k, replace=False, shuffle=False)
    # Pairs (u, v), u < v, counted by v: pair number r has the largest v with v (v - 1) / 2 <= r.
    v = ((1 + np.sqrt(1 + 8 * ranks.astype(np.float64))) / 2).astype(np.int64)
    v -= v * (v - 1) // 2 > ranks
    v += (v + 1) * v // 2 <= ranks
    u = ranks - v * (v - 1) // 2
    return np.asarray(u * n_nodes + v, dtype=np.int64)
