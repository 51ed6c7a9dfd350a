"""DCS as a composition: names, a user's own blocks, and what goes wrong with them."""

from __future__ import annotations

from itertools import chain, islice, repeat

import pytest

from denseflip import DCS, Step, explain
from denseflip.counterfactual import Ask, Status
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.search.core.problem import Problem
from denseflip.search.methods.registry import tri
from denseflip.search.methods.structure_blocks import CliqueSparsify, PairDensify, PairSparsify
from graphs import clique, complete, empty, graph, path, triangle_with_tail


def has_edge(u, v):
    return lambda a: int(a[u, v])


# ---- tri --------------------------------------------------------------------------------


def swaps(method, g):
    pairs = [step.toggled[0] for step in method(Problem(g, 0))]
    return list(zip(pairs[::2], pairs[1::2], strict=True))


def test_triangles_are_opened_where_they_are_many_and_closed_where_they_are_few():  # D1, D2
    # Edges by (score, pair) descending: 12, 02, 01 (two each), 23 (one); pairs ascending: 34
    # (none), 03, 04, 13, … (one). Four edges: four iterations.
    assert swaps(tri(), triangle_with_tail()) == [
        ((1, 2), (3, 4)),
        ((0, 2), (0, 3)),
        ((0, 1), (0, 4)),
        ((2, 3), (1, 3)),
    ]


def test_reverse_is_the_other_direction_throughout():  # D1
    assert swaps(tri(reverse=True), triangle_with_tail()) == [
        ((2, 3), (2, 4)),
        ((0, 1), (1, 4)),
        ((0, 2), (1, 3)),
        ((1, 2), (0, 4)),
    ]


def test_the_shorter_list_ends_the_search():  # D2
    g = graph(4, clique(0, 1, 2), [(0, 3), (1, 3)])  # one pair is not joined
    assert len(swaps(tri(), g)) == 1
    assert swaps(tri(), complete(4)) == swaps(tri(), empty(4)) == []


def test_one_question_per_iteration_after_both_changes():  # D3
    steps = list(tri(max_iterations=2)(Problem(triangle_with_tail(), 0)))
    assert [(s.block, s.ask, s.iteration) for s in steps] == [
        ("sparsify", Ask.NO, 1),
        ("densify", Ask.YES, 1),
        ("sparsify", Ask.NO, 2),
        ("densify", Ask.YES, 2),
    ]


def test_a_limit_on_iterations_is_said():
    result = explain(path(5), lambda a: 0, tri(max_iterations=2))
    assert result.status is Status.EXHAUSTED
    assert result.iterations == 2
    assert result.notes == ("The iteration limit of 2 was reached.",)


# ---- a user's own blocks ----------------------------------------------------------------


def reversed_numbers(problem):
    return list(range(problem.graph.n_nodes))[::-1]


def drop_all_edges_at(state, node):
    pairs = tuple((min(node, v), max(node, v)) for v in sorted(state.neighbours[node]))
    if pairs:
        yield Step("sparsify", "star", pairs, nodes=(node,))


def join_with_next(state, node):
    other = (node + 1) % state.original.n_nodes
    if not state.has_edge(node, other):
        yield Step("densify", "edge", (tuple(sorted((node, other))),))


def only_sparsify(problem):
    return repeat(("sparsify",))


def undo_first(candidate):
    candidate.undo(sorted(candidate.pairs)[:1])


def test_plain_functions_will_do_for_every_block():
    method = DCS(
        rank=reversed_numbers,
        sparsify=drop_all_edges_at,
        densify=join_with_next,
        schedule=only_sparsify,
        refine=undo_first,
    )
    g = path(4)
    result = explain(g, has_edge(0, 1), method)
    # From the far end: node 3 loses (2, 3), node 2 loses (1, 2), node 1 loses (0, 1): flipped.
    assert [s.toggled for s in result.trace] == [((2, 3),), ((1, 2),), ((0, 1),), ((0, 1),)][
        : len(result.trace)
    ]
    assert result.found
    assert result.removed == ((0, 1), (1, 2), (2, 3))
    assert result.refine_calls == 1
    assert result.method == "dcs"
    assert "undo_first" in str(result.parameters)
    assert [s.iteration for s in result.trace] == [1, 2, 3]


def test_blocks_of_either_kind_may_be_mixed():
    method = DCS(sparsify="triangle", densify=join_with_next)
    assert explain(triangle_with_tail(), has_edge(1, 2), method).found


def test_a_method_may_be_any_function_that_gives_steps():
    def everything(problem):
        return [Step("sparsify", "edge", (pair,)) for pair in problem.graph.edges()]

    result = explain(path(4), has_edge(1, 2), everything)
    assert result.removed == ((0, 1), (1, 2))
    assert result.method == "everything"


@pytest.mark.parametrize("toggled", [((1, 0),), ((0, 0),), ((0, 9),), ((-1, 2),), ((0, 1), (0, 1))])
def test_a_block_that_toggles_what_is_no_pair_is_caught(toggled):
    def bad(problem):
        yield Step("mine", "edge", toggled)

    with pytest.raises(InvalidParameterError, match=r"each pair .* once.*'mine'"):
        explain(path(4), lambda a: 0, bad)


