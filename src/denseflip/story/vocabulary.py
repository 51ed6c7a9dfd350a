"""`Vocabulary`: the words of a domain, so that a sentence speaks of brains, or of plain graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.graph import Nodes

_FORBIDDEN = ("“", "”", "(", ")", ",", "\n")


@dataclass(frozen=True)
class Vocabulary:
    """The words of a domain.

    Attributes
    ----------
    name : what the vocabulary is called.
    subject : noun for whom or what a graph belongs to: ``Patient``, ``Mouse``, ``Graph``.
    whole : what of the subject the graph shows (``brain``); empty if the subject is the graph.
    inside : what there is less or more of inside one region.
    across : what there is less or more of between regions.
    less, more : the two directions: ``less`` or ``fewer``, ``more``.
    balance : the words before ``less`` or ``more`` where edges go both ways, most of them so.
    mixed : the words before ``inside`` or ``across`` where as many edges come as go.
    unit, units : one changed edge, and several.
    verb : how a class is given: ``classified as``.
    caveat : what an explanation of this kind does not say.

    Examples
    --------
    >>> words = Vocabulary.named("brain")
    >>> words.less, words.inside, words.across
    ('less', 'activation', 'co-activation')
    """

    name: str = "graph"
    subject: str = "Graph"
    whole: str = ""
    inside: str = "edges"
    across: str = "edges"
    less: str = "fewer"
    more: str = "more"
    balance: str = "on balance"
    mixed: str = "rewired"
    unit: str = "edge"
    units: str = "edges"
    verb: str = "classified as"
    caveat: str = "This is about the classifier, not about what caused the class."

    def __post_init__(self) -> None:
        problems = []
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, str) or (not value.strip() and field.name != "whole"):
                problems.append(f"{field.name} must be a word or a few; got {value!r}.")
            elif field.name not in ("name", "caveat") and any(x in value for x in _FORBIDDEN):
                problems.append(
                    f"{field.name} may hold no comma, quotation mark or bracket; got {value!r}."
                )
        if not problems and len({self.less, self.more, self.mixed}) < 3:
            problems.append("less, more and mixed must differ.")
        if problems:
            msg = f"Vocabulary {self.name!r}: " + " ".join(problems)
            raise InvalidParameterError(msg)

    @classmethod
    def named(cls, name: str) -> Vocabulary:
        """One of the vocabularies that come with denseflip."""
        if name not in VOCABULARIES:
            raise UnknownNameError("vocabulary", name, VOCABULARIES)
        return VOCABULARIES[name]

    @classmethod
    def for_nodes(cls, nodes: Nodes) -> Vocabulary:
        """The vocabulary that fits a node table.

        Lobes mean a human brain, macrostructures the mouse atlas, coordinates some connectome;
        anything else is a plain graph.
        """
        if "lobe" in nodes.regions:
            return VOCABULARIES["brain"]
        if "macrostructure" in nodes.regions:
            return VOCABULARIES["mouse"]
        return VOCABULARIES["connectome" if nodes.coordinates else "graph"]

    def possessor(self, subject: str) -> str:
        """The owner of the graph as the subject of "had": "Patient 9's brain"."""
        return f"{subject}'s {self.whole}" if self.whole else subject

    def count(self, n: int) -> str:
        """``1 edge``, ``2 edges``."""
        return f"{n:,} {self.unit if n == 1 else self.units}"

    def to_dict(self) -> dict[str, str]:
        """Plain JSON-ready form."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`."""
        return cls(**data)


_BRAIN_CAVEAT = (
    "This says what would change the classifier's answer. It does not say what causes a condition, "
    "that such a change is possible, or that it would help anyone; and it stands for the edges "
    "listed, not for any other change in the same regions."
)
VOCABULARIES: dict[str, Vocabulary] = {
    v.name: v
    for v in (
        Vocabulary(
            name="brain",
            subject="Patient",
            whole="brain",
            inside="activation",
            across="co-activation",
            less="less",
            mixed="redistributed",
            unit="link",
            units="links",
            caveat=_BRAIN_CAVEAT,
        ),
        Vocabulary(
            name="connectome",
            subject="Subject",
            whole="brain",
            inside="connections",
            across="connections",
            unit="connection",
            units="connections",
            caveat=_BRAIN_CAVEAT,
        ),
        Vocabulary(
            name="mouse",
            subject="Mouse",
            whole="brain",
            inside="connections",
            across="connections",
            unit="connection",
            units="connections",
            caveat=_BRAIN_CAVEAT,
        ),
        Vocabulary(
            caveat=(
                "This says what would change the classifier's answer, not what makes a graph "
                "belong to a class; and it stands for the edges listed, not for any other change "
                "in the same places."
            )
        ),
    )
}
