"""
How does a search approach the decision boundary?
=================================================

``on_event`` receives every query. The line shows the probability of the new class along the
search.
"""

from matplotlib.figure import Figure

from denseflip import explain, fit_oracle, load_dataset

mice = load_dataset("mice")
classifier = fit_oracle(mice, preset="regions-logistic")
mouse = mice["sub-54811"]

confidence = []
result = explain(mouse.graph, classifier, "con", nodes=mice.nodes, background=mice.graphs)
graph = result.original
for step in result.trace:
    graph = graph.toggle(step.toggled)
    confidence.append(float(classifier.predict_proba([graph])[0].max()))

figure = Figure(figsize=(5, 2.6), layout="constrained")
axes = figure.add_subplot()
axes.plot(range(1, len(confidence) + 1), confidence, "o-", color="#2f6db5")
axes.set(xlabel="step", ylabel="confidence of the label", ylim=(0, 1.02))
