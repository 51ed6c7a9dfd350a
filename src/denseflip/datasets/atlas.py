"""Node tables that come with the package: the AAL-116 atlas and the mouse atlas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from denseflip.errors import DatasetError
from denseflip.graph import Nodes

DATA = Path(__file__).parent / "data"


@cache
def load_aal() -> Nodes:
    """The 116 regions of the AAL atlas: lobe (default), hemisphere, MNI centroids.

    >>> load_aal().taxonomy("lobe").regions[:2]
    ('Frontal Lobe', 'Insula & Cingulate Gyri')
    """
    return Nodes.read_csv(DATA / "aal116.csv")


@cache
def load_mouse_atlas() -> Nodes:
    """The 332 regions of the mouse data: region (default), macrostructure, hemisphere, levels."""
    return Nodes.read_csv(DATA / "mice_nodes.csv")


def add_groups(nodes: Nodes, name: str, groups: Mapping[str, Iterable[int]]) -> Nodes:
    """The node table with one more taxonomy. A node in two groups keeps the first (D9)."""
    extra = Nodes.from_groups(nodes.n_nodes, groups, name=name)
    if name in nodes.regions:
        msg = f"The node table has a taxonomy {name!r} already."
        raise DatasetError(msg)
    return replace(nodes, regions={**nodes.regions, name: extra.regions[name]})
