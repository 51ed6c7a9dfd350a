"""Gradients of oracles: right, counted, and refused in plain words where they cannot be used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conftest import need
from denseflip import Graph, as_oracle, explain
from denseflip.classifiers.presets import fit_oracle
from denseflip.datasets import make_synthetic
from denseflip.errors import GradientError, InvalidParameterError
from denseflip.graph.pairs import all_pairs, are_among
from denseflip.oracles.base_session import BudgetSpentError
from denseflip.oracles.gradients import PairGradient, clean_gradient
from denseflip.oracles.session import Session

DATA = make_synthetic(seed=3)
GRAPH = DATA.graphs[0]
SOME = np.random.default_rng(0).choice(all_pairs(GRAPH.n_nodes), 1000, replace=False)


def margins(scores: Any, label: int) -> Any:
    return scores[:, label] - scores[:, 1 - label]


# ---- linear classifiers -------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["edges-svm", "edges-logistic", "regions-logistic"])
@pytest.mark.parametrize("label", [0, 1])
def test_linear_presets_have_exact_gradients(preset, label):
    oracle = fit_oracle(DATA, preset)
    found = oracle.gradient(GRAPH, label)
    graphs = [GRAPH, *(GRAPH.toggle_codes(np.array([code])) for code in SOME)]
    scores = oracle.head.scores(oracle.features.transform(graphs))[:, 0] * (1 if label else -1)
    assert found.exact
    assert found.score == pytest.approx(scores[0])
    assert np.allclose(found.at(SOME), scores[1:] - scores[0], atol=1e-12)


def three_classes() -> tuple[Any, Any]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows = np.stack([g.degrees() for g in DATA.graphs])
    labels = np.arange(len(rows)) % 3
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, labels), rows


def test_with_several_classes_the_margin_is_that_to_the_strongest_other():
    pipeline, _ = three_classes()
    oracle = as_oracle(pipeline, features="degrees")
    found = oracle.gradient(GRAPH, 2)
    graphs = [GRAPH, *(GRAPH.toggle_codes(np.array([code])) for code in SOME)]
    scores = pipeline.decision_function([g.degrees() for g in graphs])
    rival = scores[0, :2].argmax()
    margin = scores[:, 2] - scores[:, rival]
    assert found.score == pytest.approx(margin[0])
    assert np.allclose(found.at(SOME), margin[1:] - margin[0])
    assert found.linear
    assert not found.exact  # another class may become the strongest


@pytest.mark.parametrize("steps", ["scaled", "reduced", "selected"])
def test_linear_pipelines_have_exact_gradients(steps):
    from sklearn.decomposition import PCA
    from sklearn.feature_selection import SelectKBest
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

    parts = {
        "scaled": (MinMaxScaler(), MaxAbsScaler(), RobustScaler(), RidgeClassifier()),
        "reduced": (StandardScaler(), PCA(8, whiten=True, random_state=0), LogisticRegression()),
        "selected": (SelectKBest(k=20), "passthrough", LogisticRegression()),
    }[steps]
    rows = np.stack([g.degrees() for g in DATA.graphs])
    pipeline = make_pipeline(*parts).fit(rows, DATA.labels)
    found = as_oracle(pipeline, features="degrees").gradient(GRAPH, 1)
    graphs = [GRAPH, *(GRAPH.toggle_codes(np.array([code])) for code in SOME)]
    scores = pipeline.decision_function([g.degrees() for g in graphs])
    assert found.score == pytest.approx(scores[0])
    assert np.allclose(found.at(SOME), scores[1:] - scores[0])


def test_every_pair_of_a_pipeline():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    from denseflip.classifiers.features import make_features

    features = make_features("edges", DATA.nodes)
    rows = features.transform(DATA.graphs)
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    model = make_pipeline(StandardScaler(), LinearSVC(random_state=0)).fit(rows, DATA.labels)
    found = as_oracle(model, features="edges").gradient(GRAPH, 1)
    graphs = [GRAPH, *(GRAPH.toggle_codes(np.array([code])) for code in SOME)]
    after = features.transform(graphs)
    scores = model.decision_function(after.toarray() if hasattr(after, "toarray") else after)
    assert found.exact
    assert np.allclose(found.at(SOME), scores[1:] - scores[0])


def test_region_densities_of_a_pipeline():
    from sklearn.linear_model import LogisticRegression

    from denseflip.classifiers.features import make_features

    features = make_features("regions", DATA.nodes)
    model = LogisticRegression().fit(features.transform(DATA.graphs), DATA.labels)
    found = as_oracle(model, features="regions", nodes=DATA.nodes).gradient(GRAPH, 0)
    graphs = [GRAPH, *(GRAPH.toggle_codes(np.array([code])) for code in SOME)]
    scores = -model.decision_function(features.transform(graphs))
    assert np.allclose(found.at(SOME), scores[1:] - scores[0])


def test_what_is_not_linear_offers_none():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    rows = np.stack([g.degrees() for g in DATA.graphs])
    forest = RandomForestClassifier(3, random_state=0).fit(rows, DATA.labels)
    curved = make_pipeline(PolynomialFeatures(1), LogisticRegression()).fit(rows, DATA.labels)
    assert not hasattr(as_oracle(forest, features="degrees"), "gradient")
    assert not hasattr(as_oracle(curved, features="degrees"), "gradient")
    assert not hasattr(as_oracle(lambda a: 0), "gradient")
    assert not hasattr(fit_oracle(DATA, "sf-knn"), "gradient")


# ---- torch modules ------------------------------------------------------------------------------


def network(kind: str, width: int) -> Any:
    need("torch_geometric")
    import torch
    import torch_geometric.nn as layers
    from torch import nn

    def mlp(a: int, b: int) -> Any:
        return nn.Sequential(nn.Linear(a, b), nn.Tanh(), nn.Linear(b, b))

    make: Any = {
        "gcn": lambda a, b: layers.GCNConv(a, b),
        "gin": lambda a, b: layers.GINConv(mlp(a, b)),
        "sage": lambda a, b: layers.SAGEConv(a, b),
        "graph": lambda a, b: layers.GraphConv(a, b),
        "edge": lambda a, b: layers.EdgeConv(mlp(2 * a, b), aggr="mean"),
        "gat": lambda a, b: layers.GATConv(a, b),
    }[kind]

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = make(width, 8), make(8, 8)
            self.last = nn.Linear(8, 2)
            self.forwards = 0

        def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
            self.forwards += 1
            x = torch.tanh(self.first(x, edge_index) / 10)
            x = torch.tanh(self.second(x, edge_index) / 10)
            return self.last(layers.global_add_pool(x, batch))

    torch.manual_seed(0)
    return Net().double().eval()


def weighted(net: Any, features: str, weights: Any, label: int) -> float:
    """The margin for a weighted adjacency matrix, through the layers' own edge weights."""
    import torch
    from torch_geometric.nn import global_add_pool

    ends = torch.as_tensor(np.argwhere(weights > 0).T.copy())
    given = torch.as_tensor(weights)[ends[0], ends[1]]
    dense = torch.as_tensor(weights)
    x = dense if features == "profile" else dense.sum(1, keepdim=True)
    with torch.no_grad():
        for layer in (net.first, net.second):
            x = torch.tanh(layer(x, ends, given) / 10)
        scores = net.last(global_add_pool(x, torch.zeros(len(x), dtype=torch.long)))[0]
    return float(scores[label] - scores[1 - label])


