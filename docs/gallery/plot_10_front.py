"""
How many edits does a shorter sentence cost?
============================================

The Pareto front trades the number of places that the sentence names for the number of edits.
"""

from matplotlib.figure import Figure

from denseflip import explain, fit_oracle, load_dataset

mice = load_dataset("mice")
classifier = fit_oracle(mice, preset="edges-svm")
mouse = mice["sub-54811"]
result = explain(mouse.graph, classifier, nodes=mice.nodes, background=mice.graphs, front=True)

figure = Figure(figsize=(5, 3), layout="constrained")
axes = figure.add_subplot()
for answer in result.front:
    places = len(answer.as_read.places) if answer.as_read and answer.as_read.places else None
    name = f"{places} places" if places else "single connections"
    axes.plot(places or answer.distance, answer.distance, "o", color="#2f6db5")
    axes.annotate(name, (places or answer.distance, answer.distance), xytext=(6, 4),
                  textcoords="offset points", fontsize=8)  # fmt: skip
axes.set(xlabel="places (or single connections) named", ylabel="edits", xscale="log")
axes.margins(0.25)
