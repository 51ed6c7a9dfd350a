"""Requirements on an answer beside the flip: robust, plausible, one of several."""

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
    """What an answer must satisfy beside the flip.

    Attributes
    ----------
    noise : the noise that a robust answer has to survive, or None.
    plausible : whether to exchange edits for more plausible ones.
    most : the upper bound on `Plausibility.implausible`, or None.
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
        """Whether an answer is changed after it was found."""
        return self.noise is not None or self.plausible or self.most is not None

    def fulfil(
        self,
        candidate: Candidate,
        method: Method,
        seed: int,
        came_from: Graph,
        regions: str | None,
    ) -> dict[str, Any]:
        """Make a counterfactual satisfy the requirements; return its measurements."""
        out: dict[str, Any] = {}
        if self.noise is not None:
            out["robustness"] = make_robust(candidate, method, self.noise, seed, came_from, regions)
        if self.plausible or self.most is not None:
            before = candidate.graph
            rng = np.random.default_rng((seed, 3))
            test = None
            if self.noise is not None:
                test = PerturbationTest(candidate.problem, candidate.session, self.noise, rng)
            keep_robust = test is not None and out["robustness"].reached
            accept = _AcceptanceTest(candidate, test if keep_robust else None)
            out["plausibility"] = make_plausible(
                candidate, accept, swap=self.plausible, most=self.most
            )
            if test is not None and candidate.graph != before:
                out["robustness"] = _measure_again(candidate, test, out["robustness"])
        return out


def _measure_again(candidate: Candidate, test: PerturbationTest, before: Robustness) -> Robustness:
    """The robustness of an answer that was made more plausible: it is another graph now."""
    note = candidate.problem.note
    try:
        seen = test.measure(candidate.graph)
    except BudgetSpentError:
        note(
            "The budget was spent before the robustness of the more plausible answer was measured."
        )
        return test.not_measured
    if before.share is not None and (before.reached != seen.reached or not seen.reached):
        note(
            f"The more plausible answer survives {seen.flips} of {seen.draws} perturbations; the "
            f"answer before survived {before.flips} of {before.draws}."
        )
    return seen


class _AcceptanceTest:
    """Whether a graph is acceptable as an answer: allowed, flipped and, if required, robust."""

    def __init__(self, candidate: Candidate, test: PerturbationTest | None) -> None:
        self.problem, self.session, self.test = candidate.problem, candidate.session, test

    def __call__(self, graph: Graph) -> Any:
        """Its label if it is acceptable, else None."""
        bound = self.problem.constraints
        if bound is not None and (bound.too_large(graph) or bound.forbids(graph)):
            return None
        label = self.session.query(graph).label
        if not self.problem.accepts(label):
            return None
        if self.test is not None and not self.test.quick_test(graph)[0]:
            return None
        return label
