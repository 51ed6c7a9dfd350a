"""A portfolio over one session, and the few questions that say which search suits a classifier."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from denseflip import Background, Step, explain, make_method
from denseflip.counterfactual import AsRead, Status
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.graph import Graph, Nodes
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.session import Session
from denseflip.search.claims.verified_claim import pareto_front
from denseflip.search.core.probing import Probe
from denseflip.search.core.problem import Problem, Walk
from denseflip.search.methods.best import PAIRS, MemberAnswer, estimate_linearity
from graphs import complete, empty, graph, halves, path, two_cliques

N = 12
SIDES = Nodes(tuple(map(str, range(N))), {"side": ("Left",) * 6 + ("Right",) * 6})


def cohort(seed: int = 0, count: int = 16) -> list[Graph]:
    """Random graphs; those of odd number have more edges on the left."""
    rng = np.random.default_rng(seed)
    out = []
    for i in range(count):
        pairs = [
            (u, v)
            for u, v in combinations(range(N), 2)
            if rng.random() < (0.8 if i % 2 and v < 6 else 0.3)
        ]
        out.append(Graph.from_edges(N, pairs))
    return out


def left(a):
    """Many edges on the left: a rule that can be told."""
    return int(a[:6, :6].sum() / 2 > 8)


def probe_of(g, oracle, background):
    session = Session(coerce_oracle(oracle))
    problem = Problem(
        g,
        session.query(g).label,
        background=background and Background(background),
        label_background=lambda: [session.peek(h).label for h in background],
    )
    return Probe(problem, session)


# ---- steady or not ----------------------------------------------------------------------


def test_a_linear_rule_is_steady_and_a_parity_is_not():
    graphs = cohort()
    firm = probe_of(graphs[0], left, graphs)
    assert estimate_linearity(firm) >= 0.75
    assert firm.session.calls <= 1 + 12

    def exact(a):
        """Only the very graphs of the other class: no mixture is one of them."""
        return int(any((a == h.to_adjacency()).all() for h in graphs[1::2]))

    assert estimate_linearity(probe_of(graphs[0], exact, graphs)) == 0.0


def test_nothing_is_said_where_there_are_too_few_graphs():
    g = path(6)

    def many(a):
        return int(a.sum() > 12)

    assert estimate_linearity(probe_of(g, many, None)) is None
    assert estimate_linearity(probe_of(g, many, [g, empty(6)])) is None  # none of the other class
    assert estimate_linearity(probe_of(g, many, [g, complete(6)])) is None  # one
    assert estimate_linearity(probe_of(g, many, [complete(6), complete(6)])) is None  # one, twice
    two = [complete(6), complete(6).toggle([(0, 1)])]
    assert estimate_linearity(probe_of(g, many, two)) == 1.0


# ---- objectives -------------------------------------------------------------------------


def test_the_objective_decides():
    graphs = cohort()
    g = graphs[0]
    given = {"nodes": SIDES, "background": Background(graphs)}
    sentence = explain(g, left, "best", **given)
    assert sentence.chosen == "brief"
    assert sentence.as_read.true
    assert sentence.as_read.language == "regions"
    edits = explain(g, left, "best", objective="edits", **given)
    assert edits.as_read == PAIRS
    assert edits.minimal
    needed = 9 - int(g.to_adjacency()[:6, :6].sum() / 2)
    assert edits.distance == needed  # the optimum: each edge on the left counts one
    assert edits.distance <= sentence.distance
    balanced = explain(g, left, "best", objective="balanced", **given)
    cells = 1 if balanced.chosen == "brief" else balanced.distance
    assert balanced.distance * cells <= min(sentence.distance, edits.distance**2)


def test_it_says_what_each_member_gave():
    graphs = cohort()
    given = {"nodes": SIDES, "background": Background(graphs)}
    edits = explain(graphs[0], left, "best", objective="edits", **given)
    note = next(n for n in edits.notes if n.startswith("best: "))
    assert f"{edits.chosen} gave the best answer for 'edits'" in note
    for member in ("the background", "con", "race", "tight"):
        assert f" {member}, " in note
    told = explain(graphs[0], left, "best", **given)
    note = next(n for n in told.notes if n.startswith("best: "))
    assert "brief" in note
    assert "con, race and tight left out because a sentence is true as read" in note


def test_no_question_is_counted_twice():
    graphs = cohort()
    result = explain(
        graphs[0], left, "best", objective="edits", nodes=SIDES, background=Background(graphs)
    )
    assert result.distinct_calls == result.calls


def test_one_edit_ends_it():
    g = two_cliques()
    background = [g, path(8), complete(8), empty(8)]
    result = explain(g, lambda a: int(a[0, 1]), "best", objective="edits", background=background)
    assert result.removed == ((0, 1),)
    assert result.minimal
    assert result.calls < 40
    assert "tight" not in result.notes[0]


@pytest.mark.parametrize("objective", ["sentence", "edits", "balanced"])
def test_it_never_fails_where_the_background_has_an_answer(objective):
    g = path(6)
    other = graph(6, [(0, 2), (1, 3), (2, 4), (3, 5)])

    class Oracle:
        def predict(self, graphs):
            return [int(h == other) for h in graphs]

    for budget in (1, 2, 5, 20, None):
        result = explain(
            g,
            Oracle(),
            "best",
            objective=objective,
            nodes=halves(6),
            background=[g, other],
            budget=budget,
        )
        assert result.counterfactual == other
        assert budget is None or result.calls <= budget
        if budget in (1, 2):
            assert any("budget" in note for note in result.notes)


def test_without_a_background_or_regions_it_still_looks():
    result = explain(two_cliques(), lambda a: int(a[:4, :4].sum() > 9), "best")
    assert result.found
    assert result.distance == 2
    assert result.as_read == PAIRS
    nothing = explain(path(5), lambda a: 0, "best")
    assert nothing.status is Status.EXHAUSTED
    assert "race, no answer" in nothing.notes[0]


def test_wrong_objectives_are_told_the_right_ones():
    with pytest.raises(UnknownNameError, match=r"Unknown objective 'edit'\. Did you mean 'edits'"):
        make_method("best", objective="edit")
    with pytest.raises(UnknownNameError, match="objective"):
        explain(path(4), lambda a: 0, "best", objective="words")
    with pytest.raises(InvalidParameterError, match="max_cells"):
        make_method("best", max_cells=0)


# ---- the front --------------------------------------------------------------------------


def entry(cells: int, edits: int, reading: str | None) -> MemberAnswer:
    walk = Walk(Status.FOUND, path(3), 1)
    walk.as_read = PAIRS if reading is None else AsRead("regions", "side", reading, 20, 20)
    if reading is not None:
        walk.trace = [Step("densify", "block", (), name=str(i)) for i in range(cells)]
    return MemberAnswer("x", walk, edits)


def test_a_front_holds_what_nothing_beats():
    entries = [
        entry(2, 10, "any"),
        entry(1, 40, "any"),
        entry(1, 30, "typical"),
        entry(1, 40, "typical"),  # beaten by both of the above
        entry(0, 3, None),  # three pairs, listed: three places
        entry(0, 4, None),
        entry(2, 10, "any"),  # the same again
    ]
    kept = [entries[i].costs for i in pareto_front([one.costs for one in entries])]
    assert kept == [(1, 30, 1, 0), (1, 40, 0, 0), (2, 10, 0, 0), (3, 3, 3, 0)]


def test_the_front_of_a_result():
    graphs = [g.toggle([(6, 7)]) if g.has_edge(6, 7) else g for g in cohort()]

    def left_or_one_pair(a):
        return int(a[:6, :6].sum() / 2 + 3 * a[6, 7] > 8)

    given = {"nodes": SIDES, "background": Background(graphs)}
    result = explain(graphs[0], left_or_one_pair, "best", front=True, **given)
    assert {one.as_read.language for one in result.front} == {"pairs", "regions"}
    assert result.chosen == "brief"
    plain = explain(graphs[0], left_or_one_pair, "best", **given)
    assert result.edits == plain.edits  # the default answer stays the answer, and is offered
    assert plain.edits in [one.edits for one in result.front]
    assert result.front[0].added == ((6, 7),)
    for one in result.front:
        assert left_or_one_pair(one.counterfactual.to_adjacency()) == one.label_after == 1


def test_a_background_without_graphs_is_none():
    regions = {"half": ("A",) * 4 + ("B",) * 4}
    given = {"nodes": Nodes(tuple("abcdefgh"), regions=regions), "budget": 120}
    full = complete(8)
    without = explain(full, lambda a: int(a[:4, 4:].sum() > 5), "best", **given)
    nobody = explain(full, lambda a: int(a[:4, 4:].sum() > 5), "best", background=[], **given)
    assert without.found
    assert (nobody.edits, nobody.calls) == (without.edits, without.calls)
    assert nobody.notes == without.notes


@pytest.mark.parametrize("seed", range(4))
def test_it_is_never_worse_than_its_members(seed):
    graphs = cohort(seed)

    def rule(a):  # not linear: triangles count, too
        return bool(a[:6, :6].sum() + np.trace(a @ a @ a) / 3 > 40)

    def edits(method: str, **options: str) -> int:
        one = explain(graphs[0], rule, method, background=graphs, seed=seed, **options)
        assert one.found
        return one.distance

    best = edits("best", objective="edits")
    assert best <= min(edits("race"), edits("tight"))
