"""The API: what there is, jobs from question to answer, what-ifs, and one shape of errors."""

from __future__ import annotations

import html
import json
import time

import pytest

from denseflip import Counterfactual, load_dataset
from denseflip.classifiers.presets import default_preset, fit_oracle
from denseflip.request import list_options
from denseflip.story.story import Story
from denseflip.web.schemas import NOT_HERE
from denseflip.workflow.compare import COMPARED
from serving import serving, wait

pytestmark = pytest.mark.filterwarnings("default")  # of libraries of the server
ASKED = {"dataset": "study", "subject": "g0000", "classifier": "edges-logistic"}


@pytest.fixture(scope="module")
def done(client):
    """An explanation that is done."""
    job = client.post("/api/jobs", json=ASKED)
    assert job.status_code == 201
    ended = wait(client, job.json()["id"])
    assert ended["status"] == "done", ended
    return ended


def error_of(answer):
    body = answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"kind", "message", "parameters"}
    return body["error"]["message"]


def test_data_sets_subjects_and_classifiers_are_listed(client):
    [one] = [s for s in client.get("/api/datasets").json() if s["key"] == "study"]
    assert one["classes"] == {"A": 12, "B": 12}
    shown = client.get("/api/datasets/study").json()
    assert [s["id"] for s in shown["subjects"]][:2] == ["g0000", "g0001"]
    assert "regions-logistic" in [c["key"] for c in shown["classifiers"]]
    assert shown["regions"]["lobe"] == ["Front", "Back"]
    methods = client.get("/api/methods").json()
    assert methods[0]["name"] == "auto"


def test_every_option_of_a_request_is_described_for_a_form(client):
    """An option that is added to `Request` is in the form and in the schema by itself."""
    options = list_options()
    listed = client.get("/api/options").json()
    assert [one["name"] for one in listed] == [n for n in options if n not in NOT_HERE]
    schema = client.get("/openapi.json").json()["components"]["schemas"]["JobRequest"]
    for one in listed:
        option = options[one["name"]]
        assert (one["label"], one["group"]) == (option.label, option.group)
        assert (one["kind"], one["common"]) == (option.kind, option.common)
        assert one["help"]
        assert "{" not in one["help"]
        assert "_" not in one["help"]  # no name of Python's
        field = schema["properties"][one["name"]]
        assert field["description"] == option.text()
        assert one["default"] == field.get("default")
        bounds = [field, *field.get("anyOf", [])]
        assert one["maximum"] in [bound.get("maximum") for bound in bounds]


def test_without_a_classifier_the_default_of_the_command_line_is_explained(client, study):
    shown = client.get("/api/datasets/study").json()
    assert shown["default_classifier"] == default_preset(load_dataset(study))
    job = client.post("/api/jobs", json={"dataset": "study", "subject": "g0000"}).json()
    assert job["request"]["classifier"] == shown["default_classifier"]
    wait(client, job["id"])


@pytest.mark.parametrize(
    ("kind", "option"),
    [
        ("compare", {"front": True}),
        ("compare", {"n": 2}),
        ("compare", {"language": "nodes"}),
        ("compare", {"method": "tri"}),
        ("cohort", {"target": "A"}),
        ("cohort", {"method": "tri"}),
        ("cohort", {"budget": 100}),
        ("cohort", {"time_limit": 5}),
        ("judge", {"only": "add"}),
        ("judge", {"seed": 3}),
    ],
)
def test_options_that_a_job_does_not_use_are_refused(client, kind, option):
    answer = client.post("/api/jobs", json=ASKED | {"kind": kind} | option)
    assert answer.status_code == 400
    assert "does not apply" in error_of(answer)
    assert answer.json()["error"]["parameters"] == list(option)


def test_a_comparison_uses_the_methods_of_the_command_line(client):
    job = client.post("/api/jobs", json=ASKED | {"kind": "compare", "freeze": ["n0"]}).json()
    assert wait(client, job["id"])["status"] == "done"
    rows = client.get(f"/api/jobs/{job['id']}/result").json()["rows"]
    assert tuple(row["method"] for row in rows) == COMPARED


