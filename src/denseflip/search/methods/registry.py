"""The named methods: one short composition each.

A name may carry refinements: ``rcli+bw``, ``dat+bw``, ``cli+min``, ``tri+bw+min``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from denseflip.as_read import READINGS
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.search.core.problem import (
    BACKGROUND,
    CONFIDENCE,
    REGIONS,
    Conversation,
    Stream,
    describe_parameters,
    needs_of,
)
from denseflip.search.core.refinement import REFINERS, Refine, as_refiners
from denseflip.search.methods.auto import Auto
from denseflip.search.methods.baselines import Bidirectional, ClosestGraph, EdgeSwap
from denseflip.search.methods.best import Best
from denseflip.search.methods.blocks import Rank, Schedule
from denseflip.search.methods.brief import Brief
from denseflip.search.methods.contrast import ContrastList
from denseflip.search.methods.dcs import DCS, BothWays
from denseflip.search.methods.densify import CliqueDensify, PairDensify
from denseflip.search.methods.race import Race
from denseflip.search.methods.rank import RegionRank
from denseflip.search.methods.region_blocks import RegionBlocks
from denseflip.search.methods.renumbered import Renumbered
from denseflip.search.methods.sparsify import CliqueSparsify, PairSparsify
from denseflip.search.methods.structure_methods import cell, method_of
from denseflip.search.methods.structures import STRUCTURES
from denseflip.search.methods.tight import Tight
from denseflip.search.methods.user_methods import is_own, own_method


@dataclass(frozen=True)
class MethodInfo:
    """A line of the list of methods: name, what it does, what it needs, its parameters."""

    name: str
    summary: str
    needs: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    suffix: bool = False

    def __str__(self) -> str:
        needs = f" (needs {', '.join(self.needs)})" if self.needs else ""
        return f"{self.name:<10}{self.summary}{needs}"


@dataclass(frozen=True)
class Method:
    """A method ready to run: its name, its search of either kind, and its refinements."""

    name: str
    search: Stream | Conversation
    refiners: tuple[Refine, ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """What must be given beside graph and oracle: regions, a background, a confidence."""
        return needs_of(self.search, *self.refiners)

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters in plain JSON-ready form."""
        return {
            "search": describe_parameters(self.search),
            "refine": describe_parameters(self.refiners),
        }


def tri(
    *,
    reverse: bool = False,
    direction: str = "one",
    ties_by: str = "number",
    max_iterations: int | None = None,
) -> DCS | Renumbered | BothWays:
    """Open triangles where they are many, close them where they are few (paper: TRI)."""
    _check_choice("direction", direction, ("one", "both"))
    one = _ties(triangles(reverse=reverse, max_iterations=max_iterations), ties_by)
    if direction == "one":
        return one
    return BothWays(
        one, _ties(triangles(reverse=not reverse, max_iterations=max_iterations), ties_by)
    )


def triangles(*, reverse: bool = False, max_iterations: int | None = None) -> DCS:
    """The blind search of `tri`: one edge and one pair per iteration, by triangles."""
    return DCS(
        sparsify=PairSparsify("triangles", reverse),
        densify=PairDensify("triangles", reverse),
        max_iterations=max_iterations,
        questions="iteration",
    )


def _ties(search: DCS, ties_by: str) -> DCS | Renumbered:
    """The search with ties settled by the nodes' numbers, as the paper does, or by structure."""
    _check_choice("ties_by", ties_by, ("number", "structure"))
    return search if ties_by == "number" else Renumbered(search)


def _check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UnknownNameError(name, str(value), known)