def test_a_question_may_be_a_plain_word():
    def mine(problem):
        yield Step("mine", "edge", ((0, 1),), "no")
        yield Step("mine", "edge", ((1, 2),), "yes")

    result = explain(path(4), lambda a: int(a[0, 1]), mine)
    assert result.calls == 2
    assert [s.ask for s in result.trace] == [Ask.NO, Ask.YES]

    def wrong(problem):
        yield Step("mine", "edge", ((0, 1),), "maybe")

    with pytest.raises(InvalidParameterError, match=r"one of yes, no, known; got 'maybe'"):
        explain(path(4), lambda a: 0, wrong)


def test_a_stream_of_something_else_is_caught():
    with pytest.raises(
        InvalidParameterError, match=r"must yield steps \(denseflip.Step\); got tuple"
    ):
        explain(path(4), lambda a: 0, lambda problem: [(0, 1)])


def test_a_ranking_that_is_none_is_caught():
    with pytest.raises(InvalidParameterError, match=r"every node 0..3 exactly once"):
        explain(path(4), lambda a: 0, DCS(rank=lambda p: [0, 0, 1, 2]))


def test_a_schedule_that_names_no_block_is_caught():
    with pytest.raises(InvalidParameterError, match="tuples of 'sparsify' and 'densify'"):
        explain(path(4), lambda a: 0, DCS(schedule=lambda p: repeat(("prune",))))
    with pytest.raises(InvalidParameterError, match="tuples of 'sparsify' and 'densify'"):
        explain(path(4), lambda a: 0, DCS(schedule=lambda p: repeat("sparsify")))


def test_a_search_that_can_change_nothing_more_ends_without_a_limit():
    g = complete(4)
    method = DCS(schedule=lambda p: repeat(("densify",)), max_iterations=None)
    assert explain(g, lambda a: 0, method).status is Status.EXHAUSTED
    assert explain(g, lambda a: 0, DCS(schedule=lambda p: repeat(()), max_iterations=None))


def test_a_search_ends_after_a_whole_round_of_iterations_in_a_row_that_changed_nothing():
    pulled = []

    def schedule(problem):
        for turns in chain([()] * 4, [("sparsify",)], repeat(())):
            pulled.append(turns)
            yield turns

    method = DCS(schedule=schedule, max_iterations=None)
    result = explain(complete(4), lambda a: 0, method)
    assert result.status is Status.EXHAUSTED
    assert len(result.trace) == 1
    assert len(pulled) == 4 + 1 + (4 + 1)  # as many as there are nodes may pass, one more ends it


def test_the_density_schedule_densifies_a_sparse_graph():
    result = explain(empty(5), lambda a: int(a.sum() > 0), DCS(schedule="density"))
    assert result.found
    assert result.added == ((2, 3), (2, 4), (3, 4))  # a triangle, when nothing was removed yet


def test_densify_alone_balances_the_removal_before():
    g = graph(8, clique(0, 1, 2, 3))
    method = DCS(schedule=lambda p: iter([("sparsify",), ("densify",)]))
    first, second = islice(method(Problem(g, 0)), 2)
    assert len(first.toggled) == len(second.toggled) == 6
    assert (first.iteration, second.iteration) == (1, 2)


def test_a_region_first_composition_may_give_steps_a_name_and_nodes():
    step = next(DCS()(Problem(graph(4, clique(0, 1, 2)), 0)))
    assert (step.structure, step.nodes, step.name) == ("clique", (0, 1, 2), "")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sparsify": "cliques"}, "Unknown sparsify 'cliques'. Did you mean 'clique'"),
        ({"densify": "x"}, "Unknown densify 'x'.*Known: triangle, clique"),
        ({"rank": "trangles"}, "Unknown rank 'trangles'. Did you mean 'triangles'"),
        ({"schedule": "densty"}, "Unknown schedule 'densty'. Did you mean 'density'"),
        ({"sparsify": 3}, "sparsify must be a name or a callable; got int 3"),
        ({"questions": "never"}, "questions must be one of each, iteration; got 'never'"),
        ({"max_iterations": -1}, "max_iterations must be a whole number, at least 0; got -1"),
        ({"max_iterations": "ten"}, "max_iterations must be a whole number.*got 'ten'"),
        ({"max_iterations": 2.5}, "max_iterations must be a whole number.*got 2.5"),
    ],
)
def test_a_wrong_block_or_parameter_is_refused_at_once(wrong, message):
    with pytest.raises((UnknownNameError, InvalidParameterError), match=message):
        DCS(**wrong)


def test_a_wrong_refinement_is_refused():
    with pytest.raises(UnknownNameError, match=r"Unknown refinement 'mni'. Did you mean 'min'"):
        explain(path(3), lambda a: 0, DCS(refine="mni"))
    with pytest.raises(InvalidParameterError, match="refine must be"):
        explain(path(3), lambda a: 0, DCS(refine=7))


@pytest.mark.parametrize(
    ("g", "method"),
    [
        (empty(0), DCS(sparsify=PairSparsify("contrast"), densify=PairDensify("contrast"))),
        (empty(4), DCS(sparsify=CliqueSparsify(select="contrast"))),
        (path(4), DCS(sparsify="triangle", densify=PairDensify("contrast"))),  # flips before
    ],
)
def test_the_background_is_asked_when_a_block_first_needs_it(g, method):
    result = explain(g, lambda a: int(len(a) > 3 and a[2, 3]), method, background=[g, g])
    assert result.background_calls == 0
    assert not any("background" in note for note in result.notes)