@pytest.mark.parametrize("features", ["profile", "degree"])
def test_layers_with_weights_agree_with_finite_differences(features):
    net = network("gcn", GRAPH.n_nodes if features == "profile" else 1)
    oracle = as_oracle(net, features=features)
    (label,) = oracle.predict([GRAPH])
    found = oracle.gradient(GRAPH, label)
    assert oracle.gradient_route == "all pairs"
    base, step = GRAPH.to_adjacency(float), 1e-5
    centre = weighted(net, features, base, label)
    assert found.score == pytest.approx(centre)
    for code in SOME:
        u, v = divmod(int(code), GRAPH.n_nodes)
        moved = base.copy()
        sign = -1 if base[u, v] else 1
        moved[u, v] = moved[v, u] = base[u, v] + sign * step
        slope = (weighted(net, features, moved, label) - centre) / step
        assert found.at(np.array([code]))[0] == pytest.approx(slope, rel=1e-2, abs=1e-6)


@pytest.mark.parametrize("kind", ["gin", "sage", "graph", "edge", "gcn"])
@pytest.mark.parametrize("features", ["profile", "degree"])
def test_the_gradient_predicts_single_flips(kind, features):
    """Layers without weights: the product of message and weight, checked on real flips."""
    net = network(kind, GRAPH.n_nodes if features == "profile" else 1)
    oracle = as_oracle(net, features=features)
    (label,) = oracle.predict([GRAPH])
    found = oracle.gradient(GRAPH, label)
    assert found.codes is None  # all pairs
    graphs = [GRAPH, *(GRAPH.toggle_codes(np.array([code])) for code in SOME)]
    exact = margins(oracle.scores(graphs), label)
    assert found.score == pytest.approx(exact[0])
    assert np.corrcoef(found.at(SOME), exact[1:] - exact[0])[0, 1] > 0.95


