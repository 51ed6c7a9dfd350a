"""One search's dealings with its oracle: counting, cache, budget, checks."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from denseflip.counterfactual import Label
from denseflip.errors import DenseflipError, InvalidParameterError, OracleError, whole_number
from denseflip.graph import Graph
from denseflip.oracles.protocol import Oracle, check_answers, clean_label, clean_labels


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
        if time_limit is not None and not (isinstance(time_limit, (int, float)) and time_limit > 0):
            msg = f"time_limit must be a positive number of seconds; got {time_limit!r}."
            raise InvalidParameterError(msg)
        self._oracle = oracle
        self._budget = None if budget is None else whole_number("budget", budget, minimum=1)
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
        digest = graph.digest
        self._counted.add(digest)
        label = self._answers.get(digest)
        return self.peek(graph) if label is None else label

    def charge(self, n: int) -> None:
        """Count ``n`` questions without asking anything (answers known from elsewhere)."""
        self.check_time()
        if self._budget is not None and self.calls + n > self._budget:
            raise BudgetSpentError
        self.calls += n

    def check_time(self) -> None:
        """Raise `BudgetSpentError` if the time limit has passed."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise BudgetSpentError

    def peek(self, graph: Graph) -> Label:
        """The graph's label, uncounted."""
        answers, digest = self._answers, graph.digest
        if digest not in answers:
            answers[digest] = clean_labels(self._predict([graph]), 1)[0]
        return answers[digest]

    def prefetch(self, graphs: Sequence[Graph]) -> None:
        """Evaluate those graphs that are not in the cache, in one batch.

        Graphs on which the oracle fails are left out: the error is for the question itself, which
        the walk may never come to.
        """
        new = {digest: g for g in graphs if (digest := g.digest) not in self._answers}
        if len(new) < 2:  # nothing to gain over the question itself
            return
        try:
            answers = self._predict(list(new.values()))
        except DenseflipError:
            return
        for digest, answer in zip(new, check_answers(answers, len(new)), strict=True):
            with suppress(OracleError):
                self._answers[digest] = clean_label(answer)

    def label_background(self, graphs: Sequence[Graph]) -> list[Label]:
        """Labels of background graphs, counted apart from the search."""
        self.prefetch(graphs)
        labels = [self.peek(g) for g in graphs]
        self.background_calls += len(graphs)
        return labels

    def remember(self, graphs: Sequence[Graph], labels: Sequence[Label]) -> None:
        """Take over labels of background graphs that the oracle gave in another session."""
        self._answers.update((g.digest, y) for g, y in zip(graphs, labels, strict=True))
        self.background_calls += len(graphs)

    def charge_background(self, graphs: Sequence[Graph]) -> None:
        """Count a question per background graph as part of the search itself (`dat`)."""
        self.charge(len(graphs))
        self._counted.update(g.digest for g in graphs)

    def confirm(self, graphs: Sequence[Graph]) -> None:
        """Ask again, past the cache, and raise if the oracle has changed its mind."""
        answers = clean_labels(self._predict(graphs), len(graphs))
        for graph, again in zip(graphs, answers, strict=True):
            first = self._answers.get(graph.digest, again)
            if again != first:
                msg = (
                    f"The oracle changed its mind: it labelled the same graph {first!r} at first "
                    f"and {again!r} when asked again. A counterfactual of an oracle that is not "
                    "deterministic means nothing: fix its seed, or switch off dropout and the like."
                )
                raise OracleError(msg)

    def _predict(self, graphs: Sequence[Graph]) -> Any:
        self.evaluations += len(graphs)
        try:
            return self._oracle.predict(graphs)
        except DenseflipError:
            raise
        except Exception as error:
            first = graphs[0]
            msg = (
                f"The oracle raised {type(error).__name__}: {error} (asked about {len(graphs)} "
                f"graph(s) with {first.n_nodes} nodes; the first has {first.n_edges} edges). "
                f"It was given {getattr(self._oracle, 'given', 'a list of denseflip Graphs')}; if "
                "it wants another form, wrap it: as_oracle(function, input=…, batch=…)."
            )
            raise OracleError(msg) from error
