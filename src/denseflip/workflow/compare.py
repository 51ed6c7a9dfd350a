"""Many methods on one graph, side by side, each told and tested."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from denseflip.counterfactual import Label
from denseflip.errors import MissingInputError
from denseflip.graph import Graph, Nodes
from denseflip.graph.inputs import as_graph, match_nodes
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.session import Event
from denseflip.request import PER_METHOD, Request, takes_request
from denseflip.search.constraints.bound_constraints import bind_constraints
from denseflip.search.core.method import Method
from denseflip.search.explain import constraints_for, explain
from denseflip.search.methods.registry import method_for
from denseflip.story.describe import describe
from denseflip.story.story import Story
from denseflip.workflow.explain_and_describe import (
    check_request,
    json_record,
    regions_for,
    target_for,
)
from denseflip.workflow.subject import Subject

COMPARED = ("auto", "blocks", "tri", "cli", "rcli", "con", "edg", "dat", "dat+bw")


@dataclass(frozen=True)
class Compared:
    """One method's row: its story, or why it does not apply here.

    Attributes
    ----------
    method : its name.
    story : what it found, told; None if it does not apply.
    reason : why it does not apply.
    parameters : the parameters that its sentence, or the reason, advises to change.
    """

    method: str
    story: Story | None
    reason: str = ""
    parameters: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The result's fields, the statement and its verification, in plain JSON-ready form."""
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
        """The statement, in its short form where it would fill a page; or why there is none."""
        if self.story is None:
            return self.reason
        return self.story.short if self.story.items else self.story.statement

    @property
    def n_regions(self) -> int | None:
        """Smallest number of region pairs that hold 80 % of the edits."""
        if self.story is None or self.story.taxonomy is None:
            return None
        return len(self.story.regions().smallest(0.8))


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
) -> Iterator[Compared]:
    """Explain one graph by several methods; yield each as it is done.

    A method that needs what is not there (regions, background) yields a row that says so.

    Parameters
    ----------
    graph : the graph, or a `Subject`, which brings nodes, background, name and class names along
        (those given here come first).
    oracle : the classifier.
    methods : names or methods.
    nodes, background, on_event : as in `explain`, for each method.
    subject, true_class, class_names, evaluation : as in `describe`, which is given the background,
        too.
    progress : called with the name of the method that starts.
    {options}
    request : all options as one `Request`; options given by name replace its fields.

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
    ready = [(one, method_for(one)) for one in asked]  # wrong names are told before any search
    plain = as_graph(known.graph)
    table = match_nodes(plain, nodes)
    for one in asked[:1]:
        if constraints := constraints_for(one, table):
            bind_constraints(constraints, plain, table, shared)
    wanted = target_for(known, request.target, box)

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
            story = describe(
                result,
                nodes,
                box,
                regions=regions_for(result, request.regions),
                subject=known.name or None if subject is None else subject,
                true_class=known.true_class if true_class is None else true_class,
                class_names=known.names_for(box) if class_names is None else class_names,
                evaluation=evaluation,
                share=request.share,
                vocabulary=request.vocabulary,
                background=shared,
                constraints=request.constraints,
                seed=request.seed,
            )
            yield Compared(method.name, story, parameters=story.sentences.advice.parameters)

    return rows()
