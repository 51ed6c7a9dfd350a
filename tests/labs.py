"""Small folders in the layouts of labs and programs, written by hand from their documentation.

Each writer takes id → matrix (or time series) over named nodes and writes files as the program
does: names of files, headers, types. Nothing here is read by the importers' own code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.io

Values = Mapping[str, np.ndarray]


def cell(number: float) -> str:
    """A number as pandas writes it for BIDS; a missing one is n/a."""
    return "n/a" if np.isnan(number) else repr(float(number))


def tsv(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    lines = ["\t".join(map(str, row)) for row in (header, *rows)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def xcpd(folder: Path, data: Values, names: Sequence[str], *, deep: bool = False) -> None:
    """``*_relmat.tsv``: a first column Node, a header of names."""
    for key, matrix in data.items():
        home = folder / key / "func" if deep else folder
        path = home / f"{key}_task-rest_space-MNI_seg-Tiny_stat-pearsoncorrelation_relmat.tsv"
        rows = [[name, *map(cell, row)] for name, row in zip(names, matrix, strict=True)]
        tsv(path, ["Node", *names], rows)


def xcpd_timeseries(
    folder: Path, data: Values, names: Sequence[str], *, deep: bool = False
) -> None:
    """``*_timeseries.tsv``: a header of names, a row per volume."""
    for key, series in data.items():
        home = folder / key / "func" if deep else folder
        path = home / f"{key}_task-rest_space-MNI_seg-Tiny_stat-mean_timeseries.tsv"
        tsv(path, names, [list(map(cell, row)) for row in series])


def _parcels(names: Sequence[str]):
    from nibabel.cifti2 import ParcelsAxis

    voxels = [np.array([[i, 0, 0]]) for i in range(len(names))]
    return ParcelsAxis(
        np.array(names, dtype=object), voxels, [{} for _ in names], np.eye(4), (99, 1, 1), {}
    )


def cifti(folder: Path, data: Values, names: Sequence[str]) -> None:
    """``*.pconn.nii``: parcels × parcels."""
    from nibabel.cifti2 import Cifti2Image

    axis = _parcels(names)
    for key, matrix in data.items():
        image = Cifti2Image(matrix.astype(np.float32), (axis, axis))
        image.to_filename(folder / f"{key}_task-rest_seg-Tiny_boldmap.pconn.nii")


def cifti_timeseries(folder: Path, data: Values, names: Sequence[str]) -> None:
    """``*.ptseries.nii``: time points × parcels."""
    from nibabel.cifti2 import Cifti2Image, SeriesAxis

    for key, series in data.items():
        axes = (SeriesAxis(0, 2.0, len(series)), _parcels(names))
        image = Cifti2Image(series.astype(np.float32), axes)
        image.to_filename(folder / f"{key}_task-rest_seg-Tiny_timeseries.ptseries.nii")


def _cells(values: Sequence[object]) -> np.ndarray:
    out = np.empty((1, len(values)), dtype=object)
    out[0] = list(values)
    return out


def _conn(values: np.ndarray, names: Sequence[str]) -> dict[str, object]:
    """Z with targets beyond the sources, names as cells, places; NaN on the diagonal."""
    n = len(names)
    beyond = np.full((n, 1, *values.shape[2:]), 0.25)
    diagonal = np.arange(n)
    z = values.astype(float).copy()
    z[diagonal, diagonal] = np.nan
    places = [np.array([[10.0 * i, -5.0, 2.5]]) for i in range(n + 1)]
    return {
        "Z": np.concatenate([z, beyond], axis=1),
        "names": _cells(names),
        "names2": _cells([*names, "QC_extra"]),
        "xyz": _cells(places),
        "DOF": np.array([[120.0]]),
        "SE": np.ones((1, n)),
    }


def conn(folder: Path, data: Values, names: Sequence[str]) -> None:
    """``resultsROI_Subject001_Condition001.mat``; subjects are numbered in their order."""
    for i, matrix in enumerate(data.values()):
        path = folder / f"resultsROI_Subject{i + 1:03d}_Condition001.mat"
        scipy.io.savemat(path, _conn(matrix, names), do_compression=True)


def conn_group(folder: Path, data: Values, names: Sequence[str]) -> None:
    """``resultsROI_Condition001.mat``: sources × targets × subjects."""
    stack = np.stack(list(data.values()), axis=-1)
    path = folder / "resultsROI_Condition001.mat"
    scipy.io.savemat(path, _conn(stack, names), do_compression=True)


def abide(folder: Path, data: Values, names: Sequence[str]) -> None:
    """``Pitt_0050003_rois_aal.1D``: a header in which every name is marked, tabs."""
    for key, series in data.items():
        lines = ["\t".join(f"#{name}" for name in names)]
        lines += ["\t".join(f"{x:.6f}" for x in row) for row in series]
        (folder / f"{key}_rois_aal.1D").write_text("\n".join(lines) + "\n")


def qsirecon(folder: Path, data: Values, names: Sequence[str], *, several: bool = False) -> None:
    """``*_connectivity.mat``: measures of atlases, region labels as a table of characters."""
    for key, matrix in data.items():
        held = {
            "command": "tck2connectome",
            "atlas_Tiny_region_ids": np.arange(1, len(names) + 1),
            "atlas_Tiny_region_labels": np.array(list(names)),
            "atlas_Tiny_radius2_count_connectivity": matrix,
        }
        if several:
            held["atlas_Tiny_radius2_meanlength_connectivity"] = matrix * 30.0
        path = folder / f"{key}_space-ACPC_model-ifod2_connectivity.mat"
        scipy.io.savemat(path, held, long_field_names=True)


def stack(folder: Path, data: Values, names: Sequence[str]) -> None:
    """One array, n × n × subjects."""
    np.save(folder / "lab.npy", np.stack(list(data.values()), axis=-1))


def participants(path: Path, classes: Mapping[str, str], column: str = "group") -> None:
    """BIDS' ``participants.tsv``, with columns that are no class."""
    rows = [[key, 20 + i, "FM"[i % 2], c] for i, (key, c) in enumerate(classes.items())]
    tsv(path, ["participant_id", "age", "sex", column], rows)


