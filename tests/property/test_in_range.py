"""What is marked in range is in range, counted anew from the graphs.

The conditions are written here a second time, from their definition, with sets of pairs. Nothing
of `denseflip.search.claims` is used.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats

from denseflip import Background, Constraints, Graph, Nodes, Story, describe, explain
from denseflip.counterfactual import Status
from denseflip.metrics import MEASURES, Case
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.session import Session
from denseflip.search.claims.intervals import hedges_g, prediction_interval

N = 24
THIRDS = tuple("ABC"[v // 8] for v in range(N))
NODES = Nodes(
    tuple(f"n{v}" for v in range(N)),
    regions={"third": THIRDS, "side": tuple("LR"[v % 2] for v in range(N))},
)
PAIRS = list(itertools.combinations(range(N), 2))


# ---- random cohorts -----------------------------------------------------------------------


@dataclass(frozen=True)
class Cohort:
    """Graphs of two groups, and a rule by the nodes' names that tells most of them apart."""

    seed: int
    steady: bool = True  # whether all graphs have the same number of edges
    per_class: int = 7
    strength: float = 0.25

    @property
    def graphs(self) -> list[Graph]:
        rng = np.random.default_rng(self.seed)
        cells = {tuple(sorted((THIRDS[u], THIRDS[v]))) for u, v in PAIRS}
        shift = {cell: rng.choice([-1, 0, 0, 1]) * self.strength for cell in sorted(cells)}
        out = []
        for label in (0, 1):
            for _ in range(self.per_class):
                odds = np.array(
                    [0.3 + label * shift[tuple(sorted((THIRDS[u], THIRDS[v])))] for u, v in PAIRS]
                )
                n_edges = 85 if self.steady else int(rng.integers(60, 110))
                waits = rng.exponential(size=len(PAIRS)) / np.maximum(odds, 0.01)
                chosen = np.argsort(waits)[:n_edges]
                out.append(Graph.from_edges(N, [PAIRS[i] for i in chosen]))
        return out

    def oracle(self, nodes: Nodes = NODES):
        """A weighted number of edges by cell, with the threshold between the groups."""
        rng = np.random.default_rng([self.seed, 1])
        cells = sorted({tuple(sorted(pair)) for pair in itertools.product("ABC", repeat=2)})
        graphs = self.graphs
        means = [
            {c: statistics.fmean(_cell_count(g, c) for g in group) for c in cells}
            for group in (graphs[: self.per_class], graphs[self.per_class :])
        ]
        weight = {c: means[1][c] - means[0][c] + rng.normal(scale=0.5) for c in cells}
        middle = statistics.fmean(sum(m[c] * weight[c] for c in cells) for m in means)
        thirds = [THIRDS[int(name[1:])] for name in nodes.names]
        n = nodes.n_nodes
        table = np.array(
            [[weight[tuple(sorted((thirds[u], thirds[v])))] for v in range(n)] for u in range(n)]
        )
        return as_oracle(lambda a: int((np.triu(a, 1) * table).sum() > middle))


@dataclass(frozen=True)
class Spread(Cohort):
    """Two groups that differ in single pairs all over the graph, so that cells do not suffice."""

    strength: float = 0.4

    @property
    def graphs(self) -> list[Graph]:
        rng = np.random.default_rng(self.seed)
        shift = rng.uniform(-self.strength, self.strength, size=len(PAIRS))
        out = []
        for label in (-1, 1):
            for _ in range(self.per_class):
                n_edges = 85 if self.steady else int(rng.integers(78, 92))
                waits = rng.exponential(size=len(PAIRS)) / np.clip(0.4 + label * shift, 0.02, 1)
                chosen = np.argsort(waits)[:n_edges]
                out.append(Graph.from_edges(N, [PAIRS[i] for i in chosen]))
        return out

    def oracle(self, nodes: Nodes = NODES):
        """A weighted number of edges by pair, with the threshold between the groups."""
        at = {name: i for i, name in enumerate(NODES.names)}
        old = [at[name] for name in nodes.names]
        groups = [np.zeros((N, N)), np.zeros((N, N))]
        for i, graph in enumerate(self.graphs):
            for u, v in graph.edges():
                groups[i >= self.per_class][[u, v], [v, u]] += 1 / self.per_class
        table = (groups[1] - groups[0])[np.ix_(old, old)]
        middle = float((np.triu(groups[0] + groups[1], 1) * (groups[1] - groups[0])).sum() / 2)
        return as_oracle(lambda a: int((np.triu(a, 1) * table).sum() > middle + 1e-9))


