from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denseflip.report.circle import circle_layout, controls, spread
from denseflip.report.scene import make_scene


def test_every_node_has_a_place_of_its_own_on_the_circle(brain, sided, plain):
    for story in (brain, sided, plain):
        points = circle_layout(make_scene(story)).points
        assert np.allclose(np.linalg.norm(points, axis=1), 1)
        assert len(np.unique(points.round(6), axis=0)) == len(points)


def test_left_is_left_and_mirrors_right(sided):
    circle = circle_layout(make_scene(sided))
    left, right = circle.points[:6], circle.points[6:]
    assert (left[:, 0] < 0).all()
    assert (right[:, 0] > 0).all()
    assert np.allclose(left * [-1, 1], right)


def test_regions_are_arcs_that_do_not_overlap(brain):
    groups = circle_layout(make_scene(brain)).groups
    assert sum(g.size for g in groups) == 116
    for before, after in pairwise(groups):
        assert before.end < after.start
    assert groups[-1].end < 2 * np.pi


def test_chords_join_their_nodes_inside_the_circle():
    angles = np.linspace(0, 2 * np.pi, 13)[:-1]
    points = np.column_stack([np.sin(angles), np.cos(angles)])
    pairs = [(0, 1), (0, 6), (2, 9)]
    start, control, stop = np.split(controls(points, pairs), 3, axis=1)
    t = np.linspace(0.0, 1.0, 17)[None, :, None]
    curves = (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * stop
    for (u, v), curve in zip(pairs, curves, strict=True):
        assert np.allclose(curve[[0, -1]], points[[u, v]])
        assert np.linalg.norm(curve, axis=1).max() <= 1 + 1e-9
    assert controls(points, []).shape[0] == 0


@settings(max_examples=80, deadline=None)
@given(st.lists(st.floats(-1, 1), max_size=12))
def test_spread_keeps_distance_order_and_bounds(wanted):
    placed = spread(np.array(wanted), 0.15, -1.2, 1.2)
    order = np.argsort(np.array(wanted), kind="stable")
    gaps = np.diff(placed[order])
    assert (gaps >= 0.15 - 1e-9).all()
    assert not len(placed) or (placed.min() >= -1.2 - 1e-9 and placed.max() <= 1.2 + 1e-9)


def test_spread_leaves_what_is_apart_alone():
    assert spread(np.array([1.0, -1.0]), 0.5, -2, 2).tolist() == pytest.approx([1.0, -1.0])
