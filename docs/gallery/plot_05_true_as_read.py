"""
Does the sentence hold for other connections in the same place?
===============================================================

A reader of "more connections between these regions" does not know which ones. denseflip draws
other connections at random and asks the classifier again. A method that minimises edits finds
connections that matter by themselves, so its sentence is rarely true as read.
"""

from matplotlib.figure import Figure

from denseflip import describe, explain, fit_oracle, load_dataset

cohort = load_dataset("synthetic")
classifier = fit_oracle(cohort, preset="sf-knn")
patient = cohort[0]
known = {"nodes": cohort.nodes, "background": cohort.graphs}

shares = {}
for method in ("auto", "con", "con+min", "dat+bw"):
    result = explain(patient.graph, classifier, method, **known, budget=2000)
    story = describe(result, oracle=classifier, **known)
    shares[f"{method} ({result.distance} edits)"] = story.as_read.share
    print(f"{method}: {story.as_read.flips} of {story.as_read.draws} redraws flip the decision")

figure = Figure(figsize=(6, 2.6), layout="constrained")
axes = figure.add_subplot()
axes.barh(list(shares)[::-1], list(shares.values())[::-1], color="#2f6db5")
axes.axvline(0.9, color="black", linewidth=1)
axes.set(xlim=(0, 1.02), xlabel="share of redraws that flip the decision (line: true as read)")
