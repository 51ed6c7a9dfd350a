"""What a reader must know beside the sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from denseflip.counterfactual import Counterfactual
from denseflip.story.vocabulary import Vocabulary

REGIONS_HINT = (
    "No regions are known, so this speaks of nodes. To speak of regions, give a node table with a "
    "region column: --nodes nodes.csv (in Python nodes=Nodes.read_csv('nodes.csv'))."
)

LONG = 10  # region pairs in a sentence beyond which it is hard to read


def classifier_note(evaluation: Any) -> str | None:
    """What an evaluation says of the classifier; that there is none, if there is none.

    Parameters
    ----------
    evaluation : an `Evaluation`, its dictionary form, or anything with ``better_than_chance`` or
        ``level``, and ``verdict``.
    """
    if evaluation is None:
        return (
            "How well the classifier does on graphs it has not seen was not given: judge it first "
            "(denseflip evaluate); an explanation is worth no more than what it explains."
        )
    better = _get(evaluation, "better_than_chance")
    if better is None:
        better = _get(evaluation, "level") == "better"
    if better:
        return str(_get(evaluation, "verdict") or "") or None
    verdict = _get(evaluation, "verdict") or "The classifier is not better than chance."
    warning = _get(evaluation, "warning")
    return f"{verdict} {warning}" if warning else str(verdict)


def footnotes(
    result: Counterfactual,
    *,
    tested: str,
    rest: str | None,
    words: Vocabulary,
    evaluation: Any,
    has_regions: bool,
    n_named: int,
) -> tuple[str, ...]:
    """All footnotes, the most important first."""
    notes: list[str | None] = [classifier_note(evaluation)]
    if result.found:
        notes += [tested, rest]
        if result.minimal is True:
            notes.append(
                f"No single one of the counterfactual's {words.count(result.distance)} can be left "
                "as it was without losing the flip (certified one by one)."
            )
        elif result.minimal is False:
            notes.append("That no single change can be left out could not be certified.")
    notes.extend(result.notes)
    if not has_regions:
        notes.append(REGIONS_HINT)
    elif n_named > LONG:
        notes.append(
            f"That is a long list ({n_named} region pairs). Coarser regions (--regions; in Python "
            "taxonomy) or a refined result (a method with +min) make the sentence shorter."
        )
    notes.append(words.caveat)
    return tuple(note for note in notes if note)


def _get(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