def cli(
    *,
    rank: str | Rank = "triangles",
    select: str = "overlap",
    schedule: str | Schedule = "alternate",
    ties: str = "rank",
    slack: int = 10,
    counts: int = -1,
    ties_by: str = "number",
    max_iterations: int = 200,
    max_cliques: int = 100_000,
) -> DCS | Renumbered:
    """Remove maximal cliques from dense regions, add cliques to sparse ones (paper: CLI)."""
    if counts not in (-1, 0, 1):
        msg = f"counts must be -1, 0 or 1 (what an added clique does to D, see D5); got {counts!r}."
        raise InvalidParameterError(msg, parameter="counts")
    search = DCS(
        rank=rank,
        sparsify=CliqueSparsify(select=select, max_cliques=max_cliques),
        densify=CliqueDensify(slack=slack, step=counts, ties=ties),
        schedule=schedule,
        max_iterations=max_iterations,
    )
    return _ties(search, ties_by)


def rcli(
    *,
    regions: str | tuple[str, ...] | None = None,
    select: str = "overlap",
    schedule: str | Schedule = "alternate",
    ties: str = "rank",
    slack: int = 10,
    counts: int = -1,
    ties_by: str = "number",
    max_iterations: int = 200,
    max_cliques: int = 100_000,
) -> DCS | Renumbered:
    """Cliques, region by region: densest region first, sparsest last (paper: RCLI)."""
    levels = (regions,) if isinstance(regions, str) else tuple(regions or ())
    return cli(
        rank=RegionRank(levels),
        select=select,
        schedule=schedule,
        ties=ties,
        slack=slack,
        counts=counts,
        ties_by=ties_by,
        max_iterations=max_iterations,
        max_cliques=max_cliques,
    )


def con() -> ContrastList:
    """Make the graph like the target class, the clearest differences first, as one list."""
    return ContrastList()


def best(
    *,
    objective: str = "sentence",
    regions: str | None = None,
    max_cells: int = 5,
    front: bool = False,
) -> Best:
    """Several searches that share every answer; the one that serves the objective best wins."""
    return Best(objective, regions, max_cells, front)


def race(*, nearest: int = 3, swaps: int = 4, finalists: int = 3) -> Race:
    """Many orders side by side, prefix by prefix; the first few that flip are refined."""
    return Race(nearest, swaps, finalists)


def blocks(*, regions: str | None = None, strength: str | float = "mean") -> RegionBlocks:
    """Bring whole region pairs to the target class's density, the most different first."""
    return RegionBlocks(regions, strength)


def brief(
    *,
    regions: str | None = None,
    language: str = "auto",
    max_cells: int = 5,
    readings: str | tuple[str, ...] = READINGS,
    front: bool = False,
) -> Brief:
    """Few region pairs, with an amount each, that flip whichever pairs a reader takes them for."""
    return Brief(regions, language, max_cells, readings, front)  # type: ignore[arg-type]


def auto(
    *,
    regions: str | None = None,
    language: str = "auto",
    max_cells: int = 5,
    objective: str | None = None,
    front: bool = False,
) -> Auto:
    """The shortest sentence that is true as read, in the language that fits the classifier."""
    return Auto(regions, language, max_cells, objective, front)


def edg(*, max_iterations: int = 2000) -> EdgeSwap:
    """Swap one random edge for one random pair at a time (paper: EDG)."""
    return EdgeSwap(max_iterations)


def obs(*, batch: int = 5, max_iterations: int = 2000) -> Bidirectional:
    """Toggle random handfuls of pairs until the label flips, then search backward."""
    return Bidirectional(False, batch, max_iterations)


def dbs(*, batch: int = 5, max_iterations: int = 2000) -> Bidirectional:
    """Like obs, but draw pairs by how differently the classes use them."""
    return Bidirectional(True, batch, max_iterations)


def dat() -> ClosestGraph:
    """Take the closest background graph of another class (paper: DAT)."""
    return ClosestGraph()


def medoid() -> ClosestGraph:
    """Take the medoid of the other class's background graphs."""
    return ClosestGraph(medoid=True)


def tight(*, questions: int = 320, guided: bool = False, pool: int | None = None) -> Tight:
    """The fewest edits, by weights learnt from the answers; for classifiers about linear."""
    return Tight(questions, guided, pool)


