"""The test of a sentence: how many of the fullest region pairs flip the oracle by themselves?

A sentence names region pairs, the fullest first, until the edits inside them are enough. The
measures want to know how many that takes; `story` says which, and tells it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Counterfactual, Label
from denseflip.graph import Taxonomy
from denseflip.oracles.session import Session

_LOOK_AHEAD = 32


class Sufficient(NamedTuple):
    """Whether some of the region pairs flip the oracle by themselves, and how many are named."""

    verified: bool
    n_cells: int


class Flip(NamedTuple):
    """How many units were enough, and the oracle's label of the original with their edits."""

    n_units: int
    label: Label


def first_flip(
    result: Counterfactual,
    places: npt.NDArray[np.int64],
    lengths: Iterable[int],
    session: Session,
) -> Flip | None:
    """The first of these lengths at which the edits of so many units flip the oracle.

    Parameters
    ----------
    result : what was found.
    places : for every edit, in the order of ``result.edits.pairs``, the place of the first unit
        that holds it.
    lengths : numbers of units to try, in this order; each is one question.
    session : the way to the oracle.
    """
    pairs = np.asarray(result.edits.pairs, dtype=np.int64).reshape(-1, 2)
    codes = pairs[:, 0] * result.original.n_nodes + pairs[:, 1]
    todo, batch = list(lengths), 1
    while todo:
        now, todo = todo[:batch], todo[batch:]
        graphs = [result.original.toggle_codes(codes[places < k]) for k in now]
        session.prefetch(graphs)
        for k, graph in zip(now, graphs, strict=True):
            label = session.ask(graph)
            wanted = result.target
            if label != result.label_before if wanted is None else label == wanted:
                return Flip(k, label)
        batch = min(2 * batch, _LOOK_AHEAD)
    return None


def sufficient_cells(result: Counterfactual, regions: Taxonomy, session: Session) -> Sufficient:
    """Name region pairs, the fullest first, until the edits inside them flip the oracle.

    Parameters
    ----------
    result : what was found.
    regions : the regions of the nodes.
    session : the way to the oracle; one question for every region pair that is added.
    """
    ends = regions.array[np.asarray(result.edits.pairs, dtype=np.int64).reshape(-1, 2)]
    low, high = np.sort(ends, axis=1).T
    cells, inverse, counts = np.unique(
        low * len(regions.regions) + high, return_inverse=True, return_counts=True
    )
    place = np.empty(len(cells), dtype=np.int64)
    place[np.lexsort((cells, -counts))] = np.arange(len(cells))
    flip = first_flip(result, place[inverse], range(1, len(cells) + 1), session)
    return Sufficient(False, len(cells)) if flip is None else Sufficient(True, flip.n_units)
