"""Match the rows of a labels file to the graphs of an import, by id or by order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from denseflip.datasets.find_files import people_table
from denseflip.datasets.import_job import Import
from denseflip.datasets.labels import Labels, match_ids, read_labels
from denseflip.errors import DatasetError


class GivenLabels(NamedTuple):
    """The labels of an import, and how they are read."""

    job: Import
    labels: str | Path | Mapping[str, str] | None
    id_column: str | None
    label_column: str | None
    skip_unmatched: bool
    na: Sequence[str] | None

    def read(self, ids: Sequence[str]) -> Labels:
        """The labels that were given, or those in the folder."""
        job, labels = self.job, self.labels
        if labels is None:
            labels = people_table(job.folder) if job.folder.is_dir() else None
            if labels is None:
                msg = (
                    f"{job.folder}: labels are missing. Pass a labels file, a table with a row per "
                    "graph: id,label (such as BIDS' participants.tsv); or sort the files into one "
                    "sub-folder per class."
                )
                raise DatasetError(msg, parameter="labels")
            job.notes.append(f"Classes are read from {labels.name} in the folder.")
        if isinstance(labels, Mapping):
            return Labels({str(k): str(v) for k, v in labels.items()})
        found = read_labels(
            labels,
            ids=ids,
            id_column=self.id_column,
            label_column=self.label_column,
            na=self.na,
        )
        if found.columns is not None:
            job.notes.append(
                f"Ids are read from the column {found.columns[0]!r} of {Path(labels).name}, "
                f"classes from the column {found.columns[1]!r}."
            )
        job.notes += found.notes
        job.leave_out("rows of the labels without an id", found.no_id)
        return found

    def report(self, what: str, why: str, listed: Sequence[str]) -> None:
        """Leave these out, or make them a problem."""
        if listed and self.skip_unmatched:
            self.job.leave_out(why, listed)
        elif listed:
            self.job.problem(f"{what} ({len(listed)}): {', '.join(listed)}.", "skip_unmatched")

    def report_missing(self, missing: Mapping[str, str]) -> None:
        """The same for graphs whose class is missing."""
        words = ", ".join(sorted(set(missing.values())))
        what = f"Graphs whose class is missing ({words!r} is not a class)"
        self.report(what, f"their class is missing ({words})", list(missing))

    def of_files(self, paths: Mapping[str, Path]) -> dict[str, str]:
        """The class of every file that has one; the rest is a problem, or is left out."""
        job = self.job
        found = self.read([*paths, *(p.name for p in paths.values())])
        job.problems.extend(found.problems)
        match = match_ids([*found.classes, *found.missing], paths)
        given = {match[x]: c for x, c in found.classes.items() if x in match}
        job.subjects = {match[x]: row for x, row in found.others.items() if x in match}
        gone = {match[x]: word for x, word in found.missing.items() if x in match}
        lone = [x for x in found.classes if x not in match]
        bare = [p.name for key, p in paths.items() if key not in given and key not in gone]
        if not match and (found.classes or found.missing):
            first = [*found.classes, *found.missing][:3]
            msg = (
                f"{job.folder}: no label matches a file. The ids of the labels are "
                f"{', '.join(first)} …, those of the graphs {', '.join(list(paths)[:3])} …. Set "
                "how the id is found in a file name (id_pattern), or which column holds it "
                "(id_column)."
            )
            raise DatasetError(msg, parameter=("id_pattern", "id_column"))
        self.report("Labels without a graph file", "labels without a graph file", lone)
        self.report("Graph files without a label", "graph files without a label", bare)
        self.report_missing(gone)
        return given

    def by_order(self, ids: Sequence[str], *, known: bool) -> tuple[list[str], dict[str, str]]:
        """Graphs without names: by id if the table has any of them, else row by row."""
        job, found = self.job, self.read(ids)
        rows = [*found.classes, *found.missing]
        paths = {key: Path(key) for key in ids}
        if known and match_ids(rows, paths):
            return list(ids), self.of_files(paths)
        job.problems.extend(found.problems)
        listed = list(found.rows or found.classes)
        if len(listed) != len(ids):
            msg = (
                f"{job.folder.name}: {len(ids)} graphs, but the labels have {len(listed)} rows. "
                "The graphs of a stack have no names, so the labels must have one row per graph, "
                "in order."
            )
            raise DatasetError(msg, parameter="labels")
        job.notes.append("The rows of the labels are matched to the graphs by their order.")
        job.subjects = dict(found.others)
        self.report_missing(found.missing)
        return listed, dict(found.classes)
