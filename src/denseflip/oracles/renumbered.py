"""Graphs with other node numbers, and an oracle for them: answers must not depend on numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Label
from denseflip.graph import Codes, Graph
from denseflip.graph.pairs import all_pairs
from denseflip.oracles.gradients import PairGradient, clean_gradient
from denseflip.oracles.protocol import Oracle, own_ability


class RenumberedOracle:
    """An oracle for graphs whose nodes have other numbers: node v was ``order[v]``."""

    def __init__(self, oracle: Oracle, order: npt.NDArray[np.int64]) -> None:
        self.oracle, self.order = oracle, order
        self.classes = getattr(oracle, "classes", None)

    def predict(self, graphs: Sequence[Graph]) -> Any:
        """The labels."""
        return self.oracle.predict([renumber(graph, self.order) for graph in graphs])

    @property
    def gradient(self) -> Callable[[Graph, Label], PairGradient]:
        """The gradient with its pairs renumbered; missing if the oracle has none."""
        return partial(self._gradient, own_ability(self.oracle, "gradient"))

    def _gradient(
        self, asked: Callable[[Graph, Label], PairGradient], graph: Graph, label: Label
    ) -> PairGradient:
        found = clean_gradient(asked(renumber(graph, self.order), label), graph)
        n, place = graph.n_nodes, np.argsort(self.order)
        codes = None if found.codes is None else np.sort(_renamed(found.codes, n, place))
        pairs = all_pairs(n) if codes is None else codes
        return replace(found, values=found.at(_renamed(pairs, n, self.order)), codes=codes)

    def __getattr__(self, name: str) -> Any:
        if name != "predict_proba":
            raise AttributeError(name)
        asked = self.oracle.predict_proba  # type: ignore[attr-defined]
        return lambda graphs: asked([renumber(graph, self.order) for graph in graphs])


def renumber(graph: Graph, to: npt.NDArray[np.int64]) -> Graph:
    """The graph with node v renamed ``to[v]``."""
    return Graph(graph.n_nodes, np.sort(_renamed(graph.codes, graph.n_nodes, to)))


def _renamed(codes: Codes, n: int, to: npt.NDArray[np.int64]) -> Codes:
    """The codes of the same pairs, in the same order, with node v renamed ``to[v]``."""
    u, v = to[codes // n], to[codes % n]
    return np.asarray(np.minimum(u, v) * n + np.maximum(u, v), dtype=np.int64)
