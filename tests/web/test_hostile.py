"""Uploads that want to run, read, fill or be shown as what they are not: nothing of them stays."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from bombs import npy_head, zip_of
from denseflip.web import uploads

pytestmark = pytest.mark.filterwarnings("default")
GRAPH = "\n".join(",".join("01"[u != v] for v in range(12)) for u in range(12))


class Evil:
    """Would end the test if it were unpickled."""

    def __reduce__(self):
        return (pytest.exit, ("unpickled",))


def objects():
    """A data set file whose arrays are pickles."""
    out = io.BytesIO()
    np.savez(out, header=np.array([Evil()], dtype=object))
    return out.getvalue()


def special(name, mode):
    """A zip with one member that is no plain file."""
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(info, "/etc")
        archive.writestr("a.csv", GRAPH)
    return out.getvalue()


def flagged():
    """A zip that says it is encrypted."""
    whole = bytearray(zip_of({"a.csv": GRAPH.encode()}))
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        at = whole.index(mark) + (6 if mark == b"PK\x03\x04" else 8)
        whole[at] |= 1
    return bytes(whole)


def graphml(entities, text):
    return (
        f'<?xml version="1.0"?><!DOCTYPE x [{entities}]><graphml><graph edgedefault="undirected">'
        f'<node id="{text}"/><node id="b"/><edge source="{text}" target="b"/></graph></graphml>'
    ).encode()


LAUGHS = "".join(
    f'<!ENTITY l{i} "{"lol" if i == 0 else f"&l{i - 1};" * 10}">' for i in range(12)
)  # fmt: skip
CASES = {
    "pickles in a data set": ("a.dfd", objects(), ""),
    "old pickle": ("a.csv", pickle.dumps(Evil(), 0), "a.csv"),
    "torch": ("a.pt", b"PK", "run code"),
    "compressed pickle": ("a.joblib", b"x", "run code"),
    "an array that says it is huge": ("a.npy", npy_head((10**6, 10**6)), "cannot be read"),
    "an edge list of a huge node": ("a.edgelist", b"0 99999999\n", ""),
    "a billion laughs": ("a.graphml", graphml(LAUGHS, "&l11;"), "a.graphml"),
    "a file of the machine": (
        "a.graphml",
        graphml('<!ENTITY e SYSTEM "file:///etc/passwd">', "&e;"),
        "a.graphml",
    ),
    "link to a folder": ("a.zip", special("in", 0o120777), "points outside"),
    "encrypted": ("a.zip", flagged(), "encrypted"),
    "drive": ("a.zip", zip_of({"C:evil.csv": b"0"}), "points outside"),
    "too many": ("a.zip", zip_of({f"{i}.csv": b"" for i in range(5001)}), "exceed the limit"),
    "archive in it": ("a.zip", zip_of({"b.zip": b"PK"}), "not accepted"),
    "script in it": ("a.zip", zip_of({"<script>x</script>.html": b"x"}), "not accepted"),
    "a module in it": ("a.zip", zip_of({"conftest.py": b"raise SystemExit"}), "not accepted"),
    "a pickle called csv in it": ("a.zip", zip_of({"a.csv": pickle.dumps(Evil(), 4)}), "run code"),
    "a long name in it": ("a.zip", zip_of({"x" * 3000 + ".csv": b"0"}), ""),
    "not UTF-8": ("a.csv", b"\xff\xfe\xfd", "a.csv"),
    "escapes in the name": ("\x1b[2J\u202egnp.csv", b"no", ""),
    "a path for a name": ("../../../etc/cron.d/x.csv", b"no", "x.csv"),
    "a name of thousands": ("x" * 5000 + ".csv", b"no", ""),
    "JSON of huge numbers": ("a.json", b"[" + b"9" * 5000 + b"]", ""),
    "JSON of a list": ("a.json", b"[]", "JSON object"),
    "JSON of odd values": (
        "a.json",
        json.dumps({"original": {"n_nodes": 10**12, "edges": []}}).encode(),
        "",
    ),
}


def everything(folder):
    return {p.name for p in folder.rglob("*") if not p.name.startswith("denseflip-serve.")}


def test_nothing_hostile_is_kept_run_or_repeated_as_it_is(make, tmp_path):
    visitor, app = make()
    before = everything(tmp_path / "data")
    for case, (name, content, words) in CASES.items():
        answer = visitor.post(
            "/api/uploads", files={"file": (name, content)}, data={"dataset": "study"}
        )
        assert answer.status_code in {400, 413}, (case, answer.text)
        message = answer.json()["error"]["message"]
        assert words in message, (case, message)
        for bad in ("\x1b", "\u202e", str(tmp_path), "root:", "Traceback", "../"):
            assert bad not in message, (case, message)
        assert len(message) < 2_000, case
        assert everything(tmp_path / "data") == before, case
    assert app.state.store.recent() == []
    assert app.state.library.all_keys() == ["study"]


def test_a_member_that_is_longer_than_it_says_is_cut_and_refused(make):
    visitor, _ = make()
    whole = bytearray(zip_of({"a.csv": b"0" * 100_000}))
    at = whole.index(b"PK\x01\x02")
    whole[at + 24 : at + 28] = (10).to_bytes(4, "little")  # its size, as the directory has it
    answer = visitor.post("/api/uploads", files={"file": ("a.zip", bytes(whole))})
    assert answer.status_code == 400
    assert "zip" in answer.json()["error"]["message"]


def test_names_are_shown_as_they_are_and_never_used_for_a_file(make, tmp_path):
    visitor, app = make()
    name = "<img src=x onerror=alert(1)>.csv"
    answer = visitor.post("/api/uploads", files={"file": (name, GRAPH)}, data={"dataset": "study"})
    assert answer.status_code == 201, answer.text
    [file] = app.state.library.uploads()
    assert file.name == f"study.{answer.json()['subject']}.json"
    shown = visitor.get("/api/datasets/study")
    assert shown.headers["content-type"] == "application/json"
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert shown.json()["subjects"][-1]["name"] == "<img src=x onerror=alert(1)>"


def test_the_same_folder_may_be_packed_in_a_folder_with_what_file_managers_leave(tmp_path):
    content = zip_of({"study/a.csv": b"0", "study/.DS_Store": b"x", "__MACOSX/study/._a.csv": b"x"})
    folder = uploads.unpack(content, "x.zip", tmp_path)
    assert [p.name for p in folder.iterdir()] == ["a.csv"]
