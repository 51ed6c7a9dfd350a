"""Pictures take a story, or a result with its nodes; anything else is told what to pass."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")

from denseflip import (
    Graph,
    Nodes,
    compare,
    explain,
    explain_many,
    load_dataset,
    plot_circle,
    plot_cohort_chords,
    plot_cohort_matrix,
    plot_cohort_patients,
    plot_comparison,
    plot_connectome,
    plot_region_matrix,
    plot_regions,
    view_connectome,
    write_page,
)
from denseflip.errors import InvalidParameterError, MissingInputError
from denseflip.report.scene import as_story, make_scene

PLOTS = (plot_connectome, plot_circle, plot_regions, plot_region_matrix)
WHAT = r"plot_regions\(result, nodes=nodes\); got"


@pytest.fixture(scope="module")
def result():
    graph = Graph.from_edges(6, [(0, 1), (1, 2), (0, 2), (3, 4)])
    return explain(graph, lambda a: int(a[0, 1]), "edg+min")


NODES = Nodes(tuple("abcdef"), regions={"part": ("North",) * 3 + ("South",) * 3})


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.__name__)
def test_a_result_with_its_nodes(plot, result, tmp_path):
    plot(result, nodes=NODES, path=tmp_path / "one.svg")
    text = (tmp_path / "one.svg").read_text()
    assert "North" in text


@pytest.mark.parametrize("plot", PLOTS[:2], ids=lambda plot: plot.__name__)
def test_a_bare_result_is_drawn_by_its_numbers(plot, result, tmp_path):
    plot(result, path=tmp_path / "one.svg")
    assert (tmp_path / "one.svg").exists()


@pytest.mark.parametrize("plot", PLOTS[2:], ids=lambda plot: plot.__name__)
def test_a_picture_of_regions_says_that_it_needs_them(plot, result):
    with pytest.raises(MissingInputError, match=r"plot_regions\(result, nodes=Nodes.read_csv"):
        plot(result)


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.__name__)
@pytest.mark.parametrize("wrong", [None, 3, "tri", Graph.from_edges(2, [(0, 1)]), NODES, []])
def test_anything_else_is_told_what_to_pass(plot, wrong):
    with pytest.raises(InvalidParameterError, match=rf"{WHAT} {type(wrong).__name__}"):
        plot(wrong)


def test_a_story_has_its_own_nodes(sided):
    other = Nodes.numbered(sided.nodes.n_nodes)
    with pytest.raises(InvalidParameterError, match="A story has its own nodes"):
        plot_circle(sided, nodes=other)
    assert as_story(sided, sided.nodes) is sided


def test_nodes_must_fit_the_result(result):
    with pytest.raises(Exception, match="6"):
        plot_circle(result, nodes=Nodes.numbered(5))


def test_entries_of_many_and_of_a_comparison_are_drawn(tmp_path):
    mice = load_dataset("mice")
    many = explain_many(mice, "edges-svm", [0], method="con")
    assert make_scene(many[0]).nodes == mice.nodes
    rows = compare(mice.graphs[0], lambda a: int(a[0].sum() > 5), ["edg", "rcli"])
    plot_comparison(rows, path=tmp_path / "rows.svg")  # rcli does not apply without regions
    failed = SimpleNamespace(story=None, failure="The oracle raised ValueError.")
    with pytest.raises(InvalidParameterError, match="nothing to draw: The oracle raised"):
        plot_circle(failed)


def test_a_comparison_of_results(result, tmp_path):
    both = {"one": result, "other": result}
    plot_comparison(both, nodes=NODES, path=tmp_path / "both.svg")
    text = (tmp_path / "both.svg").read_text()
    assert "other" in text
    assert "North" in text
    for wrong in (3, "tri"):
        with pytest.raises(InvalidParameterError, match="needs several stories"):
            plot_comparison(wrong)
    with pytest.raises(InvalidParameterError, match=WHAT):
        plot_comparison([3])


def test_interactive_pictures_and_pages(result, tmp_path):
    assert "North" in view_connectome(result, nodes=NODES).html
    with pytest.raises(InvalidParameterError, match=WHAT):
        view_connectome(3)
    with pytest.raises(InvalidParameterError, match=WHAT):
        write_page(3, tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("plot", [plot_cohort_matrix, plot_cohort_chords, plot_cohort_patients])
def test_pictures_of_a_cohort_say_what_to_pass(plot, sided):
    with pytest.raises(InvalidParameterError, match=r"explain_cohort\(dataset\).*got Story"):
        plot(sided)