@dataclass(frozen=True)
class _Entry:
    build: Callable[..., Stream | Conversation]
    refine: tuple[str, ...] = ()  # refinements that belong to the method itself


METHODS: dict[str, _Entry] = {
    "auto": _Entry(auto),  # first in every list: what to take if one does not know
    "brief": _Entry(brief),
    "tri": _Entry(tri),
    "cli": _Entry(cli),
    "rcli": _Entry(rcli),
    "con": _Entry(con),
    "blocks": _Entry(blocks),
    "race": _Entry(race),
    "best": _Entry(best),
    "edg": _Entry(edg),
    "obs": _Entry(obs, ("bw",)),
    "dbs": _Entry(dbs, ("bw",)),
    "dat": _Entry(dat),
    "medoid": _Entry(medoid),
    "tight": _Entry(tight),
    "cell": _Entry(cell),
    **{name: _Entry(method_of(kind)) for name, kind in STRUCTURES.items()},
}
ALIASES = {"clique": "cli", "triangle": "tri", "region-clique": "rcli", "contrast": "con"}


def methods() -> list[MethodInfo]:
    """Every method and every refinement suffix, with a line each.

    >>> [m.name for m in methods()][:3]
    ['auto', 'brief', 'tri']
    """
    listed = [
        MethodInfo(
            name,
            (inspect.getdoc(entry.build) or "").splitlines()[0],
            _in_order(needs_of(entry.build())),
            tuple(inspect.signature(entry.build).parameters),
        )
        for name, entry in METHODS.items()
    ]
    suffixes = [
        MethodInfo(f"+{name}", summary, suffix=True) for name, (_, summary) in REFINERS.items()
    ]
    return listed + suffixes


def _in_order(needs: frozenset[str]) -> tuple[str, ...]:
    return tuple(need for need in (REGIONS, BACKGROUND, CONFIDENCE) if need in needs)


def make_method(name: str, /, **parameters: Any) -> Method:
    """Build a named method, with refinements behind ``+`` and parameters of its own.

    A user's own method is named by ``module:function`` (see `user_methods`).

    >>> make_method("cli+min", max_iterations=50).name
    'cli+min'
    """
    if is_own(name):
        return own_method(name, parameters)
    base, *suffixes = name.strip().lower().split("+")
    base = ALIASES.get(base, base)
    if base not in METHODS:
        raise UnknownNameError("method", base, METHODS)
    entry = METHODS[base]
    known = inspect.signature(entry.build).parameters
    for key in parameters:
        if key not in known:
            raise UnknownNameError(f"parameter of {base!r}", key, known)
    try:
        search = entry.build(**parameters)
    except TypeError as error:
        msg = f"Wrong value among the parameters of {base!r} ({parameters}): {error}."
        raise InvalidParameterError(msg) from error
    return Method("+".join([base, *suffixes]), search, as_refiners((*entry.refine, *suffixes)))


def as_method(method: str | Method | Stream | Conversation, **parameters: Any) -> Method:
    """A method of a name, of a composition such as `DCS`, or of any callable search.

    Parameters that are not None go to the method of that name; a method that is made already has
    its own.
    """
    given = {key: value for key, value in parameters.items() if value is not None}
    if isinstance(method, str):
        return make_method(method, **given)
    if given:
        msg = (
            f"{', '.join(given)} can be given with the name of a method; here it is made already. "
            "Give them to make_method, or where it is made."
        )
        raise InvalidParameterError(msg, parameter=next(iter(given)))
    if isinstance(method, Method):
        return method
    if not callable(method):
        msg = f"method must be a name, a DCS or a callable; got {type(method).__name__}."
        raise InvalidParameterError(msg)
    if isinstance(method, DCS):
        return Method("dcs", replace(method, refine=()), as_refiners(method.refine))
    name = getattr(method, "__name__", type(method).__name__).lower()
    return Method(name, method)
