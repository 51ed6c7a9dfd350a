"""Find the graph files of a folder, their ids, and the classes that sub-folders name.

Files of a known layout are recognised by their names, anywhere below the folder. Other graph files
must be in the folder itself, in one sub-folder per class or, if labels are given, in sub-folders,
for example one per site.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from denseflip.datasets.export import graph_files, where_graphs_are
from denseflip.datasets.import_job import FileImporter, Import, stem_of
from denseflip.datasets.importers import file_importers, suffixes
from denseflip.errors import DatasetError, InvalidParameterError

_BIDS = re.compile(r"(sub-[A-Za-z0-9]+)(?:_.*)?")
#: Files that are next to graphs but hold none: tables of participants, parcels or scans.
_BESIDE = re.compile(r"(?i)participants\.tsv|.*_?dseg\.tsv|.*phenotypic.*\.csv|.*_scans\.tsv")
_PEOPLE = ("participants.tsv", "participants.csv")


@dataclass(frozen=True)
class Found:
    """The graph files of a folder.

    Attributes
    ----------
    paths : id → file.
    classes : id → the class that its sub-folder names, if there is one sub-folder per class.
    folders : id → the sub-folder of its file, if labels are given and the files are in several
        that are not those of single subjects.
    """

    paths: dict[str, Path]
    classes: dict[str, str] | None = None
    folders: dict[str, str] = field(default_factory=dict)


def find_graphs(
    job: Import,
    *,
    skip: Collection[Path] = (),
    files: str | None = None,
    id_pattern: str | None = None,
    labelled: bool = False,
    stems: bool = False,
) -> Found:
    """The graph files of the job's folder by id; sets the job's kind if file names show it.

    Parameters
    ----------
    job : the import; notes and problems are added to it.
    skip : files that are not graphs: the labels, the node table.
    files : a pattern such as ``*task-rest*`` that the file names, or their paths below the folder,
        must match.
    id_pattern : the regular expression that finds the id in a file name: its group ``id``, its
        first group, or all of it.
    labelled : whether labels are given, so that sub-folders are not classes.
    stems : whether ids are always the file names.
    """
    layout = _layout_files(job, skip, files)
    if layout is not None:
        chosen, importer = layout
        job.kind = importer.name
        pattern = importer.pattern if id_pattern is None else None
    else:
        chosen, pattern = _plain_files(job, skip, files, labelled), None
    classes = None if labelled else _class_folders(job.folder, chosen)
    ids = _ids(job, chosen, pattern, id_pattern, stems)
    if classes is not None:
        several = len(set(ids)) < len(ids)
        ids = [f"{c}-{x}" if several else x for c, x in zip(classes, ids, strict=True)]
        job.notes.append(f"Classes are the sub-folders: {', '.join(dict.fromkeys(classes))}.")
    folders = _sites(job, chosen) if labelled and classes is None else None
    if folders is not None and layout is None and len(set(ids)) < len(ids):
        times = Counter(ids)
        ids = [f"{d}-{x}" if times[x] > 1 else x for d, x in zip(folders, ids, strict=True)]
        job.notes.append("Graphs whose file names occur in several folders are named FOLDER-FILE.")
    held: dict[str, list[Path]] = defaultdict(list)
    for key, path in zip(ids, chosen, strict=True):
        held[key].append(path)
    for key, paths in held.items():
        if len(paths) > 1:
            job.problem(_two_files(key, paths, layout is not None), "files", "id_pattern")
    return Found(
        {key: paths[0] for key, paths in held.items()},
        None if classes is None else dict(zip(ids, classes, strict=True)),
        {} if folders is None else dict(zip(ids, folders, strict=True)),
    )


def people_table(folder: Path) -> Path | None:
    """The table of participants in a folder: BIDS' own, or ABIDE's phenotypes."""
    for name in _PEOPLE:
        if (folder / name).is_file():
            return folder / name
    found = sorted(folder.glob("Phenotypic*.csv"))
    return found[0] if len(found) == 1 else None


# ---- layouts ----------------------------------------------------------------------------


def _layout_files(
    job: Import, skip: Collection[Path], files: str | None
) -> tuple[list[Path], FileImporter] | None:
    """The files of the layout that was given or recognised; None if there is none."""
    layouts = {x.name: x for x in file_importers() if x.pattern is not None}
    if job.kind not in ("auto", *layouts):
        return None
    held: dict[str, list[Path]] = {name: [] for name in layouts}
    for path in sorted(job.folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(job.folder).parts)
        if hidden or not path.is_file() or path.resolve() in skip:
            continue
        for name, importer in layouts.items():
            if re.fullmatch(importer.pattern or "", path.name, re.IGNORECASE):
                held[name].append(path)
    every = {name: paths for name, paths in held.items() if paths}
    held = {name: _matching(job.folder, paths, files) for name, paths in every.items()}
    held = {name: paths for name, paths in held.items() if paths}
    if job.kind != "auto":
        if job.kind not in held:
            raise DatasetError(_none_of(job, layouts[job.kind], every, files), parameter="kind")
        return held[job.kind], layouts[job.kind]
    if not held:
        return None
    _check_mixed(job, held, layouts, skip, files)
    first = next(iter(held))
    for name in list(held)[1:]:
        job.notes.append(
            f"Also found but not used: {len(held[name])} files of the kind {name} "
            f"({layouts[name].summary}). To use these instead, set kind."
        )
    return held[first], layouts[first]


def _none_of(
    job: Import, importer: FileImporter, every: Mapping[str, list[Path]], files: str | None
) -> str:
    msg = f"{job.folder}: no files of the kind {importer.name} found ({importer.summary})."
    if files is not None and importer.name in every:
        names = ", ".join(p.name for p in every[importer.name][:3])
        msg = f"{job.folder}: files={files!r} matches none of the {len(every[importer.name])} "
        return msg + f"files of the kind {importer.name}, such as {names}."
    others = ", ".join(f"{len(v)} of the kind {k}" for k, v in every.items())
    return f"{msg} There are {others}." if others else msg


def _check_mixed(
    job: Import,
    held: Mapping[str, list[Path]],
    layouts: Mapping[str, FileImporter],
    skip: Collection[Path],
    files: str | None,
) -> None:
    """Raise if one folder holds files of several layouts, and list them."""
    families = dict.fromkeys(layouts[name].family for name in held)
    claimed = {p for paths in held.values() for p in paths}
    others = [
        p
        for p in _matching(job.folder, graph_files(job.folder), files)
        if p not in claimed
        and p.resolve() not in skip
        and not _BESIDE.fullmatch(p.name)
        and not _BIDS.fullmatch(stem_of(p))
    ]
    if len(families) == 1 and not others:
        return
    lines = [f"{name} ({len(paths)}): {_some(paths)}" for name, paths in held.items()]
    if others:
        lines.append(f"none of these ({len(others)}): {_some(others)}")
    listed = "\n".join(f"  - {line}" for line in lines)
    msg = (
        f"{job.folder}: files of several layouts found:\n{listed}\nChoose one by its kind (kind) "
        "or by a pattern of file names (files)."
    )
    raise DatasetError(msg, parameter=("kind", "files"))


def _some(paths: Sequence[Path]) -> str:
    return ", ".join(p.name for p in paths[:3]) + (" …" if len(paths) > 3 else "")


def _matching(folder: Path, paths: Sequence[Path], files: str | None) -> list[Path]:
    if files is None:
        return list(paths)
    return [
        p
        for p in paths
        if fnmatch(p.name, files) or fnmatch(p.relative_to(folder).as_posix(), files)
    ]


# ---- any other files --------------------------------------------------------------------


def _plain_files(
    job: Import, skip: Collection[Path], files: str | None, labelled: bool
) -> list[Path]:
    """The graph files of the folder itself, else of its sub-folders, one per class."""

    def of(folder: Path) -> list[Path]:
        return [
            p
            for p in graph_files(folder)
            if p.resolve() not in skip and not _BESIDE.fullmatch(p.name)
        ]

    found = of(job.folder)
    if not found:
        inner = [d for d in sorted(job.folder.iterdir()) if d.is_dir() and d.name[0] != "."]
        inner = [d for d in inner if of(d)]
        people = [d for d in inner if _BIDS.fullmatch(d.name)]
        if (len(inner) > 1 and not labelled) or (people and people == inner):
            found = [p for d in inner for p in of(d)]
        elif labelled and (found := [p for d in _folders(job.folder) for p in of(d)]):
            job.notes.append("The folder itself has no graph files; its sub-folders are read.")
    if not found:
        msg = (
            f"{job.folder}: no graph files found. Supported endings: "
            f"{', '.join(suffixes())}.{where_graphs_are(job.folder, skip)}"
        )
        raise DatasetError(msg)
    chosen = _matching(job.folder, found, files)
    if not chosen:
        msg = f"{job.folder}: files={files!r} matches none of {len(found)} files: {_some(found)}."
        raise DatasetError(msg, parameter="files")
    return chosen


def _folders(folder: Path) -> list[Path]:
    """All folders below a folder, without hidden ones."""
    return [
        d
        for d in sorted(folder.rglob("*"))
        if d.is_dir() and not any(x.startswith(".") for x in d.relative_to(folder).parts)
    ]


def _sites(job: Import, paths: Sequence[Path]) -> list[str] | None:
    """The sub-folder of each file, if there are several and some hold several files."""
    parts = [p.relative_to(job.folder).parts[:-1] for p in paths]
    while parts and all(parts) and len({x[0] for x in parts}) == 1:
        parts = [x[1:] for x in parts]  # a folder that all have in common
    if not all(parts) or any(_BIDS.fullmatch(x[0]) for x in parts):
        return None
    names = [x[0] for x in parts]
    counts = Counter(names)
    if len(counts) < 2 or len(counts) == len(names):
        return None  # one folder, or one per subject
    some = ", ".join(f"{name} ({n})" for name, n in list(counts.items())[:20])
    more = f" and {len(counts) - 20} more" if len(counts) > 20 else ""
    job.notes.append(f"Files are read from the sub-folders {some}{more}.")
    return names


def _class_folders(folder: Path, paths: Sequence[Path]) -> list[str] | None:
    """The sub-folder of each file, if there are several and they do not name subjects."""
    parts = [p.relative_to(folder).parts for p in paths]
    if any(len(part) < 2 or _BIDS.fullmatch(part[0]) for part in parts):
        return None
    names = [part[0] for part in parts]
    return names if len(set(names)) > 1 else None


def _ids(
    job: Import,
    paths: Sequence[Path],
    pattern: str | None,
    id_pattern: str | None,
    stems: bool,
) -> list[str]:
    """The id of each file: by the given pattern, the layout, BIDS, else the file name."""
    if id_pattern is not None:
        return _ids_by(job, paths, id_pattern)
    if pattern is not None:
        groups = [re.fullmatch(pattern, p.name, re.IGNORECASE) for p in paths]
        found = [{} if g is None else g.groupdict() for g in groups]
        return [
            g.get("id") or g.get("name") or stem_of(p) for g, p in zip(found, paths, strict=True)
        ]
    names = [stem_of(p) for p in paths]
    people = [_BIDS.fullmatch(name) for name in names]
    if stems or not all(people):
        return names
    short = [m[1] for m in people if m is not None]
    return short if len(set(short)) == len(short) else names


def _ids_by(job: Import, paths: Sequence[Path], id_pattern: str) -> list[str]:
    try:
        wanted = re.compile(id_pattern)
    except re.error as error:
        msg = f"id_pattern must be a regular expression ({error}); got {id_pattern!r}."
        raise InvalidParameterError(msg, parameter="id_pattern") from error
    found = []
    lacking = []
    for path in paths:
        hit = wanted.search(path.relative_to(job.folder).as_posix())
        if hit is None:
            lacking.append(path)
        named = hit is not None and "id" in wanted.groupindex
        at: str | int = "id" if named else min(wanted.groups, 1)
        found.append(stem_of(path) if hit is None else hit[at] or stem_of(path))
    if lacking:
        job.problem(
            f"id_pattern={id_pattern!r} finds no id in {len(lacking)} of {len(paths)} files: "
            f"{_some(lacking)}.",
            "id_pattern",
        )
    return found


def _two_files(key: str, paths: Sequence[Path], layout: bool) -> str:
    """The message for an id with several files, with a pattern that tells them apart."""
    alike = len({p.name for p in paths}) < len(paths)
    shown = [f"{p.parent.name}/{p.name}" if alike else p.name for p in paths[:6]]
    names = ", ".join(shown) + (" …" if len(paths) > 6 else "")
    number = "Two" if len(paths) == 2 else str(len(paths))
    text = f"{number} files for the graph {key!r}: {names}."
    if not layout:
        return text
    words = Counter(word for p in paths for word in set(p.name.split("_")))
    apart = sorted(word for word, count in words.items() if count < len(paths))
    pattern = f"*{apart[0].partition('.')[0]}*" if apart else "*"
    return f"{text} Choose one of them by a pattern of file names (files={pattern!r})."
