"""
Does the answer survive noise?
==============================

An answer at the decision boundary is undone by a few random changes. ``robust=0.9`` moves past
the boundary until 90 % of noisy copies keep the new label.
"""

import numpy as np
from matplotlib.figure import Figure

from denseflip import explain, fit_oracle, load_dataset

mice = load_dataset("mice")
classifier = fit_oracle(mice, preset="edges-svm")
mouse = mice["sub-54811"]
known = {"nodes": mice.nodes, "background": mice.graphs}
answers = {
    "default": explain(mouse.graph, classifier, "con", **known),
    "robust=0.9": explain(mouse.graph, classifier, "con", **known, robust=0.9, noise=0.01),
}

rng = np.random.default_rng(0)
kept = {}
for name, answer in answers.items():
    graph = answer.counterfactual
    pairs = [tuple(pair) for pair in np.argwhere(np.triu(np.ones((graph.n_nodes,) * 2), 1))]
    noisy = [
        graph.toggle([pairs[i] for i in rng.choice(len(pairs), len(pairs) // 100, replace=False)])
        for _ in range(40)
    ]
    labels = classifier.predict(noisy)
    kept[f"{name} ({answer.distance} edits)"] = np.mean([x == answer.label_after for x in labels])

figure = Figure(figsize=(5, 2.4), layout="constrained")
axes = figure.add_subplot()
axes.barh(list(kept), list(kept.values()), color=["#b0b7c3", "#2f6db5"])
axes.set(xlim=(0, 1.02), xlabel="share of noisy copies that keep the new label")
