"""`Vocabulary`: the words of a domain, so that a sentence speaks of brains, or of plain graphs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from denseflip.checks import visible
from denseflip.datasets.atlas import load_aal, load_mouse_atlas
from denseflip.errors import FileFormatError, InvalidParameterError, UnknownNameError
from denseflip.graph import Nodes

_FORBIDDEN = ("“", "”", "(", ")", ",", "\n")
# What is called "Patient 9": a number, a letter, or an id of the paper's clinical data sets.
_NEEDS_A_NOUN = re.compile(r"#?\d+|[A-Z]|(?:aut|bip|adhdm?|ohsu|pek|kki)-\d+")
_THINGS = {"brain", "connectome", "graph", "mouse", "network", "patient", "subject"}


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
    within : the word between ``inside`` and the region: ``in`` or ``within``.
    less, more : the two directions: ``less`` or ``fewer``, ``more``.
    balance : the words before ``less`` or ``more`` where edges go both ways, most of them so.
    mixed : the words before ``inside`` or ``across`` where as many edges come as go.
    unit, units : one changed edge, and several.
    verb : how a class is given: ``classified as``.
    caveat : what an explanation of this kind does not say.
    counts : whether a sentence says how many edges come and go; ``inside`` and ``across`` are then
        plural nouns. The paper's sentences do not: they say ``less activation``.

    Examples
    --------
    >>> words = Vocabulary.named("paper")
    >>> words.less, words.inside, words.across
    ('less', 'activation', 'co-activation')
    """

    name: str = "graph"
    subject: str = "Graph"
    whole: str = ""
    inside: str = "edges"
    across: str = "edges"
    within: str = "in"
    less: str = "fewer"
    more: str = "more"
    balance: str = "on balance"
    mixed: str = "rewired"
    unit: str = "edge"
    units: str = "edges"
    verb: str = "classified as"
    caveat: str = "This is about the classifier, not about what caused the class."
    counts: bool = True

    def __post_init__(self) -> None:
        problems = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "counts":
                if not isinstance(value, bool):
                    problems.append(f"counts must be True or False; got {value!r}.")
            elif not isinstance(value, str) or (not value.strip() and field.name != "whole"):
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

        The areas of the AAL-116 atlas mean a patient's brain, those of the mouse atlas a mouse's.
        Of anything else nobody has said whose it is: coordinates mean some brain's connections,
        regions connections, and the rest is a plain graph.
        """
        names = set(nodes.names)
        if names == set(load_aal().names):
            return VOCABULARIES["brain"]
        if names == set(load_mouse_atlas().names):
            return VOCABULARIES["mouse"]
        if nodes.coordinates:
            return VOCABULARIES["connectome"]
        return VOCABULARIES["network" if nodes.regions else "graph"]

    def called(self, subject: str | int | None) -> str:
        """Whom or what a graph belongs to, as a sentence starts with it.

        A number gets the noun in front, an id such as ``control-03`` does not: it may be no
        patient's. Every id of the mouse atlas is a mouse's, and a noun of your own is meant.

        >>> words = Vocabulary.named("brain")
        >>> words.called(9), words.called("bip-009"), words.called("control-03"), words.called(None)
        ('Patient 9', 'Patient bip-009', 'control-03', 'This patient')
        """
        text = "" if subject is None else " ".join(str(subject).split())
        if not text:
            return f"This {self.subject.lower()}"
        if text.lower() in _THINGS:
            return f"This {text.lower()}"
        meant = self.name == "mouse" or VOCABULARIES.get(self.name) != self
        noun = " " not in text and (meant or _NEEDS_A_NOUN.fullmatch(text))
        return f"{self.subject} {text}" if noun else text

    def possessor(self, subject: str) -> str:
        """The owner of the graph as the subject of "had": "Patient 9's brain"."""
        said = rf"(?<![^\W\d_]){re.escape(self.whole)}(?![^\W\d_])"
        if not self.whole or re.search(said, subject, re.IGNORECASE):
            return subject  # never "Anna's brain's brain"
        return f"{subject}'s {self.whole}"

    def count(self, n: int) -> str:
        """``1 edge``, ``2 edges``."""
        return f"{n:,} {self.unit if n == 1 else self.units}"

    def to_dict(self) -> dict[str, str | bool]:
        """Plain JSON-ready form."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`; what version 0.1 wrote does not count."""
        try:
            shown = {key: visible(value) for key, value in data.items() if key != "counts"}
            return cls(**shown, counts=bool(data.get("counts", False)))
        except (AttributeError, TypeError) as error:
            msg = f"Not a vocabulary, whose entries are texts: {error}."
            raise FileFormatError(msg) from error


_GRAPH_CAVEAT = (
    "This says what would change the classifier's answer, not what makes a graph belong to a class."
)
_BRAIN_CAVEAT = (
    "This says what would change the classifier's answer. It does not say what causes a condition, "
    "that such a change is possible, or that it would help anyone."
)
VOCABULARIES: dict[str, Vocabulary] = {
    v.name: v
    for v in (
        Vocabulary(
            name="brain",
            subject="Patient",
            whole="brain",
            inside="connections",
            across="connections",
            unit="connection",
            units="connections",
            caveat=_BRAIN_CAVEAT,
        ),
        Vocabulary(
            name="paper",
            subject="Patient",
            whole="brain",
            inside="activation",
            across="co-activation",
            less="less",
            mixed="redistributed",
            unit="link",
            units="links",
            caveat=_BRAIN_CAVEAT,
            counts=False,
        ),
        Vocabulary(
            name="connectome",
            subject="Subject",
            whole="brain",
            inside="connections",
            across="connections",
            within="within",
            unit="connection",
            units="connections",
            caveat=_BRAIN_CAVEAT,
        ),
        Vocabulary(
            name="network",
            inside="connections",
            across="connections",
            within="within",
            unit="connection",
            units="connections",
            caveat=_GRAPH_CAVEAT,
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
        Vocabulary(caveat=_GRAPH_CAVEAT),
    )
}
