"""The English wording of sentences: claims, their tests and their footnotes.

A translation replaces only the modules of this package. `Sentences` in `statement` combines the
parts.
"""
