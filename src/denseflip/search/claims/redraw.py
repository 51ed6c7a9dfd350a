"""`Redraw`: is a claim true as read? Redraw its connections and query the classifier again.

The reader of a claim does not know which connections are meant. So as many other pairs in the same
places are drawn at random, and the classifier is queried again. The draws of the final test
(`redraw`) depend on the seed only, never on a search: redraws that a search selected on would bias
the test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.as_read import READINGS
from denseflip.constraints import Constraints
from denseflip.counterfactual import AsRead, Counterfactual, Label, Reading
from denseflip.errors import (
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
    whole_number,
)
from denseflip.graph import Codes, Graph, Nodes, Taxonomy
from denseflip.graph.lazy_pairs import LazyPairs
from denseflip.graph.pairs import are_among
from denseflip.oracles.background import Background, Frequencies
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import open_session
from denseflip.search.claims.claim import Amounts, Claim, Place
from denseflip.search.claims.elsewhere import Elsewhere, TooFewError
from denseflip.search.claims.places import PairsByPlace, Places, whole_claim
from denseflip.search.claims.queue import Keep, Queue, Weights
from denseflip.search.claims.sides import Sides
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.constraints.constrained_session import constrain, known_constraints_of
from denseflip.search.core.probing import Probe, fewest_parts, joined
from denseflip.search.core.problem import Problem

DRAWS = 20  # redraws of a test
# (redraws, how many of them must flip for the test to continue): a clear no costs one query.
STAGES = ((1, 1), (3, 3), (6, 5), (DRAWS, 18))


@dataclass(frozen=True)
class Redraw:
    """Redraws the pairs of a claim.

    Parameters
    ----------
    places : the places to draw pairs from.
    reading : which pairs are drawn; see `AsRead`.
    current, target : how often the original's class and the target class join each pair; all
        readings except ``"any"`` need them.
    elsewhere : where pairs change to keep the number of edges; None if it is not kept.
    apart : whether the pair of two named nodes stays as it is, so that each node changes by its
        own amount. If not, such a pair is drawn once at most.
    """

    places: Places
    reading: Reading = "any"
    current: Frequencies | None = None
    target: Frequencies | None = None
    elsewhere: Elsewhere | None = None
    apart: bool = True

    def weights(self, codes: Codes, *, adding: bool) -> npt.NDArray[np.float64]:
        """The weight of each pair in a draw; 0 for pairs that the reading does not mean."""
        if self.reading == "any":
            return np.ones(len(codes))
        assert self.target is not None
        has = self.target.at(codes)
        if self.reading == "typical":
            return has if adding else 1.0 - has
        assert self.current is not None
        more = has - self.current.at(codes)
        return np.maximum(more if adding else -more, 0.0)

    def has_meant(self, codes: Codes, *, adding: bool) -> npt.NDArray[np.bool_]:
        """Which of the pairs the reading means."""
        return self.weights(codes, adding=adding) > 0

    def weights_in(self, place: Place, *, adding: bool) -> Weights:
        """The weights of the `pool` of a place, in a reading other than ``"any"``."""
        known = self._weights.get((place, adding))
        if known is None:
            codes = self.meant(adding=adding)[place]
            known = self._weights[place, adding] = Weights(self.weights(codes, adding=adding))
        return known

    @cached_property
    def _weights(self) -> dict[tuple[Place, bool], Weights]:
        return {}

    @cached_property
    def _additions(self) -> PairsByPlace:
        """The pairs to add that the reading may mean: the target class has them."""
        assert self.target is not None
        codes = self.target.codes
        codes = codes[~are_among(codes, self.places.graph.codes)]
        codes = codes[self.places.free.among(codes)]
        return self.places.by_place(codes[self.has_meant(codes, adding=True)])

    @cached_property
    def _removals(self) -> PairsByPlace:
        """The pairs to remove that the reading means."""
        codes = self.places.free.present
        return self.places.by_place(codes[self.has_meant(codes, adding=False)])

    def meant(self, *, adding: bool) -> PairsByPlace:
        """The pairs that a reading other than ``"any"`` can add, or remove."""
        return self._additions if adding else self._removals

    def pool(self, place: Place, *, adding: bool) -> Codes | LazyPairs:
        """The pairs of a place that the reading can add, or remove, sorted."""
        if self.reading != "any":
            return self.meant(adding=adding)[place]
        return self.places.absent(place) if adding else self.places.present(place)

    def rooms(self, *, adding: bool) -> npt.NDArray[np.int64]:
        """How many pairs the reading can add, or remove, by place."""
        return self._rooms[not adding]

    @cached_property
    def _rooms(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        places = self.places
        if self.reading == "any":
            return places.addable, places.removable
        return places.tally(self._additions.codes), places.tally(self._removals.codes)

    def room(self, place: Place, *, adding: bool) -> int:
        """How many pairs of a place the reading can add, or remove."""
        return len(self.pool(place, adding=adding))

    def count_meant(self, graph: Graph, *, adding: bool) -> npt.NDArray[np.int64]:
        """How many edges of a graph are among the pairs that the reading means, by place."""
        if graph is self.places.graph:
            return self._counted[not adding]
        return self._count_meant(graph, adding=adding)

    def _count_meant(self, graph: Graph, *, adding: bool) -> npt.NDArray[np.int64]:
        if self.reading == "any":
            return self.places.edges_of(graph)
        return self.places.tally(graph.codes[self.has_meant(graph.codes, adding=adding)])

    @cached_property
    def _counted(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        graph = self.places.graph
        return self._count_meant(graph, adding=True), self._count_meant(graph, adding=False)

    def n_meant(self, *, adding: bool) -> npt.NDArray[np.int64]:
        """How many pairs the reading means, joined or not, by place."""
        return self._n_meant[not adding]

    @cached_property
    def _n_meant(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        places = self.places
        if self.reading == "any":
            return places.sizes, places.sizes
        assert self.target is not None
        codes = self.target.codes
        more = places.tally(codes[self.has_meant(codes, adding=True)])
        if self.reading == "typical":  # all pairs but those that all graphs have
            always = ~self.has_meant(codes, adding=False)
            return more, places.sizes - places.tally(codes[always])
        assert self.current is not None
        codes = self.current.codes
        return more, places.tally(codes[self.has_meant(codes, adding=False)])

    def draw(self, amounts: Amounts, rng: np.random.Generator) -> Codes:
        """Codes of the pairs of one redraw.

        Raises
        ------
        TooFewError
            If a place has fewer pairs than the claim needs.
        """
        return np.sort(joined(self.parts(amounts, rng)))

    def parts(self, amounts: Amounts, rng: np.random.Generator) -> list[Codes]:
        """The pairs of one redraw by place, in the order of the claim; last, those elsewhere."""
        shares = self.may_share(amounts)
        drawn: list[Codes] = []
        for place, added, removed in amounts:
            here: list[Codes] = []
            for adding, wanted in ((True, added), (False, removed)):
                if wanted:
                    keep = self.unshared(place, amounts, drawn) if shares else None
                    here.append(self._some(place, wanted, rng, keep, adding=adding))
            drawn.append(joined(here))
        if self.elsewhere is not None and (net := self.elsewhere.wanted(amounts)):
            queue = self.elsewhere.queue(rng, adding=net > 0)
            drawn.append(self.elsewhere.take(queue, amounts, adding=net > 0))
        return drawn

    def may_share(self, amounts: Amounts) -> bool:
        """Whether a pair may lie in two places of a claim: it names several nodes."""
        return len(amounts) > 1 and amounts[0].place[1] is None

    def unshared(self, place: Place, amounts: Amounts, drawn: Sequence[Codes]) -> Keep:
        """Which pairs of a node may be drawn, as it shares pairs with other named nodes."""
        if not self.apart:
            return lambda codes: ~np.isin(codes, joined(drawn))
        n = self.places.graph.n_nodes
        others = [other for (other, _), _, _ in amounts if other != place[0]]
        return lambda codes: ~(np.isin(codes // n, others) | np.isin(codes % n, others))

    def _some(
        self,
        place: Place,
        wanted: int,
        rng: np.random.Generator,
        keep: Keep | None,
        *,
        adding: bool,
    ) -> Codes:
        codes, kept = self.pool(place, adding=adding), None
        if keep is not None:  # a node has few enough pairs to list
            codes = codes[:]
            kept = keep(codes)
            codes = codes[kept]
        if wanted > len(codes):
            raise TooFewError(place, wanted, len(codes), adding=adding)
        if self.reading == "any":
            return codes[rng.choice(len(codes), size=wanted, replace=False, shuffle=False)]
        assert not isinstance(codes, LazyPairs)
        # The k shortest exponential waiting times are k weighted draws without replacement.
        weights = self.weights_in(place, adding=adding).values
        waits = rng.exponential(size=len(codes)) / (weights if kept is None else weights[kept])
        return codes[np.argpartition(waits, wanted - 1)[:wanted]]

    def queue(self, place: Place, rng: np.random.Generator, *, adding: bool) -> Queue:
        """The pairs that the reading means in a place, in the order of one redraw.

        Its first k pairs are a redraw of k pairs, so redraws of increasing amounts are nested.
        """
        pool = self.pool(place, adding=adding)
        if isinstance(pool, LazyPairs) or self.reading == "any":
            return Queue(pool, rng)
        return Queue(pool, rng, self.weights_in(place, adding=adding))

    def fixed(self, amounts: Amounts) -> bool:
        """Whether all redraws are the same, because each place is filled or emptied completely."""
        if self.elsewhere is not None and self.elsewhere.wanted(amounts):
            return False
        return all(
            added in (0, self.room(place, adding=True))
            and removed in (0, self.room(place, adding=False))
            for place, added, removed in amounts
        )

    def test(
        self, amounts: Amounts, probe: Probe, rng: np.random.Generator, *, draws: int = DRAWS
    ) -> AsRead:
        """Query redraws in one batch; only one if all are the same."""
        if self.fixed(amounts):
            return self.outcome([probe.flips(self.draw(amounts, rng))], only=True)
        answers = probe.answers([self.draw(amounts, rng) for _ in range(draws)])
        return self.outcome(probe.problem.accepts(answer.label) for answer in answers)

    def holds(
        self,
        amounts: Amounts,
        probe: Probe,
        rng: np.random.Generator,
        *,
        stages: Sequence[tuple[int, int]] = STAGES,
    ) -> AsRead:
        """The test in stages: after so many redraws so many must have flipped, else it ends.

        The outcome is ``true`` only if the last stage was passed.
        """
        if self.fixed(amounts):
            return self.test(amounts, probe, rng, draws=stages[-1][0])
        flipped: list[bool] = []
        for upto, least in stages:
            drawn = [self.draw(amounts, rng) for _ in range(upto - len(flipped))]
            answers = probe.answers(drawn)
            flipped += [probe.problem.accepts(answer.label) for answer in answers]
            if sum(flipped) < least:
                # An early end is always below the level: 0 of 1, 2 of 3, 4 of 6.
                return self.outcome(flipped)
        return self.outcome(flipped)

    def outcome(self, flipped: Iterable[bool], *, only: bool = False) -> AsRead:
        """The outcome of redraws, or of the only possible one."""
        listed = list(flipped)
        tax = self.places.taxonomy
        return AsRead(
            self.places.language,
            None if tax is None else tax.name,
            self.reading,
            len(listed),
            sum(listed),
            only,
        )


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


def fresh_rng(seed: int, reading: Reading, *more: int) -> np.random.Generator:
    """The generator of redraws in a reading, independent of a search with the same seed."""
    return np.random.default_rng([seed, _STREAM, READINGS.index(reading), *more])


def redraw_of(
    result: Counterfactual,
    claim: Claim,
    sides: Sides | None = None,
    bound: BoundConstraints | None = None,
) -> Redraw:
    """Redraws of a claim, in its reading."""
    places = Places.of_claim(result.original, claim, bound)
    if sides is None:
        if claim.balanced:
            msg = "A claim that keeps the number of edges needs a background, and none was given."
            raise MissingInputError(msg, parameter="background")
        return Redraw(places, claim.reading, apart=result.as_read is not None)
    elsewhere = Elsewhere(places, sides.current, sides.target) if claim.balanced else None
    apart = result.as_read is not None  # the claim comes from redraws of that kind
    return Redraw(places, claim.reading, sides.current, sides.target, elsewhere, apart)


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
    if reading != "any":
        if sides is None:
            msg = f"The reading {reading!r} needs a background, and none was given."
            raise MissingInputError(msg, parameter="background")
        if not sides.target.n_graphs:
            return AsRead(claim.language, regions, reading, draws, 0)
    bound = known_constraints_of(result, nodes, background, constraints)
    drawn = redraw_of(result, replace(claim, reading=reading), sides, bound)
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
        msg = f"The result is described in the regions {stated.regions!r}. Pass their nodes=…"
        raise MissingInputError(msg, parameter="nodes")
    return nodes.taxonomy(stated.regions)
