"""
What would change the decision about one graph?
===============================================

A classifier says that this mouse belongs to the strain BTBR. Which connections would have to
change for another decision? The circle shows added connections in blue and removed ones in red.
"""

from denseflip import describe, explain, fit_oracle, load_dataset, plot_circle

mice = load_dataset("mice")
classifier = fit_oracle(mice, preset="sf-knn")
mouse = mice["sub-54811"]
result = explain(mouse.graph, classifier, nodes=mice.nodes, background=mice.graphs)
story = describe(result, mice.nodes, classifier, subject=mouse.id, background=mice.graphs)
print(story.statement)

figure = plot_circle(story, regions="macrostructure")