def _cell_count(graph: Graph, cell: tuple[str, ...]) -> int:
    return sum(tuple(sorted((THIRDS[u], THIRDS[v]))) == cell for u, v in graph.edges())


_SEEDS, _SIZES = st.integers(0, 10_000), st.integers(4, 9)
spread = st.builds(Spread, _SEEDS, st.booleans(), _SIZES, st.sampled_from([0.2, 0.3, 0.4]))
cohorts = spread | st.builds(
    Cohort, _SEEDS, st.booleans(), _SIZES, st.sampled_from([0.1, 0.18, 0.25])
)


def run(cohort: Cohort, graph: int = 0, nodes: Nodes = NODES, graphs=None, **options):
    graphs = cohort.graphs if graphs is None else graphs
    oracle = cohort.oracle(nodes)
    background = Background(graphs)
    result = explain(graphs[graph], oracle, nodes=nodes, background=background, **options)
    if not result.found:
        return result, None, graphs, oracle
    story = describe(
        result,
        nodes,
        oracle,
        background=background,
        constraints=options.get("constraints"),
    )
    return result, story, graphs, oracle


# ---- the definition, a second time --------------------------------------------------------


def interval(counts: list[int], size: int) -> tuple[float, float]:
    """The 95 % prediction interval of one more member (below 40)."""
    n = len(counts)
    spread = max(statistics.stdev(counts), 0.5) * math.sqrt(1 + 1 / n)
    low, high = stats.t.interval(0.95, n - 1, loc=statistics.fmean(counts), scale=spread)
    return max(low, 0), min(high, size)


def between(value: float, ends: tuple[float, float]) -> bool:
    return ends[0] - 1e-9 <= value <= ends[1] + 1e-9


def ends_well(before: int, after: int, ends: tuple[float, float]) -> bool:
    """Inside the interval; or, if it began outside, nearer to it and not beyond it."""
    low, high = ends
    return between(after, (min(low, before), high) if before < low else (low, max(high, before)))


def pairs_of(place: tuple[str, ...], nodes: Nodes, regions: str | None) -> set[tuple[int, int]]:
    pairs = itertools.combinations(range(nodes.n_nodes), 2)
    if regions is None:
        names = nodes.names
        return {
            pair for pair in pairs if place[0].removeprefix("node ") in map(names.__getitem__, pair)
        }
    taxonomy = nodes.taxonomy(regions)
    label = [taxonomy.regions[i] for i in taxonomy.index]
    if place[-1] == "all regions":
        return {(u, v) for u, v in pairs if place[0] in (label[u], label[v])}
    wanted = sorted(place if len(place) == 2 else place * 2)
    return {(u, v) for u, v in pairs if sorted((label[u], label[v])) == wanted}


def meant(pairs, reading: str, adding: bool, same: list[set], group: list[set]):
    """The pairs of a place that the reading means."""

    def share(pair, edges):
        return sum(pair in one for one in edges) / len(edges) if edges else 0.0

    if reading == "any":
        return pairs
    if reading == "typical":
        return {p for p in pairs if (share(p, group) > 0 if adding else share(p, group) < 1)}
    sign = 1 if adding else -1
    return {p for p in pairs if sign * (share(p, group) - share(p, same)) > 1e-12}


