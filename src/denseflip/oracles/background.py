"""`Background`: the graphs of a data set and what an oracle says of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from denseflip.counterfactual import Label
from denseflip.errors import InvalidGraphError
from denseflip.graph import Codes, Graph
from denseflip.oracles.adapt import CallableOracle
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import Session


class Background:
    """Graphs over one node set that a search may look at.

    Keep one `Background` for all the graphs you explain: the oracle is asked about each of its
    graphs once, not once per explanation.
    """

    def __init__(self, graphs: Iterable[Graph]) -> None:
        if not isinstance(graphs, Iterable):
            msg = f"background must be a sequence of graphs; got {type(graphs).__name__}."
            raise InvalidGraphError(msg)
        self.graphs: tuple[Graph, ...] = tuple(graphs)
        for i, g in enumerate(self.graphs):
            if not isinstance(g, Graph):
                msg = f"background: entry {i} must be a Graph; got {type(g).__name__}."
                raise InvalidGraphError(msg)
            if g.n_nodes != self.graphs[0].n_nodes:
                msg = (
                    f"background: graph {i} has {g.n_nodes} nodes, graph 0 has "
                    f"{self.graphs[0].n_nodes}. All must share one node set."
                )
                raise InvalidGraphError(msg)
        self._known: tuple[Oracle, list[Label]] | None = None

    @classmethod
    def of(cls, source: Any) -> Background:
        """A background as it is; a data set's or a sequence's graphs wrapped."""
        if isinstance(source, Background):
            return source
        return cls(getattr(source, "graphs", source))

    def __len__(self) -> int:
        return len(self.graphs)

    def labels(self, oracle: Oracle, session: Session) -> list[Label]:
        """The oracle's label of every graph, evaluated once per oracle."""
        if self._known is None or not _same(self._known[0], oracle):
            self._known = (oracle, session.label_background(self.graphs))
        else:
            session.remember(self.graphs, self._known[1])
        return self._known[1]


def _same(a: Oracle, b: Oracle) -> bool:
    # A bare function is wrapped anew for every explanation; it is the function that counts.
    return a is b or (isinstance(a, CallableOracle) and a == b)


def pair_counts(graphs: Iterable[Graph]) -> tuple[Codes, Codes]:
    """Pairs joined in at least one graph (sorted codes), and how many graphs join them."""
    codes = [g.codes for g in graphs]
    if not codes:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    return np.unique(np.concatenate(codes), return_counts=True)
