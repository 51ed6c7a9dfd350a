"""What a search meets on its way, for several answers."""

from __future__ import annotations

from denseflip.oracles.protocol import Answer
from denseflip.oracles.session import Event
from denseflip.search.postprocess.diverse import FlipRecorder
from graphs import empty, graph


def test_what_was_met_comes_with_the_fewest_edits_first_and_of_equals_the_earlier():
    met = FlipRecorder(None)
    met.original, met.accepts = empty(5), lambda answer: answer.label == 1
    for pairs, label in (
        ([(0, 1), (1, 2), (2, 3)], 1),
        ([(0, 1)], 0),
        ([(0, 2)], 1),
        ([(0, 3)], 1),
        ([(0, 1), (1, 2)], 1),
    ):
        met(Event("answer", 1, graph(5, pairs), Answer(label)))
    assert [list(g.edges()) for g, _ in met.flips()] == [
        [(0, 2)],
        [(0, 3)],
        [(0, 1), (1, 2)],
        [(0, 1), (1, 2), (2, 3)],
    ]
