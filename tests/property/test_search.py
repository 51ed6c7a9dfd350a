"""What must hold for every method, oracle and graph, found or not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from denseflip import Background, Counterfactual, explain, make_method
from denseflip.counterfactual import Ask, Status
from denseflip.graph import Graph
from denseflip.search.core.refinement import REFINERS, Candidate, MinimalRefine
from denseflip.search.methods.registry import METHODS
from strategies import HashOracle, WeightOracle, problems

SUFFIXES = ("", *(f"+{name}" for name in REFINERS), "+bw+min", "+min+bw")
# `gradient` needs an oracle with gradients; its own tests are in unit/search/test_gradient.py.
BASES = [name for name in METHODS if name != "gradient"]
FEW = settings(max_examples=12)


def run(case, method, **options) -> Counterfactual:
    g, oracle, nodes, background = case
    return explain(g, oracle, method, nodes=nodes, background=background, **options)


def listens(base: str) -> bool:
    """Whether a method chooses its questions by the answers; dat and medoid ask no more."""
    return make_method(base).search.kind == "conversation" and base not in ("dat", "medoid")


def same(result: Counterfactual) -> Counterfactual:
    """The result without its running time."""
    return replace(result, elapsed=0.0)


@pytest.mark.parametrize("base", BASES)
@FEW
@given(suffix=st.sampled_from(SUFFIXES), case=problems(), seed=st.integers(0, 3))
def test_a_result_is_what_it_says(base, suffix, case, seed):
    method = base + suffix
    g, oracle, _, background = case
    result = run(case, method, seed=seed)
    label = oracle.predict([g])[0]
    after = oracle.predict([result.counterfactual])[0]
    assert result.original == g
    assert result.label_before == label
    assert result.label_after == after
    assert result.found == (after != label) == (result.status is Status.FOUND)
    assert result.found or result.status is Status.EXHAUSTED
    # Replaying the trace, or applying the edits, gives the counterfactual.
    assert result.replay() == result.counterfactual == result.edits.apply(g)
    assert all(g.has_edge(*p) for p in result.removed)
    assert not any(g.has_edge(*p) for p in result.added)
    # The calls are the questions of the trace, the original's label, and what dat looked at.
    search = [s for s in result.trace if s.block != "refine"]
    asked = sum(s.ask is Ask.YES for s in search)
    known = len(background) if any(s.ask is Ask.KNOWN for s in search) else 0
    if listens(base):  # its steps are where it ended, not what it asked on the way
        assert result.search_calls > bool(asked) or result.counterfactual in background
    else:
        assert result.search_calls == 1 + asked + known
    assert result.calls == result.search_calls + result.refine_calls
    assert result.amortised_calls == result.calls - known
    assert 1 <= result.distinct_calls <= result.calls
    assert result.iterations == max((s.iteration for s in search), default=0)
    # The dictionary form loses nothing.
    data = json.loads(json.dumps(result.to_dict()))
    assert Counterfactual.from_dict(data) == result
    assert data["calls"] == result.calls
    assert data["relative_distance"] == g.relative_distance(result.counterfactual)


@pytest.mark.parametrize("base", BASES)
@FEW
@given(suffix=st.sampled_from(SUFFIXES), case=problems(), seed=st.integers(0, 3))
def test_the_size_of_the_batches_changes_nothing(base, suffix, case, seed):
    method = base + suffix
    one = same(run(case, method, seed=seed, batch=1))
    for batch in (2, 64):
        assert same(run(case, method, seed=seed, batch=batch)) == one


@pytest.mark.parametrize("base", BASES)
@FEW
@given(suffix=st.sampled_from(SUFFIXES), case=problems(), budget=st.integers(1, 30))
def test_calls_never_exceed_the_budget(base, suffix, case, budget):
    method = base + suffix
    result = run(case, method, budget=budget)
    free = run(case, method)
    assert result.calls <= budget
    if result.status is Status.BUDGET:
        assert free.search_calls > budget
    elif listens(base) and any("budget" in note for note in result.notes):
        assert result.found
        assert free.calls >= result.calls  # it may have been done, and not known it
    else:
        assert result.status is free.status
        assert result.search_calls == free.search_calls
    if result.calls == free.calls and result.status is not Status.BUDGET:
        assert result.edits == free.edits
    assert same(run(case, method, budget=budget, batch=1)) == same(result)


@pytest.mark.parametrize("base", BASES)
@FEW
@given(suffix=st.sampled_from(SUFFIXES[1:]), case=problems())
def test_refinement_never_loses_the_flip_nor_adds_edits(base, suffix, case):
    search = make_method(base)
    rough = run(case, replace(search, refiners=()))
    refined = run(case, base + suffix)
    assert refined.found == rough.found
    assert refined.search_calls == rough.search_calls
    if rough.found:
        assert set(refined.added) <= set(rough.added)
        assert set(refined.removed) <= set(rough.removed)
        assert refined.distance >= 1
    else:
        assert refined.refine_calls == 0
        assert refined.minimal is None


def lost_alone(result: Counterfactual, oracle) -> bool:
    """The independent checker: undo each edit alone and ask the oracle itself."""
    for pair in (*result.added, *result.removed):
        edges = set(result.counterfactual.edges()) ^ {pair}
        label = oracle.predict([Graph.from_edges(result.original.n_nodes, sorted(edges))])[0]
        accepted = label != result.label_before if result.target is None else label == result.target
        if accepted:
            return False
    return True


@pytest.mark.parametrize("base", BASES)
@settings(max_examples=15)
@given(
    suffix=st.sampled_from(["+min", "+bw+min", "+bw1+min", "+min+bw", "+min+bw1"]),
    case=problems(),
    target=st.booleans(),
)
def test_the_certificate_of_minimality_is_true(base, suffix, case, target):
    g, oracle, _, background = case
    labels = sorted({str(y): y for y in oracle.predict(background)}.values(), key=str)
    others = [y for y in labels if y != oracle.predict([g])[0]]
    result = run(case, base + suffix, target=others[0] if target and others else None)
    if not result.found:
        assert result.minimal is None
    elif suffix.endswith("+min"):
        assert result.minimal is True
    if result.minimal:
        assert lost_alone(result, oracle)


@pytest.mark.parametrize("base", BASES)
@FEW
@given(case=problems(), budget=st.integers(2, 12))
def test_an_interrupted_refinement_claims_nothing(base, case, budget):
    result = run(case, base + "+min", budget=budget)
    if result.found and result.minimal:
        assert lost_alone(result, case[1])
    if result.found and not result.minimal:
        assert any("budget" in note for note in result.notes)


@dataclass
class Recorder:
    """An oracle that remembers which graphs it was asked about."""

    inner: HashOracle | WeightOracle
    asked: list[Graph] = field(default_factory=list)

    def predict(self, graphs):
        self.asked.extend(graphs)
        return self.inner.predict(graphs)


@pytest.mark.parametrize("base", ["cli", "rcli", "blocks", "obs"])
@FEW
@given(case=problems(min_nodes=5, max_nodes=8))
def test_whole_structures_are_tried_before_pairs(base, case):
    rough = run(case, replace(make_method(base), refiners=()))
    assume(rough.found)
    # Which structure owns each edit of the rough result: the one that touched it last.
    owner = {p: i for i, step in enumerate(rough.trace) for p in step.toggled}
    groups: dict[int, set] = {}
    for pair in rough.edits.pairs:
        groups.setdefault(owner[pair], set()).add(pair)
    tried = []
    undo = Candidate.undo_first

    def recorded(self, choices, structure="edge"):
        made = []

        def noted():
            for pairs in choices:
                made.append(list(pairs))
                yield made[-1]

        asked = self.session.calls
        got = undo(self, noted(), structure)
        tried.extend((structure, set(p)) for p in made[: self.session.calls - asked])
        return got

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Candidate, "undo_first", recorded)
        run(case, replace(make_method(base), refiners=(MinimalRefine(),)))
    kinds = [kind for kind, _ in tried]
    assert kinds == sorted(kinds, key=["structure", "edge"].index)
    if 1 < len(groups) < rough.distance:
        assert kinds[0] == "structure"
        for kind, pairs in tried:
            if kind == "structure":
                assert all(g <= pairs or not g & pairs for g in groups.values())


@pytest.mark.parametrize("method", ["tri", "cli+min", "edg", "obs", "dat+bw", "blocks"])
@FEW
@given(case=problems())
def test_targets_are_reached_or_not_but_never_missed(method, case):
    g, _, nodes, background = case
    oracle = HashOracle(seed=len(background), rare=2, n_labels=4)
    label = oracle.label(g)
    for target in range(4):
        result = explain(g, oracle, method, nodes=nodes, background=background, target=target)
        assert result.target == target
        if target == label:
            assert result.status is Status.NOT_NEEDED
            assert result.calls == 1
            assert result.distance == 0
        elif result.found:
            assert oracle.label(result.counterfactual) == target
        else:
            assert result.label_after != target


@pytest.mark.parametrize("method", ["edg", "obs", "dbs", "dat+bw", "tri+bw", "cli+bw"])
@FEW
@given(case=problems(min_nodes=4), seed=st.integers(0, 50))
def test_the_same_seed_gives_the_same_result(method, case, seed):
    assert same(run(case, method, seed=seed)) == same(run(case, method, seed=seed))


@FEW
@given(case=problems(min_nodes=3), renumber=st.randoms(use_true_random=False))
def test_counts_do_not_depend_on_how_the_nodes_are_numbered(case, renumber):
    """With an oracle that looks at the number of edges alone, only counts can matter."""
    g, _, nodes, background = case
    new = list(range(g.n_nodes))
    renumber.shuffle(new)

    def moved(h: Graph) -> Graph:
        return Graph.from_edges(h.n_nodes, [(new[u], new[v]) for u, v in h.edges()])

    def label(a):
        return int(a.sum() / 2) // 3

    for method in ("tri", "dat"):
        results = [
            run((h, label, nodes, several), method)
            for h, several in ((g, background), (moved(g), [moved(x) for x in background]))
        ]
        a, b = results
        assert (a.status, a.calls, a.distance, a.iterations) == (
            b.status,
            b.calls,
            b.distance,
            b.iterations,
        )


@FEW
@given(case=problems())
def test_a_background_is_labelled_once(case):
    g, oracle, nodes, graphs = case
    recorder = Recorder(oracle)
    background = Background(graphs)
    for method in ("dat", "con", "dbs"):
        run((g, recorder, nodes, background), method)
    own = {h.digest for h in graphs}
    first = [h.digest for h in recorder.asked if h.digest in own]
    recorder.asked.clear()
    run((g, recorder, nodes, background), "dat")
    again = [h for h in recorder.asked if h.digest in own]
    assert set(first) == own
    # Of the background only the graph itself, and the result to be confirmed, are asked again.
    assert len(again) <= 4
