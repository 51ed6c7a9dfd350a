"""
How do methods differ on the same graph?
========================================

The same patient and classifier, explained by three methods: the default, the paper's triangles,
and the nearest real graph of the other class.
"""

from denseflip import compare, fit_oracle, load_dataset, plot_comparison

cohort = load_dataset("synthetic")
classifier = fit_oracle(cohort, preset="regions-logistic")
patient = cohort[0]
rows = compare(
    patient.graph, classifier, ["auto", "tri", "dat"], nodes=cohort.nodes, background=cohort.graphs
)
stories = {row.method: row.story for row in rows if row.story.result.found}

figure = plot_comparison(stories)
