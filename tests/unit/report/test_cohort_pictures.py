"""The pictures and the page of a group."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from denseflip.cohort.data_notes import MADE_UP
from denseflip.cohort.words import halves_words
from denseflip.errors import DenseflipError
from denseflip.report import (
    make_cohort_page,
    plot_cohort_chords,
    plot_cohort_matrix,
    plot_cohort_patients,
    write_cohort_page,
)
from denseflip.report.cohort_headline import MARKS, headline_of, lines_of
from denseflip.report.cohort_page import _patient_table
from groups import CELLS, CHANCE, found_cohort, wide_cohort

PICTURES = (plot_cohort_matrix, plot_cohort_chords, plot_cohort_patients)


def gids(figure: Any) -> list[str]:
    return [gid for artist in figure.findobj() if (gid := artist.get_gid())]


def test_the_matrix_marks_what_is_named() -> None:
    shown = gids(plot_cohort_matrix(found_cohort()))
    assert shown.count("cell-marked") == 2  # what decides, and where the groups differ
    assert shown.count("cell") + shown.count("cell-marked") == 2 * len(CELLS)
    unmarked = gids(plot_cohort_matrix(found_cohort(null=())))
    assert unmarked.count("cell-marked") == 0


def test_the_difference_of_the_groups_has_a_scale() -> None:
    few = plot_cohort_matrix(found_cohort())  # no room in the corner: the title says it
    titles = [text.get_text() for text in few.findobj() if hasattr(text, "get_text")]
    assert any("full colour from ±" in title for title in titles)
    assert "scale" not in gids(few)
    many = wide_cohort([f"area {i}" for i in range(8)])
    assert gids(plot_cohort_matrix(many)).count("scale") == 1


def test_chords_are_bold_only_where_named() -> None:
    assert gids(plot_cohort_chords(found_cohort())).count("chord-more-named") == 1
    assert gids(plot_cohort_chords(found_cohort(null=()))).count("chord-more") == 1


def test_the_strip_has_a_mark_for_everybody_who_counts() -> None:
    shown = gids(plot_cohort_patients(found_cohort()))
    assert shown.count("changed") == 18
    assert shown.count("wrong") == 0


@pytest.mark.parametrize("draw", PICTURES)
def test_pictures_are_files_too_and_draw_any_name(draw: Any, tmp_path: Any) -> None:
    odd = found_cohort()
    odd = replace(
        odd,
        region_names=("$x$ & <b>", "_y", "z" * 90),
        cell_names=("$x$ – <b>",) * len(CELLS),
        class_counts={"A $": 10, "_B": 10},
    )
    for narrow in (False, True):
        draw(odd, path=tmp_path / f"{narrow}.png", narrow=narrow)
        assert (tmp_path / f"{narrow}.png").stat().st_size > 3000
    with pytest.raises(DenseflipError, match="already"):
        draw(odd, path=tmp_path / "True.png")


def test_the_page_says_it_first_and_holds_everything(tmp_path: Any) -> None:
    found = found_cohort()
    page = make_cohort_page(found)
    first = page.index('class="statement named"')
    assert first < page.index("In 18 of 20") < page.index("better than chance: <b>95 %")
    assert page.index("better than chance: <b>95 %") < page.index("<figure>")
    assert page.index("<figure>") < page.index('<details class="fold"')
    assert page.count("<figure>") == 3
    assert "All region pairs that a decision depends on" in page
    assert all(patient.id in page for patient in found.observed.patients)
    path = write_cohort_page(found, tmp_path / "c.html")
    assert path.read_text(encoding="utf-8") == page
    with pytest.raises(DenseflipError, match="already"):
        write_cohort_page(found, path)


def test_the_page_of_a_classifier_at_chance_has_no_green_mark() -> None:
    page = make_cohort_page(found_cohort(evaluation=CHANCE))
    assert 'class="statement chance"' in page
    assert "chip good" not in page.split("</style>")[1]


def test_the_result_is_one_sentence() -> None:
    assert headline_of(found_cohort()).startswith("In 18 of 20 ")
    assert "at chance" in headline_of(found_cohort(evaluation=CHANCE))
    assert headline_of(found_cohort(null=())) == MARKS["untested"]


def test_the_page_says_how_p_is_corrected_and_what_its_words_mean() -> None:
    found = found_cohort()
    spoken = found.class_names[found.spoken]
    meant, apart, test = lines_of(found)
    assert f"differ significantly in {len(found.differing)} of {len(CELLS)} region pairs" in apart
    assert meant.startswith(f"Towards {spoken}: with {found.named[0].direction} of these ")
    assert f"from {found.permutations} permutations of the labels" in test
    pairs = f"all {len(CELLS)} region pairs and both directions"
    assert f"by the maximum over {pairs} (Westfall–Young)" in test
    other = lines_of(replace(found, correction="bh"))[2]
    assert f"false discovery rate over {pairs} (Benjamini–Hochberg)" in other
    page = make_cohort_page(found)
    first = page.index("(p of the region pair). Second: ")
    assert first < page.index("(p of the group difference).")
    assert page.index("(Westfall–Young)") < page.index("<figure>")
    flipped = sum(change.flipped for change in found.shared)
    counted = sum(change.counted for change in found.shared)
    assert f"It flips {flipped} of {counted} {found.noun}." in page
    assert lines_of(untested := found_cohort(null=())) == ()
    assert "(p of the region pair)" not in make_cohort_page(untested)


def test_made_up_data_are_said_to_be_once() -> None:
    found = replace(found_cohort(), notes=(MADE_UP, "Another note."))
    assert lines_of(found)[0] == MADE_UP
    page = make_cohort_page(found)
    assert page.count(MADE_UP) == 1
    assert page.index(MADE_UP) < page.index("<figure>") < page.index("Another note.")


def test_one_large_difference_does_not_make_the_others_pale() -> None:
    found = wide_cohort(["a", "b", "c", "d", "e"])
    t = [4.0 + 0.1 * i for i in range(len(found.observed.difference))]

    def shown(difference: list[float]) -> tuple[str, list[str], list[float]]:
        observed = replace(found.observed, difference=tuple(difference))
        figure = plot_cohort_matrix(replace(found, observed=observed))
        axes = figure.axes[1]
        key = [x.get_text() for x in axes.child_axes[0].get_xticklabels()]
        blue = [1 - patch.get_facecolor()[0] for patch in axes.patches]  # how far from white
        return " ".join(x.get_text() for x in figure.texts), key, blue

    said, key, even = shown(t)
    assert "colours of t end" not in said
    assert not key[2].startswith("≥")
    said, key, uneven = shown([40.0, *t[1:]])
    assert "the largest is 40.0." in said
    assert key[2].startswith("≥ ")
    assert min(uneven[1:]) > 0.3 * min(even[1:])


def test_halves_that_disagree_are_said_to() -> None:
    found = found_cohort()
    assert found.shared
    assert halves_words(found) == ""
    change = found.shared[0]
    one = change.halves[0]
    apart = replace(one, amounts={len(CELLS) - 1: 3})
    odd = replace(found, shared=(replace(change, halves=(one, apart)),))
    assert "different shared changes" in halves_words(odd)
    assert halves_words(odd) in odd.sentences  # on the terminal
    assert halves_words(odd) in odd.to_dict()["statement"]
    assert make_cohort_page(odd).count(halves_words(odd)) == 1


def test_names_cannot_write_html() -> None:
    found = replace(found_cohort(), cell_names=("<script>alert(1)</script>",) * len(CELLS))
    page = make_cohort_page(found)
    assert "<script>alert" not in page


LONG = "caudal secondary prosencephalon"


def texts(figure: Any) -> list[Any]:
    """Everything written on a figure that is not empty, with where it stands."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    there = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    return [(t, t.get_window_extent(canvas.get_renderer())) for t in there]


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("n", [2, 14, 57])
def test_nothing_is_cut_off_and_no_two_headings_meet(n: int, narrow: bool) -> None:
    names = ["L", "R"] if n == 2 else [f"{LONG if i % 3 else 'CSF'} {i}" for i in range(n)]
    found = wide_cohort(names)
    assert found.named
    for draw in PICTURES:
        figure = draw(found, narrow=narrow)
        width, height = figure.get_size_inches() * figure.dpi
        assert width <= (3.56 if narrow else 13.2) * figure.dpi
        written = texts(figure)
        for text, box in written:
            inside = box.x0 >= -2 and box.x1 <= width + 2 and box.y0 >= -2 and box.y1 <= height + 2
            assert inside, (draw.__name__, text.get_text())
        level = [(t, box) for t, box in written if t.get_rotation() == 0]
        for i, (one, a) in enumerate(level):
            for other, b in level[:i]:
                apart = a.x1 < b.x0 + 1 or b.x1 < a.x0 + 1 or a.y1 < b.y0 + 3 or b.y1 < a.y0 + 3
                assert apart, (draw.__name__, one.get_text(), other.get_text())


