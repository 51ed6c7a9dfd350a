"""`Claim`: what is derived from it, and its rows in a file."""

from __future__ import annotations

import json

import pytest

from denseflip import Nodes
from denseflip.errors import FileFormatError
from denseflip.graph import Taxonomy
from denseflip.search.claims.claim import Amount, Claim, ClaimRow, node_taxonomy
from denseflip.serialise import read, write

LOBES = Taxonomy.from_labels("lobe", ("Front", "Front", "Back", "Deep"))
CLAIM = Claim(
    (Amount((0, 1), 3, 0), Amount((1, 1), 0, 2), Amount((1, 2), 1, 1)),
    "ill",
    "regions",
    LOBES,
    "typical",
)


@pytest.mark.parametrize(
    ("amount", "total", "change"),
    [
        (Amount((0, 1), 0, 2), 2, "less"),
        (Amount((0, 0), 3, 0), 3, "more"),
        (Amount((0, None), 3, 1), 4, "mixed"),
    ],
)
def test_an_amount_has_a_direction(amount, total, change) -> None:
    assert (amount.total, amount.change) == (total, change)


def test_places_have_the_names_of_their_regions() -> None:
    assert CLAIM.places == ((0, 1), (1, 1), (1, 2))
    assert [CLAIM.name(place) for place in CLAIM.places] == ["Front – Back", "Back", "Back – Deep"]
    assert CLAIM.region_sets[:2] == ({"Front", "Back"}, {"Back"})
    assert CLAIM.total == 7
    assert CLAIM.spoken == "regions (lobe)"
    assert CLAIM.regions is LOBES


def test_nodes_and_pairs_have_the_names_of_the_nodes() -> None:
    names = node_taxonomy(Nodes(("a1", "b2", "c3")))
    at = Claim((Amount((1, None), 2, 0),), 1, "nodes", names)
    assert (at.name((1, None)), at.spoken, at.regions, at.region_sets) == (
        "node b2",
        "nodes",
        None,
        (),
    )
    pairs = Claim((Amount((0, 2), 1, 0),), 1, "pairs", names)
    assert pairs.name((0, 2)) == "node a1 – node c3"
    words = node_taxonomy(Nodes(("Insula", "Vermis")))
    assert words.regions == ("Insula", "Vermis")


def test_some_of_its_places_are_a_claim_as_well() -> None:
    some = CLAIM.only((0, 2), "well")
    assert some.amounts == (CLAIM.amounts[0], CLAIM.amounts[2])
    assert (some.label, some.reading, some.language) == ("well", "typical", "regions")


def test_its_rows_are_json_and_come_back() -> None:
    rows = CLAIM.rows()
    assert json.loads(json.dumps(write(rows[0]))) == {
        "region_a": "Front",
        "region_b": "Back",
        "added": 3,
        "removed": 0,
        "change": "more",
    }
    assert Claim.from_rows(rows, "ill", "regions", LOBES, "typical") == CLAIM
    swapped = [rows[0]._replace(region_a="Back", region_b="Front")]
    assert Claim.from_rows(swapped, "ill", "regions", LOBES).places == ((0, 1),)
    nodes = Claim((Amount((1, None), 2, 0),), 1, "nodes", node_taxonomy(Nodes.numbered(3)))
    assert Claim.from_rows(nodes.rows(), 1, "nodes", nodes.taxonomy) == nodes


@pytest.mark.parametrize("odd", [{"region_a": "Left"}, {"region_b": "Left"}, {"region_a": None}])
def test_rows_that_do_not_fit_are_refused(odd) -> None:
    with pytest.raises(KeyError):
        Claim.from_rows([CLAIM.rows()[0]._replace(**odd)], "ill", "regions", LOBES)


@pytest.mark.parametrize("odd", [{"region_b": 3}, {"added": "three"}, {"removed": None}])
def test_rows_of_other_types_are_refused(odd) -> None:
    with pytest.raises(FileFormatError, match=next(iter(odd))):
        read(ClaimRow, {**write(CLAIM.rows()[0]), **odd}, "a row")
