"""
Would the same classifier, trained again, agree?
================================================

Twenty classifiers are trained on resampled data. The bars show the mean share of redraws
that change their answer: the default answer, and one that was searched for with ``stable=0.8``.
"""

from matplotlib.figure import Figure

from denseflip import describe, explain, fit_oracle, load_dataset, make_refits

mice = load_dataset("mice")
classifier = fit_oracle(mice, preset="regions-logistic")
known = {"background": mice.graphs, "refits": make_refits(mice, classifier)}
mouse = mice["sub-54811"]

shares = {}
for name, stable in {"default": None, "stable=0.8": 0.8}.items():
    result = explain(mouse.graph, classifier, nodes=mice.nodes, **known, stable=stable)
    story = describe(result, mice.nodes, classifier, subject=mouse.id, **known)
    shares[name] = story.stability.share
    print(f"{name}: {story.statement}")

figure = Figure(figsize=(5, 2.4), layout="constrained")
axes = figure.add_subplot()
axes.barh(list(shares), list(shares.values()), color=["#b0b7c3", "#2f6db5"])
axes.set(xlim=(0, 1), xlabel="mean share of redraws that flip a refit")
