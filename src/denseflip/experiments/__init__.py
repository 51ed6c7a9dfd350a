"""Experiments: what to run, running it, keeping it, and tables of what came out."""
