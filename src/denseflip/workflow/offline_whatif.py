"""What a page needs to answer "what if" by itself, with nobody to ask.

The weights of a linear classifier, the graph as it is, and how often the target class has each
pair. The same data feed the page that is sent by mail and the page of the app.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from denseflip.classifiers.linear_table import pack_numbers, pair_table
from denseflip.counterfactual import Label
from denseflip.graph import Taxonomy
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.session import Session
from denseflip.search.claims.claim import Places
from denseflip.story.story import Story
from denseflip.workflow.subject import Subject
from denseflip.workflow.whatif import typical_of

MOST_NODES = 1000  # beyond, every pair is too many for a page


def whatif_data(
    subject: Subject,
    oracle: Any,
    *,
    regions: Taxonomy | None = None,
    target: Label | None = None,
    story: Story | None = None,
) -> dict[str, Any] | None:
    """Plain data for ``whatif.js``; None of a graph with too many nodes for a page.

    Parameters
    ----------
    subject : the graph, and what is known around it.
    oracle : the classifier. Its weights are given along where it is a sum over the edges
        (`pair_table`); else ``model`` is None, and somebody has to be asked.
    regions : the regions that cells are made of; by default the story's, else the first.
    target : the class that "typical" speaks of; by default the story's, else any other.
    story : an explanation to begin with.
    """
    n = subject.graph.n_nodes
    if n > MOST_NODES:
        return None
    box = coerce_oracle(oracle)
    session = Session(box)
    before = session.peek(subject.graph).label
    nodes = subject.nodes
    if regions is None and story is not None:
        regions = story.taxonomy
    if regions is None and nodes is not None and nodes.regions:
        regions = nodes.taxonomy()
    if target is None and story is not None and story.result.found:
        target = story.result.label_after
    typical = None
    if subject.background is not None:
        often = typical_of(Background.of(subject.background), session, before, target)
        if often.n_graphs:
            u, v = np.triu_indices(n, 1)
            typical = pack_numbers(often.at(u * n + v))
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
        "typical": typical,
        "model": None if table is None else table.to_dict(),
        "start": None if story is None or regions is None else start_of(story, regions),
        "subject": subject.name,
    }


def start_of(story: Story, regions: Taxonomy) -> dict[str, Any] | None:
    """What the story says, as amounts by cell, if it speaks of these regions; else its pairs."""
    result = story.result
    if not result.found:
        return None
    edits = story.named_edits
    reading = story.reading if story.reading in ("any", "typical") else "any"
    if story.taxonomy is None or story.taxonomy.name != regions.name or not story.true_as_read:
        pairs = [[int(u), int(v)] for u, v in (*edits.removed, *edits.added)]
        return {"cells": [], "pairs": pairs, "reading": "any"}
    cells = [
        {"a": unit[0], "b": unit[1], "more": added, "fewer": removed}
        for unit, added, removed in Places(result.original, regions).claim(edits)
    ]
    return {"cells": cells, "pairs": [], "reading": reading}
