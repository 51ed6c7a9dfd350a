"""Constraints bound to one graph: which pairs may change, which graphs may be queried."""
