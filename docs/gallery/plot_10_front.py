"""
How many edits does a shorter sentence cost?
============================================

``front=True`` keeps every answer that no other beats in all respects: the number of places, how
exactly the connections have to be described, and the number of edits. A sentence about any
connections in one place needs the most edits; a list of single connections needs the fewest.
"""

from matplotlib.figure import Figure

from denseflip import explain, fit_oracle, load_dataset

mice = load_dataset("mice")
classifier = fit_oracle(mice, preset="edges-svm")
mouse = mice["sub-54811"]
result = explain(mouse.graph, classifier, nodes=mice.nodes, background=mice.graphs, front=True)

edits = {}
for answer in sorted(result.front, key=lambda answer: -answer.distance):
    read = answer.as_read
    places = " and ".join(" – ".join(place) for place in read.places)
    name = f"{read.reading} connections: {places}" if read.places else "single connections, listed"
    edits[name] = answer.distance

figure = Figure(figsize=(7, 2.8), layout="constrained")
axes = figure.add_subplot()
bars = axes.barh(list(edits)[::-1], list(edits.values())[::-1], color="#2f6db5")
axes.bar_label(bars, fmt="{:,.0f}", padding=3)
axes.margins(x=0.2)
axes.set(xlabel="edits")
