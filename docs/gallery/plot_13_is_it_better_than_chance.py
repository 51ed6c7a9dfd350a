"""
Does the classifier deserve an explanation?
===========================================

A classifier that is not better than chance has learnt nothing that an explanation could show.
Strain can be predicted from the connectome, sex cannot.
"""

from matplotlib.figure import Figure

from denseflip import evaluate, load_dataset

shares = {}
for task in ("mice", "mice:sex"):
    evaluation = evaluate(load_dataset(task), preset="edges-svm", repeats=2, permutations=50)
    shares[task] = evaluation
    print(task, evaluation.verdict)

figure = Figure(figsize=(5, 2.4), layout="constrained")
axes = figure.add_subplot()
axes.barh(list(shares), [one.accuracy for one in shares.values()], color=["#2f6db5", "#b0b7c3"])
axes.axvline(0.5, color="black", linewidth=1)
axes.set(xlim=(0, 1), xlabel="cross-validated accuracy")