def test_what_is_left_out_of_a_picture_is_said() -> None:
    found = wide_cohort([f"{LONG} {i}" for i in range(57)], people=320)

    def said(draw: Any, **given: Any) -> str:
        figure = draw(found, **given)
        rows = [t.get_text() for ax in figure.axes for t in ax.get_yticklabels()]
        return " ".join([*(t.get_text() for t in figure.texts), *rows])

    shown = said(plot_cohort_matrix)
    assert "The 30 most used of 57 regions." in shown
    assert "14 most used of 57 regions" in said(plot_cohort_matrix, narrow=True)
    assert "300 of 320 graphs, evenly sampled." in said(plot_cohort_patients)
    named = {x for row in found.named for x in row.name.split(" – ")}
    assert all(name in shown for name in named)


def test_a_page_of_very_many_lists_the_first_and_says_so() -> None:
    table = _patient_table(wide_cohort(["L", "R"], people=1200))
    assert table.title == "The first 1,000 of 1,200 explained graphs"
    assert len(table.rows) == 1000
    assert "patients.tsv" in table.notes[0]
    assert _patient_table(wide_cohort(["L", "R"])).title == "All explained graphs"


def test_every_p_value_and_every_number_of_permutations_is_named() -> None:
    page = make_cohort_page(found_cohort())
    for named in (
        "permutation test of the accuracy p = 0.005 (200 permutations)",
        "p of the region pair = 0.05, family-wise, 19 label permutations",
        "test of region pairs: <b>19 label permutations</b>",
        "The p-values of region pairs come from 19 permutations",
        "p (region pair)",
        "p (group difference)",
        "<dt>permutations, test of region pairs</dt><dd>19</dd>",
        "<dt>permutations, test of the accuracy</dt><dd>200</dd>",
    ):
        assert named in page, named
