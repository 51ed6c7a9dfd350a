"""`DenseflipExplainer`: what PyTorch Geometric's explainer gets, and what it is told."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import models
from conftest import need
from denseflip import Dataset, as_oracle, explain, explain_many
from denseflip.errors import (
    DatasetError,
    InvalidGraphError,
    InvalidParameterError,
    MissingExtraError,
    MissingInputError,
    OracleError,
)
from denseflip.graph import Graph, as_graph
from denseflip.workflow import pyg

GRAPH = models.GRAPHS[0]
CONFIG = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}


@pytest.fixture(scope="module")
def module() -> Any:
    need("gnn", "torch", "torch_geometric")
    return models._torch("edges", "degree").module  # type: ignore[attr-defined]


def explainer(module: Any, features: Any = "degree", config: Any = CONFIG, **options: Any) -> Any:
    from torch_geometric.explain import Explainer

    own = {"method": "con", "background": models.GRAPHS, "nodes": models.COHORT.nodes}
    settings = {"explanation_type": "model", "edge_mask_type": "object", "model_config": config}
    asked = {k: options.pop(k) for k in list(options) if k in (*settings, "node_mask_type")}
    algorithm = pyg.DenseflipExplainer(features, **{**own, **options})
    return Explainer(model=module, algorithm=algorithm, **{**settings, **asked})


def tensors(graph: Graph = GRAPH) -> dict[str, Any]:
    import torch

    pairs = np.concatenate((graph.pairs, graph.pairs[:, ::-1])).T
    x = torch.as_tensor(graph.degrees()[:, None], dtype=torch.float32)
    batch = torch.zeros(len(x), dtype=torch.long)
    return {"x": x, "edge_index": torch.as_tensor(np.ascontiguousarray(pairs)), "batch": batch}


def test_removals_are_the_mask_and_the_rest_stands_beside_it(module):
    given = tensors()
    told = explainer(module, class_names=["few", "many"])(**given)
    assert told.validate()
    assert told.found
    assert told.label_before != told.label_after
    marked = given["edge_index"][:, told.edge_mask.bool()]
    assert {tuple(p) for p in marked.t().tolist()} == {
        tuple(p) for p in told.removed_edge_index.t().tolist()
    }
    result = told.counterfactual
    assert {(u, v) for u, v in told.removed_edge_index.t().tolist() if u < v} == set(
        result.edits.removed
    )
    assert {(u, v) for u, v in told.added_edge_index.t().tolist() if u < v} == set(
        result.edits.added
    )
    edited = told.counterfactual_edge_index
    assert edited.shape[1] == 2 * result.counterfactual.n_edges
    import torch

    degrees = torch.bincount(edited[0], minlength=12).float()[:, None]
    scores = module(degrees, edited, given["batch"])
    assert int(scores.argmax()) == told.label_after
    assert {"few", "many"} & set(told.sentence.replace(",", " ").replace(".", " ").split())
    assert told.story.result is result
    assert int(told.prediction.argmax()) == told.label_before


def test_the_seed_and_the_target_are_kept(module):
    runs = [explainer(module, method="edg", seed=4, budget=50)(**tensors()) for _ in "ab"]
    assert runs[0].counterfactual.edits == runs[1].counterfactual.edits
    label = runs[0].label_before
    same = explainer(module, target=label)(**tensors())
    assert same.counterfactual.status == "not-needed"
    assert not same.edge_mask.any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"config": {**CONFIG, "task_level": "node"}}, "task_level must be 'graph'"),
        ({"config": {**CONFIG, "mode": "regression"}}, "mode must be a classification"),
        ({"node_mask_type": "attributes"}, "node_mask_type must be None"),
        ({"edge_mask_type": None, "node_mask_type": "object"}, "node_mask_type must be None"),
        ({"explanation_type": "phenomenon"}, "explanation_type must be 'model'"),
    ],
)
def test_settings_that_are_not_those_of_a_counterfactual_are_refused(module, change, message):
    with pytest.raises(InvalidParameterError, match=message):
        explainer(module, **change)


def test_features_that_are_not_those_of_x_are_refused(module):
    with pytest.raises(InvalidParameterError, match=r"x does not hold the 'constant' features"):
        explainer(module, "constant")(**tensors())
    with pytest.raises(InvalidParameterError, match=r"not hold the 'profile' features .*'fixed'"):
        explainer(module, "profile")(**tensors())
    fixed = explainer(module, "fixed")(**tensors())
    own = explainer(module, lambda a: a.sum(0)[:, None])(**tensors())
    named = explainer(module)(**tensors())
    assert own.counterfactual.edits == named.counterfactual.edits
    assert fixed.found


def test_what_cannot_be_explained_is_said(module):
    import torch

    given = tensors()
    with pytest.raises(InvalidGraphError, match="Give one graph at a time; batch holds 2"):
        explainer(module)(**{**given, "batch": torch.arange(2).repeat_interleave(6)})
    with pytest.raises(InvalidGraphError, match=r"in one direction only.*to_undirected"):
        explainer(module)(**{**given, "edge_index": given["edge_index"][:, :-1]})
    with pytest.raises(MissingInputError, match=r"DenseflipExplainer\(features=…\) with"):
        pyg.DenseflipExplainer()

    class Weighted(torch.nn.Module):
        def forward(self, x, edge_index, batch, edge_weight=None):
            return module(x, edge_index, batch)

    weights = torch.ones(given["edge_index"].shape[1])
    with pytest.raises(InvalidParameterError, match="edge_weight would not follow the edits"):
        explainer(Weighted())(**given, edge_weight=weights)


def test_a_model_that_says_another_thing_here_is_found_out(module):
    import torch

    class Turned(torch.nn.Module):
        """Answers otherwise where gradients are off and the graph is on its own."""

        asked = 0

        def forward(self, x, edge_index, batch):
            self.asked += 1
            scores = module(x, edge_index, batch)
            return scores.flip(1) if self.asked == 1 else scores

    with pytest.raises(OracleError, match="features that the model was trained with"):
        explainer(Turned().eval())(**tensors())


def test_without_torch_geometric_the_line_to_type_is_told(monkeypatch):
    pyg._explainer.cache_clear()
    monkeypatch.setitem(sys.modules, "torch_geometric.explain", None)
    with pytest.raises(MissingExtraError, match=r'pip install "denseflip\[gnn\]"'):
        from denseflip.workflow.pyg import DenseflipExplainer  # noqa: F401
    with pytest.raises(AttributeError, match="no attribute 'Explainer'"):
        pyg.Explainer  # noqa: B018


def test_additions_are_said_and_not_shown_as_an_empty_mask(module):
    import warnings

    given = tensors()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = explainer(module, constraints={"only": "add"}, method="tri")(**given)
        if not told.found:  # this graph needs removals: take one of the other class
            other = next(
                g for g in models.GRAPHS if explainer(module)(**tensors(g)).added_edge_index.numel()
            )
            given = tensors(other)
    with pytest.warns(UserWarning, match="removes no edge"):
        told = explainer(module, constraints={"only": "add"}, method="tri")(**given)
    assert told.found
    assert not told.edge_mask.any()
    assert "fidelity" in told.note
    removed = explainer(module, constraints={"only": "remove"}, method="tri")
    assert "edge_mask shows" not in removed(**given).note


def data(graph: Graph = GRAPH, x: Any = None) -> Any:
    from torch_geometric.data import Data

    own = tensors(graph)
    return Data(x=own["x"] if x is None else x, edge_index=own["edge_index"])


def test_the_x_of_a_graph_is_never_ignored(module):
    """Other features than those of the classifier are refused, in values or in shape."""
    given = data()
    oracle = as_oracle(module, features=given.x)
    asked = {"method": "tri", "budget": 20}
    same = explain(given, oracle, **asked)
    assert same.edits == explain(GRAPH, oracle, **asked).edits  # a Graph has none to ignore
    named = as_oracle(oracle, class_names=["few", "many"])
    for x in (given.x + 1, given.x[:, [0, 0]]):
        for classifier in (oracle, named):
            with pytest.raises(InvalidParameterError, match=r"as_oracle\(model, features=data.x\)"):
                explain(data(x=x), classifier, **asked)
        with pytest.raises(InvalidParameterError, match="background graph 1"):
            explain(given, oracle, background=[given, data(x=x)], **asked)
    degree = as_oracle(module, features="degree")
    assert explain(given, degree, **asked).label_before is not None
    with pytest.raises(InvalidParameterError, match="features='degree'"):
        explain(data(x=given.x + 1), degree, **asked)
    with pytest.raises(InvalidParameterError, match="background graph 1"):
        explain(given, degree, background=[given, data(x=given.x + 1)], **asked)
    with pytest.raises(MissingInputError, match=r"as_oracle\(model, features=data.x\)"):
        explain(given, module)


def test_graphs_made_from_data_objects_keep_their_x(module):
    """A classifier with the x of another graph is refused, however the graph reaches it."""
    data_list = [data(g) for g in models.GRAPHS[:4]]
    for i, one in enumerate(data_list):
        one.x = one.x + i
    graphs = [as_graph(one) for one in data_list]
    oracle = as_oracle(module, features=data_list[0].x)
    asked = {"method": "tri", "budget": 20}
    assert explain(graphs[0], oracle, **asked).edits == explain(data_list[0], oracle, **asked).edits
    refused = r"are not those that the classifier was given"
    for graph in (graphs[1], graphs[1].toggle([(0, 1)])):
        with pytest.raises(InvalidParameterError, match=refused):
            explain(graph, oracle, **asked)
        with pytest.raises(InvalidParameterError, match=refused):
            oracle.predict([graph])
    with pytest.raises(InvalidParameterError, match="background graph 1"):
        explain(graphs[0], oracle, background=graphs, **asked)
    mine = Dataset("mine", graphs, (0, 1, 0, 1), ("few", "many"))
    assert len(explain_many(mine, oracle, **asked).failures) == 4


@pytest.mark.parametrize("shared", [True, False])
def test_graphs_made_from_data_objects_are_explained_together(module, shared):
    """If all have the same x, or one that is computed from the edges; edits may change it."""
    data_list = [data(g, x=data().x if shared else None) for g in models.GRAPHS[:4]]
    oracle = as_oracle(module, features=data_list[0].x if shared else "degree")
    asked = {"method": "tri", "budget": 20}
    told, known = (
        explain_many(Dataset("mine", graphs, (0, 1, 0, 1), ("few", "many")), oracle, **asked)
        for graphs in (tuple(map(as_graph, data_list)), tuple(models.GRAPHS[:4]))
    )
    assert [one.result.edits for one in told] == [one.result.edits for one in known]
    edited = told[0].result.original.toggle([(0, 1), (1, 2)])
    assert edited.x is not None
    assert explain(edited, oracle, **asked).label_before is not None


def test_a_batch_of_several_graphs_is_refused_and_of_one_is_read(module):
    from torch_geometric.data import Batch

    oracle = as_oracle(module, features="degree")
    one, two = data(), data(models.GRAPHS[1])
    with pytest.raises(InvalidGraphError, match=r"a PyG Batch of 2 graphs.*to_data_list\(\)"):
        explain(Batch.from_data_list([one, two]), oracle, method="tri")
    asked = {"method": "tri", "budget": 20}
    alone = explain(Batch.from_data_list([one]), oracle, **asked)
    assert alone.edits == explain(one, oracle, **asked).edits
    other = data(x=one.x + 1)  # its x is checked as that of a Data object
    with pytest.raises(InvalidParameterError, match="are not those that the classifier was given"):
        explain(Batch.from_data_list([other]), oracle, **asked)


def test_fidelity_keeps_x_and_need_not_show_the_counterfactual(module):
    """PyTorch Geometric masks edges only: features of the edges are those of the original."""
    import torch
    from torch_geometric.explain import fidelity

    given = tensors()
    seen: list[Any] = []

    class Watched(torch.nn.Module):
        def forward(self, x, edge_index, batch):
            seen.append(x.clone())
            return module(x, edge_index, batch)

    asked = explainer(Watched().eval(), constraints={"only": "remove"}, method="tri")
    told = asked(**given)
    assert told.removed_edge_index.numel()
    seen.clear()
    fidelity(asked, told)
    assert seen
    assert all(torch.equal(x, given["x"]) for x in seen)


def test_a_background_may_hold_data_objects(module):
    graphs = [data(g) for g in models.GRAPHS]
    told = explainer(module, background=graphs)(**tensors())
    assert told.counterfactual.edits == explainer(module)(**tensors()).counterfactual.edits
    with pytest.raises(DatasetError, match="as_graph"):
        Dataset("mine", tuple(graphs), (0,) * len(graphs), ("few", "many"))
    with pytest.raises(InvalidParameterError, match="as_graph"):
        explain_many(graphs, as_oracle(module, features="degree"))


def test_an_address_is_opened_first():
    with pytest.raises(InvalidParameterError, match=r"open_oracle\('http://127.0.0.1:9/predict'\)"):
        explain(GRAPH, "http://127.0.0.1:9/predict")
