"""Stability: does a claim also hold for the same classifier trained again on resampled data?

Every refit that gives the original its label is queried with the same redraws of the claim. The
redraws depend on the seed only, never on a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Counterfactual, Label
from denseflip.errors import InvalidParameterError, MissingInputError, counted
from denseflip.graph import Graph, Nodes
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.protocol import Answer, Oracle, about_graph
from denseflip.oracles.session import Session
from denseflip.result_scores import Stability
from denseflip.search.claims.claim import Claim
from denseflip.search.claims.elsewhere import TooFewError
from denseflip.search.claims.redraw import DRAWS, Redraw, claim_of, fresh_rng, redraw_of
from denseflip.search.claims.sides import Sides
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.constraints.constrained_session import ConstrainedSession

_STREAM = 2  # makes these redraws differ from those of the test as read
FEWEST_REFITS = 2  # a search needs one half for itself, and the other for its verdict


def as_refits(refits: Iterable[Any] | None) -> tuple[Oracle, ...]:
    """Refits as oracles; an empty tuple for None.

    Raises
    ------
    InvalidParameterError
        If it is not a list of classifiers.
    """
    if refits is None:
        return ()
    if isinstance(refits, (str, bytes, Mapping)) or not isinstance(refits, Iterable):
        msg = (
            "refits must be a list of classifiers, for example of make_refits(dataset, oracle); "
            f"got {type(refits).__name__}."
        )
        raise InvalidParameterError(msg, parameter="refits")
    return tuple(coerce_oracle(one) for one in refits)


def check_refits(refits: Iterable[Any] | None, level: float | None) -> tuple[Oracle, ...]:
    """Refits as oracles; raises if a level is requested and there are too few of them."""
    oracles = as_refits(refits)
    if level is not None and len(oracles) < FEWEST_REFITS:
        given = counted(len(oracles), "refit is", "refits are")
        msg = (
            f"A stable answer needs the classifier trained again at least {FEWEST_REFITS} times; "
            f"{given} given. Pass refits=make_refits(dataset, oracle), or a list of such "
            "classifiers."
        )
        raise MissingInputError(msg, parameter="refits")
    return oracles


class Committee:
    """Refits that are queried together about changed versions of one graph.

    Parameters
    ----------
    refits : classifiers of the same kind as the one that is explained.
    original, label : the graph, and the label that the classifier gives it. Refits that give it
        another label are left out.
    constraints : graphs that these forbid count as failures.
    confidence : whether to use the probabilities of refits that have them, as a guide.
    """

    def __init__(
        self,
        refits: Sequence[Oracle],
        original: Graph,
        label: Label,
        constraints: BoundConstraints | None = None,
        *,
        confidence: bool = False,
    ) -> None:
        self.refits, self.original, self.label = tuple(refits), original, label
        self._constraints, self._confidence = constraints, confidence

    @cached_property
    def sessions(self) -> tuple[BaseSession, ...]:
        """One session for each refit that gives the original its label."""
        kept: list[BaseSession] = []
        for refit in self.refits:
            oracle = about_graph(refit, self.original)
            has = hasattr(oracle, "predict_proba") and getattr(oracle, "classes", None) is not None
            session = Session(oracle, confidence=self._confidence and has)
            if session.query(self.original).label == self.label:
                kept.append(
                    session
                    if self._constraints is None
                    else ConstrainedSession(session, Answer(self.label), self._constraints)
                )
        return tuple(kept)

    @property
    def has_confidence(self) -> bool:
        """Whether all refits give probabilities."""
        return all(session.has_confidence for session in self.sessions)

    @property
    def calls(self) -> int:
        """The number of queries of all refits."""
        return sum(session.calls for session in self.sessions)

    def flips(self, graphs: Sequence[Graph], target: Label) -> npt.NDArray[np.bool_]:
        """Whether each refit (row) gives each graph (column) the target label."""
        rows = [
            [answer.label == target for answer in session.query_all(graphs)]
            for session in self.sessions
        ]
        return np.array(rows, dtype=bool).reshape(len(rows), len(graphs))

    def leanings(self, graphs: Sequence[Graph], target: Label) -> npt.NDArray[np.float64]:
        """How strongly each refit (row) is for the target label of each graph (column).

        The probability of the label; 1 or 0 if a refit has none.
        """
        rows = []
        for session in self.sessions:
            answers = session.query_all(graphs)
            rows.append(
                [
                    float(one.label == target)
                    if one.probabilities is None
                    else one.probabilities.get(target, 0.0)
                    for one in answers
                ]
            )
        return np.array(rows, dtype=float).reshape(len(rows), len(graphs))


def measure(
    committee: Committee,
    redraw: Redraw | None,
    claim: Claim,
    rng: np.random.Generator,
    *,
    changed: Graph | None = None,
    draws: int = DRAWS,
    wanted: float | None = None,
    held_out: bool = False,
) -> Stability:
    """The stability of a claim, with redraws from a generator.

    Parameters
    ----------
    committee : the refits.
    redraw : draws the pairs; None for a list of pairs, for which ``changed`` is the only redraw.
    claim : the claim.
    rng : the generator of the redraws.
    changed : the original with the pairs of a list changed.
    draws, wanted, held_out : see `Stability`.
    """
    original = committee.original
    if redraw is None:
        assert changed is not None
        graphs = [changed]
    else:
        try:
            n = 1 if redraw.fixed(claim.amounts) else draws
            graphs = [original.toggle_codes(redraw.draw(claim.amounts, rng)) for _ in range(n)]
        except TooFewError:
            graphs = []
    flips = committee.flips(graphs, claim.label)
    shares = tuple(float(row.mean()) if len(graphs) else 0.0 for row in flips)
    return Stability(len(committee.refits), shares, len(graphs), wanted, held_out)


def claim_stability(
    result: Counterfactual,
    claim: Claim,
    session: BaseSession,
    refits: Iterable[Any] | None,
    background: Background | None = None,
    constraints: BoundConstraints | None = None,
    seed: int = 0,
    *,
    draws: int = DRAWS,
) -> Stability | None:
    """For how many refits a claim holds; None if it cannot be redrawn.

    Parameters
    ----------
    result, claim : the result, and the claim about it.
    session : the session with the classifier that was explained.
    refits : the classifier trained again, see `make_refits`. Without any, nothing is known.
    background : the data set; readings other than ``"any"``, and balance, need it.
    constraints : redraws satisfy them.
    seed, draws : the same seed gives the same redraws, whatever the refits.
    """
    oracles = as_refits(refits)
    if not oracles or not result.found or not claim.amounts:
        return Stability(0, (), 0)
    redraw = None
    if claim.language != "pairs":
        sides = None
        if background is not None and len(background):
            before = result.label_before
            sides = Sides.of_background(background, session, before, claim.label)
        if sides is None and (claim.reading != "any" or claim.balanced):
            return None
        redraw = redraw_of(result, claim, sides, constraints)
    committee = Committee(oracles, result.original, result.label_before, constraints)
    rng = fresh_rng(seed, claim.reading, _STREAM)
    return measure(committee, redraw, claim, rng, changed=result.counterfactual, draws=draws)


def with_stability(
    result: Counterfactual,
    refits: Sequence[Oracle],
    session: BaseSession,
    nodes: Nodes | None,
    background: Background | None,
    constraints: BoundConstraints | None,
    *,
    wanted: float | None,
) -> Counterfactual:
    """A result with the stability of its claim, and with a note if the level was not reached.

    A result whose search did not look for a claim has none; `describe` tests its sentence.

    Parameters
    ----------
    result, refits, session : the result, the refits, and the session with the classifier.
    nodes : the node table.
    background, constraints : as in `claim_stability`.
    wanted : the requested level, if any.
    """
    if result.stability is None and result.as_read is not None:
        claim = claim_of(result, session, nodes=nodes)
        if wanted is not None:  # the search may have used the others
            refits = refits[1::2]
        seen = claim_stability(result, claim, session, refits, background, constraints, result.seed)
        if seen is not None:
            seen = replace(seen, wanted=wanted, held_out=wanted is not None)
        result = replace(result, stability=seen)
    found = result.stability
    if found is None or found.reached or wanted is None:
        return result
    share = "is not known" if found.share is None else f"is {found.share:.2f}"
    note = (
        f"Out of reach: a share of {wanted:g} of the redraws should flip classifiers trained again "
        f"on resampled data; the share of the best answer found {share}."
    )
    return replace(result, notes=(*result.notes, note))
