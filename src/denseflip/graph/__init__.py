"""Graphs over a fixed node set: values, node table, conversions and counting kernels."""

from denseflip.graph.core import Graph
from denseflip.graph.edits import Edits
from denseflip.graph.nodes import Nodes, Taxonomy
from denseflip.graph.pairs import Codes, Pair

__all__ = ["Codes", "Edits", "Graph", "Nodes", "Pair", "Taxonomy"]
