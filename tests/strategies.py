"""The one home of the Hypothesis strategies."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from hypothesis import strategies as st

from denseflip.graph import Graph, Nodes, Pair


@st.composite
def graphs(draw: st.DrawFn, min_nodes: int = 0, max_nodes: int = 9) -> Graph:
    """Any graph on a few nodes, all densities alike."""
    n = draw(st.integers(min_nodes, max_nodes))
    pairs = list(combinations(range(n), 2))
    mask = draw(st.integers(0, 2 ** len(pairs) - 1)) if pairs else 0
    return Graph.from_edges(n, [p for i, p in enumerate(pairs) if mask >> i & 1])


@st.composite
def graphs_with_toggles(draw: st.DrawFn) -> tuple[Graph, list[Pair]]:
    """A graph and some pairs of its nodes, joined or not."""
    g = draw(graphs(min_nodes=2))
    pairs = list(combinations(range(g.n_nodes), 2))
    return g, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=len(pairs)))


@dataclass(frozen=True)
class HashOracle:
    """A deterministic oracle without any structure: the worst case for a search.

    ``rare`` is how seldom a graph gets another label than 0; labels are 0 … ``n_labels`` - 1.
    """

    seed: int = 0
    rare: int = 4
    n_labels: int = 2

    def predict(self, graphs: Sequence[Graph]) -> list[int]:
        return [self.label(g) for g in graphs]

    def label(self, g: Graph) -> int:
        value = zlib.crc32(g.digest, self.seed)
        if value % self.rare:
            return 0
        return 1 + value // self.rare % (self.n_labels - 1)


@dataclass(frozen=True)
class WeightOracle:
    """An oracle with structure: the weighted number of edges against a threshold."""

    seed: int = 0
    threshold: int = 10

    def predict(self, graphs: Sequence[Graph]) -> list[str]:
        return ["many" if self.weight(g) > self.threshold else "few" for g in graphs]

    def weight(self, g: Graph) -> int:
        return sum((7 * u + 13 * v + self.seed) % 5 for u, v in g.edges())


def oracles() -> st.SearchStrategy[HashOracle | WeightOracle]:
    """Oracles with and without structure."""
    seeds = st.integers(0, 1000)
    return st.one_of(
        st.builds(HashOracle, seeds, st.integers(2, 12), st.integers(2, 4)),
        st.builds(WeightOracle, seeds, st.integers(0, 40)),
    )


def node_tables(n_nodes: int) -> st.SearchStrategy[Nodes]:
    """Node tables with two taxonomies of up to three regions."""
    labels = st.tuples(*[st.sampled_from(("A", "B", "C"))] * n_nodes)
    names = tuple(f"n{i}" for i in range(n_nodes))
    return st.builds(lambda a, b: Nodes(names, {"first": a, "second": b}), labels, labels)


@st.composite
def problems(
    draw: st.DrawFn, min_nodes: int = 2, max_nodes: int = 7
) -> tuple[Graph, HashOracle | WeightOracle, Nodes, list[Graph]]:
    """A graph, an oracle, a node table and a background over the same nodes."""
    g = draw(graphs(min_nodes, max_nodes))
    oracle = draw(oracles())
    nodes = draw(node_tables(g.n_nodes))
    background = draw(st.lists(graphs(g.n_nodes, g.n_nodes), min_size=2, max_size=6))
    # Nearly always a graph of another class among them, or many methods would have no say.
    other = (h for h in _walk(g) if oracle.predict([h]) != oracle.predict([g]))
    return g, oracle, nodes, background + list(islice(other, 1))


def _walk(g: Graph) -> Iterator[Graph]:
    """The graph with one pair after the other flipped, until all are."""
    for pair in combinations(range(g.n_nodes), 2):
        g = g.toggle([pair])
        yield g
