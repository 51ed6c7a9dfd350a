"""Node tables: the atlases in the package, BIDS ``dseg.tsv`` tables, regions from node names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from denseflip.datasets.subjects import MISSING
from denseflip.datasets.text_cells import read_lines
from denseflip.errors import DatasetError, InvalidNodesError, counted
from denseflip.graph import Nodes

DATA = Path(__file__).parent / "data"

#: Full names of the networks of Schaefer's parcellations, 7 and 17 networks.
NETWORKS = {
    "Vis": "visual", "SomMot": "somatomotor", "DorsAttn": "dorsal attention",
    "SalVentAttn": "salience and ventral attention", "Limbic": "limbic", "Cont": "control",
    "Default": "default mode", "TempPar": "temporoparietal",
}  # fmt: skip
_SCHAEFER = re.compile(r"(?:(?:7|17)Networks_)?(?P<side>[LR])H_(?P<network>[A-Za-z]+)_?.*")
_SIDES = (
    (re.compile(r"(?i)(?:^|[-_. (])(?:lh|left|l)(?:[-_. )]|$)"), "L"),
    (re.compile(r"(?i)(?:^|[-_. (])(?:rh|right|r)(?:[-_. )]|$)"), "R"),
)
_NAME_COLUMNS = ("name", "label", "roi", "region", "parcel", "abbreviation")
_NETWORK_COLUMNS = ("network", "network_label", "networks", "lobe", "atlas_name")
_NO_REGION = ("index", "color", "colour", "mapping", "r", "g", "b", "a", "value", "key")
_OTHER = "other"


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
        msg = f"The node table already has a taxonomy {name!r}."
        raise DatasetError(msg)
    return replace(nodes, regions={**nodes.regions, name: extra.regions[name]})


def read_nodes(path: str | Path) -> Nodes:
    """Read a node table of denseflip, or a BIDS ``dseg.tsv`` with one row per parcel.

    Parameters
    ----------
    path : a CSV file as for `Nodes.read_csv`, or a tab-separated table with ``index`` and ``name``
        (or ``label``). Its other text columns become taxonomies, networks first. A missing region
        (``n/a``) is called "other".
    """
    source = Path(path)
    if source.suffix.lower() != ".tsv":
        return Nodes.read_csv(source)
    if not source.is_file():
        msg = f"{source}: there is no such node table."
        raise InvalidNodesError(msg)
    lines = read_lines(source)
    header = [x.lower() for x in lines[0][1]]
    at = next((header.index(x) for x in _NAME_COLUMNS if x in header), None)
    if at is None or len(lines) < 2:
        got = ", ".join(lines[0][1])
        msg = f"{source}: a node table needs a row per node and a column name or label; got {got}."
        raise InvalidNodesError(msg)
    for i, row in lines[1:]:
        if len(row) != len(header):
            msg = f"{source}: line {i} has {counted(len(row), 'column', 'columns')}, the header "
            msg += f"{len(header)}."
            raise InvalidNodesError(msg)
    rows = [row for _, row in lines[1:]]
    if "index" in header:  # 0 is the background in a segmentation
        zero = header.index("index")
        rows = [row for row in rows if row[zero] not in ("0", "0.0")] or rows
    names = [row[at] for row in rows]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(header) if i != at}
    points = [columns.pop(axis, None) for axis in "xyz"]
    taxonomies = {
        name: tuple(_OTHER if x.lower() in MISSING else x for x in values)
        for name, values in columns.items()
        if name not in _NO_REGION and _sorts(values)
    }
    first = [x for x in _NETWORK_COLUMNS if x in taxonomies]
    regions = {x: taxonomies[x] for x in (*first, *(y for y in taxonomies if y not in first))}
    places = None
    if all(p is not None for p in points):
        try:
            places = tuple((float(x), float(y), float(z)) for x, y, z in zip(*points, strict=True))
        except ValueError as error:
            msg = f"{source}: the columns x, y, z must hold numbers ({error})."
            raise InvalidNodesError(msg) from error
    try:
        return with_sides(Nodes(tuple(names), regions, places))
    except InvalidNodesError as error:
        msg = f"{source}: {error}"
        raise InvalidNodesError(msg) from error


def _sorts(values: Sequence[str]) -> bool:
    """Whether a column groups nodes: texts, more than one, and fewer than there are nodes."""
    words = {x for x in values if x.lower() not in MISSING}
    several = 1 < len({x.lower() for x in values}) < len(values)
    return several and not all(re.fullmatch(r"[-+.\deE]+|#[0-9a-fA-F]{6}", x) for x in words)


def with_regions(nodes: Nodes) -> Nodes:
    """Add taxonomies that the node names imply: Schaefer's networks, hemispheres.

    >>> nodes = with_regions(Nodes(("7Networks_LH_Vis_1", "7Networks_RH_Default_PFC_2")))
    >>> nodes.regions
    {'network': ('visual', 'default mode'), 'hemisphere': ('L', 'R')}
    """
    if nodes.regions:
        return nodes
    found = [_SCHAEFER.fullmatch(name) for name in nodes.names]
    if found and sum(x is not None for x in found) > len(found) / 2:
        networks = tuple(_OTHER if x is None else _network(x["network"]) for x in found)
        nodes = replace(nodes, regions={"network": networks})
    return with_sides(nodes)


def _network(short: str) -> str:
    """``DefaultA`` → ``default mode A``; a name that is not Schaefer's is returned unchanged."""
    for key, name in sorted(NETWORKS.items(), key=lambda x: -len(x[0])):
        if short.startswith(key):
            part = short.removeprefix(key)
            return f"{name} {part}" if part in ("A", "B", "C", "Cent", "Peri") else name
    return short


def with_sides(nodes: Nodes) -> Nodes:
    """Add a taxonomy ``hemisphere``, if the names of most nodes include a side."""
    if any(x in nodes.regions for x in ("hemisphere", "hemi", "side")):
        return nodes
    sides = []
    for name in nodes.names:
        said = [side for pattern, side in _SIDES if pattern.search(name)]
        sides.append(said[0] if len(said) == 1 else "M")
    known = sum(x != "M" for x in sides)
    if known * 2 <= len(sides) or len(set(sides)) < 2:
        return nodes
    return replace(nodes, regions={**nodes.regions, "hemisphere": tuple(sides)})


def find_dseg(folder: Path, names: Iterable[str], hints: Iterable[str] = ()) -> Path | None:
    """The ``*dseg.tsv`` below a folder that describes all these nodes; None if there is none.

    Parameters
    ----------
    folder : where to look.
    names : the names of the nodes.
    hints : parts of file names, such as ``4S156Parcels``: tables named like this come first.
    """
    wanted = set(names)
    found = sorted(p for p in folder.rglob("*dseg.tsv") if p.is_file())
    words = [x for x in hints if x]
    found.sort(key=lambda p: not any(word in p.name for word in words))
    for path in found:
        try:
            if wanted <= set(read_nodes(path).names):
                return path
        except (InvalidNodesError, ValueError):
            continue
    return None
