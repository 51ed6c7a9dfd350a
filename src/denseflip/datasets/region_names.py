"""Regions that node names imply: networks of Schaefer's parcels, lobes, hemispheres."""

from __future__ import annotations

import re
from dataclasses import replace

from denseflip.graph import Nodes
from denseflip.graph.node_table import OTHER

#: Full names of the networks of Schaefer's parcellations, 7 and 17 networks.
NETWORKS = {
    "Vis": "visual", "SomMot": "somatomotor", "DorsAttn": "dorsal attention",
    "SalVentAttn": "salience and ventral attention", "Limbic": "limbic", "Cont": "control",
    "Default": "default mode", "TempPar": "temporoparietal",
}  # fmt: skip
_SCHAEFER = re.compile(r"(?:(?:7|17)Networks_)?(?P<side>[LR])H_(?P<network>[A-Za-z]+)_?.*")
#: Lobes of the Harvard-Oxford atlas: the first pattern that a name has.
_LOBES = tuple(
    (re.compile(rf"(?i){words}"), lobe)
    for words, lobe in (
        (r"occipital pole|lateral occipital|calcarine|cuneal|lingual|occipital fusiform",
         "Occipital Lobe"),
        (r"cingulate", "Cingulate Cortex"),
        (r"insular cortex", "Insula"),
        (r"parahippocampal|temporal|planum polare|heschl", "Temporal Lobe"),
        (r"parietal|postcentral|supramarginal|angular gyrus|precuneous", "Parietal Lobe"),
        (r"frontal|precentral|juxtapositional|subcallosal|central opercular", "Frontal Lobe"),
        (r"thalamus|caudate|putamen|pallidum|hippocampus|amygdala|accumbens",
         "Subcortical Structures"),
        (r"cerebel|vermis|brain-?\s?stem", "Cerebellum & Brain Stem"),
    )
)  # fmt: skip
#: Names that only the Harvard-Oxford atlas has.
_HARVARD_OXFORD = re.compile(
    r"(?i)frontal pole|juxtapositional lobule|precuneous|(?:intra|supra)calcarine|paracingulate"
)
_SIDES = (
    (re.compile(r"(?i)(?:^|[-_. (])(?:lh|left|l)(?:[-_. )]|$)"), "L"),
    (re.compile(r"(?i)(?:^|[-_. (])(?:rh|right|r)(?:[-_. )]|$)"), "R"),
)


def with_regions(nodes: Nodes) -> tuple[Nodes, str]:
    """Add taxonomies that the node names imply, and say which.

    Known are Schaefer's networks, the lobes of the Harvard-Oxford atlas, and hemispheres.

    >>> nodes, _ = with_regions(Nodes(("7Networks_LH_Vis_1", "7Networks_RH_Default_PFC_2")))
    >>> nodes.regions
    {'network': ('visual', 'default mode'), 'hemisphere': ('L', 'R')}
    """
    if nodes.regions:
        return nodes, ""
    half = len(nodes.names) / 2
    parcels = [_SCHAEFER.fullmatch(name) for name in nodes.names]
    lobes = [_lobe(name) for name in nodes.names]
    if sum(x is not None for x in parcels) > half:
        networks = tuple(OTHER if x is None else _network(x["network"]) for x in parcels)
        nodes = replace(nodes, regions={"network": networks})
    elif any(map(_HARVARD_OXFORD.search, nodes.names)) and sum(map(bool, lobes)) > half:
        nodes = replace(nodes, regions={"lobe": tuple(x or OTHER for x in lobes)})
    found = with_sides(nodes)
    said = " and ".join(f"{name!r} ({len(set(x))})" for name, x in found.regions.items())
    return found, f"Regions are read from the names of the nodes: {said}." if said else ""


def _lobe(name: str) -> str:
    return next((lobe for pattern, lobe in _LOBES if pattern.search(name)), "")


def _network(short: str) -> str:
    """``DefaultA`` → ``default mode A``; a name that is not Schaefer's is returned unchanged."""
    for key, name in sorted(NETWORKS.items(), key=lambda x: -len(x[0])):
        if short.startswith(key):
            part = short.removeprefix(key)
            return f"{name} {part}" if part in ("A", "B", "C", "Cent", "Peri") else name
    return short


def with_sides(nodes: Nodes) -> Nodes:
    """Add a taxonomy ``hemisphere``, if the names of most nodes include a side."""
    if any(name.lower() in ("hemisphere", "hemi", "side") for name in nodes.regions):
        return nodes
    sides = []
    for name in nodes.names:
        said = [side for pattern, side in _SIDES if pattern.search(name)]
        sides.append(said[0] if len(said) == 1 else "M")
    known = sum(x != "M" for x in sides)
    if known * 2 <= len(sides) or len(set(sides)) < 2:
        return nodes
    return replace(nodes, regions={**nodes.regions, "hemisphere": tuple(sides)})
