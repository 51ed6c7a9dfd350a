from __future__ import annotations

import pytest

from denseflip.errors import InvalidGraphError
from denseflip.graph import Edits
from graphs import empty, path


def test_pairs_are_sorted_and_turned():
    edits = Edits(added=((3, 0), (1, 0)), removed=((2, 1),))
    assert edits.added == ((0, 1), (0, 3))
    assert edits.removed == ((1, 2),)
    assert edits.pairs == ((0, 1), (0, 3), (1, 2))
    assert len(edits) == 3


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ({"added": ((0, 1),), "removed": ((1, 0),)}, r"\(0, 1\) is both added and removed"),
        ({"added": ((0, 1), (1, 0))}, r"\(0, 1\) is added twice"),
        ({"removed": ((2, 2),)}, r"\(2, 2\) in 'removed' is a self-loop"),
    ],
)
def test_contradictions_are_refused(sides, message):
    with pytest.raises(InvalidGraphError, match=message):
        Edits(**sides)


def test_adding_what_was_removed_cancels():
    there = Edits(added=((0, 1),), removed=((1, 2),))
    assert there + there.inverse() == Edits()
    assert there + Edits(removed=((0, 1),)) == Edits(removed=((1, 2),))


def test_edits_must_fit_the_graph():
    with pytest.raises(InvalidGraphError, match=r"Cannot add the pair \(0, 1\)"):
        Edits(added=((0, 1),)).apply(path(4))
    with pytest.raises(InvalidGraphError, match=r"Cannot remove the pair \(0, 1\)"):
        Edits(removed=((0, 1),)).apply(empty(4))
    with pytest.raises(InvalidGraphError, match="different node sets"):
        Edits.between(path(4), path(5))


def test_only_some_of_them():
    edits = Edits(added=((0, 2), (0, 3)), removed=((0, 1),))
    assert edits.only([(0, 3), (0, 1), (7, 8)]) == Edits(added=((0, 3),), removed=((0, 1),))
