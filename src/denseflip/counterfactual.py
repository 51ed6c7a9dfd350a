"""`Counterfactual`: what a search gives back, and `Step`, the unit of its trace.

A result knows nothing of drawing or telling: `story` and `report` do that.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from operator import index
from types import NoneType
from typing import Any, NamedTuple, Self

from denseflip.as_read import TRUE_AS_READ as TRUE_AS_READ
from denseflip.as_read import AsRead as AsRead
from denseflip.as_read import Language as Language
from denseflip.as_read import Reading as Reading
from denseflip.as_read import wilson_interval as wilson_interval
from denseflip.checks import parsing, text_of, typed, visible_tree
from denseflip.errors import FileFormatError, shown
from denseflip.graph import Edits, Graph, Nodes, Pair
from denseflip.result_scores import Plausibility, Robustness

# Version of the dictionary form; 2 has as_read, chosen and front, 3 several targets, confidence,
# constraints, robustness, plausibility and diverse answers.
FORMAT = 3
_LABEL = (int, str, float, bool)
_SAME: dict[str, tuple[type, ...]] = {  # fields that look in JSON as they do here
    "label_before": _LABEL,
    "label_after": _LABEL,
    "method": (str,),
    "parameters": (Mapping,),
    "seed": (int,),
    "search_calls": (int,),
    "refine_calls": (int,),
    "background_calls": (int,),
    "distinct_calls": (int,),
    "iterations": (int,),
    "minimal": (bool, NoneType),
    "elapsed": (int, float),
}
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
        """Plain JSON-ready form."""
        return {
            "block": self.block,
            "structure": self.structure,
            "toggled": [[int(u), int(v)] for u, v in self.toggled],
            "ask": str(self.ask),
            "nodes": [int(v) for v in self.nodes],
            "name": self.name,
            "iteration": self.iteration,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Step:
        """Inverse of `to_dict`."""
        with parsing("a step of a search"):
            return cls(
                typed(data, "block", str),
                typed(data, "structure", str),
                tuple((index(u), index(v)) for u, v in typed(data, "toggled", list, tuple)),
                _read_ask(data["ask"]),
                tuple(index(v) for v in typed(data, "nodes", list, tuple)),
                typed(data, "name", str),
                typed(data, "iteration", int),
            )


_SHARES = ("confidence_before", "confidence_after", "confidence")


def _read_share(data: Mapping[str, Any], key: str) -> Any:
    return typed(data, key, int, float, NoneType) if key in data else None


def _read_target(data: Mapping[str, Any]) -> Target:
    target: Any = typed(data, "target", *_LABEL, list, tuple, NoneType)
    if isinstance(target, (list, tuple)):
        return tuple(typed({"target": one}, "target", *_LABEL) for one in target)
    return target  # type: ignore[no-any-return]


def _read_ask(word: str) -> Ask:
    # Version 0.1 had a question whose answer was not heeded; asked it was.
    return Ask.YES if word == "ignored" else Ask(word)


def is_wanted(label: Label, before: Label, target: Target) -> bool:
    """Whether a label is that of a counterfactual: a target's, or any other than before.

    >>> is_wanted(2, 0, None), is_wanted(2, 0, 1), is_wanted(2, 0, (1, 2))
    (True, False, True)
    """
    if target is None:
        return label != before
    return label in target if isinstance(target, tuple) else label == target


@dataclass(frozen=True)
class Counterfactual:
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
    constraints : the user's terms, JSON-ready (`Constraints.given`); empty without any.
    refused : how often each constraint kept a graph from being asked about, by its name.
    weights : of an oracle that sees weights: (u, v, before, after) of each edit, added ones first.
    robustness, plausibility : where they were asked for, how much noise the flip survives, and how
        much the counterfactual looks like real graphs of its class.
    diverse : where several answers were asked for, this one and others in other places.
    terms : the constraints at work, for what is told and tested of the result; not written down.
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
    terms: Any = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "terms": None}  # a user's predicate may not be sent anywhere

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

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready form; `from_dict` gives back an equal result."""
        return {
            "format": FORMAT,
            "method": self.method,
            "status": str(self.status),
            "found": self.found,
            "label_before": self.label_before,
            "label_after": self.label_after,
            "target": list(self.target) if isinstance(self.target, tuple) else self.target,
            "distance": self.distance,
            "relative_distance": self.relative_distance,
            "calls": self.calls,
            "search_calls": self.search_calls,
            "refine_calls": self.refine_calls,
            "background_calls": self.background_calls,
            "amortised_calls": self.amortised_calls,
            "distinct_calls": self.distinct_calls,
            "iterations": self.iterations,
            "seed": self.seed,
            "minimal": self.minimal,
            "elapsed": self.elapsed,
            "parameters": dict(self.parameters),
            "notes": list(self.notes),
            "added": [list(p) for p in self.added],
            "removed": [list(p) for p in self.removed],
            "original": self.original.to_dict(),
            "trace": [step.to_dict() for step in self.trace],
            "as_read": None if self.as_read is None else self.as_read.to_dict(),
            "chosen": self.chosen,
            "front": [result.to_dict() for result in self.front],
            "confidence_before": self.confidence_before,
            "confidence_after": self.confidence_after,
            "confidence": self.confidence,
            "constraints": dict(self.constraints),
            "refused": dict(self.refused),
            "weights": [list(entry) for entry in self.weights],
            "robustness": None if self.robustness is None else self.robustness.to_dict(),
            "plausibility": None if self.plausibility is None else self.plausibility.to_dict(),
            "diverse": [result.to_dict() for result in self.diverse],
        }

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

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`; reads what version 0.1 wrote, too.

        Raises
        ------
        FileFormatError
            If the dictionary lacks a field or was written by a newer version.
        """
        if not isinstance(data, Mapping):
            msg = f"Not a denseflip result: a dictionary is expected; got {shown(data)}."
            raise FileFormatError(msg)
        version = data.get("format", 0)
        if not isinstance(version, int) or version > FORMAT:
            msg = f"This result has format {shown(version)}; this version reads up to {FORMAT}. "
            raise FileFormatError(msg + "Update denseflip.")
        with parsing("a denseflip result"):
            result = cls(
                status=Status(data["status"]),
                original=Graph.from_dict(data["original"]),
                edits=Edits(
                    tuple((u, v) for u, v in data["added"]),
                    tuple((u, v) for u, v in data["removed"]),
                ),
                trace=tuple(Step.from_dict(s) for s in typed(data, "trace", list, tuple)),
                notes=tuple(text_of(x) for x in typed(data, "notes", list, tuple)),
                as_read=AsRead.from_dict(test) if (test := data.get("as_read")) else None,
                chosen=text_of(data.get("chosen", "")),
                front=tuple(cls.from_dict(part) for part in data.get("front", ())),
                target=_read_target(data),
                constraints=visible_tree(dict(data.get("constraints", {}))),
                refused={text_of(k): index(n) for k, n in data.get("refused", {}).items()},
                weights=tuple(
                    (index(u), index(v), float(a), float(b))
                    for u, v, a, b in data.get("weights", ())
                ),
                robustness=Robustness.read(data.get("robustness")),
                plausibility=Plausibility.read(data.get("plausibility")),
                diverse=tuple(cls.from_dict(part) for part in data.get("diverse", ())),
                **{key: _read_share(data, key) for key in _SHARES},
                **{key: visible_tree(typed(data, key, *kinds)) for key, kinds in _SAME.items()},
            )
            _ = result.counterfactual  # edits that do not fit the graph are told here
            return result

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
