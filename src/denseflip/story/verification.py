"""The test of a sentence: do the edits it names flip the oracle by themselves?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from denseflip.checks import parsing, plain_fields, text_of, typed
from denseflip.counterfactual import Counterfactual, Label
from denseflip.errors import OracleError
from denseflip.graph import Edits
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.search.core.sufficient_parts import fewest_parts
from denseflip.story.units import Units

Change = Literal["less", "more", "mixed"]
BUDGET = 1000  # questions that a test may take
_CUT_SHORT = (
    "The budget of questions was spent before it was clear whether a shorter sentence would do."
)
_SAME = (
    "The classifier must answer the same question the same way every time, and be the one that "
    "the result was found with (in Python: give describe the oracle that explain was given)."
)


@dataclass(frozen=True)
class NamedPair:
    """What a sentence names: a pair of regions, one region, or a node.

    Attributes
    ----------
    region_a, region_b : two regions; the same one twice for what happens inside it; ``region_b``
        is None where the sentence names a single node and means all edits at it.
    added, removed : edits there.
    """

    region_a: str
    region_b: str | None
    added: int
    removed: int

    @property
    def within(self) -> bool:
        """Whether it is one region by itself."""
        return self.region_a == self.region_b

    @property
    def total(self) -> int:
        """Edits there."""
        return self.added + self.removed

    @property
    def net(self) -> int:
        """Edges gained on balance; negative if more were lost."""
        return self.added - self.removed

    @property
    def change(self) -> Change:
        """``"less"`` (only removed), ``"more"`` (only added) or ``"mixed"``."""
        if self.added and self.removed:
            return "mixed"
        return "more" if self.added else "less"

    def __str__(self) -> str:
        if self.region_b is None or self.within:
            return self.region_a
        return f"{self.region_a} – {self.region_b}"


@dataclass(frozen=True)
class Verification:
    """What the sentence names, and whether that was tested.

    Attributes
    ----------
    verified : True if the oracle was asked about the original with `edits` alone, and flipped.
    named : what the sentence names, in order of the number of edits.
    edits : all edits in what is named: exactly what the sentence stands for.
    label : the oracle's label of the original with those edits.
    questions : questions to the oracle that the test took.
    n_cells : how many region pairs (or nodes) hold an edit.
    tested : whether an oracle was there to ask.
    tried : how many lists of what to name the oracle was asked about.
    minimal : whether it was seen that nothing of what is named can be left out.
    remarks : what the reader should know of the tests (a budget that was too small).
    """

    verified: bool
    named: tuple[NamedPair, ...]
    edits: Edits
    label: Label
    questions: int
    n_cells: int
    tested: bool
    tried: int = 0
    minimal: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def all_needed(self) -> bool:
        """Whether everything that was changed is named, and nothing of it can be left out."""
        return self.verified and self.minimal and len(self.named) == self.n_cells

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready form."""
        return {
            "verified": self.verified,
            "tested": self.tested,
            "questions": self.questions,
            "all_needed": self.all_needed,
            "n_cells": self.n_cells,
            "tried": self.tried,
            "minimal": self.minimal,
            "remarks": list(self.remarks),
            "label": self.label,
            "named": [
                {
                    "region_a": p.region_a,
                    "region_b": p.region_b,
                    "added": p.added,
                    "removed": p.removed,
                    "change": p.change,
                }
                for p in self.named
            ],
            "added": [list(p) for p in self.edits.added],
            "removed": [list(p) for p in self.edits.removed],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Verification:
        """Inverse of `to_dict`; reads what format 1 of a story holds, too."""
        with parsing("the test of a story"):
            return cls(
                **plain_fields(cls, data),
                named=tuple(
                    NamedPair(
                        typed(p, "region_a", str),
                        None if p["region_b"] is None else typed(p, "region_b", str),
                        typed(p, "added", int),
                        typed(p, "removed", int),
                    )
                    for p in data["named"]
                ),
                edits=Edits(
                    tuple((u, v) for u, v in data["added"]),
                    tuple((u, v) for u, v in data["removed"]),
                ),
                label=typed(data, "label", bool, int, float, str),
                remarks=tuple(text_of(x) for x in typed(data, "remarks", list, tuple))
                if "remarks" in data
                else (),
            )


def verify(
    result: Counterfactual,
    units: Units,
    session: BaseSession | None,
    *,
    share: float = 0.0,
    budget: int = BUDGET,
    name_all: bool = False,
) -> Verification:
    """Name as few units as is easy whose edits flip the oracle by themselves.

    Without an oracle everything is named: that all edits together flip it is what the search
    itself has seen, and nothing less was tested.

    Parameters
    ----------
    result : what was found.
    units : what can be named.
    session : the way to the oracle it was found with; None if there is none.
    share : name at least this share of the edits, the fullest units first.
    budget : ask at most this often (at least twice).
    name_all : whether everything is named in any case: the search has seen to what it changed.

    Raises
    ------
    OracleError
        If the oracle is not the one that the result is about.
    """
    n = len(units.order)
    if not result.found or not n:
        return Verification(False, (), Edits(), result.label_after, 0, n, tested=False)
    everything = range(n)
    if session is None:
        named = _named(units, everything)
        return Verification(False, named, result.edits, result.label_after, 0, n, tested=False)
    before = session.calls
    try:
        _check_original(result, session.query(result.original).label)
        enough = fewest_parts(
            result,
            units.parts,
            session,
            kept=units.holding(share) if share else 0,
            budget=budget - 1,
            shorten=not name_all and budget > 2,
        )
    except BudgetSpentError:
        named = _named(units, everything)
        remark = "Not tested: the session's budget of questions was spent."
        asked = session.calls - before
        return Verification(
            False, named, result.edits, result.label_after, asked, n, False, remarks=(remark,)
        )
    whole = enough is not None and len(enough.chosen) == n
    if enough is None or (whole and enough.label != result.label_after):
        label = session.peek(result.counterfactual).label
        msg = (
            f"The oracle gives {label!r} for the counterfactual, but the result says "
            f"{result.label_after!r}. {_SAME}"
        )
        raise OracleError(msg)
    return Verification(
        verified=True,
        named=_named(units, enough.chosen),
        edits=units.edits_in(tuple(units.order[i] for i in enough.chosen)),
        label=enough.label,
        questions=session.calls - before,
        n_cells=n,
        tested=True,
        tried=enough.tried,
        minimal=enough.minimal and not share,
        remarks=() if enough.minimal or name_all else (_CUT_SHORT,),
    )


def _check_original(result: Counterfactual, label: Label) -> None:
    if label != result.label_before:
        msg = (
            f"The oracle gives {label!r} for the original graph, but the result says "
            f"{result.label_before!r}. {_SAME}"
        )
        raise OracleError(msg)


def _named(units: Units, chosen: Iterable[int]) -> tuple[NamedPair, ...]:
    names = units.taxonomy.regions
    rows = [units.rows[i] for i in chosen]
    return tuple(
        NamedPair(names[a], None if b is None else names[b], added, removed)
        for (a, b), added, removed in rows
    )
