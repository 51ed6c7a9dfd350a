"""The line of trust below a sentence: four marks, each with its figure and what it means.

The first words of a mark are for readers who do not know the terms. The footnotes and the docs use
the terms: *true as read*, *in range*, *stable*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from denseflip.story.wording.badge import accuracy_words, interval_words, judged_better
from denseflip.story.wording.difference import doubt_reason
from denseflip.story.wording.notes import differing_words

if TYPE_CHECKING:
    from denseflip.story.story import Story

#: The heading of a column that says whether sentences are true as read.
HOLDS = "holds with other connections"
#: What is compared between classifiers.
RETRAINED = "same answer after retraining"
#: The mark of a sentence that was not tested on refits.
UNTESTED = "after retraining: not tested"
STABLE = 0.8  # share of retrained classifiers from which a sentence is called stable


class Mark(NamedTuple):
    """A reason to trust a sentence, or not.

    Attributes
    ----------
    passed : whether it is a reason to trust the sentence; None if that is not known.
    text : the mark and its figure, separated by a colon.
    meaning : what it means for the reader.
    """

    passed: bool | None
    text: str
    meaning: str = ""


def marks_of_story(story: Story) -> tuple[Mark, ...]:
    """The marks of a counterfactual: the classifier, truth as read, the range, and stability."""
    found = (classifier_mark(story), read_mark(story), range_mark(story), stability_mark(story))
    return tuple(mark for mark in found if mark.text)


def classifier_mark(story: Story) -> Mark:
    """Whether the classifier is better than chance, and its accuracy on held-out graphs."""
    better, members = judged_better(story.evaluation), story.vocabulary.members
    right, interval = accuracy_words(story.evaluation, members), interval_words(story.evaluation)
    figure = f": {right}" if right else ""
    if better:
        meant = f"It was tested on {members} that it was not trained on{interval}."
        return Mark(True, f"classifier better than chance{figure}", meant)
    if better is False:  # the badge says why
        return Mark(False, f"{story.badge.text}{figure}", "Do not rely on its explanations.")
    meant = "Evaluate the classifier before you rely on its explanations."
    if story.evaluation is None:
        return Mark(None, "classifier: not evaluated", meant)
    return Mark(None, f"classifier: evaluated on {members} it may have seen", meant)


def read_mark(story: Story) -> Mark:
    """Whether the sentence is true as read, and in how many redraws."""
    test, units = story.as_read, story.vocabulary.units
    if not story.verified:
        return Mark(None, "sentence: not tested", f"Other {units} were not tried.")
    exact = f"It is about exactly these {units}, not about their regions as a whole."
    if test is None or not test.draws:
        return Mark(False, f"holds for the listed {units}", exact)
    if test.only:
        return Mark(test.true, f"no other choice of {units}", f"There are no other such {units}.")
    tries = f"{test.flips:,} of {test.draws:,} random choices"
    if not test.true:
        return Mark(False, f"it matters which {units}: {tries}", exact)
    meant = f"Other {units} of the same places change the answer too (true as read)."
    return Mark(True, f"holds with other {units} there: {tries}", meant)


def range_mark(story: Story) -> Mark:
    """Whether the named places end in range, with the figure; no text if that does not apply."""
    if not story.result.found or story.language == "pairs":
        return Mark(None, "")
    words = story.vocabulary
    if story.in_range is None:
        n = len(story.reference[0].group) if story.reference else 0
        text = f"range not known: {n} reference graph{'' if n == 1 else 's'}"
        return Mark(None, text, "There are too few graphs to compare it with.")
    what, figure = _range_figure(story)
    if said := story.doubt:
        return Mark(False, f"{what}in range, but {doubt_reason(story.reference)}: {figure}", said)
    if story.in_range:
        meant = f"Real {words.members} of the other class have such numbers there."
        return Mark(True, f"{what}in the range of real {words.members}: {figure}", meant)
    text = f"{what}out of the range of real {words.members}: {figure}"
    return Mark(False, text, range_warning(story))


def range_warning(story: Story) -> str:
    """What it means that a change is out of range; empty if it is in range or that is not known."""
    if not story.result.found or story.language == "pairs" or story.in_range is not False:
        return ""
    words = story.vocabulary
    return (
        f"Out of the range of real {words.members}: it shows what the classifier reacts to, not a "
        f"{words.thing} that exists."
    )


def _range_figure(story: Story) -> tuple[str, str]:
    """What the range mark is about, ending with a space, and the numbers behind it."""
    places, units = story.reference, story.vocabulary.units
    n = len(places) if story.in_range else sum(place.is_out for place in places)
    if not n:
        return "", f"number of {units} in all"
    if len(places) > 1:
        at_limit = sum(place.is_at_limit for place in places) if story.in_range else 0
        limit = f", {at_limit} at the limit" if at_limit else ""
        return "named places ", f"{n} of {len(places)}{limit}"
    return "named place ", _one_figure(story)


def _one_figure(story: Story) -> str:
    """The numbers behind the range mark of a sentence that names one place."""
    one, units = story.reference[0], story.vocabulary.units
    assert one.low is not None
    assert one.high is not None
    interval = f"{one.low:,}–{one.high:,}"
    inside = one.low <= one.after <= one.high
    if story.in_range:
        how = "at the limit of" if one.is_at_limit else "within" if inside else "towards"
        return f"{one.after:,} {how} {interval}"
    if inside and one.exceeds and "difference" not in one.exceeds:
        return f"more of the {units} meant than they have"
    return "changed by more than they differ" if inside else f"{one.after:,} outside {interval}"


def stability_mark(story: Story) -> Mark:
    """For how many classifiers trained again the sentence holds, and how often that is."""
    seen, members = story.stability, story.vocabulary.members
    if seen is None or not seen.agreeing:
        meant = f"A classifier trained on other {members} may decide for other reasons."
        return Mark(None, UNTESTED, meant)
    text = f"{RETRAINED}: {seen.holds:,} of {seen.agreeing:,} classifiers"
    meant, passed = retrained_words(story), is_stable(story)
    if passed:
        return Mark(True, text, f"{meant} This sentence is stable.")
    if passed is None:
        return Mark(None, text, meant)
    differing = differing_words(story.reference)
    follows = "it explains this one classifier. Do not read it as a difference between the groups."
    follows = differing or follows
    return Mark(False, text, f"{meant} {follows[0].upper()}{follows[1:]}")


def is_stable(story: Story) -> bool | None:
    """Whether the sentence holds for retrained classifiers: True if stable, False if for few.

    None between the two, and if it was not tested.
    """
    seen = story.stability
    if seen is None or not seen.agreeing:
        return None
    if seen.holds >= STABLE * seen.agreeing:
        return True
    return False if 2 * seen.holds < seen.agreeing else None


def retrained_words(story: Story) -> str:
    """What is counted for stability; empty if that was not tested."""
    seen = story.stability
    if seen is None or not seen.agreeing:
        return ""
    return (
        f"Counts the classifiers, trained again on resampled {story.vocabulary.members}, for which "
        "the same sentence still changes the answer."
    )
