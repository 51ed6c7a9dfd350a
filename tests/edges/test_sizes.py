"""Little files that stand for much: refused before they are unpacked or go dense.

All of them are opened in one process that may not take more than 2 GB; each is refused with our own
message, and the process never grows far beyond what it takes to import what it needs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import bombs
from cohorts import make_cohort
from denseflip import Graph, as_oracle, fit_oracle, limits, load_oracle
from denseflip.cli.command_tree import app
from denseflip.cli.common import run, take_option
from denseflip.datasets import Dataset, load_dataset, read_graph
from denseflip.errors import FileFormatError, InvalidParameterError, TooLargeError
from denseflip.graph import Nodes

GB = 10**9
OPENERS = {
    "graph": "read_graph(path)",
    "kept": "read_graph(path, keep=Keep(threshold=0.5))",
    "series": "read_graph(path, kind='timeseries')",
    "dataset": "load_dataset(path)",
    "oracle": "load_oracle(path).predict([])",
    "estimator": "load_oracle(path).estimator",
    "folder": "import_folder(path, {'a': 'x', 'b': 'y'}, allow_single=True)",
    "tu": "import_folder(path, allow_single=True)",
    "nodes": "Nodes.read_csv(path)",
    "store": "read_store(path)",
    "dense": "Graph.from_edges(10**5, [(0, 1)]).to_adjacency()",
    "stack": "stack_adjacency([Graph.from_edges(9000, [(0, 1)])] * 64)",
    "asked": "explain(Graph.from_edges(10**5, [(0, 1)]), lambda a: 0, 'edg', budget=3)",
    "features": "EdgeFeatures().transform([Graph.from_edges(50_000, [(0, 1)])])",
    "numbered": "Nodes.numbered(10**9)",
}
SCRIPT = """
import json, resource, sys
import numpy as np
from denseflip import Graph, explain, load_dataset
from denseflip.classifiers.features import EdgeFeatures
from denseflip.classifiers.persist import load_oracle
from denseflip.datasets import import_folder, read_graph
from denseflip.datasets.connectome import Keep
from denseflip.runs.result_store import Store
from denseflip.graph import Nodes
from denseflip.graph.convert import stack_adjacency
import nilearn.connectome, networkx, scipy.io, sklearn.svm, skops.io

def read_store(path):
    store = Store(path)
    records = store.records()
    return records, [damage.reason for damage in store.damaged]

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
start = peak()
for name, path, opener in json.load(sys.stdin):
    try:
        said = f"no error: {eval(opener)!r}"
        kind = ""
    except BaseException as error:
        said, kind = str(error), type(error).__name__
    print(json.dumps([name, kind, said, peak() - start]), flush=True)
