"""Classifiers: features, training, evaluation, saving."""
