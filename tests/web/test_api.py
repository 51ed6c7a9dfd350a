"""The API: what there is, jobs from question to answer, what-ifs, and one shape of errors."""

from __future__ import annotations

import html
import json
import time

import pytest

from denseflip import Counterfactual, load_dataset
from denseflip.classifiers.presets import fit_oracle
from denseflip.story.story import Story
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


def test_an_explanation_from_question_to_answer(client, done, study):
    result = client.get(f"/api/jobs/{done['id']}/result").json()
    view = result["view"]
    assert view["found"] is True
    assert view["judged"]["accuracy"] > 0
    assert view["before"] != view["after"]
    story = Story.from_dict(result["story"])
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
    lines = client.get(at + "edits.csv").text.splitlines()
    assert lines[0].startswith("change,u,v")
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


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/api/jobs", {"dataset": "../../etc"}, 404, "Unknown data set"),
        ("/api/jobs", ASKED | {"classifier": "os:system"}, 404, "Unknown classifier"),
        ("/api/jobs", ASKED | {"classifier": "/etc/passwd"}, 404, "Unknown classifier"),
        ("/api/jobs", ASKED | {"method": "os:system"}, 404, "Unknown method"),
        ("/api/jobs", ASKED | {"method": "tri+os"}, 404, "Unknown refinement"),
        ("/api/jobs", ASKED | {"subject": "nobody"}, 404, "nobody"),
        ("/api/jobs", ASKED | {"subject": None}, 400, "which graph"),
        ("/api/jobs", ASKED | {"regions": "moon"}, 404, "moon"),
        ("/api/jobs", ASKED | {"target": "C"}, 404, "C"),
        ("/api/jobs", ASKED | {"hack": 1}, 422, "hack"),
        ("/api/jobs", ASKED | {"h\u202ea\x1b[31m": 1}, 422, "h\\u202ea\\x1b[31m"),
        ("/api/jobs", ASKED | {"seed": -1}, 422, "seed"),
        ("/api/whatif", ASKED | {"cells": [{"a": 0, "b": 9}]}, 400, "0..1"),
        ("/api/whatif", ASKED | {"cells": [{"a": 0, "b": 0, "more": 99}]}, 400, "there are"),
        ("/api/whatif", ASKED | {"cells": [{"a": 0, "b": 0}] * 2}, 400, "twice"),
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
    job = client.post("/api/jobs", json=asked).json()
    assert wait(client, job["id"], 120)["status"] == "done"
    cohort = client.get(f"/api/jobs/{job['id']}/result").json()["cohort"]
    assert cohort["sentences"]
    assert cohort["verdict"] in {"named", "nothing", "chance", "untested"}
    table = client.get(f"/api/jobs/{job['id']}/files/cohort.tsv").text
    assert "\t" in table.splitlines()[0]
    page = client.get(f"/api/jobs/{job['id']}/files/cohort.html")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "what the explanations have in common" in page.text
    assert html.escape(cohort["sentences"][0], quote=False)[:60] in page.text
    few = client.post("/api/jobs", json=asked | {"permutations": 3})
    assert few.status_code == 400
    assert "permutations" in error_of(few)
