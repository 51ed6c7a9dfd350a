"""Whatever is brought to a door, what comes back is a result or an error of our own."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

import bombs
from cohorts import make_cohort
from denseflip import (
    Counterfactual,
    Graph,
    Story,
    describe,
    explain,
    fit_oracle,
    load_oracle,
    make_method,
)
from denseflip.classifiers.evaluation import Evaluation
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.counterfactual import AsRead
from denseflip.datasets import (
    Card,
    Dataset,
    import_folder,
    load_dataset,
    make_synthetic,
    read_graph,
)
from denseflip.datasets.labels import read_labels
from denseflip.errors import (
    ConfigError,
    DatasetError,
    DenseflipError,
    FileFormatError,
    InvalidNodesError,
    InvalidParameterError,
    shown,
)
from denseflip.experiments.bench_config import read_config
from denseflip.graph import Nodes
from denseflip.story.wording.vocabulary import Vocabulary
from fuzzing import VALUES, Fuzz

HUGE = 10**5000
DIGITS = "9" * 5000

# ---- archives ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    data = make_cohort()
    return {
        "dfd": data.save(folder / "a.dfd"),
        "dfo": fit_oracle(data, "edges-svm").save(folder / "a.dfo"),
    }


def members(path: Path) -> dict[str, bytes]:
    import zipfile

    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


LOADERS = {"dfd": load_dataset, "dfo": load_oracle}


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize(
    ("oddity", "message"),
    [
        ({"flags": 1, "method": 0}, r"member '.*' is encrypted; save the file without"),
        ({"method": 12}, r"has an unsupported compression \(method 12\)"),
        ({"method": 14}, r"has an unsupported compression \(method 14\)"),
        ({"method": 99}, r"has an unsupported compression \(method 99\)"),
    ],
    ids=["encrypted", "bzip2", "lzma", "unknown"],
)
def test_oddly_packed_members_are_said_to_be(kind, oddity, message, files, tmp_path):
    path = tmp_path / f"a.{kind}"
    path.write_bytes(bombs.raw_zip(members(files[kind]), **oddity))
    with pytest.raises(FileFormatError, match=message):
        LOADERS[kind](path)


def test_an_encrypted_table_is_said_to_be(tmp_path):
    path = tmp_path / "a.npz"
    path.write_bytes(bombs.raw_zip({"a.npy": b"xx"}, flags=1))
    with pytest.raises(FileFormatError, match="is encrypted"):
        read_graph(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (DIGITS.encode(), "cannot be read as JSON"),
        (b'{"format": ' + DIGITS.encode() + b"}", "cannot be read as JSON"),
        (b"\xff\xfe\xfa", "cannot be read as JSON"),
        (b"", "cannot be read as JSON"),
        (b"null", "does not say"),
        (b'"text"', "does not say"),
    ],
    ids=["deep list", "deep dict", "digits", "digits inside", "no UTF-8", "empty", "null", "text"],
)
def test_json_inside_that_cannot_be_read_is_said_so(text, message, files, tmp_path):
    import numpy as np

    card = {**members(files["dfo"]), "card.json": text}
    (tmp_path / "a.dfo").write_bytes(bombs.zip_of(card))
    with pytest.raises(FileFormatError, match=message):
        load_oracle(tmp_path / "a.dfo")
    header = bombs.npy(np.frombuffer(text, dtype=np.uint8))
    (tmp_path / "a.dfd").write_bytes(bombs.zip_of({**members(files["dfd"]), "header.npy": header}))
    with pytest.raises(FileFormatError, match=message):
        load_dataset(tmp_path / "a.dfd")


def test_a_deep_schema_of_an_estimator_is_refused(files, tmp_path):
    parts = members(files["dfo"])
    schema = bombs.zip_of({"schema.json": b"[" * 100_000})
    parts = {"card.json": parts["card.json"], "estimator.skops": schema}
    (tmp_path / "a.dfo").write_bytes(bombs.zip_of(parts))
    with pytest.raises(FileFormatError, match="the estimator inside cannot be read"):
        load_oracle(tmp_path / "a.dfo")


def test_a_classifier_whose_parts_do_not_fit_is_refused_when_it_is_loaded(tmp_path):
    import json

    path = fit_oracle(make_cohort(), "edges-svm").save(tmp_path / "a.dfo")
    parts = members(path)
    card = json.loads(parts["card.json"])
    for change, message in (
        ({"n_nodes": "12"}, "Not the card of a classifier: n_nodes must be a whole number"),
        ({"card": []}, "Not the card of a classifier: card must be a dictionary"),
        ({"class_names": "AB"}, "Not the card of a classifier: class_names must be a list"),
        ({"features": {}}, "Not a description of features: it must be a dictionary with a name"),
    ):
        text = json.dumps({**card, **change}).encode()
        path.write_bytes(bombs.zip_of({**parts, "card.json": text}))
        with pytest.raises(FileFormatError, match=rf"a\.dfo: {message}"):
            load_oracle(path)


# ---- tables -----------------------------------------------------------------------------


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


TABLES = {
    "huge cell": ("a.csv", "0,1\n1," + "x" * 140_000, "field larger than field limit"),
    "huge number": ("a.csv", f"0,{DIGITS}\n{DIGITS},0", "inf"),
    "edge of 5,000 digits": ("a.edgelist", f"0 {DIGITS}\n", "whole numbers"),
    "edge of 12 digits": ("a.edgelist", "0 123456789012\n", "whole numbers"),
    "negative edge": ("a.edgelist", "0 -1\n1 2\n", "outside"),
    "over-long row": ("a.csv", "0,1\n1,0,0,0,0\n", "line 2 has 5 cells, but line 1 has 2"),
    "short row": ("a.csv", "0,1,0\n1\n0,0,0\n", "line 2 has 1 cell, but line 1 has 3"),
    "null byte": ("a.csv", "0,1\n1,\0\n", "not a number"),
    "no UTF-8": ("a.csv", "0,1\n1,\udcff\n", "not a text file in UTF-8"),
    "nothing": ("a.csv", "", "empty"),
    "name that Python takes for a number": (
        "a.csv",
        "0,1_0\n1_0,0\n",
        "'1_0', which is not a number",
    ),
    "edge of such names": (
        "a.edgelist",
        "1_0 2_0\n2_0 3_0\n",
        "neither a number nor in the node table",
    ),
    "GraphML id of 5,000 digits": (
        "a.graphml",
        "<graphml><graph edgedefault='undirected'>"
        f"<node id='{DIGITS}'/><node id='1'/></graph></graphml>",
        None,
    ),
    "GraphML id that is a digit but not a number": (
        "a.graphml",
        "<graphml><graph edgedefault='undirected'><node id='²'/><node id='1'/></graph></graphml>",
        None,
    ),
    "GraphML that is cut": ("a.graphml", "<graphml><graph>", "cannot be read as GraphML"),
    "GraphML that is empty": ("a.graphml", "", "cannot be read as GraphML"),
}


@pytest.mark.parametrize("name", TABLES)
def test_odd_tables_are_told_or_read(name, tmp_path):
    file, text, message = TABLES[name]
    path = written(tmp_path, file, text)
    if message is None:
        assert read_graph(path).n_nodes == 2
        return
    with pytest.raises(DenseflipError, match=message):
        read_graph(path, kind="auto" if file.endswith("graphml") else "matrix"
                   if file.endswith("csv") else "edges")  # fmt: skip


NODE_TABLES = {
    "over-long row": ("name,lobe\na,x,y,z\n", "line 2 has 4 columns, the header 2"),
    "short row": ("name,lobe\na\n", "line 2 has 1 column, the header 2"),
    "no name": ("x,y\n1,2\n", "column 'name'"),
    "over-long row and no name": ("a,b\n1,2,3\n", "line 2 has 3 columns, the header 2"),
    "huge cell": ("name\n" + "x" * 140_000, "field larger than field limit"),
    "coordinates are words": ("name,x,y,z\na,1,2,far\n", "must hold numbers"),
    "coordinates are infinite": ("name,x,y,z\na,1,2,1e999\n", "three finite numbers"),
    "index in another order": ("index,name\n1,a\n0,b\n", "index must be 0; got '1'"),
    "no UTF-8": ("name\n\udcff\n", "cannot read the node table"),
    "two columns of regions": ("name,lobe,lobe\na,x,y\n", "two columns are named 'lobe'"),
    "two columns of names": ("name,name\na,b\n", "two columns are named 'name'"),
    "null byte": ("name\na\0b\n", None),
}


@pytest.mark.parametrize("name", NODE_TABLES)
def test_odd_node_tables_are_told(name, tmp_path):
    text, message = NODE_TABLES[name]
    path = written(tmp_path, "nodes.csv", text)
    if message is None:
        assert Nodes.read_csv(path).names == ("a\\x00b",)
        return
    with pytest.raises(InvalidNodesError, match=message):
        Nodes.read_csv(path)


LABELS = {
    "two columns of classes": "id,label,label\na,x,y\nb,y,x\n",
    "two columns of ids": "id,id,label\na,b,x\nb,a,y\n",
    "over-long row": "id,label\na,x,y,z\nb,y\n",
    "huge cell": "id,label\na," + "x" * 140_000,
    "5,000 digits": f"id,label\na,{DIGITS}\nb,1\n",
    "null byte": "id,label\na,\0\nb,1\n",
}


@pytest.mark.parametrize("name", LABELS)
def test_odd_labels_files_are_told_or_read(name, tmp_path):
    for graph in "ab":
        written(tmp_path, f"{graph}.edgelist", "0 1\n1 2\n")
    path = written(tmp_path, "labels.csv", LABELS[name])
    said = ""
    twice = "two columns" in name
    try:
        data = import_folder(tmp_path, path, allow_single=True)
        assert len(data) == len(read_labels(path).classes) == 2
    except DenseflipError as error:
        said = str(error)
    assert not said or "labels.csv" in said
    assert ("two columns are named" in said) == twice


@pytest.mark.parametrize(
    ("part", "text", "message"),
    [
        ("graph_indicator", f"{DIGITS}\n1\n", "expected whole numbers"),
        ("graph_indicator", "1\n999999999999\n", "expected whole numbers"),
        ("graph_indicator", "1\n1999999999\n", "from 1, for each node"),
        ("graph_indicator", "0\n1\n", "from 1, for each node"),
        ("A", "1, 1e300\n", "expected whole numbers"),
        ("A", "1, nan\n", "expected whole numbers"),
        ("A", "1, 7\n", "nodes 1..2"),
        ("A", "1, 2, 3\n", "two columns"),
    ],
)
def test_odd_tu_folders_are_told(part, text, message, tmp_path):
    usual = {"A": "1, 2\n", "graph_indicator": "1\n1\n", "graph_labels": "1\n"}
    for name, content in {**usual, part: text}.items():
        written(tmp_path, f"T_{name}.txt", content)
    with pytest.raises(FileFormatError, match=message):
        import_folder(tmp_path)


@pytest.mark.parametrize("text", ["a=" + "[" * 10_000, f"seeds = [{DIGITS}]", "a = 1\na = 2", "\0"])
def test_odd_configurations_are_told(text, tmp_path):
    with pytest.raises(ConfigError, match=r"b\.toml: "):
        read_config(written(tmp_path, "b.toml", text))


# ---- dictionaries -----------------------------------------------------------------------


def a_result() -> Counterfactual:
    data = make_cohort()
    oracle = fit_oracle(data, "edges-svm")
    result = explain(data.graphs[0], oracle, "tri+min", nodes=data.nodes)
    assert result.found
    return result


def a_story() -> Story:
    data = make_cohort()
    return describe(a_result(), data.nodes, fit_oracle(data, "edges-svm"))


RESULT, STORY = a_result().to_dict(), a_story().to_dict()


def opens(kind, data) -> None:
    """The dictionary is read and can be shown, or refused in our own words."""
    try:
        made = kind.from_dict(data)
    except DenseflipError:
        return
    assert str(made) is not None
    assert repr(made)


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize(
    "kind",
    [Graph, Nodes, Card, Counterfactual, Story, Evaluation, Vocabulary],
    ids=lambda x: x.__name__,
)
def test_no_value_is_a_dictionary_by_mistake(kind, value):
    if isinstance(value, dict) and (kind is Card or value == {}):
        opens(kind, value)
        return
    with pytest.raises(DenseflipError):
        kind.from_dict(value)


@pytest.mark.parametrize("field", RESULT)
def test_any_field_of_a_result_may_be_wrong(field):
    for value in VALUES:
        opens(Counterfactual, {**RESULT, field: value})
    lacking = dict(RESULT)
    del lacking[field]
    opens(Counterfactual, lacking)


@pytest.mark.parametrize("field", STORY)
def test_any_field_of_a_story_may_be_wrong(field):
    for value in VALUES:
        opens(Story, {**STORY, field: value})
    lacking = dict(STORY)
    del lacking[field]
    opens(Story, lacking)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seed", "7"),
        ("seed", True),
        pytest.param("seed", HUGE, id="huge seed"),
        ("search_calls", 1.5),
        ("label_before", [1]),
        ("label_after", None),
        ("method", 7),
        ("parameters", [1]),
        ("minimal", 1),
        ("elapsed", "long"),
        ("notes", "note"),
        ("trace", "steps"),
        ("trace", [{"block": 7}]),
        ("added", [["a", "b"]]),
        ("added", [[0, 10**6]]),
        ("removed", [[0, 0]]),
        ("original", []),
        ("original", {"n_nodes": HUGE, "edges": []}),
        ("original", {"n_nodes": 3, "edges": [[0, HUGE]]}),
        ("original", {"n_nodes": 3, "edges": [[0, [1]]]}),
        ("original", {"n_nodes": 3, "edges": 7}),
        ("status", "lost"),
        ("format", "2"),
        pytest.param("format", HUGE, id="huge format"),
        ("as_read", {"language": "regions"}),
        ("front", 7),
    ],
)
def test_wrong_types_in_a_result_are_refused(field, value):
    with pytest.raises(FileFormatError, match=r"^Not a denseflip result: "):
        Counterfactual.from_dict({**RESULT, field: value})


def test_a_result_is_still_what_it_was():
    assert Counterfactual.from_dict(RESULT).to_dict() == RESULT
    assert Story.from_dict(STORY).to_dict() == STORY
    test = AsRead("regions", "lobe", "any", 20, 19)
    assert AsRead.from_dict(test.to_dict()) == test


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"labels": ("a",)}, "a label must be the position of a class"),
        ({"labels": (1.5,)}, "a label must be the position of a class"),
        ({"labels": None}, "labels must be a list"),
        ({"labels": (HUGE,)}, "labels must be 0"),
        ({"graphs": 7}, "graphs must be a list"),
        ({"graphs": ("x",)}, "graphs must be Graphs"),
        ({"class_names": "ab"}, "class_names must be a list"),
        ({"ids": "g"}, "ids must be a list"),
        ({"attributes": 7}, "attributes must be a mapping"),
    ],
)
def test_a_data_set_of_wrong_types_is_refused(parts, message):
    usual = {"graphs": (Graph.from_edges(3, []),), "labels": (0,), "class_names": ("a", "b")}
    with pytest.raises(DatasetError, match=message):
        Dataset("x", **{**usual, **parts})


@pytest.mark.parametrize(
    "options",
    [
        {"seed": "x"}, {"seed": -1}, {"seed": 1.5}, {"seed": [1]}, {"strength": "x"},
        {"strength": None}, {"noise": True}, {"noise": float("nan")}, {"n_per_class": "x"},
        {"n_per_class": 0}, {"n_per_class": 10**9}, {"n_per_class": HUGE}, {"effect": []},
        {"percentile": "x"},
    ],
    ids=shown,
)  # fmt: skip
def test_a_synthetic_cohort_of_wrong_options_is_refused(options):
    with pytest.raises(DenseflipError):
        make_synthetic(**options)


def test_values_that_cannot_be_shown_are_said_to_be():
    class Odd:
        def __repr__(self):
            raise RuntimeError

    assert shown(Odd()) == "a Odd that cannot be shown"
    assert shown(HUGE) == "an int that cannot be shown"
    assert len(shown("x" * 500)) == 60
    with pytest.raises(InvalidParameterError, match="got an int that cannot be shown"):
        explain(Graph.from_edges(3, [(0, 1)]), lambda a: 0, "edg", seed=-HUGE)


@pytest.mark.parametrize("method", ["auto", "tri+min", "edg"])
@pytest.mark.parametrize("budget", [10**30, HUGE], ids=["10**30", "huge"])
def test_a_budget_beyond_all_counting_is_none(method, budget):
    graph = Graph.from_edges(6, [(0, 1), (1, 2), (0, 2), (3, 4)])
    results = [explain(graph, lambda a: int(a[0, 1]), method, budget=x) for x in (budget, 10**6)]
    assert results[0].edits == results[1].edits


def test_iterations_beyond_all_counting_are_no_limit():
    graph = Graph.from_edges(6, [(0, 1), (1, 2), (0, 2), (3, 4)])
    method = make_method("edg", max_iterations=10**30)
    assert explain(graph, lambda a: int(a[0, 1]), method).found


# ---- at random --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_mutated_input_gives_a_result_or_an_error_of_our_own(seed, tmp_path, monkeypatch):
    """Set DENSEFLIP_SOAK to the number of cases per seed for a longer run (250 by default)."""
    monkeypatch.setenv("DENSEFLIP_OFFLINE", "1")
    fuzz = Fuzz(int(os.environ.get("DENSEFLIP_SOAK_SEED", "0")) + seed, tmp_path)
    n, refused = int(os.environ.get("DENSEFLIP_SOAK", "250")), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(n):
            _, use = fuzz.case()
            try:
                use()
            except DenseflipError as error:
                refused += bool(str(error))
    assert n // 3 < refused < n, "a door that lets everything in, or nobody, tests nothing"


def test_nothing_is_unforeseen_on_the_command_line(files, tmp_path, capsys):
    bad = tmp_path / "bad.dfd"
    bad.write_bytes(bombs.raw_zip(members(files["dfd"]), flags=1))
    (tmp_path / "deep.toml").write_text("a=" + "[" * 10_000)
    for words in (
        ["data", "show", str(bad)],
        ["data", "show", f"synthetic:seed={DIGITS}"],
        ["bench", "--config", str(tmp_path / "deep.toml"), "--out", str(tmp_path / "o")],
        ["explain", "mice", "x", "--seed", DIGITS[:30]],
        ["results", str(tmp_path)],
    ):
        assert run(app, words) != 0, words
        assert "Unexpected error" not in capsys.readouterr().err, words
