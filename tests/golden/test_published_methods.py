"""The paper's methods as published (spec §§3-8, 10, 11; D1, D2, D10): printed numbers met.

Sources: Table 2 (flip rates), the box plots of the supplement (quartiles and whiskers of d% and
C, read exactly), and the figures of two patients. TRI, EDG, DAT and DAT+BW are equal to them; CLI
and RCLI are a reading, since the authors' file is missing, and only their flip rates are compared.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from denseflip.datasets import Dataset, load_dataset
from denseflip.oracles.background import Background
from denseflip.paper.published_classifier import fit_published
from denseflip.paper.published_methods import (
    PUBLISHED,
    published_distance,
    published_measures,
    published_method,
)
from denseflip.paper.published_orders import HashTable, looped_edges
from denseflip.search.explain import explain

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("brain_data")]

# data set, method: for class 0 and 1 the flip rate in percent, then q1, median, q3 and the two
# whiskers of d% and of C (None where the box is a line and was not read).
SUPPLEMENT = {
    ("kki", "edg"): (
        (89.7, (0.005, 0.009, 0.0165, 0.003, 0.031), (1, 2, 3.5, 1, 7)),
        (100, (0.005, 0.015, 0.093, 0.005, 0.155), (1, 3, 21.25, 1, 35)),
    ),
    ("kki", "tri"): (
        (89.7, (0.009, 0.026, 0.1005, 0.006, 0.202), (1, 2, 11, 1, 24)),
        (70.5, (0.01, 0.02, 0.0685, 0.006, 0.155), (1, 1, 9.5, 1, 21)),
    ),
    ("kki", "dat"): (
        (100, (0.101, 0.116, 0.1745, 0.04, 0.189), (None, 84, None, 84, 84)),
        (100, (0.0872, 0.1425, 0.233, 0.04, 0.394), (None, 84, None, 84, 84)),
    ),
    ("kki", "dat+bw"): (
        (100, (0.011, 0.036, 0.073, 0.002, 0.14), (101, 109, 124.5, 86, 132)),
        (100, (0.008, 0.0205, 0.1132, 0.004, 0.257), (95, 103, 147.25, 87, 206)),
    ),
    ("pek", "edg"): (
        (100, (0.014, 0.0265, 0.152, 0.004, 0.351), (2.25, 6, 48.5, 1, 117)),
        (91.3, (0.005, 0.013, 0.019, 0.004, 0.033), (1, 2, 3, 1, 6)),
    ),
    ("pek", "tri"): (
        (88.7, (0.019, 0.041, 0.142, 0.007, 0.212), (1, 4, 16, 1, 17)),
        (95.7, (0.0162, 0.026, 0.05, 0.008, 0.081), (1, 2, 5, 1, 10)),
    ),
    ("pek", "dat"): (
        (100, (0.1685, 0.2295, 0.322, 0.093, 0.524), (None, 86, None, 86, 86)),
        (100, (0.144, 0.186, 0.2475, 0.093, 0.268), (None, 86, None, 86, 86)),
    ),
}


@cache
def setting(name: str):
    dataset = load_dataset(name)
    return dataset, fit_published(dataset).oracle, Background.of(dataset.graphs)


def run(name: str, method: str, indices=None):
    dataset, oracle, background = setting(name)
    recipe = published_method(method)
    return [
        explain(dataset.graphs[i], oracle, recipe, nodes=dataset.nodes, background=background)
        for i in (range(len(dataset)) if indices is None else indices)
    ]


def box(values):
    """Quartiles and whiskers as matplotlib draws them."""
    q1, median, q3 = np.percentile(values, (25, 50, 75))
    reach = 1.5 * (q3 - q1)
    inside = [v for v in values if q1 - reach <= v <= q3 + reach]
    return q1, median, q3, min(inside), max(inside)


def regions_of(dataset: Dataset, pairs):
    lobe = dataset.nodes.taxonomy("lobe")
    return [lobe.regions[lobe.index[v]] for pair in pairs for v in pair]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), SUPPLEMENT)
def test_rows_and_boxes_of_the_supplement(name, method):
    results = run(name, method)
    for label, (rate, distances, calls) in enumerate(SUPPLEMENT[name, method]):
        mine = [r for r in results if r.label_before == label]
        found = [published_measures(r) for r in mine if r.found]
        assert round(100 * len(found) / len(mine), 1) == rate
        for key, printed, tolerance in (("d", distances, 6e-5), ("calls", calls, 0.02)):
            for ours, theirs in zip(box([m[key] for m in found]), printed, strict=True):
                assert theirs is None or ours == pytest.approx(theirs, abs=tolerance)


@pytest.mark.slow
def test_clique_search_flips_as_printed_on_kki():
    results = run("kki", "cli")
    rates = [np.mean([r.found for r in results if r.label_before == c]) for c in (0, 1)]
    assert [round(100 * r) for r in rates] == [90, 100]  # Table 2


def test_a_part_of_aut():
    # Table 2: 100/85 with EDG, where it fails for 7 of the 46 graphs of class 1 and no other;
    # 100/100 with TRI and DAT.
    part = range(0, 101, 8)
    for method in ("tri", "dat"):
        assert all(r.found for r in run("aut", method, part))
    swaps = dict(zip(part, run("aut", "edg", part), strict=True))
    assert [i for i, r in swaps.items() if not r.found] == [40, 64, 88, 96]
    assert all(r.label_before == 1 for r in swaps.values() if not r.found)


def test_patient_22_of_adhd():
    dataset, _, _ = setting("adhd")
    edg, dat, tri, rcli = (run("adhd", m, [22])[0] for m in ("edg", "dat", "tri", "rcli"))
    assert (len(edg.removed), len(edg.added)) == (3, 4)
    assert (len(dat.removed), len(dat.added)) == (379, 379)
    assert set(regions_of(dataset, tri.removed)) == {"Occipital Lobe"}
    added = regions_of(dataset, tri.added)
    most = sorted(set(added), key=added.count)[-2:]
    assert set(most) == {"Frontal Lobe", "Temporal Lobe"}
    # The supplement's figure of RCLI, edge by edge.
    gone = (11, 13, 16, 17, 25, 28, 29, 62, 72)
    new = (37, 82, 86, 87, 95, 105, 106, 107, 108)
    graph = dataset.graphs[22]
    assert rcli.removed == tuple((u, v) for u in gone for v in gone if u < v)
    assert rcli.added == tuple(
        (u, v) for u in new for v in new if u < v and not graph.has_edge(u, v)
    )
    assert (len(rcli.removed), len(rcli.added)) == (36, 33)
    assert published_measures(rcli) == {"flipped": True, "d": 0.085, "calls": 3}


def test_patient_9_of_bip():
    dataset, _, _ = setting("bip")
    (tri,) = run("bip", "tri", [9])
    # The paper's figure has 10 and 10: its BIP file is another one, as its Table 1 shows.
    assert (len(tri.removed), len(tri.added)) == (18, 18)
    gone = regions_of(dataset, tri.removed)
    assert sorted(set(gone), key=gone.count)[::-1][:2] == [
        "Parietal Lobe",
        "Insula & Cingulate Gyri",
    ]
    assert set(regions_of(dataset, tri.added)) == {"Posterior Fossa"}


def test_self_loops_count_in_the_published_distance():
    dataset, _, _ = setting("kki")
    a, b = dataset.graphs[0], dataset.graphs[1]
    first, second = set(looped_edges(a)), set(looped_edges(b))
    assert published_distance(a, b) == round(len(first ^ second) / len(first | second), 3)
    assert set(HashTable(first).symmetric_difference(HashTable(second))) == first ^ second


def test_published_readings_are_no_defaults():
    for name in PUBLISHED:
        recipe = published_method(name)
        assert recipe.name == name
        assert "denseflip" not in recipe.parameters  # plain, JSON-ready
