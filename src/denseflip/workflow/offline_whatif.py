"""Data for a page to answer "what if" by itself, without a server.

The weights of a linear classifier, the original graph, how often each class has each pair, and the
claim of the explanation to start from. Saved pages and the app use the same data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from denseflip.as_read import READINGS
from denseflip.classifiers.linear_table import pack_numbers, pair_table
from denseflip.counterfactual import Label
from denseflip.graph import Taxonomy
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.session import Session
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import Elsewhere, Redraw, TooFewError
from denseflip.search.claims.redraw_test import Sides
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.constraints.constrained_session import constraints_of
from denseflip.story.story import Story
from denseflip.workflow.subject import Subject

MOST_NODES = 1000  # largest number of nodes for a page


def whatif_data(
    subject: Subject,
    oracle: Any,
    *,
    regions: Taxonomy | None = None,
    target: Label | None = None,
    story: Story | None = None,
) -> dict[str, Any] | None:
    """Return plain data for ``whatif.js``; None if the graph has too many nodes for a page.

    Parameters
    ----------
    subject : the graph with its data set and nodes.
    oracle : the classifier. If it is linear in the edges (`pair_table`), its weights are included;
        otherwise ``model`` is None, and a server must be queried.
    regions : the regions of the places; by default the story's, else the first.
    target : the class that "typical" refers to; by default the story's, else any other.
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
    if target is None and story is not None and story.result.found:
        target = story.claim.label
    background = None if subject.background is None else Background.of(subject.background)
    sides = None if not background else Sides.of_background(background, session, before, target)
    terms = None if story is None else constraints_of(story.result, story.nodes, background)[0]
    u, v = np.triu_indices(n, 1)
    codes = u * n + v
    table = pair_table(box)
    names = subject.names_for(box) or {}
    return {
        "n": n,
        "names": list(nodes.names) if nodes is not None else [str(i) for i in range(n)],
        "taxonomy": None if regions is None else regions.name,
        "regions": [] if regions is None else list(regions.regions),
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
        "free": None
        if terms is None or terms.any_pair
        else pack_numbers(terms.may_change(codes).astype(float)),
        "model": None if table is None else table.to_dict(),
        "start": None if story is None else start_of(story, regions, sides, terms),
        "subject": subject.name,
    }


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

    Parameters
    ----------
    story : the explanation.
    regions : the regions of the panel.
    sides, terms : how often both classes have each pair, and what may change, as for the panel.
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
    places = Places(story.result.original, claim.regions, terms)
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
