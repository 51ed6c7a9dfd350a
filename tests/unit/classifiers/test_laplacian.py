from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip.classifiers import laplacian
from denseflip.classifiers.laplacian import fill_laplacians
from denseflip.graph import Graph
from strategies import graphs


def filled(asked, *, self_loops=False):
    n = asked[0].n_nodes
    stack = np.full((len(asked), n * n), np.nan)
    fill_laplacians(stack, asked, self_loops=self_loops)
    return stack.reshape(-1, n, n)


def test_a_path_and_a_node_by_itself():
    """0-1-2 and 3: degrees 1, 2, 1 and 0; what is above the diagonal is zero."""
    path = Graph.from_edges(4, [(0, 1), (1, 2)])
    h = -1 / np.sqrt(2)
    expected = [[1, 0, 0, 0], [h, 1, 0, 0], [0, h, 1, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(filled([path])[0], expected)
    s = 1 / np.sqrt(6)  # with loops the degrees are 2, 3, 2 and 1
    expected = [[1 / 2, 0, 0, 0], [-s, 2 / 3, 0, 0], [0, -s, 1 / 2, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(filled([path], self_loops=True)[0], expected, atol=1e-15)


@st.composite
def copies(draw):
    """Near and far copies of a graph, in runs with unrelated graphs between them."""
    root = draw(graphs(min_nodes=2, max_nodes=8))
    n = root.n_nodes
    codes = [u * n + v for u in range(n) for v in range(u + 1, n)]
    flips = draw(st.lists(st.lists(st.sampled_from(codes), unique=True, max_size=4), max_size=12))
    near = [root.toggle_codes(np.array(f, dtype=np.int64)) for f in flips]
    others = draw(st.lists(graphs(n, n), max_size=2))
    return [*near[:7], *others, root, *near[7:]]


@pytest.mark.parametrize("self_loops", [False, True])
@pytest.mark.parametrize("few", [1, 4])
@given(asked=copies())
def test_together_is_alone_to_the_last_bit(few, self_loops, asked):
    afresh = [Graph.from_edges(g.n_nodes, g.edges()) for g in asked]
    alone = np.concatenate([filled([g], self_loops=self_loops) for g in afresh])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(laplacian, "_FEW", few)
        patch.setattr(laplacian, "_NEAR", 1)
        together = filled(asked, self_loops=self_loops)
    assert together.tobytes() == alone.tobytes()  # the signs of zeros, too
