"""How far to trust a story: its badge, and why not to interpret a classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from denseflip.counterfactual import AsRead
from denseflip.serialise import Serialisable

if TYPE_CHECKING:
    from denseflip.story.verification import Verification

Level = Literal["none", "listed", "true"]
TRUE = "true as read"


@dataclass(frozen=True)
class Badge(Serialisable, named="a badge"):
    """How far to trust a story, by its weakest link.

    Attributes
    ----------
    level : ``"true"``: the sentence is true as read and in range, the classifier better than
        chance, and nothing is known that makes the sentence no difference between the groups;
        ``"listed"``: it holds at least for the connections listed; ``"none"``: no badge.
    text : the reason, in a few words.
    """

    level: Level
    text: str

    def __str__(self) -> str:
        return self.text


def judged_better(evaluation: Any) -> bool | None:
    """Whether an evaluation finds the classifier better than chance; None if unknown.

    It is unknown without an evaluation, or with one on possible training graphs.
    """
    if evaluation is None or known(evaluation, "level") == "seen":
        return None
    better = known(evaluation, "better_than_chance")
    return known(evaluation, "level") == "better" if better is None else bool(better)


def accuracy_words(evaluation: Any, members: str) -> str:
    """The accuracy with its number of graphs: ``15 of 16 unseen mice right``; empty if unknown.

    It is a share if each graph was classified more than once: ``94 % of 16 unseen mice right``.
    """
    share = known(evaluation, "accuracy")
    if share is None:
        return ""
    seen = known(evaluation, "protocol") == "as given"
    which = f"{members} right" if seen else f"unseen {members} right"
    n = sum((known(evaluation, "class_counts") or {}).values())
    if n and known(evaluation, "repeats") == 1:
        return f"{share * n:.0f} of {n:,} {which}"
    return f"{100 * share:.0f} % of {f'{n:,} ' if n else ''}{which}"


def interval_words(evaluation: Any) -> str:
    """The 95 % interval of the accuracy in brackets, with a space before; empty if unknown."""
    low, high = known(evaluation, "interval") or (None, None)
    if low is None or high is None:
        return ""
    return f" (95 % interval of its accuracy: {100 * low:.0f} to {100 * high:.0f} %)"


def distrust_words(evaluation: Any) -> str | None:
    """Why not to interpret the explanations of a classifier; None if it is better than chance.

    Also None if that is not known.
    """
    if judged_better(evaluation) is not False:
        return None
    right = accuracy_words(evaluation, "graphs")
    figure = f" ({right})" if right else ""
    if known(evaluation, "plain_level") == "better":
        return (
            f"This classifier does not beat its confounds{figure}: its explanations may describe "
            "them instead of the classes."
        )
    if known(evaluation, "level") == "unclear":
        return (
            f"This classifier is not clearly better than guessing{figure}: treat its explanations "
            "as hypotheses."
        )
    return (
        f"This classifier is no better than guessing{figure}: its explanations show how it "
        "decides, not how the groups differ."
    )


def badge_of(
    check: Verification,
    as_read: AsRead | None,
    evaluation: Any,
    in_range: bool | None = None,
    doubt: str = "",
) -> Badge:
    """The weakest of the classifier, the tests of the sentence and the range of real graphs.

    ``doubt`` says why a sentence in range is no difference between the groups (`doubt_reason`).
    """
    better = judged_better(evaluation)
    if not check.claim.amounts:
        return Badge("none", "nothing found")
    if better is False:
        if known(evaluation, "plain_level") == "better":  # then the confounds are the reason
            return Badge("none", "the classifier does not beat its confounds")
        level = known(evaluation, "level")
        how = "not clearly better than chance" if level == "unclear" else "at chance"
        return Badge("none", f"the classifier is {how}")
    if not check.verified:
        return Badge("none", "not tested")
    true = as_read is not None and as_read.true
    pairs = check.claim.language == "pairs"
    what = TRUE if true and not pairs else "holds for the listed connections"
    if true and not pairs:
        ranges = {True: "in range", False: "out of range", None: "range not known"}
        what = f"{what}, {ranges[in_range]}"
        if in_range and doubt:
            what = f"{what}, but {doubt}"
    if better is None:
        judged = "not evaluated" if evaluation is None else "evaluated on graphs it may have seen"
        return Badge("none", f"{what}; classifier {judged}")
    return Badge("true" if true and in_range and not doubt else "listed", what)


def known(thing: Any, name: str) -> Any:
    """A field of an evaluation or of its dictionary; None if missing."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
