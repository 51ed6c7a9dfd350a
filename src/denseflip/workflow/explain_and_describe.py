"""Explain one graph and tell it: the oracle opened, the search run, the sentence tested."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from denseflip.counterfactual import Counterfactual, Target
from denseflip.errors import InvalidParameterError, MissingInputError
from denseflip.graph import Graph, Taxonomy
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.open import open_oracle
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import Event
from denseflip.search.constraints.bound_constraints import Constraints
from denseflip.search.explain import explain
from denseflip.search.methods.registry import ALIASES, METHODS, Method, make_method
from denseflip.search.methods.user_methods import is_own, own_parameters
from denseflip.story.describe import describe
from denseflip.story.story import Story
from denseflip.story.wording.vocabulary import Vocabulary
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


def method_for(
    name: str,
    *,
    regions: str | None = None,
    language: str | None = None,
    max_cells: int | None = None,
    objective: str | None = None,
    front: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> Method:
    """The method of that name with what a person asked for, as far as it takes it.

    Regions are those of the sentence, which any method can be told in; a method that works with
    regions works with them, too. The rest is of no use to a method that does not take it.

    Parameters
    ----------
    name : as `make_method` takes it.
    regions, language, max_cells, objective, front : as in `explain`.
    settings : other parameters of the method; they come first.

    Raises
    ------
    InvalidParameterError
        If the method does not take what was asked for; the message names methods that do.

    Examples
    --------
    >>> method_for("blocks", regions="lobe").parameters["search"]["regions"]
    'lobe'
    """
    base = _base(name)
    if base not in METHODS and not is_own(name):
        return make_method(name)  # which says so
    takes = own_parameters(name) if is_own(name) else _parameters(base)
    asked = {"language": language, "max_cells": max_cells, "objective": objective}
    wanted = {key: value for key, value in asked.items() if value is not None}
    if front:
        wanted["front"] = True
    for key in wanted:
        if key not in takes:
            able = [other for other in METHODS if key in _parameters(other)]
            msg = f"The method {base!r} takes no {key}. These do: {', '.join(able)}."
            raise InvalidParameterError(msg, parameter=(key, "method"))
    if regions is not None and "regions" in takes:
        wanted["regions"] = regions
    return make_method(name, **{**wanted, **(settings or {})})


def takes(name: str, parameter: str) -> bool:
    """Whether the method of that name has this parameter."""
    if is_own(name):
        return parameter in own_parameters(name)
    base = _base(name)
    return base in METHODS and parameter in _parameters(base)


def _base(name: str) -> str:
    base = name.strip().lower().split("+")[0]
    return ALIASES.get(base, base)


def _parameters(base: str) -> tuple[str, ...]:
    return tuple(inspect.signature(METHODS[base].build).parameters)


def tell(
    subject: Subject | Graph,
    oracle: Any,
    method: str | Method = "auto",
    *,
    target: Target = None,
    confidence: float | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    budget: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    confirm: int = 1,
    regions: str | Taxonomy | None = None,
    language: str | None = None,
    max_cells: int | None = None,
    objective: str | None = None,
    front: bool = False,
    robust: float | None = None,
    noise: float | None = None,
    plausible: bool = False,
    max_implausible: float | None = None,
    n: int = 1,
    share: float = 0.0,
    vocabulary: str | Vocabulary = "auto",
    evaluation: Any = None,
    background: Any = None,
    on_event: Callable[[Event], object] | None = None,
) -> Story:
    """Explain a subject by one method, and tell it with all that is known around it.

    Parameters
    ----------
    subject : what `find_subject` gave, or a bare graph.
    oracle : the classifier.
    method, target, confidence, constraints, budget, seed, time_limit, confirm, on_event : as in
        `explain`.
    regions : the taxonomy that the sentence speaks in, and that the method works with if it takes
        one; by default the method's choice.
    language, max_cells, objective, front : as in `explain`. The answers of a front are told by
        `tell_front`.
    robust, noise, plausible, max_implausible, n : as in `explain`. Several answers are told by
        `tell_front`, too.
    share, vocabulary, evaluation : as in `describe`, which is given the background, too.
    background : other graphs, by default those of the subject's data set. Keep one `Background`
        when telling of many graphs: its labels are asked only once.
    """
    known = subject if isinstance(subject, Subject) else Subject(subject, "")
    asked: dict[str, Any] = {
        "language": language,
        "max_cells": max_cells,
        "objective": objective,
        "front": front,
    }
    if isinstance(method, str):
        method = method_for(method, regions=regions if isinstance(regions, str) else None, **asked)
        asked = {}
    box = coerce_oracle(oracle)
    others = known.background if background is None else background
    background = None if others is None else Background.of(others)
    result = explain(
        known.graph,
        box,
        method,
        nodes=known.nodes,
        background=background,
        target=target,
        confidence=confidence,
        constraints=constraints,
        budget=budget,
        seed=seed,
        time_limit=time_limit,
        confirm=confirm,
        robust=robust,
        noise=noise,
        plausible=plausible,
        max_implausible=max_implausible,
        n=n,
        on_event=on_event,
        **asked,
    )
    return describe(
        result,
        known.nodes,
        box,
        regions=regions_for(result, regions),
        vocabulary=vocabulary,
        subject=known.name or None,
        class_names=known.names_for(box),
        evaluation=evaluation,
        share=share,
        background=background,
        seed=seed,
    )


def regions_for(result: Counterfactual, regions: str | Taxonomy | None) -> str | Taxonomy | None:
    """The regions to tell a result in: those asked for, unless the search has seen to that.

    A search for words, such as `auto`, was given the regions; if it tells its answer in others, in
    nodes or in pairs, those that were asked for do not fit.
    """
    return None if result.as_read is not None and isinstance(regions, str) else regions


def tell_front(story: Story, oracle: Any, *, background: Any = None) -> tuple[Story, ...]:
    """The answers that no other beats, or those in different places, each told: a story for each.

    Parameters
    ----------
    story : told of a result with a front (`tell` with ``front=True``) or with diverse answers
        (``n=5``); it is one of the stories. Without either it is the only one, and where nothing
        was found there is none.
    oracle : the classifier.
    background : the data set's graphs, as in `describe`.
    """
    if not story.result.found:
        return ()
    box = coerce_oracle(oracle)
    shared = None if background is None else Background.of(background)
    return tuple(
        story
        if (one.edits, one.as_read) == (story.result.edits, story.result.as_read)
        else describe(
            one,
            story.nodes,
            box,
            regions=None if one.as_read is not None else story.taxonomy,
            vocabulary=story.vocabulary,
            subject=story.subject,
            class_names=story.class_names,
            evaluation=story.evaluation,
            background=shared,
            seed=story.result.seed,
            form=story.form,
        )
        for one in story.result.front or story.result.diverse or (story.result,)
    )


def record(story: Story, front: Sequence[Story] = ()) -> dict[str, Any]:
    """A result's fields and what is told of it, JSON-ready, without saying anything twice.

    Parameters
    ----------
    story : the story.
    front : the stories of its front or of its diverse answers (`tell_front`); each of these results
        then carries its own.
    """
    own = (
        *("subject", "short", "detailed", "lead", "items", "footnotes", "verification"),
        *("taxonomy", "language", "reading", "as_read", "regions"),
    )
    data = story.to_dict()
    told = {
        **story.result.to_dict(),
        "statement": story.statement,
        "verified": story.verified,
        "true_as_read": story.true_as_read,
        "badge": data["badge"],
        "story": {key: data[key] for key in own},
    }
    if front:
        told["diverse" if story.result.diverse else "front"] = [
            record(replace(one, result=replace(one.result, front=(), diverse=()))) for one in front
        ]
    return told
