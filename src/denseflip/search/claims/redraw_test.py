"""Is a sentence true as read? What it asserts, and redraws of that, asked about afresh.

A sentence says how many connections change and where; its reader does not know which. So the same
numbers are drawn anew in the same places and the oracle is asked again. Draws come from the seed
alone, and never from a search: what a search selected on says nothing about its truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from denseflip.constraints import Constraints
from denseflip.counterfactual import AsRead, Counterfactual, Label, Language, Reading
from denseflip.errors import (
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
    whole_number,
)
from denseflip.graph import Codes, Graph, Nodes, Taxonomy
from denseflip.oracles.background import Background, Frequencies
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import open_session
from denseflip.search.claims.claim import DRAWS, Claim, Places, Redraw, TooFewError, Unit
from denseflip.search.constraints.constrained_session import constrain, known_constraints_of
from denseflip.search.core.probing import Probe, joined
from denseflip.search.core.problem import Problem
from denseflip.search.core.sufficient_parts import fewest_parts

READINGS: tuple[Reading, ...] = get_args(Reading)  # the strongest first
FEW_CELLS = 5  # what a person keeps in mind: a sentence that names more is a list
_STREAM = 15  # sets these draws apart from a search's own with the same seed


@dataclass(frozen=True)
class Assertion:
    """What a sentence about a result says: amounts, and where.

    Attributes
    ----------
    places : what it names; None for a list of single pairs, which leaves nothing open.
    claim : the amounts, the largest first.
    n_named : how many cells, nodes or pairs it names.
    label : the label that it leads to.
    """

    places: Places | None
    claim: Claim
    n_named: int
    label: Label

    @property
    def language(self) -> Language:
        """``"regions"``, ``"nodes"`` or ``"pairs"``."""
        return "pairs" if self.places is None else self.places.language

    @property
    def spoken(self) -> str:
        """The language in words, with the name of the regions: ``"regions (lobe)"``."""
        tax = None if self.places is None else self.places.taxonomy
        return self.language if tax is None else f"regions ({tax.name})"

    @property
    def names(self) -> tuple[frozenset[str], ...]:
        """The regions of each cell it names, in its order; empty in another language."""
        tax = None if self.places is None else self.places.taxonomy
        if tax is None:
            return ()
        return tuple(
            frozenset(tax.regions[r] for r in unit if r is not None) for unit, _, _ in self.claim
        )


def assertion(
    result: Counterfactual,
    session: BaseSession,
    regions: Taxonomy | None = None,
    *,
    nodes: Nodes | None = None,
    background: Background | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
) -> Assertion:
    """What the shortest sentence about a result says.

    A search that looked for a sentence (`brief`, `auto`) says itself in which language it is told,
    and its edits are what the sentence asserts. Of any other result the sentence names the fewest
    cells whose edits flip the oracle by themselves: the fullest first until they do, and of those
    none that can be left out (`lexmin`).

    Parameters
    ----------
    result : a result that was found.
    session : the way to the oracle.
    regions : the regions to speak of; None to speak of nodes.
    nodes : the node table, to look up other regions that a result speaks of, and what it froze.
    background : the data set, where the constraints of the result refer to it.
    constraints : the constraints of the search, where they have a mask or a predicate.
    """
    terms = known_constraints_of(result, nodes, background, constraints)
    session = constrain(session, result, terms)
    stated = result.as_read
    if stated is not None:
        if stated.language == "pairs":
            return Assertion(None, (), len(result.edits), result.label_after)
        tax = _regions_of(stated, regions, nodes)
        places = Places(result.original, tax, terms)
        parts = (nodes_named(result, nodes) if tax is None else None) or places.split(result.edits)
        claim = tuple(places.amount(unit, codes) for unit, codes in parts.items())
        return Assertion(places, claim, len(claim), result.label_after)
    places = Places(result.original, regions, terms)
    parts = places.split(result.edits)
    units = list(parts)
    enough = fewest_parts(result, list(parts.values()), session)
    if enough is not None:
        units = [units[i] for i in enough.chosen]
    claim = tuple(places.amount(unit, parts[unit]) for unit in units)
    label = result.label_after if enough is None else enough.label
    return Assertion(places, claim, len(claim), label)


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
        """By the oracle's labels; the target is the label that a sentence leads to."""
        wanted = result.label_after if target is None else target
        same = [graph for graph, label in background if label == result.label_before]
        other = [graph for graph, label in background if label == wanted]
        return cls(Frequencies.of(same), Frequencies.of(other))


def fresh_rng(seed: int, reading: Reading) -> np.random.Generator:
    """The generator of redraws in a reading: another than any search's with the same seed."""
    return np.random.default_rng([seed, _STREAM, READINGS.index(reading)])


def redraw(
    result: Counterfactual,
    said: Assertion,
    session: BaseSession,
    *,
    reading: Reading = "any",
    sides: Sides | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> AsRead | None:
    """Ask about fresh redraws of what a sentence asserts; None of a list of pairs.

    A redraw flips if it has the label that the sentence leads to, not just any other. Where a place
    has fewer pairs of the reading than are asserted, no redraw can be made, and none of them flips.
    """
    if said.places is None:
        return None
    if reading != "any":
        if sides is None:
            msg = f"The reading {reading!r} needs a background, and none was given."
            raise MissingInputError(msg, parameter="background")
        if not sides.target.n_graphs:
            return AsRead(*_place(said), reading, draws, 0)
    rng = fresh_rng(seed, reading)
    drawn = Redraw(
        said.places,
        reading,
        None if sides is None else sides.current,
        None if sides is None else sides.target,
    )
    try:
        return drawn.test(said.claim, _probe(result, said, session), rng, draws=draws)
    except TooFewError:
        return AsRead(*_place(said), reading, draws, 0)


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
    said = assertion(
        result, session, regions, nodes=nodes, background=known, constraints=constraints
    )
    own: Reading = "any" if result.as_read is None else result.as_read.reading
    chosen = reading or own
    return redraw(
        result,
        said,
        session,
        reading=chosen,
        sides=None if background is None else Sides.of(result, background, said.label),
        draws=draws,
        seed=seed,
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


def nodes_named(result: Counterfactual, nodes: Nodes | None) -> dict[Unit, Codes] | None:
    """The nodes that a search named, as its trace tells; None if it does not.

    An edit has two ends, so the edits alone do not say which of two nodes was meant.
    """
    n = result.original.n_nodes
    names = {name: i for i, name in enumerate(nodes.names)} if nodes is not None else {}
    parts: dict[Unit, list[int]] = {}
    for step in result.trace:
        node = names.get(step.name)
        if node is None and step.name.isdecimal() and nodes is None:
            node = int(step.name)
        if node is None or any(node not in pair for pair in step.toggled):
            return None
        parts.setdefault((node, None), []).extend(u * n + v for u, v in step.toggled)
    codes = {unit: np.sort(np.array(held, dtype=np.int64)) for unit, held in parts.items()}
    told = np.sort(joined(codes.values()))
    if not np.array_equal(told, np.array([u * n + v for u, v in sorted(result.edits.pairs)])):
        return None
    return dict(sorted(codes.items(), key=lambda item: -len(item[1])))


def _place(said: Assertion) -> tuple[Language, str | None]:
    tax = None if said.places is None else said.places.taxonomy
    return said.language, None if tax is None else tax.name


def _probe(result: Counterfactual, said: Assertion, session: BaseSession) -> Probe:
    problem = Problem(result.original, result.label_before, said.label)
    terms = None if said.places is None else said.places.terms
    return Probe(problem, constrain(session, result, terms), keep=False)
