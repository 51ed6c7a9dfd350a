"""`Sides`: how often the two classes of an explanation join each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from denseflip.counterfactual import Counterfactual, Label, Target, is_wanted
from denseflip.graph import Graph
from denseflip.oracles.background import Background, Frequencies
from denseflip.oracles.base_session import BaseSession


@dataclass(frozen=True)
class Sides:
    """How often each pair is joined in the original's class, and in the target class."""

    current: Frequencies
    target: Frequencies

    @classmethod
    def of(
        cls,
        result: Counterfactual,
        background: Sequence[tuple[Graph, Label]],
        target: Label | None = None,
    ) -> Sides:
        """Split by the classifier's labels; the target is the label that a claim leads to."""
        wanted = result.label_after if target is None else target
        same = [graph for graph, label in background if label == result.label_before]
        other = [graph for graph, label in background if label == wanted]
        return cls(Frequencies.of(same), Frequencies.of(other))

    @classmethod
    def of_background(
        cls, background: Background, session: BaseSession, before: Label, target: Target
    ) -> Sides:
        """Split a background by the classifier's labels; the counts are cached with it."""
        labels = list(enumerate(background.labels(session)))
        same = [i for i, label in labels if label == before]
        other = [i for i, label in labels if is_wanted(label, before, target)]
        return cls(background.frequencies(same), background.frequencies(other))
