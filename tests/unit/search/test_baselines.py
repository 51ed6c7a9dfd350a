from __future__ import annotations

from itertools import combinations, islice

import numpy as np
import pytest

from denseflip import Step, explain, make_method
from denseflip.counterfactual import Ask, Status
from denseflip.errors import InvalidParameterError
from denseflip.search.constraints.free_pairs import FreePairs
from denseflip.search.core.problem import Problem
from denseflip.search.methods import baselines
from denseflip.search.methods.baselines import Bidirectional, EdgeSwap, _weighted
from graphs import clique, complete, empty, graph, path


def problem(g, seed=0, **facts):
    return Problem(g, 0, rng=np.random.default_rng(seed), **facts)


# ---- edg --------------------------------------------------------------------------------


def test_every_swap_takes_one_edge_and_one_pair_never_twice():
    g = graph(7, clique(0, 1, 2, 3), [(4, 5)])  # 7 edges, 14 other pairs
    steps = list(EdgeSwap()(problem(g)))
    gone, new = zip(*(s.toggled for s in steps), strict=True)
    assert sorted(gone) == g.edges()
    assert len(set(new)) == 7
    assert not set(new) & set(g.edges())
    assert [s.iteration for s in steps] == list(range(1, 8))


def test_swaps_are_drawn_anew_with_another_seed():
    g = path(9)
    a, b, c = ([s.toggled for s in EdgeSwap()(problem(g, seed))] for seed in (0, 0, 1))
    assert a == b != c


def test_swaps_end_at_their_limit_and_say_so():
    case = problem(path(9))
    assert len(list(EdgeSwap(3)(case))) == 3
    assert case.notes == ["The iteration limit of 3 was reached."]
    whole = problem(path(4))
    assert len(list(EdgeSwap(3)(whole))) == 3
    assert whole.notes == []


def test_pairs_too_many_to_list_are_drawn_one_by_one(monkeypatch):
    monkeypatch.setattr(baselines, "_DENSE_PAIRS", 0)
    g = path(6)
    drawn = list(
        baselines._shuffled_lazily(FreePairs.all_of(g).absent, 6, np.random.default_rng(0))
    )
    assert sorted(drawn) == sorted(set(combinations(range(6), 2)) - set(g.edges()))


# ---- obs and dbs ------------------------------------------------------------------------


def test_obs_takes_handfuls_in_turn_from_edges_and_others():
    g = path(6)  # 5 edges, 10 others
    steps = list(islice(Bidirectional(batch=4)(problem(g)), 4))
    assert [len(s.toggled) for s in steps] == [4, 4, 4, 3]
    edges = set(g.edges())
    assert [p in edges for p in steps[0].toggled] == [True, False, True, False]
    pairs = [p for s in steps for p in s.toggled]
    assert sorted(pairs) == sorted(combinations(range(6), 2))


def test_obs_goes_on_with_what_is_left_when_one_list_is_empty():
    for one in (complete(4), empty(4)):
        steps = islice(Bidirectional()(problem(one)), 2)
        assert [len(s.toggled) for s in steps] == [5, 1]


def test_obs_begins_again_when_every_pair_was_toggled_and_then_keeps_the_number_of_edges():
    g = path(6)
    steps = list(Bidirectional(batch=2)(problem(g)))
    assert len(steps) == 8 + 15  # at most as many more as there are pairs
    now, edges = set(g.edges()), []
    for step in steps:
        assert len(set(step.toggled)) == len(step.toggled)
        now ^= set(step.toggled)
        edges.append(len(now))
    assert edges[7] == 15 - 5
    assert edges[8:] == [5] * 15
    assert len(list(Bidirectional(batch=2, max_iterations=12)(problem(g)))) == 12


@pytest.mark.parametrize("seed", [2, 3, 7])
def test_obs_finds_a_class_with_as_many_edges_after_one_pass_over_the_pairs(seed, monkeypatch):
    """Without edges to swap, one pass ends at the complement; GRETEL's OBS swaps on as well."""

    def many_at_one_node(a):
        return int(a.sum() == 2 * 11 and a[0].sum() >= 5)

    options = {"seed": seed, "parameters": {"batch": 2}}
    assert explain(path(12), many_at_one_node, "obs", **options).found
    monkeypatch.setattr(Bidirectional, "_swap_on", lambda *_: iter(()))
    assert not explain(path(12), many_at_one_node, "obs", **options).found


