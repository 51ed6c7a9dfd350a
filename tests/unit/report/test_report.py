"""The names that the room gives, and how they are called."""

from __future__ import annotations

import inspect

import pytest

import denseflip
from denseflip import report

# A cohort has one taxonomy, and a reference is that of the sentence: no choice of regions.
FIXED = ("View", "plot_reference")
DRAWING = [name for name in report.__all__ if name not in FIXED and "cohort" not in name]


@pytest.mark.parametrize("name", report.__all__)
def test_names_are_had_from_the_room_itself(name):
    assert inspect.getdoc(getattr(report, name))
    assert getattr(denseflip, name, getattr(report, name)) is getattr(report, name)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'plot_conectome'"):
        report.plot_conectome  # noqa: B018


@pytest.mark.parametrize("name", DRAWING)
def test_regions_are_called_regions_everywhere(name):
    draw = getattr(report, name)
    known = inspect.signature(draw).parameters
    assert "regions" in known
    assert not {"taxonomy", "overwrite"} & set(known)
