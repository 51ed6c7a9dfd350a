"""Oracles: the protocol, adapters for any classifier, sessions and background graphs."""
