"""Methods of an experiment: from their names to specs, and from specs to methods.

Two registries hold what an experiment can name: how methods are built (`MAKERS`), and what is
reported as d% and C of their results (`READINGS`). A module of `denseflip.runs.sources.PLUG_INS`
adds to them with `register_reading`; it is imported when a name is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from denseflip.counterfactual import Counterfactual
from denseflip.experiments.spec import PLAIN, MethodSpec
from denseflip.request import Request
from denseflip.runs.object_identity import source_digest
from denseflip.runs.sources import find_entry
from denseflip.search.core.method import Method
from denseflip.search.methods.registry import make_method, method_for
from denseflip.search.methods.user_methods import is_user_method


def _plainly(result: Counterfactual) -> tuple[float, int]:
    return result.relative_distance, result.calls


MAKERS: dict[str, Callable[..., Method]] = {PLAIN: make_method}
READINGS: dict[str, Callable[[Counterfactual], tuple[float, int]]] = {PLAIN: _plainly}


def register_reading(
    name: str,
    make: Callable[..., Method],
    read: Callable[[Counterfactual], tuple[float, int]],
) -> None:
    """Add a reading of the methods.

    Parameters
    ----------
    make : builds a method from its name and parameters, as `make_method` does.
    read : what is reported as d% and C of a result.
    """
    MAKERS[name], READINGS[name] = make, read


def method_spec(
    name: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    reading: str = PLAIN,
    called: str = "",
    request: Request | None = None,
) -> MethodSpec:
    """Return a method with its resolved parameters; unknown names and parameters are errors.

    Parameters
    ----------
    name : as in `make_method`, including ``module:function``. The source file of a user's
        method is part of the spec: if it changes, its results are run again.
    parameters : parameters of the method.
    reading : which reading of the method to use.
    called : its name in tables, if different.
    request : the other options; its method and parameters are replaced by these.
    """
    given = dict(parameters or {})
    asked = replace(request or Request(), method=name, parameters=given)
    recipe = build_method(MethodSpec(name, given, {}, reading, request=asked))
    other = called and called != recipe.name
    return MethodSpec(
        called if other else recipe.name,
        given,
        recipe.parameters,
        reading,
        own_digest(name),
        ref=recipe.name if other else "",
        request=asked,
    )


def own_digest(name: str) -> str:
    """Return the digest of the source of a user's method; empty for any other."""
    return source_digest(name.partition(":")[0].strip()) if is_user_method(name) else ""


def build_method(spec: MethodSpec) -> Method:
    """Return the method of a spec, ready to run."""
    name = spec.ref or spec.name
    if spec.reading == PLAIN:
        made = method_for(replace(spec.request, method=name, parameters=dict(spec.parameters)))
    else:
        made = find_entry(MAKERS, spec.reading, "reading")(name, **spec.parameters)
    return replace(made, name=spec.name) if spec.ref else made


def distance_and_calls(result: Counterfactual, reading: str = PLAIN) -> tuple[float, int]:
    """Return what a reading reports as d% and C of a result."""
    return find_entry(READINGS, reading, "reading")(result)
