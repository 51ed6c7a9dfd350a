"""
What if a region must not change?
=================================

Frozen regions keep their connections. Here the isocortex is frozen, so only other connections
between the hemispheres may change, and more of them are needed.
"""

from denseflip import Constraints, describe, explain, fit_oracle, load_dataset, plot_reference

mice = load_dataset("mice")
classifier = fit_oracle(mice, preset="regions-logistic")
mouse = mice["sub-54811"]
limits = Constraints(freeze=("left isocortex", "right isocortex"))
result = explain(
    mouse.graph, classifier, nodes=mice.nodes, background=mice.graphs, constraints=limits
)
story = describe(result, mice.nodes, classifier, subject=mouse.id, background=mice.graphs)
print(story.statement)

figure = plot_reference(story, narrow=True)
