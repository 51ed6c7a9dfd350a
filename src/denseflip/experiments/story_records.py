"""Stories in a store: save one, and restore it without the oracle.

A record is a dictionary: ``id`` and ``spec`` (what was run), ``told`` (what is needed, together
with the data set, to restore the story) and ``times``. Graph and nodes are in the data set, so only
the digest of the graph is stored; sentences are composed again from what was tested.
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

_MADE_ANEW = (  # derived by the story
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
    """Return the record of one story.

    Parameters
    ----------
    identity : of its spec.
    story : the story.
    times : durations; the only part that differs from run to run.
    """
    told = {key: value for key, value in story.to_dict().items() if key not in _MADE_ANEW}
    elapsed = told["result"]["elapsed"]
    told["result"] = _without_graph(told["result"])
    told["original"] = story.result.original.digest.hex()[:_DIGITS]
    # As restored from a store, so that the result does not depend on whether it was stored.
    plain = json.loads(plain_json(told))
    return make_record(identity, told=plain, times={**times, "elapsed": elapsed})


def _without_graph(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result as a dictionary without times and the original, which the data set has."""
    kept = {key: value for key, value in result.items() if key not in ("original", "elapsed")}
    for name in _MEMBERS:
        kept[name] = [_without_graph(member) for member in result.get(name, ())]
    return kept


def read_story(record: Record, dataset: Dataset) -> Story:
    """Restore the story of a record.

    Parameters
    ----------
    record : of a `Store`.
    dataset : the data set that was explained.

    Raises
    ------
    StoreError
        If the record holds no story.
    DatasetError
        If it is not the data set that was explained.
    """
    spec, told = record["spec"], record.get("told")
    if spec.get("kind") != "story" or not isinstance(told, Mapping):
        msg = f"The record {record['id'][:12]} has no story (kind {spec.get('kind')!r})."
        raise StoreError(msg)
    graph = dataset[spec["graph"]].graph
    if not graph.digest.hex().startswith(str(told.get("original", "?"))):
        msg = (
            f"The record {record['id'][:12]} is about a graph {spec['graph']!r} that differs from "
            f"the one in {dataset.name!r}. Give the data set that was explained."
        )
        raise DatasetError(msg)
    try:
        elapsed, plain = record["times"]["elapsed"], graph.to_dict()
        result = _with_graph(told["result"], plain, elapsed)
        story = Story.from_dict({**told, "result": result, "nodes": dataset.nodes.to_dict()})
    except (AttributeError, LookupError, TypeError, FileFormatError) as error:
        msg = f"The record {record['id'][:12]} cannot be read as a story ({error})."
        raise StoreError(msg) from error
    # Share the graph and the node table between the stories of a data set.
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
