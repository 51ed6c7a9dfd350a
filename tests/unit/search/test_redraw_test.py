"""What a sentence is tested against."""

from __future__ import annotations

import numpy as np

from denseflip import Counterfactual, Edits
from denseflip.counterfactual import Status
from denseflip.search.claims.sides import Sides
from graphs import empty, graph


def test_the_other_side_is_the_class_that_is_led_to():
    result = Counterfactual(Status.FOUND, empty(3), Edits(((0, 1),)), "a", "b")
    graphs = [(empty(3), "a"), (graph(3, [(0, 1)]), "b"), (graph(3, [(1, 2)]), "c")]
    at = np.array([1, 5])  # the pairs 0, 1 and 1, 2
    for target, shares in ((None, [1, 0]), ("b", [1, 0]), ("c", [0, 1])):
        sides = Sides.of(result, graphs, target)
        assert sides.current.at(at).tolist() == [0, 0]
        assert sides.target.at(at).tolist() == shares
