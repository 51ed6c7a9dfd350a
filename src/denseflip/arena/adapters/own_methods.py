"""Any method of denseflip, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from denseflip.arena.problem import Explainer, Meter, Problem
from denseflip.counterfactual import Counterfactual, Label
from denseflip.errors import UnknownNameError
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession
from denseflip.request import Request
from denseflip.search.core.problem import GRADIENT
from denseflip.search.explain import explain
from denseflip.search.methods.registry import make_method


class _Counted(Background):
    """The graphs of the data set; their labels are counted separately."""

    meter: Meter

    def labels(self, session: BaseSession) -> list[Label]:
        """The labels, queried once."""
        with self.meter.during("background"):
            return super().labels(session)


#: What may follow the name of a method and ``@`` → options of the request.
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "gradients": {"information": "gradients"},
    "any-range": {"in_range": "ignore"},
    "edits": {"objective": "edits"},
}


class OwnMethod(Explainer):
    """A method of denseflip, with batches of one. Its session keeps the budget.

    Parameters
    ----------
    text : the name of a method. ``@gradients`` lets it use gradients instead of labels only,
        ``@edits`` lets `best` and `auto` look for few edits, and ``@any-range`` for sentences
        that need not stay in the range of real graphs.
    """

    stochastic = True  # tie-breaks and refinements use the seed

    def __init__(self, text: str) -> None:
        name, *options = text.split("@")
        method = make_method(name)
        self.name = "@".join((method.name, *options))
        self.options: dict[str, Any] = {"method": method.name, "information": "labels"}
        for option in options:
            if option not in OPTIONS:
                raise UnknownNameError("option of a method of denseflip", option, OPTIONS)
            self.options |= OPTIONS[option]
        if GRADIENT in method.needs:
            self.options["information"] = "gradients"
        if self.options["information"] == "gradients":
            self.track, self.kinds = "gradients", ("linear", "gcn", "gin")

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
            request=Request(**self.options, seed=problem.seed, budget=problem.left),
        )
