"""File layouts of other programs: XCP-D, CIFTI, CONN, ABIDE, QSIRecon, and stacks of matrices.

A layout is one function that reads a table with its names, and one line in `LAYOUTS`. Files are
recognised by their names, anywhere below the folder; the group ``id`` of the pattern is the id of
the graph.

References
----------
XCP-D: https://xcp-d.readthedocs.io/en/latest/outputs.html. QSIRecon: its page on connectivity
matrices. CONN: ``results/firstlevel/…/resultsROI_*.mat``. ABIDE: the Preprocessed Connectomes
Project, http://preprocessed-connectomes-project.org/abide/download.html.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.datasets.arrays import Arrays
from denseflip.datasets.import_job import FileImporter, FolderImporter, Import, ReadOptions, Whole
from denseflip.datasets.matrix_files import read_chosen, table_importer
from denseflip.datasets.number_tables import BINARY, read_arrays
from denseflip.datasets.table_shapes import NumberTable
from denseflip.errors import (
    FileFormatError,
    InvalidParameterError,
    MissingExtraError,
    TooLargeError,
    UnknownNameError,
)
from denseflip.limits import check_size

_GROUP = re.compile(r"resultsROI_Condition\d+\.mat", re.IGNORECASE)
_AXES = ("first", "last")


# ---- CONN -------------------------------------------------------------------------------


def _conn_array(arrays: Arrays, source: str, ndim: int) -> npt.NDArray[Any]:
    """CONN's ``Z`` over its sources; the targets beyond them are left out."""
    values = arrays.numbers.get("Z")
    if values is None or values.ndim != ndim:
        got = "no Z" if values is None else f"Z of shape {values.shape}"
        msg = f"{source}: expected CONN's matrix Z with {ndim} dimensions; got {got}."
        raise FileFormatError(msg)
    names, targets = arrays.texts.get("names"), arrays.texts.get("names2")
    n = values.shape[0]
    if values.shape[1] < n or (names and targets and targets[: len(names)] != names):
        msg = (
            f"{source}: the sources of Z are not the first of its targets (shape {values.shape}), "
            "so there is no square matrix. Run CONN's ROI-to-ROI analysis over one set of ROIs."
        )
        raise FileFormatError(msg)
    square = values[:, :n].astype(np.float64)
    square[np.arange(n), np.arange(n)] = 0.0  # CONN stores no value for a region with itself
    return square


def _conn_names(arrays: Arrays, n: int) -> tuple[tuple[str, ...] | None, Any]:
    names, places = arrays.texts.get("names"), arrays.points.get("xyz")
    return (
        names if names and len(names) == n else None,
        places[:n] if places and len(places) >= n else None,
    )


def _conn(path: Path, options: ReadOptions) -> NumberTable:
    arrays = read_arrays(path)
    values = _conn_array(arrays, path.name, 2)
    names, places = _conn_names(arrays, len(values))
    return NumberTable(values, names, names, places)


def _group_files(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder] if _GROUP.fullmatch(folder.name) else []
    found = sorted(p for p in folder.rglob("resultsROI_*.mat") if p.is_file())
    return [] if any("_Subject" in p.name for p in found) else found


def _conn_group(job: Import) -> Whole:
    """The file in which CONN stores one condition of all subjects, in order."""
    found = _group_files(job.folder)
    if len(found) != 1:
        listed = ", ".join(p.name for p in found) or "none"
        msg = f"{job.folder}: expected one resultsROI_Condition….mat; found: {listed}. "
        raise FileFormatError(msg + "Pass the file itself instead of the folder.")
    path = found[0]
    arrays = read_arrays(path)
    values = _conn_array(arrays, path.name, 3)
    names, places = _conn_names(arrays, len(values))
    job.notes.append(f"The graphs are the subjects of {path.name}, in its order.")
    count = values.shape[2]
    return Whole(
        tables=[NumberTable(values[:, :, i], names, names, places) for i in range(count)],
        ids=[f"Subject{i + 1:03d}" for i in range(count)],
        by_order=True,
    )


