"""Many methods on one graph, side by side, each told and tested."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from denseflip.counterfactual import Label
from denseflip.errors import MissingInputError
from denseflip.graph import Graph, Nodes
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.search.explain import explain
from denseflip.search.methods import Recipe, as_recipe
from denseflip.story.describe import describe
from denseflip.story.story import Story

_MANY = 6  # a sentence that names more pairs of regions is told in its short form
COMPARED = ("blocks", "tri", "cli", "rcli", "con", "edg", "dat", "dat+bw")


@dataclass(frozen=True)
class Compared:
    """One method's row: its story, or why it does not apply here."""

    method: str
    story: Story | None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The result's fields, the statement and its verification, in plain JSON-ready form."""
        if self.story is None:
            return {
                "method": self.method,
                "status": "not-applicable",
                "found": False,
                "reason": self.reason,
            }
        return {**told(self.story), "regions_80": self.n_regions}

    @property
    def sentence(self) -> str:
        """The statement, in its short form where it would fill a page; or why there is none."""
        if self.story is None:
            return self.reason
        long = len(self.story.verification.named) > _MANY
        return self.story.short if long else self.story.statement

    @property
    def n_regions(self) -> int | None:
        """Smallest number of region pairs that hold 80 % of the edits."""
        if self.story is None or self.story.taxonomy is None:
            return None
        return len(self.story.regions().smallest(0.8))


def told(story: Story) -> dict[str, Any]:
    """A result's fields and what is told of it, without saying anything twice."""
    own = ("subject", "short", "detailed", "footnotes", "verification", "taxonomy", "regions")
    data = story.to_dict()
    return {
        **story.result.to_dict(),
        "statement": story.statement,
        "verified": story.verified,
        "story": {key: data[key] for key in own},
    }


def compare(
    graph: Graph,
    oracle: Any,
    methods: Sequence[str | Recipe] = COMPARED,
    *,
    nodes: Nodes | None = None,
    background: Any = None,
    target: Label | None = None,
    budget: int | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    **telling: Any,
) -> Iterator[Compared]:
    """Explain one graph by several methods; yield each as it is done.

    A method that needs what is not there (regions, background) yields a row that says so.

    Parameters
    ----------
    graph, oracle, nodes, background, target, budget, seed : as in `explain`.
    methods : names or recipes.
    progress : called with the name of the method that starts.
    telling : passed on to `describe` (taxonomy, subject, class_names, evaluation …).
    """
    box = coerce_oracle(oracle)
    shared = None if background is None else Background.of(background)
    for recipe in [as_recipe(m) for m in methods]:
        if progress is not None:
            progress(recipe.name)
        try:
            result = explain(
                graph,
                box,
                recipe,
                nodes=nodes,
                background=shared,
                target=target,
                budget=budget,
                seed=seed,
            )
        except MissingInputError as error:
            yield Compared(recipe.name, None, str(error))
            continue
        yield Compared(recipe.name, describe(result, nodes, box, **telling))
