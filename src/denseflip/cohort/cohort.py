"""`Cohort`: what the explanations of a group have in common, with p-values and coverage."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from denseflip.checks import check_new_file
from denseflip.classifiers.evaluation import Evaluation
from denseflip.cohort.data_notes import data_notes
from denseflip.cohort.labelling import Labelling
from denseflip.cohort.methods_text import methods_text
from denseflip.cohort.settings import CohortSettings, cells_of, held_by, spoken_of
from denseflip.cohort.shared import SharedChange
from denseflip.cohort.stats import (
    benjamini_hochberg,
    max_p,
    rank_correlation,
    single_p,
    smallest_p,
)
from denseflip.cohort.words import statement
from denseflip.datasets import Dataset
from denseflip.errors import UnknownNameError
from denseflip.files import write_whole
from denseflip.graph import Cells
from denseflip.search.claims.intervals import FEWEST, hedges_g, prediction_interval
from denseflip.serialise import Serialisable
from denseflip.story.wording.badge import known
from denseflip.story.wording.vocabulary import Vocabulary

Correction = Literal["max", "bh"]
CORRECTIONS = ("max", "bh")
_KEYS = ("verdict", "in_range", "stability")  # properties that files contain
Verdict = Literal["named", "nothing", "chance", "confounded", "untested"]


def gate(evaluation: Evaluation | None) -> Literal["", "chance", "confounded"]:
    """Return why no conclusions about the groups are allowed; empty if they are.

    They are not allowed for a classifier at chance, nor for one that does not beat its confounds
    on unseen graphs.
    """
    if evaluation is None:
        return ""
    judged = evaluation.protocol != "as given" and evaluation.plain_level != "chance"
    if judged and evaluation.beats_confounds is False:
        return "confounded"
    return "chance" if evaluation.level == "chance" else ""


class Usual(NamedTuple):
    """How many connections the patients of one class have in a cell.

    The class is that of the labels, over the whole cohort. The search uses smaller groups: the
    graphs that each classifier was trained on and puts in that class.

    Attributes
    ----------
    median : the median.
    low, high : the 95 % prediction interval for one more patient (`prediction_interval`); None for
        a class of fewer than 3 patients.
    """

    median: float
    low: int | None
    high: int | None


class CellRow(NamedTuple):
    """The results of one cell and direction.

    Attributes
    ----------
    cell, name : its number and its regions.
    direction : whether ``"more"`` or ``"fewer"`` connections indicate the reference class.
    patients : number of patients whose change uses it.
    share : their share of the explained patients.
    amount : connections changed there, median over those patients; 0 if there are none.
    p : adjusted p-value of ``patients``; None without permutations.
    difference : Student's t of the groups' densities; above 0 if the class has more.
    p_difference : its p-value, adjusted in the same way, over both directions.
    in_range : number of those patients whose change is in range.
    effect : Hedges' g of the numbers of connections, above 0 if the class has more; None if a group
        has fewer than 2 patients.
    """

    cell: int
    name: str
    direction: str
    patients: int
    share: float
    amount: float
    p: float | None
    difference: float
    p_difference: float | None
    in_range: int = 0
    effect: float | None = None


@dataclass(frozen=True)
class Cohort(Serialisable, named="a cohort of denseflip", keys=(..., *_KEYS), format=1):
    """What the explanations of a group have in common; the result of `explain_cohort`.

    Attributes
    ----------
    dataset, class_counts : name of the data set, and its patients per class.
    oracle : name of the classifier.
    refitted : whether it could be retrained; if not, there are no p-values, and patients may have
        been part of its training data.
    evaluation : its held-out accuracy; None if unknown.
    settings : how the cohort was analysed.
    taxonomy, cell_names, cell_sizes : the taxonomy, its cells, and the number of pairs in each.
    spoken : the reference class, which "more" and "fewer" indicate.
    observed : the result under the true labels.
    permutations, level, correction : of the test.
    p_more, p_fewer : adjusted p-values by cell; None without permutations.
    p_difference : the same for the groups' densities.
    null_largest : the largest count of any cell, one per permutation.
    usual : how many connections each class has, by cell.
    effects : Hedges' g between the reference class and the others, by cell.
    shared : the shared changes, away from each class.
    agreement : rank correlation between what the classifier uses and how the groups differ.
    null_agreement : its median under permuted labels.
    questions : total number of queries.
    noun, units, whole : the words for subjects, connections, and the whole that a graph shows.
    notes : notes on the analysis, one sentence each.
    held : the confounds within which labels were permuted.
    """

    dataset: str
    class_counts: Mapping[str, int]
    oracle: str
    refitted: bool
    evaluation: Evaluation | None
    settings: CohortSettings
    taxonomy: str
    region_names: tuple[str, ...]
    cell_names: tuple[str, ...]
    cell_sizes: tuple[int, ...]
    spoken: int
    observed: Labelling
    permutations: int
    level: float
    correction: Correction
    p_more: tuple[float, ...] | None
    p_fewer: tuple[float, ...] | None
    p_difference: tuple[float, ...] | None
    null_largest: tuple[int, ...]
    usual: Mapping[str, tuple[Usual, ...]]
    effects: tuple[float | None, ...]
    shared: tuple[SharedChange, ...]
    agreement: float | None
    null_agreement: float | None
    questions: int
    noun: str = "graphs"
    units: str = "edges"
    whole: str = "graph"
    notes: tuple[str, ...] = field(default=())
    held: tuple[str, ...] = ()

    # ---- results ----------------------------------------------------------------------------

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes, in the order of their labels."""
        return tuple(self.class_counts)

    @property
    def verdict(self) -> Verdict:
        """``named`` if a cell is significant, else ``nothing``; or why there is no test.

        ``chance``: the classifier is at chance. ``confounded``: it does not beat its confounds.
        ``untested``: there are no p-values.
        """
        if closed := gate(self.evaluation):
            return closed
        if self.p_more is None:
            return "untested"
        return "named" if self.named else "nothing"

    @property
    def in_range(self) -> int:
        """How many of the changes that count (`observed.told`) are in range."""
        return self.observed.in_range

    @property
    def stability(self) -> float | None:
        """Mean share of redraws of a change that flip classifiers trained again, if known."""
        return self.observed.stability

    @property
    def rows(self) -> tuple[CellRow, ...]:
        """Every cell and direction that a patient's change uses; most used first."""
        found = [row for row in self._all_rows() if row.patients]
        return tuple(sorted(found, key=lambda row: (-row.patients, row.cell, row.direction)))

    @property
    def all_rows(self) -> tuple[CellRow, ...]:
        """`rows`, then every other cell, in the direction in which the groups differ."""
        used = {row.cell for row in self.rows}
        others = (
            row
            for row in self._all_rows()
            if row.cell not in used and (row.difference > 0) == (row.direction == "more")
        )
        return (*self.rows, *(others if self.observed.explained else ()))

    @property
    def named(self) -> tuple[CellRow, ...]:
        """Cells used more often than expected by chance; none if no conclusions are allowed."""
        if self.p_more is None or gate(self.evaluation):
            return ()
        return tuple(row for row in self.rows if row.p is not None and row.p <= self.level)

    @property
    def differing(self) -> tuple[CellRow, ...]:
        """Cells whose density differs significantly between the groups, largest first."""
        found = [
            row
            for row in self._all_rows()
            if row.p_difference is not None
            and row.p_difference <= self.level
            and (row.difference > 0) == (row.direction == "more")
        ]
        return tuple(sorted(found, key=lambda row: (-abs(row.difference), row.cell)))

    @property
    def smallest_p(self) -> float | None:
        """The smallest possible p-value; None without permutations."""
        return smallest_p(self.permutations) if self.permutations else None

    @property
    def statement(self) -> str:
        """The result in a few sentences, starting with the classifier's held-out accuracy."""
        return " ".join(self.sentences)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of `statement`, one by one."""
        return tuple(statement(self))

    def methods_text(self, dataset: Any = None) -> str:
        """What was done, in a paragraph for the methods section of a paper, with references.

        Parameters
        ----------
        dataset : the data set or its card; adds how edges were made and what was excluded.
        """
        from denseflip._version import __version__

        card = getattr(dataset, "card", dataset)
        return methods_text(self, __version__, str(known(card, "description") or ""), dataset)

    def _all_rows(self) -> list[CellRow]:
        amounts = self._amounts()
        found = []
        for cell, name in enumerate(self.cell_names):
            for direction, counts, ps in (
                ("more", self.observed.more, self.p_more),
                ("fewer", self.observed.fewer, self.p_fewer),
            ):
                changed, inside = amounts.get((cell, direction), ([], 0))
                found.append(
                    CellRow(
                        cell,
                        name,
                        direction,
                        int(counts[cell]),
                        int(counts[cell]) / max(1, self.observed.explained),
                        float(np.median(changed)) if changed else 0.0,
                        None if ps is None else ps[cell],
                        float(self.observed.difference[cell]),
                        None if self.p_difference is None else self.p_difference[cell],
                        inside,
                        self.effects[cell],
                    )
                )
        return found

    def _amounts(self) -> dict[tuple[int, str], tuple[list[int], int]]:
        """By cell and direction: the amounts of the patients, and how many of them are in range."""
        found: dict[tuple[int, str], tuple[list[int], int]] = {}
        for patient in self.observed.patients:
            sign = -1 if patient.label == self.spoken else 1
            for cell, change in patient.changes.items() if patient.told else ():
                key = (cell, "more" if sign * change > 0 else "fewer")
                listed, inside = found.get(key, ([], 0))
                found[key] = ([*listed, abs(change)], inside + (patient.in_range is True))
        return found

    # ---- forms ----------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready form; `from_dict` restores an equal cohort."""
        cells = [row._asdict() for row in self.rows]
        return {**super().to_dict(), "statement": list(self.sentences), "cells": cells}

    def _check(self) -> None:
        self.to_dict(), repr(self)

    def __hash__(self) -> int:
        return hash((self.dataset, self.oracle, self.permutations, self.questions))

    def to_json(self) -> str:
        """The whole cohort as JSON text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    def to_tsv(self) -> str:
        """The cells as a tab-separated table: a header, then one line per cell and direction.

        It has every cell (`all_rows`). The last columns are the median and the interval of each
        class (`Usual`).
        """
        names = [f"{field}_{name}" for name in self.usual for field in Usual._fields]
        lines = ["\t".join((*CellRow._fields, *map(_plain, names)))]
        for row in self.all_rows:
            there = [value for usual in self.usual.values() for value in usual[row.cell]]
            lines.append("\t".join(_plain(value) for value in (*row, *there)))
        return "\n".join(lines) + "\n"

    def patients_tsv(self) -> str:
        """The explained patients as a table: class, answer, change, whether it counts.

        ``in_range`` and ``edges_kept`` are those of the change; ``stability`` is the mean share of
        its redraws that flip classifiers trained again.
        """
        lines = [
            "id\tclass\tanswer\tright\tcounts\tchange\tquestions\tin_range\tedges_kept\tstability"
        ]
        for patient in self.observed.patients:
            change = "; ".join(
                f"{amount:+d} {self.cell_names[cell]}" for cell, amount in patient.changes.items()
            )
            row = (
                patient.id,
                self.class_names[patient.label],
                patient.answer,
                "yes" if patient.right else "no",
                "yes" if patient.told else "no",
                change or None,
                patient.questions,
                _yes_no(patient.in_range),
                _yes_no(patient.balanced if patient.changes else None),
                None if patient.stability is None else patient.stability.share,
            )
            lines.append("\t".join(_plain(value) for value in row))
        return "\n".join(lines) + "\n"

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the cells (``.tsv``) or everything (``.json``), and return the path."""
        target = Path(path)
        forms = {".tsv": self.to_tsv, ".json": self.to_json}
        if target.suffix.lower() not in forms:
            raise UnknownNameError("form of a cohort", target.suffix, forms, parameter="path")
        check_new_file(target, force=force)
        return write_whole(target, forms[target.suffix.lower()]())

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        return (
            f"Cohort({self.dataset!r}, {self.oracle!r}, {self.verdict}, "
            f"{self.observed.explained} explained, {self.permutations} permutations)"
        )

    def _repr_html_(self) -> str:
        """Statement and table for notebooks."""
        text = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.sentences)
        cells = [
            [row.name, row.direction, str(row.patients), f"{row.amount:g}", p_words(row.p)]
            for row in self.rows[:12]
        ]
        head = ["cell", f"indicates {self.class_names[self.spoken]}", self.noun, "median", "p"]
        table = "".join(
            "<tr>" + "".join(f"<{tag}>{html.escape(x)}</{tag}>" for x in line) + "</tr>"
            for tag, line in (("th", head), *(("td", line) for line in cells))
        )
        return f"<div>{text}<table>{table}</table></div>"


