"""What `explain` adds to an answer: its confidence, and the weights of its edits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from denseflip.counterfactual import Counterfactual
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import confidences_of


def with_weights(result: Counterfactual, oracle: Oracle) -> Counterfactual:
    """The result with the weights of its edits, if the classifier uses weights."""
    see = getattr(oracle, "edge_weights", None)
    if see is None or not result.edits:
        return result
    n, after = result.original.n_nodes, result.counterfactual
    pairs = (*result.added, *result.removed)
    places = [u * n + v - (u + 1) * (u + 2) // 2 for u, v in pairs]
    old, new = see(result.original), see(after)
    notes = result.notes
    others = np.delete(new - old, places)
    if others.any():
        notes += (
            "The counterfactual is a graph of the data set and was queried with its own weights: "
            f"the weights of {np.count_nonzero(others):,} pairs outside the edits differ as well.",
        )
    weights = tuple(
        (u, v, float(old[at]), float(new[at])) for (u, v), at in zip(pairs, places, strict=True)
    )
    front = tuple(with_weights(one, oracle) for one in result.front)
    return replace(result, weights=weights, notes=notes, front=front)


def complete(answer: Counterfactual, session: BaseSession) -> Counterfactual:
    """An answer with its confidence and weights, which a flip recorded by the way lacks."""
    if answer.confidence_after is None:
        (sure,) = confidences_of(session, answer.counterfactual)
        answer = replace(answer, confidence_after=sure)
    return answer if answer.weights else with_weights(answer, session.oracle)
