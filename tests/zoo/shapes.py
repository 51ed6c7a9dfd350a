"""Small files in the shapes that real programs write, each with the graph it must give.

Every file holds the same five nodes and the same graph, `EDGES`, as an adjacency matrix, as weights
of which these are the five strongest, as time series with these correlations, or as a list. Files
that cannot be read have the expected message instead. All files are our own; `SEEN` says where a
shape was seen. README.md lists them.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import scipy.io
import scipy.sparse

EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)]
NAMES = ("Precentral_L", "Precentral_R", "Insula_L", "Insula_R", "Cuneus")
CODES = ("2001", "2002", "3001", "3002", "5011")
GENES = ("TP53", "MDM2", "ATM", "CHEK2", "BRCA1")
_STRENGTH = {(0, 1): 0.9, (0, 2): 0.8, (1, 2): 0.75, (2, 3): 0.6, (3, 4): 0.5, (0, 3): 0.45,
             (1, 3): 0.4, (2, 4): 0.3, (0, 4): 0.2, (1, 4): -0.1}  # fmt: skip

CORRELATIONS = np.eye(5)
for (_u, _v), _r in _STRENGTH.items():
    CORRELATIONS[_u, _v] = CORRELATIONS[_v, _u] = _r
BINARY = np.zeros((5, 5), dtype=int)
for _u, _v in EDGES:
    BINARY[_u, _v] = BINARY[_v, _u] = 1
COUNTS = np.where(np.eye(5) > 0, 0, np.round(1000 * CORRELATIONS) + 101).astype(int)
with np.errstate(divide="ignore"):
    FISHER = np.arctanh(CORRELATIONS)


def series(points: int = 12) -> np.ndarray:
    """A time series whose sample correlations are exactly `CORRELATIONS`."""
    noise = np.random.default_rng(5).normal(size=(points, 5))
    noise -= noise.mean(axis=0)
    white = noise @ np.linalg.inv(np.linalg.cholesky(np.cov(noise.T))).T
    return np.round(10 * white @ np.linalg.cholesky(CORRELATIONS).T + 3, 6)


@dataclass(frozen=True)
class Shape:
    """A file: its content, what it must give, and where its shape was seen.

    Attributes
    ----------
    content : the bytes of the file.
    seen : where the shape is met.
    refusal : the expected message, if it is refused.
    notes : words that must occur in the notes.
    options : of `read_graph`.
    """

    content: bytes
    seen: str
    refusal: str = ""
    notes: str = ""
    options: dict[str, Any] = field(default_factory=dict)


SHAPES: dict[str, Shape] = {}


def add(
    name: str, content: str | bytes, seen: str, refusal: str = "", notes: str = "", **options: Any
) -> None:
    assert name not in SHAPES, name
    data = content.encode() if isinstance(content, str) else content
    SHAPES[name] = Shape(data, seen, refusal, notes, options)


def text(
    values: Any,
    mark: str = ",",
    *,
    header: Any = None,
    index: Any = None,
    corner: str | None = "",
    form: Callable[[float], str] | str = "{:g}",
    end: str = "\n",
    tail: str = "",
) -> str:
    """A table as text."""
    write = form if callable(form) else (lambda x: form.format(x))
    lines = [[write(x) for x in row] for row in np.asarray(values).tolist()]
    if index is not None:
        lines = [[str(i), *row] for i, row in zip(index, lines, strict=True)]
    if header is not None:
        first = [] if index is None or corner is None else [corner]
        lines = [[*first, *map(str, header)], *lines]
    return "".join(mark.join(line) + tail + end for line in lines)


def comma(x: float) -> str:
    return f"{x:g}".replace(".", ",")


def upper(values: Any) -> np.ndarray:
    return np.triu(np.asarray(values))


def quoted(names: Any) -> list[str]:
    return [f'"{x}"' for x in names]


NUMPY = "NumPy: savetxt and save (numpy.org/doc, reference of savetxt)"
PANDAS = "pandas: DataFrame.to_csv (pandas.pydata.org/docs)"
R = "R: write.table, write.csv, write.csv2 (manual of utils)"
MATLAB = "MATLAB: writematrix, writetable, dlmwrite, save -ascii (mathworks.com/help)"
EXCEL = "Excel: CSV, CSV UTF-8, Unicode text, with a German or an English locale"
MRTRIX = "MRtrix3: tck2connectome (mrtrix.readthedocs.io; options -symmetric, -zero_diagonal)"
BNV = (
    "BrainNet Viewer: .edge files (Aglinskas/Other_Scripts, BrainNet_scripted.m; "
    "brainGraph, write_brainnet)"
)
DPABI = (
    "DPABI, REST-meta-MDD: ROICorrelation_*.txt written with save -ASCII -DOUBLE -TABS "
    "(general knowledge)"
)
GRETNA = "GRETNA: static correlation matrices as text (general knowledge)"
NBS = (
    "NBS: one text file per subject, matrices/subject01.txt (general knowledge; "
    "SNeuroble/NBS_benchmarking has its matrices in one .mat file)"
)
XCPD = "XCP-D: *_relmat.tsv, *_timeseries.tsv (xcp-d.readthedocs.io, outputs)"
AFNI = "AFNI: 3dNetCorr .netcc, @ROI_Corr_Mat, 3dROIstats (afni/afni, program help)"
ATHENA = (
    "ADHD-200, Athena pipeline: *_aal_TCs.1D, written by 3dROIstats (nitrc.org, neurobureau; "
    "general knowledge)"
)
ABIDE = (
    "ABIDE, Preprocessed Connectomes Project: *_rois_aal.1D "
    "(preprocessed-connectomes-project/abide, download.md; the header from general knowledge)"
)
HCP = "HCP1200 parcellation, time series and netmats: node_timeseries/*.txt, netmats*.txt"
FSLNETS = "FSLNets, dual_regression: dr_stage1_subject*.txt, netmats"
NETWORKX = (
    "networkx: write_edgelist, write_weighted_edgelist, write_adjlist (networkx.org, readwrite)"
)
IGRAPH = "igraph: write_graph, as_edgelist (igraph.org)"
GEPHI = "Gephi: edges table as CSV (docs.gephi.org)"
STRING = "STRING: protein.links files (string-db.org, download)"
WGCNA = "WGCNA: exportNetworkToCytoscape, exportNetworkToVisANT (rdrr.io, exportFunctions.R)"
GRN = "ARACNe-AP, GENIE3: networks of regulators and targets"
CYTOSCAPE = "Cytoscape: SIF (manual.cytoscape.org)"
CAMINO = "Camino: conmat, label names in the first row (nipype, interfaces.camino.connectivity)"
SPSS = "SPSS, jamovi, JASP: correlation tables with one triangle"
SCIPY = "SciPy: sparse.save_npz, io.savemat (docs.scipy.org)"
MAT73 = "MATLAB: save -v7.3, which is HDF5"
BCT = "bctpy: test/mats/*.npy and *.mat (aestrivex/bctpy)"
TVB = "The Virtual Brain: weights.txt of a connectivity archive"
SNAP = "SNAP: lists with a commented header (snap.stanford.edu/data)"
LAB = "met in laboratories; issues and questions about read_csv and loadtxt"

W, B, C, Z = CORRELATIONS, BINARY, COUNTS, FISHER
N5, ONE5 = range(5), range(1, 6)

# ---- matrices as text -------------------------------------------------------------------
add("numpy-savetxt.txt", text(W, " ", form="{:.18e}"), NUMPY)
add("numpy-savetxt-comma.csv", text(W, ",", form="{:.18e}"), NUMPY)
add("numpy-savetxt-fmt-d.csv", text(B, ",", form="{:d}"), NUMPY)
add("numpy-savetxt-header.csv", "# " + ",".join(NAMES) + "\n" + text(W), NUMPY)
add("pandas-to_csv.csv", text(W, header=N5, index=N5), PANDAS)
add("pandas-to_csv-index-false.csv", text(W, header=N5), PANDAS, notes="first row")
add("pandas-to_csv-index-false-binary.csv", text(B, header=N5), PANDAS, notes="first row")
add("pandas-to_csv-header-false.csv", text(W, index=N5), PANDAS, notes="first column")
add("pandas-to_csv-header-false-counts.csv", text(C, index=N5), PANDAS, notes="first column")
add("pandas-to_csv-names.csv", text(W, header=NAMES, index=NAMES), PANDAS)
add("pandas-to_csv-names-index-false.csv", text(W, header=NAMES), PANDAS)
add("pandas-to_csv-index-label.csv", text(W, header=NAMES, index=ONE5, corner="node"), PANDAS)
add(
    "pandas-to_csv-decimal.csv",
    text(W, ";", header=N5, index=N5, form=comma),
    PANDAS,
    notes="decimal",
)
add("pandas-to_csv-tab.tsv", text(W, "\t", header=N5, index=N5), PANDAS)
add(
    "pandas-to_csv-float-columns.csv",
    text(W, header=["0.0", "1.0", "2.0", "3.0", "4.0"]),
    PANDAS,
    notes="first row",
)
VS = [f"V{i}" for i in ONE5]
add("R-write.csv.csv", text(W, header=quoted(VS), index=quoted(ONE5), corner='""'), R)
add("R-write.csv-row.names-false.csv", text(W, header=quoted(VS)), R)
add(
    "R-write.csv2.csv",
    text(W, ";", header=quoted(NAMES), index=quoted(NAMES), corner='""', form=comma),
    R,
    notes="decimal",
)
add("R-write.table.txt", text(W, " ", header=quoted(NAMES), index=quoted(NAMES), corner=None), R)
add(
    "R-write.table-numbered.txt",
    text(W, " ", header=quoted(VS), index=quoted(ONE5), corner=None),
    R,
)
add("R-write.table-col.names-false.txt", text(W, " ", index=quoted(NAMES)), R)
add("R-write.table-no-names.txt", text(B, " ", form="{:d}"), R)
add("MATLAB-writematrix.csv", text(W, form="{:.15g}"), MATLAB)
add("MATLAB-dlmwrite-tab.txt", text(W, "\t", form="{:.5g}"), MATLAB)
add("MATLAB-save-ascii.txt", text(W, "", form="{:16.7e}"), MATLAB)
add("MATLAB-save-ascii-tabs.txt", text(W, "\t", form="{:16.7e}"), MATLAB)
add("MATLAB-writetable.csv", text(W, header=[f"Var{i}" for i in ONE5]), MATLAB)
add("MATLAB-writetable-row-names.csv", text(W, header=NAMES, index=NAMES, corner="Row"), MATLAB)
add("MATLAB-comments.txt", "% correlation matrix\n%% of one subject\n" + text(W, " "), MATLAB)
add(
    "Excel-csv-utf-8.csv",
    b"\xef\xbb\xbf" + text(W, header=NAMES, index=NAMES, end="\r\n").encode(),
    EXCEL,
)
add(
    "Excel-unicode-text.txt",
    text(W, "\t", header=NAMES, index=NAMES, end="\r\n").encode("utf-16"),
    EXCEL,
)
add("Excel-utf-16-without-mark.txt", text(W, "\t", end="\r\n").encode("utf-16-le"), EXCEL)
add(
    "Excel-German.csv",
    b"\xef\xbb\xbf" + text(W, ";", header=NAMES, index=NAMES, form=comma, end="\r\n").encode(),
    EXCEL,
    notes="decimal",
)
add("Excel-German-plain.csv", text(W, ";", form=comma, end="\r\n"), EXCEL, notes="decimal")
add(
    "Excel-sep-line.csv",
    "sep=;\r\n" + text(W, ";", header=N5, end="\r\n"),
    EXCEL,
    notes="first row",
)
add("Excel-trailing-commas.csv", text(W, tail=","), EXCEL)
add("Excel-trailing-commas-binary.csv", text(B, tail=","), EXCEL)
add("Excel-trailing-commas-header.csv", text(W, header=ONE5, tail=","), EXCEL, notes="first row")
add("Excel-several-trailing-commas.csv", text(W, header=NAMES, index=NAMES, tail=",,,"), EXCEL)
add(
    "Excel-empty-lines-at-the-end.csv", text(W, header=NAMES, index=NAMES) + ",,,,,\n,,,,,\n", EXCEL
)
add("Excel-tab-decimal-comma.txt", text(W, "\t", form=comma), EXCEL, notes="decimal")
add(
    "Excel-quoted-decimal-comma.csv",
    text(W, form=lambda x: f'"{comma(x)}"'),
    EXCEL,
    notes="decimal",
)
add("spaces-decimal-comma.txt", text(W, " ", form=comma), LAB, notes="decimal")
HISTORY = "# command_history: tck2connectome tracks.tck nodes.mif connectome.csv  (version=3.0.4)\n"
add("MRtrix-tck2connectome.csv", HISTORY + text(upper(C)), MRTRIX, notes="upper triangle")
add(
    "MRtrix-tck2connectome-self.csv",
    HISTORY + text(upper(C + 40 * np.eye(5))),
    MRTRIX,
    notes="upper triangle",
)
add("MRtrix-tck2connectome-spaces.txt", text(upper(C), " "), MRTRIX, notes="upper triangle")
add("MRtrix-tck2connectome-symmetric.csv", HISTORY + text(C), MRTRIX)
add("MRtrix-scaled-weights.csv", HISTORY + text(upper(C / 1e4)), MRTRIX, notes="upper triangle")
add("BrainNet-Viewer.edge", text(W, "\t", form="{:.3f}"), BNV)
add("BrainNet-Viewer-binary.edge", text(B, " "), BNV)
add("DPABI-ROICorrelation.txt", text(W, "\t", form=" {:.16e}"), DPABI)
add(
    "DPABI-ROICorrelation_FisherZ.txt",
    text(Z, "\t", form=lambda x: "  Inf" if np.isinf(x) else f" {x:.16e}"),
    DPABI,
)
add("GRETNA-r.txt", text(W, "", form="{:13.6f}"), GRETNA)
add("GRETNA-z.txt", text(Z, " ", form=lambda x: "Inf" if np.isinf(x) else f"{x:.6f}"), GRETNA)
add("NBS-subject01.txt", text(W, " ", form="{:.4f}", tail=" "), NBS)
add("TVB-weights.txt", text(C / 100, " ", form="{:.6e}"), TVB)
add("Camino-conmat.csv", text(C, header=NAMES), CAMINO)
add(
    "sub-01_task-rest_seg-Tiny_stat-pearsoncorrelation_relmat.tsv",
    text(W, "\t", header=NAMES, index=NAMES, corner="Node"),
    XCPD,
)
MISSING = np.where(np.arange(25).reshape(5, 5) // 5 == 4, np.nan, W)
MISSING[:, 4] = np.nan
add(
    "sub-02_task-rest_seg-Tiny_stat-pearsoncorrelation_relmat.tsv",
    text(
        MISSING,
        "\t",
        header=NAMES,
        index=NAMES,
        corner="Node",
        form=lambda x: "n/a" if np.isnan(x) else f"{x:g}",
    ),
    XCPD,
    "nan at row 0, column 4",
)
add("AAL-codes-header.csv", text(W, header=CODES), ABIDE, notes="first row")
add("AAL-codes-both.csv", text(W, header=CODES, index=CODES), ABIDE)
add(
    "AAL-codes-both-corner-0.csv",
    text(W, header=CODES, index=CODES, corner="0"),
    LAB,
    notes="first row",
)
add("names-on-the-left.csv", text(W, index=NAMES), LAB)
add("names-on-the-left-numbers-above.csv", text(W, header=ONE5, index=NAMES), LAB)
add("names-above-numbers-on-the-left.csv", text(W, header=NAMES, index=ONE5), LAB)
MOVED = [3, 0, 4, 1, 2]
add("rows-in-another-order.csv", text(W[MOVED], header=NAMES, index=[NAMES[i] for i in MOVED]), LAB)
add(
    "numbers-around-binary.csv",
    text(B, header=ONE5, index=ONE5, corner="0"),
    LAB,
    notes="first row",
)
add("tabs-and-spaces.txt", text(W, "\t").replace("\t", " ", 3).replace("0.45\t", "0.45   "), LAB)
add("comma-and-space.csv", text(W, ", "), LAB)
add("old-mac-line-ends.csv", text(W, end="\r"), LAB)
add("blank-lines.csv", "\n\n" + text(W, end="\n\n"), LAB)
LOWER = lambda m: np.where(np.tri(5) > 0, m, np.nan)  # noqa: E731
HALF = lambda x: "" if np.isnan(x) else f"{x:g}"  # noqa: E731
add(
    "SPSS-lower-triangle.csv",
    text(LOWER(W), header=NAMES, index=NAMES, form=HALF),
    SPSS,
    notes="lower triangle",
)
add(
    "jamovi-upper-triangle.csv",
    text(LOWER(W).T, header=NAMES, index=NAMES, form=HALF),
    SPSS,
    notes="upper triangle",
)
add("lower-triangle-zeros.csv", text(np.tril(W)), SPSS, notes="lower triangle")
add("empty-diagonal.csv", text(np.where(np.eye(5) > 0, np.nan, W), form=HALF), SPSS)

# ---- matrices that are refused ----------------------------------------------------------
add(
    "AFNI-ROI_Corr_Mat-TRI.1D",
    "".join(" ".join(f"{x:g}" for x in W[i, : i + 1]) + "\n" for i in N5),
    AFNI,
    "one triangle of a matrix",
)
NETCC = "# 5  # Number of network ROIs\n# 1  # Number of netcc matrices\n# WITH_ROI_LABELS\n"
add(
    "AFNI-3dNetCorr-netcc.txt",
    NETCC + "\t".join(NAMES) + "\n" + "\t".join(map(str, ONE5)) + "\n# CC\n" + text(W, "\t"),
    AFNI,
    "look like a matrix, but not what is around",
)
add(
    "distances-along-a-line.csv",
    text(np.abs(np.subtract.outer(N5, N5))),
    LAB,
    "header='both' or header='none'",
)
add(
    "distances-header-none.csv",
    text(np.where(W >= 0.5, 5 - np.abs(np.subtract.outer(N5, N5)), 0)),
    LAB,
    header="none",
)
add(
    "counts-with-codes-around.csv",
    text(C, header=CODES, index=CODES, corner="0"),
    LAB,
    "header='both' or header='none'",
)
add(
    "counts-with-codes-around-said.csv",
    text(C, header=CODES, index=CODES, corner="0"),
    LAB,
    header="both",
)
add("thousands.tsv", text(C * 10, "\t", form="{:,d}"), LAB, "decimal='point' or decimal='comma'")
add("thousands-said.tsv", text(C * 10, "\t", form="{:,d}"), LAB, decimal="point")
add(
    "decimal-commas-between-commas.csv",
    text(W + 0.001, form=lambda x: f"{x:.3f}".replace(".", ",")),
    EXCEL,
    "decimal commas",
)
add(
    "points-and-commas.csv",
    text(W, ";").replace("0.45", "0,45"),
    LAB,
    "decimal commas and points are mixed",
)
add("short-line.csv", text(W).replace("0.8,0.75,1,", "0.8,0.75,"), LAB, "line 3 has 4 cells")
add("word-in-a-cell.csv", text(W).replace("0.45", "high", 1), LAB, "line 1, column 4 holds 'high'")
add("directed.csv", text(np.triu(B) + np.eye(5, k=-4, dtype=int)), LAB, "not symmetric")
add(
    "totals-row.csv",
    text(np.vstack([C, C.sum(axis=0)])),
    LAB,
    "look like a matrix, but not what is around",
)
add(
    "totals-column.csv",
    text(np.hstack([W, W.sum(axis=1, keepdims=True)])),
    LAB,
    "look like a matrix, but not what is around",
)
add("footer.csv", text(W) + "Mean,0.4\n", LAB, "line 6 has 2 cells")
add(
    "latin-1.csv",
    text(W, header=["Précuneus", *NAMES[1:]]).encode("latin-1"),
    EXCEL,
    "not a text file in UTF-8",
)
add("pipes.csv", text(W, "|"), LAB, "not a number")

add("ROI-numbers-in-names.csv", text(W, header=[f"ROI{i}" for i in ONE5]), LAB)
add(
    "two-matrices.csv", text(W) + "\n" + text(W), AFNI, "2 matrices of 5 nodes, one below the other"
)
# ---- time series ------------------------------------------------------------------------
S = series()
add(
    "nilearn-masker.csv",
    text(S, form="{:.18e}"),
    "nilearn: NiftiLabelsMasker, saved with savetxt (nilearn.github.io)",
)
add("DPABI-ROISignals.txt", text(S, "\t", form=" {:.16e}"), DPABI)
add("HCP-100206.txt", text(S, " ", form="{:.6f}"), HCP)
add("FSLNets-dr_stage1_subject00000.txt", text(S, "  ", form="{:.6f}", tail="  "), FSLNETS)
add(
    "Pitt_0050003_rois_aal.1D",
    "\t".join(f"#{x}" for x in CODES) + "\n" + text(S, "\t", form="{:.6f}"),
    ABIDE,
)
add(
    "Athena-aal_TCs.1D",
    "File\tSub-brick\t"
    + "\t".join(f"Mean_{x}" for x in CODES)
    + "\n"
    + "".join(f"sfnwmrda.nii.gz\t{i}[?]\t" + text(S[i : i + 1], "\t") for i in range(len(S))),
    ATHENA,
)
add("sub-03_task-rest_seg-Tiny_timeseries.tsv", text(S, "\t", header=NAMES), XCPD)
add("pandas-series.csv", text(S, header=N5, index=range(len(S))), PANDAS)
add("pandas-series-index-false.csv", text(S, header=N5), PANDAS, notes="first row")
add("pandas-series-index-only.csv", text(S, index=range(len(S))), PANDAS, notes="first column")
add("series-with-codes.csv", text(S, header=CODES), ABIDE, notes="first row")
add(
    "series-with-a-clock.csv",
    text(S, header=NAMES, index=[f"{0.72 * i:.2f}" for i in range(len(S))], corner="time"),
    LAB,
    notes="count of the time points",
)
add("series-of-six-points.csv", text(series(6)), LAB)
add("series-regions-in-rows.csv", text(S.T, index=NAMES), LAB, "its rows have names.*transpose")
add(
    "series-unnamed-clock.csv",
    text(S, index=[f"{0.72 * i:.2f}" for i in range(len(S))]),
    LAB,
    "first column rises by 0.72.*header='column'",
)
add(
    "series-unnamed-clock-said.csv",
    text(S, index=[f"{0.72 * i:.2f}" for i in range(len(S))]),
    LAB,
    header="column",
)
add(
    "series-of-counts.csv",
    text(np.round(S * 100) + 5000, header=N5, form="{:.0f}"),
    LAB,
    "either numbers of 5 regions, or the first time point",
)
add("series-of-five-points.csv", text(series(7)[:5]), LAB, "not symmetric.*kind=.timeseries")
add(
    "FSLNets-netmats.txt",
    text(np.stack([(k * W).ravel() for k in (1, 2, 4, 3)]), "  "),
    FSLNETS,
    "each line holds a matrix of 5 nodes",
)
add("one-column.txt", text(S[:, :1]), LAB, "at least 3 rows .* and 2 columns")

# ---- edge lists ------------------------------------------------------------------------
PAIRS = list(EDGES)
add("networkx-write_edgelist.edgelist", "".join(f"{u} {v} {{}}\n" for u, v in PAIRS), NETWORKX)
add(
    "networkx-write_edgelist-weight.edgelist",
    "".join(f"{u} {v} {{'weight': {w}}}\n" for (u, v), w in _STRENGTH.items()),
    NETWORKX,
)
add(
    "networkx-write_edgelist-two-data.txt",
    "".join(f"{u} {v} {{'weight': {w}, 'sign': 1}}\n" for (u, v), w in _STRENGTH.items()),
    NETWORKX,
)
add(
    "networkx-some-weights.edgelist",
    "0 1 {}\n0 2 {'weight': 3}\n",
    NETWORKX,
    "line 2 has 3 cells, but line 1 has 2",
)
add(
    "networkx-write_weighted_edgelist.edgelist",
    "".join(f"{u} {v} {w}\n" for (u, v), w in _STRENGTH.items()),
    NETWORKX,
)
add(
    "networkx-write_adjlist.edgelist",
    "#made by\n0 1 2\n1 2\n2 3\n3 4\n4\n",
    NETWORKX,
    "line 3 has 2 cells, but line 2 has 3",
)
add("igraph-edgelist.txt", "".join(f"{u} {v}\n" for u, v in PAIRS), IGRAPH)
add(
    "igraph-ncol.txt",
    "".join(f"{NAMES[u]} {NAMES[v]} {w}\n" for (u, v), w in _STRENGTH.items()),
    IGRAPH,
    node="names",
)
add(
    "igraph-R-as_edgelist.csv",
    '"V1","V2"\n' + "".join(f"{u + 1},{v + 1}\n" for u, v in PAIRS),
    IGRAPH,
    "first_node=1 or first_node=0",
)
add(
    "igraph-R-as_edgelist-said.csv",
    '"V1","V2"\n' + "".join(f"{u + 1},{v + 1}\n" for u, v in PAIRS),
    IGRAPH,
    first_node=1,
)
add("igraph-R-five-nodes.txt", "".join(f"{u + 1} {v + 1}\n" for u, v in PAIRS), IGRAPH, n_nodes=5)
add(
    "Gephi-edges.csv",
    "Source,Target,Type,Id,Label,timeset,Weight\n"
    + "".join(f"{u},{v},Undirected,{i},,,{w}\n" for i, ((u, v), w) in enumerate(_STRENGTH.items())),
    GEPHI,
)
add(
    "Gephi-directed.csv",
    "Source,Target,Type,Id,Label,timeset,Weight\n0,1,Directed,0,,,1.0\n",
    GEPHI,
    "edges are directed",
)
add(
    "STRING-protein.links.txt",
    "protein1 protein2 combined_score\n"
    + "".join(
        f"{GENES[u]} {GENES[v]} {round(1000 * w)}\n" for (u, v), w in _STRENGTH.items() if w > 0
    ),
    STRING,
    node="genes",
)
add(
    "WGCNA-CytoscapeInput-edges.txt",
    "fromNode\ttoNode\tweight\tdirection\tfromAltName\ttoAltName\n"
    + "".join(
        f"{GENES[u]}\t{GENES[v]}\t{w}\tundirected\tNA\tNA\n" for (u, v), w in _STRENGTH.items()
    ),
    WGCNA,
    node="genes",
)
add(
    "WGCNA-VisANTInput.txt",
    "from\tto\tdirection\tmethod\tweight\n"
    + "".join(f"{GENES[u]}\t{GENES[v]}\t0\tM0039\t{w}\n" for (u, v), w in _STRENGTH.items()),
    WGCNA,
    node="genes",
)
add(
    "ARACNe-network.txt",
    "Regulator\tTarget\tMI\tpvalue\n"
    + "".join(f"{GENES[u]}\t{GENES[v]}\t{w}\t0.01\n" for (u, v), w in _STRENGTH.items()),
    GRN,
    node="genes",
)
add(
    "GENIE3-linkList.csv",
    "regulatoryGene,targetGene,weight\n"
    + "".join(f"{GENES[u]},{GENES[v]},{w}\n" for (u, v), w in _STRENGTH.items()),
    GRN,
    node="genes",
)
add(
    "Cytoscape-sif.txt",
    "".join(f"{GENES[u]}\tpp\t{GENES[v]}\n" for u, v in PAIRS),
    CYTOSCAPE,
    "neither a number nor in the node table|SIF",
    node="genes",
)
add(
    "SNAP-graph.txt",
    "# Undirected graph\n# Nodes: 5 Edges: 5\n# FromNodeId\tToNodeId\n"
    + "".join(f"{u}\t{v}\n" for u, v in PAIRS),
    SNAP,
)
add("both-directions.edges", "".join(f"{u} {v}\n{v} {u}\n" for u, v in PAIRS), LAB)
add("windows-edges.csv", "source,target\r\n" + "".join(f"{u},{v}\r\n" for u, v in PAIRS), LAB)
add(
    "unknown-node.edges",
    "".join(f"{NAMES[u]} {NAMES[v]}\n" for u, v in PAIRS) + "Cuneus Insula_X\n",
    LAB,
    "line 6 names the node 'Insula_X'",
    node="names",
)
add("three-edges-three-columns.csv", "0,1,5\n1,2,3\n2,3,4\n", LAB, "kind='matrix' or kind='edges'")
add("two-edges.txt", "0 1\n1 2\n", LAB, "kind='matrix' or kind='edges'")
add("columns-i-j-k.csv", "i,j,k\n0,1,0\n1,0,1\n0,1,0\n", LAB, "kind='matrix' or kind='edges'")
add(
    "MatrixMarket.mtx",
    "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 1\n2 1\n",
    SCIPY,
    "unknown file type '.mtx'",
)

# ---- GraphML ---------------------------------------------------------------------------


def _graphml(graph: nx.Graph) -> bytes:
    out = io.BytesIO()
    nx.write_graphml_xml(graph, out)
    return out.getvalue()


_plain = nx.Graph()
_plain.add_nodes_from(N5)
_plain.add_edges_from(EDGES)
add("networkx-write_graphml.graphml", _graphml(_plain), NETWORKX)
add(
    "igraph-write_graphml.graphml",
    _graphml(nx.relabel_nodes(_plain, {i: f"n{i}" for i in N5})),
    IGRAPH,
)
add(
    "networkx-names.graphml",
    _graphml(nx.relabel_nodes(_plain, dict(enumerate(NAMES)))),
    NETWORKX,
    node="names",
)

# ---- binary ----------------------------------------------------------------------------


def _saved(save: Callable[..., Any], *values: Any, **named: Any) -> bytes:
    out = io.BytesIO()
    save(out, *values, **named)
    return out.getvalue()


def _cells(texts: Any) -> np.ndarray:
    out = np.empty((len(texts), 1), dtype=object)
    out[:, 0] = texts
    return out


def _mat73(write: Callable[[Any, Any], None]) -> bytes:
    import h5py

    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        write(file, h5py)
    return out.getvalue()


def _array(file: Any, name: str, values: np.ndarray, kind: bytes = b"double") -> Any:
    made = file.create_dataset(name, data=np.asarray(values).T)
    made.attrs["MATLAB_class"] = np.bytes_(kind)
    return made


def _named_mat73(file: Any, h5py: Any) -> None:
    _array(file, "R", W)
    links = []
    for i, name in enumerate(NAMES):
        codes = np.array([[ord(x)] for x in name], dtype=np.uint16)
        made = file.require_group("#refs#").create_dataset(f"c{i}", data=codes)
        made.attrs["MATLAB_class"] = np.bytes_(b"char")
        links.append(made.ref)
    cell = file.create_dataset(
        "ROInames", data=np.array([links], dtype=h5py.ref_dtype), dtype=h5py.ref_dtype
    )
    cell.attrs["MATLAB_class"] = np.bytes_(b"cell")


def _sparse_mat73(file: Any, h5py: Any) -> None:
    held = scipy.sparse.csc_matrix(B)
    group = file.create_group("A")
    group.attrs["MATLAB_class"] = np.bytes_(b"double")
    group.attrs["MATLAB_sparse"] = np.uint64(5)
    group["data"], group["ir"], group["jc"] = held.data.astype(float), held.indices, held.indptr


add("bctpy-sample.npy", _saved(np.save, B), BCT)
add(
    "nilearn-ConnectivityMeasure.npy",
    _saved(np.save, W),
    "nilearn: ConnectivityMeasure.fit_transform, saved with save",
)
add("float32.npy", _saved(np.save, W.astype(np.float32)), NUMPY)
add("numbered-array.npy", _saved(np.save, np.vstack([np.arange(5.0), W])), LAB, notes="first row")
add("numpy-savez.npz", _saved(np.savez, connectivity=W), NUMPY)
for _form in ("csr", "csc", "coo"):
    add(
        f"scipy-save_npz-{_form}.npz",
        _saved(scipy.sparse.save_npz, scipy.sparse.coo_matrix(B).asformat(_form)),
        SCIPY,
    )
add(
    "scipy-save_npz-dia.npz",
    _saved(scipy.sparse.save_npz, scipy.sparse.dia_matrix(B)),
    SCIPY,
    "format 'dia', which is not read",
)
add("MATLAB-v7.mat", _saved(scipy.io.savemat, {"R": W}), MATLAB)
add("MATLAB-v4.mat", _saved(scipy.io.savemat, {"R": W}, format="4"), MATLAB)
add(
    "MATLAB-sparse.mat",
    _saved(scipy.io.savemat, {"A": scipy.sparse.csc_matrix(B.astype(float))}),
    MATLAB,
)
add(
    "DPABI-ROICorrelation_FisherZ.mat",
    _saved(scipy.io.savemat, {"ROICorrelation_FisherZ": Z}),
    DPABI,
)
add(
    "MATLAB-ROInames.mat",
    _saved(scipy.io.savemat, {"R": W, "ROInames": _cells(NAMES), "site": _cells(["a", "b"])}),
    MATLAB,
)
add(
    "MATLAB-regions-in-rows.mat",
    _saved(scipy.io.savemat, {"ts": S.T, "ROInames": _cells(NAMES)}),
    MATLAB,
    "5 names fits the rows.*transpose",
)
add("MATLAB-v7.3.mat", _mat73(lambda file, h5py: _array(file, "R", W)), MAT73)
add("MATLAB-v7.3-ROInames.mat", _mat73(_named_mat73), MAT73)
add("MATLAB-v7.3-sparse.mat", _mat73(_sparse_mat73), MAT73)
add("MATLAB-v7.3-series.mat", _mat73(lambda file, h5py: _array(file, "ROISignals", S)), MAT73)


def table() -> list[str]:
    """The rows of README.md: file, what it gives, where its shape was seen."""
    rows = ["| file | result | where the shape was seen |", "|---|---|---|"]
    for name, shape in SHAPES.items():
        given = {k: v for k, v in shape.options.items() if k != "node"}
        how = ", ".join(f"{k}={v!r}" for k, v in given.items())
        result = "refused" if shape.refusal else "the graph"
        rows.append(f"| `{name}` | {result}{f', with {how}' if how else ''} | {shape.seen} |")
    return rows


TOP = """# Shapes of real files

`shapes.py` makes small files in the shapes that programs write. All files are our own: five nodes,
one graph, nothing copied. `tests/unit/datasets/test_zoo.py` reads each of them with `read_graph`,
as `explain FILE` does, and with `import_folder`; each must give the graph that was written, or the
expected refusal. Run `python tests/zoo/shapes.py` after a change.

"""

if __name__ == "__main__":
    Path(__file__).with_name("README.md").write_text(
        TOP + "\n".join(table()) + "\n", encoding="utf-8"
    )
