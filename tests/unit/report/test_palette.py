from __future__ import annotations

import colorsys

import pytest

from denseflip.report.palette import (
    ADDED,
    MARKERS,
    REMOVED,
    region_colours,
    region_markers,
    split_side,
)


def rgb(colour: str) -> tuple[float, float, float]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


def grey(colour: str) -> float:
    red, green, blue = rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_the_two_kinds_of_edit_differ_on_a_grey_print():
    assert grey(REMOVED) - grey(ADDED) > 0.15


def contrast_with_white(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(colour)]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def test_edits_stand_out_from_paper():
    # WCAG asks 3:1 of lines and large signs.
    assert contrast_with_white(REMOVED) > 3
    assert contrast_with_white(ADDED) > 4.5


@pytest.mark.parametrize("count", [1, 7, 10, 11, 30, 60])
def test_region_colours_differ_and_leave_red_and_blue_to_the_edits(count):
    colours = region_colours([f"region {i}" for i in range(count)])
    assert len(set(colours)) == count
    for colour in colours:
        hue, _, saturation = colorsys.rgb_to_hls(*rgb(colour))
        strong = saturation > 0.55
        assert not (strong and (hue * 360 < 5 or hue * 360 > 350)), f"{colour} looks like removed"
        assert not (strong and 205 < hue * 360 < 250), f"{colour} looks like added"


def test_left_and_right_share_a_hue_but_not_a_shade():
    left, right, other = region_colours(["left isocortex", "right isocortex", "left pallium"])
    hues = [colorsys.rgb_to_hls(*rgb(c))[0] for c in (left, right, other)]
    assert hues[0] == pytest.approx(hues[1], abs=0.01)
    assert abs(hues[0] - hues[2]) > 0.05
    assert grey(left) - grey(right) > 0.1


@pytest.mark.parametrize(
    ("name", "base", "side"),
    [
        ("left isocortex", "isocortex", "L"),
        ("Right_Insula", "Insula", "R"),
        ("Precentral_L", "Precentral", "L"),
        ("Thalamus (right)", "Thalamus", "R"),
        ("leftovers", "leftovers", ""),
        ("Vermis_8", "Vermis_8", ""),
    ],
)
def test_split_side(name, base, side):
    assert split_side(name) == (base, side)


def test_markers_repeat_only_after_all_were_used():
    assert len(set(region_markers(len(MARKERS)))) == len(MARKERS)
    assert region_markers(len(MARKERS) + 1)[-1] == MARKERS[0]
