"""The test of a sentence as read: do other connections in the same places flip the oracle, too?

A sentence names places and amounts, not pairs. So the pairs are redrawn in the same places, in the
same numbers, and the oracle is queried again (`search.claims.redraw`).
"""

from __future__ import annotations

from denseflip.as_read import READINGS
from denseflip.counterfactual import BALANCE, AsRead, Counterfactual
from denseflip.graph import Taxonomy
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.search.claims.claim import Claim
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import DRAWS, Redraw, TooFewError
from denseflip.search.claims.redraw_test import fresh_rng
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.core.probing import Probe
from denseflip.search.core.problem import Problem, StopSearch
from denseflip.story.wording import remarks


def read_test(
    result: Counterfactual,
    claim: Claim,
    session: BaseSession,
    *,
    background: Background | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    budget: int | None = None,
    terms: BoundConstraints | None = None,
) -> tuple[AsRead | None, str]:
    """Test a claim as read; return the outcome, and a remark if it was not tested.

    The claim is tested for any pairs of its places; if that fails and there is a background, for
    pairs typical of the class that the claim leads to, then for those distinctive of it. The first
    reading that is true is returned, else the outcome for any pairs.

    Parameters
    ----------
    result, claim : the result, and the claim about it.
    session : access to the oracle.
    background : graphs that define what is typical.
    draws : redraws per reading; 0 for no test.
    seed : seed of the redraws.
    budget : maximum number of queries.
    terms : the user's constraints: only pairs that may change are drawn.
    """
    if claim.language == "pairs":
        return AsRead("pairs", None, "any", 0, 0), ""
    if not draws:
        return None, remarks.NO_DRAWS
    places = Places(result.original, claim.regions, terms)
    problem = Problem(
        result.original,
        result.label_before,
        claim.label,
        background=background,
        label_background=lambda: [] if background is None else background.labels(session),
    )
    probe = Probe(problem, session, keep=False)
    before, first = session.calls, None
    for reading in READINGS:
        redraw = Redraw(places, reading, apart=False)
        if reading != "any":
            if background is None or not len(background):
                break
            try:
                redraw = Redraw(places, reading, *problem.frequencies("describe"), apart=False)
            except StopSearch:  # the background has no graph of the class that the claim leads to
                break
        needed = 1 if redraw.fixed(claim.amounts) else draws
        if budget is not None and session.calls - before + needed > budget:
            left = budget - session.calls + before
            return first, remarks.too_few_left(left, needed, begun=first is not None)
        try:
            test = redraw.test(claim.amounts, probe, fresh_rng(seed, reading), draws=draws)
        except TooFewError:  # there are fewer such pairs than the claim needs
            continue
        except BudgetSpentError:
            return first, remarks.SPENT_AS_READ
        if test.true:
            return test, ""
        first = first or test
    return first, ""


def made_for(result: Counterfactual, whole: Claim) -> bool:
    """Whether the result already contains a test of the claim about all its changes."""
    test = result.as_read
    return (
        test is not None
        and test.language == whole.language
        and test.regions == (None if whole.regions is None else whole.regions.name)
        and (whole.regions is None or _same_cells(result, whole.regions))
    )


def _same_cells(result: Counterfactual, regions: Taxonomy) -> bool:
    """Whether the cells named by the search belong to these regions, not only by name."""
    at, names = regions.index, regions.regions
    for step in result.trace:
        if step.block == BALANCE:
            continue
        cells = {tuple(sorted((at[u], at[v]))) for u, v in step.toggled}
        spoken = {names[a] if a == b else f"{names[a]} – {names[b]}" for a, b in cells}
        if spoken != {step.name}:
            return False
    return True