def p_words(p: float | None) -> str:
    """Format a p-value."""
    return "–" if p is None else f"{p:.3g}"


def _yes_no(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def _plain(value: Any) -> str:
    if value is None:
        return "n/a"
    if isinstance(value, float):
        return f"{value:.6g}"
    return " ".join(str(value).split())  # a tab in a name must not end a column


# ---- assembly -------------------------------------------------------------------------------


def assemble(
    dataset: Dataset,
    settings: CohortSettings,
    *,
    oracle: str,
    refitted: bool,
    evaluation: Evaluation | None,
    observed: Labelling,
    null: Sequence[Labelling],
    shared: Sequence[SharedChange],
    level: float,
    correction: str,
    questions: int,
    notes: Sequence[str] = (),
    vocabulary: str | Vocabulary = "auto",
) -> Cohort:
    """Combine the counts of all labellings into a cohort."""
    cells, n = cells_of(dataset, settings), len(observed.more)
    both = np.concatenate((observed.more, observed.fewer))
    rows = np.array([np.concatenate((x.more, x.fewer)) for x in null]).reshape(len(null), 2 * n)
    apart = np.array([np.abs(x.difference) for x in null]).reshape(len(null), n)
    ps: Any = None
    if null:
        tests = ((both, rows), (np.abs(observed.difference), apart))
        if correction == "max":
            ps = [max_p(*test) for test in tests]
        else:
            ps = [benjamini_hochberg(single_p(*test)) for test in tests]
    agree = [
        rank_correlation(np.subtract(x.more, x.fewer), x.difference) for x in (observed, *null)
    ]
    known = [x for x in agree[1:] if x is not None]
    words = Vocabulary.of(vocabulary, dataset.nodes)
    usual, effects = _usual(dataset, cells, spoken_of(dataset, settings))
    return Cohort(
        dataset=dataset.name,
        class_counts=dataset.class_counts(),
        oracle=oracle,
        refitted=refitted,
        evaluation=evaluation,
        settings=settings,
        taxonomy=cells.taxonomy.name,
        region_names=cells.taxonomy.regions,
        cell_names=tuple(cells.name(cell) for cell in cells.at(range(n))),
        cell_sizes=tuple(cells.sizes.tolist()),
        spoken=spoken_of(dataset, settings),
        observed=observed,
        permutations=len(null),
        level=level,
        correction=correction,  # type: ignore[arg-type]
        p_more=None if ps is None else tuple(ps[0][:n].tolist()),
        p_fewer=None if ps is None else tuple(ps[0][n:].tolist()),
        p_difference=None if ps is None else tuple(ps[1].tolist()),
        null_largest=tuple(int(row.max()) for row in rows),
        usual=usual,
        effects=effects,
        shared=tuple(shared),
        agreement=agree[0],
        null_agreement=float(np.median(known)) if known else None,
        questions=questions,
        noun=words.members,
        units=words.units,
        whole=words.thing,
        notes=(*data_notes(dataset, words.units), *notes),
        held=held_by(dataset, settings)[0] if null else (),
    )


def _usual(
    dataset: Dataset, cells: Cells, spoken: int
) -> tuple[dict[str, tuple[Usual, ...]], tuple[float | None, ...]]:
    """How many connections each class has, by cell, and the effect size of the difference."""
    counts = np.stack([cells.count(graph) for graph in dataset.graphs]).astype(float)
    labels = dataset.label_array()
    usual: dict[str, tuple[Usual, ...]] = {}
    for label, name in enumerate(dataset.class_names):
        of = counts[labels == label]
        if not len(of):
            continue
        ends: list[tuple[Any, Any]] = [(None, None)] * len(cells)
        if len(of) >= FEWEST:
            low, high = prediction_interval(of, cells.sizes)
            ends = list(zip(low.tolist(), high.tolist(), strict=True))
        medians = np.median(of, axis=0).tolist()
        usual[name] = tuple(Usual(m, *both) for m, both in zip(medians, ends, strict=True))
    groups = counts[labels == spoken], counts[labels != spoken]
    if min(map(len, groups)) < 2:
        return usual, (None,) * len(cells)
    return usual, tuple(hedges_g(*groups).tolist())
