"""The worked example of the first screen: a mouse of the embedded data, explained beforehand.

``scripts/make_example.py`` makes the file. The example is shown as if it were a job, under an id
that no job has, so that its pictures, "what if" and downloads work as for any other.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib.resources import files
from typing import Any

from denseflip.story.story import Story
from denseflip.web.job_store import Job, Store
from denseflip.web.payload import view_of
from denseflip.workflow.explain_and_describe import json_record

EXAMPLE = "0" * 16
FILE = "example.json.gz"
ASKED = {
    "kind": "explain",
    "dataset": "mice",
    "subject": "sub-54811",
    "classifier": "regions-logistic",
}
_VIEW = ("replay", "confident")


def kept_of(result: dict[str, Any]) -> dict[str, Any]:
    """What the file keeps of the result of a job; the code makes the rest again."""
    view = {key: result["view"][key] for key in _VIEW}
    return {"story": result["story"], "card": result["card"], "view": view}


def packed(kept: dict[str, Any]) -> bytes:
    """The content of the file."""
    text = json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return gzip.compress(text.encode(), mtime=0)


@cache
def kept_example() -> dict[str, Any]:
    """What the file has."""
    content = (files("denseflip.web") / FILE).read_bytes()
    found: dict[str, Any] = json.loads(gzip.decompress(content))
    return found


@cache
def example_result() -> dict[str, Any]:
    """The example as the result of a job."""
    kept = kept_example()
    story = Story.from_dict(kept["story"])
    return {
        "view": view_of(story) | kept["view"],
        "story": kept["story"],
        "front": [],
        "record": json_record(story),
        "card": kept["card"],
    }


def example_job() -> Job:
    """The example as a finished job."""
    summary = {"title": example_result()["view"]["title"], "found": True}
    return Job(EXAMPLE, "explain", "done", dict(ASKED), 0.0, 0.0, 0.0, None, summary)


def result_shown(store: Store, id: str) -> dict[str, Any] | None:
    """The result of a job, or of the example; None if there is none."""
    return dict(example_result()) if id == EXAMPLE else store.result(id)
