"""`con`: the pairs in which the two classes differ, additions and removals in one list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from denseflip.graph import Codes
from denseflip.graph.node_order import pair_places
from denseflip.graph.pairs import are_among
from denseflip.oracles.base_session import BaseSession
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import Probe, gallop
from denseflip.search.core.problem import BACKGROUND, Problem, Walk


def helpful_changes(problem: Problem, needed_by: str) -> Codes:
    """Pairs whose change makes the graph more like the target class, the largest contrast first.

    These are edges that the original's class has more often, and unjoined pairs that it has less
    often. Ties are in an order that does not depend on the node numbers.
    """
    contrast = problem.contrast(needed_by)
    present = are_among(contrast.codes, problem.graph.codes)
    helps = np.where(present, contrast.values > 0, contrast.values < 0)
    codes, sizes = contrast.codes[helps], np.abs(contrast.values[helps])
    return problem.free(codes[np.lexsort((pair_places(codes, problem.places), -sizes))])


@dataclass(frozen=True)
class ContrastList(Conversation):
    """Make the graph more like the target class, the largest differences first, up to the flip.

    The length of the prefix that flips is found by doubling and bisection: a thousand edits take
    about twenty queries.
    """

    needs: ClassVar[frozenset[str]] = frozenset({BACKGROUND})

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Find a prefix that flips while the one before it does not."""
        order = helpful_changes(problem, "con")
        probe = Probe(problem, session)
        k = gallop(len(order), lambda k: probe.flips(order[:k]))
        if k is None:
            problem.note(
                f"No prefix of 1, 2, 4, … of the {len(order):,} changes that make the graph more "
                "like the target class flips the label: this classifier does not use what sets its "
                "classes apart. The method 'race' tries many orders."
            )
            return problem.end(problem.graph, problem.label)
        return problem.end(probe.graph(order[:k]), probe.answer(order[:k]).label)
