"""`brief`: the shortest sentence that is true as read.

It looks for a claim, a few places with an amount each, such that whatever pairs of those places a
reader takes it to mean, the label flips in nine of ten cases. Single places are tried first, then
sets of them; what is found is brought to the smallest amounts that hold; and what is said of it in
the end is the outcome of redraws that the search never saw. How it looks is in `claim_search`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from denseflip.as_read import READINGS
from denseflip.counterfactual import Reading, Step
from denseflip.errors import InvalidParameterError, UnknownNameError, whole_number
from denseflip.graph import Taxonomy
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.search.claims.claim import Place
from denseflip.search.claims.claim_search import (
    ClaimSearch,
    VerifiedClaim,
    pareto_front,
    shortest,
)
from denseflip.search.claims.places import Places
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import Probe, joined
from denseflip.search.core.problem import BACKGROUND, REGIONS, Problem, StopSearch, Walk
from denseflip.search.core.shared_session import SharedSession

_MOST_PAIRS = 5_000_000  # of a graph: every place holds its pairs, and its redraws, in memory


@dataclass(frozen=True)
class Brief(Conversation):
    """Looks for few places, each with an amount, that flip the label whichever pairs are meant.

    Parameters
    ----------
    regions : the taxonomy, for example ``"lobe"``; None for the node table's first.
    language : ``"regions"`` (and ``"auto"``) or ``"nodes"``.
    max_cells : the most places that a sentence may name.
    readings : which pairs a reader may take to be meant, tried in this order; see `AsRead`.
    front : whether to look for all answers that no other beats.
    """

    regions: str | None = None
    language: str = "auto"
    max_cells: int = 5
    readings: tuple[Reading, ...] = READINGS
    front: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_cells", whole_number("max_cells", self.max_cells, minimum=1))
        if self.language == "pairs":
            msg = "brief speaks of regions or nodes; for pairs take the method 'tight' or 'race'."
            raise InvalidParameterError(msg, parameter="language")
        if self.language not in ("auto", "regions", "nodes"):
            raise UnknownNameError("language", str(self.language), ("auto", "regions", "nodes"))
        given = self.readings
        words = tuple(given.split(",")) if isinstance(given, str) else tuple(given)
        for word in words:
            if word not in READINGS:
                raise UnknownNameError("reading", str(word), READINGS, parameter="readings")
        if not words:
            msg = f"readings must name at least one of {', '.join(READINGS)}."
            raise InvalidParameterError(msg, parameter="readings")
        object.__setattr__(self, "readings", words)

    @property
    def needs(self) -> frozenset[str]:
        """Regions, unless it speaks of nodes; and the data set."""
        return frozenset({BACKGROUND} if self.language == "nodes" else {REGIONS, BACKGROUND})

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Search, and say what is true as read, or that nothing is."""
        if large := too_large(problem):
            problem.note(f"{large} Take a method that speaks of pairs, such as 'race'.")
            raise StopSearch
        taxonomy = None
        if self.language != "nodes":
            taxonomy = problem.taxonomy(self.regions, "brief")
            if wrong := unfit(taxonomy):
                msg = f"{wrong} Name another taxonomy, or speak of nodes: language='nodes'."
                if self.regions is not None:
                    raise InvalidParameterError(msg, parameter="regions")
                problem.note(msg)
                raise StopSearch
        told = self.tell(problem, SharedSession(session), taxonomy)
        if told:
            return self.walk(problem, told, taxonomy)
        problem.note(cannot_be_told(taxonomy, self.max_cells))
        raise StopSearch

    def tell(
        self, problem: Problem, session: BaseSession, taxonomy: Taxonomy | None
    ) -> list[VerifiedClaim]:
        """All that was found true as read, in sentences of at most ``max_cells`` places.

        Of several classes that may be led to, one is looked for after the other; what is true of
        none of them by itself is not told.
        """
        places = Places(problem.graph, taxonomy, problem.terms)
        most = _most_cells(problem, taxonomy, self.max_cells)
        told: list[VerifiedClaim] = []
        try:
            for aimed in problem.aims():
                probe = Probe(aimed, session)
                try:
                    search = ClaimSearch(aimed, probe, places, self.readings, most, self.front)
                    search.told = told
                    search.search()
                finally:
                    _keep_smaller(problem, aimed)
                if told and not self.front:
                    break
        except BudgetSpentError:
            if not told:
                asked = session.calls
                problem.note(
                    f"The budget was spent ({asked:,} question{'s' * (asked != 1)} asked) before "
                    "a sentence was seen to be true as read; a test for which the rest is too "
                    "small is not begun."
                )
            else:
                problem.best = self.walk(problem, told, taxonomy)
            raise
        return told

    def walk(self, problem: Problem, told: list[VerifiedClaim], taxonomy: Taxonomy | None) -> Walk:
        """The walk to the one to tell, with the others that nothing beats.

        A front is about cells, edits and truth alone, so what is told is chosen from it; otherwise
        a place in which the classes differ clearly may be told though another takes fewer edits.
        """
        kept = [told[i] for i in pareto_front([one.marks for one in told])]
        best = shortest(kept if self.front else told)
        if not self.front:
            return _walk(problem, best, taxonomy)
        walks = [_walk(problem, one, taxonomy) for one in kept]
        ended = walks[kept.index(best)]
        ended.front = tuple(walks)
        return ended


