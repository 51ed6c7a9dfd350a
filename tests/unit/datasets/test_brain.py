"""The paper's data: hashes, cache, offline messages. No test here touches the network."""

import hashlib
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from denseflip.datasets import brain, cache, fetch_dataset, list_datasets, load_dataset
from denseflip.errors import DatasetError, FileFormatError, HashMismatchError, UnknownNameError


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No data folder, an empty cache, no network."""
    monkeypatch.delenv("DENSEFLIP_DATA", raising=False)
    monkeypatch.setenv("DENSEFLIP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DENSEFLIP_OFFLINE", "1")
    return tmp_path / "cache"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, empty: Path) -> bytes:
    """Let `kki` stand for a small file with two graphs of 190 nodes."""
    graphs = [nx.empty_graph(190), nx.empty_graph(190)]
    graphs[1].add_edge(3, 5, weight=0.5)
    content = pickle.dumps([(graphs[0], 0), (graphs[1], 1)])
    give(monkeypatch, "kki", content)
    return content


def give(monkeypatch: pytest.MonkeyPatch, name: str, content: bytes) -> None:
    old = brain.BRAINS[name]
    file = replace(old.file, sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(brain.BRAINS, name, replace(old, file=file))  # type: ignore[arg-type]


class Downloader:
    """Takes the place of pooch's; fails a given number of times first."""

    def __init__(self, content: bytes, failures: int = 0) -> None:
        self.content, self.failures, self.calls = content, failures, 0

    def __call__(self, **options: Any) -> Any:
        def download(url: str, path: str, _: Any) -> None:
            self.calls += 1
            if self.calls <= self.failures:
                Path(path).write_bytes(b"half a f")
                raise ConnectionError("the line is dead")
            Path(path).write_bytes(self.content)
            if options["progressbar"]:
                options["progressbar"].update(len(self.content))

        return download


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> Any:
    import pooch

    def connect(content: bytes, failures: int = 0) -> Downloader:
        monkeypatch.delenv("DENSEFLIP_OFFLINE", raising=False)
        monkeypatch.setattr(cache.time, "sleep", lambda _: None)
        downloader = Downloader(content, failures)
        monkeypatch.setattr(pooch, "HTTPDownloader", downloader)
        return downloader

    return connect


@pytest.mark.parametrize("name", brain.BRAINS)
def test_offline_says_what_to_download_and_where_to_put_it(empty: Path, name: str) -> None:
    with pytest.raises(DatasetError) as info:
        load_dataset(name)
    text = str(info.value)
    file = brain.BRAINS[name].file
    for part in (file.url, file.name, file.sha256, str(empty), "DENSEFLIP_DATA", "'mice'"):
        assert part in text
    assert not empty.exists()


def test_list_says_what_is_here(empty: Path, small: bytes) -> None:
    assert {i.name for i in list_datasets() if i.offline} == {"mice", "synthetic"}
    empty.mkdir()
    (empty / "KKI_graphs.pkl").write_bytes(small)
    found = {i.name: i.origin for i in list_datasets()}
    assert found["kki"] == "local"
    assert found["pek"] == "download"


def test_a_file_put_into_the_cache_by_hand_is_read(empty: Path, small: bytes) -> None:
    empty.mkdir()
    (empty / "KKI_graphs.pkl").write_bytes(small)
    data = load_dataset("kki")
    assert [g.edges() for g in data.graphs] == [[], [(3, 5)]]
    assert data.ids == ("kki-000", "kki-001")
    assert data.class_names == ("female", "male")


def test_the_folder_of_the_user_comes_first(
    empty: Path, small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "KKI_graphs.pkl").write_bytes(small)
    monkeypatch.setenv("DENSEFLIP_DATA", str(folder))
    assert len(load_dataset("kki")) == 2
    (folder / "KKI_graphs.pkl").write_bytes(small[:-1])
    with pytest.raises(HashMismatchError) as info:
        load_dataset("kki")
    text = str(info.value)
    for part in ("expected SHA-256", "got SHA-256", "not changed", "raw.githubusercontent.com"):
        assert part in text
    assert [p.name for p in folder.iterdir()] == ["KKI_graphs.pkl"]
    monkeypatch.setenv("DENSEFLIP_DATA", str(tmp_path / "no"))
    with pytest.raises(DatasetError, match="DENSEFLIP_DATA names the folder"):
        load_dataset("kki")


