"""What reviews of the app found, and must not come back; the rest is beside what it is about."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from cohorts import NODES, make_cohort
from denseflip import explain
from denseflip.errors import InvalidParameterError, TooLargeError
from denseflip.graph import Nodes
from denseflip.limits import allow
from denseflip.story.describe import describe
from denseflip.web import api
from denseflip.web import library as shelf
from denseflip.web.downloads import brainnet_edges, make_file, story_of

pytestmark = pytest.mark.filterwarnings("default")


def rule(adjacency):
    return int(adjacency[:6, :6].sum() > 8)


def told(graph, nodes=NODES):
    return describe(explain(graph, rule, "edg"), nodes, subject="g", class_names={0: "A", 1: "B"})


@pytest.fixture(scope="module")
def story():
    """An explanation of the first graph of the study, by a rule."""
    made = told(make_cohort().graphs[0])
    assert made.result.found
    return made


def kept(app, story, subject, front=()):
    """A job that explained a subject."""
    asked = {"dataset": "study", "subject": subject, "classifier": "edges-logistic"}
    result = {"story": story.to_dict(), "front": [x.to_dict() for x in front]}
    return app.state.store.add_done("explain", asked, {}, result), asked


def test_a_job_about_another_graph_gives_no_what_if(make, story):
    visitor, app = make()
    job, asked = kept(app, story, "g0000")
    here = {**asked, "job": job.id}
    assert visitor.get("/api/whatif", params=here).json()["start"]
    other = visitor.get("/api/whatif", params=here | {"subject": "g0001"})
    assert other.status_code == 409
    assert "another graph" in other.json()["error"]["message"]


def test_a_page_is_alive_only_if_its_classifier_says_what_it_said(make, story):
    visitor, app = make()
    label = app.state.library.classifier("study", "edges-logistic").oracle
    [before] = label.predict([story.result.original])
    ends = {}
    for turned in (False, True):
        said = before if not turned else 1 - before
        result = replace(story.result, label_before=said, label_after=1 - said)
        job, _ = kept(app, replace(story, result=result), "g0000")
        page = visitor.get(f"/api/jobs/{job.id}/files/report.html")
        assert page.status_code == 200, page.text
        ends[turned] = 'id="whatif-data"' in page.text
    assert ends == {False: True, True: False}
    gone, _ = kept(app, story, "nobody")
    page = visitor.get(f"/api/jobs/{gone.id}/files/report.html")
    assert page.status_code == 200
    assert 'id="whatif-data"' not in page.text


def test_an_answer_that_is_not_there_is_told(make, story):
    visitor, app = make()
    job, asked = kept(app, story, "g0000", front=(story, story))
    assert visitor.get(f"/api/jobs/{job.id}/files/edits.csv?answer=1").status_code == 200
    for path, how in (
        (f"/api/jobs/{job.id}/files/edits.csv?answer=2", {}),
        ("/api/whatif", {"params": {**asked, "job": job.id, "answer": 2}}),
    ):
        answer = visitor.get(path, **how)
        assert answer.status_code == 400
        assert "from 0 to 1; got 2" in answer.json()["error"]["message"]
    with pytest.raises(InvalidParameterError):
        story_of({"story": {}, "front": [{}]}, -1)


def test_a_matrix_that_would_be_too_large_is_not_written(story):
    assert brainnet_edges(story).count("\n") == 12
    with allow(100), pytest.raises(TooLargeError):
        brainnet_edges(story)


def test_a_spreadsheet_takes_no_name_for_a_formula(story):
    names = ("=1+1", "+a", "-b", "@c", "\tx", "plain", *(f"n{i}" for i in range(6)))
    nodes = Nodes(tuple(n.strip("\t") or "t" for n in names))
    result = {"story": told(story.result.original, nodes).to_dict()}
    rows = list(csv.reader(io.StringIO(make_file("edits.csv", result))))
    cells = [cell for row in rows[1:] for cell in row[4:8]]
    assert cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_what_was_brought_is_said_to_be_so(make, story):
    visitor, _ = make()
    content = json.dumps({"story": story.to_dict()})
    answer = visitor.post("/api/uploads", files={"file": ("x.json", content)})
    assert answer.status_code == 201, answer.text
    job = visitor.get(f"/api/jobs/{answer.json()['job']}").json()
    assert (job["kind"], job["status"]) == ("brought", "done")
    view = visitor.get(f"/api/jobs/{job['id']}/result").json()["view"]
    assert view["brought"] is True
    assert visitor.post(f"/api/jobs/{job['id']}/again").status_code == 409


def test_an_evaluation_is_kept_for_the_data_set_that_was_judged(make, monkeypatch):
    """The file of a data set may be another one when the judging is done."""
    from denseflip.web import job_work as doing
    from denseflip.web.job_runner import JobProgress

    _, app = make()
    library = app.state.library
    before = library.identity("study")

    class Made:
        def to_dict(self):
            return {"accuracy": 0.5}

    def evaluate(*_, **__):
        library._loaded.drop(lambda key: True)
        other = make_cohort(seed=7)
        monkeypatch.setitem(library._entries, "study", shelf.Entry("study", "study", lambda: other))
        return Made()

    monkeypatch.setattr(doing, "evaluate", evaluate)
    app.state.work._judged("study", "sf-knn", JobProgress("x"))
    assert library.identity("study") != before
    assert app.state.store.judged(before, "sf-knn") == {"accuracy": 0.5}
    assert app.state.store.judged(library.identity("study"), "sf-knn") is None


def test_a_page_does_not_wait_for_ever_for_a_classifier_in_training(make, monkeypatch):
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    visitor, _ = make()
    begun, go, whole = Event(), Event(), shelf.open_oracle

    def train(words, **how):
        begun.set()
        assert go.wait(20)
        return whole(words, **how)

    monkeypatch.setattr(shelf, "open_oracle", train)
    monkeypatch.setattr(api, "TRAINING", 0.0)
    asked = {"dataset": "study", "subject": "g0000", "classifier": "edges-logistic"}
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(visitor.post, "/api/whatif", json=asked)
        assert begun.wait(20)
        second = visitor.post("/api/whatif", json=asked)
        assert second.status_code == 409
        assert "is being trained; try again" in second.json()["error"]["message"]
        assert visitor.get("/api/datasets/study").status_code == 200
        go.set()
        assert first.result(60).status_code == 200


def test_a_data_set_that_cannot_be_read_is_listed_with_its_reason(make):
    visitor, app = make()

    def broken():
        raise InvalidParameterError("no\x1b[2J such file")

    app.state.library._entries["bad"] = shelf.Entry("bad", "bad", broken)
    listed = {one["key"]: one for one in visitor.get("/api/datasets").json()}
    assert listed["study"]["n_graphs"] == 24
    assert "such file" in listed["bad"]["error"]
    assert "\x1b" not in listed["bad"]["error"]
