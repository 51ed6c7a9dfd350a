"""Quick answers are the slow ones, near ties included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip.classifiers import pairwise
from denseflip.classifiers.features import DegreeFeatures, EdgeFeatures, RegionFeatures
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.heads import LazyEstimator, LinearHead, NeighbourHead
from strategies import graphs, node_tables

# Sums of these come out as 0 in one order and as 1e-17 in another.
UNEVEN = st.sampled_from([-0.7, -0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.7, 1 / 3, -1 / 3])


@st.composite
def linear_oracles(draw, tied):
    """A linear classifier of 2 to 4 classes on any of the features, with this graph on the edge."""
    n = tied.n_nodes
    kind = draw(st.sampled_from(["edges", "degrees", "regions"]))
    if kind == "regions":
        features = RegionFeatures.from_nodes(draw(node_tables(n)))
        width = len(features.blocks)
    else:
        features = EdgeFeatures() if kind == "edges" else DegreeFeatures()
        width = n if kind == "degrees" else n * (n - 1) // 2
    classes = draw(st.integers(2, 4))
    scores = 1 if classes == 2 else classes
    numbers = st.lists(UNEVEN, min_size=width, max_size=width)
    weights = np.array([draw(numbers) for _ in range(scores)]).reshape(scores, width)
    shift = scale = None
    if draw(st.booleans()):
        shift = np.array(draw(numbers))
        scale = np.array(draw(st.lists(st.floats(0.1, 3), min_size=width, max_size=width)))
    level = LinearHead(weights, np.zeros(scores), shift, scale).scores(features.transform([tied]))
    head = LinearHead(weights, -level[0], shift, scale)
    lazy = LazyEstimator(head, tuple(range(classes)), "LinearSVC()", None)
    return FittedOracle(features, lazy, tuple("abcd"[:classes]), n)


@st.composite
def questions(draw):
    """An oracle, a graph, and edits of it (codes in any order, perhaps none), one of them tied."""
    base = draw(graphs(min_nodes=2, max_nodes=8))
    n = base.n_nodes
    codes = [u * n + v for u in range(n) for v in range(u + 1, n)]
    one = st.lists(st.sampled_from(codes), unique=True)
    edits = draw(st.lists(one, min_size=1, max_size=6))
    tied = base.toggle_codes(np.array(edits[0], dtype=np.int64))
    return draw(linear_oracles(tied)), base, [np.array(e, dtype=np.int64) for e in edits]


@pytest.mark.parametrize("table", [pairwise._TABLE, 0], ids=["table", "no table"])
@given(asked=questions())
def test_edits_are_answered_as_rows_are(table, asked):
    oracle, base, edits = asked
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairwise, "_TABLE", table)
        changed = [base.toggle_codes(e) for e in edits]
        expected = oracle.head.predict(oracle.features.transform(changed)).tolist()
        assert oracle.predict_edits(base, edits) == expected
        for _ in range(2):  # the first question makes what the second one uses
            assert [oracle.predict_edits(base, [e])[0] for e in edits] == expected
        assert oracle.predict(changed) == expected
        assert [oracle.predict([g])[0] for g in changed] == expected


@given(
    st.lists(UNEVEN, min_size=5, max_size=5),
    st.lists(st.permutations(range(5)), min_size=1, max_size=9),
    st.integers(1, 9),
    st.integers(0, 999),
)
def test_votes_found_quickly_are_those_of_the_exact_distances(steps, orders, k, seed):
    """Training rows at the same distance from the first question, but for rounding."""
    rng = np.random.default_rng(seed)
    asked = rng.normal(size=(4, 5))
    train = asked[0] + np.array(steps)[np.array(orders)]
    head = NeighbourHead(train, rng.integers(0, 3, len(train)), k, 3)
    votes = head.votes(asked)
    assert votes.tolist() == [head._exact(row).tolist() for row in asked]
    assert votes.tolist() == [head.votes(row[None])[0].tolist() for row in asked]
