"""
What do the explanations of a group have in common?
===================================================

Every BTBR mouse is explained, and the labels are permuted to see what chance gives. The matrix
shows in how many mice each pair of regions is used; a star marks what chance does not explain.
"""

from denseflip import explain_cohort, load_dataset, plot_cohort_matrix

mice = load_dataset("mice")
cohort = explain_cohort(mice, regions="hemisphere", permutations=19, patients=8, seed=0)
print(cohort.statement)

figure = plot_cohort_matrix(cohort)
