"""Run tasks on any engine and keep their results: specs, sources, engines, the result store.

This package does not know what is run: `experiments` and `cohort` define their tasks as subclasses
of `denseflip.runs.spec_base.Spec`.
"""
