"""`Problem`: what a method may look at; `Method`: what a method is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Label, Step
from denseflip.errors import MissingInputError
from denseflip.graph import Codes, Graph, Nodes, Taxonomy
from denseflip.graph.density import count_triangles
from denseflip.oracles.background import Background, pair_counts
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import Session


@dataclass
class Problem:
    """One graph to explain, with everything a method may look at.

    Attributes
    ----------
    graph : the original.
    label : the oracle's label of it.
    target : the label wanted, or None for any other.
    nodes : the node table, or None.
    background : the data set's graphs, or None.
    rng : the one random generator of this search.
    notes : a method appends what the reader of the result should know.
    """

    graph: Graph
    label: Label
    target: Label | None = None
    nodes: Nodes | None = None
    background: Background | None = None
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    oracle: Oracle | None = None
    session: Session | None = None
    notes: list[str] = field(default_factory=list)

    def accepts(self, label: Label) -> bool:
        """Whether a graph with this label is a counterfactual."""
        return label != self.label if self.target is None else label == self.target

    def note(self, text: str) -> None:
        """Record a remark once."""
        if text not in self.notes:
            self.notes.append(text)

    @cached_property
    def triangles(self) -> npt.NDArray[np.int64]:
        """Triangles through each node of the original."""
        return count_triangles(self.graph)

    def taxonomy(self, name: str | None, needed_by: str) -> Taxonomy:
        """The taxonomy a method needs, or an error that says how to give it."""
        if self.nodes is None or not self.nodes.regions:
            msg = (
                f"The method {needed_by!r} needs to know which region each node belongs to, and "
                "no regions were given. Give a node table with a region column: --nodes nodes.csv "
                "(in Python nodes=Nodes(names, regions={'region': (...)})), or take a method "
                "without regions, such as 'cli'."
            )
            raise MissingInputError(msg)
        return self.nodes.taxonomy(name)

    @cached_property
    def background_labels(self) -> list[Label]:
        """The oracle's label of every background graph."""
        assert self.background is not None
        assert self.oracle is not None
        assert self.session is not None
        return self.background.labels(self.oracle, self.session)

    def split_background(self, needed_by: str) -> tuple[list[Graph], list[Graph]]:
        """Background graphs that the oracle puts in the original's class, and in the target's."""
        if self.background is None or not len(self.background):
            msg = (
                f"The method {needed_by!r} needs background graphs (the data set), and none were "
                "given. Name the data set: --background DATA (in Python "
                "background=dataset.graphs), or take a method without, such as 'tri'."
            )
            raise MissingInputError(msg)
        pairs = list(zip(self.background.graphs, self.background_labels, strict=True))
        same = [g for g, y in pairs if y == self.label]
        other = [g for g, y in pairs if self.accepts(y)]
        if not other:
            wanted = "another class" if self.target is None else f"the class {self.target!r}"
            msg = (
                f"The method {needed_by!r} needs at least one background graph that the oracle "
                f"puts in {wanted}; it puts all {len(pairs)} in "
                f"{sorted({str(y) for _, y in pairs})}. Give a larger background."
            )
            raise MissingInputError(msg)
        return same, other

    def contrast(self, needed_by: str) -> Contrast:
        """How much more often the original's class joins a pair than the target class does."""
        if not hasattr(self, "_contrast"):
            self._contrast = Contrast.between(*self.split_background(needed_by))
        return self._contrast


@dataclass(frozen=True)
class Contrast:
    """Frequency of each pair in one set of graphs less its frequency in another; 0 elsewhere.

    Attributes
    ----------
    codes : the pairs that are not equally frequent in both, sorted.
    values : their contrast times ``scale``: whole numbers, so that equal contrasts compare equal
        and ties are settled by the pair, as they should be.
    scale : what a contrast of 1 is in ``values``.
    """

    codes: Codes
    values: Codes
    scale: int = 1

    @classmethod
    def between(cls, current: Sequence[Graph], target: Sequence[Graph]) -> Contrast:
        """Contrast of the original's class with the target class."""
        n_current, n_target = max(len(current), 1), max(len(target), 1)
        a_codes, a = pair_counts(current)
        b_codes, b = pair_counts(target)
        codes = np.union1d(a_codes, b_codes)
        values = np.zeros(len(codes), dtype=np.int64)
        values[np.searchsorted(codes, a_codes)] += a * n_target
        values[np.searchsorted(codes, b_codes)] -= b * n_current
        keep = values != 0
        return cls(codes[keep], values[keep], n_current * n_target)

    def at(self, codes: Codes) -> Codes:
        """The contrast of these pairs, times ``scale``."""
        if not len(self.codes):
            return np.zeros(len(codes), dtype=np.int64)
        where = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[where] == codes, self.values[where], 0)


@runtime_checkable
class Method(Protocol):
    """A search method: called with a problem, it yields the steps to walk.

    The stream may not depend on the oracle's answers: that is what lets the engine look ahead.
    """

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield steps until there is nothing left to try."""
        ...


def describe_parameters(value: Any) -> Any:
    """A method, block or value in plain JSON-ready form, with the names of its types."""
    from dataclasses import fields, is_dataclass

    if is_dataclass(value) and not isinstance(value, type):
        inner = {f.name: describe_parameters(getattr(value, f.name)) for f in fields(value)}
        return {"type": type(value).__name__, **inner}
    if isinstance(value, (list, tuple)):
        return [describe_parameters(v) for v in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if callable(value):
        return {
            "type": f"{getattr(value, '__module__', '')}."
            f"{getattr(value, '__qualname__', type(value).__name__)}"
        }
    return repr(value)
