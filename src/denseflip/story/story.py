"""`Story`: a result in words: the sentence, its test, its footnotes and the numbers."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np

from denseflip.checks import in_markdown
from denseflip.counterfactual import AsRead, Counterfactual, Label, Language, Reading
from denseflip.errors import MissingInputError
from denseflip.graph import Edits, Nodes, Taxonomy
from denseflip.graph.edits import list_edits, make_frame
from denseflip.graph.pairs import Pair
from denseflip.result_scores import Stability
from denseflip.search.claims.claim import Claim, node_taxonomy
from denseflip.search.claims.places import Places, whole_claim
from denseflip.search.claims.reference import PlaceReference
from denseflip.serialise import Serialisable
from denseflip.story.region_table import RegionTable
from denseflip.story.verification import SavedTest, Verification
from denseflip.story.wording.badge import Badge, badge_of, judged_better, known
from denseflip.story.wording.difference import doubt_reason, doubt_words
from denseflip.story.wording.methods_text import methods_text
from denseflip.story.wording.notes import footnotes, shape_advice, stable_advice
from denseflip.story.wording.statement import Sentences
from denseflip.story.wording.vocabulary import Vocabulary

Form = Literal["short", "standard", "detailed"]


@dataclass(frozen=True)
class Story:
    """A result in words, created by `describe`.

    Attributes
    ----------
    result : the result of the search.
    nodes : names, regions and coordinates of the nodes.
    subject : the owner of the graph, for example ``Subject 9``.
    class_names : label → name.
    verification : the claim of the sentence, and how it was tested.
    vocabulary : its words.
    evaluation : an `Evaluation` of the classifier or its dictionary, or None.
    form : the form of `str()`.
    as_read : the test of the sentence as read; None if not tested.
    true_class : the class of the graph in the data set, by name; None if unknown.
    reference : what real graphs have in each place that the sentence names; empty without a
        background, and for a list of pairs.
    level : the test of the sentence with the median of the new class in every place that it names;
        None if not tested.
    stability : for how many classifiers trained again the sentence holds; None if not tested.
    """

    result: Counterfactual
    nodes: Nodes
    subject: str
    class_names: Mapping[Label, str]
    verification: Verification
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    evaluation: Any = None
    form: Form = "standard"
    as_read: AsRead | None = None
    true_class: str | None = None
    reference: tuple[PlaceReference, ...] = ()
    stability: Stability | None = None
    level: AsRead | None = None

    # ---- the claim ----------------------------------------------------------------------

    @property
    def claim(self) -> Claim:
        """The claim of the sentence: places with amounts, and its reading."""
        return self.verification.claim

    @property
    def taxonomy(self) -> Taxonomy | None:
        """The regions of the sentence; None if it names nodes or pairs."""
        return self.claim.regions

    @property
    def language(self) -> Language:
        """What the sentence names: ``"regions"``, ``"nodes"`` or ``"pairs"``."""
        return self.claim.language

    @cached_property
    def whole(self) -> Claim:
        """All changes of the result, as a claim in the same language."""
        return whole_claim(self.result, self.language, self.taxonomy, self.nodes)[0]

    # ---- the sentences ------------------------------------------------------------------

    @cached_property
    def sentences(self) -> Sentences:
        """All sentences of the story."""
        return Sentences(
            self.result,
            self.verification,
            self.whole,
            self.vocabulary,
            self.subject,
            self.class_names,
            self.nodes,
            self.as_read,
            self.true_class,
            self.reference,
            self.level,
        )

    @property
    def in_range(self) -> bool | None:
        """Whether every place that is named ends within what real graphs of the new class have.

        None if that is not known: without a background, for a reference group of fewer than three
        graphs, and for a list of pairs.
        """
        return self.sentences.in_range

    @property
    def statement(self) -> str:
        """The standard sentence; it names exactly the places of `claim`.

        If it would have more than 60 words, it consists of `lead` and, line by line, `items`.
        """
        return self.sentences.standard

    @property
    def lead(self) -> str:
        """The statement without its list: the sentence, or the summary of a long one."""
        return self.sentences.lead

    @property
    def items(self) -> tuple[str, ...]:
        """The list of a long statement; empty for a short one."""
        return self.sentences.items

    @property
    def classified(self) -> str:
        """The class of the graph and, if known, its true class, in a sentence."""
        return self.sentences.classified

    @property
    def correct(self) -> bool | None:
        """Whether the graph is classified correctly; None if unknown.

        It is also unknown if the classifier and the data set have different classes.
        """
        return self.sentences.correct

    @property
    def short(self) -> str:
        """One line."""
        return self.sentences.short

    @property
    def detailed(self) -> str:
        """The sentence with counts, distance, number of queries and its test."""
        return self.sentences.detailed

    @property
    def verified(self) -> bool:
        """Whether the edits named by the sentence flip the oracle by themselves, as tested."""
        return self.verification.verified

    @property
    def true_as_read(self) -> bool:
        """Whether the sentence holds for its places in general, not only for its own edits."""
        return self.as_read is not None and self.as_read.true

    @property
    def reading(self) -> Reading | None:
        """Which connections of its places the sentence refers to: any, typical or distinctive.

        None if it is true for none of these, or was not tested.
        """
        return self.as_read.reading if self.as_read is not None and self.as_read.true else None

    @property
    def badge(self) -> Badge:
        """How far to trust the story, by the weakest of classifier and tests."""
        why = doubt_reason(self.reference)
        return badge_of(self.verification, self.as_read, self.evaluation, self.in_range, why)

    @property
    def doubt(self) -> str:
        """Why a sentence in range is no difference between the groups; empty if it may be one.

        The groups hardly differ in every place that is named (Hedges' |g| below 0.2), or every
        place moves away from the median of the new group. Also empty for a classifier that is not
        better than chance, which tells nothing about the groups anyway.
        """
        if not self.in_range or judged_better(self.evaluation) is False:
            return ""
        return doubt_words(self.reference, self.sentences.group)

    @property
    def tested(self) -> str:
        """Whether and how the sentence was tested, in words."""
        return self.sentences.tested

    @property
    def rest(self) -> str | None:
        """The changes that were not needed, in words; None if the sentence names everything."""
        return self.sentences.rest

    @property
    def only_choice(self) -> bool:
        """Whether the sentence uses all eligible pairs, so that there is nothing to redraw."""
        return self.sentences.only_choice

    @property
    def footnotes(self) -> tuple[str, ...]:
        """Notes that a reader needs in addition to the sentence."""
        return footnotes(self.sentences, self.evaluation, self.stability)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that the sentence and its footnotes advise to change.

        The names are those of Python; the command line and the app add their own names, as they do
        for errors.
        """
        shape = shape_advice(self.sentences)
        stable = stable_advice(self.result, self.stability)
        found = self.sentences.advice.parameters + shape.parameters + stable.parameters
        return tuple(dict.fromkeys(found))

    def class_name(self, label: Label) -> str:
        """Name of a label."""
        return self.sentences.class_name(label)

    def node_name(self, node: int) -> str:
        """Name of a node."""
        return self.nodes.names[node]

    def methods_text(self, dataset: Any = None) -> str:
        """What was done, in a paragraph for the methods section of a paper, with references.

        Parameters
        ----------
        dataset : the data set or its card; adds how edges were made, if the card says it, and
            how many graphs the import of a data set excluded.
        """
        from denseflip._version import __version__

        card = getattr(dataset, "card", dataset)
        return methods_text(
            self.sentences,
            self.evaluation,
            __version__,
            stability=self.stability,
            description=str(known(card, "description") or ""),
            dataset=dataset,
        )

    # ---- the numbers --------------------------------------------------------------------

    @property
    def named_edits(self) -> Edits:
        """The edits that the sentence names."""
        return self.verification.edits

    def regions(
        self, regions: str | Taxonomy | None = None, *, edits: Literal["all", "named"] = "all"
    ) -> RegionTable:
        """The edits by region.

        Parameters
        ----------
        regions : the regions; by default those of the sentence.
        edits : all edits of the result, or only those that the sentence names.

        Raises
        ------
        MissingInputError
            If the nodes have no regions.
        """
        if isinstance(regions, str):
            regions = self.nodes.taxonomy(regions)
        chosen = regions or self.taxonomy or self.nodes.taxonomy()
        return RegionTable(chosen, self.named_edits if edits == "named" else self.result.edits)

    def edit_rows(
        self, regions: Taxonomy | None = None
    ) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Columns and rows of the table of edits (`list_edits`).

        ``named`` is whether the edit is in a place that the sentence names; edits that only keep
        the number of edges ("as many fewer elsewhere in the brain") are not. Regions are those of
        the sentence by default.
        """
        known = self.nodes.taxonomy() if self.nodes.regions else None
        regions = regions or self.taxonomy or known
        result = self.result
        return list_edits(
            result.edits,
            self.nodes,
            regions,
            weights=result.weights,
            named=self._pairs_in_places(),
        )

    def _pairs_in_places(self) -> Collection[Pair]:
        """The pairs of the named edits without those elsewhere."""
        pairs, claim = self.named_edits.pairs, self.claim
        if not claim.elsewhere:
            return pairs
        if claim.language == "pairs":
            return set(pairs) & set(claim.places)
        n = self.result.original.n_nodes
        codes = np.sort(np.array([u * n + v for u, v in pairs], dtype=np.int64))
        held = Places.of_claim(self.result.original, claim).by_place(codes)
        return {divmod(int(code), n) for place in claim.places for code in held[place]}

    # ---- forms --------------------------------------------------------------------------

    def to_frame(self) -> Any:
        """`edit_rows` as a pandas table.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return make_frame(*self.edit_rows())

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready form; `from_dict` restores an equal story."""
        evaluation, taxonomy = self.evaluation, self.taxonomy
        if hasattr(evaluation, "to_dict"):
            evaluation = evaluation.to_dict()
        try:
            regions = self.regions().to_dict()
        except MissingInputError:
            regions = None
        saved: dict[str, Any] = {
            "taxonomy": taxonomy and taxonomy.name,
            "node_regions": taxonomy and [taxonomy.regions[i] for i in taxonomy.index],
            "evaluation": evaluation if isinstance(evaluation, Mapping) else None,
            "verification": self.verification.saved,
        }
        own = [part.name for part in fields(SavedStory) if part.name not in saved]
        return {
            **SavedStory(**saved, **{name: getattr(self, name) for name in own}).to_dict(),
            "statement": self.statement,
            "lead": self.lead,
            "short": self.short,
            "detailed": self.detailed,
            "verified": self.verified,
            "true_as_read": self.true_as_read,
            "reading": self.reading,
            "in_range": self.in_range,
            "correct": self.correct,
            "items": list(self.items),
            "footnotes": list(self.footnotes),
            "badge": self.badge.to_dict(),
            "regions": regions,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Story:
        """Inverse of `to_dict`; the oracle is not queried again.

        Raises
        ------
        FileFormatError
            If an entry is missing or wrong; the message names it.
        """
        return SavedStory.from_dict(data).story

    # ---- display ------------------------------------------------------------------------

    def __str__(self) -> str:
        text: str = {
            "short": self.short,
            "standard": self.statement,
            "detailed": self.detailed,
        }[self.form]
        if self.form == "short":
            return text
        notes = (f"[{i}] {note}" for i, note in enumerate(self.footnotes, 1))
        return "\n".join([text, "", *notes])

    def __repr__(self) -> str:
        return f"Story({self.short!r}, verified={self.verified})"

    def _repr_markdown_(self) -> str:
        notes = "\n".join(f"{i}. {note}" for i, note in enumerate(self.footnotes, 1))
        items = "".join(f"\n> - {item}" for item in self.items)
        return in_markdown(f"> {self.lead}{items and chr(10) + '>' + items}\n\n{notes}")

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.footnotes)
        items = "".join(f"<li>{html.escape(item)}</li>" for item in self.items)
        return (
            f"<blockquote>{html.escape(self.lead)}{items and f'<ul>{items}</ul>'}</blockquote>"
            f"<ol style='font-size:smaller'>{notes}</ol>"
        )


def reading_of(as_read: AsRead | None) -> Reading:
    """Which connections a sentence refers to: those of the reading that is true."""
    return as_read.reading if as_read is not None and as_read.true else "any"


@dataclass(frozen=True)
class SavedStory(Serialisable, named="a denseflip story", format=3, partial=True):
    """The entries of a saved story that restore it; the others are for readers of the file."""

    result: Counterfactual
    nodes: Nodes
    subject: str
    class_names: Mapping[Label, str]
    verification: SavedTest
    vocabulary: Vocabulary
    evaluation: Mapping[str, Any] | None
    form: Form
    as_read: AsRead | None
    language: Language
    taxonomy: str | None
    node_regions: tuple[str, ...] | None
    reference: tuple[PlaceReference, ...]
    stability: Stability | None
    true_class: str | None = None
    level: AsRead | None = None

    @cached_property
    def story(self) -> Story:
        """The story."""
        regions = None
        if (self.node_regions is None) != (self.taxonomy is None):
            msg = "node_regions and taxonomy belong together"
            raise ValueError(msg)
        if self.taxonomy is not None and self.node_regions is not None:
            regions = Taxonomy.from_labels(self.taxonomy, self.node_regions)
        if (self.language == "regions") != (regions is not None):
            msg = f"language cannot be {self.language!r} here"
            raise ValueError(msg)
        own = {part.name: getattr(self, part.name) for part in fields(Story)}
        test = self.verification.restore(
            self.language,
            regions or node_taxonomy(self.nodes),
            reading_of(self.as_read),
            self.as_read is not None and self.as_read.balanced,
        )
        return Story(**own | {"verification": test})

    def _check(self) -> None:
        str(self.story)
