"""Methods for dense structures: remove one where the graph is dense, add one elsewhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from denseflip.search.methods.blocks import Rank, Schedule
from denseflip.search.methods.cell import CellDensify, CellSparsify
from denseflip.search.methods.dcs import DCS
from denseflip.search.methods.rank import RegionRank
from denseflip.search.methods.structure_blocks import StructureDensify, StructureSparsify
from denseflip.search.methods.structures import Structure


def method_of(kind: type[Structure]) -> Callable[..., DCS]:
    """The function that builds the method of a structure.

    Its parameters are those of the structure, then those that all of these methods have.
    """

    def shared(
        *,
        rank: str | Rank = "triangles",
        schedule: str | Schedule = "alternate",
        ties: str = "rank",
        slack: int = 10,
        max_iterations: int = 200,
    ) -> dict[str, Any]:
        return locals()

    own = [f.name for f in fields(kind)]  # type: ignore[arg-type]

    def build(**parameters: Any) -> DCS:
        structure = kind(**{p: parameters.pop(p) for p in own if p in parameters})
        given = shared(**parameters)
        return DCS(
            rank=given["rank"],
            sparsify=StructureSparsify(structure),
            densify=StructureDensify(structure, slack=given["slack"], ties=given["ties"]),
            schedule=given["schedule"],
            max_iterations=given["max_iterations"],
        )

    taken = [*inspect.signature(kind).parameters.values()]
    common = [*inspect.signature(shared).parameters.values()]
    keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in taken + common]
    build.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
    build.__name__ = build.__qualname__ = kind.__name__.lower()
    build.__doc__ = inspect.getdoc(kind)
    return build


def cell(
    *,
    regions: str | None = None,
    rank: str | Rank | None = None,
    schedule: str | Schedule = "alternate",
    max_iterations: int = 200,
) -> DCS:
    """Empty the densest cell of regions, fill the sparsest; a cell is two regions or one."""
    return DCS(
        rank=RegionRank(() if regions is None else (regions,)) if rank is None else rank,
        sparsify=CellSparsify(regions),
        densify=CellDensify(regions),
        schedule=schedule,
        max_iterations=max_iterations,
    )
