"""Searches that listen: counted, budgeted and batched like any other."""

from __future__ import annotations

import pytest

from denseflip import Step, conversation, explain, stream
from denseflip.counterfactual import Status
from denseflip.errors import InvalidParameterError
from denseflip.oracles.session import BudgetSpentError
from denseflip.search.core.method import Conversation, Method, Stream, with_kind
from denseflip.search.core.refinement import MinimalRefine
from denseflip.search.methods.registry import METHODS, as_method
from graphs import complete, path


def bisect(problem, session):
    """Edges removed in order: double the prefix until the label flips, then halve the gap."""
    edges = problem.graph.edges()

    def ask(k):
        graph = problem.graph.toggle(edges[:k])
        answer = session.query(graph)
        flips = problem.accepts(answer.label)
        if flips:
            steps = [Step("search", "edges", tuple(edges[:k]), iteration=session.calls - 1)]
            problem.keep(graph, answer.label, steps)
        return flips

    high = 1
    while not ask(high):
        if high == len(edges):
            return problem.end(problem.graph, problem.label, [])
        high = min(2 * high, len(edges))
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if ask(middle):
            high = middle
        else:
            low = middle
    return problem.best


def fewer_than(n):
    def label(adjacency):
        return int(adjacency.sum() / 2 < n)

    return label


def test_a_bisection_finds_the_boundary_in_few_questions():
    g = complete(20)  # 190 edges
    result = explain(g, fewer_than(100), bisect)
    assert result.found
    assert result.distance == 91
    # The original; 1, 2, 4 … 128; then six halvings of the gap from 64 to 128.
    assert result.calls == 1 + 8 + 6
    assert result.search_calls == result.calls
    assert result.method == "bisect"
    assert result.replay() == result.counterfactual


@pytest.mark.parametrize("budget", range(1, 20))
def test_its_budget_is_kept_and_the_best_so_far_is_given_back(budget):
    result = explain(complete(20), fewer_than(100), bisect, budget=budget)
    assert result.calls == min(budget, 15)
    if budget < 9:  # 128 edges removed is the ninth question
        assert result.status is Status.BUDGET
        assert result.distance == 0
    else:
        assert result.found
        assert result.distance in (128, 112, 104, 96, 92, 91)
        assert result.replay() == result.counterfactual
        assert bool(result.notes) == (budget < 15)


def test_nothing_found_is_a_status():
    result = explain(path(5), lambda a: 0, bisect)
    assert result.status is Status.EXHAUSTED
    assert result.distance == 0


def test_it_is_refined_like_any_other():
    def label(adjacency):
        return int(adjacency[3, 7])

    refined = Method("bisect+min", bisect, (MinimalRefine(),))
    result = explain(complete(12), label, refined)
    assert result.removed == ((3, 7),)
    assert result.minimal


def test_a_walk_inside_a_conversation_is_batched():
    batches = []

    class Oracle:
        def predict(self, graphs):
            batches.append(len(graphs))
            return [int(g.n_edges < 300) for g in graphs]

    def one_by_one(problem, session):
        def prefixes():
            graph = problem.graph
            for pair in problem.graph.edges():
                graph = graph.toggle([pair])
                yield pair, graph

        hit = session.first(prefixes(), lambda answer: problem.accepts(answer.label))
        return problem.end(hit.graph, hit.answer.label)

    result = explain(complete(40), Oracle(), one_by_one)  # 780 edges
    assert result.distance == 481
    assert result.calls == 482
    assert len(batches) < result.calls
    alone = explain(complete(40), Oracle(), one_by_one, batch=1)
    assert (alone.edits, alone.calls) == (result.edits, result.calls)


def test_a_decorator_declares_the_kind_whatever_the_parameters():
    @conversation
    def declared(*given):
        return bisect(*given)

    @stream
    def remove(problem, *, session=None):
        for i, edge in enumerate(problem.graph.edges(), start=1):
            yield Step("sparsify", "edge", (edge,), iteration=i)

    assert with_kind(declared) is declared
    assert with_kind(remove) is remove
    assert explain(complete(20), fewer_than(100), declared).calls == 15
    assert explain(complete(20), fewer_than(100), remove).distance == 91


@pytest.mark.parametrize("base", [Stream, Conversation])
def test_a_class_declares_the_kind_by_its_base(base):
    class Mine(base):
        def __call__(self, *given):
            return None

    assert as_method(Mine()).search.kind == base.kind


@pytest.mark.parametrize("name", METHODS)
def test_every_named_method_declares_its_kind(name):
    search = METHODS[name].build()
    assert (Stream if search.kind == "stream" else Conversation) in type(search).__mro__


def test_a_plain_function_is_classified_by_its_required_parameters():
    def steps(problem, limit=3):
        return iter(())

    def kind(search):
        return Method("mine", search).search.kind

    assert kind(bisect) == "conversation"
    assert kind(steps) == "stream"
    assert kind(lambda problem: ()) == "stream"
    assert kind(lambda problem, session, *, patience=3: None) == "conversation"


@pytest.mark.parametrize(
    ("search", "seen"),
    [
        (lambda: (), "it has 0 required parameters"),
        (lambda *given: (), "it has 0 required parameters"),
        (lambda a, b, c: (), "it has 3 required parameters"),
        (iter, "its parameters cannot be inspected"),
    ],
)
def test_an_unclear_kind_is_refused_with_the_remedy(search, seen):
    with pytest.raises(InvalidParameterError, match=seen) as error:
        explain(path(4), lambda a: 0, search)
    assert "Declare it: @denseflip.stream" in str(error.value)
    assert error.value.parameters == ("method",)


def test_a_conversation_that_gives_back_something_else_is_refused():
    with pytest.raises(InvalidParameterError, match="must return a Walk"):
        explain(path(4), lambda a: 0, lambda problem, session: None)


@pytest.mark.parametrize("spent", [False, True])
@pytest.mark.parametrize("pairs", [[], [(1, 2)]], ids=["the original", "never asked about"])
def test_what_a_conversation_says_it_found_must_be_so(pairs, spent):
    def wrong(problem, session):
        found = problem.keep(problem.graph.toggle(pairs), 0)
        if spent:
            raise BudgetSpentError
        return found

    with pytest.raises(InvalidParameterError, match="with the label 0; the oracle labels it 1"):
        explain(path(4), lambda a: int(a[0, 1]), wrong)


def test_a_budget_that_ends_before_anything_is_found_says_so():
    def early(problem, session):
        problem.keep(problem.graph, problem.label)  # nothing yet
        raise BudgetSpentError

    result = explain(path(4), lambda a: 1, early)
    assert (result.status, result.notes) == (Status.BUDGET, ())