def test_a_bad_file_in_the_cache_is_moved_aside(empty: Path, small: bytes) -> None:
    empty.mkdir()
    (empty / "KKI_graphs.pkl").write_bytes(b"other")
    got = hashlib.sha256(b"other").hexdigest()
    with pytest.raises(HashMismatchError, match="moved aside") as info:
        load_dataset("kki")
    assert got in str(info.value)
    assert [p.name for p in empty.iterdir()] == [f"KKI_graphs.pkl.mismatch-{got[:12]}"]


def test_conversion_happens_once(
    empty: Path, small: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty.mkdir()
    (empty / "KKI_graphs.pkl").write_bytes(small)
    first = load_dataset("kki")
    (empty / "KKI_graphs.pkl").unlink()
    monkeypatch.setattr(brain.pickles, "read_graphs", None)
    assert load_dataset("kki") == first


def test_fetch_is_content_with_what_was_converted(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = nx.empty_graph(116)
    graph.add_edge(3, 5, weight=0.5)
    content = pickle.dumps([(graph, 0), (graph, 1)])
    give(monkeypatch, "aut", content)
    empty.mkdir()
    (empty / "autism_graphs.pkl").write_bytes(content)
    first = load_dataset("aut")
    (empty / "autism_graphs.pkl").unlink()
    assert {i.name: i.origin for i in list_datasets()}["aut"] == "local"
    assert fetch_dataset("aut") == first
    (empty / "aal_regions.pkl").write_bytes(b"not the regions")
    with pytest.raises(HashMismatchError):
        fetch_dataset("aut")


def test_a_damaged_conversion_is_made_again(empty: Path, small: bytes) -> None:
    empty.mkdir()
    (empty / "KKI_graphs.pkl").write_bytes(small)
    first = load_dataset("kki")
    (converted,) = empty.glob("*.dfd")
    converted.write_bytes(b"rubbish")
    assert load_dataset("kki") == first
    assert converted.read_bytes() != b"rubbish"


def test_download_retries_and_shows_progress(empty: Path, small: bytes, online: Any) -> None:
    downloader = online(small, failures=2)
    shown: list[str] = []

    class Bar:
        total = 0

        def __init__(self, file: str) -> None:
            shown.append(file)

        def update(self, n: int) -> None:
            shown.append(str(n))

    assert len(fetch_dataset("kki", progress=Bar)) == 2
    assert downloader.calls == 3
    assert shown == ["KKI_graphs.pkl"] * 3 + [str(len(small))]
    assert sorted(p.suffix for p in empty.iterdir()) == [".dfd", ".pkl"]
    assert len(fetch_dataset("kki")) == 2
    assert downloader.calls == 3


def test_download_that_keeps_failing(empty: Path, small: bytes, online: Any) -> None:
    downloader = online(small, failures=99)
    with pytest.raises(DatasetError, match=r"failed 3 times: ConnectionError: the line is dead"):
        load_dataset("kki")
    assert downloader.calls == cache.RETRIES
    assert list(empty.iterdir()) == []


def test_wrong_download_is_kept_aside(empty: Path, small: bytes, online: Any) -> None:
    online(b"<html>please log in</html>")
    with pytest.raises(HashMismatchError, match="moved aside"):
        load_dataset("kki")
    (aside,) = empty.iterdir()
    assert ".mismatch-" in aside.name
    assert aside.read_bytes() == b"<html>please log in</html>"


def test_the_hash_is_checked_before_the_pickle_is_read(
    empty: Path, small: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty.mkdir()
    (empty / "KKI_graphs.pkl").write_bytes(small + b"x")
    monkeypatch.setattr(brain.pickles, "read_graphs", None)
    with pytest.raises(HashMismatchError):
        load_dataset("kki")


def test_right_hash_but_foreign_content(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = pickle.dumps(Path("x"))
    give(monkeypatch, "kki", content)
    empty.mkdir()
    (empty / "KKI_graphs.pkl").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"KKI_graphs\.pkl: refused"):
        load_dataset("kki")


def test_unwritable_cache_only_costs_time(
    empty: Path, small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "KKI_graphs.pkl").write_bytes(small)
    monkeypatch.setenv("DENSEFLIP_DATA", str(folder))
    empty.write_text("a file where the cache folder should be")
    assert len(load_dataset("kki")) == 2


def test_unknown_brain() -> None:
    with pytest.raises(UnknownNameError):
        brain.load_brain("abide")
