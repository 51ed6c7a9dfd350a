"""GNNExplainer and PGExplainer of PyTorch Geometric: remove edges by importance until it flips."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from denseflip.arena.problem import Explainer, Problem, edit_in_order
from denseflip.graph import Graph

_CONFIG: dict[str, Any] = {"mode": "multiclass_classification", "return_type": "raw"}
_EPOCHS = 200  # of GNNExplainer; each is a forward and a backward
_TRAINING_EPOCHS, _TRAINING_GRAPHS = 10, 20  # of PGExplainer


class _PygPeer(Explainer):
    track = "gradients"
    stochastic = True
    removal_only = True
    kinds = ("gcn", "gin")
    needs: ClassVar = {"torch": "torch", "torch_geometric": "torch_geometric"}

    def remove(self, problem: Problem, explainer: Any, **target: Any) -> Graph | None:
        """Remove edges in the order of the mask, most important first."""
        x, edges, batch = problem.tensors(problem.graph)
        mask = explainer(x, edges, batch=batch, **target).edge_mask.numpy()
        half = len(mask) // 2
        return edit_in_order(
            problem, problem.graph.codes[np.argsort(-(mask[:half] + mask[half:]), kind="stable")]
        )


class GnnExplainer(_PygPeer):
    """A mask per graph, learned with 200 forwards and backwards."""

    name = "GNNExplainer"

    def explain(self, problem: Problem) -> Graph | None:
        """Learn a mask over the edges."""
        import torch
        from torch_geometric.explain import Explainer, GNNExplainer

        torch.manual_seed(problem.seed)
        explainer = Explainer(
            problem.model,
            GNNExplainer(epochs=_EPOCHS),
            explanation_type="model",
            edge_mask_type="object",
            model_config={"task_level": "graph", **_CONFIG},
        )
        return self.remove(problem, explainer)


class PgExplainer(_PygPeer):
    """A network that predicts masks, trained on graphs of the data set."""

    name = "PGExplainer"

    def explain(self, problem: Problem) -> Graph | None:
        """Train once per classifier and seed; then one mask per graph."""
        import torch

        explainer = problem.once(self.name, lambda: self._train(problem))
        explainer.model = problem.model
        return self.remove(problem, explainer, target=torch.tensor([int(problem.label)]))

    def _train(self, problem: Problem) -> Any:
        import torch
        from torch_geometric.explain import Explainer, PGExplainer

        torch.manual_seed(problem.seed)
        algorithm = PGExplainer(epochs=_TRAINING_EPOCHS)
        explainer = Explainer(
            problem.model,
            algorithm,
            explanation_type="phenomenon",
            edge_mask_type="object",
            model_config={"task_level": "graph", **_CONFIG},
        )
        graphs = problem.graphs[:: max(1, len(problem.graphs) // _TRAINING_GRAPHS)]
        targets = [torch.tensor([int(label)]) for label in problem.labels_of(graphs)]
        for epoch in range(_TRAINING_EPOCHS):
            for graph, target in zip(graphs, targets, strict=True):
                x, edges, batch = problem.tensors(graph)
                algorithm.train(epoch, problem.model, x, edges, target=target, batch=batch)
        return explainer
