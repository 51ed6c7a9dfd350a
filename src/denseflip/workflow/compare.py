"""Compare several methods on one graph; each result is described and tested."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, overload

from denseflip.counterfactual import Label
from denseflip.errors import MissingInputError, UnknownNameError
from denseflip.graph import Graph, Nodes
from denseflip.graph.edits import make_frame
from denseflip.graph.inputs import as_graph, match_nodes
from denseflip.notebook import NotebookBar, html_table
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.session import Event
from denseflip.request import PER_METHOD, Request, takes_request
from denseflip.search.constraints.bound_constraints import bind_constraints
from denseflip.search.core.method import Method
from denseflip.search.explain import constraints_for, explain
from denseflip.search.methods.registry import method_for
from denseflip.story.story import Story
from denseflip.workflow.explain_and_describe import (
    check_request,
    describe_for,
    json_record,
    target_for,
)
from denseflip.workflow.subject import Subject

COMPARED = ("auto", "blocks", "tri", "cli", "rcli", "con", "edg", "dat", "dat+bw")
COLUMNS = (  # of the table
    *("method", "status", "edits", "relative_distance", "calls"),
    *("regions_80", "named", "true_as_read", "sentence"),
)


@dataclass(frozen=True)
class Compared:
    """One method's row: its story, or why it does not apply here.

    Attributes
    ----------
    method : its name.
    story : the described result; None if the method does not apply.
    reason : why it does not apply.
    parameters : parameters that its sentence, or the reason, advises to change.
    """

    method: str
    story: Story | None
    reason: str = ""
    parameters: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result, the statement and its verification, JSON-ready."""
        if self.story is None:
            return {
                "method": self.method,
                "status": "not-applicable",
                "found": False,
                "reason": self.reason,
            }
        return {**json_record(self.story), "regions_80": self.n_regions}

    @property
    def sentence(self) -> str:
        """The statement, in short form if it is long; or why there is none."""
        if self.story is None:
            return self.reason
        return self.story.short if self.story.items else self.story.statement

    @property
    def n_regions(self) -> int | None:
        """Smallest number of region pairs that hold 80 % of the edits."""
        if self.story is None or self.story.taxonomy is None:
            return None
        return len(self.story.regions().smallest(0.8))


