"""What holds for large graphs by default: a largest number of queries, and how much noise is meant.

A search that changes a few pairs at a time would go on for hours there. The limit is a number of
queries and not a time, so that the same request gives the same answer on every machine.
"""

from __future__ import annotations

from denseflip.errors import InvalidParameterError
from denseflip.graph import Graph
from denseflip.oracles.base_session import BaseSession
from denseflip.request import Request
from denseflip.search.core.problem import Problem

LARGE = 5_000  # nodes
MOST_QUERIES = 5_000


def budget_for(request: Request, graph: Graph) -> int | None:
    """The budget of a request; without budget and time limit, that of a large graph."""
    if request.budget is not None or request.time_limit is not None or graph.n_nodes <= LARGE:
        return request.budget
    return MOST_QUERIES


def note_default_budget(problem: Problem, request: Request, session: BaseSession) -> None:
    """Say so if a search was ended by the budget of a large graph, and what to do."""
    is_default = request.budget is None and budget_for(request, problem.graph) is not None
    if is_default and session.calls >= MOST_QUERIES:
        problem.note(
            f"Stopped after {MOST_QUERIES:,} queries, the default limit for graphs of more than "
            f"{LARGE:,} nodes. Use the method 'auto', or set a larger budget."
        )


def check_noise(graph: Graph, noise: float) -> None:
    """Refuse perturbations of a large sparse graph that leave nothing of it.

    Raises
    ------
    InvalidParameterError
        If each flips more pairs than the graph has edges; the message has a noise that does not.
    """
    flipped = round(noise * graph.n_pairs)
    if graph.n_nodes > LARGE and flipped > max(graph.n_edges, 1):
        usual = max(graph.n_edges, 1) / 100 / graph.n_pairs
        msg = (
            f"noise={noise:g} flips {flipped:,} pairs in each perturbation of a graph with "
            f"{graph.n_edges:,} edges. Pass a smaller noise; noise={usual:.2g} flips as many pairs "
            "as 1 % of the edges."
        )
        raise InvalidParameterError(msg, parameter=("noise", "robust"))
