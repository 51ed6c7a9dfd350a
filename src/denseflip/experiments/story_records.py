"""Stories in a store: a record of one, and the story back out of it without the oracle.

A record is a dictionary: ``id`` and ``spec`` (what was run), ``told`` (what it takes beside the
data set to have the story again) and ``times``. Graph and nodes are in the data set, so only the
graph's digest is kept; sentences are made anew from what was tested.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from denseflip.datasets import Dataset
from denseflip.errors import DatasetError, FileFormatError, StoreError
from denseflip.runs.identity import plain_json
from denseflip.runs.result_store import Record, make_record
from denseflip.story.story import Story

_MADE_ANEW = (  # by the story, from what is kept
    "statement",
    "lead",
    "items",
    "short",
    "detailed",
    "verified",
    "true_as_read",
    "reading",
    "correct",
    "badge",
    "footnotes",
    "regions",
    "nodes",
)
_DIGITS = 16  # of the original's digest, in hexadecimal
_MEMBERS = ("front", "diverse")  # other answers that a result carries


def story_record(identity: Mapping[str, Any], story: Story, times: Mapping[str, Any]) -> Record:
    """The record of one story.

    Parameters
    ----------
    identity : of its spec.
    story : the story, kept whole.
    times : seconds and the like; the one part that differs from run to run.
    """
    told = {key: value for key, value in story.to_dict().items() if key not in _MADE_ANEW}
    elapsed = told["result"]["elapsed"]
    told["result"] = _without_graph(told["result"])
    told["original"] = story.result.original.digest.hex()[:_DIGITS]
    # As it comes out of a store: what is told must not depend on whether it was in one.
    plain = json.loads(plain_json(told))
    return make_record(identity, told=plain, times={**times, "elapsed": elapsed})


def _without_graph(result: dict[str, Any]) -> dict[str, Any]:
    """A result's dictionary without the original, which is in the data set, and without times."""
    kept = {key: value for key, value in result.items() if key not in ("original", "elapsed")}
    for name in _MEMBERS:
        kept[name] = [_without_graph(member) for member in result.get(name, ())]
    return kept


def read_story(record: Record, dataset: Dataset) -> Story:
    """The story that a record was made of.

    Parameters
    ----------
    record : of a `Store`.
    dataset : the data set that was explained.

    Raises
    ------
    StoreError
        If the record holds no story.
    DatasetError
        If the data set is another one.
    """
    spec, told = record["spec"], record.get("told")
    if spec.get("kind") != "story" or not isinstance(told, Mapping):
        msg = f"The record {record['id'][:12]} holds no story but a {spec.get('kind')!r}."
        raise StoreError(msg)
    graph = dataset[spec["graph"]].graph
    if not graph.digest.hex().startswith(str(told.get("original", "?"))):
        msg = (
            f"The record {record['id'][:12]} tells of a graph {spec['graph']!r} with another "
            f"content than the one in {dataset.name!r}. Give the data set that was explained."
        )
        raise DatasetError(msg)
    try:
        elapsed, plain = record["times"]["elapsed"], graph.to_dict()
        result = _with_graph(told["result"], plain, elapsed)
        story = Story.from_dict({**told, "result": result, "nodes": dataset.nodes.to_dict()})
    except (AttributeError, LookupError, TypeError, FileFormatError) as error:
        msg = f"The record {record['id'][:12]} cannot be read as a story ({error})."
        raise StoreError(msg) from error
    # One graph and one node table for all the stories of a data set.
    members: dict[str, Any] = {
        name: tuple(replace(member, original=graph) for member in getattr(story.result, name))
        for name in _MEMBERS
    }
    return replace(
        story,
        nodes=dataset.nodes,
        result=replace(story.result, original=graph, **members),
    )


def _with_graph(result: Mapping[str, Any], graph: Any, elapsed: float) -> dict[str, Any]:
    members: dict[str, Any] = {
        name: [_with_graph(member, graph, elapsed) for member in result.get(name, ())]
        for name in _MEMBERS
    }
    return {"elapsed": elapsed, **result, "original": graph, **members}
