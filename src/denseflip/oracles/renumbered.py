"""Graphs with other node numbers, and an oracle for them: answers must not depend on numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.graph import Graph
from denseflip.oracles.protocol import Oracle


class RenumberedOracle:
    """An oracle for graphs whose nodes have other numbers: node v was ``order[v]``."""

    def __init__(self, oracle: Oracle, order: npt.NDArray[np.int64]) -> None:
        self.oracle, self.order = oracle, order
        self.classes = getattr(oracle, "classes", None)

    def predict(self, graphs: Sequence[Graph]) -> Any:
        """The labels."""
        return self.oracle.predict([renumber(graph, self.order) for graph in graphs])

    def __getattr__(self, name: str) -> Any:
        if name != "predict_proba":
            raise AttributeError(name)
        asked = self.oracle.predict_proba  # type: ignore[attr-defined]
        return lambda graphs: asked([renumber(graph, self.order) for graph in graphs])


def renumber(graph: Graph, to: npt.NDArray[np.int64]) -> Graph:
    """The graph with node v renamed ``to[v]``."""
    n = graph.n_nodes
    u, v = to[graph.codes // n], to[graph.codes % n]
    return Graph(n, np.sort(np.minimum(u, v) * n + np.maximum(u, v)))
