"""Saliency and integrated gradients of Captum over all node pairs, with their signs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from denseflip.arena.problem import Explainer, Problem, edit_in_order
from denseflip.graph import Graph

_STEPS = 20  # of the path of integrated gradients


class Attribution(Explainer):
    """Edges that support the label are removed, and pairs that speak against it are added."""

    track = "gradients"
    kinds = ("gcn", "gin")
    needs: ClassVar = {"torch": "torch", "torch_geometric": "torch_geometric", "captum": "captum"}

    def __init__(self, name: str, method: str, **settings: Any) -> None:
        self.name, self.method, self.settings = name, method, settings

    def explain(self, problem: Problem) -> Graph | None:
        """Flip pairs in the order of what flipping them is expected to gain."""
        import captum.attr

        attribution = getattr(captum.attr, self.method)(problem.scores)
        now = problem.weights[None].requires_grad_()
        if self.method == "IntegratedGradients":
            # The path ends at the graph with every pair flipped.
            given = {"baselines": 1 - now, "n_steps": _STEPS, "internal_batch_size": 1}
            found = attribution.attribute(now, target=int(problem.label), **given)
            gain = found[0].detach().numpy()
        else:
            found = attribution.attribute(now, target=int(problem.label), abs=False)
            there = now[0].detach().numpy() > 0
            gain = np.where(there, found[0].numpy(), -found[0].numpy())
        order = np.argsort(-gain, kind="stable")
        return edit_in_order(problem, problem.pairs[order[gain[order] > 0]])


SALIENCY = Attribution("saliency", "Saliency")
INTEGRATED = Attribution("integrated-gradients", "IntegratedGradients")