def dense(net: Any, kind: str, features: str, weights: Any, label: int) -> float:
    """The margin of a weighted adjacency matrix, by products written out here."""
    import torch

    def apply(layer: Any, x: Any) -> Any:
        summed = weights @ x
        if kind == "gin":
            return layer.nn(summed + x)
        if kind == "sage":
            return layer.lin_l(summed / weights.sum(1, keepdim=True)) + layer.lin_r(x)
        return layer.lin_rel(summed) + layer.lin_root(x)

    x = weights if features == "profile" else weights.sum(1, keepdim=True)
    with torch.no_grad():
        for layer in (net.first, net.second):
            x = torch.tanh(apply(layer, x) / 10)
        scores = net.last(x.sum(0))
    return float(scores[label] - scores[1 - label])


@pytest.mark.parametrize("kind", ["gin", "sage", "graph"])
@pytest.mark.parametrize("features", ["profile", "degree"])
def test_layers_without_weights_agree_with_finite_differences(kind, features):
    net = network(kind, GRAPH.n_nodes if features == "profile" else 1)
    oracle = as_oracle(net, features=features)
    (label,) = oracle.predict([GRAPH])
    found = oracle.gradient(GRAPH, label)
    import torch

    base, step = torch.as_tensor(GRAPH.to_adjacency(float)), 1e-5
    centre = dense(net, kind, features, base, label)
    assert found.score == pytest.approx(centre)
    slopes = []
    for code in SOME:
        u, v = divmod(int(code), GRAPH.n_nodes)
        moved = base.clone()
        moved[u, v] = moved[v, u] = base[u, v] + (-step if base[u, v] else step)
        slopes.append((dense(net, kind, features, moved, label) - centre) / step)
    assert np.allclose(found.at(SOME), slopes, rtol=1e-2, atol=1e-6)


def slopes_of(margin: Any, pairs: Any = SOME) -> Any:
    """Finite differences of a margin of a weighted adjacency matrix, one per pair."""
    import torch

    base, step, slopes = torch.as_tensor(GRAPH.to_adjacency(float)), 1e-5, []
    centre = margin(base)
    for code in pairs:
        u, v = divmod(int(code), GRAPH.n_nodes)
        moved = base.clone()
        moved[u, v] = moved[v, u] = base[u, v] + (-step if base[u, v] else step)
        slopes.append((margin(moved) - centre) / step)
    return slopes


def weighing(outputs: int, end: Any) -> Any:
    """A network of torch alone with edge weights, and the same of a matrix of weights."""
    import torch
    from torch import nn

    class Weighing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(2, 8), nn.Linear(16, 8)
            self.last = nn.Linear(8, outputs)

        def forward(self, x: Any, edge_index: Any, edge_weight: Any, batch: Any) -> Any:
            def heard(x: Any) -> Any:
                sent = x[edge_index[0]] * edge_weight[:, None]
                return torch.zeros_like(x).index_add(0, edge_index[1], sent)

            member = (batch[None, :] == torch.arange(batch.max() + 1)[:, None]).to(x.dtype)
            return end(self.last(member @ self.nodes(x, heard)))

        def nodes(self, x: Any, heard: Any) -> Any:
            for layer in (self.first, self.second):
                x = torch.tanh(layer(torch.cat((x, heard(x)), 1)) / 10)
            return x

        def of_matrix(self, weights: Any) -> Any:
            with torch.no_grad():
                x = self.nodes(weights.sum(1, keepdim=True), lambda x: weights @ x)
                return self.last(x.sum(0))

    torch.manual_seed(0)
    return Weighing().double().eval()


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("output", ["logits", "probabilities", "logit", "probability"])
def test_edge_weights_as_an_input_agree_with_finite_differences_in_every_output(output, label):
    need("torch")
    import torch

    ends: dict[str, Any] = {
        "logits": lambda scores: scores,
        "probabilities": lambda scores: torch.softmax(scores, 1),
        "logit": lambda scores: scores[:, 0],
        "probability": lambda scores: torch.sigmoid(scores[:, 0]),
    }
    two = output in ("logits", "probabilities")
    net = weighing(2 if two else 1, ends[output])

    def margin(weights: Any) -> float:
        scores = net.of_matrix(weights)
        one = scores[1] - scores[0] if two else scores[0]
        return float(one if label else -one)

    found = as_oracle(net, features="degree", output=output).gradient(GRAPH, label)
    assert found.codes is None
    assert found.score == pytest.approx(margin(torch.as_tensor(GRAPH.to_adjacency(float))))
    assert np.allclose(found.at(SOME), slopes_of(margin), rtol=1e-2, atol=1e-6)


