"""Graphs over a fixed node set: graph values, node tables, conversions and counting kernels."""

from denseflip.graph.cells import Cell, Cells
from denseflip.graph.core import Graph
from denseflip.graph.edits import Edits
from denseflip.graph.inputs import as_graph
from denseflip.graph.node_types import NodeTypes
from denseflip.graph.nodes import Nodes, Taxonomy
from denseflip.graph.pairs import Codes, Pair

__all__ = [
    "Cell",
    "Cells",
    "Codes",
    "Edits",
    "Graph",
    "NodeTypes",
    "Nodes",
    "Pair",
    "Taxonomy",
    "as_graph",
]
