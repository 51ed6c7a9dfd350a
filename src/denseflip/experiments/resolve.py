"""Methods of an experiment: from their names to specs, and from specs to methods.

Two registries hold what an experiment can name: how methods are built (`MAKERS`), and what is
reported as d% and C of their results (`READINGS`). A module of `denseflip.runs.sources.PLUG_INS`
adds to them with `register_reading`; it is imported when a name is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from denseflip.counterfactual import Counterfactual
from denseflip.experiments.spec import PLAIN, MethodSpec
from denseflip.runs.object_identity import source_digest
from denseflip.runs.sources import find_entry
from denseflip.search.methods.registry import Method, as_method, make_method
from denseflip.search.methods.user_methods import is_own


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
) -> MethodSpec:
    """A method with everything it resolves to; unknown names and parameters are errors.

    Parameters
    ----------
    name : as `make_method` takes it: also ``module:function``. Of a method of the user's own the
        source file is part of what the spec is: change it, and its results are run again.
    called : what it is called in tables, if not by that name.
    """
    given = dict(parameters or {})
    recipe = build_method(MethodSpec(name, given, {}, reading))
    if called and called != recipe.name:
        return MethodSpec(
            called, given, recipe.parameters, reading, own_digest(name), ref=recipe.name
        )
    return MethodSpec(recipe.name, given, recipe.parameters, reading, own_digest(name))


def own_digest(name: str) -> str:
    """Digest of the source of a method of the user's own; empty for any other."""
    return source_digest(name.partition(":")[0].strip()) if is_own(name) else ""


def build_method(spec: MethodSpec) -> Method:
    """The method of a spec, ready to run."""
    made = find_entry(MAKERS, spec.reading, "reading")(spec.ref or spec.name, **spec.parameters)
    return replace(made, name=spec.name) if spec.ref else made


def told_method(spec: MethodSpec) -> str | Method:
    """The method of a spec as `tell` takes it: by name, or the object that was given."""
    return spec.name if spec.given is None else as_method(spec.given)


def distance_and_calls(result: Counterfactual, reading: str = PLAIN) -> tuple[float, int]:
    """What a reading reports as d% and C of a result."""
    return find_entry(READINGS, reading, "reading")(result)
