"""All wording of sentences: how a claim, its tests and its footnotes are said in English.

A translation replaces the modules of this package and nothing else. `Sentences` in `statement` puts
the parts together.
"""
