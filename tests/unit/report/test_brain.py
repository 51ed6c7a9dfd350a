from __future__ import annotations

import base64
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.path import Path

from denseflip.report.brain import brain_outline, packed_surface
from stories import brain_nodes


def brain_surface():
    """Vertices in millimetres, and triangles as three vertex numbers each."""
    packed = {name: base64.b64decode(text) for name, text in packed_surface().items()}
    vertices = np.frombuffer(packed["vertices"], "<i2").reshape(-1, 3) / 10
    return vertices, np.frombuffer(packed["faces"], "<u2").reshape(-1, 3).astype(int)


def test_the_surface_is_closed():
    vertices, faces = brain_surface()
    assert (vertices.shape, faces.shape) == ((3002, 3), (6000, 3))
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    assert faces.max() == len(vertices) - 1
    assert (counts == 2).mean() > 0.99  # every edge between two triangles


def test_the_cerebellum_is_inside():
    vertices, faces = brain_surface()
    nodes = brain_nodes()
    for name, point in zip(nodes.names, np.asarray(nodes.coordinates), strict=True):
        if "Cerebelum_10" in name:  # the flocculus hangs in the cleft, a few millimetres out
            assert np.linalg.norm(vertices - point, axis=1).min() < 10
        else:
            assert abs(solid_angle(vertices, faces, point)) > 0.9, name


@pytest.mark.parametrize("view", ["x", "y", "z"])
def test_the_outline_is_what_nilearn_draws(view):
    from nilearn.plotting.glass_brain import plot_brain_schematics

    axes = Figure().add_subplot()
    plot_brain_schematics(axes, view)
    back = axes.transData.inverted()
    theirs = Path.make_compound_path(
        *(p.get_path().transformed(p.get_transform() + back) for p in axes.patches)
    )
    ours = brain_outline(view)
    np.testing.assert_allclose(ours.vertices, theirs.vertices, atol=1e-9)
    np.testing.assert_array_equal(ours.codes, theirs.codes)


def test_the_outline_needs_nothing_else_of_nilearn():
    code = (
        "import sys; from denseflip.report.brain import brain_outline; brain_outline('x'); "
        "print('nilearn.plotting' in sys.modules, 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def solid_angle(vertices, faces, point) -> float:
    """Winding number of the surface round a point: 1 inside, 0 outside."""
    a, b, c = (vertices[faces[:, i]] - point for i in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    top = np.einsum("ij,ij->i", a, np.cross(b, c))
    dot = np.einsum
    bottom = (
        la * lb * lc
        + dot("ij,ij->i", a, b) * lc
        + dot("ij,ij->i", b, c) * la
        + dot("ij,ij->i", c, a) * lb
    )
    return float(np.arctan2(top, bottom).sum() * 2 / (4 * np.pi))
