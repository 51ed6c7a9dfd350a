"""A saved thing that is opened again is refused in our own words, or is safe to show."""

from __future__ import annotations

import copy
import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, get_origin, get_type_hints

import pytest

import denseflip
from cohorts import make_cohort
from denseflip import Counterfactual, Graph, Story, describe, explain, fit_oracle
from denseflip.as_read import AsRead
from denseflip.classifiers.evaluation import Confounding, Evaluation
from denseflip.classifiers.features import (
    FEATURES,
    SavedRegions,
    TypeFeatures,
    make_features,
)
from denseflip.classifiers.persist import Header
from denseflip.classifiers.tellability import Tellability, ToldDecision
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.cohort.cohort import Cohort
from denseflip.cohort.explain_cohort import explain_cohort
from denseflip.datasets import list_datasets
from denseflip.errors import DenseflipError, FileFormatError, StoreError
from denseflip.result_scores import Stability
from denseflip.runs.result_store import Store
from denseflip.search.claims.reference import PlaceReference
from denseflip.serialise import FORMS
from denseflip.story.story import SavedStory
from denseflip.web.job_store import Job
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


def a_result() -> Counterfactual:
    """A result in which no part is empty."""
    data = make_cohort()
    oracle = fit_oracle(data, "regions-logistic")
    wanted = {"robust": 0.9, "plausible": True, "n": 2, "confidence": 0.6}
    found = explain(
        data.graphs[0], oracle, "con", nodes=data.nodes, background=data.graphs, **wanted
    )
    test = AsRead("regions", "lobe", "any", 20, 19)
    weights = ((0, 1, 0.5, 0.25),)
    stable = Stability(4, (0.9, 1.0, 0.45), 20, 0.8, held_out=True)
    return replace(
        found,
        as_read=test,
        stability=stable,
        front=(found,),
        weights=weights,
        notes=("a",),
        refused={"pairs": 2},
    )


def parts_of(value: Any) -> Iterator[Any]:
    """The value and everything inside it."""
    yield value
    if is_dataclass(value):
        for field in fields(value):
            yield from parts_of(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from parts_of(part)
    elif isinstance(value, (list, tuple)):
        for part in value[:20]:
            yield from parts_of(part)


STORY = a_story()
DATA = make_cohort()
FEATURE_ROWS = (
    *(make_features(name, DATA.nodes) for name in FEATURES),
    TypeFeatures(("C", "N")),
)
LARGE = (
    a_result(),
    STORY,
    STORY.badge,
    SavedStory.from_dict(STORY.to_dict()),
    COHORT,
    JUDGED,
    Tellability("d", "p", "auto", 3, 5, 20, 0, (DECISION,)),
    DATA.nodes,
    replace(DATA.card, caveats=("small",)),
    DATA.summary(),
    replace(list_datasets()[0], variants=("a:b",)),
    FEATURE_ROWS,
    SavedRegions("lobe", ("Front", "Back"), (0, 1, 1)),
    PlaceReference(("Front", "Back"), 9, 2, 4, (3, 4, 5), (1, 2), 3, 5, in_range=True, effect=1.5),
    Header({"name": "edges"}, ("a", "b"), 12, {"seed": 0}, {"skops": "1"}, {"kind": "linear"}),
    Job("a", "explain", "done", {"graph": "g"}, 1.0, 2.0, 3.0, {"a": "b"}, {"c": 1}),
)
EXAMPLES = {  # the first of every class that is saved
    type(part): part for part in reversed([*parts_of(LARGE)]) if hasattr(type(part), "from_dict")
}
SAVED = [kind for kind in EXAMPLES if kind in FORMS]


def plain(thing: Any) -> Any:
    return json.loads(json.dumps(thing.to_dict()))


def deep() -> Any:
    nested: list[Any] = []
    for _ in range(3000):
        nested = [nested]
    return nested


def opens(kind: Any, data: Any) -> None:
    """It is refused with a message, or can be shown, written as JSON and read again."""
    try:
        made = kind.from_dict(data)
    except DenseflipError:
        return
    str(made)
    if kind in SAVED:
        again = json.loads(json.dumps(made.to_dict()))
        assert kind.from_dict(again).to_dict() == made.to_dict()


def test_every_class_that_is_saved_is_tested_here():
    for module in pkgutil.walk_packages(denseflip.__path__, "denseflip."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    ours = {  # classes of examples in docstrings are not attributes of their module
        kind
        for kind in FORMS
        if kind.__module__.startswith("denseflip.")
        and getattr(sys.modules[kind.__module__], kind.__name__, None) is kind
    }
    assert {kind.__name__ for kind in ours - set(SAVED)} == set()


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda x: x.__name__)
def test_any_entry_may_be_wrong(kind):
    data = plain(EXAMPLES[kind])
    assert plain(kind.from_dict(data)) == data
    lenient = kind in FORMS and FORMS[kind].partial
    for value in (*VALUES, deep(), {"__proto__": 1}):
        if not (lenient and isinstance(value, dict)):
            with pytest.raises(DenseflipError):
                kind.from_dict(value)
    for key in data:
        for value in (*VALUES, deep(), ["a"] * 12, -(10**200), {"1": [None]}, [[0, 1]] * 3):
            opens(kind, {**data, key: value})
        opens(kind, {k: v for k, v in data.items() if k != key})


@pytest.mark.parametrize("kind", SAVED, ids=lambda x: x.__name__)
def test_a_wrong_entry_is_named_with_its_value(kind):
    form, data = FORMS[kind], plain(EXAMPLES[kind])
    for key in data:
        if key in get_type_hints(kind) and not has_any_form(get_type_hints(kind)[key]):
            with pytest.raises(FileFormatError, match=rf"^Not {form.named}: .*\b{key}\b.*") as seen:
                kind.from_dict({**data, key: object})
            assert "<class 'object'>" in str(seen.value)
            if not form.partial:
                with pytest.raises(FileFormatError, match=rf"^Not .*the entry {key} is missing"):
                    kind.from_dict({k: v for k, v in data.items() if k != key})


def has_any_form(kind: Any) -> bool:
    return kind is Any or get_origin(kind) is ClassVar or kind is Graph


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
    with pytest.raises(FileFormatError, match=r"^Not a denseflip result: trace\[0\]: the entries "):
        Counterfactual.from_dict({**data, "trace": [{}]})
    with pytest.raises(FileFormatError, match=r"^Not a cohort of denseflip: it has format 99; "):
        Cohort.from_dict({**plain(COHORT), "format": 99})


def test_an_evaluation_of_wrong_types_is_told_on_the_command_line(tmp_path, capsys):
    data = make_cohort()
    path, judged = data.save(tmp_path / "a.dfd"), tmp_path / "judged.json"
    judged.write_text(json.dumps({**plain(JUDGED), "permutations": None}))
    words = ["explain", str(path), data.ids[0], "--oracle", "edges-svm", "--method", "tri"]
    assert run(app, [*words, "--evaluation", str(judged)]) == 1
    said = capsys.readouterr().err
    assert "Not an evaluation: permutations must be a whole number; got None" in said
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
    with pytest.raises(StoreError, match="its content was modified"):
        explain_cohort(data, "regions-logistic", store=tmp_path / "b", **terms)