"""


def make_bombs(folder: Path) -> dict[str, tuple[Path | None, str]]:
    """Files by name, each with the key of what opens it."""
    made: dict[str, tuple[Path | None, str]] = {}

    def put(name: str, opener: str, content: bytes | str) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        made[name] = (path, opener)

    # Tables and lists.
    put("twelve.edgelist", "graph", "0 100000000\n")
    put("weighted.edgelist", "kept", "0 100000000 0.5\n")
    put(
        "series.csv",
        "series",
        "\n".join(",".join(f"{i}{j % 7}" for j in range(20000)) for i in "123"),
    )
    put("cells.csv", "graph", "1,1,1,1,1,1,1,1\n" * 2_500_000)
    put("names.csv", "nodes", "name\n" + "n\n" * 30_000_000)
    put("folder/a.edgelist", "folder", "0 90000000\n")
    put("folder/b.edgelist", "folder", "0 1\n")
    made["folder/a.edgelist"] = made["folder/b.edgelist"] = (folder / "folder", "folder")
    tu = {"A": "1, 2\n3, 4\n", "graph_indicator": "1\n1\n2\n2\n2\n", "graph_labels": "0\n1\n"}
    for name, text in {**tu, "node_labels": "0\n1\n0\n1\n999999999\n"}.items():
        put(f"tu/T_{name}.txt", "tu", text)
        made[f"tu/T_{name}.txt"] = (folder / "tu", "tu")
    # Arrays.
    stream, size = bombs.packed_array((20_000, 20_000))
    put("zeros.npz", "graph", bombs.raw_zip({"a.npy": stream}, {"a.npy": size}))
    small, size = bombs.packed_array((20_000, 20_000), "|u1")
    put("bytes.npz", "graph", bombs.raw_zip({"a.npy": small}, {"a.npy": size}))
    put("lies.npy", "graph", bombs.npy_head((10**6, 10**6)) + b"\0" * 800)
    put("lies.npz", "graph", bombs.zip_of({"a.npy": bombs.npy_head((10**6, 10**6)) + b"\0" * 80}))
    scipy.io.savemat(
        folder / "sparse.mat", {"a": scipy.sparse.coo_matrix(([1.0], ([0], [1])), (10**5, 10**5))}
    )
    made["sparse.mat"] = (folder / "sparse.mat", "graph")
    packed = bombs.zlib_zeros(6 * GB)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM"
    tag = len(packed).to_bytes(4, "little")
    put("packed.mat", "graph", head + b"\x0f\0\0\0" + tag + packed)
    # XML.
    laughs = "".join(
        f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' if i else '<!ENTITY l0 "haha">' for i in range(10)
    )
    put("laughs.graphml", "graph", f"<!DOCTYPE g [{laughs}]><graphml><graph id='&l9;'/></graphml>")
    put("tags.graphml", "graph", "<graphml><graph>" + '<node id="1"/>' * 3_000_000)
    # Data sets.
    arrays = {
        "header.npy": bombs.dfd_header(),
        "gaps.npy": bombs.npy(np.array([1])),
        "offsets.npy": bombs.npy(np.array([0, 1, 1])),
        "labels.npy": bombs.npy(np.array([0, 1])),
    }

    def dfd(name: str, **changed: tuple[bytes, int]) -> None:
        streams = {key: bombs.deflated(value) for key, value in arrays.items()}
        sizes = {key: len(value) for key, value in arrays.items()}
        for key, (stream, size) in changed.items():
            streams[f"{key}.npy"], sizes[f"{key}.npy"] = stream, size
        put(name, "dataset", bombs.raw_zip(streams, sizes))

    dfd("gaps.dfd", gaps=bombs.packed_array((4 * GB,), "|u1"))
    dfd("graphs.dfd", offsets=bombs.packed_array((5 * 10**6,), "|u1"))
    wide = bombs.dfd_header(attributes="WIDE")
    dfd("wide.dfd", header=(bombs.deflated(wide), len(wide)))
    dfd("lies.dfd", gaps=(bombs.deflated(bombs.npy_head((10**12,))), 128))
    # Classifiers.
    path = fit_oracle(make_cohort()).save(folder / "fine.dfo")
    import zipfile

    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    streams = {name: bombs.deflated(content) for name, content in parts.items()}
    sizes = {name: len(content) for name, content in parts.items()}

    def dfo(name: str, member: str, stream: bytes, size: int, opener: str = "oracle") -> None:
        put(name, opener, bombs.raw_zip({**streams, member: stream}, {**sizes, member: size}))

    zeros = bombs.deflated_zeros(3 * GB)
    dfo("estimator.dfo", "estimator.skops", zeros, 3 * GB)
    dfo("card.dfo", "card.json", zeros, 3 * GB)
    dfo("lies.dfo", "card.json", zeros, 100)
    inner = bombs.raw_zip({"schema.json": zeros}, {"schema.json": 3 * GB})
    plain = {name: content for name, content in parts.items() if name != "head.npz"}
    put("inner.dfo", "estimator", bombs.zip_of({**plain, "estimator.skops": inner}))
    lying = bombs.raw_zip({"schema.json": zeros}, {"schema.json": 50})
    put("lying.dfo", "estimator", bombs.zip_of({**plain, "estimator.skops": lying}))
    deep = bombs.zip_of({"0.npz": bombs.raw_zip({"a.npy": zeros}, {"a.npy": 3 * GB})})
    put("deep.dfo", "estimator", bombs.zip_of({**plain, "estimator.skops": deep}))
    put("head.dfo", "oracle", bombs.zip_of({**parts, "head.npz": inner}))
    # Very many members, with nothing in them.
    crowd = bombs.crowd(800_000)
    for name, opener in (("crowd.npz", "graph"), ("crowd.dfd", "dataset"), ("crowd.dfo", "oracle")):
        put(name, opener, crowd)
    put("crowds.dfo", "oracle", bombs.zip_of({**parts, "head.npz": crowd}))
    # Stores.
    (folder / "store" / "parts").mkdir(parents=True)
    bombs.gzipped_zeros(folder / "store" / "parts" / "00000000-a.jsonl.gz", 6 * GB)
    made["store"] = (folder / "store", "store")
    # Graphs that go dense.
    for name in ("dense", "stack", "asked", "features", "numbered"):
        made[name] = (None, name)
    return made


NOT_TOO_LARGE = {  # refused for another reason: what they say of themselves is a lie
    "lies.npy": "cannot be read as .npy",
    "lies.npz": "cannot be read as .npz",
    "lies.dfd": "cannot be read as a denseflip data set",
    "lies.dfo": "cannot be read as",
    "lying.dfo": "cannot be read",
    "laughs.graphml": "cannot be read as GraphML",
}
NAMES = (
    "twelve.edgelist", "weighted.edgelist", "series.csv", "cells.csv", "names.csv",
    "folder/a.edgelist", "tu/T_A.txt", "zeros.npz", "bytes.npz", "lies.npy", "lies.npz",
    "sparse.mat", "packed.mat", "laughs.graphml", "tags.graphml", "gaps.dfd", "graphs.dfd",
    "wide.dfd", "lies.dfd", "estimator.dfo", "card.dfo", "lies.dfo", "inner.dfo", "lying.dfo",
    "deep.dfo", "head.dfo", "crowd.npz", "crowd.dfd", "crowd.dfo", "crowds.dfo", "store",
    "dense", "stack", "asked", "features", "numbered",
)  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict[str, tuple[str, str, int]]:
    folder = tmp_path_factory.mktemp("bombs")
    made = make_bombs(folder)
    jobs = [[name, str(made[name][0]), OPENERS[made[name][1]]] for name in NAMES]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(jobs).replace("null", "0"),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(NAMES), f"it died: {done.stderr[-2000:]}"
    return {name: (kind, said, grown) for name, kind, said, grown in lines}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_is_refused_before_it_takes_the_memory(outcomes, name):
    kind, said, grown = outcomes[name]
    if name == "store":
        assert said.startswith("no error: ([], ['it unpacks to more than 44.7 MB")
    elif name in NOT_TOO_LARGE:
        assert kind == "FileFormatError", said
        assert NOT_TOO_LARGE[name] in said
    else:
        assert kind in ("TooLargeError", "DatasetError"), said
        assert "of memory, which exceeds the limit of 1.07 GB" in said
        assert "(max_size): denseflip.limits.allow('" in said
    assert grown < 700_000_000, f"{grown / 1e6:.0f} MB"


# ---- the limit itself -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"),
    [("8GB", 8 * GB), ("1.5 gb", 1_500_000_000), ("100", 100), (5, 5), (" 2 MB ", 2_000_000)],
)
def test_sizes_are_read(text, size):
    assert limits.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "0", "8 GiB", "1e9", "8GB8", True, "9" * 5000])
def test_what_is_no_size_is_said_so(text):
    with pytest.raises(InvalidParameterError, match="max_size must be a number of bytes such as"):
        limits.parse_size(text)


def test_the_limit_is_raised_for_a_while(monkeypatch):
    monkeypatch.delenv(limits.VARIABLE, raising=False)
    assert limits.max_size() == limits.DEFAULT
    with limits.allow("3GB"):
        assert limits.max_size() == 3 * GB
        with limits.allow(10):
            assert limits.max_size() == 10
        assert limits.max_size() == 3 * GB
    assert limits.max_size() == limits.DEFAULT
    monkeypatch.setenv(limits.VARIABLE, "7GB")
    assert limits.max_size() == 7 * GB
    monkeypatch.setenv(limits.VARIABLE, "much")
    with pytest.raises(InvalidParameterError, match="DENSEFLIP_MAX_SIZE must be a size"):
        limits.max_size()


def test_what_is_allowed_is_done_and_what_is_not_is_not(tmp_path):
    path = tmp_path / "a.edgelist"
    path.write_text("0 1999\n")
    with limits.allow("200KB"), pytest.raises(TooLargeError, match=r"2000 nodes \(the largest"):
        read_graph(path)
    with limits.allow("300KB"):
        graph = read_graph(path)
    with limits.allow("31MB"), pytest.raises(TooLargeError, match="a matrix of 2001 nodes"):
        Graph.from_edges(2001, []).to_adjacency()
    with limits.allow("33MB"):
        assert graph.to_adjacency().sum() == 2


def test_data_sets_and_classifiers_keep_to_the_limit(tmp_path):
    data = make_cohort()
    files = data.save(tmp_path / "a.dfd"), fit_oracle(data).save(tmp_path / "a.dfo")
    for path, load in zip(files, (Dataset.load, load_oracle), strict=True):
        with limits.allow("1KB"), pytest.raises(TooLargeError, match=path.name):
            load(path)
        with limits.allow("1GB"):
            load(path)
    assert load_dataset(files[0]) == data


def test_a_batch_that_would_be_too_large_is_asked_in_parts():
    graphs = [Graph.from_edges(2500, [(0, i)]) for i in range(1, 6)]
    seen = []

    def label(stack):
        seen.append(len(stack))
        return stack[:, 0, 1]

    oracle = as_oracle(label, batch=True)
    whole = list(oracle.predict(graphs))
    with limits.allow("110MB"):  # a matrix takes 50
        assert list(oracle.predict(graphs)) == whole == [1, 0, 0, 0, 0]
    assert seen == [5, 2, 2, 1]


def test_numbers_of_nodes_that_fit_are_numbered():
    assert Nodes.numbered(1000).n_nodes == 1000


# ---- on the command line ----------------------------------------------------------------


def test_every_command_takes_the_flag(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv(limits.VARIABLE, raising=False)
    path = make_cohort().save(tmp_path / "a.dfd")
    assert run(app, ["data", "show", str(path), "--max-size", "1KB"]) == 1
    said = capsys.readouterr().err
    assert "exceeds the limit of 1 KB" in said
    assert "On the command line: --max-size SIZE." in said
    assert run(app, ["data", "show", str(path), "--max-size=1GB"]) == 0
    assert run(app, ["--max-size", "lots", "data", "show", str(path)]) == 1
    assert "max_size must be a number of bytes such as '8GB'" in capsys.readouterr().err
    assert limits.max_size() == limits.DEFAULT


def test_the_flag_without_a_value_is_said_so(capsys):
    assert take_option(["a", "--max-size"], "--max-size") == (["a"], "")
    assert run(app, ["data", "list", "--max-size"]) == 1
    assert "got ''" in capsys.readouterr().err


def test_no_memory_is_one_line_not_a_traceback(capsys):
    def command(**_):
        raise MemoryError

    assert run(command, []) == 1
    assert capsys.readouterr().err == "Error: not enough memory.\n"


def test_a_zip_with_two_members_of_one_name_is_refused(tmp_path):
    twice = bombs.raw_zip({"a.npy": b"", "b.npy": b""}).replace(b"b.npy", b"a.npy")
    path = tmp_path / "a.npz"
    path.write_bytes(twice)
    with pytest.raises(FileFormatError, match="two members with the same name"):
        read_graph(path)
