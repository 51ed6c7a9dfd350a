"""The shared change: chosen on one half, counted on the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from denseflip.cohort.settings import CohortSettings, check_cohort
from denseflip.cohort.shared import HalfChange, SharedChange
from denseflip.cohort.shared_search import find_shared
from denseflip.counterfactual import wilson_interval
from groups import CELLS, XY, by_density, cohort


def test_the_planted_cell_is_chosen_and_flips_those_not_used_to_find_it() -> None:
    data = cohort(10)
    settings = check_cohort(data, CohortSettings())
    changes, questions = find_shared(data, settings, by_density)
    assert [change.source for change in changes] == [0, 1]
    assert questions > 0
    for change, sign in zip(changes, (1, -1), strict=True):
        assert change.unseen
        assert change.alike
        for half in change.halves:
            assert set(half.amounts) == {XY}
            assert np.sign(half.amounts[XY]) == sign
            assert abs(half.amounts[XY]) <= 16
        assert change.coverage is not None
        assert change.coverage >= 0.6
        assert change.interval == wilson_interval(change.coverage, change.counted)


def test_everybody_is_counted_once_and_never_by_the_half_that_chose() -> None:
    data = cohort(10)
    trained: list[set[str]] = []

    def fit(train: Any) -> Any:
        trained.append(set(train.ids))
        return by_density(train)

    changes, _ = find_shared(data, check_cohort(data, CohortSettings()), fit)
    assert len(trained) == 2
    assert trained[0] | trained[1] == set(data.ids)
    assert not trained[0] & trained[1]
    for change in changes:
        for half, seen in zip(change.halves, trained, strict=True):
            assert not seen & set(half.counted)
            assert set(half.flipped) <= set(half.counted)
        assert change.members == 10


def test_a_classifier_as_it_is_still_has_a_coverage() -> None:
    data = cohort(10)
    changes, _ = find_shared(data, check_cohort(data, CohortSettings(group="A")), by_density(data))
    assert [(change.source, change.unseen) for change in changes] == [(0, False)]
    assert changes[0].coverage is not None
    assert changes[0].coverage >= 0.8


def test_several_cells_where_one_is_not_enough() -> None:
    data = cohort(6)
    need = [CELLS.members(cell) for cell in ((0, 2), (1, 2))]

    class Both:
        def predict(self, graphs: Any) -> list[int]:
            return [int(all(np.isin(n, g.codes).sum() > 7 for n in need)) for g in graphs]

    settings = check_cohort(data, CohortSettings(group="A"))
    changes, _ = find_shared(data, settings, Both())
    for half in changes[0].halves:
        # The groups do not differ there at all, so nothing leads to these cells but luck.
        assert set(half.amounts) <= {CELLS.number((0, 2)), CELLS.number((1, 2))}
        assert len(half.flipped) in {0, len(half.counted)}


def test_what_nothing_flips_has_no_change() -> None:
    class Stubborn:
        def predict(self, graphs: Any) -> list[int]:
            return [0 for _ in graphs]

    data = cohort(6)
    changes, _ = find_shared(data, check_cohort(data, CohortSettings()), Stubborn())
    assert [change.flipped for change in changes] == [0, 0]
    assert changes[0].counted == 6
    assert changes[1].counted == 0  # nobody of B is recognised
    assert changes[1].coverage is None
    assert changes[1].interval == (0.0, 1.0)


def test_round_trip() -> None:
    half = HalfChange({3: -20, 4: 1}, "typical", 5, 6, ("a",), ("a", "b"), 7)
    change = SharedChange(1, (half, half), False)
    assert SharedChange.from_dict(change.to_dict()) == change
    assert change.alike
    assert (change.flipped, change.counted, change.members) == (2, 4, 14)


@pytest.mark.parametrize("seed", range(3))
def test_same_seed_same_change(seed: int) -> None:
    data = cohort(6, seed=seed)
    settings = check_cohort(data, CohortSettings(seed=seed))
    one, two = (find_shared(data, settings, by_density) for _ in range(2))
    assert one == two
