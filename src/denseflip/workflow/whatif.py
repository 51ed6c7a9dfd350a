"""What if: a graph changed by hand, and what the classifier says of it.

A change is so many more or fewer connections in a cell of regions, as a sentence has it, and single
pairs. Which connections of a cell are meant is drawn at random, several times, so one sees at once
how far the answer hangs on the choice. Draws are nested: one connection more adds one and keeps the
others, so that moving a slider is a walk and not a leap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from denseflip.counterfactual import Label, Reading
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.graph import Codes, Graph, Taxonomy
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background, Frequencies
from denseflip.oracles.session import Session
from denseflip.search.claims.claim import DRAWS, Places, Redraw

READINGS: tuple[Reading, ...] = ("any", "typical")
_STREAM = 16  # sets these draws apart from all others with the same seed


class Change(NamedTuple):
    """So many more and so many fewer connections between two regions, or within one."""

    a: int
    b: int
    more: int = 0
    fewer: int = 0


@dataclass(frozen=True)
class Guess:
    """What the classifier says of a changed graph.

    Attributes
    ----------
    label, confidence : of the graph with the first choice of connections; the confidence is that
        of the label, or None if the classifier gives none.
    before : the label of the graph as it is.
    draws, flips : how many choices were asked about, and how many have another label than before.
        Where nothing is left to choose there is one.
    pairs : the pairs that the first choice flips.
    added, removed : how many of them join nodes, and how many part them.
    """

    label: Label
    confidence: float | None
    before: Label
    draws: int
    flips: int
    pairs: tuple[tuple[int, int], ...]
    added: int
    removed: int


class WhatIf:
    """Changes one graph by hand, and asks.

    Parameters
    ----------
    graph : the graph as it is.
    oracle : the classifier.
    regions : the regions that cells are made of; without them only single pairs can be changed.
    background : graphs to learn from which connections are typical of a class.

    Examples
    --------
    >>> from denseflip import Graph
    >>> lobes = Taxonomy.from_labels("lobe", ["Front", "Front", "Front", "Back"])
    >>> graph = Graph.from_edges(4, [(0, 1)])
    >>> what_if = WhatIf(graph, lambda a: "dense" if a[:3, :3].sum() >= 4 else "thin", lobes)
    >>> guess = what_if.ask([Change(0, 0, more=1)])
    >>> guess.before, guess.label, f"{guess.flips} of {guess.draws}"
    ('thin', 'dense', '20 of 20')
    """

    def __init__(
        self,
        graph: Graph,
        oracle: Any,
        regions: Taxonomy | None = None,
        *,
        background: Any = None,
    ) -> None:
        self.graph = graph
        self.places = None if regions is None else Places(graph, regions)
        self.oracle = coerce_oracle(oracle)
        sure = hasattr(self.oracle, "classes") and _gives_confidence(self.oracle)
        self._session = Session(self.oracle, confidence=sure)
        self.confident = sure
        self._background = None if background is None else Background.of(background)
        self.before = self._session.peek(graph).label

    def ask(
        self,
        cells: Iterable[Change] = (),
        pairs: Iterable[tuple[int, int]] = (),
        *,
        reading: Reading = "any",
        target: Label | tuple[Label, ...] | None = None,
        draws: int = DRAWS,
        seed: int = 0,
    ) -> Guess:
        """Ask about the graph with these changes.

        Parameters
        ----------
        cells : amounts, cell by cell.
        pairs : pairs to flip, each by itself; they are not drawn from.
        reading : ``"any"`` connections of a cell, or those ``"typical"`` of the target class.
        target : the class that is meant by typical; by default any other than the graph's.
        draws : how many choices of connections are asked about.
        seed : the same seed gives the same choices.

        Raises
        ------
        InvalidParameterError
            If a cell has fewer connections to add or remove than are asked for, or a node is not
            there.
        """
        if reading not in READINGS:
            raise UnknownNameError("reading", str(reading), READINGS)
        own = self._single(pairs)
        wanted = self._wanted(cells)
        drawn = Redraw(self.places, reading, None, self._typical(reading, target)) if (
            self.places is not None
        ) else None  # fmt: skip
        choices: list[Codes] = []
        for i in range(draws if wanted else 1):
            parts = [own]
            for unit, adding, amount in wanted:
                assert drawn is not None
                rng = np.random.default_rng([seed, _STREAM, i, *unit, int(adding)])
                queue = drawn.queue(unit, rng, adding=adding)
                queue = queue[~np.isin(queue, own)] if len(own) else queue
                self._enough(queue, unit, amount, adding=adding, reading=reading)
                parts.append(queue[:amount])
            choices.append(np.sort(np.concatenate(parts)))
        if len({codes.tobytes() for codes in choices}) == 1:
            choices = choices[:1]
        answers = [self._session.peek(self.graph.toggle_codes(c)) for c in choices]
        first = answers[0]
        n = self.graph.n_nodes
        held = np.isin(choices[0], self.graph.codes)
        return Guess(
            first.label,
            first.confidence,
            self.before,
            len(answers),
            sum(answer.label != self.before for answer in answers),
            tuple((int(c) // n, int(c) % n) for c in choices[0]),
            int((~held).sum()),
            int(held.sum()),
        )

    def _single(self, pairs: Iterable[tuple[int, int]]) -> Codes:
        n = self.graph.n_nodes
        codes: set[int] = set()
        for u, v in pairs:
            if not (0 <= u < n and 0 <= v < n and u != v):
                msg = f"A pair is two different nodes of 0..{n - 1}; got ({u}, {v})."
                raise InvalidParameterError(msg, parameter="pairs")
            codes ^= {min(u, v) * n + max(u, v)}  # twice is not at all
        return np.array(sorted(codes), dtype=np.int64)

    def _wanted(self, cells: Iterable[Change]) -> list[tuple[tuple[int, int], bool, int]]:
        wanted = []
        seen: set[tuple[int, int]] = set()
        for a, b, more, fewer in cells:
            if self.places is None or self.places.taxonomy is None:
                msg = "Cells are made of regions, and the nodes have none here. Flip single pairs."
                raise MissingInputError(msg, parameter="regions")
            last = len(self.places.taxonomy.regions) - 1
            if not (0 <= a <= last and 0 <= b <= last):
                msg = f"A cell is two regions of 0..{last}; got ({a}, {b})."
                raise InvalidParameterError(msg, parameter="cells")
            unit = (min(a, b), max(a, b))
            if unit in seen:
                names = self.places.cells.name(unit)
                msg = f"The cell {names} is given twice; give it once, with both amounts."
                raise InvalidParameterError(msg, parameter="cells")
            seen.add(unit)
            wanted += [(unit, True, more)] * (more > 0) + [(unit, False, fewer)] * (fewer > 0)
        return wanted

    def _enough(
        self, queue: Codes, unit: tuple[int, int], amount: int, *, adding: bool, reading: str
    ) -> None:
        if amount <= len(queue):
            return
        assert self.places is not None
        what = "added" if adding else "removed"
        kind = "" if reading == "any" else " of that kind"
        msg = (
            f"{self.places.cells.name(unit)}: {amount:,} connections cannot be {what}; there are "
            f"{len(queue):,}{kind}."
        )
        raise InvalidParameterError(msg, parameter="cells")

    def _typical(
        self, reading: Reading, target: Label | tuple[Label, ...] | None
    ) -> Frequencies | None:
        if reading == "any":
            return None
        if self._background is None:
            msg = "What is typical of a class is learnt from a background, and there is none."
            raise MissingInputError(msg, parameter="background")
        return typical_of(self._background, self._session, self.before, target)


def typical_of(
    background: Background,
    session: Session,
    before: Label,
    target: Label | tuple[Label, ...] | None,
) -> Frequencies:
    """How often the graphs of the target class (by the oracle) join each pair."""
    labels = background.labels(session)
    wanted = target if isinstance(target, tuple) else (target,)
    chosen = [i for i, x in enumerate(labels) if (x != before if target is None else x in wanted)]
    return background.frequencies(chosen)


def _gives_confidence(oracle: Any) -> bool:
    try:
        Session(oracle, confidence=True)
    except Exception:  # it says why, and that is no matter here
        return False
    return True


def steps_of(original: Graph, trace: Sequence[Any], most: int = 200) -> list[tuple[int, Graph]]:
    """Graphs along a trace, evenly thinned: how many steps were made, and the graph then.

    The first is the original, the last the end of the trace.
    """
    keep = set(np.linspace(0, len(trace), min(most, len(trace) + 1)).round().astype(int).tolist())
    found = [(0, original)]
    graph = original
    for i, step in enumerate(trace, 1):
        graph = graph.toggle(step.toggled)
        if i in keep:
            found.append((i, graph))
    return found
