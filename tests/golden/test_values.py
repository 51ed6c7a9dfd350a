"""What holds parameters and results cannot be changed afterwards, and defaults stay as they are.

A default is a promise: figures in the docs, stores and scripts of users rest on it. `make golden`
writes the file anew; look at the difference before you commit it.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import denseflip

FILE = Path(__file__).parent / "toy" / "defaults.json"
PACKAGES = ("graph", "search", "oracles", "story", "metrics")
# What goes through a search and gathers on its way; all others are values.
LIVING = {
    "denseflip.graph.node_table._Reading",
    "denseflip.search.methods.best._Portfolio",
    "denseflip.search.constraints.bound_constraints.BoundConstraints",
    "denseflip.search.explain._Answer",
    "denseflip.search.explain._Run",
    "denseflip.search.claims.claim_search.ClaimTest",
    "denseflip.search.core.problem.Problem",
    "denseflip.search.core.problem.Walk",
}


def modules() -> Iterator[ModuleType]:
    """Every module of the packages below the entrances."""
    for package in PACKAGES:
        top = importlib.import_module(f"denseflip.{package}")
        yield top
        for found in pkgutil.walk_packages(top.__path__, f"{top.__name__}."):
            yield importlib.import_module(found.name)


def own(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Functions and classes that a module defines."""
    for name, value in vars(module).items():
        made_here = getattr(value, "__module__", None) == module.__name__
        if made_here and (inspect.isfunction(value) or inspect.isclass(value)):
            yield f"{module.__name__}.{name}", value


def plain(value: Any) -> bool:
    """Whether it says the same on every machine."""
    return value is None or isinstance(value, (bool, int, float, str, tuple))


def defaults(called: Any) -> dict[str, str]:
    """Parameters that need not be given, and what they are then."""
    given = inspect.signature(called).parameters.values()
    return {p.name: repr(p.default) for p in given if p.default is not p.empty and plain(p.default)}


def all_defaults() -> dict[str, dict[str, str]]:
    """Of every function, class and method; and the numbers that a module names for all to see."""
    found: dict[str, dict[str, str]] = {}
    for module in modules():
        found[module.__name__] = {
            name: repr(value)
            for name, value in vars(module).items()
            if name.isupper() and name[0] != "_" and type(value) in (int, float)
        }
        for name, value in own(module):
            if inspect.isfunction(value) or is_dataclass(value):
                found[name] = defaults(value)
            if inspect.isclass(value):
                for inner, method in vars(value).items():
                    method = getattr(method, "__func__", method)
                    made = inner.startswith("__") and is_dataclass(value)
                    if inspect.isfunction(method) and not made:
                        found[f"{name}.{inner}"] = defaults(method)
    return {name: some for name, some in found.items() if some}


@pytest.fixture(scope="module")
def golden(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.config.getoption("--regenerate-golden"):
        rows = (f" {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(all_defaults().items()))
        FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def test_defaults_stay_as_they_are(golden: dict[str, Any]) -> None:
    assert all_defaults() == golden


def test_what_holds_values_is_frozen() -> None:
    loose = {
        name
        for module in modules()
        for name, value in own(module)
        if is_dataclass(value) and not vars(value)["__dataclass_params__"].frozen
    }
    assert loose == LIVING


def test_every_module_is_looked_at() -> None:
    assert len(list(modules())) > 60
    assert denseflip.explain.__module__ in {module.__name__ for module in modules()}
