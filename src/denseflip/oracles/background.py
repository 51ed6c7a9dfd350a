"""`Background`: the graphs of a data set and what an oracle says of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidGraphError
from denseflip.graph import Codes, Graph
from denseflip.oracles.protocol import Label, Oracle
from denseflip.oracles.session import Session


class Background:
    """Graphs over one node set that a search may look at.

    Keep one `Background` for all the graphs you explain: the oracle is asked about each of its
    graphs once, not once per explanation.
    """

    def __init__(self, graphs: Iterable[Graph]) -> None:
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
        if self._known is None or self._known[0] is not oracle:
            self._known = (oracle, session.label_background(self.graphs))
        else:
            session.background_calls += len(self.graphs)
        return self._known[1]


def pair_frequencies(graphs: Iterable[Graph]) -> tuple[Codes, npt.NDArray[np.float64]]:
    """Pairs joined in at least one graph (sorted codes), and the share of graphs that join them."""
    graphs = list(graphs)
    if not graphs:
        return np.empty(0, dtype=np.int64), np.empty(0)
    codes, counts = np.unique(np.concatenate([g.codes for g in graphs]), return_counts=True)
    return codes, counts / len(graphs)
