"""`Case`: one explanation with everything its measures need; shared values are computed once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

from denseflip.as_read import READINGS
from denseflip.constraints import Constraints
from denseflip.counterfactual import AsRead, Counterfactual, Label, Reading
from denseflip.graph import Graph, Nodes, Taxonomy
from denseflip.metrics import quality
from denseflip.oracles.background import Background
from denseflip.oracles.session import Session
from denseflip.search.claims import redraw as truth
from denseflip.search.claims.claim import Claim
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import DRAWS
from denseflip.search.claims.reference import CLEAR, Limits, PlaceReference, Reference, judge_claim
from denseflip.search.claims.sides import Sides
from denseflip.search.constraints.constrained_session import known_constraints_of

NEEDS = {  # need → the field of a `Case` that provides it
    "regions": "regions",
    "background": "background",
    "oracle": "session",
    "seeds": "seeds",
    "story": "story",
    "planted": "planted",
}


class Told(Protocol):
    """Anything that holds a sentence, such as a `Story`."""

    @property
    def statement(self) -> str:
        """The sentence."""
        ...


@dataclass(frozen=True)
class Planted:
    """The known answer of a synthetic data set: two regions (or one twice) of a taxonomy."""

    taxonomy: str
    regions: tuple[str, str]


@dataclass(frozen=True)
class Case:
    """One explanation and the inputs of its measures.

    Attributes
    ----------
    result : the explanation, found or not.
    regions : the regions of the nodes.
    background : the real graphs, each with the classifier's label.
    true_labels : the true labels of these graphs, if the result is compared with true classes.
    session : the session with the classifier that was explained.
    seeds : explanations of the same graph with other seeds, including this one.
    robustness : perturbations per level of `robustness`; 0 for none.
    minimality : whether to test every single edit with a query; otherwise ``minimal`` is what the
        search has certified.
    statement : whether to test the sentence.
    draws : number of redraws for the tests of truth as read; 0 for none.
    nodes : the node table, for results that name other regions than ``regions``.
    story : the story of the result, for the length of the sentence.
    planted : the two regions in which the classes differ by construction.
    constraints : the constraints of the search, if they have a mask or a predicate.
    """

    result: Counterfactual
    regions: Taxonomy | None = None
    background: Sequence[tuple[Graph, Label]] | None = None
    true_labels: Sequence[Label] | None = None
    session: Session | None = None
    seeds: Sequence[Counterfactual] | None = None
    robustness: int = 10
    minimality: bool = False
    statement: bool = True
    draws: int = DRAWS
    nodes: Nodes | None = None
    story: Told | None = None
    planted: Planted | None = None
    constraints: Constraints | Mapping[str, Any] | None = None

    def missing(self, needs: Iterable[str]) -> list[str]:
        """The needs that this case does not meet."""
        return [need for need in sorted(needs) if getattr(self, NEEDS[need]) is None]

    @cached_property
    def sentence(self) -> quality.SentenceTest | None:
        """The test of the sentence, run once for all measures that use it."""
        if not self.statement or self.regions is None or self.session is None:
            return None
        return quality.verify_cells(
            self.result,
            self.regions,
            self.session,
            **self._terms,
        )

    @cached_property
    def claim(self) -> Claim | None:
        """What the shortest sentence claims; None if nothing was found or `statement` is False."""
        if not (self.statement and self.result.found and self.session is not None):
            return None
        return truth.claim_of(
            self.result,
            self.session,
            self.regions,
            **self._terms,
        )

    @property
    def _terms(self) -> dict[str, Any]:
        """The constraints of the search, and the nodes and graphs that they may refer to."""
        graphs = None
        if self.background is not None and self.result.constraints:
            graphs = Background.of([graph for graph, _ in self.background])
        return {"nodes": self.nodes, "background": graphs, "constraints": self.constraints}

    @cached_property
    def _readings(self) -> dict[Reading, AsRead | None]:
        return {}

    @cached_property
    def _sides(self) -> Sides | None:
        if self.background is None or self.claim is None:
            return None
        return Sides.of(self.result, self.background, self.claim.label)

    def as_read(self, reading: Reading | None = None) -> AsRead | None:
        """The redraw test of the sentence in a reading, by default its own; each runs once."""
        claim = self.claim
        if claim is None or not self.draws:
            return None
        reading = reading or self.own_reading
        if (reading != "any" or claim.balanced) and self._sides is None:
            return None
        if reading not in self._readings:
            self._readings[reading] = self._redrawn(replace(claim, reading=reading))
        return self._readings[reading]

    def _redrawn(self, claim: Claim) -> AsRead | None:
        assert self.session is not None
        return truth.redraw(
            self.result,
            claim,
            self.session,
            sides=self._sides,
            draws=self.draws,
            seed=self.result.seed,
            **self._terms,
        )

    @property
    def own_reading(self) -> Reading:
        """The reading that the result claims, else ``any``."""
        stated = self.result.as_read
        return "any" if stated is None else stated.reading

    @cached_property
    def true_reading(self) -> Reading | None:
        """The reading in which the sentence is true: its own, or the first that holds; or None.

        If the result claims no reading, all are tried, the least specific first. A list of pairs is
        always true as read.
        """
        if self.claim is None or not self.draws:
            return None
        if self.claim.language == "pairs":
            return "any"
        tried = READINGS if self.result.as_read is None else (self.own_reading,)
        tests = ((reading, self.as_read(reading)) for reading in tried)
        return next((reading for reading, test in tests if test is not None and test.true), None)

    # ---- in range -------------------------------------------------------------------------

    @cached_property
    def _limits(self) -> tuple[Claim, Limits] | None:
        """The claim in the reading in which it is true, and what keeps it in range."""
        if self.claim is None or self.claim.language == "pairs" or self._sides is None:
            return None
        claim = replace(self.claim, reading=self.true_reading or self.own_reading)
        same, group = (self._labelled(label) for label in (self.result.label_before, claim.label))
        if not group:
            return None
        bound = known_constraints_of(self.result, **self._terms)
        redraw = truth.redraw_of(self.result, claim, self._sides, bound)
        return claim, Limits(Reference(redraw.places, same, group), redraw)

    def _labelled(self, label: Label | None) -> list[Graph]:
        known = self.background or ()
        labels = self.true_labels or [given for _, given in known]
        return [graph for (graph, _), given in zip(known, labels, strict=True) if given == label]

    @cached_property
    def reference(self) -> tuple[PlaceReference, ...]:
        """What real graphs have in each place of the sentence; empty for a list of pairs."""
        if self._limits is None:
            return ()
        claim, limits = self._limits
        return judge_claim(claim, limits.reference, limits.redraw)

    @cached_property
    def towards(self) -> tuple[bool, ...]:
        """Whether each place in which the classes clearly differ moves to the group's median."""
        if self._limits is None:
            return ()
        claim, limits = self._limits
        after = self.result.counterfactual
        return tuple(
            limits.nearer(amount, after)
            for amount, there in zip(claim.amounts, self.reference, strict=True)
            if there.effect is not None and abs(there.effect) >= CLEAR
        )

    @cached_property
    def level(self) -> AsRead | None:
        """The redraw test of the sentence at the level that is usual for the target class.

        The amounts are those that bring each place to the median of the group. If there is nothing
        to change, no redraw flips.
        """
        if self._limits is None or not self.draws:
            return None
        claim, limits = self._limits
        amounts = limits.at_median(claim.amounts)
        if not amounts:
            regions = None if claim.regions is None else claim.regions.name
            return AsRead(claim.language, regions, claim.reading, self.draws, 0)
        return self._redrawn(replace(claim, amounts=amounts))

    @cached_property
    def cells_in_range(self) -> float | None:
        """Share of all cells of the counterfactual in which it has what one more real graph has."""
        reference = Reference(
            Places(self.result.counterfactual, self.regions),
            (),
            self._labelled(self.result.label_after),
        )
        return reference.share_in_range if reference.is_known else None
