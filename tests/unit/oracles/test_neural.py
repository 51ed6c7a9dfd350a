"""Torch modules and ONNX files as oracles: what they are given, and what is refused."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import models
from conftest import need
from denseflip import as_oracle, explain, open_oracle
from denseflip.errors import (
    FileFormatError,
    InvalidGraphError,
    InvalidParameterError,
    MissingExtraError,
    MissingInputError,
    OracleError,
    UnknownNameError,
)
from denseflip.graph import Graph
from denseflip.oracles.neural import (
    as_array,
    compare_outputs,
    kind_of,
    margins,
    positions,
    shares_of,
)
from denseflip.oracles.tensors import inputs_of, node_features, roles_of, together
from graphs import path

GRAPHS = models.GRAPHS
PATH = Graph.from_edges(3, [(0, 1), (1, 2)])
PAIR = Graph.from_edges(2, [(0, 1)])
ROLES = {"x": "x", "edge_index": "edge_index", "batch": "batch"}


# ---- what a network is given (no torch needed) ------------------------------------------------


@pytest.mark.parametrize(
    ("features", "rows"),
    [
        ("profile", [[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
        ("degree", [[1], [2], [1]]),
        ("identity", [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        ("constant", [[1], [1], [1]]),
        (np.array([[5], [6], [7]]), [[5], [6], [7]]),
        (lambda a: a.sum(0, keepdims=True).T * 2, [[2], [4], [2]]),
    ],
    ids=["profile", "degree", "identity", "constant", "fixed", "function"],
)
def test_features_of_nodes_are_those_of_the_graph(features, rows):
    made = node_features(features)
    assert made is not None
    assert made(PATH).tolist() == rows


@pytest.mark.parametrize("features", ["profile", "degree", lambda a: a @ a])
def test_features_follow_the_edits(features):
    made = node_features(features)
    assert made is not None
    edited = PATH.toggle([(0, 2)])
    assert not np.array_equal(made(PATH), made(edited))
    np.testing.assert_array_equal(made(edited), made(Graph.from_edges(3, [(0, 1), (0, 2), (1, 2)])))


def test_several_graphs_in_one_lie_side_by_side():
    given = inputs_of([PAIR, PATH], ROLES, node_features("degree"))
    assert given["x"].ravel().tolist() == [1, 1, 1, 2, 1]
    assert given["batch"].tolist() == [0, 0, 1, 1, 1]
    assert given["edge_index"].tolist() == [[0, 1, 2, 3, 3, 4], [1, 0, 3, 4, 2, 3]]
    assert given["edge_index"].dtype == np.int64


def test_inputs_are_known_by_their_names():
    assert roles_of(["x", "edge_index"], ["edge_weight", "batch"], "M") == ROLES
    assert roles_of(["x", "adj"], [], "M") == {"x": "x", "adj": "adjacency"}
    assert roles_of(["anything"], [], "M") == {"anything": "x or adjacency"}
    assert roles_of(["data"], [], "M") == {"data": "data"}
    with pytest.raises(InvalidParameterError, match=r"M takes x, pos, .*'pos' is not recognised"):
        roles_of(["x", "pos"], [], "M")


def test_a_network_that_is_not_told_which_node_is_whose_is_asked_one_by_one():
    assert not together({"x": "x", "edge_index": "edge_index"})
    assert together(ROLES)
    assert together({"adjacency": "adjacency"})


@pytest.mark.parametrize(
    ("features", "kind", "message"),
    [
        ("degre", UnknownNameError, "Unknown node features 'degre'. Did you mean 'degree'"),
        (np.zeros(3), InvalidParameterError, r"one row of numbers per node.*got shape \(3,\)"),
        (np.array([["a"]]), InvalidParameterError, "of type <U1"),
        (np.array([[0.0], [np.nan]]), InvalidParameterError, "the row of node 1 holds a value"),
    ],
)
def test_features_that_are_none_are_refused(features, kind, message):
    with pytest.raises(kind, match=message):
        node_features(features)


def test_features_for_other_graphs_are_refused():
    fixed = node_features(np.zeros((4, 2)))
    assert fixed is not None
    with pytest.raises(InvalidGraphError, match="features has 4 rows, but the graph has 3 nodes"):
        fixed(PATH)
    for wrong, message in (
        (lambda a: a[0], r"shape \(3, d\); it returned shape \(3,\)"),
        (lambda a: a[:2], r"it returned shape \(2, 3\)"),
        (lambda a: 1 / 0, "raised ZeroDivisionError"),
    ):
        own = node_features(wrong)
        assert own is not None
        with pytest.raises(OracleError, match=message):
            own(PATH)


# ---- what a network gives (no torch needed) ---------------------------------------------------


def test_outputs_are_read_by_their_looks_or_as_they_are_said_to_be():
    shares = np.array([[0.2, 0.8], [0.5, 0.5]])
    logits = np.array([[1.0, 3.0], [0.0, 0.0]])
    assert kind_of(shares, 2, None, "M") == "probabilities"
    assert kind_of(logits, 2, None, "M") == "logits"
    assert kind_of(shares, 2, "logits", "M") == "logits"
    assert kind_of(np.array([1, 0]), 2, None, "M") == "labels"
    assert kind_of(np.array([0.1, 0.7]), 2, "probability", "M") == "probability"
    np.testing.assert_allclose(shares_of(np.array([0.0, 2.0]), "logit", "M")[:, 1], [0.5, 0.880797])
    np.testing.assert_allclose(shares_of(np.log(shares), "logits", "M"), shares)
    assert positions(np.array([0.4, 0.6]), "probability").tolist() == [0, 1]
    assert margins(shares, "probabilities").tolist() == pytest.approx([0.6, 0.0])


@pytest.mark.parametrize(
    ("returned", "output", "message"),
    [
        (np.array([[0.3, 0.3]]), "probabilities", r"probabilities that sum to 0.6, not to 1"),
        (np.array([[1.3, -0.3]]), "probabilities", r"returns 1.3 as a probability"),
        (np.array([7.0]), "probability", r"returns 7 as a probability.*output='logits'"),
        (np.array([[np.nan, 1]]), None, r"returned nan; a score must be a finite number"),
        (np.array([0.3]), None, r"one number per graph \(0.3 for the first\).*output='logit'"),
        (np.zeros((9, 2)), None, r"shape \(9, 2\) for 1 graph.*A node classifier must first pool"),
        (np.zeros((1, 2, 2)), None, r"shape \(1, 2, 2\) for 1 graph\(s\); expected \(1, classes\)"),
        (np.float64(3.0), None, r"shape \(\) for 1 graph"),
        ((np.zeros((1, 2)), np.zeros(3)), None, r"returns a tuple of 2.*output=lambda"),
        ({"logits": 1}, None, r"returns a dict of 1, and it is not clear"),
        (np.array([["a", "b"]]), None, r"values of type <U1; expected numbers"),
        (
            np.zeros((1, 2)),
            "logit",
            r"returned shape \(1, 2\), which does not match output='logit'",
        ),
        (
            np.zeros((1, 1)),
            "logits",
            r"returned shape \(1, 1\), which does not match output='logits'",
        ),
    ],
)
def test_what_cannot_be_an_answer_is_refused(returned, output, message):
    def read():
        array = as_array(returned, output, "The module")
        return shares_of(array, kind_of(array, 1, output, "The module"), "The module")

    with pytest.raises(OracleError, match=message):
        read()


def test_what_a_network_returns_may_be_taken_apart():
    returned = {"scores": np.array([[1.0, 2.0]]), "extra": 1}
    assert as_array(returned, lambda r: r["scores"], "M").tolist() == [[1.0, 2.0]]


# ---- torch ------------------------------------------------------------------------------------


@pytest.fixture
def torch() -> Any:
    need("gnn", "torch")
    import torch

    torch.manual_seed(3)
    return torch


@pytest.fixture
def networks(torch: Any) -> Any:
    import networks

    return networks


def test_features_are_recomputed_for_every_graph_that_is_asked_about(networks):
    seen = []

    def watch(adjacency):
        seen.append(int(adjacency.sum()) // 2)
        return adjacency.sum(0)[:, None]

    oracle = as_oracle(networks.Sage().eval(), features=watch)
    result = explain(GRAPHS[0], oracle, "con", background=GRAPHS, budget=40)
    assert len(set(seen)) > 3
    assert result.distinct_calls <= len(seen)
    by_name = as_oracle(oracle.module, features="degree")  # type: ignore[attr-defined]
    assert by_name.predict(GRAPHS) == oracle.predict(GRAPHS)


def test_a_module_in_training_mode_is_refused_then_and_later(torch, networks):
    network = networks.Sage()
    with pytest.raises(OracleError, match=r"in training mode.*Call model.eval\(\) first"):
        as_oracle(network, features="degree")
    oracle = as_oracle(network.eval(), features="degree")
    oracle.predict(GRAPHS[:2])
    network.second.train()
    with pytest.raises(OracleError, match=r"in training mode \(its part 'second'\)"):
        oracle.predict(GRAPHS[:2])


def test_a_module_that_throws_dice_is_found_out_at_the_first_question(torch, networks):
    class Dropping(networks.Sage):
        def forward(self, x, edge_index, batch):
            x = torch.nn.functional.dropout(x, 0.5)  # training=True is its default
            return super().forward(x, edge_index, batch)

    oracle = as_oracle(Dropping().eval(), features="degree")
    with pytest.raises(OracleError, match=r"is not deterministic: for the same .*dropout outside"):
        explain(GRAPHS[0], oracle, "edg")


def test_a_module_that_mixes_graphs_is_found_out(torch, networks):
    class Mixing(networks.Sage):
        def forward(self, x, edge_index, batch):
            scores = super().forward(x, edge_index, batch)
            return scores + scores.mean(0, keepdim=True) * 9

    oracle = as_oracle(Mixing().eval(), features="degree")
    with pytest.raises(OracleError, match=r"mixes the graphs of a batch.*max_batch=1"):
        oracle.predict(GRAPHS[:1])
    alone = as_oracle(Mixing().eval(), features="degree", max_batch=1)
    assert len(alone.predict(GRAPHS)) == len(GRAPHS)


def test_a_module_that_takes_no_batch_is_given_one_graph_at_a_time(torch, networks):
    class Single(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x, edge_index):
            assert len(x) == 12
            return self.inner(x, edge_index, torch.zeros(len(x), dtype=torch.long))

    inner = networks.Sage().eval()
    single = as_oracle(Single(inner).eval(), features="degree")
    assert single.predict(GRAPHS) == as_oracle(inner, features="degree").predict(GRAPHS)


def test_a_classifier_of_nodes_is_told_to_pool(torch):
    class Nodes(torch.nn.Module):
        def forward(self, x, edge_index, batch):
            return torch.cat((x, -x), 1)

    with pytest.raises(OracleError, match="must first pool its nodes into one output per graph"):
        as_oracle(Nodes().eval(), features="degree").predict(GRAPHS[:1])


def test_layers_that_remember_the_first_graph_are_refused(torch):
    need("gnn", "torch_geometric")
    from torch_geometric.nn import GCNConv

    class Cached(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = GCNConv(1, 2, cached=True)

        def forward(self, x, edge_index, batch):
            return self.conv(x, edge_index)

    with pytest.raises(InvalidParameterError, match=r"The layer 'conv' has cached=True"):
        as_oracle(Cached().eval(), features="degree")


def test_what_is_missing_or_odd_is_said(torch, networks):
    network = networks.Sage().eval()
    with pytest.raises(MissingInputError, match=r"takes node features.*'profile', 'degree'"):
        as_oracle(network)
    with pytest.raises(InvalidParameterError, match=r"has no input for them: it takes adjacency"):
        as_oracle(networks.Dense(12).eval(), features="degree")
    with pytest.raises(InvalidParameterError, match="has no parameter that denseflip can fill"):
        as_oracle(type("Open", (torch.nn.Module,), {"forward": lambda self, *args: 0})().eval())
    with pytest.raises(UnknownNameError, match=r"Unknown output 'logts'. Did you mean 'logits'"):
        as_oracle(network, features="degree", output="logts")
    with pytest.raises(InvalidParameterError, match="output must be one of"):
        as_oracle(network, features="degree", output=3)
    with pytest.raises(UnknownNameError, match="Unknown device 'gpu'"):
        as_oracle(network, features="degree", device="gpu")
    with pytest.raises(InvalidParameterError, match="max_batch must be a whole number, at least 1"):
        as_oracle(network, features="degree", max_batch=0)
    with pytest.raises(InvalidParameterError, match=r"class_names has 3 names \(a, b, c\), but"):
        as_oracle(network, features="degree", class_names=["a", "b", "c"]).predict(GRAPHS[:1])
    with pytest.raises(InvalidParameterError, match="nodes applies to a scikit-learn est"):
        as_oracle(network, features="degree", nodes=["a"])
    with pytest.raises(InvalidParameterError, match=r"features applies to .*; this is a function"):
        as_oracle(lambda a: 0, features="degree")
    with pytest.raises(OracleError, match=r"raised RuntimeError.*node features 'profile'"):
        explain(GRAPHS[0], as_oracle(network, features="profile"), "edg")


def test_a_device_that_is_not_there_is_said(torch, networks):
    if torch.cuda.is_available():
        return
    with pytest.raises(InvalidParameterError, match="device 'cuda' cannot be used here"):
        as_oracle(networks.Sage().eval(), features="degree", device="cuda")
    auto = as_oracle(networks.Sage().eval(), features="degree", device="auto")
    assert len(auto.predict(GRAPHS)) == len(GRAPHS)


def test_close_scores_get_the_label_of_the_graph_alone(torch):
    class Near(torch.nn.Module):
        """Scores that a batch moves by less than anybody would mind."""

        def forward(self, x, edge_index, batch):
            n = int(batch.max()) + 1
            turn = 1e-6 if n > 1 else -1e-6
            return torch.tensor([[1.0, 1.0 + turn]]).repeat(n, 1)

    oracle = as_oracle(Near().eval(), features="degree")
    assert oracle.predict(GRAPHS) == [0] * len(GRAPHS)
    assert oracle.predict(GRAPHS[:1]) == [0]


def test_probabilities_that_stop_summing_to_one_are_an_error(torch):
    class Odd(torch.nn.Module):
        def forward(self, x, edge_index, batch):
            few = x.sum() < 30
            return torch.tensor([[0.5, 0.5 if few else 0.9]]).repeat(int(batch.max()) + 1, 1)

    oracle = as_oracle(Odd().eval(), features="degree", max_batch=1, output="probabilities")
    with pytest.raises(OracleError, match=r"sum to 1.4, not to 1"):
        oracle.predict(GRAPHS)


def test_the_module_of_the_user_stays_as_it_is(networks):
    network = networks.Sage().eval()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    explain(GRAPHS[0], as_oracle(network, features="degree"), "con", background=GRAPHS, budget=30)
    assert all((before[n] == v).all() for n, v in network.state_dict().items())
    assert not network.training


# ---- words ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch, networks):
    (tmp_path / "own_net.py").write_text(
        "import torch\nfrom networks import Sage\ntorch.manual_seed(3)\n"
        "model = Sage().eval()\nraw = Sage()\n"
        "def rows(a):\n    return a.sum(0)[:, None]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("own_net", None)


def test_a_module_is_opened_by_words(folder):
    oracle = open_oracle("own_net:model?features=degree&class_names=few,many&max_batch=5")
    assert oracle.class_names == {0: "few", 1: "many"}
    assert oracle.max_batch == 5
    own = open_oracle("own_net:model?features=.rows")
    assert own.predict(GRAPHS) == oracle.predict(GRAPHS)


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        ("own_net:model", MissingInputError, "takes node features"),
        ("own_net:raw?features=degree", OracleError, "in training mode"),
        ("own_net:model?feature=degree", UnknownNameError, "'feature'. Did you mean 'features'"),
        (
            "own_net:model?features",
            InvalidParameterError,
            "options after the question mark as name=value&name=value",
        ),
        (
            "own_net:model?features=.row",
            UnknownNameError,
            "features in own_net 'row'",
        ),
        ("own_net:model?features=degree&max_batch=x", InvalidParameterError, "max_batch must be"),
    ],
)
def test_words_that_do_not_fit_say_so(folder, words, kind, message):
    with pytest.raises(kind, match=message):
        open_oracle(words)


@pytest.mark.parametrize("name", ["net.pt", "net.pth", "net.pt2", "net.pkl", "net.joblib"])
def test_a_saved_program_is_not_opened(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(b"\x80\x04cos\nsystem\n(S'touch ran'\ntR.")
    for words in (name, f"torch:{name}"):
        with pytest.raises(FileFormatError, match=r"can run any code.*weights_only=True.*onnx:"):
            open_oracle(words)
    assert not (tmp_path / "ran").exists()


# ---- ONNX -------------------------------------------------------------------------------------


def test_the_file_and_its_original_agree_on_a_hundred_graphs():
    need("onnx", "onnxruntime")
    original = models._torch("edges", "degree")
    exported = open_oracle(f"onnx:{models.onnx_file()}?features=degree")
    found = compare_outputs(exported, original, GRAPHS)  # type: ignore[arg-type]
    assert (found.compared, found.labels) == (100, 1.0)
    assert found.largest < 1e-5


def test_an_export_that_adds_up_wrongly_is_found_out(networks, tmp_path):
    need("onnx", "onnx", "onnxruntime")
    network = networks.Sage().eval()
    network.adds_badly = True
    exported = open_oracle(f"onnx:{networks.export(network, tmp_path / 'n.onnx')}?features=degree")
    original = as_oracle(network, features="degree")
    with pytest.raises(
        OracleError, match=r"The two networks disagree: 100% of 100 graphs .*evaluation"
    ):
        compare_outputs(exported, original, GRAPHS)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="at least one graph"):
        compare_outputs(exported, original, [])  # type: ignore[arg-type]


def write_onnx(path, shape, name="adjacency"):
    """A tiny model: a stack of matrices to two scores per graph."""
    from onnx import TensorProto, helper

    given = helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    out = helper.make_tensor_value_info("scores", TensorProto.FLOAT, None)
    axes = helper.make_tensor("axes", TensorProto.INT64, [1], [1])
    columns = helper.make_tensor("cols", TensorProto.INT64, [2], [0, 1])
    nodes = [
        helper.make_node("ReduceSum", [name, "axes"], ["sums"], keepdims=0),
        helper.make_node("Gather", ["sums", "cols"], ["scores"], axis=1),
    ]
    graph = helper.make_graph(nodes, "g", [given], [out], [axes, columns])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    path.write_bytes(model.SerializeToString())
    return path


def write_identity(path, shape, name, kind):
    """A model that gives back what it is given, whatever that is."""
    from onnx import helper

    given = helper.make_tensor_value_info(name, kind, shape)
    out = helper.make_tensor_value_info("scores", kind, shape)
    node = helper.make_node("Identity", [name], ["scores"])
    graph = helper.make_graph([node], "g", [given], [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize("first", ["k", 1, 4], ids=str)
def test_a_fixed_number_of_graphs_is_filled_up(tmp_path, first):
    need("onnx", "onnx", "onnxruntime")
    path = write_onnx(tmp_path / "n.onnx", [first, 12, 12])
    oracle = open_oracle(f"onnx:{path}")
    expected = [int(g.degrees()[1] > g.degrees()[0]) for g in GRAPHS]
    assert oracle.predict(GRAPHS) == expected
    for few in range(1, 5):  # one lacks, or some, or none
        assert oracle.predict(GRAPHS[:few]) == expected[:few]


def test_a_session_is_taken_too(tmp_path):
    need("onnx", "onnx", "onnxruntime")
    import onnxruntime

    path = write_onnx(tmp_path / "n.onnx", ["k", 12, 12])
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert as_oracle(session).predict(GRAPHS) == open_oracle(f"onnx:{path}").predict(GRAPHS)
    with pytest.raises(InvalidParameterError, match="device applies to a torch module; this"):
        as_oracle(session, device="cpu")


def test_files_that_are_no_models_say_so(tmp_path):
    need("onnx", "onnx", "onnxruntime")
    from onnx import TensorProto

    (tmp_path / "bad.onnx").write_bytes(b"nothing of the kind")
    for words, kind, message in (
        (
            f"onnx:{tmp_path / 'bad.onnx'}",
            FileFormatError,
            "not an ONNX model that",
        ),
        (f"onnx:{tmp_path / 'none.onnx'}", InvalidParameterError, "There is no ONNX file"),
        (f"onnx:{tmp_path / 'bad.onnx'}?device=cpu", UnknownNameError, "Unknown option"),
    ):
        with pytest.raises(kind, match=message):
            open_oracle(words)
    flat = write_identity(tmp_path / "flat.onnx", ["k", 12], "rows", TensorProto.FLOAT)
    with pytest.raises(InvalidParameterError, match="has 2 dimensions; one array for graphs has 3"):
        open_oracle(f"onnx:{flat}")
    texts = write_identity(tmp_path / "texts.onnx", ["k", 12, 12], "words", TensorProto.STRING)
    with pytest.raises(InvalidParameterError, match=r"'words' is a tensor\(string\); dense"):
        open_oracle(f"onnx:{texts}")
    other = Graph.from_edges(5, [(0, 1)])
    with pytest.raises(OracleError, match=r"The ONNX model failed: .*It received adjacency"):
        open_oracle(f"onnx:{write_onnx(tmp_path / 'n.onnx', ['k', 12, 12])}").predict([other])


def test_an_export_for_one_number_of_edges_is_refused(tmp_path):
    need("onnx", "onnx", "onnxruntime")
    from onnx import TensorProto

    path = write_identity(tmp_path / "n.onnx", [2, 40], "edge_index", TensorProto.INT64)
    with pytest.raises(InvalidParameterError, match=r"with exactly 40 edges.*dynamic_axes="):
        open_oracle(f"onnx:{path}")


@pytest.mark.parametrize(
    ("module", "words", "extra"),
    [("onnxruntime", "onnx:x.onnx", "onnx")],
)
def test_without_the_extra_the_line_to_type_is_told(monkeypatch, module, words, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf'pip install "denseflip\[{extra}\]"'):
        open_oracle(words)


def test_without_torch_geometric_the_line_to_type_is_told(networks, monkeypatch):
    for name in [n for n in sys.modules if n.split(".")[0] == "torch_geometric"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    oracle = as_oracle(networks.OfData(networks.Sage()).eval(), features="degree")
    with pytest.raises(MissingExtraError, match=r'pip install "denseflip\[gnn\]"'):
        oracle.predict(GRAPHS[:1])


@pytest.mark.parametrize("features", [None, "degree"])
def test_graphs_of_two_sizes_do_not_fit_into_one_array(features):
    made = None if features is None else node_features(features)
    roles = {"input": "x or adjacency"}
    alike = inputs_of([path(4), path(4)], roles, made)["input"]
    assert alike.shape[:2] == (2, 4)
    with pytest.raises(InvalidGraphError, match="Graphs with 4 to 5 nodes do not fit"):
        inputs_of([path(4), path(5)], roles, made)
