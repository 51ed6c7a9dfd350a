"""Node tables: files, BIDS ``dseg.tsv`` tables, and atlases by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from denseflip.datasets.region_names import with_regions, with_sides
from denseflip.errors import (
    DatasetError,
    DenseflipError,
    InvalidNodesError,
    InvalidParameterError,
    MissingExtraError,
    UnknownNameError,
)
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
        msg = f"The node table already has a taxonomy {name!r}."
        raise DatasetError(msg)
    return replace(nodes, regions={**nodes.regions, name: extra.regions[name]})


def read_nodes(source: str | Path, **columns: Any) -> tuple[Nodes, list[str]]:
    """The node table of a file or of an atlas, and sentences about how it was read.

    Parameters
    ----------
    source : a CSV, TSV (also a BIDS ``dseg.tsv``) or Excel file as for `Nodes.read_csv`, or the
        name of an atlas (`ATLASES`).
    columns : ``name_column``, ``region_columns`` and ``number_names``, as for `Nodes.read_csv`.
    """
    path = Path(source)
    known = str(source).strip().lower()
    if known in ATLASES and not path.exists():
        if given := [name for name, value in columns.items() if value]:
            msg = f"{given[0]} applies to a table in a file, not to the atlas {known!r}."
            raise InvalidParameterError(msg, parameter=given)
        return load_atlas(known), [f"Nodes are those of the atlas {known}: {ATLASES[known]}."]
    if not path.exists():
        msg = _no_such_table(str(source))
        raise InvalidNodesError(msg, parameter="nodes")
    nodes, notes = Nodes.read_table(path, **columns)
    if nodes.regions:
        return with_sides(nodes), notes
    nodes, note = with_regions(nodes)
    return nodes, [*notes, note] if note else notes


# ---- atlases by name ----------------------------------------------------------------------


#: Atlas → what it is. Those besides AAL are part of nilearn, which also has an order of its own.
ATLASES = {
    "aal": "116 regions, with lobes, hemispheres and MNI centroids",
    "dosenbach": "160 regions of Dosenbach 2010 in its original order, with networks",
    "dosenbach-nilearn": "the same in nilearn's order, sorted by network (ordered_regions=True)",
    "power": "264 regions of Power 2011, with coordinates and hemispheres; it has no networks",
    "seitzman": "300 regions of Seitzman 2018 in its original order, with networks",
    "seitzman-nilearn": "the same in nilearn's order, sorted by network (ordered_regions=True)",
}
_SIZES = {"aal": 116, "dosenbach": 160, "power": 264, "seitzman": 300}
#: The codes of AAL's left regions in its order, which SPM and ABIDE use; the right one is next
#: (compared with fieldtrip/fieldtrip, template/atlas/aal/ROI_MNI_V4.txt).
_AAL_LEFT = (
    *(2001, 2101, 2111, 2201, 2211, 2301, 2311, 2321, 2331, 2401, 2501, 2601, 2611, 2701, 3001),
    *(4001, 4011, 4021, 4101, 4111, 4201, 5001, 5011, 5021, 5101, 5201, 5301, 5401, 6001, 6101),
    *(6201, 6211, 6221, 6301, 6401, 7001, 7011, 7021, 7101, 8101, 8111, 8121, 8201, 8211, 8301),
    *(9001, 9011, 9021, 9031, 9041, 9051, 9061, 9071, 9081),
)
_AAL_VERMIS = range(9100, 9171, 10)
#: Atlases whose tables are not installed, and where they are.
_ELSEWHERE = {
    "schaefer": "Parcels of Schaefer need no table if the files name them "
    "(7Networks_LH_Vis_1): networks and hemispheres are read from the names. Otherwise use the "
    "labels of nilearn.datasets.fetch_atlas_schaefer_2018, or a dseg.tsv of TemplateFlow",
    "harvard-oxford": "Regions of the Harvard-Oxford atlas need no table if the files name them "
    "(Left Frontal Pole): hemispheres are read from the names. Otherwise use the labels of "
    "nilearn.datasets.fetch_atlas_harvard_oxford",
    "destrieux": "nilearn.datasets.fetch_atlas_destrieux_2009 has its labels",
    "desikan": "FreeSurfer's colour table FreeSurferColorLUT.txt has its labels",
    "cc200": "the Preprocessed Connectomes Project has its labels (CC200_ROI_labels.csv)",
    "gordon": "a dseg.tsv of TemplateFlow has its labels",
    "glasser": "a dseg.tsv of TemplateFlow has its labels",
    "basc": "nilearn.datasets.fetch_atlas_basc_multiscale_2015 has its maps; its parcels have no "
    "names",
    "difumo": "nilearn.datasets.fetch_atlas_difumo has its labels",
}
_ELSEWHERE_WORDS = {"ho": "harvard-oxford", "harvard": "harvard-oxford", "hcp": "glasser",
                    "mmp": "glasser", "craddock": "cc200", "dk": "desikan"}  # fmt: skip


def _no_such_table(name: str) -> str:
    plain = re.sub(r"[\s_]+", "-", name.strip().lower())
    words = [*_ELSEWHERE, *_ELSEWHERE_WORDS]
    hit = next((x for x in words if re.match(rf"{x}(?![a-z])", plain)), None)
    where = "" if hit is None else f" {_ELSEWHERE[_ELSEWHERE_WORDS.get(hit, hit)]}."
    return (
        f"{name}: there is no such node table, and no atlas of that name is installed.{where} "
        f"Atlases: {', '.join(ATLASES)}. For any other, give a table with a column name and any "
        "of region columns and x, y, z."
    )


@cache
def load_atlas(name: str) -> Nodes:
    """The node table of an atlas: names, networks or lobes, hemispheres, MNI coordinates.

    Parameters
    ----------
    name : one of `ATLASES`. All but ``aal`` need nilearn (extra ``brain``).

    Examples
    --------
    >>> load_atlas("aal").taxonomies
    ('lobe', 'hemisphere')
    """
    if name not in ATLASES:
        raise UnknownNameError("atlas", name, ATLASES, parameter="nodes")
    if name == "aal":
        codes = [code for left in _AAL_LEFT for code in (left, left + 1)]
        table = load_aal()
        other = tuple(x.replace("Cerebelum", "Cerebellum") for x in table.names)  # as FieldTrip
        ids = {"code": tuple(map(str, (*codes, *_AAL_VERMIS))), "spelling": other}
        return replace(table, ids=ids)
    try:
        from nilearn import datasets
    except ImportError as error:
        raise MissingExtraError("nilearn", "brain") from error
    kind, _, order = name.partition("-")
    fetch = {
        "dosenbach": datasets.fetch_coords_dosenbach_2010,
        "power": datasets.fetch_coords_power_2011,
        "seitzman": datasets.fetch_coords_seitzman_2018,
    }[kind]
    found = fetch() if kind == "power" else fetch(ordered_regions=order == "nilearn")
    rois = found["rois"]
    points = tuple((float(x), float(y), float(z)) for x, y, z in rois[["x", "y", "z"]].to_numpy())
    regions: dict[str, tuple[str, ...]] = {}
    if kind != "power":
        regions["network"] = tuple(map(str, found["networks"]))
    if kind == "seitzman":
        regions["structure"] = tuple(re.sub(r"(L|R|Mid)$", "", str(x)) for x in found["regions"])
    regions["hemisphere"] = tuple("L" if x < 0 else "R" if x > 0 else "M" for x, _, _ in points)
    if kind == "dosenbach":
        names = tuple(map(str, found["labels"]))
    else:  # the original numbers, in any order
        names = tuple(f"{kind.capitalize()} {int(i) + 1}" for i in rois.index)
    return Nodes(names, regions, points)


def atlas_hint(nodes: Nodes, n_nodes: int) -> str | None:
    """A sentence about an atlas with as many nodes as graphs without regions have, or None."""
    fits = [name for name, size in _SIZES.items() if size == n_nodes]
    if nodes.regions or not fits:
        return None
    return (
        f"The nodes have no regions. The atlas {fits[0]} has {n_nodes} nodes, too. If these are "
        f"its regions in its order, import again with nodes={fits[0]!r}."
    )


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
            if wanted <= set(read_nodes(path)[0].names):
                return path
        except DenseflipError:
            continue
    return None
