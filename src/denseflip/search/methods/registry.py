"""The named methods: one short composition each.

A name may carry refinements: ``rcli+bw``, ``dat+bw``, ``cli+min``, ``tri+bw+min``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from denseflip.errors import InvalidParameterError, UnknownNameError, check_choice, check_name
from denseflip.request import Request
from denseflip.search.core.method import Conversation, Method, Stream, needs_of
from denseflip.search.core.problem import BACKGROUND, CONFIDENCE, GRADIENT, REGIONS
from denseflip.search.core.refinement import REFINERS, as_refiners
from denseflip.search.methods.auto import Auto
from denseflip.search.methods.baselines import Bidirectional, ClosestGraph, ContrastList, EdgeSwap
from denseflip.search.methods.best import Best
from denseflip.search.methods.blocks import Rank, RegionRank, Schedule
from denseflip.search.methods.brief import Brief
from denseflip.search.methods.cell import RegionBlocks
from denseflip.search.methods.dcs import DCS, BothWays, Renumbered, cell, method_of
from denseflip.search.methods.gradient import GradientSearch
from denseflip.search.methods.race import Race
from denseflip.search.methods.structure_blocks import (
    CliqueDensify,
    CliqueSparsify,
    PairDensify,
    PairSparsify,
)
from denseflip.search.methods.structures import STRUCTURES
from denseflip.search.methods.tight import Tight
from denseflip.search.methods.user_methods import (
    is_user_method,
    load_user_method,
    method_from,
    user_method_parameters,
)

GROUPS = {  # group of methods → its title in lists
    "method": "Methods",
    "variant": "Variants: short names for a method with fixed parameters",
    "advanced": "Advanced: the searches that auto combines",
    "refinement": "Refinements, appended to a method with +",
}


@dataclass(frozen=True)
class MethodInfo:
    """An entry of the list of methods.

    Attributes
    ----------
    name, summary : its name, and what it does in one line.
    needs : the inputs that it requires beside graph and oracle.
    parameters : the names of its parameters.
    group : one of `GROUPS`.
    variant_of : of a variant, the method and the parameters that give the same.
    """

    name: str
    summary: str
    needs: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    group: str = "method"
    variant_of: str = ""

    @property
    def suffix(self) -> bool:
        """Whether it is a refinement."""
        return self.group == "refinement"

    def __str__(self) -> str:
        needs = f" (needs {', '.join(self.needs)})" if self.needs else ""
        return f"{self.name:<10}{self.summary}{needs}"


def tri(
    *,
    reverse: bool = False,
    direction: str = "one",
    ties_by: str = "number",
    max_iterations: int | None = None,
) -> DCS | Renumbered | BothWays:
    """Open triangles in dense regions, close triangles in sparse ones (paper: TRI)."""
    check_name("direction", direction, ("one", "both"))
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
    """The search with ties broken by node number, as in the paper, or by structure."""
    check_name("ties_by", ties_by, ("number", "structure"))
    return search if ties_by == "number" else Renumbered(search)


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
    check_choice("counts", counts, (-1, 0, 1))  # what an added clique does to D (D5)
    search = DCS(
        rank=rank,
        sparsify=CliqueSparsify(select=select, max_cliques=max_cliques),
        densify=CliqueDensify(slack=slack, step=counts, ties=ties),
        schedule=schedule,
        max_iterations=max_iterations,
    )
    return _ties(search, ties_by)


def rcli(*, regions: str | tuple[str, ...] | None = None, **of_cli: Any) -> DCS | Renumbered:
    """Cliques, region by region: densest region first, sparsest last (paper: RCLI)."""
    levels = (regions,) if isinstance(regions, str) else tuple(regions or ())
    return cli(rank=RegionRank(levels), **of_cli)


rcli.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.signature(rcli).parameters["regions"],
        *(p for p in inspect.signature(cli).parameters.values() if p.name != "rank"),
    ]
)


@dataclass(frozen=True)
class RegisteredMethod:
    """A method that has a name.

    Attributes
    ----------
    build : makes the search from the parameters of the method: a function, or the class. The first
        line of its docstring is the summary.
    refine : refinements that belong to the method itself.
    group, variant_of : as in `MethodInfo`.
    """

    build: Callable[..., Stream | Conversation]
    refine: tuple[str, ...] = ()
    group: str = "method"
    variant_of: str = ""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(inspect.signature(self.build).parameters)


def dbs(*, batch: int = 5, max_iterations: int = 2000) -> Bidirectional:
    """Like obs, but draw pairs by how differently the classes use them."""
    return Bidirectional(batch, data_driven=True, max_iterations=max_iterations)


def medoid() -> ClosestGraph:
    """Take the medoid of the background graphs of the other class."""
    return ClosestGraph(medoid=True)


METHODS: dict[str, RegisteredMethod] = {
    "auto": RegisteredMethod(Auto),  # the default, first in every list
    "brief": RegisteredMethod(Brief, group="advanced"),
    "tri": RegisteredMethod(tri),
    "cli": RegisteredMethod(cli),
    "rcli": RegisteredMethod(rcli, group="variant", variant_of="cli with rank=regions"),
    "con": RegisteredMethod(ContrastList),
    "blocks": RegisteredMethod(RegionBlocks),
    "race": RegisteredMethod(Race, group="advanced"),
    "best": RegisteredMethod(Best, group="advanced"),
    "edg": RegisteredMethod(EdgeSwap),
    "obs": RegisteredMethod(Bidirectional, ("bw",)),
    "dbs": RegisteredMethod(dbs, ("bw",), "variant", "obs with data_driven=true"),
    "dat": RegisteredMethod(ClosestGraph),
    "medoid": RegisteredMethod(medoid, group="variant", variant_of="dat with medoid=true"),
    "tight": RegisteredMethod(Tight, group="advanced"),
    "gradient": RegisteredMethod(GradientSearch, group="advanced"),
    "cell": RegisteredMethod(cell),
    **{name: RegisteredMethod(method_of(kind)) for name, kind in STRUCTURES.items()},
}
ALIASES = {"clique": "cli", "triangle": "tri", "region-clique": "rcli", "contrast": "con"}
#: Words for methods: not names, but used for suggestions if a name is unknown.
METHOD_WORDS = {
    **ALIASES,
    "triangles": "tri",
    "cliques": "cli",
    "region-cliques": "rcli",
    "edges": "edg",
    "random": "edg",
    "closest": "dat",
    "nearest": "dat",
    "data": "dat",
    "bidirectional": "obs",
    "regions": "blocks",
    "shortest": "brief",
    "fewest": "tight",
    "default": "auto",
}


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
            entry.parameters,
            entry.group,
            entry.variant_of,
        )
        for name, entry in METHODS.items()
    ]
    suffixes = [
        MethodInfo(f"+{name}", summary, group="refinement")
        for name, (_, summary) in REFINERS.items()
    ]
    return listed + suffixes


def _in_order(needs: frozenset[str]) -> tuple[str, ...]:
    return tuple(need for need in (REGIONS, BACKGROUND, CONFIDENCE, GRADIENT) if need in needs)


def make_method(name: str, /, **parameters: Any) -> Method:
    """Build a named method, with refinements behind ``+`` and parameters of its own.

    A user's own method is named by ``module:function`` (see `user_methods`).

    >>> make_method("cli+min", max_iterations=50).name
    'cli+min'
    """
    if is_user_method(name):
        return load_user_method(name, parameters)
    base, *suffixes = name.strip().lower().split("+")
    base = ALIASES.get(base, base)
    if base not in METHODS:
        raise UnknownNameError("method", base, METHODS, aliases=METHOD_WORDS)
    entry = METHODS[base]
    known = entry.parameters
    for key in parameters:
        check_name(f"parameter of {base!r}", key, known)
    try:
        search = entry.build(**parameters)
    except TypeError as error:
        msg = f"Wrong value among the parameters of {base!r} ({parameters}): {error}."
        raise InvalidParameterError(msg) from error
    return Method("+".join([base, *suffixes]), search, as_refiners((*entry.refine, *suffixes)))


def method_for(request: Request) -> Method:
    """The method that a request asks for, with the options of the request that it takes.

    The regions of a request are those of the sentence; a method that takes regions searches in
    them too. ``max_cells`` is a constraint for methods that do not take it.

    Raises
    ------
    InvalidParameterError
        If the method does not take an option; the message names methods that do.

    Examples
    --------
    >>> method_for(Request("blocks", regions="lobe")).parameters["search"]["regions"]
    'lobe'
    """
    name = request.method
    keys = ("language", "objective", "in_range", "balance", "reference", "stable")
    asked = {key: getattr(request, key) for key in keys}
    wanted: dict[str, Any] = {key: value for key, value in asked.items() if value is not None}
    if request.front:
        wanted["front"] = True
    if not isinstance(name, str):
        return as_method(name, **request.parameters, **wanted)
    known = _parameters(name)
    for key in wanted:
        if key not in known:
            able = [other for other in METHODS if key in _parameters(other)]
            base = name.strip().split("+")[0]
            msg = f"The method {base!r} has no parameter {key}. These have it: {', '.join(able)}."
            raise InvalidParameterError(msg, parameter=(key, "method"))
    if isinstance(request.regions, str) and "regions" in known:
        wanted["regions"] = request.regions
    if request.max_cells is not None and "max_cells" in known:
        wanted["max_cells"] = request.max_cells
    return make_method(name, **{**wanted, **request.parameters})


def takes(method: Any, parameter: str) -> bool:
    """Whether a method given by name has this parameter; False for a method object."""
    return isinstance(method, str) and parameter in _parameters(method)


def _parameters(name: str) -> tuple[str, ...]:
    """The parameters of a method given by name."""
    if is_user_method(name):
        return user_method_parameters(name)
    base = name.strip().lower().split("+")[0]
    base = ALIASES.get(base, base)
    if base not in METHODS:
        raise UnknownNameError("method", base, METHODS, parameter="method")
    return METHODS[base].parameters


def as_method(method: str | Method | Stream | Conversation, **parameters: Any) -> Method:
    """A method of a name, of a composition such as `DCS`, or of any callable search.

    Parameters that are not None are passed to the named method. A method object takes none.
    """
    given = {key: value for key, value in parameters.items() if value is not None}
    if isinstance(method, str):
        return make_method(method, **given)
    if given:
        msg = (
            f"{', '.join(given)} can be passed only with the name of a method, not with a method "
            "object. Pass them to make_method, or when the object is created."
        )
        raise InvalidParameterError(msg, parameter=next(iter(given)))
    return method_from(method)
