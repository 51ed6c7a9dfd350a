"""What may come in, and that what is refused leaves nothing behind."""

from __future__ import annotations

import io
import json
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from cohorts import NODES, make_cohort
from denseflip.datasets import Dataset
from denseflip.reading import reading_options
from denseflip.web.server_config import UPLOAD
from denseflip.web.uploads import GRAPHS
from molecules import write_molecules
from serving import wait
from zoo.shapes import EDGES as ZOO_EDGES
from zoo.shapes import GENES, SHAPES
from zoo.shapes import NAMES as ZOO_NAMES

pytestmark = pytest.mark.filterwarnings("default")


class Evil:
    """Would write a file if it were unpickled."""

    def __reduce__(self):
        return (open, ("/tmp/denseflip-was-here", "w"))


def send(client, name, content, **form):
    return client.post("/api/uploads", files={"file": (name, content)}, data=form)


def packed(members, **how):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content, **how)
    return out.getvalue()


def matrix(seed=0):
    a = np.triu(np.random.default_rng(seed).random((12, 12)) < 0.4, 1).astype(int)
    return "\n".join(",".join(map(str, row)) for row in a + a.T)


def object_array():
    out = io.BytesIO()
    np.save(out, np.array([Evil()], dtype=object), allow_pickle=True)
    return out.getvalue()


def linked():
    info = zipfile.ZipInfo("g.csv")
    info.external_attr = 0o120777 << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return out.getvalue()


LABELS = "id,label\n" + "".join(f"s{i},{'AB'[i % 2]}\n" for i in range(8))
STUDY = {f"s{i}.csv": matrix(i) for i in range(8)} | {"labels.csv": LABELS}
BOMB = packed({"a.csv": b"0" * 450_000_000})
HOSTILE = {
    "pickle": ("a.pkl", pickle.dumps([1]), "run code"),
    "pickle under another name": ("a.csv", pickle.dumps(Evil(), 4), "run code"),
    "objects in an array": ("a.npy", object_array(), "never loaded"),
    "classifier": ("a.dfo", b"PK", "run code"),
    "matlab": ("a.mat", b"MATLAB 5.0", "not accepted as uploads"),
    "program": ("a.exe", b"MZ", "not accepted"),
    "no ending": ("README", b"hello", "not accepted"),
    "empty": ("a.csv", b"", "empty"),
    "no zip": ("a.zip", b"PK\x03\x04 rubbish", "zip"),
    "bomb": ("a.zip", BOMB, "exceed the limit"),
    "climbing": ("a.zip", packed({"../../evil.csv": matrix()}), "points outside"),
    "absolute": ("a.zip", packed({"/etc/evil.csv": matrix()}), "points outside"),
    "backslashes": ("a.zip", packed({"..\\..\\evil.csv": matrix()}), "points outside"),
    "link": ("a.zip", linked(), "points outside"),
    "pickle in a zip": ("a.zip", packed({"a.pkl": b"x", "b.csv": matrix()}), "run code"),
    "mat in a zip": ("a.zip", packed({"a.mat": b"x"}), "not accepted as uploads"),
    "no labels": ("a.zip", packed({"a.csv": matrix()}), "label"),
    "wrong size": ("a.csv", b"0,1\n1,0\n", "2 nodes"),
    "no numbers": ("a.csv", b"<script>alert(1)</script>", "a.csv"),
    "no result": ("a.json", b"{}", "not a saved result"),
    "half a result": ("a.json", b'{"story": {"result": {}}}', "Not a denseflip"),
    "no JSON": ("a.json", b"{", "JSON"),
    "deep JSON": ("a.json", b"[" * 200_000, "JSON"),
    "half a data set": ("a.dfd", b"PK\x03\x04", "a"),
}


def everything(folder):
    return {
        p.relative_to(folder) for p in folder.rglob("*") if p.is_file() and "sqlite" not in p.name
    }


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_hostile_or_broken_is_refused_and_nothing_is_kept(client, data, case, tmp_path):
    name, content, words = HOSTILE[case]
    before = everything(data), [s["key"] for s in client.get("/api/datasets").json()]
    jobs = len(client.get("/api/jobs").json())
    answer = send(client, name, content, dataset="study")
    assert answer.status_code in {400, 413}, answer.text
    message = answer.json()["error"]["message"]
    assert words in message
    assert str(data) not in message
    assert "Traceback" not in message
    after = everything(data), [s["key"] for s in client.get("/api/datasets").json()]
    assert after == before
    assert len(client.get("/api/jobs").json()) == jobs
    assert not Path("/tmp/denseflip-was-here").exists()


