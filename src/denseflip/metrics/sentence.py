"""The test of a sentence: how many of the fullest region pairs flip the oracle by themselves?

A sentence names region pairs, the fullest first, until the edits inside them are enough. The
measures want to know how many that takes; `story` says which, and tells it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from denseflip.counterfactual import Counterfactual, Label
from denseflip.graph import Cells, Codes, Graph, Taxonomy
from denseflip.oracles.session import Session


class Sufficient(NamedTuple):
    """Whether some of the region pairs flip the oracle by themselves, and how many are named."""

    verified: bool
    n_cells: int


class Flip(NamedTuple):
    """How many parts were enough, and the oracle's label of the original with their edits."""

    n_parts: int
    label: Label


def first_flip(
    result: Counterfactual,
    parts: Iterable[Codes],
    session: Session,
    *,
    lengths: Container[int] | None = None,
) -> Flip | None:
    """The smallest number of parts whose edits, one after the other, flip the oracle.

    Parameters
    ----------
    result : what was found.
    parts : the edits in the order in which they are tried, as pair codes; no edit twice.
    session : the way to the oracle; every number of parts that is tried is one question.
    lengths : numbers of parts to ask about; by default all.
    """
    wanted = result.target
    hit = session.first(
        _growing(result.original, parts, lengths),
        lambda answer: (
            answer.label != result.label_before if wanted is None else answer.label == wanted
        ),
    )
    return None if hit is None else Flip(hit.item, hit.answer.label)


def _growing(
    graph: Graph, parts: Iterable[Codes], lengths: Container[int] | None
) -> Iterator[tuple[int, Graph]]:
    for k, codes in enumerate(parts, 1):
        graph = graph.toggle_codes(codes)
        if lengths is None or k in lengths:
            yield k, graph


def sufficient_cells(result: Counterfactual, regions: Taxonomy, session: Session) -> Sufficient:
    """Name region pairs, the fullest first, until the edits inside them flip the oracle.

    Parameters
    ----------
    result : what was found.
    regions : the regions of the nodes.
    session : the way to the oracle; one question for every region pair that is added.
    """
    parts = Cells(regions).split(result.edits, fullest_first=True)
    flip = first_flip(result, parts.values(), session)
    return Sufficient(False, len(parts)) if flip is None else Sufficient(True, flip.n_parts)
