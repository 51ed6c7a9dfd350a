"""A key stands for what it stood for: no answer about one data set is shown for another."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace

import pytest

from cohorts import make_cohort
from denseflip.errors import InvalidParameterError
from denseflip.web import api
from denseflip.web.app import _static_text, static_file
from denseflip.web.job_store import Store
from denseflip.web.library import Library
from denseflip.web.server_config import ServerSettings
from serving import serving, wait

pytestmark = pytest.mark.filterwarnings("default")
ASKED = {"dataset": "study", "subject": "g0000", "classifier": "regions-logistic"}


def test_how_good_a_classifier_is_on_one_data_set_is_not_said_of_another(tmp_path):
    import httpx

    make_cohort().save(tmp_path / "study.dfd")

    def judged(client):
        shown = client.get("/api/datasets/study").json()["classifiers"]
        return {c["key"]: c["judged"] for c in shown}["regions-logistic"]

    told = {"datasets": (str(tmp_path / "study.dfd"),)}
    with (
        serving(tmp_path / "data", **told) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        job = client.post("/api/jobs", json=ASKED).json()
        assert wait(client, job["id"])["status"] == "done"
        assert 'id="whatif-data"' in client.get(f"/api/jobs/{job['id']}/files/report.html").text
        first = judged(client)
        assert first is not None
    with (
        serving(tmp_path / "data", **told) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        assert judged(client) == first
    make_cohort(signal=0.0, seed=5).save(tmp_path / "study.dfd", force=True)
    with (
        serving(tmp_path / "data", **told) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        assert judged(client) is None
        page = client.get(f"/api/jobs/{job['id']}/files/report.html")
        assert page.status_code == 200
        assert 'id="whatif-data"' not in page.text  # its weights would be of other graphs


def test_evaluations_are_forgotten_with_their_data_set_only(tmp_path):
    store = Store(tmp_path)
    for dataset in ("upload-1@aa", "upload-1", "upload-12@bb"):
        store.judge(dataset, "c", {"accuracy": 1})
    store.forget("upload-1")
    kept = [store.judged(x, "c") for x in ("upload-1@aa", "upload-1", "upload-12@bb")]
    assert kept == [None, None, {"accuracy": 1}]


def test_two_files_of_one_name_are_not_served_as_one(tmp_path):
    paths = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        paths.append(str(make_cohort().save(tmp_path / place / "study.dfd")))
    with pytest.raises(InvalidParameterError, match="both be named 'study'"):
        Library(ServerSettings(datasets=tuple(paths), data=tmp_path / "data"))
    twice = Library(ServerSettings(datasets=(paths[0], paths[0]), data=tmp_path / "data"))
    assert twice.all_keys() == ["study"]


def test_the_page_begins_its_what_if_with_the_answer_that_it_tells(client):
    from denseflip.story.story import Story

    asked = ASKED | {"classifier": "edges-logistic"}
    job = client.post("/api/jobs", json=asked | {"front": True}).json()
    assert wait(client, job["id"])["status"] == "done"
    front = client.get(f"/api/jobs/{job['id']}/result").json()["front"]
    assert len(front) > 1
    starts = []
    for i, one in enumerate(front):
        page = client.get(f"/api/jobs/{job['id']}/files/report.html?answer={i}").text
        found = re.search(r'id="whatif-data">(.*?)</script>', page, re.S)
        story = Story.from_dict(one)
        starts.append(json.loads(found[1])["start"])
        edits = story.named_edits
        assert sorted(map(tuple, starts[-1]["edits"])) == sorted((*edits.added, *edits.removed))
        cells = tuple(((c["a"], c["b"]), c["more"], c["fewer"]) for c in starts[-1]["cells"])
        assert cells == (() if starts[-1]["pairs"] else story.claim.amounts)
        assert starts[-1]["reading"] == ("any" if starts[-1]["pairs"] else story.claim.reading)
        here = {**asked, "job": job["id"], "answer": i}
        assert client.get("/api/whatif", params=here).json()["start"] == starts[-1]
    assert starts[0] != starts[1]


def test_a_classifier_at_work_for_a_job_is_told_and_holds_nobody_up(tmp_path, study, monkeypatch):
    import httpx

    (tmp_path / "own_busy.py").write_text("def label(a):\n    return int(a.sum() > 40)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(api, "PATIENCE", 0.05)
    told = {"datasets": (str(study),), "oracles": ("own_busy:label",)}
    held = threading.Lock()
    with (
        serving(tmp_path / "data", **told) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        monkeypatch.setattr(
            Library,
            "classifier",
            lambda self, key, name, whole=Library.classifier, **how: replace(
                whole(self, key, name, **how), lock=held
            ),
        )
        asked = ASKED | {"classifier": "own_busy-label"}
        with held:
            answer = client.post("/api/whatif", json=asked)
        assert answer.status_code == 409
        assert "try again" in answer.json()["error"]["message"]
        assert client.post("/api/whatif", json=asked).status_code == 200
        assert not held.locked()


def test_names_that_are_no_files_are_not_kept():
    static_file("app.css")
    before = _static_text.cache_info().currsize
    assert [static_file(f"no-{i}.js") for i in range(50)] == [None] * 50
    assert _static_text.cache_info().currsize == before


def test_a_classifier_that_has_the_names_for_other_labels_is_told_by_its_own(
    tmp_path, study, monkeypatch
):
    import httpx

    (tmp_path / "own_turned.py").write_text(
        "class Rule:\n    classes = (0, 1)\n    class_names = ('B', 'A')\n"
        "    def predict(self, graphs):\n        return [0 for _ in graphs]\nrule = Rule()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    told = {"datasets": (str(study),), "oracles": ("own_turned:rule",)}
    with (
        serving(tmp_path / "data", **told) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        asked = ASKED | {"classifier": "own_turned-rule"}
        assert client.post("/api/whatif", json=asked).json()["before"] == "B"
        data = client.get("/api/whatif", params=asked).json()
        assert dict(map(tuple, data["classes"]))[data["before"]] == "B"