def judge(result, nodes, graphs, oracle) -> list[bool | None]:
    """Whether each named place of a result is in range, from nothing but graphs and names."""
    test = result.as_read
    labels = [oracle.predict([graph])[0] for graph in graphs]
    same = [set(g.edges()) for g, y in zip(graphs, labels, strict=True) if y == result.label_before]
    group = [set(g.edges()) for g, y in zip(graphs, labels, strict=True) if y == result.label_after]
    old, new = set(result.original.edges()), set(result.counterfactual.edges())
    if len(group) < 3:
        return [None] * len(test.places)
    total = [len(edges) for edges in group]
    if test.balanced:
        whole = len(new) == len(old)
    else:
        n_pairs = nodes.n_nodes * (nodes.n_nodes - 1) // 2
        low, high = interval(total, n_pairs)
        whole = between(len(new), (min(math.ceil(low), len(old)), max(math.floor(high), len(old))))
    out = []
    for place in test.places:
        pairs = pairs_of(place, nodes, test.regions)
        added, removed = len((new - old) & pairs), len((old - new) & pairs)
        fine = whole and ends_well(
            len(old & pairs),
            len(new & pairs),
            interval([len(edges & pairs) for edges in group], len(pairs)),
        )
        fine = fine and added <= max(len((edges - old) & pairs) for edges in group)
        fine = fine and removed <= max(len((old - edges) & pairs) for edges in group)
        for number, adding in ((added, True), (removed, False)):
            if not number or test.reading == "any":
                continue
            these = meant(pairs, test.reading, adding, same, group)
            low, high = interval([len(edges & these) for edges in group], len(these))
            now = len(old & these)
            fine = fine and (now + number <= high + 1e-9 if adding else now - number >= low - 1e-9)
        out.append(bool(fine))
    return out


def check(result, story, nodes, graphs, oracle, *, must: bool = False) -> None:
    """The marks of a result are those of the definition."""
    assert result.as_read is not None
    if result.as_read.language == "pairs":
        assert story.in_range is None
        assert not must
        return
    anew = judge(result, nodes, graphs, oracle)
    names = [there.place for there in story.reference]
    assert sorted(names) == sorted(result.as_read.places)
    found = dict(zip(result.as_read.places, anew, strict=True))
    assert [found[name] for name in names] == [there.in_range for there in story.reference]
    assert story.in_range == (None if None in anew else all(anew))
    assert all(anew) or not must
    if result.as_read.balanced:
        assert result.counterfactual.n_edges == result.original.n_edges


SETTINGS = settings(max_examples=25, deadline=None)


# ---- one region with all regions ----------------------------------------------------------


def is_wide(result) -> bool:
    return result.as_read is not None and any("all regions" in p for p in result.as_read.places)


@pytest.mark.parametrize("method", ["auto", "brief"])
@pytest.mark.parametrize("in_range", ["prefer", "require"])
def test_a_region_with_all_regions_is_named_where_cells_do_not_suffice(method, in_range):
    wide = 0
    for seed in range(8):
        cohort = Spread(seed, per_class=8, strength=0.2)
        result, story, graphs, oracle = run(cohort, method=method, in_range=in_range)
        assert story is not None
        check(result, story, NODES, graphs, oracle, must=True)
        if not is_wide(result):
            continue
        wide += 1
        (place,) = result.as_read.places  # alone: two such places would share pairs
        inside = pairs_of(place, NODES, result.as_read.regions)
        assert f"between {place[0]} and all regions" in story.statement
        # What is not named balances what is.
        changed = {*result.added, *result.removed}
        (named,) = story.claim.amounts
        assert len(changed & inside) == named.total
        assert len(changed - inside) == abs(named.added - named.removed)
        # The file has it all.
        again = Story.from_dict(json.loads(json.dumps(story.to_dict())))
        assert again.statement == story.statement
        assert again.claim == story.claim
    assert wide >= 3


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_no_query_of_a_wider_place_is_out_of_range(seed):
    """Every graph that a search in range asks about keeps the number of edges."""
    cohort = Spread(seed, per_class=8, strength=0.2)
    graphs, rule = cohort.graphs, cohort.oracle()
    seen: list[Graph] = []

    def look(one: Graph) -> int:
        seen.append(one)
        return rule.predict([one])[0]

    result = explain(
        graphs[0],
        as_oracle(look, "graph"),
        nodes=NODES,
        background=Background(graphs),
        in_range="require",
    )
    assert result.found
    assert {one.n_edges for one in seen} == {graphs[0].n_edges}
    edges = [set(g.edges()) for g in graphs if rule.predict([g])[0] == result.label_after]
    old = set(graphs[0].edges())
    if is_wide(result):
        inside = pairs_of(result.as_read.places[0], NODES, result.as_read.regions)
        most = max(len((one - old) & inside) for one in edges)
        new = set(result.counterfactual.edges())
        assert len((new - old) & inside) <= most


