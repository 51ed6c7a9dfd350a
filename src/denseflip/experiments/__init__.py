"""Experiments: plan, run and store them, and make tables of the results."""
