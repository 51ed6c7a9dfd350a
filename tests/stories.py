"""Small stories to draw, made without a search: exactly these edits, exactly these names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from denseflip.counterfactual import Counterfactual, Status
from denseflip.datasets.atlas import load_aal
from denseflip.graph import Edits, Graph, Nodes
from denseflip.story.describe import describe
from denseflip.story.story import Story
from denseflip.story.wording.amounts import contracted, phrases
from denseflip.story.wording.naming import written

Pairs = Sequence[tuple[int, int]]
NAMES = ("Control & <Normal>", "Patient")


def make_story(
    nodes: Nodes,
    removed: Pairs = (),
    added: Pairs = (),
    *,
    status: Status = Status.FOUND,
    oracle: Callable[[Any], int] | None = None,
    method: str = "tri",
    **describe_options: Any,
) -> Story:
    """A story whose original has exactly the removed edges, and whose edits are as given."""
    removed = sorted(tuple(sorted(p)) for p in removed)
    added = sorted(tuple(sorted(p)) for p in added)
    found = status is Status.FOUND
    result = Counterfactual(
        status=status,
        original=Graph.from_edges(nodes.n_nodes, removed),
        edits=Edits(tuple(added), tuple(removed)),
        label_before=0,
        label_after=1 if found else 0,
        method=method,
        parameters={"search": {"rank": {"by": "triangles"}, "limit": None}},
        seed=7,
        search_calls=12,
        iterations=11,
        notes=() if found else ("The iteration limit of 11 was reached.",),
    )
    options = {"class_names": NAMES, "subject": "Patient 9", **describe_options}
    return describe(result, nodes, oracle, **options)


def says_its_claim(story: Story) -> bool:
    """Whether the statement holds the names of its claim and, if its words count, the numbers."""
    claim, words, text = story.claim, story.vocabulary, story.statement
    if not words.counts:
        names = written(claim.taxonomy)  # the paper's phrases may quote more names, not fewer
        return all(
            names[r] in text or f"“{claim.taxonomy.regions[r]}”" in text
            for place in claim.places
            for r in place
            if r is not None
        )
    names = written(claim.taxonomy, phrases(words))
    joint = contracted(names)
    at = text.index(story.items[0]) if story.items else text.index(" had ")
    for (a, b), added, removed in claim.amounts:  # in their order
        if claim.language == "nodes":  # an edit between two named nodes counts at both
            edits = story.verification.edits
            added, removed = (sum(a in p for p in pairs) for pairs in (edits.added, edits.removed))
        for number in sorted(filter(None, (added, removed)), reverse=True):
            at = text.index("one " if number == 1 else f"{number:,} ", at)
        place = joint.get((a, b)) or names[a]
        at = text.index(place, at) + len(place)
        if b is not None and b != a and (a, b) not in joint:
            at = text.index(f" and {names[b]}", at)
    leads = text.index(" would have been ")
    return any(
        x in text[leads:] for x in (f"labelled {claim.label!r}", story.class_name(claim.label))
    )


def brain_nodes() -> Nodes:
    """AAL-116: names, lobes, hemispheres, MNI coordinates."""
    return load_aal()


def plain_nodes(n_nodes: int = 8) -> Nodes:
    """No regions, no coordinates."""
    return Nodes.numbered(n_nodes)


def sided_nodes() -> Nodes:
    """Twelve nodes in four regions, left and right; names that HTML would stumble over."""
    regions = [f"{side} {part}" for side in ("left", "right") for part in ("A & <b>", "C")]
    labels = tuple(r for r in regions for _ in range(3))
    return Nodes(tuple(f"n<{i}>" for i in range(12)), regions={"region": labels})


def complete(members: Sequence[int]) -> list[tuple[int, int]]:
    """All pairs among these nodes."""
    return [(u, v) for i, u in enumerate(members) for v in members[i + 1 :]]