# ---- QSIRecon ---------------------------------------------------------------------------


def _qsirecon(path: Path, options: ReadOptions) -> NumberTable:
    """One measure of one atlas; must be chosen if there are several."""
    arrays = read_arrays(path)
    measures = [
        name
        for name, value in arrays.numbers.items()
        if name.endswith("_connectivity") and value.ndim == 2 and value.shape[0] == value.shape[1]
    ]
    wanted = options.variable
    chosen = measures if wanted is None else [x for x in measures if x == wanted]
    chosen = chosen or [x for x in measures if wanted is not None and wanted in x]
    if len(chosen) != 1:
        listed = ", ".join(measures) or "none"
        asked = "" if wanted is None else f" {wanted!r} matches {len(chosen)} of them."
        msg = f"{path.name}: choose one measure of one atlas (variable).{asked} "
        msg += f"It holds: {listed}."
        raise FileFormatError(msg, parameter="variable")
    values = arrays.numbers[chosen[0]]
    check_size(8.0 * values.size, f"{path.name}: its array {chosen[0]!r}")
    names = arrays.names_of(chosen[0])
    return NumberTable(values.astype(np.float64), names, names)


# ---- a stack ----------------------------------------------------------------------------


def _stack_file(folder: Path) -> Path | None:
    """The file that holds a stack: the given file, or the only binary one of a folder."""
    if folder.is_file():
        return folder if folder.suffix.lower() in BINARY and _is_stack(folder) else None
    found = [p for p in sorted(folder.iterdir()) if p.suffix.lower() in BINARY and p.is_file()]
    return found[0] if len(found) == 1 and _is_stack(found[0]) else None


def _is_stack(path: Path) -> bool:
    if re.match(r"(?i)resultsROI_", path.name):
        return False
    try:
        if path.suffix.lower() == ".npy":
            return int(np.load(path, mmap_mode="r", allow_pickle=False).ndim) == 3
        return any(v.ndim == 3 for v in read_arrays(path).numbers.values())
    except Exception:  # a damaged file is reported when it is read
        return False


def _stack(job: Import) -> Whole:
    path = _stack_file(job.folder)
    if path is None:
        msg = f"{job.folder}: no stack of matrices found: expected one .npy, .npz or .mat file "
        msg += "with an array with three axes, n × n × subjects or subjects × n × n."
        raise FileFormatError(msg)
    arrays = read_arrays(path)
    name = arrays.choose(job.options.variable, path.name, ndim=3)
    array = arrays.numbers[name]
    if array.dtype.kind not in "biuf":
        msg = f"{path.name}: a stack must hold real numbers; got {array.dtype}."
        raise FileFormatError(msg)
    axis = _axis(array, job.options.axis, path.name)
    check_size(8.0 * array.size, f"{path.name}: its {array.shape} numbers")
    moved = np.moveaxis(array, -1, 0) if axis == "last" else array
    n = moved.shape[1]
    job.notes.append(
        f"{path.name}: shape {array.shape}, read as {len(moved)} matrices of {n} nodes (the "
        f"{axis} axis counts the subjects)."
    )
    names = arrays.node_names(n)
    return Whole(
        tables=[NumberTable(m.astype(np.float64), names, names) for m in moved],
        labels=_column(arrays, ("labels", "y", "classes"), len(moved)),
        ids=_column(arrays, ("ids", "subjects", "id"), len(moved)),
        by_order=True,
    )


def _column(arrays: Arrays, names: tuple[str, ...], count: int) -> list[str] | None:
    """A list with this many texts or whole numbers, stored next to the stack."""
    for name in names:
        if len(arrays.texts.get(name, ())) == count:
            return list(arrays.texts[name])
        values = arrays.numbers.get(name)
        if values is None or values.dtype.kind not in "biuf":
            continue
        if values.size == count and not (values % 1).any():
            return [str(int(x)) for x in values.ravel().tolist()]
    return None


