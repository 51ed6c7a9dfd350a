"""Several answers as labelled choices, and their sentences.

Also the texts on how far a sentence holds, which pages and the command line share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from denseflip.report.strip_layout import Strip, make_strip
from denseflip.story.wording.marks import (
    RETRAINED,
    STABLE,
    is_stable,
    range_warning,
    retrained_words,
)

if TYPE_CHECKING:
    from denseflip.story.story import Story

LISTED = 40  # maximum length of a list on the page; the data contain all
_FRONT = (
    "Choose an answer",
    "The default answer, and those that no other answer found beats in places, in edits and in how "
    "generally they hold.",
)
_DIVERSE = (
    "Alternative answers in other places",
    "Each of them flips the classifier by itself. The main places of one are left unchanged by the "
    "others.",
)


@dataclass(frozen=True)
class Told:
    """A sentence on a page: complete, or a lead and a list.

    ``warning`` stands between them: that the change is out of range, or no difference between the
    groups.
    """

    lead: str
    items: tuple[str, ...] = ()
    warning: str = ""


@dataclass(frozen=True)
class Held:
    """The stability of an answer among others.

    Attributes
    ----------
    text : ``same answer after retraining: 7 of 20``; empty if it was not tested.
    few : whether these are less than half, which is a warning.
    meaning : what was counted.
    """

    text: str
    few: bool
    meaning: str


@dataclass(frozen=True)
class Answer:
    """One of several answers.

    Attributes
    ----------
    identity : its anchor in the page.
    label : what sets it apart, in a few words: ``1 place, default``, ``3 places, most stable``.
    edits, named : its size, and what it names, in a few words.
    held : its stability.
    read : how far it holds, in a sentence.
    sentence : its sentence.
    strip : what real graphs have in its places.
    current : whether it is the answer that the page explains.
    """

    identity: str
    label: str
    named: str
    edits: str
    held: Held
    read: str
    sentence: Told
    strip: Strip | None
    current: bool


@dataclass(frozen=True)
class Front:
    """Several answers, fewest places first, and what they are."""

    title: str
    lead: str
    answers: tuple[Answer, ...]


def make_front(stories: Sequence[Story], current: Story) -> Front | None:
    """Several answers as choices; None if there are fewer than two.

    Parameters
    ----------
    stories : one story for each answer.
    current : the story that the page explains; the answer with the same edits is marked.
    """
    if len(stories) < 2:
        return None
    title, lead = _DIVERSE if current.result.diverse else _FRONT
    answers = (
        Answer(
            identity=f"answer-{i}",
            label=label,
            named=named_words(story),
            edits=edits_words(story),
            held=held_of(story),
            read=beside(story)[0],
            sentence=told(story),
            strip=make_strip(story),
            current=story.result.edits == current.result.edits,
        )
        for i, (story, label) in enumerate(
            zip(stories, answer_labels(stories, current), strict=True), 1
        )
    )
    return Front(title, lead, tuple(answers))


def answer_labels(stories: Sequence[Story], current: Story) -> list[str]:
    """What each of several answers is: its places, and what it is best in.

    Parameters
    ----------
    stories : the answers.
    current : the answer that is given without a choice; on a front it is called the default.

    Notes
    -----
    An answer is called the most stable only if it is stable, and the stability of at least two is
    known and differs.
    """
    held = [_held(story) for story in stories]
    known = {share for share in held if share is not None}
    edits = [story.result.distance for story in stories]
    labels = []
    for story, share in zip(stories, held, strict=True):
        n = len(story.claim.amounts)
        is_default = not current.result.diverse and story.result.edits == current.result.edits
        fewest = story.result.distance == min(edits) and edits.count(min(edits)) == 1
        stable = len(known) > 1 and share == max(known) and share >= STABLE
        words = {
            "default": is_default,
            "fewest edits": fewest and not current.result.diverse,
            "most stable": stable,
        }
        count = f"{n:,} place{'' if n == 1 else 's'}"
        labels.append(", ".join([count, *(word for word, is_so in words.items() if is_so)]))
    return [
        label if labels.count(label) == 1 else f"{label} ({labels[: i + 1].count(label)})"
        for i, label in enumerate(labels)
    ]


def _held(story: Story) -> float | None:
    """The share of retrained classifiers for which the sentence holds; None if not tested."""
    seen = story.stability
    return seen.holds / seen.agreeing if seen is not None and seen.agreeing else None


def held_of(story: Story) -> Held:
    """The stability of an answer, by the same rule as its mark."""
    seen, meaning = story.stability, retrained_words(story)
    if seen is None or not meaning:
        return Held("", few=False, meaning="")
    text = f"{RETRAINED}: {seen.holds:,} of {seen.agreeing:,}"
    return Held(text, few=is_stable(story) is False, meaning=meaning)


# ---- words ----------------------------------------------------------------------------------


def told(story: Story, most: int = LISTED) -> Told:
    """The sentence of a story; a lead and a list if it is long, the list cut if very long."""
    items = story.items
    if len(items) > most + 1:  # never leave out just one
        items = (*items[:most], f"… and {len(items) - most:,} more")
    return Told(story.lead, items, warning_of(story))


def warning_of(story: Story) -> str:
    """What the change is not: a graph that exists, or a difference between the groups."""
    return range_warning(story) or story.doubt


def language_words(story: Story) -> str:
    """What the sentence names: ``in terms of regions (lobe, 7)``, ``in terms of nodes`` …

    Empty if nothing was found.
    """
    if not story.result.found:
        return ""
    if story.language == "regions" and story.taxonomy is not None:
        n = len(story.taxonomy.regions)
        return f"in terms of regions ({story.taxonomy.name}, {n})"
    return f"in terms of {'nodes' if story.language == 'nodes' else 'node pairs'}"


def named_words(story: Story) -> str:
    """The number of places that the sentence names, in words."""
    n = len(story.claim.amounts)
    first, _, rest = story.sentences.noun.partition(" of ")
    noun = f"{first}{'' if n == 1 else 's'}" + (f" of {rest}" if rest else "")
    return f"{'one' if n == 1 else f'{n:,}'} {noun}"


def edits_words(story: Story) -> str:
    """The number of edits, in words."""
    n = story.result.distance
    return f"{n:,} edit{'' if n == 1 else 's'}"


def truth_words(story: Story) -> str:
    """How far the sentence holds as read, in a few words."""
    test = story.as_read
    if story.language == "pairs" and story.verified:
        return "every connection is named"
    if test is None or not test.draws:
        return f"not tested on other {story.vocabulary.units}"
    what = f"holds for {_meant(test.reading, story) if test.true else 'those listed only'}"
    stable = ""
    if story.stability is not None and story.stability.agreeing:
        seen = story.stability
        stable = f"; {seen.holds} of {seen.agreeing} retrained classifiers agree"
    if test.only:
        return f"{what}: there is no other choice of the same size{stable}"
    return f"{what}: {test.flips} of {test.draws} random choices flip the answer{stable}"


def beside(story: Story) -> tuple[str, tuple[str, ...]]:
    """The line below a sentence: how far it holds, with its interval; and the other footnotes."""
    read = story.sentences.read or ""
    return read, tuple(note for note in story.footnotes if note != read)


def read_cell(story: Story) -> str:
    """The same for a table cell: ``yes, 20 of 20``."""
    test = story.as_read
    if not story.result.found or test is None:
        return "–"
    if not test.draws:
        return "pair by pair"
    what = {"any": "", "typical": " (typical)", "distinctive": " (distinctive)"}[test.reading]
    said = f"yes{what}" if test.true else "no"
    return f"{said}, no other choice" if test.only else f"{said}, {test.flips} of {test.draws}"


def _meant(reading: str, story: Story) -> str:
    after = story.class_name(story.claim.label)
    before = story.class_name(story.result.label_before)
    units = story.vocabulary.units
    return {
        "any": f"any {units} there",
        "typical": f"{units} typical of {after}",
        "distinctive": f"{units} that {after} has more often than {before}",
    }[reading]
