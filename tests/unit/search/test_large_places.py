"""Places, queues and constraints without lists of pairs, against lists of all pairs."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip import Constraints, Graph, Nodes, describe, explain
from denseflip.graph import Taxonomy
from denseflip.graph.cells import Cells
from denseflip.oracles.background import Background
from denseflip.search.claims.places import Places
from denseflip.search.claims.queue import AT_ONCE, Queue, Weights
from denseflip.search.constraints.bound_constraints import BoundConstraints
from strategies import graphs


@st.composite
def cases(draw):
    """A graph, regions, and constraints on pairs; any of them may be trivial."""
    g = draw(graphs(2, 9))
    n = g.n_nodes
    labels = draw(st.lists(st.sampled_from("ABC"), min_size=n, max_size=n))
    nodes = Nodes(tuple(f"n{v}" for v in range(n)), regions={"part": tuple(labels)})
    given_: dict[str, object] = {}
    frozen = draw(st.lists(st.sampled_from(["n0", "n1", labels[0], f"{labels[0]} x {labels[-1]}"])))
    if frozen:
        given_["freeze"] = frozen
    if draw(st.booleans()):
        given_["freeze"] = [*frozen, (0, n - 1)]
    if draw(st.booleans()):
        given_["only"] = draw(st.sampled_from(["add", "remove"]))
    if draw(st.booleans()):
        upper = np.triu(
            draw(st.integers(0, 2**32).map(np.random.default_rng)).random((n, n)) < 0.6, 1
        )
        given_["allowed"] = upper | upper.T
    if draw(st.booleans()):
        given_["allow_seen"] = draw(st.sampled_from([0.0, 40.0, 100.0]))
    background = Background([draw(graphs(n, n)) for _ in range(3)])
    return g, nodes, BoundConstraints(Constraints(**given_), g, nodes, background)


def may_change(terms: BoundConstraints, u: int, v: int, nodes: Nodes) -> bool:
    """Whether a pair may change, by the plain meaning of the constraints."""
    given_, g = terms.constraints, terms.graph
    part = nodes.regions["part"]
    for item in given_.freeze:
        if isinstance(item, tuple):
            if set(item) == {u, v}:
                return False
        elif " x " in item:
            if sorted(item.split(" x ")) == sorted((part[u], part[v])):
                return False
        elif item in (part[u], part[v], f"n{u}", f"n{v}"):
            return False
    if given_.only is not None and g.has_edge(u, v) != (given_.only == "remove"):
        return False
    if given_.allowed is not None and not given_.allowed[u, v]:
        return False
    seen = [other.has_edge(u, v) for other in terms.background.graphs]
    return 100 * np.mean(seen) >= (given_.allow_seen or 0) - 1e-9


@given(cases())
def test_places_have_the_pairs_that_a_list_of_all_pairs_gives(case):
    g, nodes, terms = case
    n = g.n_nodes
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    free = {pair for pair in pairs if may_change(terms, *pair, nodes)}
    assert terms.n_free == len(free)
    assert terms.can_add == any(not g.has_edge(*pair) for pair in free)
    assert terms.can_remove == any(g.has_edge(*pair) for pair in free)
    touched = {v for pair in free for v in pair}
    assert np.flatnonzero(terms.closed).tolist() == sorted(set(range(n)) - touched)
    for taxonomy in (nodes.taxonomy(), None):
        places = Places(g, taxonomy, terms)
        for place in places.every:
            a, b = place
            if b is None:
                here = [pair for pair in pairs if a in pair]
            else:
                index = taxonomy.index
                here = [p for p in pairs if sorted((index[p[0]], index[p[1]])) == [a, b]]
            absent = [u * n + v for u, v in here if (u, v) in free and not g.has_edge(u, v)]
            present = [u * n + v for u, v in here if (u, v) in free and g.has_edge(u, v)]
            assert places.absent(place).tolist() == sorted(absent)
            assert places.present(place).tolist() == sorted(present)
            at = places.column(place)
            assert (places.addable[at], places.removable[at]) == (len(absent), len(present))
            assert places.counts(place) == (len(here), sum(g.has_edge(*pair) for pair in here))


def test_a_long_queue_gives_every_pair_once_and_keeps_its_beginning():
    codes = np.arange(AT_ONCE * 2, dtype=np.int64) * 3
    queue = Queue(codes, np.random.default_rng(0))
    first = queue.take(500)
    assert queue.take(20_000)[:500].tolist() == first.tolist()
    odd = queue.take(300, lambda some: some % 2 == 1)
    assert (odd % 2 == 1).all()
    every = queue.take(len(codes))
    assert np.array_equal(np.sort(every), codes)
    assert len(queue.take(len(codes) + 1)) == len(codes)


def test_a_long_weighted_queue_draws_in_proportion():
    n = 2 * AT_ONCE
    weights = Weights(np.where(np.arange(n) % 2, 3.0, 1.0))
    queue = Queue(np.arange(n, dtype=np.int64), np.random.default_rng(1), weights)
    first = queue.take(4000)
    assert len(np.unique(first)) == 4000
    assert np.mean(first % 2) == pytest.approx(0.75, abs=0.03)
    assert np.array_equal(np.sort(queue.take(n)), np.arange(n))


def test_the_pairs_of_a_large_place_are_not_listed():
    n = 1_000_000
    half = Taxonomy("half", ("A", "B"), tuple(v % 2 for v in range(n)))
    places = Places(Graph.from_edges(n, [(0, 1), (2, 3), (0, 2)]), half)
    absent = places.absent((0, 1))
    assert len(absent) == (n // 2) ** 2 - 2
    some = absent[np.random.default_rng(0).integers(len(absent), size=1000)]
    u, v = np.divmod(some, n)
    assert ((u < v) & (u % 2 != v % 2)).all()
    assert not np.isin(some, places.graph.codes).any()
    assert Cells(half).count(some)[1] == 1000


def test_numbers_in_a_sentence_about_nodes_are_degrees():
    """Also where an edit joins two named nodes; counted on the graph with the named edits."""
    nodes, shared = Nodes(tuple(f"n{v}" for v in range(14))), 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        graph = Graph.from_edges(14, np.argwhere(np.triu(rng.random((14, 14)) < 0.35, 1)))
        weights = np.triu(rng.normal(size=(14, 14)), 1)
        level = (weights * graph.to_adjacency(float)).sum()

        def rule(a, weights=weights, level=level):
            return int((weights * a).sum() > level + 5)

        result = explain(graph, rule, "tri", nodes=nodes)
        if not result.found:
            continue
        story = describe(result, nodes, rule)
        if story.claim.language != "nodes":
            continue
        then = story.named_edits.apply(graph).degrees()
        found = re.findall(r"node n(\d+) \((\d+) → (\d+)", str(story))
        assert len(found) == len(story.claim.amounts)
        for node, before, after in found:
            assert (int(before), int(after)) == (graph.degrees()[int(node)], then[int(node)])
        named = {int(node) for node, _, _ in found}
        both = any(u in named and v in named for u, v in story.named_edits.pairs)
        assert both == ("another node named here" in str(story))
        text = str(story).split("\n\n[")[0]
        for node in named:
            mine = [pair for pair in story.named_edits.pairs if node in pair]
            gone = sum(graph.has_edge(*pair) for pair in mine)
            said = re.search(
                rf"((?:(?:one|\d+) (?:more|fewer|less)(?: and )?)+)(?: [a-z]+)? of node n{node} \(",
                text,
            )
            numbers = re.findall(r"(one|\d+) (more|fewer|less)", said[1])
            assert {word == "more": int(n.replace("one", "1")) for n, word in numbers} == {
                way: k for way, k in ((True, len(mine) - gone), (False, gone)) if k
            }
            joining = sum(named.issuperset(pair) for pair in mine)
            told = re.search(rf"node n{node} \([^)]*; (one|\d+) joins? another", text)
            assert joining == (int(told[1].replace("one", "1")) if told else 0)
        shared += both
    assert shared