def test_cells_in_which_the_classes_clearly_differ_are_not_replaced():
    """A planted pair of regions is named, even if one region with all regions would be shorter."""
    named = set()
    for seed in range(4):
        result, *_ = run(Cohort(seed, per_class=8))
        if result.found and result.as_read is not None:
            named |= {name for place in result.as_read.places for name in place}
    assert named
    assert "all regions" not in named


# ---- properties ---------------------------------------------------------------------------


@SETTINGS
@given(cohorts, st.integers(0, 3), st.sampled_from(["auto", "brief"]))
def test_what_is_marked_in_range_is(cohort, graph, method):
    result, story, graphs, oracle = run(cohort, graph, method=method)
    if story is not None and result.as_read is not None:
        check(result, story, NODES, graphs, oracle)


@settings(max_examples=10, deadline=None)
@given(cohorts, st.integers(0, 3), st.sampled_from(["prefer", "require"]))
def test_the_same_in_the_language_of_nodes(cohort, graph, in_range):
    result, story, graphs, oracle = run(cohort, graph, language="nodes", in_range=in_range)
    if story is not None:
        check(result, story, NODES, graphs, oracle, must=in_range == "require")


@settings(max_examples=6, deadline=None)
@given(cohorts, st.permutations(range(N)))
def test_renumbered_nodes(cohort, new):
    old = [new.index(v) for v in range(N)]
    nodes = Nodes(
        tuple(NODES.names[v] for v in old),
        regions={name: tuple(NODES.regions[name][v] for v in old) for name in NODES.regions},
    )
    graphs = [
        Graph.from_edges(N, [(new[u], new[v]) for u, v in graph.edges()]) for graph in cohort.graphs
    ]
    result, story, _, oracle = run(cohort, 0, nodes, graphs)
    if story is not None:
        check(result, story, nodes, graphs, oracle)
    # A claim does not change its marks if its nodes get other numbers.
    first, told, _, _ = run(cohort)
    if told is None or first.as_read.language == "pairs":
        return
    edits = [
        tuple(sorted(tuple(sorted((new[u], new[v]))) for u, v in side))
        for side in (first.added, first.removed)
    ]
    moved = replace(
        first,
        original=graphs[0],
        edits=type(first.edits)(*edits),
        trace=tuple(
            step._replace(toggled=tuple(tuple(sorted((new[u], new[v]))) for u, v in step.toggled))
            for step in first.trace
        ),
    )
    again = describe(moved, nodes, oracle, background=Background(graphs))
    assert again.in_range == told.in_range
    places = [
        {frozenset(there.place): replace(there, place=()) for there in one.reference}
        for one in (told, again)
    ]
    assert places[0] == places[1]


LIMITS = [
    Constraints(freeze=("n0", "n9")),
    Constraints(only="add"),
    Constraints(max_edits=12),
    Constraints(max_cells=2),
]


