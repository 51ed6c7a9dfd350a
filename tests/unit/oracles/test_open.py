from __future__ import annotations

import sys

import pytest

from denseflip.errors import (
    FileFormatError,
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
)
from denseflip.graph import Graph, Nodes
from denseflip.oracles import open as opening
from denseflip.oracles.open import OracleKind, open_oracle, oracle_kinds, register_oracle_kind
from graphs import complete, path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to stand in, with a module of one's own."""
    (tmp_path / "own_words.py").write_text(
        "def label(a):\n    return int(a.sum() > 6)\n\n"
        "def many(stack):\n    return stack.sum(axis=(1, 2)) > 6\n\n"
        "class Box:\n    def predict(self, graphs):\n        return ['x'] * len(graphs)\n\n"
        "box = Box()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("own_words", None)


def test_a_function_an_object_and_a_function_of_many(folder):
    graphs = [path(4), complete(4)]
    assert open_oracle("own_words:label").predict(graphs) == [0, 1]
    assert open_oracle("own_words:box").predict(graphs) == ["x", "x"]
    assert open_oracle("own_words:many", batch=True).predict(graphs).tolist() == [False, True]


def test_words_that_mean_nothing_name_near_ones_and_all_kinds():
    with pytest.raises(UnknownNameError, match=r"Unknown oracle 'edge-svm'. Did you mean 'edges-"):
        open_oracle("edge-svm")
    with pytest.raises(UnknownNameError) as caught:
        open_oracle("nothing")
    assert {"sf-knn", "module:function", "FILE.dfo"} <= set(caught.value.known)
    with pytest.raises(UnknownNameError, match="Unknown oracle 'ftp://localhost:1'"):
        open_oracle("ftp://localhost:1")


def test_bad_input_is_named(folder):
    with pytest.raises(
        InvalidParameterError, match=r"open_oracle takes a text.*got builtin_functi"
    ):
        open_oracle(len)
    with pytest.raises(UnknownNameError, match="Unknown oracle input 'adj'"):
        open_oracle("own_words:label", input="adj")
    with pytest.raises(InvalidParameterError, match="cannot import the module 'absent_words'"):
        open_oracle("absent_words:label")
    with pytest.raises(UnknownNameError, match="Did you mean 'label'"):
        open_oracle("own_words:labl")
    with pytest.raises(FileFormatError, match="not a file of a known kind of oracle"):
        open_oracle("own_words.py")
    with pytest.raises(FileFormatError, match="no such file"):
        open_oracle("absent.dfo")
    with pytest.raises(MissingInputError, match="'edges-svm' must be trained on a data set"):
        open_oracle("edges-svm")


@pytest.fixture
def own_registry(monkeypatch):
    oracle_kinds()  # the plug-ins register themselves once
    monkeypatch.setattr(opening, "_kinds", dict(opening._kinds))


def constant(text, *, dataset, input, batch):
    return opening.import_oracle("builtins:len", "networkx")


def test_a_kind_is_one_record_and_comes_before_functions(own_registry):
    kind = OracleKind("odd", "odd words", ("odd:…",), "odd:1", lambda t: t[:4] == "odd:", constant)
    assert register_oracle_kind(kind) is kind
    assert register_oracle_kind(kind) is kind  # a module imported again is no harm
    assert open_oracle("odd:1").predict([path(4)]) == [4]
    assert oracle_kinds()[-1].name == "function"
    twin = OracleKind("odd", "other words", (), "", str.isdecimal, constant)
    with pytest.raises(
        InvalidParameterError, match=r"already is an oracle kind 'odd' \(odd words\)"
    ):
        register_oracle_kind(twin)


def test_an_absent_plug_in_is_harmless_and_a_broken_one_is_not(folder, monkeypatch):
    monkeypatch.setattr(opening, "PLUG_INS", ("denseflip.absent_room.kinds", "absent_plug"))
    assert open_oracle("own_words:label").predict([path(4)]) == [0]
    (folder / "broken_plug.py").write_text("import absent_library\n")
    monkeypatch.setattr(opening, "PLUG_INS", ("broken_plug",))
    monkeypatch.syspath_prepend(str(folder))
    with pytest.raises(ModuleNotFoundError, match="absent_library"):
        open_oracle("own_words:label")


def test_a_function_of_networkx_graphs_is_given_the_names_of_nodes(tmp_path, monkeypatch):
    source = "def seen(graph):\n    return ' '.join(map(str, graph.nodes))\n"
    (tmp_path / "named_nodes.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    graph = Graph.from_edges(2, [(0, 1)])
    for nodes, said in ((Nodes(("left", "right")), "left right"), (Nodes.numbered(2), "0 1")):
        oracle = opening.import_oracle("named_nodes:seen", "networkx", nodes=nodes)
        assert oracle.predict([graph]) == [said]
