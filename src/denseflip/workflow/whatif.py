"""What if: change a graph by hand and query the classifier.

A change adds or removes numbers of connections in places, as in a claim, and flips single pairs.
The connections of a place are drawn at random, several times, to show how much the decision depends
on the choice. Draws are nested: one connection more adds one and keeps the others, so that moving a
slider changes little at a time. On request, as many connections change in other places, so that the
number of edges stays the same, as in a balanced claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from denseflip.as_read import READINGS
from denseflip.counterfactual import Label, Reading, Target
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.graph import Codes, Graph, Taxonomy
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.session import Session
from denseflip.search.claims.claim import ALL_REGIONS, Amount, Amounts, Place, is_with_all
from denseflip.search.claims.elsewhere import Elsewhere, TooFewError
from denseflip.search.claims.places import Places
from denseflip.search.claims.queue import Keep
from denseflip.search.claims.redraw import DRAWS, Redraw
from denseflip.search.claims.sides import Sides
from denseflip.search.constraints.bound_constraints import BoundConstraints

_STREAM = 16  # separates these draws from all others with the same seed
_ELSEWHERE = 17  # the same, for draws elsewhere
_AT_NODE = 2**32 - 1  # in the seed of a draw, in place of a second region


@dataclass(frozen=True)
class Prediction:
    """The decision about a changed graph.

    Attributes
    ----------
    label, confidence : of the graph with the first choice of connections; the confidence is that of
        the label, or None if the classifier gives none.
    before : the label of the original graph.
    draws, flips : number of choices that were queried, and how many of them have another label than
        before. If there is nothing to choose, there is one draw.
    pairs : the pairs that the first choice flips.
    added, removed : how many of them are added, and how many removed.
    """

    label: Label
    confidence: float | None
    before: Label
    draws: int
    flips: int
    pairs: tuple[tuple[int, int], ...]
    added: int
    removed: int


class WhatIf:
    """Changes one graph by hand, and queries the classifier.

    Parameters
    ----------
    graph : the original graph.
    oracle : the classifier.
    regions : the regions of the places; without them places are nodes, and single pairs.
    background : graphs that define which connections are typical of a class, and which are drawn
        elsewhere to keep the number of edges.
    terms : constraints of an explanation; connections that they freeze are not drawn.

    Examples
    --------
    >>> from denseflip import Graph
    >>> lobes = Taxonomy.from_labels("lobe", ["Front", "Front", "Front", "Back"])
    >>> graph = Graph.from_edges(4, [(0, 1)])
    >>> what_if = WhatIf(graph, lambda a: "dense" if a[:3, :3].sum() >= 4 else "thin", lobes)
    >>> said = what_if.ask([Amount((0, 0), added=1, removed=0)])
    >>> said.before, said.label, f"{said.flips} of {said.draws}"
    ('thin', 'dense', '20 of 20')
    """

    def __init__(
        self,
        graph: Graph,
        oracle: Any,
        regions: Taxonomy | None = None,
        *,
        background: Any = None,
        terms: BoundConstraints | None = None,
    ) -> None:
        self.graph = graph
        self.places = None if regions is None else Places(graph, regions, terms)
        self._at_nodes = Places(graph, None, terms)
        self.oracle = coerce_oracle(oracle)
        sure = hasattr(self.oracle, "classes") and _gives_confidence(self.oracle)
        self._session = Session(self.oracle, confidence=sure)
        self.confident = sure
        self._background = None if background is None else Background.of(background)
        self.before = self._session.peek(graph).label

    def ask(
        self,
        amounts: Iterable[Amount] = (),
        pairs: Iterable[tuple[int, int]] = (),
        *,
        reading: Reading = "any",
        target: Target = None,
        draws: int = DRAWS,
        seed: int = 0,
        first: Iterable[tuple[int, int]] | None = None,
        balance: bool = False,
    ) -> Prediction:
        """Query the classifier about the graph with these changes.

        Parameters
        ----------
        amounts : how many connections are added and removed, place by place.
        pairs : single pairs to flip; they are excluded from the draws.
        reading : ``"any"`` connections of a place, those ``"typical"`` of the target class, or
            those ``"distinctive"`` of it; see `AsRead`.
        target : the class that they are typical of; by default any other than that of the graph.
        draws : number of choices of connections to query.
        seed : the same seed gives the same choices.
        first : the first choice, instead of a drawn one: the connections of an explanation.
        balance : whether to keep the number of edges: each choice also draws as many pairs
            outside the named places, as the redraws of a balanced claim do (`Elsewhere`).

        Raises
        ------
        InvalidParameterError
            If a place has fewer connections to add or remove than requested, if there are too few
            elsewhere, or if a node does not exist.
        MissingInputError
            If a reading other than ``"any"``, or ``balance``, has no background.
        """
        if reading not in READINGS:
            raise UnknownNameError("reading", str(reading), READINGS)
        own = self._single(pairs)
        wanted = self._wanted(amounts)
        redraws = self._redraws(reading, target) if wanted else {}
        elsewhere = self._elsewhere(target) if balance else None
        named = tuple(Amount(place, 0, 0) for place, _, _ in wanted)
        choices: list[Codes] = []
        for i in range(draws if wanted or (balance and self._net(own)) else 1):
            taken = own
            for place, adding, amount in wanted:
                a, b = place
                rng = np.random.default_rng(
                    [seed, _STREAM, i, a, _AT_NODE if b is None else b, int(adding)]
                )
                queue = redraws[self._kind(place)].queue(place, rng, adding=adding)
                chosen = queue.take(amount, not_in(taken))
                if amount > len(chosen):
                    self._refuse(len(chosen), place, amount, adding=adding, reading=reading)
                taken = np.concatenate((taken, chosen))
            if elsewhere is not None:
                taken = self._balanced(elsewhere, taken, named, [seed, _ELSEWHERE, i])
            choices.append(np.sort(taken))
        if first is not None:
            choices[0] = self._single(first)
        if len({codes.tobytes() for codes in choices}) == 1:
            choices = choices[:1]
        answers = [self._session.peek(self.graph.toggle_codes(c)) for c in choices]
        n = self.graph.n_nodes
        held = np.isin(choices[0], self.graph.codes)
        return Prediction(
            answers[0].label,
            answers[0].confidence,
            self.before,
            len(answers),
            sum(answer.label != self.before for answer in answers),
            tuple((int(c) // n, int(c) % n) for c in choices[0]),
            int((~held).sum()),
            int(held.sum()),
        )

    def _single(self, pairs: Iterable[tuple[int, int]]) -> Codes:
        n = self.graph.n_nodes
        codes: set[int] = set()
        for u, v in pairs:
            if not (0 <= u < n and 0 <= v < n and u != v):
                msg = f"A pair must be two different nodes of 0..{n - 1}; got ({u}, {v})."
                raise InvalidParameterError(msg, parameter="pairs")
            codes ^= {min(u, v) * n + max(u, v)}  # flipping twice changes nothing
        return np.array(sorted(codes), dtype=np.int64)

    def _wanted(self, amounts: Iterable[Amount]) -> list[tuple[Place, bool, int]]:
        wanted = []
        seen: set[Place] = set()
        for place, added, removed in amounts:
            place = self._place(place)
            if place in seen:
                msg = f"The place {self._name(place)} is given twice; give it once, with both "
                raise InvalidParameterError(f"{msg}amounts.", parameter="amounts")
            seen.add(place)
            wanted += [(place, True, added)] * (added > 0) + [(place, False, removed)] * (
                removed > 0
            )
        return wanted

    def _place(self, place: Place) -> Place:
        """Return the place with its lower region first; refuse it if it does not exist."""
        a, b = place
        if b is None:
            last = self.graph.n_nodes - 1
            if not 0 <= a <= last:
                msg = f"A node must be one of 0..{last}; got {a}."
                raise InvalidParameterError(msg, parameter="amounts")
            return place
        if self._kind(place) == "all" and 0 <= a < b:
            return place
        if self.places is None or self.places.taxonomy is None:
            msg = (
                "The nodes have no regions, so region pairs cannot be changed. Give single nodes, "
                "or flip single pairs."
            )
            raise MissingInputError(msg, parameter="regions")
        last = len(self.places.taxonomy.regions) - 1
        if not (0 <= a <= last and 0 <= b <= last):
            msg = f"A cell must be two regions of 0..{last}; got ({a}, {b})."
            raise InvalidParameterError(msg, parameter="amounts")
        return (min(a, b), max(a, b))

    def _kind(self, place: Place) -> str:
        """``"node"``, ``"cell"``, or ``"all"`` for one region with all regions."""
        if place[1] is None:
            return "node"
        wide = self.places is not None and is_with_all(place, self.places.taxonomy)
        return "all" if wide else "cell"

    def _name(self, place: Place) -> str:
        a, b = place
        if b is None:
            return f"node {a}"
        assert self.places is not None
        if self._kind(place) == "all":
            return f"{self.places.cells.taxonomy.regions[a]} – {ALL_REGIONS}"
        return self.places.cells.name((a, b))

    def _refuse(
        self, there: int, place: Place, amount: int, *, adding: bool, reading: str
    ) -> NoReturn:
        what = "added" if adding else "removed"
        kind = "" if reading == "any" else " of that kind"
        msg = (
            f"{self._name(place)}: {amount:,} connections cannot be {what}; there are "
            f"{there:,}{kind}."
        )
        raise InvalidParameterError(msg, parameter="amounts")

    def _net(self, codes: Codes) -> int:
        """How many connections more there are if these pairs are flipped."""
        return len(codes) - 2 * int(np.isin(codes, self.graph.codes).sum())

    def _balanced(
        self, elsewhere: Elsewhere, taken: Codes, named: Amounts, seed: list[int]
    ) -> Codes:
        """The pairs of a choice, with as many elsewhere as keep the number of edges."""
        net = self._net(taken)
        if not net:
            return taken
        adding = net < 0
        queue = elsewhere.queue(np.random.default_rng([*seed, int(adding)]), adding=adding)
        try:
            others = elsewhere.take(queue, named, adding=adding, wanted=abs(net), without=taken)
        except TooFewError as error:
            what = "added" if adding else "removed"
            msg = (
                f"The number of connections cannot be kept: {error.wanted:,} would have to be "
                f"{what} outside the places chosen, and only {error.there:,} can be. Change fewer "
                "connections, or do not keep their number."
            )
            raise InvalidParameterError(msg, parameter="balance") from None
        return np.concatenate((taken, others))

    def _elsewhere(self, target: Target) -> Elsewhere:
        """Return what draws connections outside the named places."""
        if not self._background:
            msg = (
                "Keeping the number of connections needs a background, to choose which "
                "connections to change elsewhere; none was given. Give background graphs, or do "
                "not keep the number."
            )
            raise MissingInputError(msg, parameter="background")
        sides = Sides.of_background(self._background, self._session, self.before, target)
        return Elsewhere(self.places or self._at_nodes, sides.current, sides.target)

    def _redraws(self, reading: Reading, target: Target) -> dict[str, Redraw]:
        """Return what draws connections, by kind of place."""
        current = wanted = None
        if reading != "any":
            if self._background is None:
                msg = "Typical connections of a class need a background; none was given."
                raise MissingInputError(msg, parameter="background")
            sides = Sides.of_background(self._background, self._session, self.before, target)
            if not sides.target.n_graphs:
                msg = (
                    "The classifier puts no graph of the background in the target class, so its "
                    "typical connections are unknown."
                )
                raise MissingInputError(msg, parameter="background")
            current, wanted = sides.current, sides.target
        wide = None if self.places is None else replace(self.places, with_all=True)
        kinds = {"cell": self.places, "all": wide, "node": self._at_nodes}
        return {
            kind: Redraw(places, reading, current, wanted)
            for kind, places in kinds.items()
            if places is not None
        }


def not_in(taken: Codes) -> Keep:
    """Which pairs are not taken yet."""
    return lambda codes: ~np.isin(codes, taken)


def _gives_confidence(oracle: Any) -> bool:
    try:
        Session(oracle, confidence=True)
    except Exception:  # the reason does not matter here
        return False
    return True


def steps_of(original: Graph, trace: Sequence[Any], most: int = 200) -> list[tuple[int, Graph]]:
    """Return graphs along a trace, evenly thinned: the number of steps, and the graph.

    The first is the original, the last the end of the trace.
    """
    keep = set(np.linspace(0, len(trace), min(most, len(trace) + 1)).round().astype(int).tolist())
    found = [(0, original)]
    graph = original
    for i, step in enumerate(trace, 1):
        graph = graph.toggle(step.toggled)
        if i in keep:
            found.append((i, graph))
    return found
