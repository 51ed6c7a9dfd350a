"""The sentences of a story: short, standard and detailed, found or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from denseflip.checks import count_words
from denseflip.counterfactual import AsRead, Counterfactual, Label, Reading, Status
from denseflip.graph import Nodes
from denseflip.graph.nodes import TYPE
from denseflip.search.claims.claim import Amounts, Claim, total
from denseflip.search.claims.places import Places
from denseflip.search.claims.reference import PlaceReference, counted_anew
from denseflip.story.verification import Verification
from denseflip.story.wording.amounts import (
    ITEM,
    Wording,
    bracket,
    change_of,
    reference_bracket,
    reference_sentence,
    with_shared,
)
from denseflip.story.wording.constraint_words import bound_to_some
from denseflip.story.wording.naming import members_of
from denseflip.story.wording.notes import Advice, many, next_advice, not_found
from denseflip.story.wording.phrases import clause
from denseflip.story.wording.vocabulary import Vocabulary

LONG = 40  # words of a sentence; a longer one becomes a lead sentence and a list
_MOST = 0.8  # of the edits that the sentence does not name, name this share …
_REST_NAMES = 6  # … if that takes at most this many names
_LISTED = 12  # maximum number of connections listed in a footnote
_NOUNS = {"regions": "region pair", "nodes": "node", "pairs": "pair of nodes"}


@dataclass(frozen=True)
class Sentences:
    """The sentences of a `Story`, which documents the fields."""

    result: Counterfactual
    verification: Verification
    whole: Claim
    words: Vocabulary
    subject: str
    class_names: Mapping[Label, str]
    nodes: Nodes
    as_read: AsRead | None = None
    true_class: str | None = None
    reference: tuple[PlaceReference, ...] = ()
    level: AsRead | None = None

    @property
    def claim(self) -> Claim:
        """The claim of the sentence."""
        return self.verification.claim

    @property
    def noun(self) -> str:
        """The noun for a place of the claim."""
        if self.claim.with_all:
            return "region"
        typed = self.claim.regions is not None and self.claim.regions.name == TYPE
        return "pair of types" if typed else _NOUNS[self.claim.language]

    # ---- found --------------------------------------------------------------------------

    @property
    def standard(self) -> str:
        """The sentence, with its list if it is long; or what was tried if none was found."""
        return "".join([self.lead, *(ITEM + item for item in self.items)])

    @cached_property
    def lead(self) -> str:
        """The sentence; a summary if it would be long."""
        if self.result.status is not Status.FOUND:
            return not_found(self)
        if not self.items:
            return self._whole
        claim, wording = self.claim, self.wording("any" if self.claim.language == "pairs" else None)
        n = len(claim.amounts)
        where = {"pairs": "", "nodes": f"at {n} nodes"}.get(claim.language, f"in {n} places")
        listed = "those listed below" if claim.language == "pairs" else "listed below"
        totals = f"{wording.totals(claim.amounts, where).rstrip()}, {listed}"
        return self._sentence(", and ".join(filter(None, (totals, self._elsewhere))))

    @cached_property
    def items(self) -> tuple[str, ...]:
        """The places one by one if the sentence would be long; else empty."""
        if not self.result.found or not self.words.counts or len(self.claim.amounts) < 2:
            return ()
        if self._is_short(self._whole):
            return ()
        return self.wording("any").items(self._amounts, self._brackets(long=False))

    @cached_property
    def _whole(self) -> str:
        """The sentence without a list: the most explicit form that is short, else the last."""
        forms = list(self._forms())
        return next(filter(self._is_short, forms), forms[-1])

    def _forms(self) -> Iterator[str]:
        """The sentence in forms that are shorter and shorter."""
        if not self.words.counts or not self.reference:
            yield self._sentence(self.clause)
            return
        amounts, elsewhere = self._amounts, self._elsewhere
        if len(amounts) == 1:
            yield self._sentence(self.clause)
        short = self.wording().clause(amounts, self._brackets(long=False), elsewhere)
        yield self._sentence(short)
        if len(amounts) > 2:
            return
        # What real graphs have becomes a sentence of its own.
        known = reference_sentence(self.reference, self.group)
        if known is None:
            return
        changes = [f" ({change_of(place)})" for place in self.reference]
        shortest = elsewhere.replace(self.words.rest, "elsewhere")
        for brief, others in ((False, elsewhere), (True, elsewhere), (True, shortest)):
            said = self.wording(brief=brief).clause(amounts, changes, others)
            yield f"{self._sentence(said)} {known}"

    def _is_short(self, text: str) -> bool:
        """Whether the conditional has few words, without the limitation to its own edits."""
        conditional = text[text.index("If ") :].replace(self.limit, "").split(". ")[0]
        return count_words(conditional) <= LONG

    def _sentence(self, change: str) -> str:
        """The conditional; the subject is named once, unless the classifier is wrong about it."""
        after = self._classed(self.claim.label)
        if not self.words.counts:  # the form of the paper
            again = self._again
            owner = self.words.possessor(again)
            return f"{self.opening} If {owner} had {change}, then {again} would have been {after}."
        opening, owner = "", self.subject
        if self.correct is False:
            opening, owner = f"{self.opening} ", f"the {self.words.whole or 'graph'}"
        elif owner.startswith(("This ", f"{self.words.subject} ")):
            owner = f"{owner[0].lower()}{owner[1:]}"
        return f"{opening}If {owner} had {change}, it would have been {after}{self.limit}."

    @property
    def in_range(self) -> bool | None:
        """Whether every place of the claim is in range; None if unknown."""
        known = [place.in_range for place in self.reference]
        if not known or None in known:
            return None
        return all(known)

    @property
    def _elsewhere(self) -> str:
        """What changes in other places to keep the number of edges; empty if nothing does."""
        number = self.claim.elsewhere
        if not number:
            return ""
        direction = self.words.more if number > 0 else self.words.less
        alone = len(self.claim.amounts) == 1 and abs(number) == self.claim.total
        return f"{'as many' if alone else f'{abs(number):,}'} {direction} {self.words.rest}"

    @property
    def group(self) -> str:
        """The graphs that the graph is compared with: ``B6 mice``."""
        return members_of(self._after, self.words.members)

    def _brackets(self, *, long: bool) -> tuple[str, ...]:
        """The numbers of each place: before, after, and what real graphs have."""
        if self.places is None:
            return ("",) * len(self.claim.amounts)
        if self.reference:
            brackets = [
                reference_bracket(place, self.group if i == 0 else "", long=long)
                for i, place in enumerate(self.reference)
            ]
        else:
            brackets = [bracket(amount, self.places) for amount in self._amounts]
        return with_shared(brackets, self.claim, self.verification.edits.pairs)

    @cached_property
    def _amounts(self) -> Amounts:
        """The amounts that are said; an edit that joins two named nodes counts at both."""
        if self.places is None:
            return self.claim.amounts
        return counted_anew(self.claim, self.verification.edits, self.places)

    @property
    def true(self) -> bool:
        """Whether the sentence may refer to places in general, not only to its own edits."""
        if self.claim.language == "pairs":  # single pairs leave no choice
            return True
        return self.as_read is not None and self.as_read.true

    @property
    def limit(self) -> str:
        """The limitation that a sentence holds only for its own edits; empty if true as read."""
        if self.true or not self.words.counts:
            return ""
        listed = f"the {self._listed} listed"
        if self.as_read is None:
            return f" – for {listed}; others were not tested"
        return f" – for {listed}, not for just any others there"

    @property
    def _listed(self) -> str:
        n = len(self.verification.edits)
        return f"one {self.words.unit}" if n == 1 else self.words.count(n)

    @property
    def short(self) -> str:
        """One line: the two classes and the places of the change."""
        before = self.class_name(self.result.label_before)
        if self.result.status is Status.NOT_NEEDED:
            return f"{self.subject}: {before} already."
        if self.result.status is not Status.FOUND:
            return (
                f"{self.subject}: {before}; no counterfactual found by {self.method} "
                f"({self.result.status}, {many(self.result.calls, 'query')})."
            )
        claim = self.claim
        head = f"{self.subject}: {before} → {self.class_name(claim.label)}"
        if count_words(self.clause) <= LONG:
            return f"{head} with {self.clause}{self.limit}."
        place, added, removed = claim.amounts[0]
        return (
            f"{head} with changes in {many(len(claim.amounts), self.noun)}, most in "
            f"{claim.name(place)} ({self.counts(added, removed)}){self.limit}."
        )

    @property
    def detailed(self) -> str:
        """The standard sentence, then the numbers behind it."""
        result, words = self.result, self.words
        if result.status is not Status.FOUND:
            return self.standard
        claim = self.claim
        rows = "; ".join(
            f"{claim.name(place)}: {self.counts(added, removed)}"
            for place, added, removed in claim.amounts
        )
        part = len(self.verification.edits)
        parts = [
            self.standard,
            f"Named here: {rows}.",
            f"Together {part:,} of {words.count(result.distance)}.",
            (
                f"The whole counterfactual has an edit distance of {result.distance:,} "
                f"({self.counts(len(result.added), len(result.removed))}; "
                f"{100 * result.relative_distance:.1f} % of the edges of either graph) and was "
                f"found by {self.method} with {many(result.calls, 'query')}."
            ),
            self.tested,
            self.read or "",
            self.rest or "",
        ]
        return " ".join(part for part in parts if part)

    @property
    def tested(self) -> str:
        """Whether the sentence was tested, in a sentence."""
        result, test = self.result, self.verification
        n, k = len(test.edits), len(test.claim.amounts)
        if not result.found:
            return "There is no counterfactual to test."
        if not test.tested and self.as_read is not None and self.as_read.draws:
            return (
                "Not tested again, because no classifier was given. The sentence names all changes "
                "of the search, which flipped the classifier."
            )
        if not test.tested:
            return (
                "Not tested, because no classifier was given, so the sentence names all changes. "
                "With a classifier (in Python: describe(result, nodes, oracle)), it names only the "
                "changes that are needed."
            )
        thing = self.noun
        asked = many(test.questions, "query")
        where = many(k, thing) if k > 1 else f"one {thing}"
        where = f"{'at' if self.claim.language == 'nodes' else 'in'} {where}"
        text = f"Tested with {asked}: the changes named here flip the classifier alone. They are "
        if n < result.distance:
            all_links = self.words.count(result.distance)
            text += f"{n:,} of {all_links}, {k:,} of {many(test.n_cells, thing)}"
            if test.minimal and k > 1:
                text += f"; no {thing} named can be left out"
            return f"{text}."
        elsewhere = abs(self.claim.elsewhere)
        more = f" and {elsewhere:,} {self.words.rest}" if elsewhere else ""
        text += f"all changes ({self.words.count(n - elsewhere)} {where}{more})"
        if test.all_needed and k > 1:
            text += f", and all are needed: no {thing} can be left out"
        return f"{text}."

    @property
    def read(self) -> str | None:
        """The test as read, in a sentence; None if not tested."""
        test = self.as_read
        if test is None or not test.draws:
            return None
        low, high = (f"{100 * bound:.0f}" for bound in test.interval)
        units = self.words.units if test.reading == "any" else f"such {self.words.units}"
        where = "at the same nodes" if self.claim.language == "nodes" else "in the same places"
        if bound_to_some(self.result):
            where = f"that may change {where}"
        if test.true and self.only_choice:
            return f"True as read: there is no other choice of as many {units} {where}."
        tries = (
            f"{test.flips} of {test.draws} random choices of as many {units} {where} change the "
            f"answer (95 % interval of the share: {low} to {high} %)."
        )
        if test.true:
            return f"True as read: {tries}"
        return f"Not true of just any {units} there: only {tries}"

    @property
    def only_choice(self) -> bool:
        """Whether the sentence uses all eligible pairs, so that there is nothing to redraw."""
        return self.as_read is not None and self.as_read.only

    @property
    def listed(self) -> str | None:
        """The list of edits if the sentence holds only for them; else None."""
        edits = self.verification.edits
        if self.true or not self.result.found:
            return None
        if len(edits) > _LISTED:
            return (
                f"The {self._listed} it holds for are in the table of edits (in Python: "
                "story.named_edits)."
            )
        names = self.nodes.names
        sides = (("removed", edits.removed), ("added", edits.added))
        said = [f"{names[u]} – {names[v]} ({how})" for how, pairs in sides for u, v in pairs]
        return f"The {self._listed} it holds for: {', '.join(said)}."

    @property
    def language(self) -> str | None:
        """The language of the sentence if it is not the default; else None."""
        told = self.result.as_read
        if told is None or not self.nodes.regions or self.result.chosen:
            return None  # a search that chooses the language notes it itself
        if self.claim.language == "nodes":
            return "Described by node, not by region."
        if self.claim.language == "pairs":
            return "Described pair by pair, not by region."
        name = self.claim.taxonomy.name
        return None if name == self.nodes.taxonomy().name else f"Described by {name}."

    @property
    def rest(self) -> str | None:
        """The changes that were not needed; None if everything is named."""
        test = self.verification
        others = len(self.result.edits) - len(test.edits)
        if not test.verified or not others:
            return None
        named = set(self.claim.places)
        also, held = [], len(test.edits)
        for amount in self.whole.amounts:
            if amount.place not in named and held < _MOST * len(self.result.edits) - 1e-9:
                also.append(amount)
                held += amount.total
        if self.claim.language == "nodes" or not 0 < len(also) <= _REST_NAMES:
            return (
                f"The whole counterfactual also changes {self.words.count(others)} elsewhere, "
                "which is not needed to flip the classifier."
            )
        unsaid = others - total(also)
        more = f", and {self.words.count(unsaid)} changed elsewhere" if unsaid else ""
        said = (
            self.wording("any").clause(also)
            if self.words.counts
            else clause(also, self.claim.taxonomy, self.words)
        )
        return (
            f"The whole counterfactual also has {said}{more}, which is not needed to flip the "
            "classifier."
        )

    @cached_property
    def clause(self) -> str:
        """The clause on what there would be less and more of."""
        if self.words.counts:
            long = self._brackets(long=len(self.reference) == 1)
            return self.wording().clause(self._amounts, long, self._elsewhere)
        return clause(self.claim.amounts, self.claim.taxonomy, self.words)

    def wording(self, reading: Reading | None = None, *, brief: bool = False) -> Wording:
        """The wording of amounts, for the reading in which the sentence is true."""
        claim, classes = self.claim, (self._before, self._after)
        return Wording(self.words, claim.taxonomy, reading or claim.reading, *classes, brief)

    @cached_property
    def places(self) -> Places | None:
        """The places in which edges are counted; None for single pairs."""
        if self.claim.language == "pairs":
            return None
        return Places.of_claim(self.result.original, self.claim)

    @property
    def _before(self) -> str:
        return self.class_name(self.result.label_before)

    @property
    def _after(self) -> str:
        return self.class_name(self.claim.label)

    def class_name(self, label: Label) -> str:
        """The name of a label, or ``class 1``."""
        if label in self.class_names:
            return self.class_names[label]
        return label if isinstance(label, str) and label else f"class {label!r}"

    # ---- not found ----------------------------------------------------------------------

    @cached_property
    def advice(self) -> Advice:
        """What to try next if nothing was found; else empty."""
        return next_advice(self.result, self.class_name)

    # ---- helpers ------------------------------------------------------------------------

    @property
    def opening(self) -> str:
        """How the graph is classified, and its true class if that is another."""
        said = f"{self.subject} is {self._classed(self.result.label_before)}"
        if self.correct is not False:
            return f"{said}."
        return f"{said}; the data set says {self.true_class}."

    @property
    def classified(self) -> str:
        """The class of the graph and, if known, its true class, in a sentence."""
        same = self.opening[:-1] + ", as in the data set."
        return same if self.correct else " ".join(filter(None, (self.opening, self.truth)))

    @property
    def correct(self) -> bool | None:
        """Whether the graph is classified correctly; None if unknown."""
        known = set(self.class_names.values())
        if self.true_class is None or (known and not {self.true_class, self._before} <= known):
            return None
        return self.true_class == self._before

    @property
    def truth(self) -> str | None:
        """The true class, if known and not part of the first sentence."""
        if self.true_class is None or self.correct is False:
            return None
        return f"The data set says {self.true_class}{', too' if self.correct else ''}."

    def _classed(self, label: Label) -> str:
        """``classified as ill``, or ``labelled 1`` for a label without a name."""
        if label in self.class_names or (isinstance(label, str) and label):
            return f"{self.words.verb} {self.class_name(label)}"
        return f"labelled {label!r}"

    @property
    def _again(self) -> str:
        """The subject when it is repeated: ``Patient X`` becomes ``X``, as in the paper."""
        noun = f"{self.words.subject} "
        rest = self.subject.removeprefix(noun)
        if rest != self.subject and rest.isalpha() and rest[0].isupper():
            return rest
        head, _, thing = self.subject.partition(" ")
        return f"the {thing}" if head == "This" and thing else self.subject

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.result.method or "the search"

    def counts(self, added: int, removed: int) -> str:
        """``2 edges removed, 1 added``."""
        sides = []
        if removed:
            sides.append(f"{self.words.count(removed)} removed")
        if added:
            sides.append(f"{added:,} added" if removed else f"{self.words.count(added)} added")
        return ", ".join(sides) or "no change"
