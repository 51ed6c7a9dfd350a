"""Diverse answers: counterfactuals in different places.

Flips that a search met on its way may be such answers already. Otherwise the same method searches
again with the places of the answers so far frozen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from denseflip.constraints import Constraints
from denseflip.counterfactual import Counterfactual, Label, Status, Step
from denseflip.errors import InvalidParameterError, counted
from denseflip.graph import Codes, Edits, Graph, Nodes
from denseflip.graph.cells import cover_cells
from denseflip.oracles.base_session import BudgetSpentError
from denseflip.search.claims.claim import Place
from denseflip.search.claims.places import Places, in_cells, whole_claim

FEW_CELLS = 5  # of an answer in more cells, only those that hold half of its edits count
MOST_OF_IT = 0.5
KEPT = 256  # recorded flips, those with the fewest edits
LONGER = 2  # a recorded flip may have this many times the edits of the first answer


class RepeatedSearch:
    """Searches again under other constraints, with the rest of budget and time.

    Parameters
    ----------
    budget, time_limit : those of all searches together.
    first : the first result.
    search : the search, which takes constraints, a budget and a time limit.
    """

    def __init__(
        self,
        budget: int | None,
        time_limit: float | None,
        first: Counterfactual,
        search: Callable[..., Counterfactual],
    ) -> None:
        self._search = search
        self._budget = None if budget is None else budget - first.calls
        self._end = None if time_limit is None else time.monotonic() + time_limit - first.elapsed

    def __call__(self, constraints: Constraints) -> Counterfactual:
        """The next result; raises `BudgetSpentError` if nothing is left."""
        left = None if self._end is None else self._end - time.monotonic()
        if (left is not None and left <= 0) or (self._budget is not None and self._budget < 1):
            raise BudgetSpentError
        found = self._search(constraints=constraints, budget=self._budget, time_limit=left)
        if self._budget is not None:
            self._budget -= found.calls
        return found


def diversify(
    first: Counterfactual,
    n: int,
    nodes: Nodes | None,
    constraints: Constraints,
    met: Iterable[tuple[Graph, Label]],
    again: Callable[[Constraints], Counterfactual],
) -> Counterfactual:
    """Add answers in other places to an answer (`Counterfactual.diverse`).

    Parameters
    ----------
    first : the first answer; returned as it is if nothing was found.
    n : the number of answers, this one included.
    nodes, constraints : of the search. Places are cells of the taxonomy that the answer is
        described in, else of the constraints' taxonomy, else of the first.
    met : flips that the search met, the smallest first.
    again : searches under other constraints.
    """
    if not first.found:
        return first
    places = _places_of(first, nodes, constraints.regions)
    regions = places.taxonomy
    answers, used = [first], _places_used(places, first)
    for graph, label in met:
        if len(answers) == n:
            break
        codes = graph.difference(first.original)
        fits = len(codes) <= LONGER * max(first.distance, 1)
        if fits and used.isdisjoint(places.split(codes)):
            answers.append(_as_answer(first, graph, label))
            used |= _main(places, codes)
    calls, why = 0, ""
    while len(answers) < n:
        try:
            other = again(_freezing(constraints, places, used))
        except BudgetSpentError:
            why = "the budget was spent"
            break
        except InvalidParameterError as error:
            if "constraints" not in error.parameters:
                raise
            why = "the answers so far already use every place that may change"
            break
        calls += other.calls
        if not other.found:
            spent = other.status is Status.BUDGET
            why = "the budget was spent" if spent else "no flip without changing those places"
            break
        answers.append(other)
        used |= _places_used(places, other)
    words = "connections" if regions is None else f"region pairs ({regions.name})"
    note = (
        f"{len(answers)} answers in different {words}: each leaves the "
        f"{'' if regions is None else 'main '}places of the others unchanged."
    )
    if len(answers) < n:
        short = f"{n} answers in different {words} were requested, {len(answers)} found"
        note = f"{short}: {why}." + ("" if len(answers) == 1 else f" {note}")
    if calls:
        note = f"{note} The other answers took {counted(calls, 'query', 'queries')} more."
    return replace(first, diverse=tuple(answers), notes=(*first.notes, note))


def _freezing(constraints: Constraints, places: Places, used: Iterable[Place]) -> Constraints:
    """The constraints, with these places frozen too."""
    items: list[tuple[Any, ...]] = sorted(used)
    if places.taxonomy is not None:
        name, regions = places.taxonomy.name, places.taxonomy.regions
        items = [(name, regions[a], regions[b]) for a, b in items]
    return replace(constraints, freeze=[*constraints.freeze, *items])


def _places_of(first: Counterfactual, nodes: Nodes | None, regions: str | None) -> Places:
    """Cells of the taxonomy that the first answer is described in, else of ``regions``; pairs
    where there are no regions.
    """
    described = None if first.as_read is None else first.as_read.regions
    taxonomy = None
    if nodes is not None and nodes.regions:
        taxonomy = nodes.taxonomy(described or regions)
    return Places(first.original, taxonomy, pairwise=taxonomy is None)


def _places_used(places: Places, answer: Counterfactual) -> set[Place]:
    """The places that an answer names, or else those that it is mainly in."""
    stated = answer.as_read
    if stated is not None and stated.balanced and places.taxonomy is not None:
        at = {name: i for i, name in enumerate(places.taxonomy.regions)}
        claim, _ = whole_claim(answer, "regions", places.taxonomy)
        if claim.with_all:
            return {amount.place for amount in in_cells(answer, claim)[:FEW_CELLS]}
        if stated.regions == places.taxonomy.name:
            pairs = ([at[name] for name in names] for names in stated.places)
            return {(min(pair), max(pair)) for pair in pairs}
    return _main(places, _changed(answer))


def _main(places: Places, codes: Codes) -> set[Place]:
    """The places that an answer is in: all if they are few or pairs, else those that hold half."""
    if places.pairwise:
        return set(places.split(codes))
    tally = places.cells.tally(codes)
    return set(tally if len(tally) <= FEW_CELLS else cover_cells(tally, MOST_OF_IT))


def _changed(result: Counterfactual) -> Codes:
    return result.counterfactual.difference(result.original)


def _as_answer(first: Counterfactual, graph: Graph, label: Label) -> Counterfactual:
    """A recorded flip as a result of its own."""
    edits = Edits.between(first.original, graph)
    return replace(
        first,
        edits=edits,
        label_after=label,
        trace=(Step("search", "edges", edits.pairs, iteration=1),),
        minimal=None,
        as_read=None,
        robustness=None,
        plausibility=None,
        confidence_after=None,  # added by `explain`, which has the oracle; so are the weights
        weights=(),
        notes=("Found during the search for the first answer; its queries are counted there.",),
    )
