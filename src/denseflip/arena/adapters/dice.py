"""DiCE on the table of node pairs: random, genetic or k-d tree search."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from denseflip.arena.problem import Explainer, Problem
from denseflip.graph import Graph


class Dice(Explainer):
    """A method of DiCE. Pairs are its features; every row that it asks about is a call."""

    track = "probabilities"
    stochastic = True
    slow = True
    kinds = ("linear",)
    needs: ClassVar = {"dice_ml": "dice-ml", "pandas": "pandas"}

    def __init__(self, method: str) -> None:
        self.name, self.method = f"DiCE-{method}", method

    def explain(self, problem: Problem) -> Graph | None:
        """Ask for one counterfactual row."""
        import dice_ml
        import pandas as pd

        pairs, n = problem.pairs, problem.graph.n_nodes
        names = [f"p{code}" for code in pairs]

        def rows_of(graphs: list[Graph]) -> Any:
            return np.stack([np.isin(pairs, graph.codes) for graph in graphs]).astype(int)

        def labels_of(table: Any) -> Any:
            rows = np.asarray(table[names]).astype(float) > 0.5
            return np.array(problem.labels_of([Graph(n, pairs[row]) for row in rows]))

        class Model:
            def predict(self, table: Any) -> Any:
                return labels_of(table)

            def predict_proba(self, table: Any) -> Any:
                labels = labels_of(table)
                return np.stack([1 - labels, labels], axis=1).astype(float)

        graphs, labels = zip(*problem.background, strict=True)
        frame = pd.DataFrame(rows_of(list(graphs)), columns=names).assign(outcome=labels)
        data = dice_ml.Data(dataframe=frame, continuous_features=names, outcome_name="outcome")
        model = dice_ml.Model(model=Model(), backend="sklearn", model_type="classifier")
        search = dice_ml.Dice(data, model, method=self.method)
        one = pd.DataFrame(rows_of([problem.graph]), columns=names)
        given = {"random_seed": problem.seed} if self.method == "random" else {}
        found = search.generate_counterfactuals(one, 1, "opposite", verbose=False, **given)
        rows = found.cf_examples_list[0].final_cfs_df
        if rows is None or not len(rows):
            return None
        return Graph(n, pairs[np.asarray(rows[names])[0].astype(float) > 0.5])
