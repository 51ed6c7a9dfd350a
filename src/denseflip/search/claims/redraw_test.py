"""The claim of a result, and its test on fresh redraws: is a sentence true as read?

A sentence says how many connections change and where, but not which. So as many connections are
redrawn in the same places, and the classifier is queried again. The draws depend on the seed only,
never on a search: redraws that a search selected on would bias the test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from denseflip.as_read import READINGS
from denseflip.constraints import Constraints
from denseflip.counterfactual import (
    AsRead,
    Counterfactual,
    Label,
    Reading,
    Target,
    is_wanted,
)
from denseflip.errors import (
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
    whole_number,
)
from denseflip.graph import Graph, Nodes, Taxonomy
from denseflip.oracles.background import Background, Frequencies
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import open_session
from denseflip.search.claims.claim import Claim
from denseflip.search.claims.places import Places, whole_claim
from denseflip.search.claims.redraw import DRAWS, Elsewhere, Redraw, TooFewError
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.constraints.constrained_session import constrain, known_constraints_of
from denseflip.search.core.probing import Probe
from denseflip.search.core.problem import Problem
from denseflip.search.core.sufficient_parts import fewest_parts

FEW_CELLS = 5  # the most cells in a sentence that can be remembered; more is a list
_STREAM = 15  # makes these draws independent of a search with the same seed


def claim_of(
    result: Counterfactual,
    session: BaseSession,
    regions: Taxonomy | None = None,
    *,
    nodes: Nodes | None = None,
    background: Background | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
) -> Claim:
    """The claim of the shortest sentence about a result.

    For a search that looked for a claim (`brief`, `auto`), the claim covers all its edits, in the
    language of that search. For any other result, the claim names the fewest cells whose edits
    alone flip the classifier: cells are added, the one with most edits first, until they flip it;
    then cells that are not needed are dropped (`lexmin`).

    Parameters
    ----------
    result : a result with a counterfactual.
    session : the session with the classifier.
    regions : the regions of the sentence; None for nodes.
    nodes : the node table, if the result refers to other regions or to frozen nodes.
    background : the data set, if the constraints of the result refer to it.
    constraints : the constraints of the search, if they have a mask or a predicate.
    """
    stated = result.as_read
    if stated is not None:
        tax = _regions_of(stated, regions, nodes)
        claim, _ = whole_claim(result, stated.language, tax, nodes)
        return replace(claim, reading=stated.reading)
    bound = known_constraints_of(result, nodes, background, constraints)
    claim, parts = whole_claim(result, "nodes" if regions is None else "regions", regions, nodes)
    enough = fewest_parts(result, parts, constrain(session, result, bound))
    return claim if enough is None else claim.only(enough.chosen, enough.label)


@dataclass(frozen=True)
class Sides:
    """How often each pair is joined in the original's class, and in the target class."""

    current: Frequencies
    target: Frequencies

    @classmethod
    def of(
        cls,
        result: Counterfactual,
        background: Sequence[tuple[Graph, Label]],
        target: Label | None = None,
    ) -> Sides:
        """Split by the classifier's labels; the target is the label that a claim leads to."""
        wanted = result.label_after if target is None else target
        same = [graph for graph, label in background if label == result.label_before]
        other = [graph for graph, label in background if label == wanted]
        return cls(Frequencies.of(same), Frequencies.of(other))

    @classmethod
    def of_background(
        cls, background: Background, session: BaseSession, before: Label, target: Target
    ) -> Sides:
        """Split a background by the classifier's labels; the counts are cached with it."""
        labels = list(enumerate(background.labels(session)))
        same = [i for i, label in labels if label == before]
        other = [i for i, label in labels if is_wanted(label, before, target)]
        return cls(background.frequencies(same), background.frequencies(other))


def fresh_rng(seed: int, reading: Reading, *more: int) -> np.random.Generator:
    """The generator of redraws in a reading, independent of a search with the same seed."""
    return np.random.default_rng([seed, _STREAM, READINGS.index(reading), *more])


def redraw_of(
    result: Counterfactual,
    claim: Claim,
    reading: Reading,
    sides: Sides | None,
    bound: BoundConstraints | None,
) -> Redraw:
    """What redraws a claim about a result, in a reading."""
    if sides is None and (reading != "any" or claim.balanced):
        what = f"The reading {reading!r}"
        if reading == "any":
            what = "A claim that keeps the number of edges"
        msg = f"{what} needs a background, and none was given."
        raise MissingInputError(msg, parameter="background")
    places = Places(result.original, claim.regions, bound)
    if sides is None:
        return Redraw(places, reading)
    current, target = sides.current, sides.target
    elsewhere = Elsewhere(places, current, target) if claim.balanced else None
    return Redraw(places, reading, current, target, elsewhere)


