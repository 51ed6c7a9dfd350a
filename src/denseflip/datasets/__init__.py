"""Data sets: the embedded mice, the paper's seven brain data sets, synthetic cohorts, imports."""

from denseflip.datasets.base import Card, Dataset, DatasetSummary, Example
from denseflip.datasets.connectome import Keep
from denseflip.datasets.export import export_dataset
from denseflip.datasets.folder import import_folder
from denseflip.datasets.importers import read_graph
from denseflip.datasets.registry import DatasetInfo, fetch_dataset, list_datasets, load_dataset
from denseflip.datasets.synthetic import make_synthetic

__all__ = [
    "Card",
    "Dataset",
    "DatasetInfo",
    "DatasetSummary",
    "Example",
    "Keep",
    "export_dataset",
    "fetch_dataset",
    "import_folder",
    "list_datasets",
    "load_dataset",
    "make_synthetic",
    "read_graph",
]