def test_a_module_given_data_agrees_with_finite_differences():
    need("torch_geometric")
    from networks import OfData

    net = network("gin", 1)
    found = as_oracle(OfData(net).eval(), features="degree").gradient(GRAPH, 1)
    slopes = slopes_of(lambda weights: dense(net, "gin", "degree", weights, 1))
    assert np.allclose(found.at(SOME), slopes, rtol=1e-2, atol=1e-6)


@pytest.mark.parametrize("kind", ["edge", "gat"])
def test_messages_times_weights_agree_with_finite_differences(kind):
    """Layers whose messages depend on both ends, and attention on existing edges."""
    net = network(kind, 1)
    import torch

    def apply(layer: Any, x: Any, weights: Any) -> Any:
        ends = torch.argwhere(weights > 0).T
        given = weights[ends[0], ends[1]]
        if kind == "edge":
            sent, heard = x[ends[0]], x[ends[1]]
            messages = layer.nn(torch.cat((heard, sent - heard), 1)) * given[:, None]
            total = torch.zeros(len(x), messages.shape[1], dtype=x.dtype)
            return total.index_add(0, ends[1], messages) / weights.sum(1, keepdim=True)
        _, (ends, shares) = layer(x, ends, return_attention_weights=True)
        given = torch.cat((given, given.new_ones(ends.shape[1] - len(given))))  # loops come last
        messages = layer.lin(x)[ends[0]] * shares * given[:, None]
        return torch.zeros_like(layer.lin(x)).index_add(0, ends[1], messages) + layer.bias

    def margin(weights: Any) -> float:
        x = weights.sum(1, keepdim=True)
        with torch.no_grad():
            for layer in (net.first, net.second):
                x = torch.tanh(apply(layer, x, weights) / 10)
            scores = net.last(x.sum(0))
        return float(scores[1] - scores[0])

    found = as_oracle(net, features="degree").gradient(GRAPH, 1)
    pairs = SOME if kind == "edge" else GRAPH.codes
    assert np.array_equal(found.pairs, GRAPH.codes) == (kind == "gat")
    assert np.allclose(found.at(pairs), slopes_of(margin, pairs), rtol=1e-2, atol=1e-6)


def test_attention_covers_edges_only_and_says_so():
    oracle = as_oracle(network("gat", 1), features="degree")
    found = oracle.gradient(GRAPH, 0)
    assert np.array_equal(found.pairs, GRAPH.codes)
    assert "existing edges only" in found.note
    result = explain(GRAPH, oracle, "gradient", budget=60)
    assert any("existing edges only" in note for note in result.notes)


def test_a_dense_network_agrees_with_finite_differences():
    need("torch")
    import torch

    from networks import Dense

    torch.manual_seed(0)
    net = Dense(GRAPH.n_nodes).double().eval()
    oracle = as_oracle(net)
    found = oracle.gradient(GRAPH, 1)
    base = torch.as_tensor(GRAPH.to_adjacency(float))

    def margin(a: Any) -> float:
        with torch.no_grad():
            scores = net(a[None])[0]
        return float(scores[1] - scores[0])

    for code in SOME:
        u, v = divmod(int(code), GRAPH.n_nodes)
        moved = base.clone()
        sign = -1 if base[u, v] else 1
        moved[u, v] = moved[v, u] = base[u, v] + sign * 1e-5
        slope = (margin(moved) - margin(base)) / 1e-5
        assert found.at(np.array([code]))[0] == pytest.approx(slope, rel=1e-2, abs=1e-7)


def test_features_by_a_function_are_not_covered_and_it_says_so():
    net = network("gin", 1)
    oracle = as_oracle(net, features=lambda a: a.sum(0)[:, None])
    assert "does not cover the node features" in oracle.gradient(GRAPH, 0).note
    result = explain(GRAPH, oracle, "gradient", budget=200)
    assert any("does not cover the node features" in note for note in result.notes)
    if result.found:  # the label is that of the features of the edited graph
        assert oracle.predict([result.counterfactual]) == [result.label_after]