def test_graphs_whose_nodes_have_only_types_are_refused_with_a_remedy(client, tmp_path):
    folder = write_molecules(tmp_path / "MOL")
    files = {f"MOL/{file.name}": file.read_bytes() for file in folder.iterdir()}
    message = send(client, "MOL.zip", packed(files)).json()["error"]["message"]
    assert "The app needs graphs over the same nodes" in message
    assert "denseflip explain DATA ID" in message


def test_too_large_an_upload_is_refused(client):
    answer = send(client, "a.csv", b"0" * (UPLOAD + 1))
    assert answer.status_code == 413


def test_a_folder_becomes_a_data_set_that_can_be_dropped(client):
    names = STUDY | {"nodes.csv": "name,lobe\n" + "".join(f"n{i},F\n" for i in range(12))}
    answer = send(
        client, "my <b>study</b>.zip", packed({f"study/{k}": v for k, v in names.items()})
    )
    assert answer.status_code == 201, answer.text
    key = answer.json()["dataset"]
    shown = client.get(f"/api/datasets/{key}").json()
    assert shown["n_graphs"] == 8
    assert shown["uploaded"] is True
    assert client.delete(f"/api/datasets/{key}").status_code == 204
    assert client.get(f"/api/datasets/{key}").status_code == 404
    kept = client.delete("/api/datasets/study")
    assert kept.status_code == 400
    assert "cannot be deleted" in kept.json()["error"]["message"]


def test_options_of_a_folder(client):
    held = {k: v for k, v in STUDY.items() if k != "labels.csv"}
    lines = [f"{k.removesuffix('.csv')},x{i},{'Pp'[i == 3]}{i % 2}" for i, k in enumerate(held)]
    content = packed({**held, "labels.csv": "\n".join(["scan,serial,arm", *lines])})
    message = send(client, "s.zip", content).json()["error"]["message"]
    assert message.endswith('In the form: "Class column".')
    options = {"id_column": "scan", "label_column": "ARM", "classes": "P1=patient,P0=control"}
    answer = send(client, "s.zip", content, options=json.dumps(options))
    assert answer.status_code == 201, answer.text
    said = " ".join(answer.json()["notes"])
    assert "classes from the column 'arm'" in said
    assert "were read as one class, 'P1'" in said
    key = answer.json()["dataset"]
    assert client.get(f"/api/datasets/{key}").json()["classes"] == {"patient": 4, "control": 4}
    for bad, message in (
        ("[]", "must be a JSON object"),
        ('{"colour": 1}', "Unknown option of an import 'colour'"),
        ('{"nodes": "../../etc/passwd"}', "Unknown atlas"),
        ('{"drop_nodes": "yes"}', "drop_nodes must be True or False"),
        ('{"classes": 3}', "classes must be a text"),
        ('{"drop_subjects": "nobody", "label_column": "arm"}', "Unknown subject 'nobody'"),
    ):
        refused = send(client, "s.zip", content, options=bad)
        assert refused.status_code in (400, 404), (bad, refused.text)
        assert message in refused.json()["error"]["message"]


def test_a_data_set_file_is_taken(client, tmp_path):
    path = make_cohort(6, seed=5).save(tmp_path / "other.dfd")
    answer = send(client, "other.dfd", path.read_bytes())
    assert answer.status_code == 201
    assert client.get(f"/api/datasets/{answer.json()['dataset']}").json()["n_graphs"] == 12


def test_one_graph_becomes_a_subject_and_is_explained(client):
    answer = send(client, "<img src=x onerror=alert(1)>.csv", matrix(9), dataset="study")
    assert answer.status_code == 201, answer.text
    got = answer.json()
    shown = client.get("/api/datasets/study").json()["subjects"]
    assert got["subject"] in [s["id"] for s in shown]
    asked = {"dataset": "study", "subject": got["subject"], "classifier": "edges-logistic"}
    job = client.post("/api/jobs", json=asked).json()
    assert wait(client, job["id"])["status"] == "done"
    page = client.get(f"/api/jobs/{job['id']}/files/report.html").text
    assert "<img src=x" not in page


