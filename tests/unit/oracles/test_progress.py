"""One rule for the smallest counterfactual so far."""

from __future__ import annotations

import numpy as np
import pytest

from denseflip import explain
from denseflip.oracles.progress import FlipRecorder, Progress
from denseflip.oracles.protocol import Answer
from denseflip.oracles.session import Event
from graphs import complete, empty, graph


def test_flips_come_with_the_fewest_edits_first_and_of_equals_the_earlier():
    met = FlipRecorder(keep=3)
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
    ]
    assert met.best == 1


def test_a_best_is_announced_once_for_each_smaller_counterfactual():
    heard = []
    met = FlipRecorder(heard.append)
    for pairs in ([(0, 1)], [(0, 1), (1, 2)], [(0, 2)], [(0, 3)]):
        met(Event("answer", 1, graph(5, pairs), Answer(1)))
        met.original, met.accepts = empty(5), lambda answer: True  # not before the first answer
    assert [event.value for event in heard if event.kind == "best"] == [2, 1]
    assert met.flips() == []


class Sure:
    """Label 1 for few edges, and the surer the fewer there are."""

    classes = (0, 1)

    def predict(self, graphs):
        return [int(g.n_edges < 9) for g in graphs]

    def predict_proba(self, graphs):
        sure = [1 - g.n_edges / 18 for g in graphs]
        return np.array([[1 - p, p] for p in sure])


@pytest.mark.parametrize("asked", [{}, {"confidence": 0.7}, {"only": "remove"}])
def test_the_best_is_what_counts_in_the_search_itself(asked):
    """Neither a label with too little confidence nor another class than the target counts."""
    constraints = {"only": asked.pop("only")} if "only" in asked else None
    progress = Progress()
    result = explain(
        complete(6), Sure(), "cli+min", on_event=progress, constraints=constraints, **asked
    )
    assert result.distance == (10 if "confidence" in asked else 7)
    assert progress.best == result.distance
    assert progress.calls == result.calls


def test_another_class_than_the_target_is_not_best():
    progress = Progress()
    result = explain(complete(4), lambda a: int(a.sum()), "edg", target=-1, on_event=progress)
    assert not result.found
    assert progress.best is None
    progress.restart()
    assert (progress.calls, progress.best) == (0, None)