@settings(max_examples=16, deadline=None)
@given(cohorts, st.sampled_from(LIMITS), st.sampled_from(["prefer", "require"]))
def test_with_constraints(cohort, constraints, in_range):
    result, story, graphs, oracle = run(cohort, constraints=constraints, in_range=in_range)
    if story is None:
        return
    if constraints.max_edits is not None:
        assert result.distance <= constraints.max_edits
    frozen = {NODES.names.index(name) for name in constraints.freeze}
    assert not any({u, v} & frozen for u, v in (*result.added, *result.removed))
    if result.as_read is not None:
        check(result, story, NODES, graphs, oracle, must=in_range == "require")


@SETTINGS
@given(
    cohorts,
    st.sampled_from(["auto", "brief", "best"]),
    st.sampled_from([None, 40, 150, 400]),
    st.booleans(),
)
def test_require_never_gives_anything_else(cohort, method, budget, front):
    result, story, graphs, oracle = run(
        cohort, method=method, in_range="require", budget=budget, front=front
    )
    if story is None:
        assert result.status in {Status.EXHAUSTED, Status.BUDGET}
        assert result.notes
        assert not result.edits
        return
    for one in (result, *result.front):
        assert one.as_read is not None
        told = describe(one, NODES, oracle, background=Background(graphs))
        check(one, told, NODES, graphs, oracle, must=True)


@pytest.mark.parametrize(
    "cohort",
    [*(Cohort(seed) for seed in (0, 1, 3, 4)), *(Spread(seed, strength=0.2) for seed in (0, 1))],
)
def test_require_and_what_changes_an_answer_afterwards(cohort):
    for options in ({"method": "brief+min"}, {"robust": 0.8}, {"n": 3}, {"plausible": True}):
        result, story, graphs, oracle = run(cohort, in_range="require", **options)
        if story is None:
            assert result.notes
            continue
        for one in (result, *result.diverse):
            assert one.as_read is not None
            told = describe(one, NODES, oracle, background=Background(graphs))
            check(one, told, NODES, graphs, oracle, must=True)


@SETTINGS
@given(cohorts, st.integers(0, 3))
def test_balanced_claims_keep_the_number_of_edges_in_every_redraw(cohort, graph):
    seen: list[Graph] = []
    cohort = replace(cohort, steady=True)
    graphs, rule = cohort.graphs, cohort.oracle()
    result = explain(
        graphs[graph], rule, nodes=NODES, background=Background(graphs), in_range="require"
    )
    assume(result.found)
    assert result.as_read.balanced

    def look(one: Graph) -> int:
        seen.append(one)
        return rule.predict([one])[0]

    session = Session(as_oracle(look, "graph"))
    labels = [rule.predict([one])[0] for one in graphs]
    case = Case(
        result,
        regions=NODES.taxonomy(),
        background=list(zip(graphs, labels, strict=True)),
        session=session,
        nodes=NODES,
        draws=30,
    )
    assert MEASURES["as_read"](case) is not None
    assert MEASURES["in_range"](case) == 1
    assert MEASURES["level"](case) in (True, False)
    assert len(seen) >= 10  # equal redraws are queried once
    assert {one.n_edges for one in seen} == {graphs[graph].n_edges}


# ---- figures ------------------------------------------------------------------------------

counts = st.lists(st.integers(0, 60), min_size=3, max_size=60)


@given(counts, st.integers(60, 200))
@example([5, 5, 5], 60)
def test_the_interval_against_scipy(values, size):
    low, high = (int(end) for end in prediction_interval(values, size))
    n = len(values)
    if n >= 40:
        ends = stats.mstats.mquantiles(values, [0.025, 0.975], alphap=1, betap=1)
    else:
        ends = interval(values, size)
    assert 0 <= low <= high <= size
    assert low == max(0, math.ceil(ends[0] - 1e-9))
    assert high == max(low, min(size, math.floor(ends[1] + 1e-9)))


