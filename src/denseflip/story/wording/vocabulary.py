"""`Vocabulary`: the words of a domain, for sentences about brains or plain graphs."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from denseflip.datasets.atlas import load_aal, load_mouse_atlas
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.graph import Nodes
from denseflip.graph.nodes import TYPE
from denseflip.serialise import Serialisable

_FORBIDDEN = ("“", "”", "(", ")", ",", "\n")
# Ids that get a noun ("Subject 9"): a number, a letter, or an id of the paper's clinical data sets.
_NEEDS_A_NOUN = re.compile(r"#?\d+|[A-Z]|(?:aut|bip|adhdm?|ohsu|pek|kki)-\d+")
_SYMBOLS = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba W Re Os Ir Pt Au Hg Tl Pb Bi"
)
_ELEMENTS = frozenset(_SYMBOLS.split())
_THINGS = {"brain", "connectome", "graph", "molecule", "mouse", "network", "patient", "subject"}


@dataclass(frozen=True)
class Vocabulary(Serialisable, named="a vocabulary", closed=True):
    """The words of a domain.

    Attributes
    ----------
    name : name of the vocabulary.
    subject : noun for the owner of a graph: ``Subject``, ``Mouse``, ``Graph``. It does not say
        whether the owner is ill.
    members : several owners of one class, after its name: ``B6 mice``, ``Bipolar subjects``.
    whole : the part of the subject that the graph shows (``brain``); empty if the subject is the
        graph.
    inside : what there is less or more of inside one region.
    across : what there is less or more of between regions.
    within : the word between ``inside`` and the region: ``in`` or ``within``.
    less, more : the two directions: ``less`` or ``fewer``, ``more``.
    balance : the words before ``less`` or ``more`` if edges are both added and removed.
    mixed : the words before ``inside`` or ``across`` if as many edges are added as removed.
    unit, units : one changed edge, and several.
    verb : the words before a class: ``classified as``.
    caveat : the limits of an explanation of this kind.
    counts : whether a sentence gives the numbers of edges; ``inside`` and ``across`` are then
        plural nouns. The paper's sentences do not: they say ``less activation``.
    compound : whether edges between two types of nodes are named as ``C–N bonds``; if not, as
        ``edges between C and N nodes``.

    Examples
    --------
    >>> words = Vocabulary.named("paper")
    >>> words.less, words.inside, words.across
    ('less', 'activation', 'co-activation')
    """

    name: str = "graph"
    subject: str = "Graph"
    members: str = "graphs"
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
    compound: bool = False

    def __post_init__(self) -> None:
        problems = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("counts", "compound"):
                if not isinstance(value, bool):
                    problems.append(f"{field.name} must be True or False; got {value!r}.")
            elif not isinstance(value, str) or (not value.strip() and field.name != "whole"):
                problems.append(f"{field.name} must be a non-empty text; got {value!r}.")
            elif field.name not in ("name", "caveat") and any(x in value for x in _FORBIDDEN):
                problems.append(
                    f"{field.name} must not contain commas, quotation marks or brackets; got "
                    f"{value!r}."
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
            raise UnknownNameError("vocabulary", name, VOCABULARIES, parameter="vocabulary")
        return VOCABULARIES[name]

    @classmethod
    def of(cls, wanted: str | Vocabulary, nodes: Nodes) -> Vocabulary:
        """The requested vocabulary; ``"auto"`` is that of the node table."""
        if isinstance(wanted, Vocabulary):
            return wanted
        return cls.for_nodes(nodes) if wanted == "auto" else cls.named(wanted)

    @classmethod
    def for_nodes(cls, nodes: Nodes) -> Vocabulary:
        """The vocabulary for a node table.

        It is ``brain`` for the areas of the AAL-116 atlas and ``mouse`` for those of the mouse
        atlas. Otherwise the owner is unknown: coordinates give the connections of a brain, regions
        the connections of a network, and anything else a plain graph. Graphs with node types are
        molecules if all types are chemical elements.
        """
        if nodes.taxonomies == (TYPE,):
            return VOCABULARIES["molecule" if set(nodes.regions[TYPE]) <= _ELEMENTS else "graph"]
        names = set(nodes.names)
        if names == set(load_aal().names):
            return VOCABULARIES["brain"]
        if names == set(load_mouse_atlas().names):
            return VOCABULARIES["mouse"]
        if nodes.coordinates:
            return VOCABULARIES["connectome"]
        return VOCABULARIES["network" if nodes.regions else "graph"]

    def called(self, subject: str | int | None) -> str:
        """The owner of a graph, as at the start of a sentence.

        A number gets the noun in front; an id such as ``control-03`` does not, because it
        names its owner already. Every id of the mouse atlas gets it, and so does every id if the
        noun is custom.

        >>> words = Vocabulary.named("brain")
        >>> words.called(9), words.called("bip-009"), words.called("control-03"), words.called(None)
        ('Subject 9', 'Subject bip-009', 'control-03', 'This subject')
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
        """The subject of "had": "Subject 9's brain"."""
        said = rf"(?<![^\W\d_]){re.escape(self.whole)}(?![^\W\d_])"
        if not self.whole or re.search(said, subject, re.IGNORECASE):
            return subject  # never "Anna's brain's brain"
        return f"{subject}'s {self.whole}"

    @property
    def rest(self) -> str:
        """Everything outside the places that a sentence names: ``elsewhere in the brain``."""
        return f"elsewhere in the {self.thing}"

    @property
    def thing(self) -> str:
        """What a graph shows: ``brain``, ``molecule``, ``graph``."""
        return self.whole or self.subject.lower()

    def count(self, n: int) -> str:
        """``1 edge``, ``2 edges``."""
        return f"{n:,} {self.unit if n == 1 else self.units}"


_GRAPH_CAVEAT = (
    "This says what would change the classifier's answer, not what makes a graph belong to a class."
)
_BRAIN_CAVEAT = (
    "This says what would change the classifier's answer. It does not say what causes a condition, "
    "that such a change is possible, or that it would help anyone."
)
_NETWORK = Vocabulary(
    name="network",
    inside="connections",
    across="connections",
    within="within",
    unit="connection",
    units="connections",
    caveat=_GRAPH_CAVEAT,
)
_CONNECTOME = replace(
    _NETWORK,
    name="connectome",
    subject="Subject",
    members="subjects",
    whole="brain",
    caveat=_BRAIN_CAVEAT,
)
_BRAIN = replace(_CONNECTOME, name="brain", within="in")
_PAPER = replace(
    _BRAIN,
    name="paper",
    subject="Patient",
    inside="activation",
    across="co-activation",
    less="less",
    mixed="redistributed",
    unit="link",
    units="links",
    counts=False,
)
_MOLECULE = Vocabulary(
    name="molecule",
    subject="Molecule",
    members="molecules",
    inside="bonds",
    across="bonds",
    unit="bond",
    units="bonds",
    caveat=(
        "This says what would change the classifier's answer. It does not say that such a molecule "
        "is stable or can be made."
    ),
    compound=True,
)
_MOUSE = replace(_BRAIN, name="mouse", subject="Mouse", members="mice")
VOCABULARIES: dict[str, Vocabulary] = {
    words.name: words
    for words in (
        *(_BRAIN, _PAPER, _CONNECTOME, _NETWORK, _MOUSE, _MOLECULE),
        Vocabulary(caveat=_GRAPH_CAVEAT),
    )
}
