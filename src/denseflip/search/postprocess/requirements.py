"""What is asked of an answer beside the flip: that it is robust, plausible, one of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from denseflip.graph import Graph
from denseflip.oracles.base_session import BudgetSpentError
from denseflip.request import NOISE, Request
from denseflip.result_scores import Robustness
from denseflip.search.core.method import Method
from denseflip.search.core.refinement import Candidate
from denseflip.search.postprocess.plausible import make_plausible
from denseflip.search.postprocess.robust import Noise, PerturbationTest, make_robust


@dataclass(frozen=True)
class Requirements:
    """What `explain` was asked for beside the flip, checked.

    Attributes
    ----------
    noise : what a robust answer has to survive; None if none is asked for.
    plausible : whether edits are exchanged for more plausible ones.
    most : the bound on how implausible the answer may be, if any.
    """

    noise: Noise | None = None
    plausible: bool = False
    most: float | None = None

    @classmethod
    def of(cls, request: Request) -> Requirements:
        """The requirements of a request."""
        noise = None
        if request.robust is not None:
            noise = Noise(request.robust, NOISE if request.noise is None else request.noise)
        return cls(noise, request.plausible, request.max_implausible)

    @property
    def changes(self) -> bool:
        """Whether an answer is worked on after it was found."""
        return self.noise is not None or self.plausible or self.most is not None

    def fulfil(
        self,
        candidate: Candidate,
        method: Method,
        seed: int,
        came_from: Graph,
        regions: str | None,
    ) -> dict[str, Any]:
        """Make a counterfactual what was wished for; gives the figures of the result."""
        out: dict[str, Any] = {}
        if self.noise is not None:
            out["robustness"] = make_robust(candidate, method, self.noise, seed, came_from, regions)
        if self.plausible or self.most is not None:
            before = candidate.graph
            rng = np.random.default_rng((seed, 3))
            shaker = None
            if self.noise is not None:
                shaker = PerturbationTest(candidate.problem, candidate.session, self.noise, rng)
            lasting = shaker is not None and out["robustness"].reached
            holds = _Holds(candidate, shaker if lasting else None)
            out["plausibility"] = make_plausible(
                candidate, holds, swap=self.plausible, most=self.most
            )
            if shaker is not None and candidate.graph != before:
                out["robustness"] = _again(candidate, shaker, out["robustness"])
        return out


def _again(candidate: Candidate, shaker: PerturbationTest, before: Robustness) -> Robustness:
    """The robustness of an answer that was made more plausible: a figure is of one graph only."""
    note = candidate.problem.note
    try:
        seen = shaker.measure(candidate.graph)
    except BudgetSpentError:
        note(
            "The budget was spent before the robustness of the more plausible answer was measured."
        )
        return shaker.unknown
    if before.share is not None and (before.reached != seen.reached or not seen.reached):
        note(
            f"Made more plausible, the answer survives {seen.flips} of {seen.draws} perturbations; "
            f"before that it was {before.flips} of {before.draws}."
        )
    return seen


class _Holds:
    """Whether a graph is an answer that will do: allowed, flipped and, if asked for, lasting."""

    def __init__(self, candidate: Candidate, shaker: PerturbationTest | None) -> None:
        self.problem, self.session, self.shaker = candidate.problem, candidate.session, shaker

    def __call__(self, graph: Graph) -> Any:
        """Its label if it is, else None."""
        terms = self.problem.terms
        if terms is not None and (terms.too_large(graph) or terms.forbids(graph)):
            return None
        label = self.session.query(graph).label
        if not self.problem.accepts(label):
            return None
        if self.shaker is not None and not self.shaker.look(graph)[0]:
            return None
        return label
