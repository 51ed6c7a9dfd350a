"""The test of a sentence: whether the edits it names flip the oracle by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate
from typing import NamedTuple

from denseflip.counterfactual import Counterfactual, Label, Language, Reading
from denseflip.errors import OracleError
from denseflip.graph import Codes, Edits, Taxonomy
from denseflip.graph.pairs import Pair, decode
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.search.claims.claim import Claim, ClaimRow
from denseflip.search.core.probing import fewest_parts, joined
from denseflip.story.wording.notes import CUT_SHORT, SPENT

BUDGET = 1000  # maximum number of queries of a test
_SAME = (
    "The classifier must be deterministic and the one that the result was found with (in Python: "
    "pass the same oracle to describe and explain)."
)


@dataclass(frozen=True)
class Verification:
    """The claim of the sentence, and whether it was tested.

    Attributes
    ----------
    verified : True if the oracle was queried with `edits` alone, and flipped.
    claim : the claim of the sentence; its label is the oracle's label of the original with `edits`.
    edits : all edits in the places of the claim: exactly those that the sentence names.
    questions : number of queries of the test.
    n_cells : number of region pairs (or nodes) with an edit.
    tested : whether there was an oracle to query.
    tried : number of lists of places that were tested.
    minimal : whether no place named can be left out, as tested.
    remarks : remarks on the tests, such as a budget that was too small.
    """

    verified: bool
    claim: Claim
    edits: Edits
    questions: int
    n_cells: int
    tested: bool
    tried: int = 0
    minimal: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def all_needed(self) -> bool:
        """Whether all changes are named and none of the places can be left out."""
        return self.verified and self.minimal and len(self.claim.amounts) == self.n_cells

    @property
    def saved(self) -> SavedTest:
        """Its form in the file of a story."""
        own = {name: getattr(self, name) for name in SavedTest._fields if hasattr(self, name)}
        claim, edits = self.claim, self.edits
        return SavedTest(
            **own,
            label=claim.label,
            named=claim.rows(),
            added=edits.added,
            removed=edits.removed,
        )


class SavedTest(NamedTuple):
    """A `Verification` as in the file of a story, which also has the language and the regions."""

    verified: bool
    tested: bool
    questions: int
    all_needed: bool
    n_cells: int
    tried: int
    minimal: bool
    remarks: tuple[str, ...]
    label: Label
    named: tuple[ClaimRow, ...]
    added: tuple[Pair, ...]
    removed: tuple[Pair, ...]

    def restore(
        self,
        language: Language,
        taxonomy: Taxonomy,
        reading: Reading = "any",
        balanced: bool = False,
    ) -> Verification:
        """The verification of a claim in this language, with these regions and this reading."""
        own = {x.name: getattr(self, x.name) for x in fields(Verification) if hasattr(self, x.name)}
        claim = Claim.from_rows(self.named, self.label, language, taxonomy, reading, balanced)
        return Verification(**own, claim=claim, edits=Edits(self.added, self.removed))


def verify(
    result: Counterfactual,
    whole: Claim,
    parts: Sequence[Codes],
    session: BaseSession | None,
    *,
    share: float = 0.0,
    budget: int = BUDGET,
    name_all: bool = False,
) -> Verification:
    """Claim few places whose edits flip the oracle by themselves.

    Without an oracle everything is named: the search has tested only all edits together.

    Parameters
    ----------
    result : the result.
    whole, parts : all its changes as a claim, and the pairs of each place (`whole_claim`).
    session : access to the oracle of the search; None if there is none.
    share : name at least this share of the edits, places with most edits first.
    budget : maximum number of queries (at least 2).
    name_all : whether to name everything in any case, because the search chose its places itself.

    Raises
    ------
    OracleError
        If the oracle is not the one of the result.
    """
    n = len(parts)
    if not result.found or not n:
        nothing = replace(whole, amounts=(), label=result.label_after)
        return Verification(False, nothing, Edits(), 0, n, tested=False)
    if session is None:
        return Verification(False, whole, result.edits, 0, n, tested=False)
    before = session.calls
    try:
        label = session.query(result.original).label
        if label != result.label_before:
            msg = (
                f"The oracle gives {label!r} for the original graph, but the result says "
                f"{result.label_before!r}. {_SAME}"
            )
            raise OracleError(msg)
        enough = fewest_parts(
            result,
            parts,
            session,
            kept=_holding(whole, share) if share else 0,
            budget=budget - 1,
            shorten=not name_all and budget > 2,
        )
    except BudgetSpentError:
        asked = session.calls - before
        spent = (SPENT,)
        return Verification(False, whole, result.edits, asked, n, tested=False, remarks=spent)
    if enough is None or (len(enough.chosen) == n and enough.label != result.label_after):
        label = session.peek(result.counterfactual).label
        msg = (
            f"The oracle gives {label!r} for the counterfactual, but the result says "
            f"{result.label_after!r}. {_SAME}"
        )
        raise OracleError(msg)
    held = joined(parts[i] for i in enough.chosen)
    return Verification(
        verified=True,
        claim=whole.only(enough.chosen, enough.label),
        edits=result.edits.only(decode(held, result.original.n_nodes)),
        questions=session.calls - before,
        n_cells=n,
        tested=True,
        tried=enough.tried,
        minimal=enough.minimal and not share,
        remarks=() if enough.minimal or name_all else (CUT_SHORT,),
    )


def _holding(claim: Claim, share: float) -> int:
    """How many of the first places contain this share of the edits; at least 1."""
    need = share * claim.total - 1e-9
    held = accumulate(amount.total for amount in claim.amounts)
    return next(k for k, number in enumerate(held, 1) if number >= need)
