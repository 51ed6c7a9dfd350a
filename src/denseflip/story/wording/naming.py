"""How a sentence writes the names of regions and nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from denseflip.graph import Taxonomy
from denseflip.graph.readable_names import NODE_PREFIX, SIDES, readable

_UNSAFE = re.compile(r"[,;:()“”\n\r\t]| and |^\s|\s$|^$")
_RESERVED = {"in", "within", "between", "at", "of", "each", "and", "then", "the"}
# A single word takes an article if it is a noun such as these; "Frontal" or "Visual" takes none.
_NOUN = re.compile(
    r"(?:lobes?|lobules?|gyrus|gyri|sulcus|sulci|cortex|cortices|fossa|insula|structures?|areas?|"
    r"regions?|networks?|systems?|poles?|tracts?|matter|hemispheres?|midline|brain|stem|cerebrum|"
    r"cerebellum|vermis|thalamus|prethalamus|amygdala|hippocampus|hippocampi|striatum|pallium|"
    r"pallidum|encephalon|putamen|caudate|nucleus|nuclei|ganglia|cuneus|pons|medulla|tectum|"
    r"pretectum|tegmentum|septum|isthmus|cingulum|operculum)$",
    re.IGNORECASE,
)


def with_article(name: str) -> str:
    """The name as written in a sentence.

    >>> with_article("Frontal Lobe"), with_article("Insula & Cingulate Gyri"), with_article("V1")
    ('the Frontal Lobe', 'the Insula & Cingulate Gyri', 'V1')
    >>> with_article("Frontal"), with_article("left Frontal"), with_article("left isocortex")
    ('Frontal', 'the left Frontal', 'the left isocortex')
    """
    first = name.split(" ")[0]
    if name.startswith(NODE_PREFIX) or (first.lower() == "the" and " " in name):
        return name
    if first.lower() in _RESERVED:
        return f"the {name}"
    sided = " " in name and first.lower() in SIDES.values()
    code = len(name) == 1 or any(c.isdigit() for c in name)
    bare = " " not in name and not (name.isalpha() and _NOUN.search(name))
    return f"the {name}" if sided or not (code or bare) else name


def written(taxonomy: Taxonomy, phrases: Iterable[str] = ()) -> tuple[str, ...]:
    """Every region as a sentence writes it, each different and unambiguous.

    Ambiguous names (with a comma, an "and" or a phrase of the sentence, or similar to another
    region) are put in quotation marks.
    """
    names = readable(taxonomy)
    texts = [with_article(name) for name in names]
    often = Counter(texts)
    own = [p.strip() for p in phrases if p.strip()]
    return tuple(
        "“" + name.replace("”", "””") + "”"
        if _UNSAFE.search(name) or often[text] > 1 or any(p in name for p in own)
        else text
        for name, text in zip(names, texts, strict=True)
    )


_PERSONS = ("control", "patient", "subject", "case", "participant", "volunteer", "individual")
_PLURALS = frozenset(
    {
        *(f"{person}s" for person in _PERSONS),
        *("people", "persons", "children", "adults", "men", "women", "mice", "graphs", "molecules"),
    }
)


def members_of(name: str, members: str) -> str:
    """The members of a class; a class whose name is a noun for people needs no other noun.

    >>> members_of("B6", "mice"), members_of("Typically developing controls", "subjects")
    ('B6 mice', 'Typically developing controls')
    >>> members_of("patient", "subjects"), members_of("control", "mice")
    ('patients', 'control mice')
    """
    last = name.split()[-1].lower() if name.split() else ""
    if last in _PERSONS and members.removesuffix("s") in _PERSONS:
        return f"{name}s"
    return name if last in _PLURALS or last == members else f"{name} {members}"


def join_words(items: Sequence[str], *, comma: bool = False) -> str:
    """``a``; ``a and b``; ``a, b and c``, or ``a, b, and c`` with a comma."""
    if len(items) < 2:
        return "".join(items)
    last = ", and " if comma else " and "
    return ", ".join(items[:-1]) + last + items[-1]