@pytest.mark.parametrize("option", ["front", "n"])
def test_several_answers_only_if_they_are_requested(client, option):
    asked = ASKED | {"subject": "g0002"}
    seen = {}
    for more in ({}, {option: 2 if option == "n" else True}):
        job = client.post("/api/jobs", json=asked | more).json()
        assert wait(client, job["id"])["status"] == "done"
        view = client.get(f"/api/jobs/{job['id']}/result").json()["view"]
        seen[bool(more)] = view
    assert len(seen[False]["answers"]) == 1
    assert len(seen[True]["answers"]) > 1
    assert seen[True]["diverse"] is (option == "n")


def test_an_explanation_from_question_to_answer(client, done, study):
    result = client.get(f"/api/jobs/{done['id']}/result").json()
    view = result["view"]
    assert view["found"] is True
    assert view["judged"]["accuracy"] > 0
    assert view["before"] != view["after"]
    story = Story.from_dict(result["story"])
    strip = view["answers"][view["current"]]["strip"]
    assert strip.count('role="img"') == len(story.reference) > 0
    graphs = sum(len(place.group) + len(place.same) for place in story.reference)
    assert strip.count("<circle") == graphs + len(story.reference)
    data = load_dataset(study)
    oracle = fit_oracle(data, "edges-logistic")
    counterfactual = story.result.counterfactual
    assert oracle.predict([counterfactual]) == [story.result.label_after]
    assert view["replay"][0]["label"] == view["before"]
    assert view["replay"][-1]["label"] == view["after"]
    # The accuracy is now known wherever the classifier is named.
    shown = client.get("/api/datasets/study").json()
    [judged] = [c["judged"] for c in shown["classifiers"] if c["key"] == "edges-logistic"]
    assert judged["accuracy"] == view["judged"]["accuracy"]


