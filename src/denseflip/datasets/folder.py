"""A lab's own data: a folder of files and a table of labels become a data set.

Everything that is wrong with a folder is told at once, each problem with its file's name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from denseflip.datasets.base import Card, Dataset
from denseflip.datasets.connectome import MEASURES, Keep, upper_triangles
from denseflip.datasets.export import find_exported, graph_files, where_graphs_are
from denseflip.datasets.importers import (
    FolderImporter,
    Import,
    ReadOptions,
    check_sizes,
    folder_importer,
    kinds,
    read_files,
    suffixes,
)
from denseflip.datasets.labels import Labels, class_order, read_labels
from denseflip.datasets.subjects import subject_table
from denseflip.errors import DatasetError, UnknownNameError, counted
from denseflip.graph import Graph, Nodes


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
    weights: bool = False,
    on_file: Callable[[str], None] | None = None,
) -> Dataset:
    """Make a data set from a folder of matrices, time series, edge lists or GraphML files.

    Parameters
    ----------
    folder : one file per graph, a folder in the TU format, or a folder that `export_dataset` wrote
        (labels, nodes, classes and card are then taken from it unless they are given).
    labels : a table with a row per graph (its id is the file's name, with or without ending), or a
        mapping; a TU folder brings its own. Its other columns (age, site …) become the data set's
        subject table.
    nodes : a node table (`Nodes`, or a CSV file with the column ``name`` and any of x, y, z and
        region columns).
    kind : what the files hold; ``auto`` finds out.
    measure : how time series become matrices: ``pearson``, ``partial``, ``tangent``.
    keep : which pairs of a weighted matrix become edges; default: percentile 90. A matrix of 0 and
        1 is taken as it is.
    classes : the classes in the order wanted (the first is class 0).
    name : name of the data set; default: the folder's.
    variable : the array to take from .npz and .mat files that hold several.
    id_column, label_column : columns of the labels file.
    weights : keep the matrices beside the graphs, for classifiers that want weights.
    on_file : called with each file name, for a progress bar.

    Returns
    -------
    The data set. What `import_warnings` says of it is added to the caveats of its card.

    Raises
    ------
    DatasetError
        With every problem of the folder, one per line.
    """
    source = Path(folder)
    if not source.is_dir():
        msg = f"{source}: there is no such folder."
        raise DatasetError(msg)
    if kind not in kinds():
        raise UnknownNameError("kind of file", kind, kinds())
    if measure not in MEASURES:
        raise UnknownNameError("measure", measure, MEASURES)
    whole = folder_importer(source, kind)
    exported = find_exported(source) if whole is None and not folder_importer(source) else None
    if exported:
        labels = exported.labels if labels is None else labels
        nodes = exported.nodes if nodes is None else nodes
    table = nodes if isinstance(nodes, Nodes) or nodes is None else Nodes.read_csv(nodes)
    job = Import(
        exported.graphs if exported else source,
        kind,
        ReadOptions(table, keep=keep, measure=measure, variable=variable),
        on_file or (lambda _: None),
        keep_weights=weights,
    )
    if whole is not None:
        graphs, given = _read_whole(job, whole, labels, id_column, label_column)
    else:
        skip = {Path(x).resolve() for x in (labels, nodes) if isinstance(x, (str, Path))}
        paths = _paths(job, skip)
        given = _labels(job, labels, paths, id_column, label_column)
        paths = _match(job, paths, given)
        graphs = read_files(job, paths)
    check_sizes(job, {key: g.n_nodes for key, g in graphs.items()})
    if weights and not job.problems and not job.weights:
        msg = f"{source}: no weights to keep (weights=True): {job.kind} files hold none."
        raise DatasetError(msg, parameter="weights")
    if given and len(set(given.values())) < 2:
        only = next(iter(given.values()))
        job.problems.append(f"All {len(given)} graphs are of one class, {only!r}; two are needed.")
    if job.problems:
        listed = "\n".join(f"  - {p}" for p in job.problems)
        msg = f"{source}: nothing was imported; problems found: {len(job.problems)}\n{listed}"
        raise DatasetError(msg, parameter=dict.fromkeys(job.parameters))
    if exported and classes is None and set(exported.class_names) == set(given.values()):
        classes = exported.class_names
    order = class_order(given.values(), classes)
    card = (exported and exported.card) or _card(job, source, len(graphs))
    data = Dataset(
        name=name or source.resolve().name,
        graphs=tuple(graphs.values()),
        labels=tuple(order.index(given[key]) for key in graphs),
        class_names=order,
        nodes=job.options.nodes or Nodes(()),
        ids=tuple(graphs),
        card=card,
        attributes=exported.attributes if exported else {},
        subjects=subject_table(job.subjects, tuple(graphs)),
        weights=upper_triangles([job.weights[key] for key in graphs]) if weights else None,
    )
    caveats = tuple(dict.fromkeys((*card.caveats, *import_warnings(data))))
    return replace(data, card=replace(card, caveats=caveats))


def import_warnings(dataset: Dataset) -> list[str]:
    """What is odd about the graphs of a data set, though no error: those without an edge."""
    bare = [example.id for example in dataset if example.graph.n_edges == 0]
    if not bare:
        return []
    if len(bare) == len(dataset):
        return [f"None of the {len(dataset)} graphs has an edge."]
    more = f" and {len(bare) - 20} more" if len(bare) > 20 else ""
    what = counted(len(bare), "graph has no edge", "graphs have no edge")
    return [f"{what}: {', '.join(bare[:20])}{more}."]


def _paths(job: Import, skip: Collection[Path]) -> dict[str, Path]:
    """The graph files of the folder by id (the name without its ending)."""
    files = [p for p in graph_files(job.folder) if p.resolve() not in skip]
    if not files:
        msg = (
            f"{job.folder}: no graph files here. Files are read that end in "
            f"{', '.join(suffixes())}.{where_graphs_are(job.folder, skip)}"
        )
        raise DatasetError(msg)
    twice = [stem for stem, count in Counter(p.stem for p in files).items() if count > 1]
    for stem in twice:
        names = ", ".join(p.name for p in files if p.stem == stem)
        job.problems.append(f"Two files for the graph {stem!r}: {names}.")
    return {p.stem: p for p in files}


def _labels(
    job: Import,
    labels: str | Path | Mapping[str, str] | None,
    paths: Mapping[str, Path],
    id_column: str | None,
    label_column: str | None,
) -> dict[str, str]:
    if labels is None:
        msg = f"{job.folder}: give a labels file, a table with a row per graph: id,label."
        raise DatasetError(msg, parameter="labels")
    if isinstance(labels, Mapping):
        found = Labels({str(k): str(v) for k, v in labels.items()})
    else:
        ids = {*paths, *(p.name for p in paths.values())}
        found = read_labels(labels, ids=ids, id_column=id_column, label_column=label_column)
    job.problems.extend(found.problems)
    by_name = {p.name: key for key, p in paths.items()}
    job.subjects = {by_name.get(Path(key).name, key): row for key, row in found.others.items()}
    return {by_name.get(Path(key).name, key): value for key, value in found.classes.items()}


def _match(job: Import, paths: dict[str, Path], given: dict[str, str]) -> dict[str, Path]:
    """The files that have a label; labels without a file and files without a label are problems."""
    missing = [key for key in given if key not in paths]
    if missing:
        job.problems.append(f"Labels without a graph file ({len(missing)}): {', '.join(missing)}.")
    unlabelled = [p.name for key, p in paths.items() if key not in given]
    if unlabelled:
        job.problems.append(
            f"Graph files without a label ({len(unlabelled)}): {', '.join(unlabelled)}."
        )
    return {key: p for key, p in paths.items() if key in given}


def _read_whole(
    job: Import,
    importer: FolderImporter,
    labels: str | Path | Mapping[str, str] | None,
    id_column: str | None,
    label_column: str | None,
) -> tuple[dict[str, Graph], dict[str, str]]:
    graphs, own = importer.read(job.folder)
    width = max(4, len(str(len(graphs))))
    ids = [f"{i + 1:0{width}d}" for i in range(len(graphs))]
    job.kind = importer.name
    if labels is None:
        if own is None:
            msg = f"{job.folder}: no labels among its files; give a labels file, a table with a "
            msg += "row per graph: id,label."
            raise DatasetError(msg, parameter="labels")
        given = dict(zip(ids, own, strict=True))
    else:
        paths = {key: job.folder / key for key in ids}
        given = _labels(job, labels, paths, id_column, label_column)
        _match(job, paths, given)
    return {k: g for k, g in zip(ids, graphs, strict=True) if k in given}, given


def _card(job: Import, source: Path, n_graphs: int) -> Card:
    how = {
        "timeseries": f"ROI time series, {job.options.measure} correlation",
        "matrix": "matrices",
    }
    text = f"Imported from a folder of {how.get(job.kind, job.kind)} ({n_graphs} graphs)."
    if job.options.keep is not None:
        text += f" Edges: {job.options.keep}."
    return Card(source=f"folder {source.resolve().name}", description=text)
