"""Every method, refinement, rank and schedule is told in docs/methods.md, with all it takes."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from denseflip import methods
from denseflip.search.methods.blocks import RANKS
from denseflip.search.methods.dcs import DENSIFIERS, SCHEDULES, SPARSIFIERS
from denseflip.search.methods.registry import ALIASES, METHODS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "methods.md"
TEXT = PAGE.read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^#{2,3} |\Z)", TEXT, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("name", [m.name for m in methods()])
def test_every_method_and_suffix_has_a_section(name):
    assert name in SECTIONS, f"add a section '### {name}' to docs/methods.md"
    section = SECTIONS[name]
    for part in ("Cost", "When", "From"):
        assert re.search(rf"\*\*.*{part}", section, re.IGNORECASE), (
            f"the section on {name} in docs/methods.md does not say '{part}'"
        )


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_a_method_is_told(name):
    section = SECTIONS[name]
    like = re.search(r"\bas (?:in )?`(\w+)`", section, re.IGNORECASE)
    told = section + (SECTIONS[like[1]] if like else "")
    missing = [p for p in inspect.signature(METHODS[name].build).parameters if f"`{p}`" not in told]
    assert not missing


@pytest.mark.parametrize("name", [*RANKS, *SCHEDULES])
def test_every_rank_and_schedule_has_a_row(name):
    assert re.search(rf"^\| `{name}` \|", TEXT, re.MULTILINE)


@pytest.mark.parametrize("name", sorted({*SPARSIFIERS, *DENSIFIERS, *ALIASES} - {"contrast"}))
def test_every_structure_and_alias_is_mentioned(name):
    assert f"`{name}`" in TEXT


def test_no_section_tells_of_a_method_that_is_not_there():
    known = {m.name for m in methods()}
    named = {s for s in SECTIONS if s.islower() or s.startswith("+")}
    assert named <= known


def test_the_page_says_what_each_method_needs():
    for m in methods():
        if "regions" in m.needs:
            assert "region" in SECTIONS[m.name]
