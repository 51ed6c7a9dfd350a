"""The main figures of a data set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from denseflip.datasets.base import Dataset
from denseflip.serialise import Serialisable


@dataclass(frozen=True)
class DatasetSummary(Serialisable, named="the summary of a data set"):
    """The main figures of a data set.

    Attributes
    ----------
    name, n_graphs, n_nodes : name and size of the data set.
    graphs_per_class : class name → number of graphs.
    edges_mean, edges_min, edges_max : edges per graph.
    density : mean edges over possible edges.
    degree_mean, degree_sd, degree_min, degree_max : over all nodes of all graphs.
    isolated_mean : nodes without an edge, per graph.
    taxonomies : taxonomy name → number of regions; the first is the default.
    """

    name: str
    n_graphs: int
    n_nodes: int
    graphs_per_class: dict[str, int]
    edges_mean: float
    edges_min: int
    edges_max: int
    density: float
    degree_mean: float
    degree_sd: float
    degree_min: int
    degree_max: int
    isolated_mean: float
    taxonomies: dict[str, int]


def summarise(dataset: Dataset) -> DatasetSummary:
    """Compute the `DatasetSummary` of a data set."""
    edges = np.asarray([g.n_edges for g in dataset.graphs])
    degrees = np.stack([g.degrees() for g in dataset.graphs])
    if not degrees.size:  # graphs without nodes
        degrees = np.zeros((len(dataset), 1), dtype=np.int64)
    nodes = dataset.nodes
    return DatasetSummary(
        name=dataset.name,
        n_graphs=len(dataset),
        n_nodes=dataset.n_nodes,
        graphs_per_class=dataset.class_counts(),
        edges_mean=float(edges.mean()),
        edges_min=int(edges.min()),
        edges_max=int(edges.max()),
        density=float(edges.mean() / max(dataset.graphs[0].n_pairs, 1)),
        degree_mean=float(degrees.mean()),
        degree_sd=float(degrees.std()),
        degree_min=int(degrees.min()),
        degree_max=int(degrees.max()),
        isolated_mean=float((degrees == 0).sum(axis=1).mean()),
        taxonomies={t: len(nodes.taxonomy(t).regions) for t in nodes.taxonomies},
    )
