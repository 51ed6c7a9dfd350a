"""`Counterfactual`: what a search gives back, and `Step`, the unit of its trace.

A result knows nothing of drawing or telling: `story` and `report` do that.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple, Self

from denseflip.errors import FileFormatError
from denseflip.graph import Edits, Graph, Pair

FORMAT = 1  # version of the dictionary form
_SAME = (  # fields that look in JSON as they do here
    "label_before",
    "label_after",
    "target",
    "method",
    "parameters",
    "seed",
    "search_calls",
    "refine_calls",
    "background_calls",
    "distinct_calls",
    "iterations",
    "minimal",
    "elapsed",
)
Label = int | str | float | bool


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
        return cls(
            data["block"],
            data["structure"],
            tuple((u, v) for u, v in data["toggled"]),
            _read_ask(data["ask"]),
            tuple(data["nodes"]),
            data["name"],
            data["iteration"],
        )


def _read_ask(word: str) -> Ask:
    # Version 0.1 had a question whose answer was not heeded; asked it was.
    return Ask.YES if word == "ignored" else Ask(word)


@dataclass(frozen=True)
class Counterfactual:
    """The result of a search, found or not.

    Attributes
    ----------
    status : how the search ended; `found` is the short question.
    original : the graph that was explained.
    edits : what was changed: of the counterfactual if one was found, else of the last graph tried.
    label_before, label_after : the oracle's labels of the original and of the changed graph.
    target : the label that was asked for, or None for any other label.
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
    elapsed : seconds.
    """

    status: Status
    original: Graph
    edits: Edits
    label_before: Label
    label_after: Label
    target: Label | None = None
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

    @property
    def found(self) -> bool:
        """Whether a counterfactual was found."""
        return self.status is Status.FOUND

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
            "target": self.target,
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
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`.

        Raises
        ------
        FileFormatError
            If the dictionary lacks a field or was written by a newer version.
        """
        version = data.get("format", 0)
        if not isinstance(version, int) or version > FORMAT:
            msg = f"This result has format {version!r}; this version reads up to {FORMAT}. "
            raise FileFormatError(msg + "Update denseflip.")
        try:
            return cls(
                status=Status(data["status"]),
                original=Graph.from_dict(data["original"]),
                edits=Edits(
                    tuple((u, v) for u, v in data["added"]),
                    tuple((u, v) for u, v in data["removed"]),
                ),
                trace=tuple(Step.from_dict(s) for s in data["trace"]),
                notes=tuple(data["notes"]),
                **{key: data[key] for key in _SAME},
            )
        except (KeyError, TypeError, ValueError) as error:
            msg = f"Not a denseflip result: {type(error).__name__}: {error}."
            raise FileFormatError(msg) from error

    # ---- display ------------------------------------------------------------------------

    def _facts(self) -> list[tuple[str, str]]:
        label = f"{self.label_before!r} → {self.label_after!r}"
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
