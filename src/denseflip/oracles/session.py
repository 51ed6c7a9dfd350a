"""One search's dealings with its oracle: counting, cache, budget, checks."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from denseflip.errors import DenseflipError, InvalidParameterError, OracleError
from denseflip.graph import Graph
from denseflip.oracles.protocol import Label, Oracle, clean_labels


class BudgetSpentError(Exception):
    """Signals, inside a search, that no further question may be asked. Never reaches a user."""


class Session:
    """Ask an oracle on behalf of one search.

    `ask` is a question of the one-by-one walk and counts, answered from the cache or not, so that
    the number of calls depends on nothing but the method. `prefetch` looks ahead: it evaluates
    several graphs in one batch and counts nothing.

    Parameters
    ----------
    oracle : the black box.
    budget : how many questions may be counted; None for no limit.
    time_limit : seconds after which no further question is asked; None for no limit.
    """

    def __init__(
        self, oracle: Oracle, *, budget: int | None = None, time_limit: float | None = None
    ) -> None:
        if budget is not None and (isinstance(budget, bool) or int(budget) != budget or budget < 1):
            msg = f"budget must be a whole number of questions, at least 1; got {budget!r}."
            raise InvalidParameterError(msg)
        if time_limit is not None and not time_limit > 0:
            msg = f"time_limit must be a positive number of seconds; got {time_limit!r}."
            raise InvalidParameterError(msg)
        self._oracle = oracle
        self._budget = budget
        self._deadline = None if time_limit is None else time.monotonic() + time_limit
        self._answers: dict[bytes, Label] = {}
        self._counted: set[bytes] = set()
        self.calls = 0
        self.background_calls = 0
        self.evaluations = 0

    @property
    def distinct(self) -> int:
        """How many different graphs the counted questions were about."""
        return len(self._counted)

    @property
    def remaining(self) -> float:
        """Questions left in the budget (infinite without one)."""
        return math.inf if self._budget is None else self._budget - self.calls

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self._deadline is not None and time.monotonic() > self._deadline

    def ask(self, graph: Graph) -> Label:
        """The graph's label, as one counted question.

        Raises
        ------
        BudgetSpentError
            If the budget or the time is spent.
        """
        self.charge(1)
        self._counted.add(graph.digest)
        return self.peek(graph)

    def charge(self, n: int) -> None:
        """Count ``n`` questions without asking anything (answers known from elsewhere)."""
        if n > self.remaining or self.out_of_time:
            raise BudgetSpentError
        self.calls += n

    def peek(self, graph: Graph) -> Label:
        """The graph's label, uncounted."""
        digest = graph.digest
        if digest not in self._answers:
            self.prefetch([graph])
        return self._answers[digest]

    def prefetch(self, graphs: Sequence[Graph]) -> None:
        """Evaluate those graphs that are not in the cache, in one batch."""
        new = {g.digest: g for g in graphs if g.digest not in self._answers}
        if new:
            self._answers.update(zip(new, self._evaluate(list(new.values())), strict=True))

    def label_background(self, graphs: Sequence[Graph]) -> list[Label]:
        """Labels of background graphs, counted apart from the search."""
        self.prefetch(graphs)
        self.background_calls += len(graphs)
        return [self._answers[g.digest] for g in graphs]

    def confirm(self, graphs: Sequence[Graph]) -> None:
        """Ask again, past the cache, and raise if the oracle has changed its mind."""
        for graph, again in zip(graphs, self._evaluate(graphs), strict=True):
            first = self._answers.get(graph.digest, again)
            if again != first:
                msg = (
                    f"The oracle changed its mind: it labelled the same graph {first!r} at first "
                    f"and {again!r} when asked again. A counterfactual of an oracle that is not "
                    "deterministic means nothing: fix its seed, or switch off dropout and the like."
                )
                raise OracleError(msg)

    def _evaluate(self, graphs: Sequence[Graph]) -> list[Label]:
        self.evaluations += len(graphs)
        try:
            answers: Any = self._oracle.predict(graphs)
        except DenseflipError:
            raise
        except Exception as error:
            first = graphs[0]
            msg = (
                f"The oracle raised {type(error).__name__}: {error} (asked about {len(graphs)} "
                f"graph(s) with {first.n_nodes} nodes; the first has {first.n_edges} edges)."
            )
            raise OracleError(msg) from error
        return clean_labels(answers, len(graphs))
