import errno
import gzip
import json
import os
from pathlib import Path

import pytest

from denseflip.errors import StoreError
from denseflip.runs.result_store import FORMAT, VERSION, Store, make_record


def record(n: int) -> dict:
    return make_record({"kind": "probe", "n": n}, result={"calls": n})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "store")
    with made.writing():
        for start in (0, 3, 6):
            made.append([record(n) for n in range(start, start + 3)])
    return made


def numbers(store: Store, **options) -> list[int]:
    return sorted(r["result"]["calls"] for r in store.records(**options))


def parts(store: Store) -> list[Path]:
    return sorted((store.folder / "parts").iterdir())


def test_what_was_written_is_read_again(store):
    assert numbers(store) == list(range(9))
    assert numbers(Store(store.folder, create=False)) == list(range(9))
    assert [p.name[:8] for p in parts(store)] == ["00000000", "00000001", "00000002"]


def test_what_has_an_order_keeps_it(store):
    counts = {"control": 9, "case": 11}  # the rows of a table of confusions go with these
    with store.writing():
        store.append([make_record({"kind": "order"}, result={"class_counts": counts})])
    (read,) = (r for r in Store(store.folder).records() if r["spec"]["kind"] == "order")
    assert list(read["result"]["class_counts"]) == ["control", "case"]


def test_the_same_result_twice_counts_once(store):
    with store.writing():
        store.append([record(1)])
    assert numbers(store) == list(range(9))


def test_nothing_to_write_writes_nothing(store):
    with store.writing():
        assert store.append([]) is None
    assert len(parts(store)) == 3


def spoil_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))


def cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def other_text(path: Path) -> None:
    path.write_bytes(gzip.compress(b"hello\n"))


def change_a_number(path: Path) -> None:
    text = gzip.decompress(path.read_bytes()).replace(b'"calls":4', b'"calls":5')
    path.write_bytes(gzip.compress(text))


def foreign_id(path: Path) -> None:
    import hashlib

    wrong = json.dumps({"id": "0" * 64, "spec": {}, "result": {"calls": 4}}).encode() + b"\n"
    head = {"format": FORMAT, "version": VERSION, "records": 1}
    head["sha256"] = hashlib.sha256(wrong).hexdigest()
    path.write_bytes(gzip.compress(json.dumps(head).encode() + b"\n" + wrong))


@pytest.mark.parametrize(
    "harm", [spoil_byte, cut_in_half, empty, other_text, change_a_number, foreign_id]
)
def test_a_damaged_part_is_set_aside_and_the_rest_kept(store, harm):
    victim = parts(store)[1]
    harm(victim)
    assert numbers(store) == [0, 1, 2, 6, 7, 8]
    assert victim.exists(), "looking changes nothing"
    assert len(store.damaged) == 1
    with store.writing():
        assert numbers(store, repair=True) == [0, 1, 2, 6, 7, 8]
    assert not victim.exists()
    assert (store.folder / "set-aside" / victim.name).exists()
    with store.writing():
        store.append([record(3)])
        assert numbers(store, repair=True) == [0, 1, 2, 3, 6, 7, 8]
        assert store.damaged == []


def test_two_damaged_parts_of_one_name_are_both_kept(store):
    for _ in range(2):
        with store.writing():
            victim = store.append([record(20)])
            empty(victim)
            store.records(repair=True)
    assert len(list((store.folder / "set-aside").iterdir())) == 2


def test_what_a_killed_process_left_half_written_is_swept_away(store):
    torn = store.folder / "parts" / ".00000000-abc.jsonl.gz.a1b2c3d_"
    torn.write_bytes(b"half")
    assert numbers(store) == list(range(9))
    with store.writing():
        assert not torn.exists()


def test_a_store_of_a_newer_version_is_refused_and_left_alone(store):
    head = store.folder / "store.json"
    text = json.dumps({"format": FORMAT, "version": VERSION + 1})
    head.write_text(text)
    with pytest.raises(StoreError, match=r"newer denseflip.*Update"):
        Store(store.folder)
    assert head.read_text() == text


def test_a_part_of_a_newer_version_is_refused_not_set_aside(store):
    head = json.dumps({"format": FORMAT, "version": 99, "records": 0, "sha256": ""})
    newer = store.folder / "parts" / "00000009-x.jsonl.gz"
    newer.write_bytes(gzip.compress(head.encode() + b"\n"))
    with store.writing(), pytest.raises(StoreError, match="newer denseflip"):
        store.records(repair=True)
    assert newer.exists()


def test_a_folder_that_is_no_store_is_said_so(tmp_path):
    with pytest.raises(StoreError, match="no results found"):
        Store(tmp_path, create=False)
    (tmp_path / "store.json").write_text('{"format": "other", "version": 1}')
    with pytest.raises(StoreError, match="'other', not a result store"):
        Store(tmp_path)
    (tmp_path / "store.json").write_text("garbage")
    with pytest.raises(StoreError, match="cannot be read as the header"):
        Store(tmp_path)


def test_two_writers_do_not_meet(store):
    with store.writing():
        second = Store(store.folder)
        with pytest.raises(StoreError, match="another process is writing"), second.writing():
            pass
    with second.writing():
        pass


def test_a_full_disk_loses_nothing(store, monkeypatch):
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with store.writing():
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"disk is full.*kept.*the same command to continue"):
            store.append([record(50)])
        monkeypatch.undo()
        assert numbers(store) == list(range(9))
        assert not list((store.folder / "parts").glob(".*"))
        store.append([record(50)])
    assert 50 in numbers(store)


def test_a_folder_that_cannot_be_written_is_said_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write results here"):
        Store(tmp_path / "file" / "store")
