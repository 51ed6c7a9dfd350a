"""A linear classifier on pairwise features as a table of numbers, for offline pages."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.heads import LinearHead
from denseflip.classifiers.pairwise import PairwiseFeatures

Matrix = npt.NDArray[np.float64]
_FEW = 65_536  # different weights that 16 bits can index
MOST_PAIRS = 500_000  # beyond this, a page would be too large


@dataclass(frozen=True)
class PairTable:
    """Scores are an offset and one weight per edge.

    Attributes
    ----------
    n_nodes : number of nodes.
    weights : one row per score; one column per pair, the upper triangle row by row.
    offset : added to each score.
    classes : the labels, in order. With one score, the second label if the score is above 0;
        otherwise the label of the largest score.
    logistic : whether the scores give probabilities.
    """

    n_nodes: int
    weights: Matrix
    offset: Matrix
    classes: tuple[int, ...]
    logistic: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready form; numbers are packed as base64 of little-endian doubles."""
        return {
            "n": self.n_nodes,
            "weights": [pack_numbers(row) for row in self.weights],
            "offset": self.offset.tolist(),
            "classes": list(self.classes),
            "logistic": self.logistic,
        }


def pair_table(oracle: Any) -> PairTable | None:
    """The table of a classifier; None if it is not a sum over the edges, or too large.

    Examples
    --------
    >>> from denseflip.classifiers.presets import fit_oracle
    >>> from denseflip.datasets import load_dataset
    >>> mice = load_dataset("mice")
    >>> pair_table(fit_oracle(mice, "sf-knn")) is None
    True
    >>> pair_table(fit_oracle(mice, "regions-logistic")).weights.shape
    (1, 54946)
    """
    if not isinstance(oracle, FittedOracle):
        return None
    head, features, n = oracle.head, oracle.features, oracle.n_nodes
    if not isinstance(head, LinearHead) or not isinstance(features, PairwiseFeatures):
        return None
    if n * (n - 1) // 2 > MOST_PAIRS:
        return None
    slopes = head.weights if head.scale is None else head.weights / head.scale
    shift = np.zeros(slopes.shape[1]) if head.shift is None else head.shift
    u, v = np.triu_indices(n, 1)
    weights = features.pair_weights(slopes, u * n + v, n)
    return PairTable(n, weights, head.offset - slopes @ shift, oracle.classes, head.logistic)


def pack_numbers(values: npt.ArrayLike) -> dict[str, str]:
    """Numbers as base64; if few of them differ, as distinct values and an index."""
    array = np.ascontiguousarray(values, dtype="<f8")
    different, places = np.unique(array, return_inverse=True)
    if len(different) <= min(_FEW, len(array) // 4):
        return {"values": _text(different), "places": _text(places.astype("<u2"))}
    return {"values": _text(array)}


def _text(array: npt.NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")
