"""An order of nodes and pairs that does not depend on how the nodes are numbered.

If ties were broken by node number, the order of nodes in a file would decide what a sentence says.
Here they are broken by structure: by a node's regions and neighbourhood (colour refinement), then
by its name. Only nodes that neither distinguishes are ordered by number.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from denseflip.graph.core import Graph
from denseflip.graph.nodes import Nodes
from denseflip.graph.pairs import Codes, mixed

Ints = npt.NDArray[np.int64]
Colours = npt.NDArray[np.uint64]
_ROUNDS = 16  # most rounds of refinement; brain graphs need two or three


def node_colours(graph: Graph, nodes: Nodes | None = None) -> Colours:
    """A colour for every node, from its regions and neighbourhood (colour refinement).

    >>> len(set(node_colours(Graph.from_edges(4, [(0, 1), (1, 2), (2, 3)])).tolist()))
    2
    """
    n = graph.n_nodes
    colours = np.zeros(n, dtype=np.uint64)
    if nodes is not None:
        for taxonomy, labels in nodes.regions.items():
            known = {label: _hash(f"{taxonomy}\n{label}") for label in set(labels)}
            colours = mixed(colours + np.array([known[x] for x in labels], dtype=np.uint64))
    u, v = np.divmod(graph.codes, max(n, 1))
    distinct = -1
    for _ in range(_ROUNDS):
        found = len(np.unique(colours))
        if found in (distinct, n):
            break
        distinct = found
        # Sums wrap around, so they do not depend on the order of the neighbours.
        near = np.zeros(n, dtype=np.uint64)
        around = mixed(colours)
        np.add.at(near, u, around[v])
        np.add.at(near, v, around[u])
        colours = mixed(colours * np.uint64(3) + mixed(near))
    return colours


def node_places(graph: Graph, nodes: Nodes | None = None) -> Ints:
    """The rank of every node in an order that does not depend on the node numbers.

    By colour, then by name; nodes that are equal in both are ordered by number.
    """
    n = graph.n_nodes
    names = np.zeros(n, dtype=np.int64)
    if nodes is not None:
        names[sorted(range(n), key=nodes.names.__getitem__)] = np.arange(n)
    places = np.empty(n, dtype=np.int64)
    places[np.lexsort((np.arange(n), names, node_colours(graph, nodes)))] = np.arange(n)
    return places


def pair_places(codes: Codes, places: Ints) -> Codes:
    """The codes of pairs if nodes are numbered by rank; use them as sort keys."""
    n = max(len(places), 1)
    u, v = np.divmod(codes, n)
    a, b = places[u], places[v]
    out: Codes = np.minimum(a, b) * n + np.maximum(a, b)
    return out


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
