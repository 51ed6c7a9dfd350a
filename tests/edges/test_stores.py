"""Parts of a store that are foreign, unreadable or hostile are set aside, whatever is wrong."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zlib
from pathlib import Path

import pytest

import bombs
from benches import bench_specs
from cohorts import make_cohort
from denseflip import limits
from denseflip.errors import StoreError
from denseflip.experiments.records import read_result
from denseflip.experiments.results import group_table, list_table, to_rows
from denseflip.runs.identity import content_id
from denseflip.runs.result_store import FORMAT, VERSION, Store
from denseflip.runs.run import run_specs


def part(body: bytes, **changes: object) -> bytes:
    """A part with a head that fits its body, but for the changes."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "records": body.count(b"\n"),
        "sha256": hashlib.sha256(body).hexdigest(),
        **changes,
    }
    return gzip.compress(json.dumps(head).encode() + b"\n" + body)


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def with_id(record: dict) -> dict:
    return {**record, "id": content_id(record["spec"])}


RUN = {
    "spec": {
        "kind": "run",
        "data": {"name": "d"},
        "oracle": {"name": "o"},
        "method": {"name": "m", "parameters": {}},
        "graph": "g",
        "seed": 0,
        "profile": "p",
        "budget": None,
    },
    "result": {"calls": 1, "status": "found", "label_before": 0},
    "times": dict.fromkeys(("search", "search_oracle", "measures", "oracle", "evaluations"), 1),
}


def changed(**parts: object) -> bytes:
    """A part of one explanation with some of its parts replaced."""
    return part(lines(with_id({**RUN, **parts})))


def spec(**fields: object) -> bytes:
    return changed(spec={**RUN["spec"], **fields})


DEEP = b"[" * 100_000
FOREIGN: dict[str, bytes] = {
    "empty": b"",
    "text": b"hello",
    "no gzip after the head": b"\x1f\x8b\x08\0\0\0\0\0",
    "cut": part(lines(with_id(RUN)))[:-12],
    "gzip and more": part(lines(with_id(RUN))) + b"rubbish",
    "bomb": gzip.compress(b"\0" * bombs.CHUNK) * 4,
    "another format": part(lines(with_id(RUN)), format="other"),
    "format of another type": part(b"", format=["x"]),
    "version of another type": part(b"", version="1"),
    "no version": part(b"", version=None),
    "head is a list": gzip.compress(b"[1]\n"),
    "head is deep": gzip.compress(DEEP + b"\n"),
    "head has a huge number": gzip.compress(b'{"format": ' + b"9" * 5000 + b"}\n"),
    "wrong checksum": part(lines(with_id(RUN)), sha256="0" * 64),
    "checksum of another type": part(lines(with_id(RUN)), sha256=7),
    "wrong count": part(lines(with_id(RUN)), records=2),
    "count of another type": part(lines(with_id(RUN)), records="1"),
    "no JSON": part(b"{not json}\n"),
    "deep JSON": part(DEEP + b"\n"),
    "huge number": part(b"9" * 5000 + b"\n"),
    "no UTF-8": part(b'"\xff\xfe"\n'),
    "record is a list": part(lines([1, 2])),
    "record is a text": part(lines("x")),
    "record is nothing": part(lines(None)),
    "no spec": part(lines({"id": content_id(None)})),
    "spec is a list": part(lines(with_id({**RUN, "spec": [1]}))),
    "no kind": part(lines(with_id({"spec": {}}))),
    "foreign id": part(lines({**RUN, "id": "0" * 64})),
    "id of another type": part(lines({**RUN, "id": 7})),
    "NaN": part(b'{"id": "x", "spec": {"a": NaN}}\n'),
    "no result": changed(result=None),
    "result is a list": changed(result=[1]),
    "no calls": changed(result={}),
    "calls of another type": changed(result={"calls": "many"}),
    "result of tables": changed(result={"calls": 1, "notes": [{"a": 1}]}),
    "result of dicts": changed(result={"calls": 1, "label_before": {"a": 1}}),
    "no times": changed(times=None),
    "times of another type": changed(times={"search": "long"}),
    "data is a text": spec(data="d"),
    "data without a name": spec(data={}),
    "name is a number": spec(oracle={"name": 7}),
    "method without parameters": spec(method={"name": "m"}),
    "graph is a number": spec(graph=7),
    "seed is a text": spec(seed="x"),
}


@pytest.fixture
def store(tmp_path: Path, monkeypatch) -> Store:
    monkeypatch.chdir(tmp_path)
    made = Store(tmp_path / "s")
    run_specs(bench_specs(tmp_path, methods=["edg"])[:4], made)
    return made


def test_the_pattern_of_these_parts_is_sound(tmp_path):
    store = Store(tmp_path)
    (tmp_path / "parts" / "00000000-x.jsonl.gz").write_bytes(part(lines(with_id(RUN))))
    assert len(store.records()) == 1
    assert store.damaged == []