def test_passes_are_split_where_memory_is_short(monkeypatch):
    from denseflip.oracles import torch_gradient

    whole = as_oracle(network("gin", 1), features="degree").gradient(GRAPH, 0)
    monkeypatch.setattr(torch_gradient, "_MEMORY", 1)
    oracle = as_oracle(network("gin", 1), features="degree")
    parts = oracle.gradient(GRAPH, 0)
    assert (whole.passes, parts.passes) == (1, 6)  # 1,024 of 6,003 other pairs in each
    assert np.allclose(whole.values, parts.values, rtol=1e-9, atol=1e-12)
    session = Session(oracle)
    session.gradient(GRAPH, 0)
    assert session.calls == 12


def test_the_module_is_as_before():
    net = network("gin", 1)
    oracle = as_oracle(net, features="degree")
    before = oracle.scores([GRAPH])
    oracle.gradient(GRAPH, 0)
    assert np.array_equal(oracle.scores([GRAPH]), before)
    assert all(p.grad is None for p in net.parameters())
    for layer in (net.first, net.second):
        assert "propagate" not in layer.__dict__
        assert not layer._forward_pre_hooks
        assert not layer._message_forward_hooks


def test_forwards_and_backwards_are_counted():
    net = network("gcn", 1)
    oracle = as_oracle(net, features="degree")
    oracle.gradient(GRAPH, 0)  # the first one also checks how the module takes weights
    backwards = []
    net.last.register_full_backward_hook(lambda *_: backwards.append(1))
    net.forwards = 0
    session = Session(oracle)
    session.gradient(GRAPH, 0)
    assert (session.calls, net.forwards, len(backwards), session.gradients) == (2, 1, 1, 1)
    session.gradient(GRAPH, 0)
    assert (session.calls, net.forwards) == (2, 1)  # known
    (label,) = oracle.predict([GRAPH])
    score = oracle.gradient(GRAPH, label).score
    net.last.bias.data[label] -= 0.99 * score
    net.forwards, backwards[:] = 0, []
    result = explain(GRAPH, oracle, "gradient", confirm=0)
    assert result.found
    confidences = 2  # before and after, for the reader; not part of the search
    assert result.calls == net.forwards + len(backwards) - confidences


# ---- the session --------------------------------------------------------------------------------


class Edges:
    """Class 1 with at least 4 edges; its gradient is what a test says."""

    classes = (0, 1)

    def __init__(self, gradient: Any) -> None:
        self.given = gradient

    def predict(self, graphs: Any) -> list[int]:
        return [int(g.n_edges >= 4) for g in graphs]

    def gradient(self, graph: Graph, label: int) -> Any:
        return self.given(graph, label) if callable(self.given) else self.given


def by_edges(graph: Graph, label: int) -> PairGradient:
    signs = np.where(are_among(all_pairs(graph.n_nodes), graph.codes), -1.0, 1.0)
    side = 1 if label else -1
    return PairGradient(graph.n_nodes, side * signs, score=side * (graph.n_edges - 3.5))


SMALL = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])


def test_an_oracle_of_ones_own_with_an_array():
    signs = np.where(SMALL.to_adjacency() > 0, -1.0, 1.0)
    session = Session(Edges(lambda graph, label: signs))
    found = session.gradient(SMALL, 1)
    assert found.at(np.array([1, 2])).tolist() == [-1, 1]
    assert session.calls == 2


@pytest.mark.parametrize(
    ("gradient", "words"),
    [
        (np.full((5, 5), np.nan), "not finite"),
        (np.zeros((5, 5)), "zero for every pair"),
        (np.arange(25.0).reshape(5, 5), "not symmetric"),
        (np.ones(3), "shape"),
        ("steep", "expected an array"),
        (lambda *_: 1 / 0, "cannot be computed"),
    ],
    ids=["nan", "zero", "skew", "short", "text", "raises"],
)
def test_useless_gradients_are_refused_or_noted(gradient, words):
    oracle = Edges(gradient)
    with pytest.raises(GradientError, match=words):
        explain(SMALL, oracle, "race", information="gradients")
    result = explain(SMALL, oracle, "race")
    assert result.found
    assert any(words in note and "Labels were used" in note for note in result.notes)


