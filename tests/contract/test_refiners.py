"""Every registered refiner passes the same checks: a new one is tested by being registered."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from denseflip import Counterfactual, explain, methods
from denseflip.counterfactual import Status
from denseflip.search.core.refinement import REFINERS
from graphs import empty, halves, two_cliques
from strategies import problems

every = pytest.mark.parametrize("name", REFINERS)
SEEDS = st.integers(0, 99)
SEARCHES = ("dat", "edg", "cli")


def edits(result: Counterfactual) -> set[tuple[int, int]]:
    return set(result.added) | set(result.removed)


def another_class(problem) -> bool:
    """Whether the background holds a graph of another class: `dat` can take no other."""
    graph, oracle, _, background = problem
    return set(oracle.predict(background)) != {asked(oracle, graph)}


def asked(oracle, graph):
    return oracle.predict([graph])[0]


@every
@settings(max_examples=40)
@given(problem=problems(), search=st.sampled_from(SEARCHES), seed=SEEDS)
def test_the_flip_is_kept_and_no_edit_added(name, problem, search, seed):
    assume(another_class(problem))
    graph, oracle, nodes, background = problem
    given = {"nodes": nodes, "background": background, "seed": seed}
    plain = explain(graph, oracle, search, **given)
    refined = explain(graph, oracle, f"{search}+{name}", **given)
    assert refined.status == plain.status
    assert edits(refined) <= edits(plain)
    assert refined.search_calls == plain.search_calls
    assert refined.replay() == refined.counterfactual
    if not refined.found:
        assert refined.refine_calls == 0
        return
    assert refined.label_after == asked(oracle, refined.counterfactual) != refined.label_before
    assert edits(refined)  # the original itself is no counterfactual
    assert [step.block for step in refined.trace][len(plain.trace) :] == ["refine"] * (
        len(refined.trace) - len(plain.trace)
    )


@every
@settings(max_examples=40)
@given(problem=problems(), budget=st.integers(1, 12), seed=SEEDS)
def test_the_budget_is_kept_and_what_was_found_by_then_is_given(name, problem, budget, seed):
    graph, oracle, nodes, background = problem
    given = {"nodes": nodes, "background": background, "seed": seed}
    plain = explain(graph, oracle, "edg", **given)
    refined = explain(graph, oracle, f"edg+{name}", budget=budget, **given)
    assert refined.calls <= budget
    if plain.found and plain.calls <= budget:  # only the refinement was cut short, never the flip
        assert refined.status is Status.FOUND
        assert edits(refined) <= edits(plain)
        assert asked(oracle, refined.counterfactual) != refined.label_before


@every
def test_a_single_edit_stays(name):
    graph = two_cliques()
    other = graph.toggle([(0, 1)])
    result = explain(graph, lambda a: int(a[0, 1]), f"dat+{name}", background=[graph, other])
    assert result.removed == ((0, 1),)
    assert result.added == ()
    assert result.minimal is not False


@every
def test_what_is_not_needed_goes(name):
    """The background's only other graph is empty; the oracle looks at one edge of ten."""
    graph = two_cliques()
    result = explain(
        graph,
        lambda a: int(a[0, 1]),
        f"dat+{name}",
        nodes=halves(8),
        background=[graph, empty(8)],
        seed=1,
    )
    assert (0, 1) in result.removed
    assert result.distance < 10


@every
@settings(max_examples=25)
@given(problem=problems(), seed=SEEDS)
def test_a_certificate_is_true(name, problem, seed):
    assume(another_class(problem))
    graph, oracle, nodes, background = problem
    result = explain(graph, oracle, f"dat+{name}", nodes=nodes, background=background, seed=seed)
    if result.minimal:
        for pair in edits(result):
            undone = result.counterfactual.toggle([pair])
            assert asked(oracle, undone) == result.label_before


@every
def test_the_seed_is_all_the_chance_there_is(name):
    graph = two_cliques()
    given = {"nodes": halves(8), "background": [graph, empty(8)], "seed": 5}
    first, second = (
        explain(graph, lambda a: int(a[:4].sum() > 9), f"dat+{name}", **given) for _ in range(2)
    )
    assert (first.edits, first.trace, first.calls) == (second.edits, second.trace, second.calls)


@every
def test_it_is_listed_and_documented(name):
    line = next(m for m in methods() if m.name == f"+{name}")
    assert line.suffix
    assert line.summary
    page = Path(__file__).parents[2] / "docs" / "methods.md"
    assert f"\n### +{name}\n" in page.read_text(encoding="utf-8")