@pytest.mark.parametrize("name", FOREIGN)
def test_it_is_damaged_and_the_rest_is_read(name, tmp_path):
    store = Store(tmp_path)
    sound, place = (tmp_path / "parts" / f"0000000{i}-x.jsonl.gz" for i in (0, 9))
    sound.write_bytes(part(lines(with_id(RUN))))
    place.write_bytes(FOREIGN[name])
    assert len(store.records()) == 1
    assert [d.path for d in store.damaged] == [place]
    assert store.damaged[0].reason


def test_damaged_parts_are_set_aside_and_the_run_goes_on(store, tmp_path):
    places = [store.folder / "parts" / f"{99 + i:08}-x.jsonl.gz" for i in range(len(FOREIGN))]
    for place, content in zip(places, FOREIGN.values(), strict=True):
        place.write_bytes(content)
    outcome = run_specs(bench_specs(tmp_path, methods=["edg"])[:5], store)
    assert {d.path.parent.name for d in outcome.damaged} == {"set-aside"}
    assert len(outcome.damaged) == len(FOREIGN)
    assert len(outcome.records) == 5
    assert outcome.reused == 4
    assert not any(place.exists() for place in places)
    assert len(Store(store.folder).records()) == 5


def test_what_is_no_file_and_what_has_no_number_stand_in_nobody_s_way(store, tmp_path):
    parts = store.folder / "parts"
    (parts / "folder.jsonl.gz").mkdir()
    (parts / "zzz.jsonl.gz").write_bytes(b"x")
    (parts / "١٢٣٤٥٦٧٨-x.jsonl.gz").write_bytes(b"x")
    (parts / "00000007-link.jsonl.gz").symlink_to(tmp_path / "nowhere")
    outcome = run_specs(bench_specs(tmp_path, methods=["edg"])[:6], store)
    assert len(outcome.records) == 6
    assert len(outcome.damaged) == 4
    names = sorted(p.name[:8] for p in parts.glob("*.jsonl.gz"))
    assert all(name.isdecimal() for name in names)


def test_a_part_of_a_newer_denseflip_is_an_error_and_stays(store):
    place = store.folder / "parts" / "00000099-new.jsonl.gz"
    place.write_bytes(part(b"", version=VERSION + 1))
    with store.writing(), pytest.raises(StoreError, match="newer denseflip"):
        store.records(repair=True)
    assert place.exists()


@pytest.mark.parametrize("escaped", [True, False])
def test_hostile_names_in_a_store_are_visible(escaped, tmp_path):
    store = Store(tmp_path)
    lone = "\ud800" if escaped else ""  # cannot be written but as a code
    bad = with_id(
        {
            **RUN,
            "spec": {
                **RUN["spec"],
                "data": {"name": "\x1b[31m"},
                "graph": f"\x9b\u202e\u3164{lone}",
            },
            "result": {"calls": 1, "notes": ["\x1b]0;x\x07"]},
        }
    )
    body = json.dumps(bad, ensure_ascii=escaped).encode() + b"\n"
    (tmp_path / "parts" / "00000000-x.jsonl.gz").write_bytes(part(body))
    rows = to_rows(store.records())
    assert (rows[0]["data"], rows[0]["graph"]) == (
        "\\x1b[31m",
        "\\x9b\\u202e\\u3164" + lone.replace("\ud800", "\\ud800"),
    )
    for table in (list_table(rows), group_table(rows)):
        table.to("csv").encode("utf-8")


HEADS = (b"", b"[]", b"{}", DEEP, b"9" * 5000, b'{"format": "denseflip-results"}', b"\xff", b"null")


@pytest.mark.parametrize("head", HEADS, ids=lambda x: repr(x[:12]))
def test_a_head_that_cannot_be_read_is_said_so(head, tmp_path):
    (tmp_path / "store.json").write_bytes(head)
    with pytest.raises(StoreError, match="cannot be read as the header of a result store"):
        Store(tmp_path)


def test_a_stored_trace_that_stands_for_much_is_refused(store):
    record = store.records()[0]
    record["whole"]["trace"]["steps"] = base64.b64encode(bombs.zlib_zeros(3 * 10**9)).decode()
    with limits.allow("50MB"), pytest.raises(StoreError, match="unpacks to more than 50 MB"):
        read_result(record, make_cohort(4))


@pytest.mark.parametrize(
    "steps",
    ["", "!", base64.b64encode(b"x").decode(), base64.b64encode(zlib.compress(b"")).decode(), 7],
)
def test_a_stored_trace_that_is_none_is_refused(steps, store):
    record = store.records()[0]
    record["whole"]["trace"]["steps"] = steps
    with pytest.raises(StoreError, match="A stored trace"):
        read_result(record, make_cohort(4))
