"""A saved thing that is opened again is refused in our own words, or is safe to show."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from cohorts import make_cohort
from denseflip import Counterfactual, Story, describe, explain, fit_oracle
from denseflip.as_read import AsRead
from denseflip.classifiers.confounding import Confounding
from denseflip.classifiers.evaluation import Evaluation
from denseflip.classifiers.tellability import Tellability, ToldDecision
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.cohort.cohort import Cohort
from denseflip.errors import DenseflipError, FileFormatError, StoreError
from denseflip.experiments.cohort import explain_cohort
from denseflip.experiments.result_store import Store
from fuzzing import VALUES
from groups import GOOD, cohort, found_cohort

COHORT = found_cohort()
CONFOUNDS = Confounding(
    ("age", "site"), "site", 2, 3, True, 0.9, 0.8, (0.7, 0.9), 0.01, 0.5, 0.6, (0.5, 0.7)
)
JUDGED = replace(GOOD, confounds=CONFOUNDS)
DECISION = ToldDecision("g", True, True, 2, "regions", "any", 20, 19, 0.1, 30, True)
ESCAPE = "\x1b[31m\u2028<b>"


def a_story() -> Story:
    data = make_cohort()
    oracle = fit_oracle(data, "edges-svm")
    return describe(explain(data.graphs[0], oracle, "tri", nodes=data.nodes), data.nodes, oracle)


STORY = a_story()
THINGS = (
    AsRead("regions", "lobe", "any", 20, 19),
    CONFOUNDS,
    JUDGED,
    Tellability("d", "p", "auto", 3, 5, 20, 0, (DECISION,)),
    STORY.verification,
    STORY.result.trace[0],
    COHORT.observed.patients[0],
    COHORT.observed,
    COHORT.shared[0].halves[0],
    COHORT.shared[0],
    COHORT,
)


def plain(thing: Any) -> Any:
    return json.loads(json.dumps(thing.to_dict()))


def deep() -> Any:
    nested: list[Any] = []
    for _ in range(3000):
        nested = [nested]
    return nested


def opens(kind: Any, data: Any) -> None:
    """It is refused in our own words, or can be shown and written."""
    try:
        made = kind.from_dict(data)
    except DenseflipError:
        return
    str(made), made.to_dict()


@pytest.mark.parametrize("thing", THINGS, ids=lambda x: type(x).__name__)
def test_any_field_may_be_wrong(thing):
    kind, data = type(thing), plain(thing)
    assert kind.from_dict(data).to_dict() == thing.to_dict()
    values = [x for x in VALUES if not isinstance(x, int) or abs(x) < 10**100]
    for value in (*values, deep(), {"__proto__": 1}):
        with pytest.raises(FileFormatError):
            kind.from_dict(value)
    for field in data:
        for value in (*values, deep(), ["a"] * 12):
            opens(kind, {**data, field: value})
        opens(kind, {k: v for k, v in data.items() if k != field})


def hostile(data: Any, kind: Any) -> Any:
    """The same with escapes in every text that may be any."""

    def places(part: Any, path: tuple[Any, ...] = ()) -> Any:
        listed = part.items() if isinstance(part, dict) else enumerate(part[:2])
        for key, value in listed:
            if isinstance(value, (dict, list)):
                yield from places(value, (*path, key))
            elif isinstance(value, str):
                yield (*path, key)

    for *path, last in list(places(data)):
        changed = copy.deepcopy(data)
        place = changed
        for key in path:
            place = place[key]
        place[last] += ESCAPE
        try:
            kind.from_dict(changed)
        except FileFormatError:
            continue
        data = changed
    return data


@pytest.mark.parametrize("thing", [STORY, STORY.result, COHORT], ids=lambda x: type(x).__name__)
def test_what_is_opened_again_writes_on_no_terminal(thing):
    made = type(thing).from_dict(hostile(plain(thing), type(thing)))
    for text in (str(made), made._repr_html_(), json.dumps(made.to_dict(), ensure_ascii=False)):
        assert "\x1b" not in text
        assert "\\u001b" not in text
        assert "\u2028" not in text
    assert "\\x1b[31m" in str(made)


def test_a_result_is_refused_by_what_is_wrong_inside():
    data = plain(STORY.result)
    with pytest.raises(FileFormatError, match=r"^Not a denseflip result: Not a step of a search: "):
        Counterfactual.from_dict({**data, "trace": [{}]})
    with pytest.raises(FileFormatError, match=r"^Not a cohort of denseflip: it has format 99; "):
        Cohort.from_dict({**plain(COHORT), "format": 99})


def test_an_evaluation_of_wrong_types_is_told_on_the_command_line(tmp_path, capsys):
    data = make_cohort()
    path, judged = data.save(tmp_path / "a.dfd"), tmp_path / "judged.json"
    judged.write_text(json.dumps({**plain(JUDGED), "permutations": None}))
    words = ["explain", str(path), data.ids[0], "--oracle", "edges-svm", "--method", "tri"]
    assert run(app, [*words, "--evaluation", str(judged)]) == 1
    assert "Not an evaluation: TypeError: permutations cannot be None" in capsys.readouterr().err
    assert Evaluation.from_dict(plain(JUDGED)) == JUDGED


# ---- a store of a cohort ----------------------------------------------------------------


def broken(record: dict[str, Any], how: str) -> None:
    result, part = record["result"], record["spec"]["part"]
    if how == "no evaluation" and part == "judge":
        del result["evaluation"]
    elif how == "fewer cells" and part == "labels":
        del result["more"][0]
    elif how == "another class" and part == "labels":
        result["patients"][0]["label"] = 7
    elif how == "another patient" and part == "labels":
        result["patients"][0]["id"] = "nobody"
    elif how == "amounts" and part == "shared":
        result["shared"][0]["halves"][0]["amounts"] = "x"
    elif how == "another source" and part == "shared":
        result["shared"][0]["source"] = -5
    elif how == "no questions" and part == "shared":
        del result["questions"]


COHORT_TERMS = {"permutations": 0, "patients": 4, "engine": "serial"}


@pytest.fixture(scope="module")
def cohort_records(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("cohort")
    explain_cohort(cohort(6), "regions-logistic", store=folder, **COHORT_TERMS)
    return list(Store(folder).records())


@pytest.mark.parametrize(
    "how",
    ["no evaluation", "fewer cells", "another class", "another patient", "amounts",
     "another source", "no questions"],
)  # fmt: skip
def test_a_store_of_a_cohort_that_was_changed_is_told(how, tmp_path, cohort_records):
    terms, data = COHORT_TERMS, cohort(6)
    records = copy.deepcopy(cohort_records)
    for record in records:
        broken(record, how)
    changed = Store(tmp_path / "b", create=True)
    with changed.writing():
        changed.append(records)
    with pytest.raises(StoreError, match="no longer what was written"):
        explain_cohort(data, "regions-logistic", store=tmp_path / "b", **terms)
