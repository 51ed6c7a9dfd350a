"""The true class in the app: sentence, comparison, index, files, and a result brought back."""

from __future__ import annotations

import json
import sys

import httpx
import pytest

from cohorts import make_cohort
from serving import serving, wait

pytestmark = pytest.mark.filterwarnings("default")  # of libraries of the server
DATA = make_cohort()
WRONG = next(x for x in DATA if int(x.graph.has_edge(0, 1)) != x.label)
RIGHT = next(x for x in DATA if int(x.graph.has_edge(0, 1)) == x.label)
SAYS = f"; the data set says {DATA.class_names[WRONG.label]}."


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A client of a server with a classifier whose mistakes are known."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "weblinked.py").write_text("def label(a):\n    return int(a[0, 1])\n")
    study = DATA.save(folder / "study.dfd")
    sys.path.insert(0, str(folder))
    told = {"datasets": (str(study),), "oracles": ("weblinked:label",)}
    try:
        with (
            serving(folder / "data", **told) as url,
            httpx.Client(base_url=url, timeout=60) as made,
        ):
            yield made
    finally:
        sys.path.remove(str(folder))


def asked(client, **more):
    key = client.get("/api/datasets/study").json()["classifiers"][0]["key"]
    method = {} if more.get("kind") == "compare" else {"method": "edg+min"}
    return {"dataset": "study", "classifier": key, **method, **more}


def result_of(client, **more):
    job = client.post("/api/jobs", json=asked(client, **more))
    assert job.status_code == 201, job.text
    ended = wait(client, job.json()["id"])
    assert ended["status"] == "done", ended
    return ended["id"], client.get(f"/api/jobs/{ended['id']}/result").json()


def test_an_explanation_says_it_in_its_first_line(own):
    id, result = result_of(own, subject=WRONG.id)
    view = result["view"]
    assert (view["trueClass"], view["correct"]) == (DATA.class_names[WRONG.label], False)
    assert SAYS in view["answers"][0]["lead"]
    page = own.get(f"/api/jobs/{id}/files/report.html").text
    assert SAYS in page
    assert own.get(f"/api/jobs/{id}/files/result.json").json()["correct"] is False


def test_where_it_is_right_a_note_says_so(own):
    _, result = result_of(own, subject=RIGHT.id)
    view = result["view"]
    assert view["correct"] is True
    assert "data set" not in view["answers"][0]["lead"]
    assert sum("data set says" in note for note in view["answers"][0]["notes"]) == 1


def test_a_comparison_says_it_once_for_all(own):
    _, result = result_of(own, kind="compare", subject=WRONG.id, methods=["edg", "tri"])
    assert result["classified"].endswith(SAYS)
    assert [row["correct"] for row in result["record"]] == [False, False]
    script = own.get("/static/sides.js").text
    assert 'find("comparison-classified")' in script
    assert 'id="comparison-classified"' in own.get("/").text


def test_the_index_of_many_and_one_of_them(own):
    id, result = result_of(own, kind="many", subjects=[WRONG.id, RIGHT.id])
    rows = {row["id"]: row for row in result["many"]["rows"]}
    assert [rows[x.id]["wrong"] for x in (WRONG, RIGHT)] == [True, False]
    assert [rows[x.id]["correct"] for x in (WRONG, RIGHT)] == [False, True]
    page = own.get(f"/api/jobs/{id}/files/index.html").text
    assert page.count("misclassified") == 1
    _, one = result_of(own, subject=WRONG.id, of=id)
    assert SAYS in one["view"]["answers"][0]["lead"]


def test_a_result_that_is_brought_back_keeps_it(own):
    id, _ = result_of(own, subject=WRONG.id)
    saved = own.get(f"/api/jobs/{id}/files/result.json").content
    page = own.get(f"/api/jobs/{id}/files/report.html").text
    start = page.index('id="denseflip-data">') + len('id="denseflip-data">')
    inside = json.loads(page[start : page.index("</script>", start)])
    for content in (saved, json.dumps(inside).encode()):
        files = {"file": ("result.json", content)}
        got = own.post("/api/uploads", files=files, data={"dataset": "study"}).json()
        view = own.get(f"/api/jobs/{got['job']}/result").json()["view"]
        assert view["correct"] is False
        assert SAYS in view["answers"][0]["lead"]


def test_a_graph_that_was_uploaded_has_no_true_class(own):
    text = "\n".join(",".join(str(int(x)) for x in row) for row in WRONG.graph.to_adjacency())
    got = own.post(
        "/api/uploads", files={"file": ("new.csv", text.encode())}, data={"dataset": "study"}
    ).json()
    _, result = result_of(own, subject=got["subject"])
    assert (result["view"]["trueClass"], result["view"]["correct"]) == (None, None)
    assert "data set says" not in json.dumps(result["view"])
