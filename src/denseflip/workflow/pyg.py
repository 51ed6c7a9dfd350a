"""`DenseflipExplainer`: counterfactuals with sentences for PyTorch Geometric's `Explainer`.

PyTorch Geometric is imported on first access to the class.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np

from denseflip.errors import (
    InvalidGraphError,
    InvalidParameterError,
    MissingExtraError,
    MissingInputError,
    OracleError,
)
from denseflip.graph import Graph, Nodes
from denseflip.graph.inputs import as_graph
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.protocol import ClassNames
from denseflip.oracles.tensors import NODE_FEATURES, node_features
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.subject import Subject

#: The value of ``features`` for an x that does not depend on the edges.
FIXED = "fixed"


@cache
def _explainer() -> Any:
    """Create the class, whose base class is part of PyTorch Geometric."""
    try:
        import torch
        from torch_geometric.explain import Explanation
        from torch_geometric.explain.algorithm import ExplainerAlgorithm
    except ImportError as error:
        raise MissingExtraError("torch_geometric", "gnn") from error

    class DenseflipExplainer(ExplainerAlgorithm):  # type: ignore[misc]
        """A counterfactual as an explanation of PyTorch Geometric, for classifiers of graphs.

        Give it to ``torch_geometric.explain.Explainer`` with ``explanation_type="model"``,
        ``edge_mask_type="object"``, no node mask, and a model configuration of
        ``task_level="graph"``. The explanation's ``edge_mask`` is 1 for the edges that the
        counterfactual removes. A mask cannot show pairs that it adds: ``note`` says how many there
        are, and a counterfactual without removals also gives a warning, because measures of the
        mask, such as ``fidelity``, say nothing about it. Further fields are ``added_edge_index``
        (pairs that it adds, in both directions), ``removed_edge_index``,
        ``counterfactual_edge_index``, ``found``, ``label_before``, ``label_after``, ``sentence``,
        ``story`` and ``counterfactual`` (the result of denseflip).

        Parameters
        ----------
        features : how x depends on the edges: as in `as_oracle`, or ``"fixed"`` if it does not. The
            x given to the explainer must be these features of its graph.
        method, target, background, budget, seed : as in `explain`.
        nodes : names and regions of the nodes, for the sentence.
        class_names : as in `as_oracle`.
        max_batch : largest number of graphs per call of the model.
        options : further options of `explain_and_describe`, such as ``regions`` or ``constraints``.
        """

        def __init__(
            self,
            features: Any = None,
            *,
            method: Any = "auto",
            target: Any = None,
            nodes: Nodes | None = None,
            background: Any = None,
            budget: int | None = None,
            seed: int = 0,
            class_names: ClassNames | None = None,
            max_batch: int | None = None,
            **options: Any,
        ) -> None:
            super().__init__()
            if features is None:
                names = ", ".join(map(repr, (*NODE_FEATURES, FIXED)))
                msg = (
                    "features must state how the node features depend on the edges: "
                    f"DenseflipExplainer(features=…) with one of {names}, an array, or a function "
                    "of the adjacency array."
                )
                raise MissingInputError(msg, parameter="features")
            self.features = features
            self.nodes = nodes
            self.network: dict[str, Any] = {"class_names": class_names, "max_batch": max_batch}
            self.asked = {
                "method": method,
                "target": target,
                "background": background,
                "budget": budget,
                "seed": seed,
                **options,
            }

        def supports(self) -> bool:
            """Raise an error unless the settings of the explainer fit a counterfactual."""
            explained, model = self.explainer_config, self.model_config
            wrong = (
                "task_level must be 'graph'"
                if model.task_level.value != "graph"
                else "mode must be a classification"
                if model.mode.value == "regression"
                else "node_mask_type must be None: edges are edited, not features"
                if explained.node_mask_type is not None
                else "edge_mask_type must be 'object'"
                if explained.edge_mask_type is None or explained.edge_mask_type.value != "object"
                else "explanation_type must be 'model': the model's own decision is explained"
                if explained.explanation_type.value != "model"
                else ""
            )
            if wrong:
                msg = f"DenseflipExplainer explains graph classifiers: {wrong}."
                raise InvalidParameterError(msg)
            return True

        def forward(
            self,
            model: Any,
            x: Any,
            edge_index: Any,
            *,
            target: Any,
            index: Any = None,
            **kwargs: Any,
        ) -> Any:
            """Find the counterfactual of one graph."""
            graph = _one_graph(x, edge_index, kwargs)
            oracle = as_oracle(
                model,
                features=_checked_features(self.features, x, graph),
                output=_output(self.model_config),
                **self.network,
            )
            story = explain_and_describe(Subject(graph, "", self.nodes), oracle, **self.asked)
            result = story.result
            if target is not None and result.label_before != int(target.view(-1)[0]):
                msg = (
                    f"The model labels this graph {result.label_before!r} with the features given "
                    f"here, and {int(target.view(-1)[0])} in the explainer. Check that x has the "
                    "features that the model was trained with."
                )
                raise OracleError(msg)
            gone = {pair for u, v in result.edits.removed for pair in ((u, v), (v, u))}
            ends = edge_index.t().tolist()
            mask = torch.tensor([float((u, v) in gone) for u, v in ends])
            note = _note(len(result.edits.added), len(result.edits.removed), found=result.found)
            if result.found and note and not gone:
                warnings.warn(note, UserWarning, stacklevel=2)
            return Explanation(
                note=note,
                edge_mask=mask.to(edge_index.device),
                added_edge_index=_both(result.edits.added, edge_index),
                removed_edge_index=_both(result.edits.removed, edge_index),
                counterfactual_edge_index=_both(result.counterfactual.edges(), edge_index),
                found=result.found,
                label_before=result.label_before,
                label_after=result.label_after,
                sentence=str(story),
                story=story,
                counterfactual=result,
            )

    def _both(pairs: Any, like: Any) -> Any:
        ends = np.asarray(list(pairs), dtype=np.int64).reshape(-1, 2)
        both = np.concatenate((ends, ends[:, ::-1]))
        both = both[np.lexsort((both[:, 1], both[:, 0]))]
        return torch.as_tensor(np.ascontiguousarray(both.T), device=like.device)

    DenseflipExplainer.__module__ = __name__
    DenseflipExplainer.__qualname__ = "DenseflipExplainer"
    return DenseflipExplainer


def _one_graph(x: Any, edge_index: Any, kwargs: dict[str, Any]) -> Graph:
    """Return the graph that the explainer was called with."""
    batch = kwargs.pop("batch", None)
    if batch is not None and len(batch) and int(batch.max()) > 0:
        msg = f"Give one graph at a time; batch holds {int(batch.max()) + 1}."
        raise InvalidGraphError(msg)
    strange = [name for name, value in kwargs.items() if value is not None]
    if strange:
        msg = (
            f"DenseflipExplainer passes x, edge_index and batch to the model; {', '.join(strange)} "
            "would not follow the edits. Wrap the model so that it does not need them."
        )
        raise InvalidParameterError(msg)
    if isinstance(x, dict) or isinstance(edge_index, dict):
        msg = "Graphs with several types of nodes or edges are not supported; give one type."
        raise InvalidGraphError(msg)

    class Given:
        num_nodes = len(x)

    Given.edge_index = edge_index  # type: ignore[attr-defined]
    return as_graph(Given(), source="edge_index")


def _checked_features(features: Any, x: Any, graph: Graph) -> Any:
    """Return the features for `as_oracle`, after checking x; x itself if it is fixed."""
    rows = x.detach().cpu().numpy()
    if isinstance(features, str) and features == FIXED:
        return rows
    made = node_features(features)
    assert made is not None
    mine = made(graph)
    if mine.shape != rows.shape or not np.allclose(mine, rows, rtol=1e-4, atol=1e-5):
        name = repr(features) if isinstance(features, str) else "given"
        msg = (
            f"x does not hold the {name} features of this graph (shape {rows.shape}, expected "
            f"{mine.shape}). Give the features that x was computed with, or 'fixed' if it does "
            "not depend on the edges."
        )
        raise InvalidParameterError(msg, parameter="features")
    return features


def _note(added: int, removed: int, *, found: bool) -> str:
    """What the mask does not show; empty if it shows everything."""
    if not found:
        return "No counterfactual was found, so edge_mask is empty."
    if not added:
        return ""
    pairs = f"{added:,} {'pair' if added == 1 else 'pairs'}"
    if removed:
        return f"edge_mask shows the {removed:,} removed edges only; {pairs} are added as well."
    return (
        f"The counterfactual adds {pairs} and removes no edge, so edge_mask is empty and measures "
        "of the mask (fidelity) say nothing about it. See added_edge_index, or pass "
        'constraints={"only": "remove"} for removals only.'
    )


def _output(config: Any) -> str:
    """Return the output of the model in the terms of `as_oracle`."""
    one = config.mode.value == "binary_classification"
    if config.return_type.value == "probs":
        return "probability" if one else "probabilities"
    return "logit" if one else "logits"


def __getattr__(name: str) -> Any:
    if name == "DenseflipExplainer":
        return _explainer()
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
