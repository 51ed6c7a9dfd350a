"""`Counterfactual`: what a search gives back, and `Step`, the unit of its trace.

A result knows nothing of drawing or telling: `story` and `report` do that.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from denseflip.as_read import TRUE_AS_READ as TRUE_AS_READ
from denseflip.as_read import AsRead as AsRead
from denseflip.as_read import Language as Language
from denseflip.as_read import Reading as Reading
from denseflip.as_read import wilson_interval as wilson_interval
from denseflip.graph import Edits, Graph, Nodes, Pair
from denseflip.result_scores import Plausibility, Robustness
from denseflip.serialise import FORMS, Form, Serialisable, read, write

FORMAT = 3  # version of the dictionary form
Label = int | str | float | bool
Target = Label | tuple[Label, ...] | None


class Status(StrEnum):
    """How a search ended."""

    FOUND = "found"  # the label changed as asked
    EXHAUSTED = "exhausted"  # nothing left to try, or the iteration limit reached
    BUDGET = "budget"  # the call or time budget was spent first
    NOT_NEEDED = "not-needed"  # the graph has the target label already


class Ask(StrEnum):
    """Whether the oracle is asked after a step, and what its answer does."""

    YES = "yes"  # ask; a flip ends the search
    NO = "no"  # do not ask
    KNOWN = "known"  # the answer was counted before (a background graph): heed it, count nothing


class Step(NamedTuple):
    """One change of a search: which block made it, on which structure, on which pairs.

    Attributes
    ----------
    block : ``"sparsify"``, ``"densify"``, ``"swap"``, ``"replace"`` or ``"refine"``.
    structure : what was changed: ``"edge"``, ``"clique"``, ``"block"``, ``"graph"`` …
    toggled : the pairs flipped by this step (possibly none).
    ask : whether the oracle was asked after it.
    nodes : the vertices of the structure, where that says more than the pairs.
    name : a readable name of the structure, for example of two regions.
    iteration : the iteration of the method that this step belongs to, from 1.
    """

    block: str
    structure: str
    toggled: tuple[Pair, ...]
    ask: Ask = Ask.YES
    nodes: tuple[int, ...] = ()
    name: str = ""
    iteration: int = 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary; `from_dict` reads it back."""
        return write(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Step:
        """Inverse of `to_dict`."""
        return read(cls, data)


FORMS[Step] = Form("a step of a search")


def is_wanted(label: Label, before: Label, target: Target) -> bool:
    """Whether a label is that of a counterfactual: a target's, or any other than before.

    >>> is_wanted(2, 0, None), is_wanted(2, 0, 1), is_wanted(2, 0, (1, 2))
    (True, False, True)
    """
    if target is None:
        return label != before
    return label in target if isinstance(target, tuple) else label == target


_KEYS = (  # of the dictionary form, the most important first
    "method",
    "status",
    "found",
    "label_before",
    "label_after",
    "target",
    "distance",
    "relative_distance",
    "calls",
    "search_calls",
    "refine_calls",
    "background_calls",
    "amortised_calls",
    "distinct_calls",
    "iterations",
    "seed",
    "minimal",
    "elapsed",
    "parameters",
    "notes",
    "added",
    "removed",
    ...,
)


@dataclass(frozen=True)
class Counterfactual(
    Serialisable, named="a denseflip result", keys=_KEYS, flat=("edits",), format=FORMAT
):
    """The result of a search, found or not.

    Attributes
    ----------
    status : how the search ended; `found` is the short question.
    original : the graph that was explained.
    edits : what was changed: of the counterfactual if one was found, else of the last graph tried.
    label_before, label_after : the oracle's labels of the original and of the changed graph.
    target : the label that was asked for, a tuple of those that will do, or None for any other.
    method, parameters, seed : what was run; enough to run it again.
    search_calls, refine_calls : questions of the one-by-one walk, before and after the flip.
    background_calls : questions about the background graphs. The searches `dat` and `medoid`
        consist of them, so there they are part of ``search_calls``; everywhere else they are a
        cost of the data set, shared by all its graphs, and stand apart.
    distinct_calls : how many different graphs those calls were about.
    iterations : iterations of the method that were walked.
    trace : the steps taken, refinement included: replayed on the original they give the result.
    minimal : True if it is certified that no single edit can be undone without losing the flip,
        False if refinement could not certify it (budget), None if nobody tried.
    notes : what the reader should know (a cap that bit, a limit reached).
    as_read : how true the sentence is as it is read, where the search saw to that (`brief`).
    chosen : the method that a method which chooses (`auto`, `best`) took; else empty.
    front : where it was asked for, the answers that no other beats in cells, edits and truth as
        read, this one among them, fewest cells first.
    elapsed : seconds.
    confidence_before, confidence_after : how sure the oracle is of `label_before` on the original
        and of `label_after` on the changed graph, where it says so.
    confidence : the confidence that was asked for, if any.
    constraints : the constraints of the search as plain values (`Constraints.given`); a mask and a
        predicate are only described. Empty without constraints.
    refused : how often each constraint kept a graph from being asked about, by its name.
    weights : of an oracle that sees weights: (u, v, before, after) of each edit, added ones first.
    robustness, plausibility : where they were asked for, how much noise the flip survives, and how
        much the counterfactual looks like real graphs of its class.
    diverse : where several answers were asked for, this one and others in other places.
    """

    status: Status
    original: Graph
    edits: Edits
    label_before: Label
    label_after: Label
    target: Target = None
    method: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    search_calls: int = 1
    refine_calls: int = 0
    background_calls: int = 0
    distinct_calls: int = 1
    iterations: int = 0
    trace: tuple[Step, ...] = ()
    minimal: bool | None = None
    notes: tuple[str, ...] = ()
    elapsed: float = 0.0
    as_read: AsRead | None = None
    chosen: str = ""
    front: tuple[Counterfactual, ...] = ()
    confidence_before: float | None = None
    confidence_after: float | None = None
    confidence: float | None = None
    constraints: Mapping[str, Any] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    weights: tuple[tuple[int, int, float, float], ...] = ()
    robustness: Robustness | None = None
    plausibility: Plausibility | None = None
    diverse: tuple[Counterfactual, ...] = ()

    @property
    def found(self) -> bool:
        """Whether a counterfactual was found."""
        return self.status is Status.FOUND

    def accepts(self, label: Label) -> bool:
        """Whether a graph with this label is a counterfactual, as it was asked for."""
        return is_wanted(label, self.label_before, self.target)

    @property
    def targets(self) -> tuple[Label, ...]:
        """The labels that were asked for; empty for any other than the original's."""
        if self.target is None:
            return ()
        return self.target if isinstance(self.target, tuple) else (self.target,)

    @cached_property
    def counterfactual(self) -> Graph:
        """The changed graph: the counterfactual if `found`, else the last graph tried."""
        return self.edits.apply(self.original)

    @property
    def added(self) -> tuple[Pair, ...]:
        """Pairs joined in the counterfactual only."""
        return self.edits.added

    @property
    def removed(self) -> tuple[Pair, ...]:
        """Pairs joined in the original only."""
        return self.edits.removed

    @property
    def calls(self) -> int:
        """Questions of the one-by-one walk, the original's own label and refinement included."""
        return self.search_calls + self.refine_calls

    @property
    def amortised_calls(self) -> int:
        """`calls` once the labels of the background are known."""
        # Only a search made of known answers counts the background among its own calls.
        part = any(step.ask is Ask.KNOWN for step in self.trace)
        return self.calls - (self.background_calls if part else 0)

    @property
    def distance(self) -> int:
        """Number of changed pairs."""
        return len(self.edits)

    @property
    def relative_distance(self) -> float:
        """`distance` over the number of pairs joined in either graph; 0 if there is none."""
        union = self.original.n_edges + len(self.added)
        return self.distance / union if union else 0.0

    def replay(self) -> Graph:
        """Walk the trace from the original; gives `counterfactual`."""
        graph = self.original
        for step in self.trace:
            graph = graph.toggle(step.toggled)
        return graph

    # ---- forms --------------------------------------------------------------------------

    def _check(self) -> None:
        _ = self.counterfactual  # refuses edits that do not fit the graph

    def to_frame(self, nodes: Nodes | None = None, regions: str | None = None) -> Any:
        """The edits as a pandas table, one row each: change, the two nodes, their names, regions.

        Parameters
        ----------
        nodes : names and regions of the nodes; without them the nodes are known by number.
        regions : whose regions (a taxonomy of the node table); by default the first.

        Raises
        ------
        MissingExtraError
            If pandas is not installed; the message says how to get it.
        """
        from denseflip.graph.edits_table import list_edits, make_frame

        sorted_by = None
        if nodes is not None:
            nodes.check_fits(self.original.n_nodes)
            sorted_by = nodes.taxonomy(regions) if nodes.regions or regions else None
        return make_frame(*list_edits(self.edits, nodes, sorted_by, weights=self.weights))

    # ---- display ------------------------------------------------------------------------

    def _facts(self) -> list[tuple[str, str]]:
        label = f"{self.label_before!r} → {self.label_after!r}"
        if self.confidence_before is not None and self.confidence_after is not None:
            label += f" (confidence {self.confidence_before:.2f} → {self.confidence_after:.2f})"
        calls = f"{self.calls} ({self.search_calls} search, {self.refine_calls} refinement)"
        facts = [
            ("status", str(self.status)),
            ("label", label),
            (
                "edits" if self.found else "went to",
                f"{self.distance}: {len(self.added)} added, {len(self.removed)} removed",
            ),
            ("distance", f"{100 * self.relative_distance:.2f} % of the edges of either graph"),
            ("calls", calls),
        ]
        if self.background_calls:
            facts.append(("background", f"{self.background_calls} labels"))
        if self.minimal is not None:
            facts.append(("1-minimal", "certified" if self.minimal else "not certified"))
        for key, figure in (("robust", self.robustness), ("plausible", self.plausibility)):
            if figure is not None:
                facts.append((key, str(figure)))
        facts.extend(("note", note) for note in self.notes)
        return facts

    def __str__(self) -> str:
        head = f"Counterfactual by {self.method or 'an unnamed method'}, seed {self.seed}"
        return "\n".join([head, *(f"  {key:<11}{value}" for key, value in self._facts())])

    def __repr__(self) -> str:
        return (
            f"Counterfactual({str(self.status)!r}, method={self.method!r}, "
            f"distance={self.distance}, calls={self.calls})"
        )

    def _repr_html_(self) -> str:
        """Table for notebooks."""
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(key)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for key, value in self._facts()
        )
        head = html.escape(f"Counterfactual by {self.method}, seed {self.seed}")
        return f"<table><caption>{head}</caption>{rows}</table>"
