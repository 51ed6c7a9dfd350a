"""The sentences of a story: short, standard and detailed, found or not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from denseflip.counterfactual import Counterfactual, Label, Status
from denseflip.graph import Taxonomy
from denseflip.story.phrases import clause
from denseflip.story.units import Unit
from denseflip.story.verify import NamedPair, Verification
from denseflip.story.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHORT_NAMES = 4  # the short form spells out up to this many region pairs


@dataclass(frozen=True)
class Telling:
    """All that the sentences are made of.

    Attributes
    ----------
    result, verification : what was found, and what of it is named.
    taxonomy : the regions named; of single nodes where there are no others.
    words : the vocabulary.
    subject : whom or what the graph belongs to, for example ``Patient 9``.
    class_names : label → name.
    """

    result: Counterfactual
    verification: Verification
    taxonomy: Taxonomy
    words: Vocabulary
    subject: str
    class_names: Mapping[Label, str]

    # ---- found --------------------------------------------------------------------------

    @property
    def standard(self) -> str:
        """The sentence in the paper's form, or what was tried if nothing was found."""
        if self.result.status is not Status.FOUND:
            return self._not_found
        again = self._again
        return (
            f"{self._opening} If {self.words.possessor(again)} had {self.clause}, then {again} "
            f"would have been {self.words.verb} {self.class_name(self.verification.label)}."
        )

    @property
    def short(self) -> str:
        """One line: the two classes and where the change lies."""
        before = self.class_name(self.result.label_before)
        if self.result.status is Status.NOT_NEEDED:
            return f"{self.subject}: {before} already."
        if self.result.status is not Status.FOUND:
            return (
                f"{self.subject}: {before}; no counterfactual found by {self._method} "
                f"({self.result.status}, {_times(self.result.calls, 'question')})."
            )
        named = self.verification.named
        head = f"{self.subject}: {before} → {self.class_name(self.verification.label)}"
        if len(named) <= _SHORT_NAMES:
            return f"{head} with {self.clause}."
        things = "nodes" if named[0].region_b is None else "region pairs"
        return (
            f"{head} with changes in {len(named)} {things}, the largest in {named[0]} "
            f"({self._counts(named[0].added, named[0].removed)})."
        )

    @property
    def detailed(self) -> str:
        """The standard sentence, then the numbers behind it."""
        result, words = self.result, self.words
        if result.status is not Status.FOUND:
            return self.standard
        named = self.verification.named
        rows = "; ".join(f"{pair}: {self._counts(pair.added, pair.removed)}" for pair in named)
        part = len(self.verification.edits)
        whole = f"{words.count(result.distance)} in all" if part < result.distance else ""
        parts = [
            self.standard,
            f"Named here: {rows}.",
            f"Together {words.count(part)}" + (f" of {whole}." if whole else ", all there are."),
            (
                f"The whole counterfactual lies at distance {result.distance:,} "
                f"({self._counts(len(result.added), len(result.removed))}; "
                f"{100 * result.relative_distance:.1f} % of the edges of both graphs) and was "
                f"found by {self._method} with {_times(result.calls, 'question')}."
            ),
            self.tested,
        ]
        return " ".join(parts)

    @property
    def tested(self) -> str:
        """Whether the sentence was tested, in a sentence."""
        result, test = self.result, self.verification
        n, k = len(test.edits), len(test.named)
        if not result.found:
            return "There is no counterfactual to test."
        if not test.tested:
            return (
                "Not tested: no classifier was given, so everything that was changed is named; "
                "describe(result, nodes, oracle) looks for a part that is enough."
            )
        things = "node" if test.named[0].region_b is None else "region pair"
        asked = f"({_times(test.questions, 'question')})"
        if test.all_needed:
            return (
                f"Tested {asked}: all {self.words.count(n)} in {_times(k, things)} together "
                "change the answer. All are needed: adding "
                f"{things}s in order of their edits, no shorter list was enough."
            )
        return (
            f"Tested {asked}: the {self.words.count(n)} in the {_times(k, things)} named here, "
            f"out of {result.distance:,} in {test.n_cells}, change the answer by themselves."
        )

    @cached_property
    def clause(self) -> str:
        """What there would be less and more of."""
        position = {name: i for i, name in enumerate(self.taxonomy.regions)}
        rows = [(_unit(p, position), p.change, p.added, p.removed) for p in self.verification.named]
        return clause(rows, self.taxonomy, self.words)

    def class_name(self, label: Label) -> str:
        """A label by its name, or as ``class 1``."""
        if label in self.class_names:
            return self.class_names[label]
        return label if isinstance(label, str) and label else f"class {label!r}"

    # ---- not found ----------------------------------------------------------------------

    @property
    def _not_found(self) -> str:
        result = self.result
        if result.status is Status.NOT_NEEDED:
            return (
                f"{self._opening} That is the class that was asked for, so nothing has to change."
            )
        wanted = "another class" if result.target is None else self.class_name(result.target)
        if len(result.edits):
            far = (
                f"It went as far as {self._counts(len(result.added), len(result.removed))} "
                f"({100 * result.relative_distance:.1f} % of the edges of both graphs) in "
                f"{_times(result.iterations, 'iteration')} and "
                f"{_times(result.calls, 'question')}; the answer there was "
                f"{self.class_name(result.label_after)}."
            )
        else:
            far = f"It asked {_times(result.calls, 'question')} and kept no change."
        return (
            f"{self._opening} No change that leads to {wanted} was found: {self._method} "
            f"{self._ending} {far} {self._next_knob}"
        )

    @property
    def _ending(self) -> str:
        if self.result.status is Status.BUDGET:
            return "spent its budget of questions or time first."
        return "tried all it had, or reached its iteration limit."

    @property
    def _next_knob(self) -> str:
        name = self.result.method.split("+")[0]
        if self.result.status is Status.BUDGET:
            calls = self.result.calls
            return (
                f"Next: raise budget (it asked {calls:,}; try {10 * calls:,}) or time_limit, or "
                "take a method that asks less, such as dat."
            )
        if name in ("dat", "medoid"):
            return (
                "Next: give a background with graphs that the classifier puts in that class, or "
                "take another method, such as tri."
            )
        limit = _limit(self.result)
        raised = "" if limit is None else f"raise max_iterations (it was {limit:,}), or "
        other = "cli" if name == "tri" else "tri"
        return (
            f"Next: {raised}take another method ({other}; or, with a background of labelled "
            "graphs, dat, which finds one whenever the background holds one)."
        )

    # ---- helpers ------------------------------------------------------------------------

    @property
    def _opening(self) -> str:
        return f"{self.subject} is {self.words.verb} {self.class_name(self.result.label_before)}."

    @property
    def _again(self) -> str:
        """The subject when it is named again: ``Patient X`` is then ``X``, as in the paper."""
        noun = f"{self.words.subject} "
        rest = self.subject.removeprefix(noun)
        if rest != self.subject and rest.isalpha() and rest[0].isupper():
            return rest
        this = f"This {self.words.subject.lower()}"
        return f"the {self.words.subject.lower()}" if self.subject == this else self.subject

    @property
    def _method(self) -> str:
        return self.result.method or "the search"

    def _counts(self, added: int, removed: int) -> str:
        sides = []
        if removed:
            sides.append(f"{self.words.count(removed)} removed")
        if added:
            sides.append(f"{added:,} added" if removed else f"{self.words.count(added)} added")
        return ", ".join(sides) or "no change"


def _unit(pair: NamedPair, position: Mapping[str, int]) -> Unit:
    a = position[pair.region_a]
    if pair.region_b is None:
        return (a, None)
    b = position[pair.region_b]
    return (a, b) if a <= b else (b, a)


def _times(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def _limit(result: Counterfactual) -> int | None:
    search = result.parameters.get("search")
    limit = search.get("max_iterations") if isinstance(search, dict) else None
    return limit if isinstance(limit, int) else None
