"""
Between which regions does the answer change connections?
=========================================================

The matrix counts added and removed connections for every pair of regions.
"""

from denseflip import describe, explain, fit_oracle, load_dataset, plot_region_matrix

mice = load_dataset("mice")
classifier = fit_oracle(mice, preset="edges-svm")
mouse = mice["sub-54811"]
result = explain(mouse.graph, classifier, "con", nodes=mice.nodes, background=mice.graphs)
story = describe(result, mice.nodes, classifier, subject=mouse.id, background=mice.graphs)

figure = plot_region_matrix(story, regions="macrostructure")
