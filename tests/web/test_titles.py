"""Data sets are called by their titles, which can be edited, not by the names of their files."""

from __future__ import annotations

import io
import json
import zipfile

import httpx
import pytest

from cohorts import make_cohort
from serving import serving, wait

pytestmark = pytest.mark.filterwarnings("default")
GROUP = {"dataset": "filt_noglobal", "classifier": "edges-logistic", "permutations": 19}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server of a file that is named after a step of a pipeline."""
    folder = tmp_path_factory.mktemp("titles")
    file = make_cohort().save(folder / "filt_noglobal.dfd")  # its name is "cohort"
    with (
        serving(folder / "data", datasets=(str(file),)) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield client, folder / "data"


def title_of(client, **more):
    job = client.post("/api/jobs", json={**GROUP, **more}).json()
    ended = wait(client, job["id"])
    assert ended["status"] == "done", ended
    return ended["summary"]["title"], client.get(f"/api/jobs/{job['id']}/result").json()


def test_a_cohort_is_titled_by_its_data_set_and_the_title_can_be_edited(served):
    client, data = served
    assert title_of(client, kind="many", method="con", classes=["B"])[0].startswith("cohort, many")
    before, _ = title_of(client, kind="cohort")
    assert before.startswith("cohort: what")
    answer = client.patch("/api/datasets/filt_noglobal", json={"title": "  ABIDE,  children "})
    assert (answer.status_code, answer.json()["name"]) == (200, "ABIDE, children")
    [listed] = client.get("/api/datasets").json()
    assert (listed["key"], listed["name"]) == ("filt_noglobal", "ABIDE, children")
    after, result = title_of(client, kind="cohort", seed=1)  # in a worker that had read the old one
    assert after.startswith("ABIDE, children: what")
    assert "filt_noglobal" not in json.dumps(result)
    with serving(data.parent / "again", datasets=(str(data.parent / "filt_noglobal.dfd"),)) as url:
        assert httpx.get(f"{url}/api/datasets").json()[0]["name"] == "cohort"  # file not changed


@pytest.mark.parametrize(
    ("key", "title", "status", "words"),
    [
        ("filt_noglobal", "   ", 422, "title"),
        ("filt_noglobal", "x" * 121, 422, "title"),
        ("no-such", "x", 404, "no-such"),
    ],
)
def test_bad_titles_are_refused_and_change_nothing(served, key, title, status, words):
    client, _ = served
    before = client.get("/api/datasets").json()
    answer = client.patch(f"/api/datasets/{key}", json={"title": title})
    assert answer.status_code == status
    assert words in json.dumps(answer.json())
    assert client.get("/api/datasets").json() == before


def test_a_title_is_forgotten_with_its_upload_and_survives_a_restart(make, study):
    visitor, app = make()
    uploaded = visitor.post("/api/uploads", files={"file": ("a.dfd", study.read_bytes())}).json()
    path = f"/api/datasets/{uploaded['dataset']}"
    assert visitor.request("PATCH", path, json={"title": "Ours\x1b[31m"}).json()["name"] == (
        "Ours\\x1b[31m"
    )
    again = type(app.state.library)(app.state.settings)
    assert again.dataset(uploaded["dataset"]).name == "Ours\\x1b[31m"
    assert visitor.delete(path).status_code == 204
    assert app.state.library.titles() == {}


def test_a_zipped_bids_folder_is_called_by_its_name(make):
    visitor, _ = make()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for i in range(8):
            archive.writestr(
                f"s{i}.csv", "0,1,0\n1,0,1\n0,1,0\n" if i % 2 else "0,1,1\n1,0,0\n1,0,0\n"
            )
        archive.writestr(
            "labels.csv", "id,label\n" + "".join(f"s{i},{'AB'[i % 2]}\n" for i in range(8))
        )
        archive.writestr("dataset_description.json", '{"Name": "Sleep study"}')
    answer = visitor.post("/api/uploads", files={"file": ("filt_noglobal.zip", packed.getvalue())})
    assert (answer.status_code, answer.json()["name"]) == (201, "Sleep study")
