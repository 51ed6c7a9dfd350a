"""Region names as people read them: ``L`` is the left hemisphere."""

from __future__ import annotations

import re
from collections.abc import Mapping

from denseflip.graph.nodes import CROSS, Taxonomy

NODE_TAXONOMY = "node"  # each node is a region of its own
NODE_PREFIX = "node "  # in front of node names that are no words
SIDES: Mapping[str, str] = {"L": "left", "R": "right", "M": "midline"}
SIDE_TAXONOMIES = ("hemisphere", "side")
_ALONE = {"L": "left hemisphere", "R": "right hemisphere", "M": "midline"}
_SIDED = re.compile(r"(.*[^\W\d_]{3}.*)[_ ]([LR])")
_WORD = re.compile(r"[^\W\d_]{3}")  # a name without one is a code, and is left as it is


def readable(taxonomy: Taxonomy) -> tuple[str, ...]:
    """Region names with the hemisphere spelled out: ``Frontal Lobe L`` → ``left Frontal Lobe``.

    >>> readable(Taxonomy.from_labels("hemisphere", ["L", "R"]))
    ('left hemisphere', 'right hemisphere')
    """
    parts = taxonomy.name.split(CROSS)
    if taxonomy.name == NODE_TAXONOMY:
        names = [_sided(name) for name in taxonomy.regions]
        return tuple(names) if len(set(names)) == len(names) else taxonomy.regions
    if parts[-1].lower() not in SIDE_TAXONOMIES:
        return taxonomy.regions
    names = []
    for region in taxonomy.regions:
        head, _, side = region.rpartition(" ")
        if len(parts) == 1:
            names.append(_ALONE.get(region, region))
        else:
            names.append(f"{SIDES[side]} {head}" if head and side in SIDES else region)
    return tuple(names) if len(set(names)) == len(names) else taxonomy.regions


def _sided(name: str) -> str:
    """``Frontal_Sup_L`` → ``left Frontal Sup``, ``Vermis_1_2`` → ``Vermis 1 2``."""
    if name.startswith(NODE_PREFIX) or not _WORD.search(name):
        return name
    match = _SIDED.fullmatch(name)
    text = name if match is None else f"{SIDES[match[2]]} {match[1]}"
    return text.replace("_", " ")
