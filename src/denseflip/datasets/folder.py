"""Import your own data: a folder of files and a table of labels become a data set.

All problems of a folder are reported at once, each with its file's name. The report says what was
left out of the data set, and why. `find_files` finds the graph files, `matrix_files` matches
columns to nodes.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from denseflip.checks import visible
from denseflip.datasets.atlas import atlas_hint, find_dseg, load_aal, read_nodes
from denseflip.datasets.base import Card, Dataset
from denseflip.datasets.connectome import MEASURES, Keep, upper_triangles
from denseflip.datasets.export import find_exported
from denseflip.datasets.find_files import find_graphs, people_table
from denseflip.datasets.import_job import (
    INCOMPLETE,
    WARNING,
    FolderImporter,
    Import,
    ReadOptions,
)
from denseflip.datasets.importers import folder_importer, kinds, read_files
from denseflip.datasets.labels import choose_classes, class_order, join_spellings
from denseflip.datasets.match_labels import GivenLabels
from denseflip.datasets.matrix_files import check_sizes, graphs_of_tables
from denseflip.datasets.region_names import with_regions
from denseflip.datasets.subjects import subject_table
from denseflip.datasets.tu_folder import tu_name
from denseflip.errors import (
    DatasetError,
    DenseflipError,
    InvalidParameterError,
    UnknownNameError,
    counted,
    nearest,
    shown,
)
from denseflip.graph import Graph, Nodes
from denseflip.limits import read_json
from denseflip.reading import Reading

_MATCHES = ("name", "position")
LEVELS = 3  # folders above one that are searched for the title of its data set
LONGEST = 120  # characters of a title
#: Folders that are named after a step of a pipeline (ABIDE) or a part of BIDS, not their data.
_STEP = re.compile(
    r"(?i)(no)?filt_(no)?global|rois_\w+|cpac|ccs|dparsf|niak|func|dwi|anat|(ses|run|atlas|desc)-\w+"
)
FOLDER = "folder"  # the column of the subject table with the sub-folder of each file


def import_folder(
    folder: str | Path,
    labels: str | Path | Mapping[str, str] | None = None,
    *,
    nodes: str | Path | Nodes | None = None,
    kind: str = "auto",
    measure: str = "pearson",
    keep: Keep | None = None,
    classes: Sequence[str] | None = None,
    name: str | None = None,
    variable: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    name_column: str | None = None,
    region_columns: Sequence[str] | None = None,
    number_names: bool = False,
    weights: bool = False,
    files: str | None = None,
    id_pattern: str | None = None,
    skip_unmatched: bool = False,
    na: Sequence[str] | None = None,
    match: str = "name",
    axis: str | None = None,
    ignore_weights: bool = False,
    allow_single: bool = False,
    drop_nodes: bool = False,
    drop_subjects: Sequence[str] | str = (),
    node_types: Sequence[str] = (),
    header: str = "auto",
    decimal: str = "auto",
    first_node: int | None = None,
    on_file: Callable[[str], None] | None = None,
    on_total: Callable[[int], None] | None = None,
) -> Dataset:
    """Import a data set from a folder of matrices, time series, edge lists or GraphML files.

    Parameters
    ----------
    folder : one file per graph, in the folder, in one sub-folder per class or, with ``labels``, in
        any sub-folders (sites); the output folder of
        XCP-D, QSIRecon, CONN and others (`denseflip.datasets.layouts`); a folder in the TU format;
        one file that holds a stack of matrices; or a folder that `export_dataset` wrote (its
        labels, nodes, classes and card are used unless others are given).
    labels : a table with a row per graph (CSV, TSV or Excel; its id is the file name, with or
        without ending and folder, or BIDS' ``sub-…``), or a mapping. Its other columns (age, site
        …) become the data set's subject table. By default: sub-folders, ``participants.tsv`` or
        ABIDE's phenotypes in the folder, or the labels of a TU folder or a stack.
    nodes : a node table (`Nodes`, or a CSV, TSV or Excel file with the column ``name`` and any of
        x, y, z and region columns, such as a BIDS ``dseg.tsv``), or the name of an atlas
        (`denseflip.datasets.atlas.ATLASES`). File headers are matched to it by name or by code. By
        default: the names in the files, with regions from a ``dseg.tsv`` below the folder, or from
        the names of Schaefer's and other atlases.
    kind : what the files hold; ``auto`` detects it.
    measure : how time series become matrices: ``pearson``, ``partial``, ``tangent``.
    keep : which pairs of a weighted matrix become edges; default: percentile 90. A 0/1 matrix is
        used as it is.
    classes : the order of the classes (the first is class 0); list only some of them to leave the
        others out; ``"1=autism"`` renames one.
    name : name of the data set, the title of its pages; default: ``Name`` in a BIDS
        ``dataset_description.json`` in the folder or above it, else the folder's name (`title_of`).
    variable : the array to read from .npz and .mat files that hold several.
    id_column, label_column : columns of the labels file.
    name_column, region_columns, number_names : columns of the node table and how equal names are
        treated, as in `Nodes.read_csv`. ``number_names`` also applies to the headers of files.
    weights : whether to keep the matrices with the graphs, for classifiers that use weights.
    files : a pattern such as ``*task-rest*`` that file names must match.
    id_pattern : a regular expression that finds the id in a file name (its first group).
    skip_unmatched : leave out files without a label, labels without a file and missing classes
        instead of refusing them; the report lists them.
    na : words that mean a missing class; default: ``n/a``, ``na``, ``nan``, ``null``.
    match : ``"position"`` if columns are in the order of the node table, whatever the header says.
    axis : for a stack, which axis counts the subjects, ``"first"`` or ``"last"``.
    ignore_weights : whether to use every edge that a GraphML file lists, whatever its weight.
    allow_single : whether a class may have only one graph.
    drop_nodes : leave out of all graphs the nodes that have no data in some file.
    drop_subjects : ids of subjects to leave out, as a list or separated by commas;
        ``"incomplete"`` leaves out those without data for some node.
    node_types : for a TU folder of graphs of different sizes, names of the node labels:
        ``["0=C", "1=N"]``. By default those in its README, else numbers.
    header, decimal, first_node : how files are read that can be read in several ways, as in
        `read_graph`.
    on_file : called with each file name, for a progress bar.
    on_total : called with the number of files before the first is read.

    Returns
    -------
    The data set. Its attribute ``import`` records what was left out and how the rest was read
    (see `import_report`); the warnings of `import_warnings` are added to the caveats of its card.

    Raises
    ------
    DatasetError
        With every problem of the folder, one per line.
    """
    source = Path(folder)
    if not source.exists():
        msg = f"{source}: there is no such folder."
        raise DatasetError(msg)
    for what, got, known in (
        ("kind of file", kind, kinds()),
        ("measure", measure, MEASURES),
        ("match", match, _MATCHES),
    ):
        if got not in known:
            raise UnknownNameError(what, got, known)
    whole = folder_importer(source, kind)
    if whole is None and source.is_file():
        msg = (
            f"{source}: a single file that is not a stack of matrices. Pass the folder with the "
            "graphs, or an array n × n × subjects; read_graph reads one graph from one file."
        )
        raise DatasetError(msg)
    exported = find_exported(source) if whole is None and not folder_importer(source) else None
    if exported:
        labels = exported.labels if labels is None else labels
        nodes = exported.nodes if nodes is None else nodes
    if node_types and (whole is None or whole.name != "tu"):
        msg = "node_types applies to a folder in the TU format; others name their nodes (nodes)."
        raise InvalidParameterError(msg, parameter="node_types")
    table, told = _given_nodes(nodes, name_column, region_columns, number_names)
    unwanted = [drop_subjects] if isinstance(drop_subjects, str) else list(drop_subjects)
    unwanted = [x.strip() for text in unwanted for x in text.split(",") if x.strip()]
    options = ReadOptions(
        table,
        None,
        keep,
        measure,
        variable,
        match,
        ignore_weights,
        axis,
        number_names=number_names,
        drop_nodes=drop_nodes,
        drop_incomplete=INCOMPLETE in unwanted,
        node_types=tuple(node_types),
        reading=Reading("auto", header, decimal, first_node),
    )
    job = Import(
        exported.graphs if exported else source,
        kind,
        options,
        on_file or (lambda _: None),
        on_total or (lambda _: None),
        keep_weights=weights,
        notes=told,
        unwanted=[x for x in unwanted if x != INCOMPLETE],
    )
    asked = GivenLabels(job, labels, id_column, label_column, skip_unmatched, na)
    single = allow_single or exported is not None
    if whole is not None:
        graphs, given, order = _read_whole(job, whole, asked, classes, single)
    else:
        tables = (labels, nodes, people_table(job.folder))
        skip = {Path(os.path.realpath(x)) for x in tables if isinstance(x, (str, Path))}
        found = find_graphs(
            job,
            skip=skip,
            files=files,
            id_pattern=id_pattern,
            labelled=labels is not None or people_table(job.folder) is not None,
            stems=exported is not None,
        )
        given = asked.of_files(found.paths) if found.classes is None else found.classes
        if found.folders:
            rows = job.subjects
            job.subjects = {k: {FOLDER: d, **rows.get(k, {})} for k, d in found.folders.items()}
        given, order = _chosen(job, given, classes)
        _check_counts(job, given, single)
        graphs = read_files(job, {key: p for key, p in found.paths.items() if key in given})
    typed = bool(graphs) and all(g.types is not None for g in graphs.values())
    if not typed:
        check_sizes(job, {key: g.n_nodes for key, g in graphs.items()})
    elif table is not None:
        msg = (
            f"{source}: its graphs have different nodes, so a node table does not apply (nodes). "
            "To name the node labels, give node_types."
        )
        raise InvalidParameterError(msg, parameter=("nodes", "node_types"))
    if weights and not job.problems and not job.weights:
        msg = f"{source}: no weights to keep (weights=True): {job.kind} files have none."
        raise DatasetError(msg, parameter="weights")
    _raise_problems(job)
    given = {key: c for key, c in given.items() if key in graphs}
    _check_counts(job, given, single)
    if exported and classes is None and set(exported.class_names) == set(given.values()):
        order = exported.class_names
    named = order or class_order(given.values())
    final = _nodes(job, given=table is not None)
    size = next(iter(graphs.values())).n_nodes
    if exported is None and not typed and (hint := atlas_hint(final, size)):
        job.notes.append(hint)
    card = (exported and exported.card) or _card(job, source, len(graphs))
    data = Dataset(
        name=name or title_of(source),
        graphs=tuple(graphs.values()),
        labels=tuple(named.index(given[key]) for key in graphs),
        class_names=named,
        nodes=final,
        ids=tuple(graphs),
        card=card,
        attributes=exported.attributes if exported else {"import": job.report()},
        subjects=subject_table(job.subjects, tuple(graphs)),
        weights=upper_triangles([job.weights[key] for key in graphs]) if weights else None,
    )
    caveats = tuple(dict.fromkeys((*card.caveats, *import_warnings(data))))
    return replace(data, card=replace(card, caveats=caveats))


def import_warnings(dataset: Dataset) -> list[str]:
    """What to check although it is no error: graphs without edges, nodes in an unknown order."""
    report = dataset.attributes.get("import")
    notes = report.get("notes", ()) if isinstance(report, Mapping) else ()
    said = [note.removeprefix(WARNING) for note in notes if str(note).startswith(WARNING)]
    bare = [example.id for example in dataset if example.graph.n_edges == 0]
    if not bare:
        return said
    if len(bare) == len(dataset):
        return [*said, f"None of the {len(dataset)} graphs has an edge."]
    more = f" and {len(bare) - 20} more" if len(bare) > 20 else ""
    what = counted(len(bare), "graph has no edge", "graphs have no edge")
    return [*said, f"{what}: {', '.join(bare[:20])}{more}."]


def import_report(dataset: Dataset) -> list[str]:
    """What was imported, how, and what was left out and why, one line each."""
    report = dataset.attributes.get("import")
    if not isinstance(report, Mapping):
        return []
    counts = ", ".join(f"{name} {n}" for name, n in dataset.class_counts().items())
    n_graphs = counted(len(dataset), "graph", "graphs")
    lines = [f"Imported: {n_graphs} ({counts}), as {report['kind']}."]
    _, made, rule = dataset.card.description.partition(" Edges: ")
    if made:
        rule = rule.removesuffix(".")
        lines.append(f"Edges: {rule} (signed values; negative ones are the lowest).")
    lines += list(report.get("notes", ()))
    for why, what in dict(report.get("left_out", {})).items():
        more = f" and {len(what) - 20} more" if len(what) > 20 else ""
        lines.append(f"Left out, {why} ({len(what)}): {', '.join(what[:20])}{more}.")
    if not report.get("left_out"):
        lines.append("Nothing was left out.")
    return lines


# ---- classes ----------------------------------------------------------------------------


def _chosen(
    job: Import, given: Mapping[str, str], classes: Sequence[str] | None
) -> tuple[dict[str, str], tuple[str, ...] | None]:
    """The graphs of the requested classes, and the order of the classes."""
    given, notes = join_spellings(given, classes)
    job.notes += notes
    unknown = [x for x in job.unwanted if x not in given]
    if unknown:
        near = nearest(unknown[0], list(given), n=5) or list(given)[:5]
        raise UnknownNameError("subject", unknown[0], near, parameter="drop_subjects")
    job.leave_out("as requested", job.unwanted)
    given = {key: c for key, c in given.items() if key not in set(job.unwanted)}
    kept, order, others = choose_classes(given, classes)
    job.leave_out("of classes that were not requested", others)
    return kept, order


def _check_counts(job: Import, given: Mapping[str, str], allow_single: bool) -> None:
    """Report, before any file is read, that these classes cannot be learned."""
    counts = Counter(given.values())
    before = len(job.problems)
    if len(counts) == 1:
        only = next(iter(counts))
        job.problem(f"All {len(given)} graphs are of one class, {only!r}; two are needed.")
    lone = [key for key, c in given.items() if counts[c] == 1]
    if lone and not allow_single and len(counts) > 1:
        listed = ", ".join(f"{shown(given[key], 40)} ({visible(key)})" for key in lone)
        others = ",".join(c for c in counts if counts[c] > 1)
        mend = f"Leave it out (classes={others!r}), or allow it" if "," in others else "Allow it"
        job.problem(
            f"A class with one graph can be neither learned nor evaluated: {listed}. {mend} "
            "(allow_single).",
            "classes",
            "allow_single",
        )
    if len(job.problems) > before:
        _raise_problems(job)


def _raise_problems(job: Import) -> None:
    if job.problems:
        listed = "\n".join(f"  - {p}" for p in job.problems)
        msg = f"{job.folder}: nothing was imported; problems found: {len(job.problems)}\n{listed}"
        raise DatasetError(msg, parameter=dict.fromkeys(job.parameters))


# ---- several graphs in one file ---------------------------------------------------------


def _read_whole(
    job: Import,
    importer: FolderImporter,
    asked: GivenLabels,
    classes: Sequence[str] | None,
    single: bool,
) -> tuple[dict[str, Graph], dict[str, str], tuple[str, ...] | None]:
    whole = importer.read(job)
    job.kind = importer.name
    width = max(4, len(str(len(whole))))
    ids = whole.ids or [f"{i + 1:0{width}d}" for i in range(len(whole))]
    if asked.labels is None and whole.labels is None and importer.name == "tu":
        missing = f"{tu_name(job.folder)}_graph_labels.txt"
        job.problem(
            f"{missing} is missing. Add it, with the label of one graph per line, or give a table "
            f"of labels (labels) with the ids {ids[0]}, {ids[1] if len(ids) > 1 else '…'} …",
            "labels",
        )
        _raise_problems(job)
    if asked.labels is None and whole.labels is not None:
        given = dict(zip(ids, whole.labels, strict=True))
    elif whole.by_order:
        ids, given = asked.by_order(ids, known=whole.ids is not None)
    else:
        given = asked.of_files({key: job.folder / key for key in ids})
    given, order = _chosen(job, given, classes)
    _check_counts(job, given, single)
    job.on_total(len(given))
    if whole.graphs is not None:
        graphs = {k: g for k, g in zip(ids, whole.graphs, strict=True) if k in given}
        return graphs, given, order
    tables = {k: t for k, t in zip(ids, whole.tables or (), strict=True) if k in given}
    for key in tables:
        job.on_file(key)
    return graphs_of_tables(job, tables, {k: Path(k) for k in tables}), given, order


# ---- node table and card ----------------------------------------------------------------


def _given_nodes(
    nodes: str | Path | Nodes | None,
    name_column: str | None,
    region_columns: Sequence[str] | None,
    number_names: bool,
) -> tuple[Nodes | None, list[str]]:
    """The node table that was given, and sentences about how it was read."""
    if isinstance(nodes, (str, Path)):
        return read_nodes(
            nodes,
            name_column=name_column,
            region_columns=region_columns,
            number_names=number_names,
        )
    for name, value in (("name_column", name_column), ("region_columns", region_columns)):
        if value:
            msg = f"{name} applies to the file of a node table. Give that file (nodes)."
            raise InvalidParameterError(msg, parameter="nodes")
    return nodes, []


def _nodes(job: Import, *, given: bool) -> Nodes:
    """The node table: as given, else the names in the files with the regions that were found."""
    nodes = job.options.nodes
    if nodes is None or given:
        return nodes or Nodes(())
    hints = [part for p in job.folder.rglob("*_relmat.tsv") for part in _entities(p.name)][:4]
    path = find_dseg(job.folder, nodes.names, hints) if job.folder.is_dir() else None
    if path is None and nodes.n_nodes and set(nodes.names) <= set(load_aal().names):
        job.notes.append("The nodes have the names of the atlas aal; its regions are used.")
        return load_aal().ordered(nodes.names)
    if path is None:
        found, note = with_regions(nodes)
        job.notes += [note] if note else []
        return found
    job.notes.append(f"Regions are read from {path.name}.")
    table = read_nodes(path)[0].ordered(nodes.names)
    return table if nodes.coordinates is None else replace(table, coordinates=nodes.coordinates)


def _entities(name: str) -> list[str]:
    """The values of the BIDS entities ``atlas`` and ``seg`` in a file name."""
    return [x.partition("-")[2] for x in name.split("_") if x.startswith(("seg-", "atlas-"))]


def title_of(source: Path) -> str:
    """A name for the data set of a folder: the one that BIDS gives it, else that of the folder.

    Folders that are named after a step of a pipeline say nothing about the data, so the name of the
    folder around them comes first.

    Parameters
    ----------
    source : a folder, or an archive.

    Examples
    --------
    >>> title_of(Path("Outputs/ABIDE/cpac/filt_noglobal"))
    'ABIDE (cpac, filt_noglobal)'
    """
    if source.is_file():
        return source.stem
    here = source.resolve()
    around = (here, *here.parents[:LEVELS])
    for folder in around:
        if title := bids_title(folder):
            return title
    steps: list[str] = []
    for folder in around:
        if not _STEP.fullmatch(folder.name):
            return f"{folder.name} ({', '.join(steps)})" if steps and folder.name else here.name
        steps.insert(0, folder.name)
    return here.name


def bids_title(folder: Path) -> str | None:
    """The name in the ``dataset_description.json`` of a folder; None if there is none."""
    try:
        title = read_json((folder / "dataset_description.json").read_bytes(), "")["Name"]
    except (OSError, DenseflipError, KeyError, TypeError):
        return None
    return " ".join(title.split())[:LONGEST] or None if isinstance(title, str) else None


def _card(job: Import, source: Path, n_graphs: int) -> Card:
    how = {
        "timeseries": f"ROI time series, {job.options.measure} correlation",
        "matrix": "matrices",
    }
    text = f"Imported from a folder of {how.get(job.kind, job.kind)} ({n_graphs} graphs)."
    if job.options.keep is not None:
        text += f" Edges: {job.options.keep}."
    return Card(source=f"folder {source.resolve().name}", description=text)
