"""The sentences of a story: short, standard and detailed, found or not; and its footnotes.

What they advise is told in the library's parameters. A skin that spells these in another way finds
their names beside the text and adds its own spelling.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from denseflip.checks import renamed_names
from denseflip.counterfactual import Counterfactual, Label, Status
from denseflip.search.claims import Claim
from denseflip.story.phrases import clause
from denseflip.story.reading import claim_of, judged_better, known
from denseflip.story.units import Units
from denseflip.story.verify import Verification
from denseflip.story.vocabulary import Vocabulary

_SHORT_NAMES = 4  # the short form spells out up to this many region pairs
_MOST = 0.8  # beside what the sentence names, name what makes up this share of the edits …
_REST_NAMES = 6  # … if it is no more than this
_LONG = 10  # region pairs in a sentence beyond which it is hard to read
_REGIONS_HINT = (
    "No regions are known, so this speaks of nodes. To speak of regions, give a node table with a "
    "region column as nodes (Nodes.read_csv reads one)."
)


class Advice(NamedTuple):
    """What to try next, and the parameters that this speaks of."""

    text: str = ""
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sentences:
    """The sentences of a story, made of what was found, tested, and how things are called.

    Attributes
    ----------
    result, verification : what was found, and what of it is named.
    units : what could be named: region pairs, or nodes where there are no regions.
    words : the vocabulary.
    subject : whom or what the graph belongs to, for example ``Patient 9``.
    class_names : label → name.
    """

    result: Counterfactual
    verification: Verification
    units: Units
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
            f"would have been {self._classed(self.verification.label)}."
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
                f"({self.result.status}, {_many(self.result.calls, 'question')})."
            )
        named = self.verification.named
        head = f"{self.subject}: {before} → {self.class_name(self.verification.label)}"
        if len(named) <= _SHORT_NAMES:
            return f"{head} with {self.clause}."
        return (
            f"{head} with changes in {_many(len(named), self.units.noun)}, most in {named[0]} "
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
        parts = [
            self.standard,
            f"Named here: {rows}.",
            f"Together {part:,} of {words.count(result.distance)}.",
            (
                f"The whole counterfactual lies at distance {result.distance:,} "
                f"({self._counts(len(result.added), len(result.removed))}; "
                f"{100 * result.relative_distance:.1f} % of the edges of either graph) and was "
                f"found by {self._method} with {_many(result.calls, 'question')}."
            ),
            self.tested,
            self.rest or "",
        ]
        return " ".join(part for part in parts if part)

    @property
    def tested(self) -> str:
        """Whether the sentence was tested, in a sentence."""
        result, test = self.result, self.verification
        n, k = len(test.edits), len(test.named)
        if not result.found:
            return "There is no counterfactual to test."
        if not test.tested:
            return (
                "Not tested: no classifier was given, so everything that was changed is named. "
                "With a classifier (in Python describe(result, nodes, oracle)) a part that is "
                "enough is looked for."
            )
        thing = self.units.noun
        asked = _many(test.questions, "question")
        where = _many(k, thing) if k > 1 else f"one {thing}"
        text = f"Tested with {asked}: what is named here changes the answer by itself. It is "
        if n < result.distance:
            all_links = self.words.count(result.distance)
            text += f"{n:,} of {all_links}, {k:,} of {_many(test.n_cells, thing)}"
            if test.minimal and k > 1:
                text += f"; no {thing} that is named can be left out"
            return f"{text}."
        text += f"all that was changed ({self.words.count(n)} in {where})"
        if test.all_needed and k > 1:
            text += f", and all of it is needed: no {thing} can be left out"
        return f"{text}."

    @property
    def rest(self) -> str | None:
        """What else was changed, and that it was not needed; None if everything is named."""
        test = self.verification
        others = len(self.result.edits) - len(test.edits)
        if not test.verified or not others:
            return None
        named = {row[0] for row in self.rows}
        rows, held = [], len(test.edits)
        for row in self.units.rows:
            if row[0] not in named and held < _MOST * len(self.result.edits) - 1e-9:
                rows.append(row)
                held += row[1] + row[2]
        if self.units.hubs or not 0 < len(rows) <= _REST_NAMES:
            return (
                f"The whole counterfactual also changes {self.words.count(others)} elsewhere; that "
                "was not needed to change the answer."
            )
        unsaid = others - sum(added + removed for _, added, removed in rows)
        more = f", and {self.words.count(unsaid)} changed elsewhere" if unsaid else ""
        return (
            f"The whole counterfactual also has {clause(rows, self.units.taxonomy, self.words)}"
            f"{more}; that was not needed to change the answer."
        )

    @cached_property
    def clause(self) -> str:
        """What there would be less and more of."""
        return clause(self.rows, self.units.taxonomy, self.words)

    @cached_property
    def rows(self) -> Claim:
        """What is named, with the edges that are added and removed there."""
        return claim_of(self.verification, self.units)

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
                f"({100 * result.relative_distance:.1f} % of the edges of either graph) in "
                f"{_many(result.iterations, 'iteration')} and "
                f"{_many(result.calls, 'question')}; the answer there was "
                f"{self.class_name(result.label_after)}."
            )
        else:
            far = f"It asked {_many(result.calls, 'question')} and kept no change."
        return (
            f"{self._opening} No change that leads to {wanted} was found: {self._method} "
            f"{self._ending} {far} {self.advice.text}"
        )

    @property
    def _ending(self) -> str:
        if self.result.status is Status.BUDGET:
            return "spent its budget of questions or time first (status: budget)."
        status = f"(status: {self.result.status})"
        limit = _limit(self.result)
        if limit is not None and self.result.iterations >= limit:
            return f"reached its limit of {_many(limit, 'iteration')} {status}."
        return f"tried all that it tries {status}."

    @cached_property
    def advice(self) -> Advice:
        """What to try next where nothing was found; empty otherwise."""
        result = self.result
        if result.status in (Status.FOUND, Status.NOT_NEEDED):
            return Advice()
        name = result.method.split("+")[0]
        if result.status is Status.BUDGET:
            return Advice(
                f"Next: raise budget (it asked {result.calls:,}; try {10 * result.calls}) or "
                "time_limit, or take a method that asks less, such as dat.",
                ("budget", "time_limit", "method"),
            )
        if name in ("dat", "medoid"):
            return Advice(
                "Next: give a data set with graphs that the classifier puts in that class as "
                "background, or take another method, such as tri.",
                ("background", "method"),
            )
        limit = _limit(result)
        raised = ""
        knobs: tuple[str, ...] = ("method", "background")
        if limit is not None and result.iterations >= limit:
            raised = f"raise max_iterations (it was {limit:,}; try {10 * limit}), or "
            knobs = ("max_iterations", *knobs)
        other = "cli" if name == "tri" else "tri"
        return Advice(
            f"Next: {raised}take another method ({other}; or, with a data set as background, dat, "
            "which finds one whenever the data set holds one).",
            knobs,
        )

    # ---- helpers ------------------------------------------------------------------------

    @property
    def _opening(self) -> str:
        return f"{self.subject} is {self._classed(self.result.label_before)}."

    def _classed(self, label: Label) -> str:
        """``classified as ill``; a label that has no name is only ``labelled 1``."""
        if label in self.class_names or (isinstance(label, str) and label):
            return f"{self.words.verb} {self.class_name(label)}"
        return f"labelled {label!r}"

    @property
    def _again(self) -> str:
        """The subject when it is named again: ``Patient X`` is then ``X``, as in the paper."""
        noun = f"{self.words.subject} "
        rest = self.subject.removeprefix(noun)
        if rest != self.subject and rest.isalpha() and rest[0].isupper():
            return rest
        head, _, thing = self.subject.partition(" ")
        return f"the {thing}" if head == "This" and thing else self.subject

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


def _many(n: int, what: str) -> str:
    first, _, rest = what.partition(" of ")
    return f"{n:,} {first}{'' if n == 1 else 's'}" + (f" of {rest}" if rest else "")


def _limit(result: Counterfactual) -> int | None:
    search = result.parameters.get("search")
    limit = search.get("max_iterations") if isinstance(search, dict) else None
    return limit if isinstance(limit, int) else None


# ---- footnotes ----------------------------------------------------------------------------


def classifier_note(evaluation: Any) -> str | None:
    """What an evaluation says of the classifier; that there is none, if there is none.

    Parameters
    ----------
    evaluation : an `Evaluation`, its dictionary form, or anything with ``better_than_chance`` or
        ``level``, and ``verdict``.
    """
    if evaluation is None:
        return (
            "How well the classifier does on graphs it has not seen was not given: judge it first "
            "(evaluate); an explanation is worth no more than what it explains."
        )
    if judged_better(evaluation):
        return str(known(evaluation, "verdict") or "") or None
    verdict = known(evaluation, "verdict") or "The classifier is not better than chance."
    warning = known(evaluation, "warning")
    return f"{verdict} {warning}" if warning else str(verdict)


def footnotes(sentences: Sentences, evaluation: Any, *, has_regions: bool) -> tuple[str, ...]:
    """What a reader must know beside the sentence, the most important first."""
    result, words = sentences.result, sentences.words
    notes: list[str | None] = [classifier_note(evaluation)]
    if result.found:
        notes += [sentences.tested, sentences.rest]
        if result.minimal is True:
            notes.append(
                f"No single one of the counterfactual's {words.count(result.distance)} can be left "
                "as it was without losing the flip (certified one by one)."
            )
        elif result.minimal is False:
            notes.append("That no single change can be left out could not be certified.")
    notes.extend(sentences.verification.remarks)
    notes.extend(result.notes)
    notes.append(shape_advice(sentences, has_regions=has_regions).text)
    notes.append(words.caveat)
    return tuple(note for note in notes if note)


def shape_advice(sentences: Sentences, *, has_regions: bool) -> Advice:
    """What would make the sentence better to read; empty if nothing has to."""
    if not has_regions:
        return Advice(_REGIONS_HINT, ("nodes",))
    n_named = len(sentences.verification.named)
    if n_named <= _LONG:
        return Advice()
    return Advice(
        f"That is a long list ({n_named} region pairs). Coarser regions, or a refined result (a "
        "method with +min), make the sentence shorter.",
        ("regions", "method"),
    )


__getattr__ = renamed_names(__name__, {"Telling": "Sentences"})