def _most_cells(problem: Problem, taxonomy: Taxonomy | None, most: int) -> int:
    """The most places of a sentence, by the user's terms too where they count the same ones."""
    terms = problem.terms
    bound = None if terms is None else terms.constraints.max_cells
    if terms is None or bound is None or taxonomy is None:
        return most
    return min(most, bound) if terms.cells.taxonomy.index == taxonomy.index else most


def _keep_smaller(problem: Problem, aimed: Problem) -> None:
    """Keep the best of a search for one class if it is the smallest so far."""
    new, old = aimed.best, problem.best
    if new is None or new is old:
        return
    size = problem.graph.distance
    if old is None or size(new.graph) < size(old.graph):
        problem.best = new


def too_large(problem: Problem) -> str:
    """Why places of so large a graph are not looked through pair by pair; empty if they are."""
    n_pairs = problem.graph.n_pairs
    if n_pairs <= _MOST_PAIRS:
        return ""
    return (
        f"The graph has {n_pairs:,} pairs of nodes; sentences that are true as read are looked for "
        f"up to {_MOST_PAIRS:,}."
    )


def unfit(taxonomy: Taxonomy) -> str:
    """Why no sentence can be told in these regions; empty if one can."""
    n = len(taxonomy.regions)
    if n == 1 and len(taxonomy.index) > 1:
        return (
            f"The taxonomy {taxonomy.name!r} has one region only: a sentence about it would "
            "not say where."
        )
    if n == len(taxonomy.index) and n > 1:
        return (
            f"The taxonomy {taxonomy.name!r} has a region for every node: its cells are single "
            "pairs, and there is nothing to redraw."
        )
    return ""


def told_in(taxonomy: Taxonomy | None) -> str:
    """In what words a sentence is told, as a reader may say it; None is for nodes."""
    if taxonomy is None:
        return "node by node"
    return f"in the regions of {taxonomy.name!r} ({len(taxonomy.regions):,} of them)"


def cannot_be_told(taxonomy: Taxonomy | None, max_cells: int) -> str:
    """The plain words for it."""
    most = "one" if max_cells == 1 else f"at most {max_cells}"
    what = ("node" if taxonomy is None else "place") + ("" if max_cells == 1 else "s")
    return (
        f"This decision cannot be told {told_in(taxonomy)}: no sentence of {most} {what} was found "
        "that is true as read."
    )


def _walk(problem: Problem, told: VerifiedClaim, taxonomy: Taxonomy | None) -> Walk:
    n, steps = problem.graph.n_nodes, []
    for number, (place, codes) in enumerate(zip(told.claim.places, told.parts, strict=True), 1):
        there = np.isin(codes, problem.graph.codes)
        for block, part in (("densify", codes[~there]), ("sparsify", codes[there])):
            if len(part):
                toggled = tuple(divmod(int(code), n) for code in np.sort(part))
                name = place_name(problem, taxonomy, place)
                steps.append(Step(block, "block", toggled, name=name, iteration=number))
    ended = problem.end(
        problem.graph.toggle_codes(np.sort(joined(told.parts))), told.claim.label, steps
    )
    ended.as_read = told.as_read
    ended.notes = tuple(_what_ends(problem, told, taxonomy))
    return ended


def _what_ends(problem: Problem, told: VerifiedClaim, taxonomy: Taxonomy | None) -> Iterator[str]:
    """That a place is filled or emptied, where it is: nothing is left open there."""
    places = Places(problem.graph, taxonomy)
    for place, added, removed in told.claim.amounts:
        name = place_name(problem, taxonomy, place)
        size, joined_now = places.counts(place)
        if added and added == size - joined_now:
            yield f"{name} is full then: every pair there is joined."
        if removed and removed == joined_now:
            yield f"{name} is empty then: no pair there is joined."


def place_name(problem: Problem, taxonomy: Taxonomy | None, place: Place) -> str:
    """What a place is called: two regions, or a node."""
    a, b = place
    if b is not None and taxonomy is not None:
        first, second = taxonomy.regions[a], taxonomy.regions[b]
        return first if a == b else f"{first} – {second}"
    return str(a) if problem.nodes is None else problem.nodes.names[a]
