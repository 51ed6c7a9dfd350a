"""The pictures and the page of a group."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from denseflip.errors import DenseflipError
from denseflip.report import (
    make_cohort_page,
    plot_cohort_chords,
    plot_cohort_matrix,
    plot_cohort_patients,
    write_cohort_page,
)
from groups import CELLS, CHANCE, found_cohort

PICTURES = (plot_cohort_matrix, plot_cohort_chords, plot_cohort_patients)


def gids(figure: Any) -> list[str]:
    return [gid for artist in figure.findobj() if (gid := artist.get_gid())]


def test_the_matrix_marks_what_is_named() -> None:
    shown = gids(plot_cohort_matrix(found_cohort()))
    assert shown.count("cell-marked") == 2  # what decides, and where the groups differ
    assert shown.count("cell") + shown.count("cell-marked") == 2 * len(CELLS)
    unmarked = gids(plot_cohort_matrix(found_cohort(null=())))
    assert unmarked.count("cell-marked") == 0


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
    assert page.index("Better than chance: 95 %") < page.index("In 18 of 20")
    assert 'class="mark named"' in page
    assert page.count("<figure>") == 3
    assert "Every pair of regions that decides for anybody" in page
    assert all(patient.id in page for patient in found.observed.patients)
    path = write_cohort_page(found, tmp_path / "c.html")
    assert path.read_text(encoding="utf-8") == page
    with pytest.raises(DenseflipError, match="already"):
        write_cohort_page(found, path)


def test_the_page_of_a_classifier_at_chance_has_no_green_mark() -> None:
    page = make_cohort_page(found_cohort(evaluation=CHANCE))
    assert 'class="mark chance"' in page
    assert "mark named" not in page.split("</style>")[1]


def test_names_cannot_write_html() -> None:
    found = replace(found_cohort(), cell_names=("<script>alert(1)</script>",) * len(CELLS))
    page = make_cohort_page(found)
    assert "<script>alert" not in page
