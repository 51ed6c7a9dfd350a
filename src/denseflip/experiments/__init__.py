"""Experiments: what to run, running it, keeping it, and the paper's tables and figures."""
