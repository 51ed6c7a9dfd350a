"""The walk from a graph to one redraw of a claim, with a step for each of its places."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from denseflip.counterfactual import BALANCE, Step
from denseflip.graph import Taxonomy
from denseflip.search.claims.claim import ALL_REGIONS, Place
from denseflip.search.claims.places import Places
from denseflip.search.claims.verified_claim import VerifiedClaim
from denseflip.search.core.probing import joined
from denseflip.search.core.problem import Problem, Walk


def walk_to(problem: Problem, found: VerifiedClaim, taxonomy: Taxonomy | None) -> Walk:
    """The walk to one redraw of a claim."""
    n, steps = problem.graph.n_nodes, []
    named = dict(zip(found.claim.places, found.parts, strict=False))
    for number, (place, codes) in enumerate(named.items(), 1):
        there = np.isin(codes, problem.graph.codes)
        for block, part in (("densify", codes[~there]), ("sparsify", codes[there])):
            if len(part):
                toggled = tuple(divmod(int(code), n) for code in np.sort(part))
                name = place_name(problem, taxonomy, place)
                steps.append(Step(block, "block", toggled, name=name, iteration=number))
    for codes in found.parts[len(found.claim.places) :]:
        toggled = tuple(divmod(int(code), n) for code in np.sort(codes))
        steps.append(Step(BALANCE, "block", toggled, iteration=len(steps) + 1))
    graph = problem.graph.toggle_codes(np.sort(joined(found.parts)))
    ended = problem.end(graph, found.claim.label, steps)
    ended.as_read, ended.in_range, ended.verified = found.as_read, found.in_range, found
    ended.notes = tuple(_full_or_empty(problem, found, taxonomy))
    return ended


def _full_or_empty(
    problem: Problem, found: VerifiedClaim, taxonomy: Taxonomy | None
) -> Iterator[str]:
    """Notes on places that the claim fills or empties completely."""
    places = Places.of_claim(problem.graph, found.claim)
    for place, added, removed in found.claim.amounts:
        name = place_name(problem, taxonomy, place)
        size, joined_now = places.counts(place)
        if added and added == size - joined_now:
            yield f"{name} is then full: every pair in it is joined."
        if removed and removed == joined_now:
            yield f"{name} is then empty: no pair in it is joined."


def place_name(problem: Problem, taxonomy: Taxonomy | None, place: Place) -> str:
    """The name of a place: two regions, or a node."""
    a, b = place
    if b is not None and taxonomy is not None:
        names = (*taxonomy.regions, ALL_REGIONS)
        first, second = names[a], names[b]
        return first if a == b else f"{first} – {second}"
    return str(a) if problem.nodes is None else problem.nodes.names[a]
