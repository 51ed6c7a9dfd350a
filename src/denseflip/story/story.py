"""`Story`: a result told: the sentence, its test, its footnotes and the numbers behind it."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import NoneType
from typing import Any, Literal, Self, get_args

from denseflip.checks import in_markdown, parsing, typed, visible_tree
from denseflip.counterfactual import AsRead, Counterfactual, Label, Language, Reading
from denseflip.errors import FileFormatError, MissingInputError, shown
from denseflip.graph import Edits, Nodes, Taxonomy
from denseflip.graph.edits_table import list_edits, make_frame
from denseflip.search.claims.claim import Claim, node_taxonomy
from denseflip.search.claims.places import whole_claim
from denseflip.story.region_table import RegionTable
from denseflip.story.verification import Verification
from denseflip.story.wording.badge import Badge, badge_of
from denseflip.story.wording.notes import footnotes, shape_advice
from denseflip.story.wording.statement import Sentences
from denseflip.story.wording.vocabulary import Vocabulary

Form = Literal["short", "standard", "detailed"]
FORMAT = 2  # version of the dictionary form; 2 has as_read, language, badge, lead and items


@dataclass(frozen=True)
class Story:
    """A result, told. Made by `describe`.

    Attributes
    ----------
    result : what the search found.
    nodes : names, regions and coordinates of the nodes.
    subject : whom or what the graph belongs to, for example ``Patient 9``.
    class_names : label → name.
    verification : the claim that the sentence words, and how that was tested.
    vocabulary : its words.
    evaluation : what is known about the classifier: an `Evaluation` or its dictionary, or None.
    form : the form that `str()` shows.
    as_read : how true the sentence is as it is read; None if that was not tested.
    true_class : the class that the data set has for the graph, by name; None if it is not known.
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

    # ---- the claim ----------------------------------------------------------------------

    @property
    def claim(self) -> Claim:
        """What the sentence says: places with amounts, and which connections are meant."""
        return self.verification.claim

    @property
    def taxonomy(self) -> Taxonomy | None:
        """The regions the sentence speaks of; None if it speaks of nodes or pairs."""
        return self.claim.regions

    @property
    def language(self) -> Language:
        """What the sentence names: ``"regions"``, ``"nodes"`` or ``"pairs"``."""
        return self.claim.language

    @cached_property
    def whole(self) -> Claim:
        """Everything that the result changes, as a claim in the same language."""
        return whole_claim(self.result, self.language, self.taxonomy, self.nodes)[0]

    # ---- the sentences ------------------------------------------------------------------

    @cached_property
    def sentences(self) -> Sentences:
        """All that the story says of the result, in sentences."""
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
        )

    @property
    def statement(self) -> str:
        """The standard sentence; it names the places of `claim` and nothing else.

        Where it would have more than 60 words, it is `lead` and, line by line, `items`.
        """
        return self.sentences.standard

    @property
    def lead(self) -> str:
        """The statement without its list: the sentence, or what a long one comes to."""
        return self.sentences.lead

    @property
    def items(self) -> tuple[str, ...]:
        """The list of a long statement; empty if the sentence says it all."""
        return self.sentences.items

    @property
    def classified(self) -> str:
        """How the graph is classified, and its true class where that is known, in a sentence."""
        return self.sentences.classified

    @property
    def correct(self) -> bool | None:
        """Whether the classifier gives the graph its true class; None if that is not known.

        Nor is it known where the classifier's classes are not those of the data set.
        """
        return self.sentences.correct

    @property
    def short(self) -> str:
        """One line."""
        return self.sentences.short

    @property
    def detailed(self) -> str:
        """The sentence with counts, distance, calls and its test."""
        return self.sentences.detailed

    @property
    def verified(self) -> bool:
        """Whether the edits the sentence names were seen to flip the oracle by themselves."""
        return self.verification.verified

    @property
    def true_as_read(self) -> bool:
        """Whether what the sentence says of its places is true, not only of its own edits."""
        return self.as_read is not None and self.as_read.true

    @property
    def reading(self) -> Reading | None:
        """Which connections of its places the sentence means: any, typical, distinctive ones.

        None if it is not true of any of these, or was not tested.
        """
        return self.as_read.reading if self.as_read is not None and self.as_read.true else None

    @property
    def badge(self) -> Badge:
        """How far the story can be trusted: the weakest of classifier and tests."""
        return badge_of(self.verification, self.as_read, self.evaluation)

    @property
    def tested(self) -> str:
        """Whether and how the sentence was tested, in words."""
        return self.sentences.tested

    @property
    def rest(self) -> str | None:
        """What else was changed without need, in words; None if the sentence names everything."""
        return self.sentences.rest

    @property
    def only_choice(self) -> bool:
        """Whether the sentence takes all pairs that it could mean, so that no others can be."""
        return self.sentences.only_choice

    @property
    def footnotes(self) -> tuple[str, ...]:
        """What a reader must know beside the sentence."""
        return footnotes(self.sentences, self.evaluation)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that sentence and footnotes advise to change.

        They are named as in Python; a skin that spells them in another way adds its own spelling,
        as it does for errors.
        """
        shape = shape_advice(self.sentences)
        return tuple(dict.fromkeys(self.sentences.advice.parameters + shape.parameters))

    def class_name(self, label: Label) -> str:
        """A label by its name."""
        return self.sentences.class_name(label)

    def node_name(self, node: int) -> str:
        """Name of a node."""
        return self.nodes.names[node]

    # ---- the numbers --------------------------------------------------------------------

    @property
    def named_edits(self) -> Edits:
        """The edits that the sentence stands for."""
        return self.verification.edits

    def regions(
        self, regions: str | Taxonomy | None = None, *, edits: Literal["all", "named"] = "all"
    ) -> RegionTable:
        """The edits by region.

        Parameters
        ----------
        regions : which regions; by default those of the sentence.
        edits : all of the result, or only those that the sentence names.

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

        ``named`` says whether the sentence names the edit. Regions are those of the sentence unless
        others are given.
        """
        known = self.nodes.taxonomy() if self.nodes.regions else None
        regions = regions or self.taxonomy or known
        result = self.result
        return list_edits(
            result.edits,
            self.nodes,
            regions,
            weights=result.weights,
            named=self.named_edits.pairs,
        )

    # ---- forms --------------------------------------------------------------------------

    def to_frame(self) -> Any:
        """`edit_rows` as a pandas table.

        Raises
        ------
        MissingExtraError
            If pandas is not installed; the message says how to get it.
        """
        return make_frame(*self.edit_rows())

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready form; `from_dict` gives back an equal story."""
        evaluation = self.evaluation
        if hasattr(evaluation, "to_dict"):
            evaluation = evaluation.to_dict()
        try:
            regions = self.regions().to_dict()
        except MissingInputError:
            regions = None
        return {
            "format": FORMAT,
            "subject": self.subject,
            "statement": self.statement,
            "lead": self.lead,
            "items": list(self.items),
            "short": self.short,
            "detailed": self.detailed,
            "verified": self.verified,
            "true_as_read": self.true_as_read,
            "reading": self.reading,
            "as_read": None if self.as_read is None else self.as_read.to_dict(),
            "language": self.language,
            "true_class": self.true_class,
            "correct": self.correct,
            "badge": self.badge.to_dict(),
            "footnotes": list(self.footnotes),
            "verification": self.verification.to_dict(),
            "taxonomy": None if self.taxonomy is None else self.taxonomy.name,
            "node_regions": self._node_regions(),
            "class_names": [[label, name] for label, name in self.class_names.items()],
            "vocabulary": self.vocabulary.to_dict(),
            "form": self.form,
            "regions": regions,
            "evaluation": evaluation if isinstance(evaluation, Mapping) else None,
            "nodes": self.nodes.to_dict(),
            "result": self.result.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`; the oracle is not asked again.

        Raises
        ------
        FileFormatError
            If the dictionary lacks a field or was written by a newer version.
        """
        if not isinstance(data, Mapping):
            msg = f"Not a denseflip story: a dictionary is expected; got {shown(data)}."
            raise FileFormatError(msg)
        version = data.get("format", 0)
        if not isinstance(version, int) or version > FORMAT:
            msg = f"This story has format {shown(version)}; this version reads up to {FORMAT}. "
            raise FileFormatError(msg + "Update denseflip.")
        with parsing("a denseflip story"):
            nodes = Nodes.from_dict(data["nodes"])
            name = typed(data, "taxonomy", str, NoneType)
            regions = None if name is None else _read_taxonomy(name, data["node_regions"])
            test = data["as_read"]
            as_read = None if test is None else AsRead.from_dict(test)
            story = cls(
                result=Counterfactual.from_dict(data["result"]),
                nodes=nodes,
                subject=typed(data, "subject", str),
                class_names=visible_tree(dict(data["class_names"])),
                verification=Verification.read(
                    data["verification"],
                    _read_language(data, regions),
                    regions or node_taxonomy(nodes),
                    reading_of(as_read),
                ),
                vocabulary=Vocabulary.from_dict(data["vocabulary"]),
                evaluation=visible_tree(typed(data, "evaluation", Mapping, NoneType)),
                form=data["form"],
                as_read=as_read,
                true_class=typed({"true_class": None, **data}, "true_class", str, NoneType),
            )
            str(story)  # what cannot be told is no story
            return story

    def _node_regions(self) -> list[str] | None:
        tax = self.taxonomy
        return None if tax is None else [tax.region_of(i) for i in range(len(tax.index))]

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
        """The sentence and its footnotes for notebooks."""
        notes = "\n".join(f"{i}. {note}" for i, note in enumerate(self.footnotes, 1))
        items = "".join(f"\n> - {item}" for item in self.items)
        return in_markdown(f"> {self.lead}{items and chr(10) + '>' + items}\n\n{notes}")

    def _repr_html_(self) -> str:
        """The sentence and its footnotes for notebooks."""
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.footnotes)
        items = "".join(f"<li>{html.escape(item)}</li>" for item in self.items)
        return (
            f"<blockquote>{html.escape(self.lead)}{items and f'<ul>{items}</ul>'}</blockquote>"
            f"<ol style='font-size:smaller'>{notes}</ol>"
        )


def reading_of(as_read: AsRead | None) -> Reading:
    """Which connections a sentence means, by its test: those of the reading that is true."""
    return as_read.reading if as_read is not None and as_read.true else "any"


def _read_language(data: Mapping[str, Any], regions: Taxonomy | None) -> Language:
    language = typed(data, "language", str)
    if language not in get_args(Language) or (language == "regions") != (regions is not None):
        msg = f"language cannot be {shown(language)} here"
        raise ValueError(msg)
    return language  # type: ignore[no-any-return]


def _read_taxonomy(name: str, labels: Any) -> Taxonomy:
    if not isinstance(labels, list) or not all(isinstance(x, str) for x in labels):
        msg = f"node_regions cannot be {shown(labels)}"
        raise TypeError(msg)
    return Taxonomy.from_labels(name, visible_tree(labels, lines=False))
