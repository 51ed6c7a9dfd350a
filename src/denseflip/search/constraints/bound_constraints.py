"""`Constraints`: what may change; `BoundConstraints`: the same, bound to one graph.

Which pairs may change is known before the first query, so searches leave the others out. What the
changed graph must be like is checked before each query. The size of an answer is limited only for
the answer itself: a search may start far away and come back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denseflip.constraints import Constraints, join_items
from denseflip.errors import (
    DenseflipError,
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
    counted,
    said,
    shown,
)
from denseflip.graph import Codes, Graph, Nodes, Pair
from denseflip.graph.cells import Cells
from denseflip.graph.density import count_components
from denseflip.graph.pairs import are_among
from denseflip.oracles.background import Background
from denseflip.search.constraints.free_pairs import FreePairs, count_ends
from denseflip.search.constraints.frozen import Frozen

Bools = npt.NDArray[np.bool_]
_AT_ONCE = 256  # pairs of an order that are checked together
_TABLE_NODES = 2048  # up to this size a table of all pairs is used


def bind_constraints(
    constraints: Constraints,
    graph: Graph,
    nodes: Nodes | None = None,
    background: Background | None = None,
) -> BoundConstraints:
    """Constraints for one graph, with the names looked up.

    Raises
    ------
    UnknownNameError
        If a frozen region, node or cell does not exist; the message has the nearest names.
    MissingInputError
        If they need regions or a background, and there is none.
    InvalidParameterError
        If nothing at all may change; the message names the constraints.
    """
    bound = BoundConstraints(constraints, graph, nodes, background)
    bound.check_possible()
    return bound


@dataclass
class BoundConstraints:
    """`Constraints` bound to the graph that is explained, for searches and sessions.

    Attributes
    ----------
    constraints, graph, nodes, background : what they were made of.
    refused : number of graphs that each constraint forbade, by its name.
    """

    constraints: Constraints
    graph: Graph
    nodes: Nodes | None = None
    background: Background | None = None
    refused: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._static = list(self._static_rules())
        self._dynamic = list(self._dynamic_rules())
        self._broken: dict[int, str | None] = {}
        self._counted: set[int] = set()

    # ---- pairs ----------------------------------------------------------------------------

    @property
    def any_pair(self) -> bool:
        """Whether every pair may change."""
        return not self._static

    def may_change(self, codes: Codes) -> Bools:
        """Which of these pairs may change."""
        codes = np.asarray(codes, dtype=np.int64)
        if not self._static:
            return np.ones(len(codes), dtype=bool)
        if self._table is not None:
            found: Bools = self._table[codes]
            return found
        return self.free_pairs.among(codes)

    def free(self, codes: Codes) -> Codes:
        """The pairs that may change, in their order."""
        return codes[self.may_change(codes)] if self._static else codes

    def only_free(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """The pairs that may change, lazily."""
        n, rest = self.graph.n_nodes, iter(pairs)
        while some := list(islice(rest, _AT_ONCE)):
            good = self.may_change(np.array([u * n + v for u, v in some], dtype=np.int64))
            yield from (pair for pair, free in zip(some, good.tolist(), strict=True) if free)

    @property
    def can_remove(self) -> bool:
        """Whether any edge may be removed."""
        return len(self.free_pairs.present) > 0

    @property
    def can_add(self) -> bool:
        """Whether any pair may be added."""
        return self.free_pairs.count_absent > 0

    @cached_property
    def closed(self) -> Bools:
        """The nodes at which nothing may change."""
        pairs = self.free_pairs
        removable = count_ends(pairs.present, self.graph.n_nodes)
        return np.asarray(removable + pairs.count_absent_by_node() == 0)

    def renumbered(self, graph: Graph, old: Codes) -> BoundConstraints:
        """The same with renumbered nodes: ``old[v]`` is the old number of ``v``."""
        terms = BoundConstraints(Constraints(), graph)
        if self._static:
            pairs = self.free_pairs.renumbered(graph, old)
            terms._static = [StaticRule("renumbered", pairs)]
        return terms

    @cached_property
    def free_pairs(self) -> FreePairs:
        """The pairs that may change, by their structure."""
        pairs = FreePairs.all_of(self.graph)
        for rule in self._static:
            pairs = pairs.both(rule.pairs)
        return pairs

    @cached_property
    def _table(self) -> Bools | None:
        n = self.graph.n_nodes
        if n > _TABLE_NODES:
            return None
        return self.free_pairs.among(np.arange(n * n, dtype=np.int64))

    # ---- graphs ---------------------------------------------------------------------------

    def broken(self, graph: Graph) -> str | None:
        """The name of the first constraint that this graph violates; None if there is none.

        Bounds on the size of the answer (`too_large`) are not checked.
        """
        flipped = graph.difference(self.graph)
        if not len(flipped):
            return None
        if self._static and not self.may_change(flipped).all():
            return next(rule.name for rule in self._static if not rule.pairs.among(flipped).all())
        return next((rule.name for rule in self._dynamic if not rule.allows(graph, flipped)), None)

    def forbids(self, graph: Graph) -> bool:
        """Whether this graph may not be queried."""
        if graph.key not in self._broken:
            self._broken[graph.key] = self.broken(graph)
        return self._broken[graph.key] is not None

    def refuse(self, graph: Graph) -> None:
        """Count the constraint that forbids this graph, once per graph."""
        name = self._broken.get(graph.key)
        if name is not None and graph.key not in self._counted:
            self._counted.add(graph.key)
            self.refused[name] += 1

    def too_large(self, graph: Graph) -> str | None:
        """The name of the bound on the size that this graph exceeds; None if there is none."""
        flipped = graph.difference(self.graph)
        most = self.constraints.max_edits
        if most is not None and len(flipped) > most:
            return "max_edits"
        most = self.constraints.max_cells
        if most is not None and len(np.unique(self.cells.numbers(flipped))) > most:
            return "max_cells"
        return None

    @cached_property
    def cells(self) -> Cells:
        """The cells that are counted."""
        if self.nodes is None or not self.nodes.regions:
            msg = (
                "max_cells counts pairs of regions, and no regions were given. Pass a node table "
                "with a region column: nodes=Nodes.read_csv('nodes.csv')."
            )
            raise MissingInputError(msg, parameter=("max_cells", "nodes"))
        return Cells(self.nodes.taxonomy(self.constraints.regions))

    # ---- messages -------------------------------------------------------------------------

    def bound(self, *, size: str | None = None, smallest: Graph | None = None) -> str:
        """Which constraints prevented an answer, and how often; empty if none did.

        Parameters
        ----------
        size : the bound on the size that the best counterfactual exceeded.
        smallest : that counterfactual.
        """
        parts = []
        if size is not None and smallest is not None:
            flipped = smallest.difference(self.graph)
            n = len(flipped)
            what = counted(n, "edit", "edits")
            if size == "max_cells":
                k = len(np.unique(self.cells.numbers(flipped)))
                what = f"{counted(k, 'region pair', 'region pairs')}"
            limit = getattr(self.constraints, size)
            parts.append(f"{size}={limit} (the smallest flip found needs {what})")
        parts += [
            f"{self._words(name)} ({counted(times, 'graph', 'graphs')} not queried)"
            for name, times in self.refused.most_common()
        ]
        if not parts and self.n_free < self.graph.n_pairs:
            n, free = self.graph.n_pairs, self.n_free
            parts = [
                f"{' and '.join(self._words(rule.name) for rule in self._static)} "
                f"({free:,} of {n:,} pairs may change)"
            ]
        if not parts:
            return ""
        return f"Limited by the constraints: {'; '.join(parts)}."

    @cached_property
    def n_free(self) -> int:
        """How many pairs may change."""
        return len(self.free_pairs.present) + self.free_pairs.count_absent

    def check_possible(self) -> None:
        """Raise an error that names the constraints if no pair may change at all."""
        if not self._static or self.n_free:
            return
        names = " and ".join(self._words(rule.name) for rule in self._static)
        msg = (
            f"These constraints leave nothing to change: {names} forbid all "
            f"{self.graph.n_pairs:,} pairs. Loosen one of them."
        )
        raise InvalidParameterError(msg, parameter="constraints")

    def _words(self, name: str) -> str:
        value = self.constraints.given.get(name)
        if value is None or name in ("allowed", "predicate", "keep_connected"):
            return name
        if isinstance(value, list):
            value = join_items(value)
        return f"{name}={value}"

    # ---- rules ----------------------------------------------------------------------------

    def _static_rules(self) -> Iterable[StaticRule]:
        given, graph = self.constraints, self.graph
        every = FreePairs.all_of(graph)
        if given.freeze:
            frozen = Frozen(given.freeze, given.regions, self.nodes, graph.n_nodes)
            yield StaticRule("freeze", frozen.others(graph))
        if given.only is not None:
            adds = given.only == "add"
            yield StaticRule("only", replace(every, can_add=adds, can_remove=not adds))
        if given.allowed is not None:
            mask = given.allowed
            if mask.shape != (graph.n_nodes, graph.n_nodes):
                msg = (
                    f"allowed is an array of {mask.shape[0]} × {mask.shape[1]}; the graph has "
                    f"{graph.n_nodes} nodes."
                )
                raise InvalidParameterError(msg, parameter="allowed")
            yield StaticRule("allowed", every.masked(mask))
        if given.degree_bounds is not None and graph.n_nodes <= _TABLE_NODES:
            full = graph.degrees() >= self._degree_ends[1]
            mask = ~(full[:, None] | full) | (graph.to_adjacency(np.uint8) > 0)
            if full.any():
                yield StaticRule("degree_bounds", every.masked(mask))
        if given.allow_seen is not None:
            if self.background is not None and self.background.by_type:
                msg = (
                    "allow_seen counts how often the data set has a pair of nodes, but its nodes "
                    "have types and no identity. Leave it out, or bound degrees (max_degree)."
                )
                raise InvalidParameterError(msg, parameter="allow_seen")
            if self.background is None or not len(self.background):
                msg = (
                    "allow_seen needs to know how often the data set has a pair, and there is no "
                    "background. Pass it: background=dataset.graphs."
                )
                raise MissingInputError(msg, parameter=("allow_seen", "background"))
            seen = self.background.frequencies(range(len(self.background)))
            least = given.allow_seen / 100 - 1e-12
            if least > 0:
                often = seen.codes[seen.at(seen.codes) >= least]
                yield StaticRule("allow_seen", replace(every, listed=often))

    @cached_property
    def _degree_ends(self) -> tuple[Codes, Codes]:
        """The smallest and the largest degree of every node, by its type or region."""
        n, given = self.graph.n_nodes, self.constraints
        low, high = np.zeros(n, dtype=np.int64), np.full(n, n, dtype=np.int64)
        if self.nodes is None or not self.nodes.regions:
            msg = "degree_bounds needs the type or region of each node, and none are known (nodes)."
            raise MissingInputError(msg, parameter=("degree_bounds", "nodes"))
        taxonomy = self.nodes.taxonomy(given.regions)
        types = self.graph.types
        known = taxonomy.regions if types is None else types.names
        for name, (least, most) in given.bounds.items():
            if name not in known:
                raise UnknownNameError("type or region", name, known, parameter="degree_bounds")
            here = [taxonomy.regions[r] == name for r in taxonomy.index]
            low[here], high[here] = least, most
        return low, high

    def _dynamic_rules(self) -> Iterable[Rule]:
        given, n_edges = self.constraints, self.graph.n_edges
        if given.keep_density is not None:
            slack = given.keep_density / 100 * n_edges + 1e-9
            if given.only is not None and slack < 1:
                msg = (
                    f"These constraints contradict each other: keep_density={given.keep_density} "
                    f"does not allow the number of edges ({n_edges:,}) to change, but "
                    f"only={given.only!r} always changes it."
                )
                raise InvalidParameterError(msg, parameter=("keep_density", "only"))
            yield Rule("keep_density", lambda g, _: abs(g.n_edges - n_edges) <= slack)
        for name, holds in (("min_degree", np.greater_equal), ("max_degree", np.less_equal)):
            limit = getattr(given, name)
            if limit is not None:
                yield Rule(name, degrees_within(limit, holds))
        if given.degree_bounds is not None:
            low, high = self._degree_ends
            yield Rule("degree_bounds", degrees_between(low, high))
        if given.keep_connected:
            pieces = count_components(self.graph)
            yield Rule("keep_connected", lambda g, _: count_components(g) <= pieces)
        if given.predicate is not None:
            yield Rule("predicate", checked(given.predicate))
        if given.max_cells is not None:
            _ = self.cells  # an unknown taxonomy is an error before the search


# ---- helpers --------------------------------------------------------------------------------


class StaticRule(NamedTuple):
    """A constraint on pairs: its name, and the pairs that it allows to change."""

    name: str
    pairs: FreePairs


class Rule(NamedTuple):
    """A constraint on graphs: its name, and a function that tells which ones it allows."""

    name: str
    allows: Callable[[Graph, Codes], Any]


def degrees_within(limit: int, holds: Any) -> Callable[[Graph, Codes], bool]:
    """Whether the degree of every node with a changed pair is within a bound.

    A node of the original that is out of bounds may stay unchanged.
    """

    def within(graph: Graph, flipped: Codes) -> bool:
        touched = np.unique(np.concatenate(np.divmod(flipped, graph.n_nodes)))
        return bool(holds(graph.degrees()[touched], limit).all())

    return within


def degrees_between(low: Codes, high: Codes) -> Callable[[Graph, Codes], bool]:
    """Whether every node with a changed pair has a degree within its own bounds, or nearer to them.

    A node that was out of bounds may lose edges that it has too many of, but not get more.
    """

    def within(graph: Graph, flipped: Codes) -> bool:
        touched = np.unique(np.concatenate(np.divmod(flipped, graph.n_nodes)))
        after = graph.degrees()
        change = np.zeros(graph.n_nodes, dtype=np.int64)
        ends = np.concatenate(np.divmod(flipped, graph.n_nodes))
        added = ~are_among(flipped, graph.toggle_codes(flipped).codes)
        np.add.at(change, ends, np.where(np.tile(added, 2), 1, -1))
        good = (after <= high) | (change < 0)
        good &= (after >= low) | (change > 0)
        return bool(good[touched].all())

    return within


def checked(predicate: Callable[[Graph], bool]) -> Callable[[Graph, Codes], bool]:
    """A user's predicate; an exception in it, or another result than a bool, is reported."""

    def holds(graph: Graph, _: Codes) -> bool:
        try:
            answer = predicate(graph)
        except DenseflipError:
            raise
        except Exception as error:
            msg = (
                f"The predicate of the constraints raised {type(error).__name__}: {said(error)} "
                f"(for a graph with {graph.n_nodes} nodes and {graph.n_edges} edges). It gets a "
                "denseflip Graph and must return True if that graph is allowed, else False."
            )
            raise InvalidParameterError(msg, parameter="predicate") from error
        if not isinstance(answer, (bool, np.bool_)):
            msg = f"The predicate of the constraints must return a bool; got {shown(answer)}."
            raise InvalidParameterError(msg, parameter="predicate")
        return bool(answer)

    return holds
