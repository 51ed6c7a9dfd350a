"""Oracles: the protocol, adapters for any classifier, and classifiers trained here."""
