"""Every kind of features passes the same checks: a new one is tested by being registered."""

from __future__ import annotations

import json
import pickle
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cohorts import NODES, make_cohort
from denseflip.classifiers.features import (
    FEATURES,
    Features,
    RegionFeatures,
    features_from_dict,
    make_features,
)
from denseflip.classifiers.pairwise import PairwiseFeatures
from denseflip.errors import InvalidGraphError
from denseflip.graph import Graph
from graphs import complete, empty, path, star

GRAPHS = [*make_cohort(4).graphs, empty(12), complete(12), path(12), star(12)]
PAGE = Path(__file__).parents[2] / "docs" / "classifiers.md"


@pytest.fixture(params=FEATURES)
def features(request: pytest.FixtureRequest) -> Any:
    return make_features(request.param, NODES)


def test_it_keeps_the_protocol(features: Any) -> None:
    assert isinstance(features, Features)
    assert type(features) is FEATURES[features.name]
    assert features == make_features(features.name, NODES)
    assert make_features(features) is features


def test_rows_are_finite_numbers_one_per_graph(features: Any) -> None:
    rows = features.transform(GRAPHS)
    assert rows.dtype == np.float64
    assert rows.ndim == 2
    assert len(rows) == len(GRAPHS)
    assert np.isfinite(rows).all()
    assert features.transform([]).shape[0] == 0


def test_a_row_depends_on_its_graph_alone_to_the_last_bit(features: Any) -> None:
    rows = features.transform(GRAPHS)
    assert np.array_equal(features.transform(GRAPHS[::-1])[::-1], rows)
    assert np.array_equal(np.concatenate([features.transform([g]) for g in GRAPHS]), rows)
    base = GRAPHS[0]
    copies = [base.toggle(g ^ base) for g in GRAPHS]  # the same graphs, made from another
    assert np.array_equal(features.transform(copies), rows)


def test_graphs_that_differ_give_rows_that_differ(features: Any) -> None:
    few, many = features.transform([path(12), complete(12)])
    assert not np.array_equal(few, many)


def test_another_size_is_taken_or_refused_as_promised(features: Any) -> None:
    both = [path(12), path(9)]
    if features.any_size:
        assert features.transform(both).shape[0] == 2
    else:
        with pytest.raises(InvalidGraphError, match="nodes"):
            features.transform(both)


def test_plain_form_and_back(features: Any) -> None:
    data = json.loads(json.dumps(features.to_dict()))
    assert data["name"] == features.name
    again = features_from_dict(data)
    assert again == features
    assert np.array_equal(again.transform(GRAPHS), features.transform(GRAPHS))
    travelled = pickle.loads(pickle.dumps(features))
    assert travelled == features
    assert hash(travelled) == hash(features)


def test_sums_over_edges_are_sums_over_edges(features: Any) -> None:
    if not isinstance(features, PairwiseFeatures):
        return  # an offer, no duty
    rows = features.transform(GRAPHS)
    slopes = np.random.default_rng(0).normal(size=(3, rows.shape[1]))
    for graph, row in zip(GRAPHS, rows, strict=True):
        sums = features.pair_weights(slopes, graph.codes, 12).sum(axis=1)
        np.testing.assert_allclose(sums, slopes @ row, rtol=1e-12, atol=1e-12)
    assert features.transform([complete(12)]).max() <= features.largest(12)
    one = [Graph.from_edges(12, [pair]) for pair in combinations(range(12), 2)]
    codes = np.concatenate([g.codes for g in one])
    weights = features.pair_weights(slopes, codes, 12)
    np.testing.assert_allclose(weights, slopes @ features.transform(one).T, atol=1e-14)


def test_it_is_documented(features: Any) -> None:
    assert f"| `{features.name}` |" in PAGE.read_text(encoding="utf-8")


def test_regions_may_be_named(features: Any) -> None:
    if isinstance(features, RegionFeatures):
        assert make_features("regions", NODES, regions="side") != features
