"""
What does the smallest change look like?
========================================

Without the range of real graphs as a limit, the search finds fewer edits. The strip shows the
price: the changed graph lies far outside of what real mice have.
"""

from denseflip import describe, explain, fit_oracle, load_dataset, plot_reference

mice = load_dataset("mice")
classifier = fit_oracle(mice, preset="regions-logistic")
mouse = mice["sub-54811"]
known = {"nodes": mice.nodes, "background": mice.graphs}
result = explain(mouse.graph, classifier, **known, in_range="ignore", balance="off")
story = describe(result, oracle=classifier, subject=mouse.id, **known)
print(story.statement)
print("in range:", story.in_range)

figure = plot_reference(story, narrow=True)