@given(
    st.lists(st.integers(0, 60), min_size=2, max_size=20),
    st.lists(st.integers(0, 60), min_size=2, max_size=20),
)
def test_effect_sizes_against_scipy(one, other):
    """Hedges' g is the t statistic of the two groups, rescaled."""
    n, m = len(one), len(other)
    pooled = math.sqrt(
        ((n - 1) * statistics.variance(one) + (m - 1) * statistics.variance(other)) / (n + m - 2)
    )
    g = float(hedges_g(np.array(one, float), np.array(other, float)))
    small = 1 - 3 / (4 * (n + m) - 9)
    if pooled >= 0.5:
        t = stats.ttest_ind_from_stats(
            *(f(x) for x in (one, other) for f in (statistics.fmean, statistics.stdev, len))
        ).statistic
        assert g == pytest.approx(small * t * math.sqrt(1 / n + 1 / m), abs=1e-9)
    else:
        apart = statistics.fmean(one) - statistics.fmean(other)
        assert g == pytest.approx(small * apart / 0.5)


@given(st.lists(st.integers(0, 60), min_size=3, max_size=39), st.integers(0, 60))
def test_z_against_crawford_and_howell(values, after):
    """A count is inside the interval exactly if its t is below the quantile of Student's t."""
    from denseflip.search.claims.reference import PlaceReference

    place = PlaceReference(("A", "B"), 60, 0, after, tuple(sorted(values)), ())
    spread = max(statistics.stdev(values), 0.5)
    t = (after - statistics.fmean(values)) / (spread * math.sqrt(1 + 1 / len(values)))
    assert place.z == pytest.approx(t)
    low, high = prediction_interval(values, 60)
    critical = stats.t.ppf(0.975, len(values) - 1)
    assume(abs(abs(t) - critical) > 1e-9)
    assert (abs(t) < critical) == (low <= after <= high)


# ---- robust, several answers, one direction -------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(cohorts, st.sampled_from(["prefer", "require"]), st.sampled_from([0.6, 0.9]))
def test_a_robust_answer_stays_in_range(cohort, in_range, level):
    plain, _, _, _ = run(cohort, in_range=in_range)
    result, story, graphs, oracle = run(cohort, in_range=in_range, robust=level, noise=0.02)
    if story is None:
        assert not plain.found
        return
    assert result.robustness is not None
    left = any("may be out of range" in note for note in result.notes)
    if result.as_read is not None:
        check(result, story, NODES, graphs, oracle, must=in_range == "require")
    else:
        assert in_range == "prefer"
    if plain.as_read.language != "pairs" and all(judge(plain, NODES, graphs, oracle)) and not left:
        assert story.in_range
        assert story.true_as_read


@settings(max_examples=6, deadline=None)
@given(cohorts)
def test_every_one_of_several_answers_has_the_marks_of_the_definition(cohort):
    result, story, graphs, oracle = run(cohort, n=3, in_range="require")
    for one in result.diverse if story is not None else ():
        told = describe(one, NODES, oracle, background=Background(graphs))
        check(one, told, NODES, graphs, oracle, must=True)


@pytest.mark.parametrize("only", ["add", "remove"])
@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_one_direction_keeps_the_places_in_range_and_says_that_the_number_is_not(seed, only):
    cohort, terms = Cohort(seed), {"only": only}
    _, story, _, _ = run(cohort, constraints=terms)
    strict, none, _, _ = run(cohort, constraints=terms, in_range="require")
    assert none is None
    assert strict.status is Status.EXHAUSTED
    assert any("so no such answer is in range" in note for note in strict.notes)
    if story is None or not story.reference:
        return
    assert story.in_range is False
    if all(place.is_inside for place in story.reference):
        assert any("alone cannot keep it" in note for note in story.footnotes)
    else:
        assert any(note.startswith("Out of range") for note in story.footnotes)
