from __future__ import annotations

import colorsys
import json
import re
from pathlib import Path

import pytest

import denseflip
from denseflip.report.palette import (
    ADDED,
    DARK,
    LETTERS,
    MARKERS,
    PAGE,
    PALE,
    PAPER,
    REMOVED,
    app_variables,
    contrast,
    css_variables,
    ink_on,
    on_dark,
    region_colours,
    region_markers,
    split_side,
)

SOURCE = Path(denseflip.__path__[0])
TEMPLATES = SOURCE / "report" / "templates"


def rgb(colour: str) -> tuple[float, float, float]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


def grey(colour: str) -> float:
    red, green, blue = rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_the_two_kinds_of_edit_differ_on_a_grey_print():
    assert grey(REMOVED) - grey(ADDED) > 0.15


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert contrast("#ffffff", "#777777") == contrast("#777777", "#ffffff")


def test_edits_stand_out_from_paper():
    # WCAG asks 3:1 of lines and large signs.
    assert contrast(REMOVED, PAPER) >= 3
    assert contrast(ADDED, PAPER) >= 3


TEXTS = ("ink", "note", "quiet", "removed-ink", "added", "good")
GROUNDS = ("paper", "soft", "good-back", "warning-back", "hover")


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("text", TEXTS)
def test_words_can_be_read_on_every_ground_of_the_page(text, ground):
    assert contrast(PAGE[text], PAGE[ground]) >= 4.5


@pytest.mark.parametrize("colour", [REMOVED, ADDED])
def test_counts_can_be_read_on_every_shade_of_a_matrix(colour):
    for share in range(0, 101, 5):
        shade = "#" + "".join(
            f"{round(255 * (a + (b - a) * share / 100)):02x}"
            for a, b in zip(rgb(PALE), rgb(colour), strict=True)
        )
        assert contrast(ink_on(shade), shade) >= 4


def test_every_colour_of_a_style_is_declared_and_every_declared_one_used():
    styles = "".join(
        p.read_text(encoding="utf-8") for p in TEMPLATES.iterdir() if p.suffix in {".css", ".j2"}
    )
    script = (TEMPLATES / "connectome.js").read_text(encoding="utf-8")
    drawn = json.loads(re.search(r"const COLOURS = (\[.*?\]);", script)[1])
    places = {"from", "to"}  # the ends of a band behind a slider
    used = set(re.findall(r"var\(--([\w-]+)\)", styles)) - places
    assert used | set(drawn) == set(PAGE)
    for name, colour in PAGE.items():
        assert f"--{name}: {colour};" in css_variables()


NAMED = (
    "aqua|black|blue|brown|cyan|gold|gray|green|grey|lime|magenta|maroon|navy|orange|pink|purple"
    "|red|salmon|silver|teal|violet|white|yellow"
)
LITERAL = re.compile(
    r"(?<!&)#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3,4})\b"
    r"|\b(?:rgb|hsl|hwb|lab|lch|oklab|oklch)a?\("
    rf"|[\"'](?:(?:light|dark)?(?:{NAMED})|tab:\w+|C\d|xkcd:.+?)[\"']"
)
STYLED = re.compile(rf":[^;{{}}]*\b(?:light|dark)?(?:{NAMED})\b[^;{{}}]*[;}}]")


def test_no_colour_is_written_anywhere_else():
    for path in sorted(SOURCE.rglob("*")):
        if path.suffix not in {".py", ".j2", ".css", ".js"} or path.name == "palette.py":
            continue
        text = path.read_text(encoding="utf-8")
        found = [m[0] for m in LITERAL.finditer(text)]
        if path.suffix == ".css":
            found += [m[0] for m in STYLED.finditer(text)]
        assert found == [], path


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("#fff", 1),
        ("'#0b4a8f'", 1),
        ("rgba(0, 0, 0, .5)", 1),
        ('"white"', 1),
        ('"tab:blue"', 1),
        ("&#39;", 0),
        ("red and dashed", 0),
        ("#edits", 0),
        ("var(--ink)", 0),
    ],
)
def test_the_search_for_colours_finds_them(text, caught):
    assert len(LITERAL.findall(text)) == caught


@pytest.mark.parametrize("count", [1, 7, 10, 11, 30, 60])
def test_region_colours_differ_and_leave_red_and_blue_to_the_edits(count):
    colours = region_colours([f"region {i}" for i in range(count)])
    assert len(set(colours)) == count
    for colour in colours:
        hue, _, saturation = colorsys.rgb_to_hls(*rgb(colour))
        strong = saturation > 0.55
        assert not (strong and (hue * 360 < 5 or hue * 360 > 350)), f"{colour} looks like removed"
        assert not (strong and 205 < hue * 360 < 250), f"{colour} looks like added"


@pytest.mark.parametrize("count", [10, 30, 60])
def test_regions_stand_out_from_dark_paper(count):
    names = [f"{side} region {i}" for i in range(count // 2) for side in ("left", "right")]
    for colour in region_colours(names):
        assert contrast(on_dark(colour), DARK["paper"]) >= 3
        if contrast(colour, DARK["paper"]) >= 3:
            assert on_dark(colour) == colour


def test_edits_stand_out_from_dark_paper():
    for name in ("removed", "added"):
        assert contrast(DARK[name], DARK["paper"]) >= 3


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


@pytest.mark.parametrize("ground", ["paper", "soft", "hover"])
@pytest.mark.parametrize("text", ["ink", "note", "quiet", "removed-ink", "added", "good", "listed"])
def test_words_can_be_read_in_the_dark(text, ground):
    assert contrast(DARK[text], DARK[ground]) >= 4.5


@pytest.mark.parametrize("colours", [PAGE, DARK])
def test_classes_do_not_look_like_edits(colours):
    def levels(colour: str) -> list[int]:
        return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]

    for kind in ("class-1", "class-2"):
        red, green, blue = levels(colours[kind])
        grey = max(red, green, blue) - min(red, green, blue) < 32
        violet = green < red < blue
        assert grey or violet  # neither the red nor the blue of edits
    assert contrast(colours["class-1"], colours["class-2"]) >= 1.3  # told apart in grey print


@pytest.mark.parametrize("level", range(256))
def test_one_kind_of_letters_can_be_read_on_every_grey(level):
    ground = f"#{level:02x}{level:02x}{level:02x}"
    assert max(contrast(ink, ground) for ink in LETTERS.values()) >= 4.5


def test_the_dark_has_every_colour_of_the_light():
    assert set(DARK) == set(PAGE)
    assert app_variables().count("--ink:") == 2