class Comparison(Sequence[Compared]):
    """The rows of a comparison, one for each method; returned by `compare`.

    A row is computed on first access, and kept. ``comparison["tri"]`` is the row of a
    method; `len` does not search.

    Parameters
    ----------
    rows : computes the rows, one after the other.
    methods : the names of their methods.
    bar : whether a notebook shows a progress bar.
    """

    def __init__(self, rows: Iterator[Compared], methods: Sequence[str], *, bar: bool) -> None:
        self.methods = tuple(methods)
        self._rows, self._made = rows, list[Compared]()
        self._bar = NotebookBar("Comparing methods") if bar else None
        self._failure: BaseException | None = None

    def _make(self, n: int) -> None:
        """Compute the first ``n`` rows; what failed fails again."""
        if len(self._made) >= n:
            return
        if self._failure is not None:
            raise self._failure
        with self._bar or nullcontext() as bar:
            for i in range(len(self._made), n):
                if bar is not None:
                    bar(i, len(self), self.methods[i])
                try:
                    self._made.append(next(self._rows))
                except BaseException as error:
                    self._failure = error
                    raise
            if bar is not None:
                bar(n, len(self))

    def __len__(self) -> int:
        return len(self.methods)

    def __iter__(self) -> Iterator[Compared]:
        for i in range(len(self)):
            self._make(i + 1)
            yield self._made[i]

    @overload
    def __getitem__(self, key: int | str) -> Compared: ...
    @overload
    def __getitem__(self, key: slice) -> list[Compared]: ...
    def __getitem__(self, key: int | str | slice) -> Compared | list[Compared]:
        if isinstance(key, str):
            if key not in self.methods:
                raise UnknownNameError("method of the comparison", key, self.methods)
            key = self.methods.index(key)
        if isinstance(key, slice):
            self._make(max(range(len(self))[key], default=-1) + 1)
        else:
            self._make(range(len(self))[key] + 1)
        return self._made[key]

    @property
    def stories(self) -> dict[str, Story]:
        """Method → story, of the methods that apply."""
        return {row.method: row.story for row in self if row.story is not None}

    def table(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Columns and rows: status, size, calls, what the sentence names, and the sentence."""
        return COLUMNS, [_cells(row) for row in self]

    def to_frame(self) -> Any:
        """`table` as a pandas table.

        Raises
        ------
        MissingExtraError
            If pandas is not installed; the message says how to get it.
        """
        return make_frame(*self.table())

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.methods)}; {len(self._made)} of {len(self)} done)"

    def _repr_html_(self) -> str:
        columns, rows = self.table()
        first = next(iter(self.stories.values()), None)
        title = f"{len(self)} methods" if first is None else f"{first.subject}: {len(self)} methods"
        said = "" if first is None or first.true_class is None else first.classified
        return html_table(title, columns, rows, total=len(rows), notes=[said])


def _cells(row: Compared) -> tuple[Any, ...]:
    if row.story is None:
        return (row.method, "not-applicable", *[None] * 6, row.reason)
    result, found = row.story.result, row.story.result.found
    return (
        row.method,
        str(result.status),
        result.distance if found else None,
        result.relative_distance if found else None,
        result.calls,
        row.n_regions if found else None,
        len(row.story.claim.amounts) if found else None,
        row.story.true_as_read if found else None,
        row.sentence,
    )


@takes_request(without=(*PER_METHOD, "n"))
def compare(
    graph: Graph | Subject,
    oracle: Any,
    methods: Sequence[str | Method] = COMPARED,
    *,
    request: Request,
    nodes: Nodes | None = None,
    background: Any = None,
    subject: str | int | None = None,
    true_class: Label | None = None,
    class_names: Mapping[Label, str] | Sequence[str] | None = None,
    evaluation: Any = None,
    progress: Callable[[str], None] | None = None,
    on_event: Callable[[Event], object] | None = None,
) -> Comparison:
    """Explain one graph by several methods.

    The rows are computed on access, one by one in a loop. If a method needs something that is
    missing (regions, background), its row says so.

    Parameters
    ----------
    graph : the graph, or a `Subject`, which provides nodes, background, name and class names (those
        given here take precedence).
    oracle : the classifier.
    methods : names or methods.
    nodes, background, on_event : as in `explain`, for each method.
    subject, true_class, class_names, evaluation : as in `describe`, which also gets the background.
    progress : called with the name of the method that starts; by default a notebook shows a bar.
    {options}
    request : all options as one `Request`; options given by name replace its fields.

    Returns
    -------
    Comparison
        A sequence of `Compared`, with ``table()``, ``to_frame()`` and ``stories``.

    Examples
    --------
    >>> from denseflip import Graph
    >>> g = Graph.from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)])
    >>> rows = compare(g, lambda a: int(a[0, 1]), ["cli", "edg", "rcli"])
    >>> [(row.method, row.to_dict()["status"]) for row in rows]
    [('cli', 'found'), ('edg', 'found'), ('rcli', 'not-applicable')]
    """
    known = graph if isinstance(graph, Subject) else Subject(graph, "")
    box = coerce_oracle(oracle)
    check_request(request)
    nodes = known.nodes if nodes is None else nodes
    background = known.background if background is None else background
    shared = None if background is None else Background.of(background)
    asked = [
        replace(request, method=method)
        for method in ([methods] if isinstance(methods, str) else methods)
    ]
    ready = [(one, method_for(one)) for one in asked]  # refuse wrong names before any search
    plain = as_graph(known.graph)
    table = match_nodes(plain, nodes)
    if asked and (constraints := constraints_for(asked[0], table)):
        bind_constraints(constraints, plain, table, shared)
    wanted = target_for(known, request.target, box)
    named = {"subject": subject, "true_class": true_class, "class_names": class_names}
    own = {name: value for name, value in named.items() if value is not None}
    own["evaluation"] = evaluation

    def rows() -> Iterator[Compared]:
        for one, method in ready:
            if progress is not None:
                progress(method.name)
            try:
                result = explain(
                    known.graph,
                    box,
                    nodes=nodes,
                    background=shared,
                    on_event=on_event,
                    request=replace(one, target=wanted),
                )
            except MissingInputError as error:
                yield Compared(method.name, None, str(error), error.parameters)
                continue
            story = describe_for(known, result, box, request, nodes=nodes, background=shared, **own)
            yield Compared(method.name, story, parameters=story.sentences.advice.parameters)

    return Comparison(rows(), [method.name for _, method in ready], bar=progress is None)