def _axis(array: npt.NDArray[Any], wanted: str | None, source: str) -> str:
    """Which axis counts the subjects; raises if shape and symmetry do not decide it."""
    a, b, c = array.shape
    if wanted is not None and wanted not in _AXES:
        raise UnknownNameError("axis", wanted, _AXES, parameter="axis")
    fit = [axis for axis, square in (("first", b == c), ("last", a == b)) if square]
    if not fit:
        msg = f"{source}: shape {array.shape} is not a stack of square matrices; expected "
        raise FileFormatError(msg + "n × n × subjects or subjects × n × n.")
    if wanted is not None:
        if wanted not in fit:
            msg = f"{source}: shape {array.shape}: the {wanted} axis cannot count the subjects, "
            raise InvalidParameterError(msg + f"only the {fit[0]} can.", parameter="axis")
        return wanted
    if len(fit) == 1:
        return fit[0]
    symmetric = {
        "first": bool(np.allclose(array, array.transpose(0, 2, 1), equal_nan=True)),
        "last": bool(np.allclose(array, array.transpose(1, 0, 2), equal_nan=True)),
    }
    fit = [axis for axis in fit if symmetric[axis]]
    if len(fit) == 1:
        return fit[0]
    msg = (
        f"{source}: shape {array.shape} has as many subjects as nodes, so either the first or the "
        "last axis may count the subjects. Set axis='first' or axis='last'."
    )
    raise FileFormatError(msg, parameter="axis")


# ---- CIFTI --------------------------------------------------------------------------


def read_cifti(path: Path, options: ReadOptions) -> NumberTable:
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


_BIDS = r"(?P<id>sub-[A-Za-z0-9]+)(?:_.*)?"

#: The layouts in order of preference, for programs that write several of them.
LAYOUTS: tuple[FileImporter | FolderImporter, ...] = (
    table_importer(
        "xcpd",
        "XCP-D's correlation matrices, *_relmat.tsv",
        (".tsv",),
        read_chosen,
        pattern=rf"{_BIDS}_relmat\.tsv",
        family="XCP-D",
    ),
    table_importer(
        "xcpd-timeseries",
        "XCP-D's parcellated time series, *_timeseries.tsv",
        (".tsv",),
        read_chosen,
        series=True,
        pattern=rf"{_BIDS}_timeseries\.tsv",
        family="XCP-D",
    ),
    table_importer(
        "cifti",
        "CIFTI-2 connectivity of parcels, *.pconn.nii",
        (".pconn.nii",),
        read_cifti,
        pattern=rf"(?:{_BIDS}|(?P<name>[^.]+))\.pconn\.nii",
        family="XCP-D",
    ),
    table_importer(
        "cifti-timeseries",
        "CIFTI-2 time series of parcels, *.ptseries.nii",
        (".ptseries.nii",),
        read_cifti,
        series=True,
        pattern=rf"(?:{_BIDS}|(?P<name>[^.]+))\.ptseries\.nii",
        family="XCP-D",
    ),
    table_importer(
        "qsirecon",
        "QSIRecon's connectivity matrices, *_connectivity.mat",
        (".mat",),
        _qsirecon,
        pattern=rf"{_BIDS}_connectivity\.mat",
        family="QSIRecon",
    ),
    table_importer(
        "conn",
        "CONN's ROI-to-ROI matrices, resultsROI_Subject…_Condition….mat",
        (".mat",),
        _conn,
        pattern=r"resultsROI_(?P<id>Subject\d+)_Condition\d+\.mat",
        family="CONN",
    ),
    table_importer(
        "abide",
        "ABIDE's time series, …_rois_aal.1D and the like",
        (".1d",),
        read_chosen,
        series=True,
        pattern=r"(?P<id>.+)_rois_[A-Za-z0-9]+\.1D",
        family="ABIDE",
    ),
    FolderImporter(
        "conn-group",
        "CONN's file of all subjects, resultsROI_Condition….mat",
        lambda folder: bool(_group_files(folder)),
        _conn_group,
    ),
    FolderImporter(
        "stack",
        "all matrices in one .npy, .npz or .mat array: n × n × subjects or subjects × n × n",
        lambda folder: _stack_file(folder) is not None,
        _stack,
    ),
)