def redraw(
    result: Counterfactual,
    claim: Claim,
    session: BaseSession,
    *,
    reading: Reading | None = None,
    sides: Sides | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    nodes: Nodes | None = None,
    background: Background | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
) -> AsRead | None:
    """Query the classifier with fresh redraws of a claim; None for a list of pairs.

    A redraw flips if it gets the label that the claim leads to, not just any other label. If a
    place has fewer pairs of the reading than the claim needs, no redraw is possible, and all count
    as failed.

    Parameters
    ----------
    result, claim, session : the result, the claim about it, and the session with the classifier.
    reading : which connections are drawn; by default those that the claim means.
    sides : how often both classes join each pair; all readings except ``"any"`` need it.
    draws, seed : the number of redraws; the same seed gives the same redraws.
    nodes, background, constraints : as in `claim_of`; redraws satisfy the constraints.
    """
    if claim.language == "pairs":
        return None
    reading = reading or claim.reading
    regions = None if claim.regions is None else claim.regions.name
    bound = known_constraints_of(result, nodes, background, constraints)
    drawn = redraw_of(result, claim, reading, sides, bound)
    if reading != "any" and sides is not None and not sides.target.n_graphs:
        return AsRead(claim.language, regions, reading, draws, 0)
    problem = Problem(result.original, result.label_before, claim.label)
    probe = Probe(problem, constrain(session, result, bound), keep=False)
    try:
        return drawn.test(claim.amounts, probe, fresh_rng(seed, reading), draws=draws)
    except TooFewError:
        return AsRead(claim.language, regions, reading, draws, 0)


def as_read(
    result: Counterfactual,
    oracle: Oracle | BaseSession,
    regions: Taxonomy | None = None,
    *,
    nodes: Nodes | None = None,
    reading: Reading | None = None,
    background: Sequence[tuple[Graph, Label]] | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> AsRead | None:
    """Test on redraws whether the shortest sentence about a result is true as read.

    Returns None if no counterfactual was found, or if the sentence is a list of pairs.

    Parameters
    ----------
    result : the explanation.
    oracle : the classifier that was explained, or a session with it.
    regions : the regions of the sentence; None for nodes. If the result has its own language, that
        one is tested.
    nodes : the node table, if the result refers to other regions.
    reading : ``"any"``, ``"typical"`` or ``"distinctive"`` (see `AsRead`); by default the result's
        own reading, else ``"any"``.
    background : real graphs with the classifier's labels; all readings except ``"any"`` need it.
    constraints : the constraints of the search, if they have a mask or a predicate.
    draws : the number of redraws.
    seed : the same seed gives the same redraws.

    Examples
    --------
    >>> from denseflip import Graph, explain
    >>> from denseflip.oracles.adapt import as_oracle
    >>> lobes = Taxonomy.from_labels("lobe", ["Front", "Front", "Front", "Back"])
    >>> dense = as_oracle(lambda a: "dense" if a[:3, :3].sum() >= 4 else "thin")
    >>> one = as_oracle(lambda a: "linked" if a[0, 1] else "split")
    >>> graph = Graph.from_edges(4, [(0, 1), (1, 2)])
    >>> [as_read(explain(graph, oracle, "tri+min"), oracle, lobes).share for oracle in (dense, one)]
    [1.0, 0.4]
    """
    if reading is not None and reading not in READINGS:
        raise UnknownNameError("reading", str(reading), READINGS)
    draws = whole_number("draws", draws, minimum=1)
    if not result.found:
        return None
    if not len(result.edits):
        msg = "The result has no edits, so there is no sentence to test."
        raise InvalidParameterError(msg)
    session = open_session(oracle)
    known = None
    if background is not None and result.constraints:
        known = Background.of([graph for graph, _ in background])
    claim = claim_of(
        result, session, regions, nodes=nodes, background=known, constraints=constraints
    )
    return redraw(
        result,
        claim,
        session,
        reading=reading,
        sides=None if background is None else Sides.of(result, background, claim.label),
        draws=draws,
        seed=seed,
        nodes=nodes,
        background=known,
        constraints=constraints,
    )


def _regions_of(stated: AsRead, regions: Taxonomy | None, nodes: Nodes | None) -> Taxonomy | None:
    if stated.regions is None:
        return None
    if regions is not None and regions.name == stated.regions:
        return regions
    if nodes is None:
        msg = (
            f"The result is described in the regions {stated.regions!r}. Pass the node table that "
            "has them: nodes=…"
        )
        raise MissingInputError(msg, parameter="nodes")
    return nodes.taxonomy(stated.regions)
