"""Fit a scikit-learn pipeline, evaluate it by refitting, and explain it.

    python examples/sklearn_pipeline.py

On the command line, from this folder:

    denseflip explain mice 0 --oracle "sklearn_pipeline:pipeline?features=degrees"
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from denseflip import as_oracle, evaluate, load_dataset
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.subject import find_subject

mice = load_dataset("mice")
rows = np.stack([graph.degrees() for graph in mice.graphs])
pipeline = make_pipeline(StandardScaler(), PCA(8, random_state=0), LogisticRegression())
pipeline.fit(rows, mice.labels)


def main(*, permutations: int = 99) -> Any:
    """Evaluate the pipeline, explain one mouse; return the evaluation and the story."""
    oracle = as_oracle(pipeline, features="degrees", class_names=mice.class_names)
    judged = evaluate(mice, oracle, folds=4, repeats=2, permutations=permutations)
    print(f"Accuracy on held-out mice: {judged.accuracy:.2f} ({judged.level})")
    story = explain_and_describe(find_subject(mice, 0), oracle, target="BTBR", evaluation=judged)
    print(story)
    return judged, story


if __name__ == "__main__":
    main()
