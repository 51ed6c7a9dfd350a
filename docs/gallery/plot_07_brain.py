"""
Where in the brain are the changes?
===================================

With coordinates in MNI space, edits are drawn on a glass brain. The cohort is made up: patients
have more connections between the frontal and the temporal lobe.
"""

from denseflip import describe, explain, fit_oracle, load_dataset, plot_connectome

cohort = load_dataset("synthetic")
classifier = fit_oracle(cohort, preset="regions-logistic")
patient = cohort[0]
result = explain(patient.graph, classifier, nodes=cohort.nodes, background=cohort.graphs)
story = describe(result, cohort.nodes, classifier, subject=patient.id, background=cohort.graphs)
print(story.statement)

figure = plot_connectome(story)
