"""Many graphs of a data set as one job: how they are run, the index of them, what is kept.

What is done is kept while the job runs, in a folder of its own (`FOLDER`): a job that was stopped
goes on from there when it is run again. A finished job has its stories in its result.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from denseflip.datasets import Dataset
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.experiments.explain_many import Explained, Explanations, gather, plan_many
from denseflip.experiments.spec import StorySpec
from denseflip.experiments.story_records import read_story
from denseflip.oracles.session import Event, Session
from denseflip.report.front import read_cell
from denseflip.report.many_page import make_index, many_tiles
from denseflip.report.marks import chips_of
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

FOLDER = "many"  # in the data folder: what jobs have done that are not finished
KEPT = "kept"  # of a result: what is not sent along with it
_OWN = ("kind", "subject", "subjects", "classes", "of")  # what a patient's question has of its own


def plan(
    asked: JobRequest, dataset: Dataset, words: str, request: Request, evaluation: Any = None
) -> list[StorySpec]:
    """What is to be run, one for each graph; wrong names are refused here.

    Parameters
    ----------
    asked : the job; its classes or subjects, or every graph.
    dataset : the data set.
    words : the classifier, as `open_oracle` takes it.
    request : the options of the job.
    evaluation : what is known about the classifier.
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
    """Explain what the folder lacks, one after the other, and give all."""
    folder.parent.mkdir(exist_ok=True)
    with lock:
        outcome = run_specs(specs, Stories(folder), SerialEngine(on_event), progress=progress)
    return gather(specs, outcome)


def tidy(folder: Path, store: Store) -> None:
    """Drop what was kept for jobs that are done, or that nobody knows."""
    for place in (folder / FOLDER).glob("*"):
        job = store.get(place.name)
        if job is None or job.status == "done":
            shutil.rmtree(place, ignore_errors=True)


def size(folder: Path) -> int:
    """Bytes that jobs which are not finished have kept."""
    total = 0
    for place, _, names in os.walk(folder / FOLDER):
        for name in names:
            with suppress(FileNotFoundError):  # dropped this moment
                total += os.stat(os.path.join(place, name)).st_size
    return total


# ---- what came of it ----------------------------------------------------------------------


def result_of(many: Explanations, asked: JobRequest, evaluation: Any, card: Any) -> dict[str, Any]:
    """The result of a job: the index for the page, and the stories and files beside it."""
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
                "result.json": table.to_json(),
            },
        },
    }


def _more(one: Explained) -> dict[str, Any]:
    """What the table of a folder does not have: short words for a row."""
    story = one.story
    if story is None:
        return {"short": one.failure, "read": "–", "chip": {"kind": "listed", "text": "failed"}}
    chip = chips_of(story)[0]
    return {
        "short": story.short,
        "read": read_cell(story),
        "chip": {"kind": chip.kind, "text": chip.text},
        "wrong": story.correct is False,
    }


# ---- one of them --------------------------------------------------------------------------


def check_of(asked: JobRequest, store: Store) -> None:
    """Say so if the explanation that is asked for is not in the job that it is said to be in."""
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
            f"The job {asked.of!r} was asked otherwise ({', '.join(other)}). Leave out `of`, and "
            "it is searched for anew."
        )
        raise InvalidParameterError(msg, parameter="of")


def story_in(result: Any, subject: str, dataset: Dataset, words: str, oracle: Any) -> Story:
    """The story of one graph, out of the result of a job of many.

    Parameters
    ----------
    result : of that job.
    subject : the id of the graph.
    dataset : the data set, as it is now.
    words, oracle : the classifier, as `open_oracle` takes it, and opened, as it is now.

    Raises
    ------
    UnknownNameError
        If that graph was not among them, or failed.
    DatasetError, InvalidParameterError
        If the data set or the classifier is another one by now.
    """
    records = (result or {}).get(KEPT, {}).get("records", {})
    if subject not in records:
        raise UnknownNameError("explained graph", subject, sorted(records), parameter="subject")
    story = read_story(records[subject], dataset)
    then, now = records[subject]["spec"], plan_many(dataset, words, [subject])[0].identity
    for what, key in (("data set", "data"), ("classifier", "oracle")):
        if then[key] != now[key]:  # it may say the same of this graph, and yet be another one
            raise _another(what)
    found = story.result
    graphs = [found.original, found.counterfactual] if found.found else [found.original]
    said = [answer.label for answer in map(Session(oracle).peek, graphs)]
    if said != [found.label_before, found.label_after][: len(said)]:
        raise _another("classifier")
    return story


def _another(what: str) -> InvalidParameterError:
    msg = f"The {what} is another one than when this was found. Explain the graph anew."
    return InvalidParameterError(msg, parameter="of")
