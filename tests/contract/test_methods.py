"""Every registered method passes the same checks: to be registered is to be tested."""

from __future__ import annotations

import json

import pytest

from denseflip import Background, Counterfactual, explain, make_method, methods
from denseflip.counterfactual import Ask, Status
from denseflip.errors import MissingInputError
from denseflip.graph import Graph, Nodes
from denseflip.search.core.refinement import REFINERS
from graphs import complete, empty, graph, halves, path, two_cliques

# `gradient` needs an oracle with gradients; its own tests are in unit/search/test_gradient.py.
NAMES = [m.name for m in methods() if not m.suffix and "gradient" not in m.needs]
REFINED = [f"{name}+{suffix}" for name in NAMES for suffix in REFINERS]
every = pytest.mark.parametrize("method", NAMES)
every_refined = pytest.mark.parametrize("method", NAMES + REFINED)


def has_many_edges(a):
    return int(a.sum() / 2 > 8)


def inputs(g: Graph):
    """A node table and a background for any graph, so that every method may be asked."""
    other = complete(g.n_nodes) if g.n_edges < g.n_pairs else empty(g.n_nodes)
    return {"nodes": halves(g.n_nodes), "background": [g, other]}


def check(result: Counterfactual) -> None:
    """What holds for every result."""
    assert result.replay() == result.counterfactual
    assert Counterfactual.from_dict(json.loads(json.dumps(result.to_dict()))) == result
    assert result.found == (result.status is Status.FOUND)
    assert result.calls >= 1
    assert result.elapsed >= 0
    assert str(result)
    assert result._repr_html_()


@every_refined
def test_it_flips_what_can_be_flipped(method):
    g = two_cliques()  # 10 edges
    background = [g, path(8), empty(8), complete(8)]
    result = explain(g, lambda a: int(a[0, 1]), method, nodes=halves(8), background=background)
    check(result)
    assert result.found
    assert (0, 1) in result.removed
    assert (result.label_before, result.label_after) == (1, 0)
    assert result.method == method


@every
@pytest.mark.parametrize(
    "g",
    [empty(0), empty(1), empty(2), complete(2), empty(6), complete(6), path(6)],
    ids=["no-nodes", "one-node", "two-nodes", "one-edge", "no-edges", "all-edges", "path"],
)
def test_any_graph_gives_a_result_with_a_status(method, g):
    check_any_graph(method, g)


@pytest.mark.parametrize("method", REFINED)
@pytest.mark.parametrize("g", [empty(1), path(6)], ids=["one-node", "path"])
def test_any_graph_gives_a_refined_result_with_a_status(method, g):
    """Nothing to refine, and a flip to refine."""
    check_any_graph(method, g)


def check_any_graph(method, g):
    label = {g.digest: 0}  # only this graph is in its class …

    class Oracle:
        def predict(self, graphs):
            return [label.get(h.digest, 1) for h in graphs]

    given = inputs(g)
    result = explain(g, Oracle(), method, **given)
    check(result)
    assert result.status in (Status.FOUND, Status.EXHAUSTED)
    if g.n_pairs == 0:
        assert result.status is Status.EXHAUSTED


@pytest.mark.parametrize("method", [*NAMES, *(f"{name}+min" for name in NAMES)])
def test_no_counterfactual_is_a_result(method):
    """An oracle that never changes its mind about anything near the graph."""
    g = path(6)
    other = complete(6)

    class Oracle:
        def predict(self, graphs):
            return [int(h == other) for h in graphs]

    result = explain(g, Oracle(), method, nodes=halves(6), background=[g, other])
    check(result)
    if result.found:  # dat, medoid, blocks may walk straight to the other graph
        assert result.counterfactual == other
    else:
        assert result.status is Status.EXHAUSTED
        assert result.label_after == result.label_before
        assert result.minimal is None


@every
@pytest.mark.parametrize("budget", [1, 2, 3, 5])
def test_the_budget_is_kept(method, budget):
    g = path(8)
    background = [g, complete(8), empty(8)]
    asked = []

    class Oracle:
        def predict(self, graphs):
            asked.extend(graphs)
            return [has_many_edges(h.to_adjacency()) for h in graphs]

    result = explain(
        g, Oracle(), f"{method}+min", nodes=halves(8), background=background, budget=budget
    )
    check(result)
    assert result.calls <= budget
    # Beyond the budget only the background's labels are asked, and the result is confirmed; and
    # what refinement looked at in vain.
    wasted = len(asked) - (budget + len(background) + 2)
    assert wasted <= (budget if result.refine_calls else 0)


@every
def test_several_classes_and_a_target(method):
    g = two_cliques()
    background = [path(8), complete(8), graph(8, [(0, 1)]), g]

    def thirds(a):
        return ("few", "some", "many")[min(int(a.sum() / 2) // 8, 2)]

    assert thirds(g.to_adjacency()) == "some"
    for target in ("few", "many"):
        result = explain(g, thirds, method, nodes=halves(8), background=background, target=target)
        check(result)
        assert result.target == target
        assert result.found == (result.label_after == target)
    done = explain(g, thirds, method, nodes=halves(8), background=background, target="some")
    assert done.status is Status.NOT_NEEDED
    check(done)


@every
def test_what_it_needs_is_what_it_asks_for(method):
    needs = make_method(method).needs
    g = path(6)

    def run(**given):
        return explain(g, lambda a: int(a.sum() > 12), method, **given)

    everything = {"nodes": halves(6), "background": [g, complete(6)]}
    check(run(**everything))
    needed = {"regions": "nodes", "background": "background"}
    if not needs:
        check(run())
    for need in needs:
        less = {k: v for k, v in everything.items() if k != needed[need]}
        with pytest.raises(MissingInputError, match=f"'{method}' needs"):
            run(**less)
    if "regions" in needs:
        with pytest.raises(MissingInputError, match="no regions"):
            run(**{**everything, "nodes": Nodes.numbered(6)})


@every
def test_the_steps_say_what_they_are(method):
    g = two_cliques()
    background = [g, empty(8), complete(8)]
    result = explain(
        g, lambda a: 0 if a[0, 1] else 1, method, nodes=halves(8), background=background
    )
    assert result.trace
    numbers = [s.iteration for s in result.trace if s.block != "refine"]
    assert numbers == sorted(numbers)
    assert numbers[0] >= 1
    for step in result.trace:
        assert step.block in {"sparsify", "densify", "swap", "replace", "search", "refine"}
        assert step.structure
        assert isinstance(step.ask, Ask)
        assert all(0 <= u < v < 8 for u, v in step.toggled)


@every
def test_the_seed_is_all_the_chance_there_is(method):
    g = two_cliques()
    given = {"nodes": halves(8), "background": Background([g, empty(8), complete(8)])}
    runs = [
        explain(g, lambda a: int(a[2, 3]), f"{method}+bw", seed=7, **given).edits for _ in range(2)
    ]
    assert runs[0] == runs[1]


@every
def test_it_says_what_it_was_run_with(method):
    recipe = make_method(method)
    described = recipe.parameters
    assert json.loads(json.dumps(described)) == described
    assert described["search"]["type"]