def phenotype(path: Path, classes: Mapping[str, str]) -> None:
    """ABIDE's phenotypes: an index, SUB_ID without zeros, FILE_ID, DX_GROUP."""
    lines = [",SUB_ID,SITE_ID,FILE_ID,DX_GROUP,AGE_AT_SCAN"]
    for i, (key, c) in enumerate(classes.items()):
        lines.append(f"{i},{50000 + i},PITT,{key},{c},{12 + i}")
    path.write_text("\n".join(lines) + "\n")


def official_phenotype(path: Path, ids: Sequence[str], *, without: int) -> None:
    """The shape of ABIDE's Phenotypic_V1_0b_preprocessed1.csv.

    Two index columns, ids under four names, ``no_filename`` for people of either group without a
    file, -9999 and empty cells for missing measurements.
    """
    lines = [
        ",Unnamed: 0,SUB_ID,X,subject,SITE_ID,FILE_ID,DX_GROUP,DSM_IV_TR,AGE_AT_SCAN,SEX,"
        "HANDEDNESS_CATEGORY,FIQ,func_mean_fd,qc_rater_1,qc_notes_rater_1,SUB_IN_SMP"
    ]
    for i, key in enumerate([*ids, *["no_filename"] * without]):
        number, site, group = 50002 + i, ("PITT", "NYU")[i % 2], 1 + i % 2
        fiq = -9999 if i % 2 and i < len(ids) else 100 + i
        lines.append(
            f"{i},{i + 1},{number},{i + 1},{number},{site},{key},{group},{2 - group},"
            f"{12.5 + i},{1 + i % 2},R,{fiq},0.{i + 1},OK,,1"
        )
    path.write_text("\n".join(lines) + "\n")


@dataclass(frozen=True)
class Layout:
    """How a layout is written, what its graphs are called, and whether it holds time series."""

    write: Callable[..., None]
    id: str  # a pattern for the number of a subject, from 1
    series: bool = False

    def ids(self, count: int) -> list[str]:
        return [self.id.format(i + 1) for i in range(count)]


LAYOUTS = {
    "xcpd": Layout(xcpd, "sub-{:02d}"),
    "xcpd-timeseries": Layout(xcpd_timeseries, "sub-{:02d}", series=True),
    "cifti": Layout(cifti, "sub-{:02d}"),
    "cifti-timeseries": Layout(cifti_timeseries, "sub-{:02d}", series=True),
    "qsirecon": Layout(qsirecon, "sub-{:02d}"),
    "conn": Layout(conn, "Subject{:03d}"),
    "conn-group": Layout(conn_group, "Subject{:03d}"),
    "abide": Layout(abide, "Pitt_{:07d}", series=True),
    "stack": Layout(stack, "{:04d}"),
}


def joined_series(matrix: np.ndarray, rng: np.random.Generator, length: int = 400) -> np.ndarray:
    """Time series in which joined nodes share a signal, so that they correlate the most."""
    series = 0.3 * rng.standard_normal((length, len(matrix)))
    for u, v in np.argwhere(np.triu(matrix, 1)):
        shared = rng.standard_normal(length)
        series[:, u] += shared
        series[:, v] += shared
    return series


NAMES = tuple(
    f"7Networks_{side}H_{network}_{i}"
    for network in ("Vis", "Default")
    for side in "LR"
    for i in (1, 2, 3)
)


def cohort(layout: str, n: int = 16, seed: int = 0) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Correlations (or series) of ``n`` subjects, half of them with a joined visual network."""
    rng = np.random.default_rng(seed)
    ids = LAYOUTS[layout].ids(n)
    data, classes = {}, {}
    for i, key in enumerate(ids):
        series = rng.standard_normal((80, len(NAMES)))
        series[:, 6:] += rng.standard_normal((80, 1))
        if i % 2:
            series[:, :6] += 1.5 * rng.standard_normal((80, 1))
        data[key] = series if LAYOUTS[layout].series else np.corrcoef(series.T)
        classes[key] = "patient" if i % 2 else "control"
    return data, classes
