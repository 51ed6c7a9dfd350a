"""What the explanations of a whole group have in common, with statistics that hold.

Pure: a data set, something that trains a classifier, numbers. Where the work is done, and that it
can be stopped and continued, is `denseflip.experiments.cohort`.
"""
