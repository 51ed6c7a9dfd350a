"""Many graphs of a data set as one job: how they are run, their index, and what is saved.

While the job runs, finished explanations are saved in its own folder (`FOLDER`), so that a job
that was stopped continues there when it is run again. A finished job has its stories in its result.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from denseflip.datasets import Dataset
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.experiments.explain_many import Explained, Explanations, gather, plan_many
from denseflip.experiments.records import read_story
from denseflip.experiments.spec import StorySpec
from denseflip.oracles.session import Event, Session
from denseflip.report.facts import badge_chip
from denseflip.report.front import read_cell
from denseflip.report.many_page import make_index, many_tiles
from denseflip.report.strip_layout import strip_html
from denseflip.request import Request
from denseflip.runs.engines import SerialEngine
from denseflip.runs.result_store import Store as Stories
from denseflip.runs.run import run_specs
from denseflip.story.story import Story
from denseflip.web.downloads import no_formulas
from denseflip.web.job_store import Store
from denseflip.web.payload import judged_words
from denseflip.web.schemas import JobRequest
from denseflip.workflow.subject import choose_ids

FOLDER = "many"  # in the data folder: partial results of unfinished jobs
KEPT = "kept"  # in a result: the part that is not sent to the page
# Fields in which the request of one graph differs from that of the job.
_OWN = ("kind", "subject", "subjects", "classes", "of")


def plan(
    asked: JobRequest, dataset: Dataset, words: str, request: Request, evaluation: Any = None
) -> list[StorySpec]:
    """Return one spec per graph; refuse wrong names.

    Parameters
    ----------
    asked : the job, with classes or subjects; without them, every graph.
    dataset : the data set.
    words : the classifier, for `open_oracle`.
    request : the options of the job.
    evaluation : evaluation of the classifier, if any.
    """
    every = not (asked.subjects or asked.classes)
    ids = choose_ids(dataset, asked.subjects, every=every, classes=asked.classes)
    specs: list[StorySpec] = plan_many(dataset, words, ids, evaluation=evaluation, request=request)
    return specs


def run(
    specs: list[StorySpec],
    folder: Path,
    *,
    progress: Callable[[int, int], None],
    on_event: Callable[[Event], object],
    lock: AbstractContextManager[Any],
) -> Explanations:
    """Explain the graphs that are missing in the folder, in turn; return all."""
    folder.parent.mkdir(exist_ok=True)
    with lock:
        outcome = run_specs(specs, Stories(folder), SerialEngine(on_event), progress=progress)
    return gather(specs, outcome)


def tidy(folder: Path, store: Store) -> None:
    """Delete partial results of finished or unknown jobs."""
    for place in (folder / FOLDER).glob("*"):
        job = store.get(place.name)
        if job is None or job.status == "done":
            shutil.rmtree(place, ignore_errors=True)


def size(folder: Path) -> int:
    """Return the size in bytes of partial results of unfinished jobs."""
    total = 0
    for place, _, names in os.walk(folder / FOLDER):
        for name in names:
            with suppress(FileNotFoundError):  # just deleted
                total += os.stat(os.path.join(place, name)).st_size
    return total


# ---- results ------------------------------------------------------------------------------


def result_of(many: Explanations, asked: JobRequest, evaluation: Any, card: Any) -> dict[str, Any]:
    """Return the result of a job: the index for the page, the stories and the files."""
    table = many.table()
    rows = [row | _more(one) for one, row in zip(many, json.loads(table.to_json()), strict=True)]
    page = make_index(
        many,
        name=many.dataset.name,
        oracle=asked.classifier,
        method=asked.method,
        card=card,
        dataset=many.dataset.card,
    )
    return {
        "many": {
            "rows": rows,
            "tiles": [[fact.term, fact.value] for fact in many_tiles(many)],
            "judged": judged_words(evaluation),
            "found": sum(story.result.found for story in many.stories),
        },
        KEPT: {
            "records": {
                record["spec"]["graph"]: record for record in many.outcome.records.values()
            },
            "files": {
                "index.html": page,
                "explanations.csv": no_formulas(table).to_csv(),
                "edits.csv": no_formulas(many.edit_table()).to_csv(),
                "regions.csv": no_formulas(many.region_table()).to_csv(),
                "reference.csv": no_formulas(many.reference_table()).to_csv(),
                "result.json": table.to_json(),
            },
        },
    }


def _more(one: Explained) -> dict[str, Any]:
    """Return what a row of the page shows in addition to the table."""
    story = one.story
    if story is None:
        return {"short": one.failure, "read": "–", "chip": {"kind": "listed", "text": "failed"}}
    return {
        "short": story.short,
        "read": read_cell(story),
        "chip": asdict(badge_chip(story)),
        "wrong": story.correct is False,
        "strip": strip_html(story, small=True),
    }


# ---- one graph ----------------------------------------------------------------------------


def check_of(asked: JobRequest, store: Store) -> None:
    """Raise an error if the requested explanation is not part of the job ``asked.of``."""
    assert asked.of is not None
    job = store.get(asked.of)
    if job is None or job.kind != "many" or job.status != "done":
        msg = f"There is no finished job {asked.of!r} of many graphs."
        raise InvalidParameterError(msg, parameter="of")
    before = JobRequest.model_validate(job.request).model_dump(exclude=set(_OWN))
    now = asked.model_dump(exclude=set(_OWN))
    other = [key for key in now if now[key] != before[key]]
    if other:
        msg = (
            f"The job {asked.of!r} had other options ({', '.join(other)}). Leave out `of` to start "
            "a new search."
        )
        raise InvalidParameterError(msg, parameter="of")


def story_in(result: Any, subject: str, dataset: Dataset, words: str, oracle: Any) -> Story:
    """Return the story of one graph from the result of a job of many.

    Parameters
    ----------
    result : of that job.
    subject : the id of the graph.
    dataset : the current data set.
    words, oracle : the current classifier, for `open_oracle`, and opened.

    Raises
    ------
    UnknownNameError
        If that graph was not among them, or failed.
    DatasetError, InvalidParameterError
        If the data set or the classifier has changed since.
    """
    records = (result or {}).get(KEPT, {}).get("records", {})
    if subject not in records:
        raise UnknownNameError("explained graph", subject, sorted(records), parameter="subject")
    story = read_story(records[subject], dataset)
    then, now = records[subject]["spec"], plan_many(dataset, words, [subject])[0].identity
    for what, key in (("data set", "data"), ("classifier", "oracle")):
        if then[key] != now[key]:  # even if the decision is the same
            raise _another(what)
    found = story.result
    graphs = [found.original, found.counterfactual] if found.found else [found.original]
    labels = [answer.label for answer in map(Session(oracle).peek, graphs)]
    if labels != [found.label_before, found.label_after][: len(labels)]:
        raise _another("classifier")
    return story


def _another(what: str) -> InvalidParameterError:
    msg = f"The {what} has changed since this explanation was found. Explain the graph again."
    return InvalidParameterError(msg, parameter="of")
