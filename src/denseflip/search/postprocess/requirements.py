"""Requirements on an answer beside the flip: robust, plausible, one of several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from denseflip.counterfactual import Label
from denseflip.graph import Graph
from denseflip.oracles.base_session import BudgetSpentError
from denseflip.request import NOISE, Request
from denseflip.result_scores import Robustness
from denseflip.search.core.engine import must_be_in_range
from denseflip.search.core.large_graphs import check_noise
from denseflip.search.core.method import Method
from denseflip.search.core.problem import Walk
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
    def of(cls, request: Request, graph: Graph) -> Requirements:
        """The requirements of a request about a graph."""
        noise = None
        if request.robust is not None:
            noise = Noise(request.robust, NOISE if request.noise is None else request.noise)
            check_noise(graph, noise.noise)
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
        found: Walk,
        in_range: Robustness | None = None,
    ) -> dict[str, Any]:
        """Make a counterfactual satisfy the requirements; return its measurements.

        Parameters
        ----------
        candidate : the counterfactual; moved to one that satisfies them.
        method, seed : the method that found it, and the seed of the search.
        found : where the method ended.
        in_range : the robustness of that answer, if it was made as robust as it can be in range.

        Notes
        -----
        Edits of a sentence that is true as read are exchanged within its places. If it speaks of
        connections typical of the class, or of those that set it apart, none are exchanged: they
        were drawn for that.
        """
        test = found.as_read
        regions = None if test is None else test.regions
        any_pairs = test is None or test.language == "pairs" or test.reading == "any"
        out: dict[str, Any] = {}
        if self.noise is not None:
            if in_range is None:
                out["robustness"] = self._robust(candidate, method, seed, found)
            else:
                out["robustness"] = self._robust_beyond(candidate, method, seed, found, in_range)
        if self.plausible or self.most is not None:
            before = candidate.graph
            rng = np.random.default_rng((seed, 3))
            survives = None
            if self.noise is not None:
                survives = PerturbationTest(candidate.problem, candidate.session, self.noise, rng)
            keep_robust = survives is not None and out["robustness"].reached
            accept = _acceptance_test(candidate, survives if keep_robust else None)
            out["plausibility"] = make_plausible(
                candidate,
                accept,
                swap=self.plausible and any_pairs,
                most=self.most,
                regions=regions,
            )
            if survives is not None and candidate.graph != before:
                out["robustness"] = _measure_again(candidate, survives, out["robustness"])
        return out

    def _robust(self, candidate: Candidate, method: Method, seed: int, found: Walk) -> Robustness:
        assert self.noise is not None
        regions = None if found.as_read is None else found.as_read.regions
        return make_robust(candidate, method, self.noise, seed, found.graph, regions)

    def _robust_beyond(
        self, candidate: Candidate, method: Method, seed: int, found: Walk, seen: Robustness
    ) -> Robustness:
        """Leave the range if no answer in range is robust enough, and if that is allowed."""
        problem, known = candidate.problem, list(candidate.problem.notes)
        share = "was not measured" if seen.share is None else f"is {seen.share:.2f}"
        short = (
            f"No answer in range survives a share of {seen.wanted:g} of the perturbations; that of "
            f"the best one found {share}"
        )
        if seen.reached:
            return seen
        if must_be_in_range(method.search):
            problem.note(f'{short}. To accept an answer out of range, pass in_range="prefer".')
            return seen
        other = Candidate(problem, found, candidate.session)
        beyond = self._robust(other, method, seed, found)
        if beyond.reached:
            candidate.move(other.graph, other.label, "robust")
            problem.note(f"{short}. This answer does, but it may be out of range.")
            return beyond
        problem.notes[:] = known
        problem.note(f"{short}. No answer out of range that does was found either.")
        return seen


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


def _acceptance_test(
    candidate: Candidate, test: PerturbationTest | None
) -> Callable[[Graph], Label | None]:
    """Returns the label of a graph that is allowed, flipped and, if required, robust; else None."""
    problem, session = candidate.problem, candidate.session

    def accept(graph: Graph) -> Label | None:
        bound = problem.constraints
        if bound is not None and (bound.too_large(graph) or bound.forbids(graph)):
            return None
        label = session.query(graph).label
        good = problem.accepts(label) and (test is None or test.quick_test(graph)[0])
        return label if good else None

    return accept
