from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.figure import Figure

from denseflip.report.canvas import svg_text
from denseflip.report.small_svg import small_svg, svg_uri


def paths(text: str) -> list[str]:
    return re.findall(r' d="([^"]*)"', text)


def cut(number: str) -> str:
    """A number with one decimal, cut and not rounded; none if it is zero."""
    whole, _, decimals = number.partition(".")
    return f"{whole}.{decimals[0]}" if decimals and decimals[0] != "0" else whole


@pytest.fixture(scope="module")
def drawing() -> str:
    figure = Figure(figsize=(3, 2))
    axes = figure.add_subplot()
    axes.plot(np.linspace(-1, 1, 50), np.random.default_rng(0).random(50) * 1e-3)
    axes.scatter([0, 1], [0, 1], marker="D")
    axes.text(0, 0, "A & b")
    return svg_text(figure)


def test_every_number_of_a_path_is_cut_and_none_is_lost(drawing):
    before = [re.findall(r"[A-Za-z]|-?[\d.]+", path) for path in paths(drawing)]
    after = [re.findall(r"[A-Za-z]|-?[\d.]+", path) for path in paths(small_svg(drawing))]
    assert len(before) > 10
    for one, other in zip(before, after, strict=True):
        cuts = [part if part.isalpha() else cut(part) for part in one]
        if len(other) < len(cuts):  # a move to where the pen is was left out
            continue
        assert other == cuts
    assert sum(len(a) == len(b) for a, b in zip(before, after, strict=True)) > 10


def test_nothing_but_paths_loses_its_spaces(drawing):
    assert all(" " not in path and "\n" not in path for path in paths(small_svg(drawing)))
    assert 'viewBox="0 0 ' in small_svg(drawing)


def test_a_drawing_without_paths_stays():
    assert small_svg("<svg> <g>1.234</g>\n</svg>") == "<svg><g>1.234</g></svg>"


def test_a_url_can_be_read_back():
    from urllib.parse import unquote

    text = "<g a=\"50 %\" b='#1'>\n&amp; %20</g>"
    made = svg_uri(text)
    assert made.startswith("data:image/svg+xml,")
    assert not set(" #<>&\"'\n") & set(made)
    assert unquote(made.partition(",")[2]) == text.replace("\n", " ")
