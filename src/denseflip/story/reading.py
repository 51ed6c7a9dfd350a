"""The test of a sentence as it is read: would other connections in the same places do as well?

A reader is told places and amounts, not pairs. So as many pairs as the sentence says are drawn anew
in the same places, and the oracle is asked again (`search.claims`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from denseflip.counterfactual import AsRead, Counterfactual
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.search.claims.claim import DRAWS, Amount, Claim, Places, Redraw, TooFewError
from denseflip.search.claims.redraw_test import READINGS, fresh_rng
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.core.probing import Probe
from denseflip.search.core.problem import Problem, StopSearch
from denseflip.story.units import Unit, Units
from denseflip.story.verification import NamedPair, Verification

Level = Literal["none", "listed", "true"]


@dataclass(frozen=True)
class Badge:
    """How far a story can be trusted, by its weakest link.

    Attributes
    ----------
    level : ``"true"``, the sentence is true as read and the classifier better than chance;
        ``"listed"``, it holds for the connections listed; ``"none"``, no mark at all.
    text : why, in a few words.
    """

    level: Level
    text: str

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, str]:
        """Plain JSON-ready form."""
        return {"level": self.level, "text": self.text}


def read_test(
    result: Counterfactual,
    units: Units,
    check: Verification,
    session: BaseSession,
    *,
    background: Background | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    budget: int | None = None,
    terms: BoundConstraints | None = None,
) -> tuple[AsRead | None, str]:
    """How true what a sentence names is as it is read, and a remark where that was not tested.

    Tried in the reading of any pairs of the places; if that is not true and there is a background,
    of pairs typical of the class that the sentence leads to, then of those distinctive of it. The
    first that is true is given, else the outcome for any pairs.

    Parameters
    ----------
    result, units, check : what was found, what could be named, what is named and verified.
    session : the way to the oracle.
    background : graphs to know from what is typical.
    draws : redraws of a reading; 0 for no test.
    seed : the same seed gives the same redraws.
    budget : the largest number of questions.
    terms : the user's constraints: only pairs that may change are drawn.
    """
    if not check.verified:
        return None, ""
    if units.language == "pairs":
        return AsRead("pairs", None, "any", 0, 0), ""
    if not draws:
        return None, "Whether it is true as read was not tested (draws=0)."
    places = Places(result.original, None if units.hubs else units.taxonomy, terms)
    claim = claim_of(check, units)
    problem = Problem(
        result.original,
        result.label_before,
        check.label,  # the class that the sentence gives
        background=background,
        label_background=lambda: [] if background is None else background.labels(session),
    )
    probe = Probe(problem, session, keep=False)
    before, first = session.calls, None
    for reading in READINGS:
        redraw = Redraw(places, reading)
        if reading != "any":
            if background is None or not len(background):
                break
            try:
                redraw = Redraw(places, reading, *problem.frequencies("describe"))
            except StopSearch:  # no graph of the class that the sentence gives
                break
        needed = 1 if redraw.fixed(claim) else draws
        if budget is not None and session.calls - before + needed > budget:
            return first, (
                f"{'Not' if first is None else 'Not fully'} tested as read: of the budget of "
                f"questions {budget - session.calls + before:,} were left, and a test takes "
                f"{needed:,}."
            )
        try:
            test = redraw.test(claim, probe, fresh_rng(seed, reading), draws=draws)
        except TooFewError:  # there are fewer such pairs than the sentence says
            continue
        except BudgetSpentError:
            return first, "Not fully tested as read: the session's budget of questions was spent."
        if test.true:
            return test, ""
        first = first or test
    return first, ""


def claim_of(check: Verification, units: Units) -> Claim:
    """What a sentence says: places and amounts."""
    position = {name: i for i, name in enumerate(units.taxonomy.regions)}
    return tuple(Amount(unit_of(p, position), p.added, p.removed) for p in check.named)


def unit_of(pair: NamedPair, position: Mapping[str, int]) -> Unit:
    """What is named, by the positions of its regions."""
    a = position[pair.region_a]
    if pair.region_b is None:
        return (a, None)
    b = position[pair.region_b]
    return (a, b) if a <= b else (b, a)


def made_for(result: Counterfactual, units: Units) -> bool:
    """Whether the result carries a test of the sentence that names all these units."""
    test = result.as_read
    return (
        test is not None
        and test.language == units.language
        and test.regions == (units.taxonomy.name if units.language == "regions" else None)
        and (test.language != "regions" or _same_cells(result, units))
    )


def _same_cells(result: Counterfactual, units: Units) -> bool:
    """Whether the cells that the search named are those of these regions: a name is only a name."""
    at, names = units.taxonomy.index, units.taxonomy.regions
    for step in result.trace:
        cells = {tuple(sorted((at[u], at[v]))) for u, v in step.toggled}
        spoken = {names[a] if a == b else f"{names[a]} – {names[b]}" for a, b in cells}
        if spoken != {step.name}:
            return False
    return True


def judged_better(evaluation: Any) -> bool | None:
    """Whether an evaluation finds the classifier better than chance; None if that is not known.

    It is not without an evaluation, nor with one on graphs that the classifier may have seen.
    """
    if evaluation is None or known(evaluation, "level") == "seen":
        return None
    better = known(evaluation, "better_than_chance")
    return known(evaluation, "level") == "better" if better is None else bool(better)


def badge_of(check: Verification, as_read: AsRead | None, evaluation: Any) -> Badge:
    """The weakest link of classifier, test of the sentence, and test of it as read."""
    better = judged_better(evaluation)
    if not check.named:
        return Badge("none", "nothing found")
    if better is False:
        if known(evaluation, "plain_level") == "better":  # so it is the confounds
            return Badge("none", "the classifier does not beat its confounds")
        level = known(evaluation, "level")
        how = "not clearly better than chance" if level == "unclear" else "at chance"
        return Badge("none", f"the classifier is {how}")
    if not check.verified:
        return Badge("none", "not tested")
    true = as_read is not None and as_read.true
    what = "true as read" if true else "holds for the listed connections"
    if better is None:
        judged = "not judged" if evaluation is None else "judged on graphs it may have seen"
        return Badge("none", f"{what}; classifier {judged}")
    return Badge("true" if true else "listed", what)


def known(thing: Any, name: str) -> Any:
    """A field of an evaluation, or of its dictionary; None if there is none."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
