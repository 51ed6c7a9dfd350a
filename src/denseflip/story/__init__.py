"""Describe a result: edits by region, a sentence about them, and the test of that sentence."""
