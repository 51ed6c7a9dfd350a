"""
How does a search approach the decision boundary?
=================================================

``result.trace`` lists the edits of every step. Replayed one after the other, they show how the
probability of the new class grows until it passes one half.
"""

from matplotlib.figure import Figure

from denseflip import explain, fit_oracle, load_dataset

mice = load_dataset("mice")
classifier = fit_oracle(mice, preset="regions-logistic")
mouse = mice["sub-54811"]
result = explain(mouse.graph, classifier, "blocks", nodes=mice.nodes, background=mice.graphs)

graph, edits = result.original, [0]
graphs = [graph]
for step in result.trace:
    graph = graph.toggle(step.toggled)
    graphs.append(graph)
    edits.append(edits[-1] + len(step.toggled))
probability = classifier.predict_proba(graphs)[:, result.label_after]

figure = Figure(figsize=(5, 2.6), layout="constrained")
axes = figure.add_subplot()
axes.plot(edits, probability, "o-", color="#2f6db5", markersize=3)
axes.axhline(0.5, color="black", linewidth=1)
axes.set(xlabel="edits", ylabel=f"probability of {mice.class_names[result.label_after]}")
