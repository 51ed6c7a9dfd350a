import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denseflip.datasets import Card, Dataset
from denseflip.datasets.dataset_file import read_dataset, write_dataset
from denseflip.errors import DatasetError, FileFormatError
from denseflip.graph import Graph, Nodes


def sample() -> Dataset:
    return Dataset(
        "sample ü",
        (Graph.from_edges(3, [(0, 1), (1, 2)]), Graph.from_edges(3, [])),
        (1, 0),
        ("a", "b"),
        Nodes(("x", "y", "z"), {"lobe": ("F", "F", "B")}, ((0, 0, 1), (1.5, 0, 0), (0, 0, 0))),
        ("one", "two"),
        Card("src", "MIT", "cite", "text", "2", ("careful",)),
        {"planted": {"regions": ["F", "B"]}},
    )


def write_arrays(path: Path, **changes: object) -> Path:
    """A file like that of `sample`, with some arrays or header fields replaced."""
    write_dataset(sample(), path, force=True)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays["header"].tobytes())
    for key, value in changes.items():
        if key in arrays:
            arrays[key] = np.asarray(value)
        else:
            header[key] = value
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as out:
        np.savez(out, **arrays)  # type: ignore[arg-type]
    return path


def test_round_trip(tmp_path: Path) -> None:
    path = sample().save(tmp_path / "s.dfd")
    assert Dataset.load(path) == sample()
    assert Dataset.load(path).attributes == sample().attributes


def test_node_features_of_pyg_data_are_kept_if_all_graphs_have_them(tmp_path: Path) -> None:
    rows = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    plain = sample()
    graphs = [g.with_x(x) for g, x in zip(plain.graphs, rows, strict=True)]
    kept = Dataset.load(replace(plain, graphs=tuple(graphs)).save(tmp_path / "x.dfd"))
    assert kept == plain  # x is no part of the content
    assert np.array_equal([g.x for g in kept.graphs], rows)
    path = write_arrays(tmp_path / "s.dfd")
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for wrong in (rows[:1], rows[:, :2], rows.astype(np.int64)):
        np.savez(tmp_path / "wrong.npz", **arrays, x=wrong)
        with pytest.raises(FileFormatError, match="'x' must hold 3 rows"):
            Dataset.load(tmp_path / "wrong.npz")
    mixed = replace(plain, graphs=(graphs[0], plain.graphs[1]))
    assert all(g.x is None for g in Dataset.load(mixed.save(tmp_path / "m.dfd")).graphs)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 7), st.data())
def test_any_graphs_round_trip(n: int, data: st.DataObject) -> None:
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    some = st.lists(st.sampled_from(pairs), unique=True) if pairs else st.just([])
    graphs = data.draw(st.lists(some.map(lambda e: Graph.from_edges(n, e)), min_size=1, max_size=4))
    dataset = Dataset("d", tuple(graphs), (0,) * len(graphs), ("a", "b"))
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = write_dataset(dataset, Path(folder) / "x.dfd")
        assert read_dataset(path).graphs == dataset.graphs


def test_same_content_same_bytes(tmp_path: Path) -> None:
    a, b = sample().save(tmp_path / "a.dfd"), sample().save(tmp_path / "b.dfd")
    assert a.read_bytes() == b.read_bytes()


def test_an_existing_file_is_kept_unless_told(tmp_path: Path) -> None:
    path = tmp_path / "s.dfd"
    path.write_text("mine")
    with pytest.raises(DatasetError, match="exists already"):
        sample().save(path)
    assert path.read_text() == "mine"
    sample().save(path, force=True)
    assert Dataset.load(path) == sample()
    assert [p.name for p in tmp_path.iterdir()] == ["s.dfd"]


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="nowhere does not exist"):
        sample().save(tmp_path / "nowhere" / "s.dfd")
    with pytest.raises(DatasetError, match="is a folder"):
        sample().save(tmp_path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"x\.dfd: there is no such file"):
        Dataset.load(tmp_path / "x.dfd")


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04rubbish", b"\x93NUMPY\x01\x00"])
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.dfd"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"x\.dfd"):
        Dataset.load(path)


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    whole = sample().save(tmp_path / "s.dfd").read_bytes()
    path = tmp_path / "cut.dfd"
    for cut in range(0, len(whole), 97):
        path.write_bytes(whole[:cut])
        with pytest.raises(FileFormatError):
            Dataset.load(path)


def test_changed_bytes_are_refused_or_harmless(tmp_path: Path) -> None:
    whole = sample().save(tmp_path / "s.dfd").read_bytes()
    path = tmp_path / "changed.dfd"
    rng = np.random.default_rng(0)
    for _ in range(100):
        content = bytearray(whole)
        content[rng.integers(len(content))] = rng.integers(256)
        path.write_bytes(bytes(content))
        try:
            graphs = Dataset.load(path).graphs
        except FileFormatError:
            continue
        assert graphs == sample().graphs


def test_a_pickle_inside_is_not_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"

    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[Path]]:
            return (Path.touch, (ran,))

    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
    path = sample().save(tmp_path / "s.dfd")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["labels.npy"] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(FileFormatError):
        Dataset.load(path)
    assert not ran.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not a denseflip data set"),
        ({"version": 2}, "version 2; this denseflip reads version 1"),
        ({"n_nodes": -1}, "whole number"),
        ({"n_nodes": 2}, "not sorted pairs"),
        ({"gaps": [1, 0]}, "not sorted pairs"),
        ({"gaps": [9, 2]}, "not sorted pairs"),
        ({"gaps": [1, 2**63 - 1]}, "not sorted pairs"),
        ({"gaps": [0.5, 1.0]}, "whole numbers"),
        ({"offsets": [0, 1]}, "divide the edges"),
        ({"offsets": [0, 2, 1, 2]}, "divide the edges"),
        ({"labels": [0, 7]}, "labels must be"),
        ({"ids": ["one", "one"]}, "ids must be unique"),
        ({"nodes": {"names": ["x"]}}, "describes 1 nodes"),
        ({"nodes": 3}, "Not a node table: it must be a dictionary; got 3"),
    ],
)
def test_contradictions_are_refused(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = write_arrays(tmp_path / "s.dfd", **change)
    with pytest.raises(FileFormatError, match=message) as info:
        Dataset.load(path)
    assert "s.dfd" in str(info.value)


def test_a_plain_npz_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", matrix=np.eye(3))
    with pytest.raises(FileFormatError, match="no header, gaps, offsets, labels inside"):
        Dataset.load(tmp_path / "m.npz")
