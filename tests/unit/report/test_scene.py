from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denseflip.counterfactual import Status
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.graph import Nodes, Taxonomy
from denseflip.report.scene import headline, make_scene, thin
from stories import brain_nodes, make_story


def test_counts_are_of_all_edits_and_the_note_says_what_is_missing(busy):
    total = busy.result.distance
    scene = make_scene(busy, max_edges=100)
    assert len(scene.removed) + len(scene.added) == 100
    assert scene.n_removed + scene.n_added == total
    assert f"100 of {total:,} edits drawn" in scene.note
    assert f"{total - 100:,} left out" in scene.note


def test_no_note_when_everything_is_drawn(brain):
    scene = make_scene(brain, max_edges=16)
    assert scene.note == ""
    assert (scene.removed, scene.added) == (brain.result.removed, brain.result.added)


@pytest.mark.parametrize("value", [0, -3, True, 2.5, "10"])
def test_max_edges_must_be_positive(brain, value):
    with pytest.raises(InvalidParameterError, match=r"max_edges must be .* got"):
        make_scene(brain, max_edges=value)


def test_unknown_regions_list_the_known_ones(brain):
    with pytest.raises(UnknownNameError, match="lobe"):
        make_scene(brain, regions="lobes")


def test_regions_may_be_a_taxonomy_of_the_same_nodes(brain):
    halves = Taxonomy.from_labels("half", ["first"] * 58 + ["second"] * 58)
    assert make_scene(brain, regions=halves).taxonomy is halves
    with pytest.raises(InvalidParameterError, match="covers 2 nodes; the graph has 116"):
        make_scene(brain, regions=Taxonomy.from_labels("t", ["a", "b"]))


def test_changes_are_counted_by_node_and_by_region():
    nodes = Nodes(tuple("abcde"), regions={"part": ("x", "x", "y", "y", "z")})
    scene = make_scene(make_story(nodes, [(0, 1), (0, 2)], [(2, 3)]))
    assert scene.changes.tolist() == [2, 1, 2, 1, 0]
    assert scene.touched.tolist() == [0, 1, 2, 3]
    assert scene.ends.tolist() == [3, 3, 0]


def test_endpoints_and_matrix_count_every_edit(brain):
    scene = make_scene(brain)
    regions = scene.taxonomy.regions
    ends = dict(zip(regions, scene.cells.ends(scene.removed).tolist(), strict=True))
    assert ends["Frontal Lobe"] == 20
    assert sum(ends.values()) == 20
    inside = regions.index("Occipital Lobe")
    assert scene.cells.matrix(scene.added)[inside, inside] == 6
    assert scene.cells.matrix(scene.added).sum() == 6


def test_aal_is_in_mni_space_and_a_mouse_is_not(brain):
    assert make_scene(brain).in_mni
    nodes = brain_nodes()
    small = tuple((x / 20, y / 20, z / 20) for x, y, z in nodes.coordinates)
    mouse = Nodes(nodes.names, nodes.regions, small)
    assert not make_scene(make_story(mouse, [(0, 1)])).in_mni


def test_sides_come_from_the_hemisphere_column_or_the_names(brain, sided, plain):
    assert make_scene(brain).sides[:2] == ("L", "R")
    assert Counter(make_scene(sided).sides) == {"L": 6, "R": 6}
    assert set(make_scene(plain).sides) == {""}


def test_headline_names_subject_labels_and_method(brain):
    assert headline(brain) == "Patient 9: Control & <Normal> → Patient (tri)"
    lost = make_story(brain_nodes(), [(0, 1)], status=Status.EXHAUSTED)
    assert "no counterfactual found" in headline(lost)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_thinning_keeps_the_shares(data):
    pairs = [(u, v) for u in range(12) for v in range(u + 1, 12)]
    chosen = data.draw(st.lists(st.sampled_from(pairs), unique=True, min_size=2))
    cut = data.draw(st.integers(0, len(chosen)))
    removed, added = chosen[:cut], chosen[cut:]
    keep = data.draw(st.integers(1, len(chosen) - 1))
    taxonomy = Taxonomy.from_labels("t", ["a"] * 4 + ["b"] * 4 + ["c"] * 4)
    fewer_removed, fewer_added = thin(removed, added, taxonomy, keep)
    assert len(fewer_removed) + len(fewer_added) == keep
    assert len(set(fewer_removed)) == len(fewer_removed)
    assert set(fewer_removed) <= set(removed)
    assert set(fewer_added) <= set(added)

    def cells(some):
        return Counter(tuple(sorted((taxonomy.index[u], taxonomy.index[v]))) for u, v in some)

    for whole, part in ((removed, fewer_removed), (added, fewer_added)):
        for cell, count in cells(whole).items():
            assert abs(cells(part)[cell] - keep * count / len(chosen)) < 1