def test_obs_is_refined_backward():
    g = path(8)
    result = explain(g, lambda a: int(a[0, 1]), "obs")
    assert result.found
    assert result.removed == ((0, 1),)
    assert result.added == ()
    assert result.refine_calls > 0


def test_dbs_draws_what_tells_the_classes_apart_first():
    g = graph(6, [(0, 1), (2, 3), (3, 4)])
    background = [graph(6, [(0, 1), (2, 3)]), graph(6, [(2, 3), (4, 5)])]

    def label(a):
        return int(a[4, 5])

    for seed in range(5):
        result = explain(g, label, make_method("dbs", batch=2), background=background, seed=seed)
        # (0, 1) is the one edge that the current class has more often, (4, 5) the one pair less.
        assert result.trace[0].toggled == ((0, 1), (4, 5))
        assert result.found
        assert result.background_calls == 2


def test_weights_decide_how_early_a_pair_is_drawn():
    rng = np.random.default_rng(0)
    codes, weights = np.arange(4), np.array([0, 1, 9, -3])
    first = [int(_weighted(codes, weights, rng)[0]) for _ in range(2000)]
    assert set(first) == {1, 2}
    assert first.count(2) / 2000 == pytest.approx(0.9, abs=0.03)
    assert sorted(_weighted(codes, weights, rng).tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "wrong",
    [
        ("edg", {"max_iterations": -1}),
        ("edg", {"max_iterations": "x"}),
        ("obs", {"batch": 0}),
        ("obs", {"batch": 2.5}),
        ("dbs", {"max_iterations": None}),
    ],
)
def test_wrong_parameters_are_refused(wrong):
    name, parameters = wrong
    with pytest.raises(InvalidParameterError, match="must be a whole number"):
        make_method(name, **parameters)


# ---- dat and medoid ---------------------------------------------------------------------


def is_dense(a):
    return int(a.sum() / 2 > 6)


def test_dat_takes_the_closest_graph_of_another_class():
    g = path(6)
    far, near = complete(6), graph(6, path(6).edges(), [(0, 2), (0, 3)])
    result = explain(g, is_dense, "dat", background=[empty(6), far, near, g])
    assert result.counterfactual == near
    assert result.trace == (Step("replace", "graph", ((0, 2), (0, 3)), Ask.KNOWN, (), "", 1),)
    assert result.calls == 5  # the graph itself and the four of the background
    assert result.status is Status.FOUND


def test_dat_measures_relative_distance():
    # Distances 3 of 8 and 4 of 12: the latter is relatively closer though it changes more pairs.
    g = graph(8, clique(0, 1, 2, 3), [(4, 5), (4, 6)])
    a = g.toggle([(0, 1), (0, 2), (0, 3)])
    b = g.toggle([(4, 7), (5, 6), (5, 7), (6, 7)])
    assert g.distance(a) < g.distance(b)
    assert g.relative_distance(a) > g.relative_distance(b)

    def label(x):
        return int(x.sum() / 2 != 8)

    assert explain(g, label, "dat", background=[a, b]).counterfactual == b


def test_dat_ties_go_to_the_lowest_index():
    g = path(6)
    one, two = g.toggle([(0, 2), (0, 3)]), g.toggle([(0, 4), (0, 5)])
    for graphs in ([one, two], [two, one]):
        assert explain(g, is_dense, "dat", background=graphs).counterfactual == graphs[0]


def test_dat_with_a_target_heeds_it():
    g = path(5)
    graphs = [g.toggle([(0, 2)]), g.toggle([(0, 2), (0, 3)])]
    result = explain(g, lambda a: int(a.sum() / 2), "dat", background=graphs, target=6)
    assert result.counterfactual == graphs[1]


def test_medoid_takes_the_middle_of_the_other_class():
    g = empty(6)
    base = clique(0, 1, 2, 3)
    middle = graph(6, base, [(4, 5)])
    graphs = [
        graph(6, base, [(4, 5), (0, 4)]),
        middle,
        graph(6, base, [(4, 5), (1, 5)]),
        complete(6),
    ]
    result = explain(g, is_dense, "medoid", background=graphs)
    assert result.counterfactual == middle
    assert result.calls == 5


def test_dat_and_refinement():
    g = path(6)
    result = explain(g, is_dense, "dat+min", background=[complete(6)])
    assert result.distance == 2  # five edges, more than six wanted
    assert result.minimal
    assert result.amortised_calls == result.calls - 1
