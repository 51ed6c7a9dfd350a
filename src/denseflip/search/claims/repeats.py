"""`Repeats`: a few redraws that all claims of a search share, to compare claims with each other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from denseflip.graph import Codes
from denseflip.search.claims.claim import Amounts, Place
from denseflip.search.claims.elsewhere import TooFewError
from denseflip.search.claims.forecast import is_ranked
from denseflip.search.claims.queue import Queue
from denseflip.search.claims.redraw import DRAWS, Redraw
from denseflip.search.core.probing import Probe, joined


class Repeats:
    """A few redraws that are shared by all claims tested, for selection during a search.

    The redraws of a claim contain those of smaller claims, so claims are compared without random
    differences between draws. Selection on these redraws is biased upwards; a claim is therefore
    verified on fresh redraws (`Redraw.test`).

    Parameters
    ----------
    redraw : draws the pairs.
    rng : the generator; each queue is drawn when it is first needed.
    draws : the number of redraws.
    misses : how many of them may fail.
    """

    def __init__(
        self, redraw: Redraw, rng: np.random.Generator, *, draws: int = DRAWS, misses: int = 1
    ) -> None:
        self.redraw = redraw
        self.misses = misses
        self._rng = rng
        self._queues: list[dict[tuple[Place, bool], Queue]] = [{} for _ in range(draws)]
        self._elsewhere: list[dict[bool, Queue]] = [{} for _ in range(draws)]
        self._failed = [0] * draws
        self._held: dict[Amounts, bool] = {}

    def codes(self, amounts: Amounts, which: int = 0) -> Codes:
        """Codes of the pairs of one redraw."""
        queues, redraw = self._queues[which], self.redraw
        shares = redraw.may_share(amounts)
        parts: list[Codes] = []
        for place, added, removed in amounts:
            for adding, wanted in ((True, added), (False, removed)):
                if not wanted:
                    continue
                queue = queues.get((place, adding))
                if queue is None:
                    queue = queues[place, adding] = redraw.queue(place, self._rng, adding=adding)
                keep = redraw.unshared(place, amounts, parts) if shares else None
                codes = queue.take(wanted, keep)
                if wanted > len(codes):
                    raise TooFewError(place, wanted, len(codes), adding=adding)
                parts.append(codes)
        elsewhere = redraw.elsewhere
        if elsewhere is not None and (net := elsewhere.wanted(amounts)):
            others, adding = self._elsewhere[which], net > 0
            if adding not in others:
                others[adding] = elsewhere.queue(self._rng, adding=adding)
            parts.append(elsewhere.take(others[adding], amounts, adding=adding))
        return np.sort(joined(parts))

    def screened(
        self, several: Sequence[Amounts], probe: Probe, *, most: int | None = None
    ) -> list[bool]:
        """Whether the first redraw of each claim flips: one query per claim, in one batch.

        A claim that needs more pairs than there are does not flip. If a gradient ranks claims, only
        the ``most`` likely ones are queried.
        """
        drawn: dict[int, Codes] = {}
        for i, amounts in enumerate(several):
            with suppress(TooFewError):
                drawn[i] = self.codes(amounts)
        if most is not None and is_ranked(probe):
            scores = dict(zip(drawn, probe.scores(drawn.values()).tolist(), strict=True))
            likely = sorted(drawn, key=lambda i: -scores[i])[:most]
            drawn = {i: drawn[i] for i in sorted(likely)}
        flips = dict(zip(drawn, probe.expect(drawn.values()), strict=True))
        return [flips.get(i, False) for i in range(len(several))]

    def seems(self, amounts: Amounts, probe: Probe, *, draws: int = 3) -> bool:
        """Whether the first few redraws all flip."""
        if self.redraw.fixed(amounts):
            draws = 1
        if is_ranked(probe):
            return probe.hold([self.codes(amounts, i) for i in range(draws)], amounts, misses=0)
        return all(probe.expect([self.codes(amounts, i)])[0] for i in range(draws))

    def holds(self, amounts: Amounts, probe: Probe) -> bool:
        """Whether all but a few redraws flip; stops as soon as too many have failed.

        Redraws that failed most often come first, so that a claim that fails needs few queries.
        """
        if amounts in self._held:
            return self._held[amounts]
        if self.redraw.fixed(amounts):
            held = probe.expect([self.codes(amounts)])[0]
        elif is_ranked(probe):
            drawn = [self.codes(amounts, i) for i in range(len(self._queues))]
            held = probe.hold(drawn, amounts, self.misses)
        else:
            order = sorted(range(len(self._failed)), key=lambda i: -self._failed[i])
            left, held = self.misses, True
            for batch in (order[:2], order[2:6], order[6:]):
                flips = probe.expect([self.codes(amounts, i) for i in batch])
                for i, yes in zip(batch, flips, strict=True):
                    if not yes:
                        self._failed[i] += 1
                        left -= 1
                if left < 0:
                    held = False
                    break
        self._held[amounts] = held
        return held
