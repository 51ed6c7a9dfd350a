"""``denseflip data``: list, show, fetch, import and export data sets."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denseflip.cli.common import err_console, out_console, plain_table, print_json, progress
from denseflip.cli.options import documented, reading_options, refuse
from denseflip.cli.progress import FileProgress
from denseflip.reading import Reading
from denseflip.table_options import TableOptions

if TYPE_CHECKING:
    from denseflip.datasets import Card, Dataset
    from denseflip.workflow.subject import Subject

app = typer.Typer(
    name="data",
    help="List, show, fetch, import and export data sets.",
    no_args_is_help=True,
)


@app.command("list")
@documented()
def list_(json: bool = False) -> None:
    """List the named data sets. Works offline.

    Options
    -------
    json : Print JSON instead of a table.
    """
    from denseflip.datasets import list_datasets

    infos = list_datasets()
    if json:
        print_json([info.to_dict() for info in infos])
        return
    table = plain_table("name", "graphs", "nodes", "where", "what", right=("graphs", "nodes"))
    for info in infos:
        where = info.origin if info.offline else "not downloaded"
        table.add_row(info.name, str(info.n_graphs), str(info.n_nodes), where, info.summary)
    console = out_console()
    console.print(table)
    variants = ", ".join(v for info in infos for v in info.variants)
    console.print(f"\nVariants: {variants}.")
    console.print("Details: denseflip data show NAME. Download: denseflip data fetch NAME.")


@app.command()
@documented(list_)
def show(
    name: Annotated[str, typer.Argument(metavar="DATASET")], json: bool = False, ids: bool = False
) -> None:
    """Show a data set: graphs per class, nodes, edges, density, degrees, regions and card.

    Arguments
    ---------
    name : A name from `denseflip data list`, or a data set file (.dfd).

    Options
    -------
    ids : List the id of every graph.
    """
    dataset = open_dataset(name)
    if json:
        print_json(
            {
                **dataset.summary().to_dict(),
                "ids": list(dataset.ids),
                "labels": list(dataset.labels),
                "class_names": list(dataset.class_names),
                "card": dataset.card.to_dict(),
                "attributes": dict(dataset.attributes),
                "subjects": {name: list(column) for name, column in dataset.subjects.items()},
            }
        )
        return
    if ids:
        for example in dataset:
            typer.echo(f"{example.id}\t{dataset.class_names[example.label]}")
        return
    console = out_console()
    console.print(figures(dataset), markup=False)
    console.print()
    print_card(console, dataset.card)


@app.command()
@documented()
def fetch(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME…")] = None,
    everything: Annotated[bool, typer.Option("--all")] = False,
) -> None:
    """Download data sets into the cache, check them and show their cards.

    Arguments
    ---------
    names : Names from `denseflip data list`.

    Options
    -------
    everything : Fetch every data set.
    """
    from denseflip.datasets import list_datasets
    from denseflip.datasets.registry import check_name

    known = [info.name for info in list_datasets()]
    wanted = known if everything else list(dict.fromkeys(names or ()))
    if not wanted:
        msg = f"Name the data sets to fetch, or give --all. Known: {', '.join(known)}."
        raise typer.BadParameter(msg)
    for name in wanted:
        check_name(name)
    for name in wanted:
        fetch_one(name)


def fetch_one(name: str) -> Dataset:
    """Fetch one data set; print its card if it is new on this machine."""
    from denseflip.datasets import fetch_dataset, list_datasets
    from denseflip.datasets.brain import AUTHORS_REGIONS, BRAINS

    was_here = {info.name: info.offline for info in list_datasets()}[name]
    with progress() as bars:
        dataset = fetch_dataset(name, progress=lambda file: _Bar(bars, file))
    console = err_console()
    how = "already on this machine" if was_here else "fetched"
    console.print(f"{name}: {how}, {len(dataset)} graphs.")
    if name in BRAINS and BRAINS[name].aal and "authors" not in dataset.nodes.regions:
        console.print(
            f"The authors' regions ({AUTHORS_REGIONS.name}) could not be fetched; lobes and "
            "hemispheres are available without them."
        )
    if not was_here:
        print_card(console, dataset.card)
    return dataset


def open_dataset(name: str) -> Dataset:
    """Load a data set; show a progress bar and its card if it must be downloaded."""
    from denseflip.workflow import subject

    return subject.open_dataset(name, fetch=fetch_one)


def find_graph(
    source: str,
    graph_id: str | None,
    *,
    nodes: str | None = None,
    background: str | None = None,
    reading: Reading | None = None,
    **weighted: Any,
) -> Subject:
    """Find a graph of a data set by its id, or read a graph file.

    Parameters
    ----------
    source, graph_id, nodes, background, reading : as in `find_subject`; a background and how to
        read are for a file.
    weighted : percentile, threshold and edges, for a file with a weighted matrix.
    """
    from denseflip.datasets.connectome import make_keep
    from denseflip.workflow.subject import find_subject

    if graph_id is not None:
        how = {} if reading is None else asdict(reading)
        for name, value in {"background": background, **weighted, **how}.items():
            if value not in (None, "auto"):
                refuse(name, "applies to a graph file; the edges of a data set are already chosen")
    keep = make_keep(**weighted)
    subject = find_subject(
        source,
        graph_id,
        nodes=nodes,
        background=background,
        keep=keep,
        reading=reading,
        fetch=fetch_one,
    )
    for note in subject.notes:
        err_console().print(f"{subject.source}: {note}", markup=False, soft_wrap=True)
    return subject


class _Bar:
    """The progress bar that pooch expects, drawn by rich."""

    def __init__(self, bars: Any, file: str) -> None:
        self._bars = bars
        self._task = bars.add_task(file, total=None)
        self.total = 0

    def update(self, n: int) -> None:
        """Advance by ``n`` bytes."""
        self._bars.update(self._task, total=self.total or None, advance=n)

    def reset(self) -> None:
        """Start again."""
        self._bars.reset(self._task)

    def close(self) -> None:
        """Remove the bar."""
        self._bars.remove_task(self._task)


@app.command("import")
@reading_options(without=("kind",))
@documented(TableOptions)
def import_(
    folder: Path,
    labels: Path | None = None,
    nodes: str | None = None,
    out: Path | None = None,
    kind: str = "auto",
    measure: str = "pearson",
    percentile: float | None = None,
    threshold: float | None = None,
    edges: int | None = None,
    classes: str | None = None,
    name: str | None = None,
    variable: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    name_column: str | None = None,
    region_columns: str | None = None,
    number_names: bool = False,
    weights: bool = False,
    files: str | None = None,
    id_pattern: str | None = None,
    skip_unmatched: bool = False,
    na: str | None = None,
    match: str = "name",
    axis: str | None = None,
    ignore_weights: bool = False,
    allow_single: bool = False,
    drop_nodes: bool = False,
    drop_subjects: str | None = None,
    node_types: str | None = None,
    *,
    reading: Reading,
    force: bool = False,
) -> None:
    """Import your own data set from matrices, time series, edge lists or GraphML files.

    All problems of the folder are reported at once. At the end, a report lists what was read, and
    what was left out and why. The resulting file can be used wherever a data set is named.

    Arguments
    ---------
    folder : A folder with one file per graph, one folder per class or (with --labels) per site, the
        output of XCP-D, QSIRecon, CONN and others, the TU format, or an export; or a file with a
        stack of matrices.

    Labels
    ------
    labels : Table with one row per graph (CSV, TSV, Excel): id,label, or a BIDS participants.tsv.
        Default: the sub-folders, or a participants.tsv in the folder.
    id_pattern : Regular expression for the id in a file name (first group).
    allow_single : Allow a class with a single graph.

    Files and nodes
    ---------------
    kind : Kind of the files: auto, matrix, timeseries, edges, graphml, tu, stack, xcpd,
        xcpd-timeseries, cifti, cifti-timeseries, qsirecon, conn, conn-group, abide.
    variable : Array to read from .npz and .mat files with several arrays.
    files : Read only files whose names match, for example '*task-rest*'.
    match : How file headers are matched to the node table: by name or by position.
    axis : For a stack: the axis of the subjects, first or last.

    Edges
    -----
    measure : Connectivity measure for time series: pearson, partial or tangent.
    percentile : Keep pairs at or above this percentile, 0 to 100. Default: 90, unless --threshold
        or --edges is given.
    threshold : Keep pairs at or above this value.
    edges : Keep this many of the strongest pairs.
    weights : Also keep the weighted matrices, for classifiers that use them.
    ignore_weights : Keep every edge of a weighted GraphML file.

    Output
    ------
    out : File to write. Default: the name of FOLDER with .dfd.
    name : Name of the data set, the title of its pages. Default: the Name in a BIDS
        dataset_description.json, else the name of FOLDER.
    force : Overwrite existing files.
    """
    from denseflip.checks import check_new_file
    from denseflip.datasets import import_folder
    from denseflip.datasets.connectome import make_keep
    from denseflip.datasets.dataset_file import SUFFIX
    from denseflip.datasets.folder import import_report, import_warnings
    from denseflip.errors import DatasetError

    given = Path(os.path.realpath(folder))  # a link to itself is reported on reading
    target = out or Path(f"{given.stem if given.is_file() else given.name}{SUFFIX}")
    check_new_file(target, force=force, error=DatasetError)
    keep = make_keep(percentile, threshold, edges)
    tables = TableOptions(
        classes=classes,
        id_column=id_column,
        label_column=label_column,
        skip_unmatched=skip_unmatched,
        na=na,
        drop_subjects=drop_subjects,
        nodes=nodes,
        name_column=name_column,
        region_columns=region_columns,
        number_names=number_names,
        drop_nodes=drop_nodes,
        node_types=node_types,
    )
    with FileProgress("read") as watch:
        dataset = import_folder(
            folder,
            labels,
            kind=kind,
            measure=measure,
            keep=keep,
            name=name,
            variable=variable,
            weights=weights,
            files=files,
            id_pattern=id_pattern,
            match=match,
            axis=axis,
            ignore_weights=ignore_weights,
            allow_single=allow_single,
            header=reading.header,
            decimal=reading.decimal,
            first_node=reading.first_node,
            **tables.to_parameters(),
            on_total=watch.expect,
            on_file=watch,
        )
        watch.say("saving")
    dataset.save(target, force=force)
    for warning in import_warnings(dataset):
        err_console().print(f"Warning: {warning}", markup=False, soft_wrap=True)
    console = out_console()
    console.print(figures(dataset), markup=False)
    console.print()
    warned = {f"Warning: {warning}" for warning in import_warnings(dataset)}
    for line in (line for line in import_report(dataset) if line not in warned):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    then = f"explain {target} {dataset.ids[0]}" if dataset.is_typed else f"train {target}"
    console.print(f"\nWritten to {target}. Next: denseflip {then}", markup=False)


@app.command()
@documented(show, import_)
def export(
    name: Annotated[str, typer.Argument(metavar="DATASET")],
    out: Annotated[Path, typer.Option()],
    format: str = "csv",
    force: bool = False,
) -> None:
    """Write a data set as files: graphs, labels.csv, nodes.csv and card.json.

    Output
    ------
    out : Folder to write to.
    format : csv, tsv, npy, npz, edges, graphml, or dfd (one file).
    """
    from denseflip.datasets import export_dataset

    dataset = open_dataset(name)
    with FileProgress("written") as watch:
        watch.expect(len(dataset))
        target = export_dataset(dataset, out, format=format, force=force, on_file=watch)
    typer.echo(f"{len(dataset)} graphs of {dataset.name} written to {target} as {format}.")


def figures(dataset: Dataset) -> Any:
    """Return the summary of a data set as a table, to be printed without markup."""
    from rich.table import Table

    s = dataset.summary()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("data set", s.name)
    table.add_row("graphs", str(s.n_graphs))
    for label, (class_name, count) in enumerate(s.graphs_per_class.items()):
        line = f"{count:>4} ({count / s.n_graphs:.0%})  {class_name}"
        table.add_row(f"  class {label}", line)
    table.add_row("nodes", dataset.sizes)
    spread = f"{s.edges_mean:.1f} on average ({s.edges_min}–{s.edges_max})"
    same = f"{s.edges_min} in every graph"
    table.add_row("edges", same if s.edges_min == s.edges_max else spread)
    table.add_row("density", f"{s.density:.4f}")
    table.add_row(
        "degrees",
        f"{s.degree_mean:.1f} ± {s.degree_sd:.1f} ({s.degree_min}–{s.degree_max}); "
        f"{s.isolated_mean:.1f} isolated nodes per graph",
    )
    if s.taxonomies:
        for i, (taxonomy, count) in enumerate(s.taxonomies.items()):
            regions = dataset.node_types or dataset.nodes.taxonomy(taxonomy).regions
            some = ", ".join(regions[:8]) + (", …" if count > 8 else "")
            what = "node types" if dataset.is_typed else "regions"
            table.add_row("" if i else what, f"{taxonomy} ({count}): {some}")
    else:
        table.add_row("regions", "none")
    if dataset.subjects:
        table.add_row("subjects", ", ".join(dataset.subjects))
    if dataset.weights is not None:
        table.add_row("weights", "kept; classifiers of weighted matrices can be trained")
    some_ids = ", ".join(dataset.ids[:4]) + (", … (--ids lists all)" if len(dataset) > 4 else "")
    table.add_row("ids", some_ids)
    return table


def print_card(console: Any, card: Card) -> None:
    """Print the card of a data set: description, source, licence, citation, caveats."""
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for title in ("description", "sizes", "source", "licence", "citation"):
        if text := getattr(card, title):
            table.add_row("cite" if title == "citation" else title, text)
    for i, caveat in enumerate(card.caveats):
        table.add_row("caveats" if i == 0 else "", caveat)
    console.print(table, markup=False)
