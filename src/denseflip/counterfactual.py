"""`Counterfactual`, the result of a search, and `Step`, the unit of its trace.

Sentences about results are in `story`, figures in `report`.
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
from denseflip.result_scores import Plausibility, Robustness, Stability
from denseflip.serialise import FORMS, Form, Serialisable, read, write

FORMAT = 3  # version of the dictionary form
Label = int | str | float | bool
Target = Label | tuple[Label, ...] | None


class Status(StrEnum):
    """How a search ended."""

    FOUND = "found"  # the label changed as requested
    EXHAUSTED = "exhausted"  # nothing left to try, or the iteration limit reached
    BUDGET = "budget"  # the query budget or the time limit was reached first
    NOT_NEEDED = "not-needed"  # the graph already has the target label


class Ask(StrEnum):
    """Whether the classifier is queried after a step."""

    YES = "yes"  # query; a flip ends the search
    NO = "no"  # do not query
    KNOWN = "known"  # use a label that was counted before (of a background graph); count no query


BALANCE = "balance"  # the block of edits that keep the number of edges


class Step(NamedTuple):
    """One step of a search: the block that made it, the structure, and the flipped pairs.

    Attributes
    ----------
    block : ``"sparsify"``, ``"densify"``, ``"swap"``, ``"replace"``, ``"refine"``, or ``"balance"``
        for pairs outside the places of a claim that keep the number of edges.
    structure : what was changed: ``"edge"``, ``"clique"``, ``"block"``, ``"graph"`` …
    toggled : the pairs flipped by this step (possibly none).
    ask : whether the classifier was queried after it.
    nodes : the nodes of the structure, if the pairs do not determine them.
    name : a readable name of the structure, for example of two regions.
    iteration : the iteration of the method, from 1.
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
    """Whether a label is accepted: a target label or, without a target, any other than before.

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
    status : how the search ended; see also `found`.
    original : the graph that was explained.
    edits : the edits of the counterfactual if one was found, else of the last graph tried.
    label_before, label_after : the classifier's labels of the original and of the changed graph.
    target : the target label, a tuple of accepted labels, or None for any other label.
    method, parameters, seed : the method that was run; enough to run it again.
    search_calls, refine_calls : queries of the one-by-one walk, before and after the flip.
    background_calls : queries of background graphs. For the methods `dat` and `medoid` they are
        part of ``search_calls``. For all other methods they are counted separately, as a cost of
        the data set that all its graphs share.
    distinct_calls : the number of different graphs in these queries.
    iterations : the number of iterations of the method.
    trace : the steps, refinement included. Replayed on the original they give the result.
    minimal : True if it is certified that no single edit can be undone without losing the flip,
        False if refinement could not certify it (budget), None if not checked.
    notes : remarks for the reader, for example about a limit that was reached.
    as_read : the test of the sentence on redraws, if the search made it (`brief`).
    chosen : the method that `auto` or `best` chose; empty for other methods.
    front : the Pareto front, if requested: the answers that no other beats in cells, edits and
        truth as read, this one included, fewest cells first.
    elapsed : the time in seconds.
    confidence_before, confidence_after : the classifier's confidence in `label_before` for the
        original and in `label_after` for the changed graph, if it provides one.
    confidence : the requested confidence, if any.
    constraints : the constraints of the search as plain values (`Constraints.given`); a mask and a
        predicate are only described. Empty without constraints.
    refused : constraint → how many graphs it excluded from being queried.
    weights : for a classifier that uses weights, (u, v, before, after) of each edit, added first.
    robustness, plausibility : if requested, how much noise the flip survives, and how similar the
        counterfactual is to real graphs of its class.
    stability : for how many classifiers trained again on resampled data the claim of the search
        holds, if such classifiers were given (``refits``).
    diverse : if several answers were requested, this one and others in different places.
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
    stability: Stability | None = None
    diverse: tuple[Counterfactual, ...] = ()

    @property
    def found(self) -> bool:
        """Whether a counterfactual was found."""
        return self.status is Status.FOUND

    def accepts(self, label: Label) -> bool:
        """Whether a graph with this label is a counterfactual for the requested target."""
        return is_wanted(label, self.label_before, self.target)

    @property
    def targets(self) -> tuple[Label, ...]:
        """The target labels; empty if any label other than the original's is accepted."""
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
        """Queries of the one-by-one walk, including the original's label and refinement."""
        return self.search_calls + self.refine_calls

    @property
    def amortised_calls(self) -> int:
        """`calls` without the queries of the background."""
        # Only a search with known answers counts the background among its own calls.
        part = any(step.ask is Ask.KNOWN for step in self.trace)
        return self.calls - (self.background_calls if part else 0)

    @property
    def by_true_labels(self) -> bool:
        """Whether real graphs were grouped by their true class, not by that of the classifier."""
        search = self.parameters.get("search")
        return isinstance(search, Mapping) and search.get("reference") == "true"

    @property
    def distance(self) -> int:
        """Number of changed pairs."""
        return len(self.edits)

    @property
    def relative_distance(self) -> float:
        """`distance` over the number of pairs joined in either graph; 0 if there are none."""
        union = self.original.n_edges + len(self.added)
        return self.distance / union if union else 0.0

    def replay(self) -> Graph:
        """Apply the trace to the original; gives `counterfactual`."""
        graph = self.original
        for step in self.trace:
            graph = graph.toggle(step.toggled)
        return graph

    # ---- forms --------------------------------------------------------------------------

    def _check(self) -> None:
        _ = self.counterfactual  # raises if the edits do not fit the graph

    def to_frame(self, nodes: Nodes | None = None, regions: str | None = None) -> Any:
        """The edits as a pandas table, one row per edit: change, nodes, their names and regions.

        Parameters
        ----------
        nodes : names and regions of the nodes; without them, nodes are given by number.
        regions : the taxonomy of the node table; by default the first.

        Raises
        ------
        MissingExtraError
            If pandas is not installed; the message says how to get it.
        """
        from denseflip.graph.edits import list_edits, make_frame

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
                "edits" if self.found else "last tried",
                f"{self.distance}: {len(self.added)} added, {len(self.removed)} removed",
            ),
            ("distance", f"{100 * self.relative_distance:.2f} % of the edges of either graph"),
            ("calls", calls),
        ]
        if self.background_calls:
            facts.append(("background", f"{self.background_calls} labels"))
        if self.minimal is not None:
            facts.append(("1-minimal", "certified" if self.minimal else "not certified"))
        for key, figure in (
            ("robust", self.robustness),
            ("stable", self.stability),
            ("plausible", self.plausibility),
        ):
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
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(key)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for key, value in self._facts()
        )
        head = html.escape(f"Counterfactual by {self.method}, seed {self.seed}")
        return f"<table><caption>{head}</caption>{rows}</table>"