def test_a_gradient_that_contradicts_the_label_is_refused():
    oracle = Edges(lambda graph, label: PairGradient(5, np.ones(10), score=-2.0))
    with pytest.raises(GradientError, match="contradicts its label"):
        explain(SMALL, oracle, "gradient")


def test_a_class_with_a_predict_of_its_own_does_not_inherit_a_gradient():
    class Other(Edges):
        def predict(self, graphs: Any) -> list[int]:
            return [int(g.n_edges < 4) for g in graphs]

    assert Session(Edges(by_edges)).offers_gradient
    assert not Session(Other(by_edges)).offers_gradient
    assert not Session(Edges(by_edges), information="labels").offers_gradient


def test_the_budget_covers_gradients():
    session = Session(Edges(by_edges), budget=3)
    session.gradient(SMALL, 1)
    with pytest.raises(BudgetSpentError):
        session.gradient(SMALL.toggle([(0, 1)]), 1)
    assert session.calls == 2


def test_pairs_that_are_not_covered_have_the_value_zero():
    part = PairGradient(5, np.array([3.0]), codes=np.array([7]))
    assert part.at(np.array([1, 7, 9])).tolist() == [0, 3, 0]
    assert clean_gradient(part, SMALL) is part


def test_a_module_without_weights_is_refused_in_words():
    need("torch")
    from networks import Sage

    oracle = as_oracle(Sage().eval(), features="degree")
    with pytest.raises(GradientError, match="no edge_weight"):
        explain(GRAPH, oracle, "gradient")
    result = explain(GRAPH, oracle, "race", budget=40)
    assert any("Labels were used instead" in note for note in result.notes)


def test_a_module_that_ignores_edge_weight_is_refused_in_words():
    need("torch")
    import torch

    from networks import Sage

    class Ignores(Sage):
        def forward(self, x: Any, edge_index: Any, batch: Any, edge_weight: Any = None) -> Any:
            return super().forward(x, edge_index, batch)

    torch.manual_seed(0)
    oracle = as_oracle(Ignores().eval(), features="constant")
    with pytest.raises(GradientError, match="ignores edge_weight"):
        explain(GRAPH, oracle, "gradient")


@pytest.mark.parametrize(
    ("last_step", "words"),
    [
        (lambda scores: scores.detach(), "did not record how its output depends on the edges"),
        (lambda scores: scores + (0 * scores.sum()).sqrt(), "not finite"),
        (lambda scores: scores - scores + scores.detach(), "zero for every pair"),
    ],
    ids=["none", "nan", "constant"],
)
def test_a_module_with_a_useless_gradient_is_explained_by_labels_and_says_why(last_step, words):
    need("torch")
    import torch

    from networks import Dense

    class Useless(Dense):
        def forward(self, adjacency: Any) -> Any:
            return last_step(super().forward(adjacency))

    torch.manual_seed(0)
    oracle = as_oracle(Useless(GRAPH.n_nodes).eval())
    with pytest.raises(GradientError, match=words):
        explain(GRAPH, oracle, "gradient")
    result = explain(GRAPH, oracle, "race", budget=40)
    said = [note for note in result.notes if "Labels were used instead of gradients" in note]
    assert len(said) == 1
    assert words in said[0]
    assert "RuntimeError" not in said[0]


# ---- which information ---------------------------------------------------------------------------


def test_information_is_refused_where_it_does_not_fit():
    with pytest.raises(InvalidParameterError, match="does not use gradients"):
        explain(SMALL, Edges(by_edges), "tri", information="gradients")
    with pytest.raises(InvalidParameterError, match="excludes"):
        explain(SMALL, Edges(by_edges), "gradient", information="labels")
    with pytest.raises(GradientError, match="offers no gradient"):
        explain(SMALL, lambda a: int(a.sum() > 6), "gradient")
    with pytest.raises(GradientError, match="offers no gradient"):
        explain(SMALL, lambda a: int(a.sum() > 6), "tight", information="gradients")


def test_the_notes_say_what_was_used():
    used = explain(SMALL, Edges(by_edges), "tight")
    assert any(note.startswith("Used ") and "gradient" in note for note in used.notes)
    labels = explain(SMALL, Edges(by_edges), "tight", information="labels")
    assert "Used only the labels of the classifier." in labels.notes
    assert labels.distance == used.distance == 2
    oracle = fit_oracle(DATA, "regions-logistic")
    sure = explain(GRAPH, oracle, "tight", information="probabilities", background=DATA.graphs)
    assert "Used the probabilities of the classifier." in sure.notes
