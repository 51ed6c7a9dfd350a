"""The region table against counting by hand and by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from denseflip import Edits
from denseflip.errors import InvalidNodesError, InvalidParameterError
from denseflip.graph import Taxonomy, cells
from denseflip.story.region_table import RegionTable

LOBES = Taxonomy.from_labels("lobe", ["Front", "Front", "Back", "Back", "Side", "Top"])
# inside Front: 1 removed; Front–Back: 2 added, 1 removed; Back–Side: 1 added
EDITS = Edits(added=((0, 2), (0, 3), (3, 4)), removed=((0, 1), (1, 2)))
TABLE = RegionTable(LOBES, EDITS)


def random_table(seed: int, n_regions: int = 6, n_nodes: int = 24, n_edits: int = 40):
    rng = np.random.default_rng(seed)
    labels = [f"r{i}" for i in rng.integers(0, n_regions, n_nodes)]
    pairs = list(itertools.combinations(range(n_nodes), 2))
    chosen = [pairs[i] for i in rng.choice(len(pairs), n_edits, replace=False)]
    edits = Edits(tuple(chosen[: n_edits // 3]), tuple(chosen[n_edits // 3 :]))
    return RegionTable(Taxonomy.from_labels("part", labels), edits)


def test_cells_come_by_number_of_edits() -> None:
    rows = [(r.region_a, r.region_b, r.added, r.removed) for r in TABLE.pairs]
    assert rows == [("Front", "Back", 2, 1), ("Front", "Front", 0, 1), ("Back", "Side", 1, 0)]
    assert [r.share for r in TABLE.pairs] == [0.6, 0.2, 0.2]


def test_within_and_between() -> None:
    assert (TABLE.within, TABLE.between) == (1, 4)


def test_rows_have_the_shares_of_the_papers_bars() -> None:
    rows = {r.region: r for r in TABLE.rows}
    assert rows["Front"].added_share == pytest.approx(2 / 6)
    assert rows["Back"].added_share == pytest.approx(3 / 6)
    assert rows["Side"].added_share == pytest.approx(1 / 6)
    assert rows["Front"].removed_share == pytest.approx(3 / 4)
    assert rows["Back"].removed_share == pytest.approx(1 / 4)
    assert (rows["Front"].removed_within, rows["Front"].removed_between) == (1, 1)
    assert (rows["Back"].added, rows["Back"].removed, rows["Back"].total) == (3, 1, 4)
    assert rows["Top"].total == 0
    assert rows["Front"].n_nodes == 2


def test_touched_regions() -> None:
    assert TABLE.touched == ("Front", "Back", "Side")


def test_matrices_are_symmetric_and_count_each_edit_once() -> None:
    assert (TABLE.matrix == TABLE.matrix.T).all()
    assert np.triu(TABLE.matrix).sum() == len(EDITS)
    assert TABLE.added_matrix[0, 1] == 2
    assert TABLE.removed_matrix[0, 1] == 1


def test_edits_in_cells() -> None:
    assert TABLE.edits_in([(1, 0)]) == Edits(added=((0, 2), (0, 3)), removed=((1, 2),))
    assert TABLE.edits_in([]) == Edits()


@pytest.mark.parametrize(
    ("share", "pairs", "regions"),
    [
        (0.2, [("Front", "Back")], ("Front",)),
        (0.6, [("Front", "Back")], ("Front", "Back")),
        (0.8, [("Front", "Back"), ("Front", "Front")], ("Front", "Back")),
        (1.0, [("Front", "Back"), ("Front", "Front"), ("Back", "Side")], ("Front", "Back", "Side")),
    ],
)
def test_smallest_sets(share, pairs, regions) -> None:
    assert TABLE.smallest(share) == tuple(pairs)
    assert TABLE.smallest(share, "regions") == regions


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 1.0])
def test_smallest_sets_are_smallest_by_brute_force(seed, share) -> None:
    table = random_table(seed)
    need = share * len(table.edits) - 1e-9

    def fewest(items, held) -> int:
        return next(
            k
            for k in range(len(items) + 1)
            for chosen in itertools.combinations(items, k)
            if held(chosen) >= need
        )

    total = {(r.region_a, r.region_b): r.total for r in table.pairs}
    of_regions = fewest(
        table.taxonomy.regions,
        lambda chosen: sum(t for pair, t in total.items() if set(pair) <= set(chosen)),
    )
    assert len(table.smallest(share, "regions")) == of_regions
    ranked = sorted(total.values(), reverse=True)
    of_pairs = next(k for k in range(len(ranked) + 1) if sum(ranked[:k]) >= need)
    assert len(table.smallest(share)) == of_pairs


def test_too_many_sets_fall_back_to_peeling(monkeypatch) -> None:
    monkeypatch.setattr(cells, "_ALL_SETS", 0)
    monkeypatch.setattr(cells, "_TRIED_SETS", 3)
    for seed in range(4):
        table = random_table(seed)
        chosen = set(table.smallest(0.5, "regions"))
        held = sum(r.total for r in table.pairs if {r.region_a, r.region_b} <= chosen)
        assert held >= 0.5 * len(table.edits)
        assert len(chosen) < len(table.taxonomy.regions)


def test_no_edits_are_no_trouble() -> None:
    table = RegionTable(LOBES, Edits())
    assert table.pairs == ()
    assert table.smallest() == ()
    assert table.smallest(of="regions") == ()
    assert all(r.added_share == r.removed_share == 0 for r in table.rows)
    assert "0 edits" in str(table)


@pytest.mark.parametrize("share", [0, -1, 1.1, float("nan")])
def test_an_impossible_share_is_refused(share) -> None:
    with pytest.raises(InvalidParameterError, match="share must be above 0"):
        TABLE.smallest(share)


def test_an_unknown_kind_of_set_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="'pairs' or 'regions'"):
        TABLE.smallest(0.5, "nodes")  # type: ignore[arg-type]


def test_a_taxonomy_of_other_nodes_is_refused() -> None:
    with pytest.raises(InvalidNodesError, match="6 nodes to regions, but a pair is on node 6"):
        RegionTable(LOBES, Edits(added=((0, 6),)))


def test_forms() -> None:
    assert "5 edits by lobe: 1 within a region, 4 between two" in str(TABLE)
    assert "Front – Back" in str(TABLE)
    data = TABLE.to_dict()
    assert data["pairs"][0] == {
        "region_a": "Front",
        "region_b": "Back",
        "added": 2,
        "removed": 1,
        "share": 0.6,
        "total": 3,
    }
    assert [r["region"] for r in data["regions"]] == ["Front", "Back", "Side", "Top"]
    odd = RegionTable(Taxonomy.from_labels("x", ["<b>", "<b>"]), Edits(added=((0, 1),)))
    assert "&lt;b&gt;" in odd._repr_html_()