def test_events_tell_how_it_goes_until_it_is_done(client):
    job = client.post("/api/jobs", json=ASKED | {"seed": 3}).json()
    stages, lags = [], []
    with client.stream("GET", f"/api/jobs/{job['id']}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if line.startswith("data:"):
                facts = json.loads(line[5:])
                lags.append(time.time() - facts["sent"] if "sent" in facts else 0)
                stages.append(facts["status"])
    assert stages[-1] == "done"
    assert sorted(lags)[len(lags) // 2] < 5  # the figure is printed by scripts/web_event_delays.py
    # Whoever comes later is told at once.
    late = client.get(f"/api/jobs/{job['id']}/events").text
    assert '"status": "done"' in late


def test_methods_side_by_side(client):
    asked = ASKED | {"kind": "compare", "methods": ["auto", "con", "rcli"]}
    job = client.post("/api/jobs", json=asked).json()
    assert wait(client, job["id"])["status"] == "done"
    rows = client.get(f"/api/jobs/{job['id']}/result").json()["rows"]
    assert [row["method"] for row in rows] == ["auto", "con", "rcli"]
    assert all(row["sentence"] for row in rows)
    assert client.get(f"/api/jobs/{job['id']}/files/edits.csv").status_code == 400


def test_a_classifier_is_judged_by_itself(client):
    job = client.post("/api/jobs", json={"kind": "judge", "dataset": "study"}).json()
    ended = wait(client, job["id"])
    assert ended["summary"]["level"] in {"better", "chance", "unclear"}


def test_what_is_taken_away(client, done):
    at = f"/api/jobs/{done['id']}/files/"
    page = client.get(at + "report.html")
    assert "attachment" in page.headers["content-disposition"]
    assert 'id="whatif-data"' in page.text
    result = client.get(at + "result.json").json()
    assert Counterfactual.from_dict(result).found
    strip = client.get(at + "reference.svg")
    assert strip.headers["content-type"] == "image/svg+xml"
    assert 'id="group"' in strip.text
    lines = client.get(at + "edits.csv").text.splitlines()
    assert lines[0].startswith("id,change,node_1,node_2,name_1")
    assert len(lines) == 1 + result["distance"]
    matrix = [line.split("\t") for line in client.get(at + "brain.edge").text.splitlines()]
    assert len(matrix) == len(matrix[0]) == 12
    assert sum(x != "0" for row in matrix for x in row) == 2 * result["distance"]
    assert "coordinates" in error_of(client.get(at + "brain.node"))
    assert client.get(at + "passwd").status_code == 404


def test_what_if_by_hand_is_what_the_classifier_says(client, study):
    data = load_dataset(study)
    oracle = fit_oracle(data, "edges-logistic")
    asked = ASKED | {"cells": [{"a": 0, "b": 1, "more": 6}], "pairs": [[0, 1]]}
    answer = client.post("/api/whatif", json=asked).json()
    changed = data["g0000"].graph.toggle(tuple(map(tuple, answer["pairs"])))
    assert answer["label"] == data.class_names[oracle.predict([changed])[0]]
    assert answer["confidence"] == pytest.approx(oracle.predict_proba([changed]).max())
    assert answer["draws"] == 20
    assert len(answer["pairs"]) == 7
    again = client.post("/api/whatif", json=asked).json()
    assert again == answer
    nothing = client.post("/api/whatif", json=ASKED).json()
    assert nothing["label"] == nothing["before"]
    assert nothing["draws"] == 1


def explained(client, **asked):
    """The id of an explanation that is done, and its story."""
    job = client.post("/api/jobs", json=ASKED | asked).json()["id"]
    assert wait(client, job)["status"] == "done"
    return job, Story.from_dict(client.get(f"/api/jobs/{job}/result").json()["story"])


@pytest.mark.parametrize(
    ("classifier", "subject", "reading"),
    [
        ("regions-logistic", "g0000", "any"),
        ("sf-knn", "g0019", "typical"),
        ("edges-logistic", "g0006", "distinctive"),
    ],
)
def test_what_if_opens_with_the_claim_of_the_sentence(client, classifier, subject, reading):
    job, story = explained(client, subject=subject, classifier=classifier)
    asked = {**ASKED, "subject": subject, "classifier": classifier}
    data = client.get("/api/whatif", params={**asked, "job": job}).json()
    start = data["start"]
    assert start["reading"] == story.reading == reading
    cells = tuple(((c["a"], c["b"]), c["more"], c["fewer"]) for c in start["cells"])
    assert cells == story.claim.amounts
    assert start["test"] == {"draws": story.as_read.draws, "flips": story.as_read.flips}
    target = dict(data["classes"])[data["target"]]
    body = {"cells": start["cells"], "reading": reading, "target": target, "first": start["edits"]}
    body["draws"] = 100
    answer = client.post("/api/whatif", json=asked | body).json()
    assert answer["label"] == target != answer["before"]
    assert answer["flips"] >= 0.8 * answer["draws"]  # new draws: the claim of g0019 holds in .89


@pytest.mark.parametrize("classifier", ["regions-logistic", "sf-knn"])
def test_what_if_opens_with_a_claim_that_keeps_the_number_of_connections(client, classifier):
    asked = {**ASKED, "subject": "g0001", "classifier": classifier}
    job, story = explained(client, **asked, method="brief", balance="on")
    assert story.claim.balanced
    data = client.get("/api/whatif", params={**asked, "job": job}).json()
    start = data["start"]
    assert start["balance"] is True
    assert (data["model"] is None) == (classifier == "sf-knn")
    body = {"cells": start["cells"], "reading": start["reading"], "balance": True}
    body["target"] = dict(data["classes"])[data["target"]]
    answer = client.post("/api/whatif", json=asked | body).json()
    assert answer["flips"] >= 0.9 * answer["draws"]
    assert answer["added"] == answer["removed"] > 0
    first = client.post("/api/whatif", json=asked | body | {"first": start["edits"]}).json()
    assert sorted(first["pairs"]) == sorted(map(list, story.result.edits.pairs))
    plain = client.post("/api/whatif", json=asked | body | {"balance": False}).json()
    assert plain["added"] != plain["removed"]


def test_what_if_draws_nothing_that_was_frozen(client):
    job, story = explained(client, freeze=["n0", "n1", "n2"])
    body = {"cells": [{"a": 0, "b": 1, "more": 5}, {"a": 7, "b": None, "fewer": 1}]}
    for seed in range(4):
        given = ASKED | body | {"seed": seed, "job": job}
        pairs = client.post("/api/whatif", json=given).json()["pairs"]
        assert len(pairs) == 6
        assert min(u for u, _ in pairs) > 2
    elsewhere = ASKED | body | {"subject": "g0001", "job": job}
    assert client.post("/api/whatif", json=elsewhere).status_code == 409
    assert story.result.constraints["freeze"]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/api/jobs", {"dataset": "../../etc"}, 404, "Unknown data set"),
        ("/api/jobs", ASKED | {"classifier": "os:system"}, 404, "Unknown classifier"),
        ("/api/jobs", ASKED | {"classifier": "/etc/passwd"}, 404, "Unknown classifier"),
        ("/api/jobs", ASKED | {"method": "os:system"}, 404, "Unknown method"),
        ("/api/jobs", ASKED | {"method": "tri+os"}, 404, "Unknown refinement"),
        ("/api/jobs", ASKED | {"subject": "nobody"}, 404, "nobody"),
        ("/api/jobs", ASKED | {"subject": None}, 400, "Choose a graph"),
        ("/api/jobs", ASKED | {"regions": "moon"}, 404, "moon"),
        ("/api/jobs", ASKED | {"target": "C"}, 404, "C"),
        ("/api/jobs", ASKED | {"hack": 1}, 422, "hack"),
        ("/api/jobs", ASKED | {"h\u202ea\x1b[31m": 1}, 422, "h\\u202ea\\x1b[31m"),
        ("/api/jobs", ASKED | {"seed": -1}, 422, "seed"),
        ("/api/whatif", ASKED | {"cells": [{"a": 0, "b": 9}]}, 400, "0..1"),
        ("/api/whatif", ASKED | {"cells": [{"a": 0, "b": 0, "more": 99}]}, 400, "there are"),
        ("/api/whatif", ASKED | {"cells": [{"a": 0, "b": 0}] * 2}, 400, "twice"),
        ("/api/whatif", ASKED | {"cells": [{"a": 12, "b": None, "more": 1}]}, 400, "0..11"),
        ("/api/whatif", ASKED | {"reading": "moon"}, 422, "reading"),
        ("/api/whatif", ASKED | {"balance": "moon"}, 422, "balance"),
        ("/api/whatif", ASKED | {"balance": None}, 422, "balance"),
        (
            "/api/whatif",
            ASKED | {"balance": True, "cells": [{"a": a, "b": 1, "more": 8} for a in (0, 1)]},
            400,
            "cannot be kept",
        ),
        ("/api/whatif", ASKED | {"job": "x"}, 422, "job"),
        ("/api/whatif", ASKED | {"pairs": [[0, 12]]}, 400, "0..11"),
        ("/api/whatif", ASKED | {"pairs": [[3, 3]]}, 400, "different nodes"),
        ("/api/jobs/0123456789abcdef/cancel", {}, 404, "no job"),
    ],
)
def test_bad_requests_get_one_shape_and_a_reason(client, path, body, status, words):
    answer = client.post(path, json=body)
    assert answer.status_code == status, answer.text
    assert words in error_of(answer)


