"""What the explanations of a whole group have in common, with permutation statistics.

`explain_cohort` runs it, on any engine and resumable; `Cohort` is the result and `words` its
statement. Pictures and pages of a cohort are in `denseflip.report`.
"""
