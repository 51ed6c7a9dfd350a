from __future__ import annotations

import base64
import dataclasses
import importlib
import json
import pkgutil
import re
import typing
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import meta, nodes
from jinja2.exceptions import UndefinedError

import denseflip
from denseflip.report.html import Context, data_uri, environment, json_text

ROOMS = ("report", "experiments", "paper")  # where pages are made
TEMPLATES = files("denseflip.report") / "templates"
# What jinja itself gives: loop.first, loop.index0.
LOOP = {"first", "last", "index0", "index"}


def contexts() -> list[type[Context]]:
    """Every page there is, whichever room declares it."""
    for room in ROOMS:
        package = importlib.import_module(f"denseflip.{room}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    found, waiting = [], [Context]
    while waiting:
        children = waiting.pop().__subclasses__()
        found += children
        waiting += children
    return sorted(found, key=lambda c: c.__name__)


def parts_of(name: str) -> dict[str, nodes.Template]:
    """A template and those that it extends, imports or includes, parsed."""
    found: dict[str, nodes.Template] = {}
    waiting = [name]
    while waiting:
        here = waiting.pop()
        if here not in found:
            source = (TEMPLATES / here).read_text(encoding="utf-8")
            found[here] = environment().parse(source)
            waiting += [x for x in meta.find_referenced_templates(found[here]) if x]
    return found


def records(cls: type) -> set[type]:
    """The dataclasses and named tuples that a dataclass holds, at any depth."""
    found: set[type] = set()
    waiting: list[typing.Any] = list(typing.get_type_hints(cls).values())
    while waiting:
        hint = waiting.pop()
        waiting += typing.get_args(hint)
        if isinstance(hint, type) and hint not in found and fields_of(hint):
            found.add(hint)
            waiting += typing.get_type_hints(hint).values()
    return found


def fields_of(cls: type) -> set[str]:
    if dataclasses.is_dataclass(cls):
        return {f.name for f in dataclasses.fields(cls)}
    return set(getattr(cls, "_fields", ()))


def test_there_are_pages():
    names = {c.__name__.removesuffix("Context") for c in contexts()}
    assert names >= {"Page", "View", "Frame", "Table", "Index"}


@pytest.mark.parametrize("context", contexts(), ids=lambda c: c.__name__)
def test_a_template_uses_exactly_what_its_context_declares(context):
    parts = parts_of(context.template)
    known = set(environment().globals)
    for tree in parts.values():  # names that a template gives to macros and to what it imports
        known |= {m.name for m in tree.find_all(nodes.Macro)}
        known |= {i.target for i in tree.find_all(nodes.Import)}
    used = {n for tree in parts.values() for n in meta.find_undeclared_variables(tree)} - known
    assert used == fields_of(context)


@pytest.mark.parametrize("context", contexts(), ids=lambda c: c.__name__)
def test_a_template_uses_exactly_the_parts_of_the_records_it_is_given(context):
    parts = parts_of(context.template).values()
    macros = {m.name for tree in parts for m in tree.find_all(nodes.Macro)}
    used = {g.attr for tree in parts for g in tree.find_all(nodes.Getattr)} - macros - LOOP
    declared = {f for cls in records(context) for f in fields_of(cls)}
    assert declared <= used, "declared, but never shown"
    own = parts_of(context.template)[context.template]
    shown = {g.attr for g in own.find_all(nodes.Getattr)} - macros - LOOP
    assert shown <= declared, "shown, but never declared"


def test_every_template_belongs_to_a_page():
    used = {name for context in contexts() for name in parts_of(context.template)}
    assert used == {p.name for p in TEMPLATES.iterdir() if p.name.endswith(".j2")}


def test_nothing_is_passed_over_by_the_escaping():
    room = files("denseflip.report")
    for template in TEMPLATES.iterdir():
        if template.name.endswith(".j2"):
            text = template.read_text(encoding="utf-8")
            assert not re.search(r"\|\s*safe\b|autoescape\s+false", text), template.name
    for module in room.iterdir():
        if module.name.endswith(".py") and module.name != "html.py":
            assert "Markup" not in module.read_text(encoding="utf-8"), module.name


def test_what_comes_from_data_is_escaped_and_what_is_missing_is_an_error():
    made = environment()
    shown = made.from_string('<p title="{{ a }}">{{ a }}</p>').render(a="\"'<&>")
    assert shown == '<p title="&#34;&#39;&lt;&amp;&gt;">&#34;&#39;&lt;&amp;&gt;</p>'
    with pytest.raises(UndefinedError, match="'b' is undefined"):
        made.from_string("{{ b }}").render(a=1)


@given(
    st.recursive(st.text() | st.integers(), lambda s: st.lists(s) | st.dictionaries(st.text(), s))
)
def test_json_survives_any_content_and_cannot_end_its_element(data):
    text = str(json_text(data))
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == data


def test_data_uri_holds_the_content():
    uri = data_uri("<svg/>", "image/svg+xml")
    kind, _, body = uri.partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(body) == b"<svg/>"


def test_templates_stand_beside_the_package():
    assert str(TEMPLATES).startswith(denseflip.__path__[0])
