"""A pickle that tries to run code is refused before anything in it runs."""

import builtins
import operator
import os
import pickle
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from denseflip.datasets.pickles import read_graphs, read_groups, read_plain
from denseflip.errors import FileFormatError


class Call:
    """Unpickling this calls a function."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = (function, args)

    def __reduce__(self) -> Any:
        return self.call


class State:
    """Unpickling this gives a graph a state through a function."""

    def __reduce__(self) -> Any:
        return (nx.Graph, (), Call(os.system, "touch ran"))


def attacks(target: Path) -> dict[str, bytes]:
    touch = f"touch {target}"
    code = f"open({str(target)!r}, 'w').close()"
    return {
        "os.system": pickle.dumps(Call(os.system, touch)),
        "subprocess": pickle.dumps(Call(subprocess.call, ["touch", str(target)])),
        "eval": pickle.dumps(Call(eval, code)),
        "exec": pickle.dumps(Call(exec, code)),
        "import": pickle.dumps(Call(builtins.__import__, "this")),
        "getattr": pickle.dumps(Call(getattr, Call(builtins.__import__, "os"), "system")),
        "partial": pickle.dumps(Call(partial, os.system, touch)),
        "methodcaller": pickle.dumps(Call(operator.methodcaller, "touch")),
        "path": pickle.dumps(Call(Path.touch, target)),
        "numpy": pickle.dumps(np.array([Call(os.system, touch)], dtype=object)),
        "numpy scalar": pickle.dumps(np.float64(1.0)),
        "in a graph's state": pickle.dumps([(State(), 0)]),
        "in a list": pickle.dumps([(nx.path_graph(3), Call(os.system, touch))]),
        "as a dict key": pickle.dumps({Call(hash, 1): 1}),
        "old protocol": f"cposix\nsystem\n(S'{touch}'\ntR.".encode(),
        "INST": f"(S'{touch}'\niposix\nsystem\n.".encode(),
        "dotted name": b"\x80\x04\x8c\x08builtins\x8c\x11dict.__subclasses__\x93.",
        "persistent id": b"\x80\x04\x8c\x04evilQ.",
        "extension": b"\x80\x02\x82\x01.",
        "graph through a back door": b"\x80\x04\x8c\x16networkx.classes.graph\x8c\x02nx\x93.",
    }


@pytest.mark.parametrize("name", list(attacks(Path("ran"))))
def test_nothing_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = attacks(tmp_path / "ran")[name]
    with pytest.raises(FileFormatError, match=r"evil\.pkl"):
        read_graphs(content, "evil.pkl")
    assert list(tmp_path.iterdir()) == []


def test_the_refusal_names_what_was_asked_for() -> None:
    with pytest.raises(
        FileFormatError, match=r"refers to (posix|nt)\.system.*No code in it was run"
    ):
        read_plain(pickle.dumps(Call(os.system, "true")), "evil.pkl")


def test_graphs_come_back_without_networkx_objects() -> None:
    weighted = nx.Graph()
    weighted.add_nodes_from(range(4))
    weighted.add_edge(0, 2, weight=0.5)
    weighted.nodes  # noqa: B018  # networkx keeps a view in the object once asked
    pairs = read_graphs(pickle.dumps([(nx.path_graph(4), 0), (weighted, 1)]), "g.pkl")
    assert [g.edges() for g, _ in pairs] == [[(0, 1), (1, 2), (2, 3)], [(0, 2)]]
    assert [label for _, label in pairs] == [0, 1]


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_plain_data_in_every_protocol(protocol: int) -> None:
    value = {"a": [1, 2.5, (3, "x")], "b": {}}
    assert read_plain(pickle.dumps(value, protocol), "p.pkl") == value


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        3,
        [nx.path_graph(3)],
        [(nx.path_graph(3), "0")],
        [(nx.path_graph(3), True)],
        [("graph", 0)],
        [(nx.Graph([("a", "b")]), 0)],
        [(nx.Graph([(1, 2)]), 0)],
        [(nx.Graph([(0, 0), (0, 1)]), 0)],
    ],
)
def test_other_contents_are_refused(value: Any) -> None:
    with pytest.raises(FileFormatError, match=r"odd\.pkl"):
        read_graphs(pickle.dumps(value), "odd.pkl")


def test_one_way_neighbours_are_refused() -> None:
    graph = nx.path_graph(3)
    del graph._adj[0][1]
    with pytest.raises(FileFormatError, match="not vice versa"):
        read_graphs(pickle.dumps([(graph, 0)]), "odd.pkl")


def test_every_truncation_is_refused() -> None:
    whole = pickle.dumps([(nx.path_graph(5), 0), (nx.star_graph(4), 1)])
    for cut in range(len(whole)):
        with pytest.raises(FileFormatError):
            read_graphs(whole[:cut], "cut.pkl")


def test_groups() -> None:
    content = pickle.dumps({"Frontal\nLobe": [0, 1], "Rest": [2]})
    assert read_groups(content, "r.pkl") == {"Frontal Lobe": [0, 1], "Rest": [2]}
    with pytest.raises(FileFormatError, match="region names"):
        read_groups(pickle.dumps({"a": [0.5]}), "r.pkl")
