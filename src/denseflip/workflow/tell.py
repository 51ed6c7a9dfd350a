"""Explain one graph and tell it: the oracle opened, the search run, the sentence tested."""

from __future__ import annotations

from typing import Any

from denseflip.counterfactual import Label
from denseflip.errors import MissingInputError
from denseflip.graph import Graph, Taxonomy
from denseflip.oracles.open import open_oracle
from denseflip.oracles.protocol import Oracle
from denseflip.search.explain import explain
from denseflip.search.methods import Method
from denseflip.story.describe import describe
from denseflip.story.story import Story
from denseflip.workflow.subject import Subject


def oracle_for(
    subject: Subject, words: str | None = None, *, input: str = "adjacency", batch: bool = False
) -> Oracle:
    """The oracle that words mean, ready to be asked about a subject.

    Parameters
    ----------
    subject : what is to be explained; a classifier known by name is trained on its data set.
    words : as `open_oracle` takes them; without them, the default classifier of `fit_oracle`.
    input, batch : how a function wants its graphs, as in `as_oracle`.
    """
    if words is None:
        if subject.dataset is None:
            msg = (
                "Say which classifier to explain (oracle): a module:function of your own, or a "
                "file written by `denseflip train`."
            )
            raise MissingInputError(msg, parameter="oracle")
        from denseflip.classifiers.presets import DEFAULT_PRESET

        words = DEFAULT_PRESET
    return open_oracle(words, dataset=subject.dataset, input=input, batch=batch)


def tell(
    subject: Subject | Graph,
    oracle: Any,
    method: str | Method = "tri",
    *,
    target: Label | None = None,
    budget: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    regions: str | Taxonomy | None = None,
    share: float = 0.0,
) -> Story:
    """Explain a subject by one method, and tell it with all that is known around it.

    Parameters
    ----------
    subject : what `find_subject` gave, or a bare graph.
    oracle : the classifier.
    method, target, budget, seed, time_limit : as in `explain`.
    regions, share : as in `describe`.
    """
    known = subject if isinstance(subject, Subject) else Subject(subject, "")
    result = explain(
        known.graph,
        oracle,
        method,
        nodes=known.nodes,
        background=known.background,
        target=target,
        budget=budget,
        seed=seed,
        time_limit=time_limit,
    )
    return describe(
        result,
        known.nodes,
        oracle,
        regions=regions,
        subject=known.name or None,
        class_names=known.class_names,
        share=share,
    )


def record(story: Story) -> dict[str, Any]:
    """A result's fields and what is told of it, JSON-ready, without saying anything twice."""
    own = ("subject", "short", "detailed", "footnotes", "verification", "taxonomy", "regions")
    data = story.to_dict()
    return {
        **story.result.to_dict(),
        "statement": story.statement,
        "verified": story.verified,
        "story": {key: data[key] for key in own},
    }
