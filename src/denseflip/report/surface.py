"""The outline of a human brain for interactive pictures: whole, cerebellum included.

The meshes that nilearn ships show the cortex alone, and the cerebellar nodes of an atlas would
hang outside them; this one comes with the package (see ``data/README.md`` for its source).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt


@cache
def brain_surface() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Vertices in millimetres of MNI space, and triangles as three vertex numbers each.

    >>> vertices, faces = brain_surface()
    >>> vertices.shape, faces.shape
    ((3002, 3), (6000, 3))
    """
    with (files("denseflip.report") / "data" / "mni152_surface.npz").open("rb") as handle:
        archive = np.load(handle, allow_pickle=False)
        vertices = archive["vertices"].astype(np.float64) / 10
        faces = archive["faces"].astype(np.int64)
    return vertices, faces
