"""Classifiers: features, training, honest judging, saving."""
