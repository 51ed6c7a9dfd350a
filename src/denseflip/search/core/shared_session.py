"""`SharedSession`: a session for several searches that share answers and a part of the budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from denseflip.graph import Graph
from denseflip.oracles.base_session import BaseSession, BudgetSpentError, SessionView
from denseflip.oracles.protocol import Answer


class SharedSession(SessionView):
    """A view of a session in which no graph is counted twice.

    Budget, cache and counts are those of the session it was made of. A graph that was queried
    before is answered from the cache and not counted.

    Parameters
    ----------
    session : the session whose answers are shared.
    limit : the largest number of new queries through this view; None for all that are left.
    """

    def __init__(self, session: BaseSession, limit: int | None = None) -> None:
        end = inf if limit is None else session.calls + limit
        if isinstance(session, SharedSession):  # one level is enough, and it is quicker
            end = min(end, session._end)
            session = session._session
        super().__init__(session)
        self._end: float = end

    @property
    def remaining(self) -> float:
        """Number of queries left in this part of the budget."""
        session = self._session
        return min(session.remaining, self._end - session.calls)

    def query(self, graph: Graph) -> Answer:
        """Query the oracle about a graph; counts as one call if the graph was never queried."""
        session = self._session
        if session.was_queried(graph):
            return session.recall(graph)
        if self.remaining < 1:
            raise BudgetSpentError
        return session.query(graph)

    def query_all(self, graphs: Iterable[Graph]) -> list[Answer]:
        """Query several graphs; those that were never queried are evaluated together."""
        graphs = list(graphs)
        session = self._session
        new = {graph.key: graph for graph in graphs if not session.was_queried(graph)}
        if new:
            super().query_all(new.values())
        return [session.recall(graph) for graph in graphs]

    def without_constraints(self) -> BaseSession:
        """The same part of the budget with all graphs permitted."""
        session = SharedSession(self._session.without_constraints())
        session._end = self._end
        return session

    def charge(self, n: int) -> None:
        """Count ``n`` calls without a query; if this part does not cover all, count none."""
        self._check_covers(n)
        super().charge(n)

    def charge_background(self, graphs: Sequence[Graph]) -> None:
        """Count one call for each background graph."""
        self._check_covers(len(graphs))
        super().charge_background(graphs)

    def _check_covers(self, n: int) -> None:
        if n > self.remaining:
            raise BudgetSpentError
