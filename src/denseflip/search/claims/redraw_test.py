"""Is a sentence true as read? The claim of a result, and its test on fresh redraws.

A sentence says how many connections change and where; its reader does not know which. So as many
connections are drawn anew in the same places, and the oracle is queried again. Draws come from the
seed alone and never from a search: what a search selected on says nothing about its truth.
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
from denseflip.search.claims.redraw import DRAWS, Redraw, TooFewError
from denseflip.search.constraints.constrained_session import constrain, known_constraints_of
from denseflip.search.core.probing import Probe
from denseflip.search.core.problem import Problem
from denseflip.search.core.sufficient_parts import fewest_parts

FEW_CELLS = 5  # what a person keeps in mind: a sentence that names more is a list
_STREAM = 15  # sets these draws apart from a search's own with the same seed


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

    A search that looked for a claim (`brief`, `auto`) says itself in which language, and its edits
    are what it claims. Of any other result the claim names the fewest cells whose edits flip the
    oracle by themselves: the fullest first until they do, and of those none that can be left out
    (`lexmin`).

    Parameters
    ----------
    result : a result that was found.
    session : the way to the oracle.
    regions : the regions to speak of; None to speak of nodes.
    nodes : the node table, to look up other regions that a result speaks of, and what it froze.
    background : the data set, where the constraints of the result refer to it.
    constraints : the constraints of the search, where they have a mask or a predicate.
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
        """By the oracle's labels; the target is the label that a claim leads to."""
        wanted = result.label_after if target is None else target
        same = [graph for graph, label in background if label == result.label_before]
        other = [graph for graph, label in background if label == wanted]
        return cls(Frequencies.of(same), Frequencies.of(other))

    @classmethod
    def of_background(
        cls, background: Background, session: BaseSession, before: Label, target: Target
    ) -> Sides:
        """Of a whole background, by the oracle's labels; what is counted is kept with it."""
        labels = list(enumerate(background.labels(session)))
        same = [i for i, label in labels if label == before]
        other = [i for i, label in labels if is_wanted(label, before, target)]
        return cls(background.frequencies(same), background.frequencies(other))


def fresh_rng(seed: int, reading: Reading) -> np.random.Generator:
    """The generator of redraws in a reading: another than any search's with the same seed."""
    return np.random.default_rng([seed, _STREAM, READINGS.index(reading)])


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
    """Query the oracle about fresh redraws of a claim; None of a list of pairs.

    A redraw flips if it has the label that the claim leads to, not just any other. Where a place
    has fewer pairs of the reading than are claimed, no redraw can be made, and none of them flips.

    Parameters
    ----------
    result, claim, session : what was found, what is claimed of it, and the way to the oracle.
    reading : which connections are drawn; by default those that the claim means.
    sides : how often both classes join each pair; all readings but ``"any"`` need it.
    draws, seed : the number of redraws; the same seed gives the same ones.
    nodes, background, constraints : as in `claim_of`: redraws keep to the constraints.
    """
    if claim.language == "pairs":
        return None
    reading = reading or claim.reading
    regions = None if claim.regions is None else claim.regions.name
    if reading != "any":
        if sides is None:
            msg = f"The reading {reading!r} needs a background, and none was given."
            raise MissingInputError(msg, parameter="background")
        if not sides.target.n_graphs:
            return AsRead(claim.language, regions, reading, draws, 0)
    bound = known_constraints_of(result, nodes, background, constraints)
    drawn = Redraw(
        Places(result.original, claim.regions, bound),
        reading,
        None if sides is None else sides.current,
        None if sides is None else sides.target,
    )
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
    """How true the shortest sentence about a result is as its reader reads it.

    Parameters
    ----------
    result : the explanation; None is the answer for one that was not found, or that is told as a
        list of pairs.
    oracle : the oracle that was explained, or a session with it.
    regions : the regions to speak of; None to speak of nodes. A result that says in which language
        it is told is tested in that one.
    nodes : the node table, where the result speaks of other regions than these.
    reading : ``"any"``, ``"typical"`` or ``"distinctive"`` (see `AsRead`); by default the result's
        own, else ``"any"``.
    background : real graphs, each with the oracle's label; all readings but ``"any"`` need it.
    constraints : the constraints of the search, where they have a mask or a predicate.
    draws : number of redraws.
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
        msg = "The result holds no edits: there is nothing to read."
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
            f"The result is told in the regions {stated.regions!r}. Give the node table that has "
            "them: nodes=…"
        )
        raise MissingInputError(msg, parameter="nodes")
    return nodes.taxonomy(stated.regions)
