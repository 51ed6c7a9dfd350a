"""Data for a page to answer "what if" by itself, without a server.

The weights of a linear classifier, the original graph, how often each class has each pair, and the
claim of the explanation to start from. Saved pages and the app use the same data.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.as_read import READINGS
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.heads import LinearHead
from denseflip.classifiers.pairwise import PairwiseFeatures
from denseflip.counterfactual import Label, Target, is_wanted
from denseflip.graph import Graph, Taxonomy
from denseflip.graph.readable_names import readable
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.session import Session
from denseflip.search.claims.elsewhere import Elsewhere, TooFewError
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.reference import Reference
from denseflip.search.claims.sides import Sides
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.constraints.constrained_session import constraints_of
from denseflip.story.story import Story
from denseflip.workflow.subject import Subject

Matrix = npt.NDArray[np.float64]
_FEW = 65_536  # different weights that 16 bits can index
_FEWER = 256  # … and 8 bits
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
    if len(different) <= _FEWER:
        return {"values": _text(different), "bytes": _text(places.astype("u1"))}
    if len(different) <= min(_FEW, len(array) // 4):
        return {"values": _text(different), "places": _text(places.astype("<u2"))}
    return {"values": _text(array)}


def _text(array: npt.NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


MOST_NODES = 1000  # largest number of nodes for a page
MOST_PLACES = 5000  # largest number of places for which a page has the usual numbers


def whatif_data(
    subject: Subject,
    oracle: Any,
    *,
    regions: Taxonomy | None = None,
    story: Story | None = None,
) -> dict[str, Any] | None:
    """Return plain data for ``whatif.js``; None if the graph has too many nodes for a page.

    Parameters
    ----------
    subject : the graph with its data set and nodes.
    oracle : the classifier. If it is linear in the edges (`pair_table`), its weights are included;
        otherwise ``model`` is None, and a server must be queried.
    regions : the regions of the places; by default the story's, else the first.
    story : an explanation to start from: the panel opens with its claim, in its reading.
        Connections that its constraints forbid to change are not drawn.
    """
    n = subject.graph.n_nodes
    if n > MOST_NODES:
        return None
    box = coerce_oracle(oracle)
    session = Session(box)
    before = session.peek(subject.graph).label
    nodes = subject.nodes
    spoken = None if story is None else story.taxonomy
    if spoken is not None and (regions is None or regions.name == spoken.name):
        regions = spoken
    if regions is None and nodes is not None and nodes.regions:
        regions = nodes.taxonomy()
    # The class that "typical" refers to; None for any other than that of the graph.
    target = story.claim.label if story is not None and story.result.found else None
    background = None if subject.background is None else Background.of(subject.background)
    sides = None if not background else Sides.of_background(background, session, before, target)
    terms = None if story is None else constraints_of(story.result, story.nodes, background)[0]
    group = [] if not background else _group(background, session, before, target)
    nodal = story is not None and story.result.found and story.claim.language == "nodes"
    wide = regions is not None and story is not None and story.claim.regions == regions
    wide = wide and story is not None and story.claim.with_all
    u, v = np.triu_indices(n, 1)
    codes = u * n + v
    table = pair_table(box)
    names = subject.names_for(box) or {}
    return {
        "n": n,
        "names": list(nodes.names) if nodes is not None else [str(i) for i in range(n)],
        "taxonomy": None if regions is None else regions.name,
        "regions": [] if regions is None else list(regions.regions),
        "labels": [] if regions is None else list(readable(regions)),
        "index": [] if regions is None else list(regions.index),
        "edges": [int(c) for c in subject.graph.codes],
        "before": before,
        "target": target,
        "classes": [[label, name] for label, name in names.items()],
        "readings": list(READINGS if _known(sides) else READINGS[:1]),
        "often": None
        if sides is None
        else {
            "target": pack_numbers(sides.target.at(codes)),
            "current": pack_numbers(sides.current.at(codes)),
            # With both numbers of graphs, the shares give how many graphs have a pair (Elsewhere).
            "graphs": {"target": sides.target.n_graphs, "current": sides.current.n_graphs},
        },
        "usual": usual_numbers(Places(subject.graph, None if nodal else regions), group)
        | (usual_numbers(Places(subject.graph, regions, with_all=True), group) if wide else {}),
        "free": None
        if terms is None or terms.any_pair
        else pack_numbers(terms.may_change(codes).astype(float)),
        "model": None if table is None else table.to_dict(),
        "start": None if story is None else start_of(story, regions, sides, terms),
        "subject": subject.name,
    }


def usual_numbers(places: Places, group: Sequence[Graph]) -> dict[str, list[float]]:
    """Return what graphs of the target class have in each place: low, median and high.

    Empty if they are too few for an interval, or the places too many for a page. Places are named
    as in ``whatif.js``: ``2-5`` for two regions, ``n7`` for a node.
    """
    reference = Reference(places, (), group)
    if not reference.is_known or len(places.every) > MOST_PLACES:
        return {}
    low, high = reference.intervals
    middle = np.median(reference.counts, axis=0)
    return {
        f"n{a}" if b is None else f"{a}-{b}": [int(low[i]), float(middle[i]), int(high[i])]
        for i, (a, b) in enumerate(places.every)
    }


def _group(background: Background, session: Session, before: Label, target: Target) -> list[Graph]:
    """Graphs of a background that the classifier puts in the target class."""
    labels = background.labels(session)
    graphs = background.graphs
    return [g for g, label in zip(graphs, labels, strict=True) if is_wanted(label, before, target)]


def start_of(
    story: Story,
    regions: Taxonomy | None,
    sides: Sides | None = None,
    terms: BoundConstraints | None = None,
) -> dict[str, Any] | None:
    """Return the initial state of the panel: the claim of a story; None if nothing was found.

    ``cells`` are its places with their amounts (``b`` is None for a node), ``edits`` the
    connections of the explanation, which are the first choice, and ``test`` the outcome of the test
    of the sentence. ``balance`` says whether the claim keeps the number of edges, so that as many
    connections change elsewhere. A claim that holds for its own connections only, or is about other
    regions than the panel, opens as single ``pairs``.
    """
    if not story.result.found:
        return None
    claim, test = story.claim, story.as_read
    pairs = [[int(u), int(v)] for u, v in (*story.named_edits.removed, *story.named_edits.added)]
    listed = {
        "cells": [],
        "pairs": pairs,
        "edits": pairs,
        "reading": "any",
        "balance": False,
        "test": None,
    }
    if claim.language == "pairs" or test is None or not test.true:
        return listed
    if claim.regions is not None and claim.regions != regions:
        return listed
    if (claim.reading != "any" and not _known(sides)) or (claim.balanced and sides is None):
        return listed
    places = Places.of_claim(story.result.original, claim, terms)
    redraw = Redraw(places, claim.reading)
    if sides is not None:
        others = Elsewhere(places, sides.current, sides.target) if claim.balanced else None
        redraw = Redraw(places, claim.reading, sides.current, sides.target, others)
    try:
        redraw.draw(claim.amounts, np.random.default_rng(0))
    except TooFewError:  # the background differs from that of the sentence
        return listed
    return {
        "cells": [
            {"a": a, "b": b, "more": added, "fewer": removed}
            for (a, b), added, removed in claim.amounts
        ],
        "pairs": [],
        "edits": pairs,
        "reading": claim.reading,
        "balance": claim.balanced,
        "test": {"draws": test.draws, "flips": test.flips},
    }


def _known(sides: Sides | None) -> bool:
    """Whether some graphs tell what the target class usually has."""
    return sides is not None and sides.target.n_graphs > 0
