"""
Could the changed graph exist?
==============================

The strip shows every real mouse as a dot, the interval in which one more mouse of the new class
would lie, and the change as an arrow. The arrow ends inside the interval: the sentence is *in
range*.
"""

from denseflip import describe, explain, fit_oracle, load_dataset, plot_reference

mice = load_dataset("mice")
classifier = fit_oracle(mice, preset="regions-logistic")
mouse = mice["sub-54811"]
result = explain(mouse.graph, classifier, nodes=mice.nodes, background=mice.graphs)
story = describe(result, mice.nodes, classifier, subject=mouse.id, background=mice.graphs)
print(story.statement)
print("in range:", story.in_range)

figure = plot_reference(story, narrow=True)
