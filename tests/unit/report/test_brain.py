from __future__ import annotations

import numpy as np

from denseflip.report.brain import brain_surface
from stories import brain_nodes


def test_the_surface_is_closed():
    vertices, faces = brain_surface()
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
