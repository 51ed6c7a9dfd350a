"""
Are there other explanations?
=============================

``n=3`` asks for answers in different places. Each is a different way to another decision.
"""

from denseflip import describe, explain, fit_oracle, load_dataset, plot_comparison

mice = load_dataset("mice")
classifier = fit_oracle(mice, preset="regions-logistic")
mouse = mice["sub-54811"]
result = explain(mouse.graph, classifier, nodes=mice.nodes, background=mice.graphs, n=3)
stories = {}
for i, answer in enumerate(result.diverse, 1):
    story = describe(answer, mice.nodes, classifier, subject=mouse.id, background=mice.graphs)
    stories[f"answer {i}"] = story
    print(f"{i}. {story.statement}")

figure = plot_comparison(stories)