def test_unknown_places_have_the_same_shape(client):
    for path in ("/nothing", "/static/../app.py", "/static/%2e%2e%2fapp.py", "/api/jobs/x"):
        answer = client.get(path)
        assert answer.status_code in {404, 422}
        error_of(answer)
    assert client.put("/api/jobs").status_code == 405


def test_a_long_job_is_cancelled(client):
    asked = {"dataset": "study", "subject": "g0001", "classifier": "sf-knn", "kind": "compare"}
    methods = ["obs+min", "race", "tight", "best", "dbs+bw", "edg"]
    job = client.post("/api/jobs", json=asked | {"methods": methods}).json()
    answer = client.post(f"/api/jobs/{job['id']}/cancel")
    assert answer.status_code == 200
    assert wait(client, job["id"])["status"] == "cancelled"
    assert client.post(f"/api/jobs/{job['id']}/cancel").status_code == 409
    assert client.get(f"/api/jobs/{job['id']}/result").status_code == 409
    assert client.post(f"/api/jobs/{job['id']}/again").json()["status"] == "queued"
    wait(client, job["id"])


def test_a_classifier_of_ones_own_is_asked_and_its_failure_told(tmp_path, study, monkeypatch):
    import httpx

    (tmp_path / "own_rules.py").write_text(
        "def label(a):\n    return int(a[:6, :6].sum() > a[6:, 6:].sum())\n"
        "def broken(a):\n    raise RuntimeError('no <b>today</b>')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    oracles = ("own_rules:label", "own_rules:broken")
    with (
        serving(tmp_path / "data", datasets=(str(study),), oracles=oracles) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        shown = client.get("/api/datasets/study").json()["classifiers"]
        assert [c["key"] for c in shown][:2] == ["own_rules-label", "own_rules-broken"]
        asked = {"dataset": "study", "subject": "g0000"}
        job = client.post("/api/jobs", json=asked | {"classifier": "own_rules-label"}).json()
        assert wait(client, job["id"])["status"] == "done"
        view = client.get(f"/api/jobs/{job['id']}/result").json()["view"]
        assert view["judged"] is None
        job = client.post("/api/jobs", json=asked | {"classifier": "own_rules-broken"}).json()
        ended = wait(client, job["id"])
        assert ended["status"] == "failed"
        assert "no <b>today</b>" in ended["error"]["message"]


def test_what_a_cohort_has_in_common(client):
    asked = {"kind": "cohort", "dataset": "study", "permutations": 19}
    asked |= {"in_range": "require", "balance": "off"}
    job = client.post("/api/jobs", json=asked).json()
    assert wait(client, job["id"], 120)["status"] == "done"
    found = client.get(f"/api/jobs/{job['id']}/result").json()
    cohort = found["cohort"]
    assert all("in_range" in row and "effect" in row for row in cohort["rows"])
    assert cohort["sentences"]
    assert cohort["verdict"] in {"named", "nothing", "chance", "untested"}
    table = client.get(f"/api/jobs/{job['id']}/files/cohort.tsv").text
    assert "\tin_range\t" in table.splitlines()[0]
    record = client.get(f"/api/jobs/{job['id']}/files/result.json").json()
    assert record["settings"]["in_range"] == "require"
    assert record["settings"]["balance"] == "off"
    assert all(p["in_range"] for p in record["observed"]["patients"] if p["changes"])
    page = client.get(f"/api/jobs/{job['id']}/files/cohort.html")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "what the explanations have in common" in page.text
    assert html.escape(cohort["sentences"][0], quote=False)[:60] in page.text
    few = client.post("/api/jobs", json=asked | {"permutations": 3})
    assert few.status_code == 400
    assert "permutations" in error_of(few)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ({"method": "triangels"}, "tri"),
        ({"method": "tri+minimal"}, "min"),
        ({"classifier": "svm"}, "edges-svm"),
        ({"regions": "lobes"}, "lobe"),
        ({"dataset": "studdy"}, "study"),
    ],
)
def test_names_that_are_not_known_are_answered_with_a_suggestion(make, asked, meant):
    visitor, _ = make()
    answer = visitor.post("/api/jobs", json=ASKED | asked)
    assert answer.status_code in (400, 404)
    assert f"Did you mean '{meant}'?" in error_of(answer)
