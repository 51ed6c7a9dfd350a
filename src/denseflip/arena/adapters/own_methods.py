"""Any method of denseflip, by its name."""

from __future__ import annotations

from denseflip.arena.problem import Meter, Peer, Problem
from denseflip.counterfactual import Counterfactual, Label
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession
from denseflip.request import Request
from denseflip.search.explain import explain
from denseflip.search.methods.registry import make_method


class _Counted(Background):
    """The graphs of the data set; their labels are counted separately."""

    meter: Meter

    def labels(self, session: BaseSession) -> list[Label]:
        """The labels, queried once."""
        with self.meter.during("background"):
            return super().labels(session)


class OwnMethod(Peer):
    """A method of denseflip, with batches of one. Its session keeps the budget."""

    stochastic = True  # tie-breaks and refinements use the seed

    def __init__(self, name: str) -> None:
        self.name = make_method(name).name

    def explain(self, problem: Problem) -> Counterfactual:
        """Explain with the data set as background; its labels are counted separately."""
        dataset = problem.dataset
        background = _Counted(problem.graphs, dataset.labels, dataset.class_names)
        background.meter = problem.meter
        problem.meter.strict = False  # a search may evaluate a graph ahead; it is counted
        return explain(
            problem.graph,
            problem.oracle,
            nodes=problem.nodes,
            background=background,
            batch=1,
            request=Request(method=self.name, seed=problem.seed, budget=problem.left),
        )
