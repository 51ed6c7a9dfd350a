"""Data sets: the embedded mice, the paper's seven brains, synthetic cohorts, a lab's own files."""

from denseflip.datasets.base import Card, Dataset, Example
from denseflip.datasets.summary import Summary

__all__ = ["Card", "Dataset", "Example", "Summary"]