def test_a_weighted_matrix_is_thinned_as_asked(client):
    weights = np.random.default_rng(0).random((12, 12))
    text = "\n".join(",".join(f"{x:.3f}" for x in row) for row in weights + weights.T)
    refused = send(client, "w.csv", text, dataset="study")
    assert refused.status_code == 400
    taken = send(client, "w.csv", text, dataset="study", percentile="90")
    assert taken.status_code == 201


def test_a_saved_result_is_shown_again(client):
    asked = {"dataset": "study", "subject": "g0002", "classifier": "edges-logistic"}
    job = client.post("/api/jobs", json=asked).json()
    wait(client, job["id"])
    whole = client.get(f"/api/jobs/{job['id']}/result").json()
    for data in (whole["record"], {"story": whole["story"]}):
        answer = send(client, "result.json", json.dumps(data), dataset="study")
        assert answer.status_code == 201, answer.text
        view = client.get(f"/api/jobs/{answer.json()['job']}/result").json()["view"]
        first = whole["view"]["answers"][whole["view"]["current"]]
        assert view["answers"][0]["added"] == first["added"]
    assert NODES.n_nodes == 12


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("method", 7),
        ("label_after", float("nan")),
        ("confidence_before", float("inf")),
        ("constraints", {"a": 1}),
    ],
)
def test_a_saved_result_with_odd_values_is_refused_and_nothing_waits(client, name, value):
    asked = {"dataset": "study", "subject": "g0002", "classifier": "edges-logistic"}
    job = client.post("/api/jobs", json=asked).json()
    wait(client, job["id"])
    record = client.get(f"/api/jobs/{job['id']}/result").json()["record"]
    before = client.get("/api/jobs?limit=500").json()
    answer = send(client, "result.json", json.dumps(record | {name: value}), dataset="study")
    assert answer.status_code == 400, answer.text
    assert "result.json" in answer.json()["error"]["message"]
    assert client.get("/api/jobs?limit=500").json() == before
    assert client.get("/api/health").json()["waiting"] == 0


def zipped_shape(name):
    """Four copies of a file of the zoo as a folder with labels."""
    shape, suffix = SHAPES[name], Path(name).suffix
    members = {f"s{i}{suffix}": shape.content for i in range(4)}
    members["labels.csv"] = "id,label\n" + "".join(f"s{i},{'AB'[i % 2]}\n" for i in range(4))
    if "node" in shape.options:
        names = {"names": ZOO_NAMES, "genes": GENES}[shape.options["node"]]
        members["nodes.csv"] = "name\n" + "".join(f"{x}\n" for x in names)
    return packed(members)


TAKEN = [
    name
    for name, shape in SHAPES.items()
    if Path(name).suffix in GRAPHS
    and "n_nodes" not in shape.options
    and "nan at" not in shape.refusal
]


def test_an_upload_reads_the_files_of_the_zoo_as_every_other_entrance(client, data):
    for name in TAKEN[::3]:
        shape = SHAPES[name]
        form = {k: str(v) for k, v in shape.options.items() if k != "node"}
        answer = send(client, "a.zip", zipped_shape(name), percentile="50", **form)
        if shape.refusal:
            assert answer.status_code == 400, name
            assert re.search(shape.refusal, answer.json()["error"]["message"]), name
            continue
        assert answer.status_code == 201, (name, answer.text)
        key = answer.json()["dataset"]
        (path,) = data.rglob(f"{key}.dfd")
        assert all(g.edges() == ZOO_EDGES for g in Dataset.load(path).graphs), name
        client.delete(f"/api/datasets/{key}")
    assert len(TAKEN) > 80


def test_the_upload_form_has_the_options_of_the_library(client):
    page = client.get("/").text
    for name, option in reading_options().items():
        assert f'name="{name}"' in page
        assert option.label in page
    triangle = "\n".join(",".join("1" if j > i else "0" for j in range(12)) for i in range(12))
    got = send(client, "a.csv", triangle, dataset="study").json()
    assert got["notes"] == ["Only the upper triangle is filled; it was mirrored to the lower one."]
    wrong = send(client, "a.csv", triangle, dataset="study", header="top")
    assert wrong.status_code == 404
    assert "header" in wrong.json()["error"]["message"]
