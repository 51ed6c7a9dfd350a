"""CIFTI-2 files of parcels: ``.pconn.nii`` (connectivity) and ``.ptseries.nii`` (time series)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from denseflip.datasets.number_tables import NumberTable
from denseflip.errors import FileFormatError, MissingExtraError, TooLargeError
from denseflip.limits import check_size


def read_cifti(path: Path) -> NumberTable:
    """The numbers of a parcellated CIFTI-2 file with the names of its parcels.

    A time series is returned as time points × parcels. Needs nibabel (extras ``cifti``, ``brain``).
    """
    try:
        import nibabel as nib
        from nibabel.cifti2 import Cifti2Image, ParcelsAxis, SeriesAxis
    except ImportError as error:
        raise MissingExtraError("nibabel", "cifti") from error
    if not path.is_file():
        msg = f"{path}: there is no such file."
        raise FileFormatError(msg)
    try:
        check_size(path.stat().st_size, f"{path.name}: the file")
        image: Any = nib.load(path)
        if not isinstance(image, Cifti2Image) or image.ndim != 2:
            msg = f"{path.name}: not a CIFTI-2 matrix."
            raise FileFormatError(msg)
        rows, columns = (image.header.get_axis(i) for i in (0, 1))
        check_size(8.0 * image.shape[0] * image.shape[1], f"{path.name}: its numbers")
        values = np.asarray(image.dataobj, dtype=np.float64)
    except (FileFormatError, TooLargeError):
        raise
    except Exception as error:  # nibabel and its XML reader raise their own exceptions
        msg = f"{path.name}: cannot be read as CIFTI-2 ({type(error).__name__}: {error!s:.120})."
        raise FileFormatError(msg) from error
    if isinstance(columns, SeriesAxis) and isinstance(rows, ParcelsAxis):
        rows, columns, values = columns, rows, values.T
    if not isinstance(columns, ParcelsAxis) or not isinstance(rows, (ParcelsAxis, SeriesAxis)):
        kinds = f"{type(rows).__name__} × {type(columns).__name__}"
        msg = (
            f"{path.name}: its axes are {kinds}; parcels are needed. A dense file "
            "(.dconn, .dtseries) must be parcellated first: wb_command -cifti-parcellate."
        )
        raise FileFormatError(msg)
    names = tuple(map(str, columns.name.tolist()))
    own = tuple(map(str, rows.name.tolist())) if isinstance(rows, ParcelsAxis) else None
    return NumberTable(values, names, own)
