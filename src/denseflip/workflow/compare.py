"""Many methods on one graph, side by side, each told and tested."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from denseflip.counterfactual import Label, Target
from denseflip.errors import MissingInputError
from denseflip.graph import Graph, Nodes, Taxonomy
from denseflip.graph.inputs import match_nodes
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.session import Event
from denseflip.search.constraints.bound_constraints import Constraints
from denseflip.search.explain import explain
from denseflip.search.methods.registry import Method, as_method
from denseflip.story.describe import describe
from denseflip.story.story import Story
from denseflip.story.wording.vocabulary import Vocabulary
from denseflip.workflow.explain_and_describe import method_for, record, regions_for
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
        return {**record(self.story), "regions_80": self.n_regions}

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


def compare(
    graph: Graph | Subject,
    oracle: Any,
    methods: Sequence[str | Method] = COMPARED,
    *,
    nodes: Nodes | None = None,
    background: Any = None,
    target: Target = None,
    confidence: float | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    budget: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    regions: str | Taxonomy | None = None,
    subject: str | int | None = None,
    class_names: Mapping[Label, str] | Sequence[str] | None = None,
    evaluation: Any = None,
    share: float = 0.0,
    vocabulary: str | Vocabulary = "auto",
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
    nodes, background, target, confidence, constraints, budget, seed, time_limit, on_event : as in
        `explain`, for each method.
    regions : as in `tell`.
    subject, class_names, evaluation, share, vocabulary : as in `describe`, which is given the
        background, too.
    progress : called with the name of the method that starts.

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
    given = regions if isinstance(regions, str) else None
    ready = [
        method_for(method, regions=given) if isinstance(method, str) else as_method(method)
        for method in ([methods] if isinstance(methods, str) else methods)
    ]
    nodes = known.nodes if nodes is None else nodes
    background = known.background if background is None else background
    shared = None if background is None else Background.of(background)
    if constraints is not None:  # what is wrong with them is told before the first method
        Constraints.of(constraints).bind(known.graph, match_nodes(known.graph, nodes), shared)

    def rows() -> Iterator[Compared]:
        for method in ready:
            if progress is not None:
                progress(method.name)
            try:
                result = explain(
                    known.graph,
                    box,
                    method,
                    nodes=nodes,
                    background=shared,
                    target=target,
                    confidence=confidence,
                    constraints=constraints,
                    budget=budget,
                    seed=seed,
                    time_limit=time_limit,
                    on_event=on_event,
                )
            except MissingInputError as error:
                yield Compared(method.name, None, str(error), error.parameters)
                continue
            story = describe(
                result,
                nodes,
                box,
                regions=regions_for(result, regions),
                subject=known.name or None if subject is None else subject,
                class_names=known.names_for(box) if class_names is None else class_names,
                evaluation=evaluation,
                share=share,
                vocabulary=vocabulary,
                background=shared,
                seed=seed,
            )
            yield Compared(method.name, story, parameters=story.sentences.advice.parameters)

    return rows()
