"""Explain one graph and describe the result: open the oracle, search, test the sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from denseflip.constraints import Constraints
from denseflip.counterfactual import Counterfactual, Target
from denseflip.errors import InvalidParameterError, MissingInputError, shown
from denseflip.graph import Graph, Taxonomy
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.open import open_oracle
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import Event
from denseflip.request import Request, takes_request
from denseflip.search.explain import explain
from denseflip.story.describe import describe
from denseflip.story.story import Story
from denseflip.story.wording.vocabulary import Vocabulary
from denseflip.workflow.subject import Subject


def oracle_for(
    subject: Subject, words: str | None = None, *, input: str = "auto", batch: bool = False
) -> Oracle:
    """Open an oracle for a subject.

    Parameters
    ----------
    subject : what to explain; a preset is trained on its data set.
    words : as in `open_oracle`; by default, the default classifier of the data set.
    input, batch : what a function takes, as in `as_oracle`.
    """
    if words is None:
        if subject.dataset is None:
            msg = (
                "A classifier is required (oracle): your own module:function, or a file written by "
                "`denseflip train`."
            )
            raise MissingInputError(msg, parameter="oracle")
        from denseflip.classifiers.presets import default_preset

        words = default_preset(subject.dataset)
    return open_oracle(words, dataset=subject.dataset, input=input, batch=batch)


def refits_for(
    subject: Subject, oracle: Any, wanted: Any = "auto", request: Request | None = None
) -> Any:
    """The classifier trained again on resampled data; None if that is not wanted.

    Parameters
    ----------
    subject : what is explained; refits are trained on its data set.
    oracle : the classifier.
    wanted : ``"auto"``, if they cost little, or if a stable answer is requested; a number of
        refits, 0 for none; a folder of models or ``module:function``, as in `make_refits`; or a
        list of classifiers.
    request : the options of the explanation.
    """
    if wanted is None or not isinstance(wanted, (str, int, Path)):
        return wanted
    request = request or Request()
    dataset = subject.dataset
    if wanted == "auto" and request.stable is None:
        from denseflip.classifiers.refits import AFFORDABLE, known_refits

        seconds = min(AFFORDABLE, request.time_limit or AFFORDABLE)
        return known_refits(dataset, oracle, seconds=seconds) or ()
    text = str(wanted).strip()
    if text == "0":
        return None
    if dataset is None:
        msg = "Refits are trained on a data set, and none is given."
        raise MissingInputError(msg, parameter="refits")
    from denseflip.classifiers.refits import known_refits, make_refits

    if wanted == "auto":
        return known_refits(dataset, oracle, seconds=inf) or make_refits(dataset, oracle)
    if text.isdecimal():
        return make_refits(dataset, oracle, int(text))
    if ":" not in text and not Path(text).is_dir():
        msg = (
            "refits must be a number from 0, a folder of models or module:function; got "
            f"{shown(wanted)}."
        )
        raise InvalidParameterError(msg, parameter="refits")
    return make_refits(dataset, text)


@takes_request()
def explain_and_describe(
    subject: Subject | Graph,
    oracle: Any,
    request: Request,
    *,
    evaluation: Any = None,
    background: Any = None,
    refits: Any = "auto",
    on_event: Callable[[Event], object] | None = None,
) -> Story:
    """Explain a subject by one method, and describe the result.

    Several answers (``front``, ``n``) are described by `describe_answers`.

    Parameters
    ----------
    subject : what `find_subject` returned, or a graph.
    oracle : the classifier.
    evaluation : evaluation of the classifier, as in `describe`.
    background : other graphs; by default those of the subject's data set. Pass one `Background`
        when you describe many graphs, so that its labels are queried only once.
    refits : the classifier trained again on resampled data, as in `refits_for`. By default a preset
        is trained again 20 times if that takes at most 10 seconds; None for no refits.
    on_event : as in `explain`.
    {options}
    request : all options as one `Request`; options given by name replace its fields.
    """
    known = subject if isinstance(subject, Subject) else Subject(subject, "")
    box = coerce_oracle(oracle)
    check_request(request)
    others = known.background if background is None else background
    shared = None if others is None else Background.of(others)
    refits = refits_for(known, box, refits, request)
    result = explain(
        known.graph,
        box,
        nodes=known.nodes,
        background=shared,
        refits=refits,
        on_event=on_event,
        request=replace(request, target=target_for(known, request.target, box)),
    )
    return describe_for(
        known, result, box, request, evaluation=evaluation, background=shared, refits=refits
    )


def describe_for(
    subject: Subject, result: Counterfactual, oracle: Oracle, request: Request, /, **own: Any
) -> Story:
    """Describe the result of a request about a subject; ``own`` replaces what `describe` gets."""
    given: dict[str, Any] = {
        "nodes": subject.nodes,
        "regions": regions_for(result, request.regions),
        "subject": subject.name or None,
        "true_class": subject.true_class,
        "class_names": subject.names_for(oracle),
    }
    asked = ("vocabulary", "share", "constraints", "seed")
    given |= {name: getattr(request, name) for name in asked}
    return describe(result, oracle=oracle, **(given | own))


def check_request(request: Request) -> None:
    """Check, before any search, what only the description of a result needs."""
    if isinstance(request.vocabulary, str) and request.vocabulary != "auto":
        Vocabulary.named(request.vocabulary)


def target_for(subject: Subject, target: Any, oracle: Oracle) -> Target:
    """Return the labels of a target; class names are looked up in the data set."""
    several = isinstance(target, (list, tuple, set, frozenset))
    listed = list(target) if several else [target]
    if target is None or not all(isinstance(one, str) for one in listed):
        return tuple(listed) if several else target
    return subject.label_of(listed if several else target, oracle)


def regions_for(result: Counterfactual, regions: str | Taxonomy | None) -> str | Taxonomy | None:
    """Return the regions to describe a result in: the requested ones, unless the search chose.

    A search for sentences, such as `auto`, gets the regions itself. If it describes its answer in
    other regions, in nodes or in pairs, the requested ones do not apply.
    """
    return None if result.as_read is not None and isinstance(regions, str) else regions


def describe_answers(
    story: Story,
    oracle: Any,
    *,
    background: Any = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
) -> tuple[Story, ...]:
    """Describe every answer of a Pareto front, or of a request for several answers.

    Parameters
    ----------
    story : the story of a result with a front (``front=True``) or with several answers (``n=5``);
        it is one of the stories. Without either, it is the only one. Empty if nothing was found.
    oracle : the classifier.
    background, constraints : as in `describe`.
    """
    if not story.result.found:
        return ()
    box = coerce_oracle(oracle)
    shared = None if background is None else Background.of(background)
    answers = story.result.front or story.result.diverse or (story.result,)
    told = tuple(
        story
        if (one.edits, one.as_read) == (story.result.edits, story.result.as_read)
        else describe(
            one,
            story.nodes,
            box,
            regions=None if one.as_read is not None else story.taxonomy,
            vocabulary=story.vocabulary,
            subject=story.subject,
            true_class=story.true_class,
            class_names=story.class_names,
            evaluation=story.evaluation,
            background=shared,
            constraints=constraints,
            seed=story.result.seed,
            form=story.form,
        )
        for one in answers
    )
    return told if story in told else (story, *told)


def json_record(story: Story, front: Sequence[Story] = ()) -> dict[str, Any]:
    """Return the fields of a result and of its story, JSON-ready, without repetition.

    Parameters
    ----------
    story : the story.
    front : the stories of its front or of its diverse answers (`describe_answers`); each of these
        results then carries its own.
    """
    own = (
        *("subject", "short", "detailed", "lead", "items", "footnotes", "verification"),
        *("taxonomy", "language", "reading", "as_read", "stability", "regions", "true_class"),
    )
    data = story.to_dict()
    told = {
        **story.result.to_dict(),
        "statement": story.statement,
        "true_class": story.true_class,
        "correct": story.correct,
        "verified": story.verified,
        "true_as_read": story.true_as_read,
        "badge": data["badge"],
        "story": {key: data[key] for key in own},
    }
    if front:
        told["diverse" if story.result.diverse else "front"] = [
            json_record(replace(one, result=replace(one.result, front=(), diverse=())))
            for one in front
        ]
    return told
