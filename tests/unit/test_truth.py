"""Truth as read: what a sentence asserts, and redraws of it against what can be counted by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from denseflip.counterfactual import AsRead, Counterfactual, Status, Step
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.graph import Edits, Graph, Nodes, Taxonomy
from denseflip.metrics import MEASURES, Case, Planted, as_read
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.session import Session
from denseflip.search.claims.redraw import claim_of

PARTS = ("A", "A", "A", "B", "B", "B", "C", "C")
REGIONS = Taxonomy.from_labels("part", PARTS)
NODES = Nodes(
    tuple("abcdefgh"), regions={"part": PARTS, "half": tuple("WWWWEEEE"), "all": ("X",) * 8}
)
EMPTY = Graph.from_edges(8, [])
BETWEEN = [(u, v) for u in (0, 1, 2) for v in (3, 4, 5)]  # the nine pairs of A – B


def found(added=(), removed=(), original=EMPTY, **facts) -> Counterfactual:
    facts = {"label_before": 0, "label_after": 1, **facts}
    edits = Edits(tuple(added), tuple(removed))
    return Counterfactual(Status.FOUND, original, edits, **facts)


def many(least: int):
    """Flips when so many pairs of A – B are joined: whichever they are."""
    return as_oracle(lambda a: int(a[:3, 3:6].sum() >= least))


def only(*pairs):
    """Flips when just these are joined."""
    return as_oracle(lambda a: int(all(a[p] for p in pairs)))


def test_what_holds_for_any_pairs_is_true_and_what_needs_these_is_not():
    three = found(BETWEEN[:3])
    test = as_read(three, many(3), REGIONS)
    assert test == AsRead("regions", "part", "any", 20, 20)
    assert not as_read(three, only(*BETWEEN[:3]), REGIONS).true


def test_the_share_is_that_of_all_choices():
    # Of the 84 choices of three out of nine, those that hold the first pair: a third.
    pair = BETWEEN[0]
    exact = np.mean([pair in some for some in combinations(BETWEEN, 3)])
    assert exact == pytest.approx(1 / 3)
    test = as_read(found(BETWEEN[:3]), only(pair), REGIONS, draws=3000)
    # The sentence is the same whichever pairs are meant: 3 connections of A – B.
    assert test.share == pytest.approx(exact, abs=0.03)


def test_additions_and_removals_are_redrawn_in_their_own_cells_and_numbers():
    original = Graph.from_edges(8, [*BETWEEN, (6, 7)])
    seen = []

    def look(graph):
        seen.append((len(set(original.edges()) - set(graph.edges())), graph.has_edge(6, 7)))
        return int(graph.n_edges < 10)

    result = found([(0, 1)], [*BETWEEN[:2], (6, 7)], original)
    asked = as_oracle(look, "graph")
    claim = claim_of(result, Session(asked), REGIONS)
    # The two of A – B are enough: nine edges to seven.
    assert claim.amounts == (((0, 1), 0, 2),)
    seen.clear()
    as_read(result, asked, REGIONS, draws=30)
    drawn = [x for x in seen if x[1]][-30:]
    assert set(drawn) == {(2, True)}


def test_the_shortest_sentence_leaves_out_cells_that_are_full_but_idle():
    # A – B holds most edits and does nothing; C does it all.
    result = found([*BETWEEN[:4], (6, 7)])
    claim = claim_of(result, Session(only((6, 7))), REGIONS)
    assert claim.region_sets == (frozenset({"C"}),)
    case = Case(result, regions=REGIONS, session=Session(only((6, 7))))
    assert MEASURES["statement_pairs"](case) == MEASURES["cells"](case) == 1
    assert MEASURES["as_read"](case) == 1  # C has one pair only
    assert MEASURES["told"](case) is True


def test_more_than_five_cells_are_not_told():
    singles = Taxonomy.from_labels("node", tuple("abcdefgh"))
    asked = as_oracle(lambda a: int(a.sum() >= 12))
    six = found([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)])
    case = Case(six, regions=singles, session=Session(asked))
    assert MEASURES["cells"](case) == 6
    assert MEASURES["as_read"](case) == 1
    assert MEASURES["told"](case) is False
    assert MEASURES["told"](replace(case, regions=NODES.taxonomy("all"))) is True


def test_without_regions_a_sentence_speaks_of_nodes():
    star = found([(0, v) for v in range(1, 5)])
    busy = as_oracle(lambda a: int(a[0].sum() >= 3))
    case = Case(star, session=Session(busy))
    assert case.claim.spoken == "nodes"
    assert case.claim.amounts == (((0, None), 4, 0),)
    assert MEASURES["as_read"](case) == 1
    assert MEASURES["told"](case) is True


def test_a_reading_draws_what_the_target_class_has():
    pair = BETWEEN[0]
    background = [(Graph.from_edges(8, [pair]), 1), (EMPTY, 0)]
    result = found([pair])
    assert as_read(result, only(pair), REGIONS).share < 0.5
    typical = as_read(result, only(pair), REGIONS, reading="typical", background=background)
    # The class has no other such pair: one question says it all, and no more draws are claimed.
    assert typical == AsRead("regions", "part", "typical", 1, 1, only=True)
    assert typical.true
    assert typical.interval == (1.0, 1.0)
    case = Case(result, regions=REGIONS, session=Session(only(pair)), background=background)
    assert MEASURES["as_read"](case) < 0.5
    assert MEASURES["as_read_typical"](case) == 1
    assert case.true_reading == "typical"
    assert MEASURES["told"](case) is True
    # Both classes have the pair: typical still, but it sets nothing apart.
    common = [(Graph.from_edges(8, [pair]), 1), (Graph.from_edges(8, [pair]), 0)]
    assert as_read(result, only(pair), REGIONS, reading="distinctive", background=common).share == 0


def test_where_the_reading_has_too_few_pairs_nothing_is_true():
    background = [(Graph.from_edges(8, [BETWEEN[0]]), 1), (EMPTY, 0)]
    two = found(BETWEEN[:2])
    test = as_read(two, many(2), REGIONS, reading="typical", background=background)
    assert (test.draws, test.flips, test.true) == (20, 0, False)
    nobody = [(EMPTY, 0)]
    assert as_read(two, many(2), REGIONS, reading="typical", background=nobody).share == 0


def test_a_result_that_claims_a_language_is_tested_in_it_on_fresh_redraws():
    claimed = AsRead("regions", "half", "any", 20, 20)
    result = found(BETWEEN[:3], as_read=claimed)
    test = as_read(result, many(3), REGIONS, nodes=NODES)
    # Half W – half E has sixteen pairs, of which nine are A – B's (and A's with node 3): rarely.
    assert (test.regions, test.reading) == ("half", "any")
    assert test.flips < 20
    with pytest.raises(MissingInputError, match="described in the regions 'half'"):
        as_read(result, many(3), REGIONS)
    case = Case(result, regions=REGIONS, nodes=NODES, session=Session(many(3)))
    assert MEASURES["cells"](case) == len(case.claim.amounts) == 2  # W, and W – E
    assert MEASURES["as_read"](case) == test.share
    assert MEASURES["told"](case) is False


def test_the_node_that_was_meant_is_the_one_that_the_search_named():
    """One edit has two ends; which of them a sentence speaks of, the trace tells."""
    step = Step("densify", "block", ((3, 5),), name="f", iteration=1)
    told = found([(3, 5)], as_read=AsRead("nodes", None, "any", 20, 20), trace=(step,))
    busy = as_oracle(lambda a: int(a[5].sum() >= 1))
    case = Case(told, nodes=NODES, session=Session(busy))
    assert case.claim.amounts == (((5, None), 1, 0),)
    assert MEASURES["as_read"](case) == 1
    # Without names the node's number is the name; without a trace the first end is taken.
    numbered = replace(told, trace=(step._replace(name="5"),))
    assert claim_of(numbered, Session(busy)).amounts == case.claim.amounts
    bare = claim_of(replace(told, trace=()), Session(busy), nodes=NODES)
    assert bare.amounts == (((3, None), 1, 0),)
    elsewhere = replace(told, trace=(step._replace(name="a"),))
    assert claim_of(elsewhere, Session(busy), nodes=NODES).amounts == bare.amounts


def test_a_claimed_reading_is_the_one_that_counts():
    pair = BETWEEN[0]
    background = [(Graph.from_edges(8, [pair]), 1), (EMPTY, 0)]
    claimed = AsRead("regions", "part", "typical", 20, 20)
    facts = {"regions": REGIONS, "background": background, "session": Session(only(pair))}
    case = Case(found([pair], as_read=claimed), **facts)
    assert MEASURES["as_read"](case) == MEASURES["as_read_typical"](case) == 1
    wrong = Case(found([pair], as_read=replace(claimed, reading="any")), **facts)
    assert MEASURES["as_read"](wrong) < 0.5
    assert wrong.true_reading is None  # it claims any, and that does not hold
    assert MEASURES["told"](wrong) is False


@pytest.mark.parametrize(("n", "told"), [(5, True), (6, False)])
def test_a_list_of_pairs_leaves_nothing_open(n, told):
    listed = found(BETWEEN[:n], as_read=AsRead("pairs", None, "any", 0, 0))
    case = Case(listed, regions=REGIONS, session=Session(only(*BETWEEN[:n])))
    assert case.claim.spoken == "pairs"
    assert MEASURES["as_read"](case) is None
    assert MEASURES["cells"](case) == n
    assert MEASURES["told"](case) is told


def test_same_seed_same_figure_whatever_the_batches():
    result = found(BETWEEN[:3])
    shares = {
        as_read(result, Session(only(BETWEEN[0]), max_batch=batch), REGIONS, seed=5).share
        for batch in (1, 7, 500)
    }
    assert len(shares) == 1
    other = [as_read(result, only(BETWEEN[0]), REGIONS, seed=s).share for s in range(8)]
    assert len(set(other)) > 1


def test_the_measures_share_their_questions():
    asked = []

    def look(graph):
        asked.append(graph.key)
        return int(graph.n_edges >= 3)

    case = Case(found(BETWEEN[:3]), regions=REGIONS, session=Session(as_oracle(look, "graph")))
    assert MEASURES["as_read"](case) == 1
    seen = len(asked)
    for name in ("told", "cells", "as_read"):
        MEASURES[name](case)
    assert len(asked) == seen


def test_the_planted_pair_first_and_alone():
    asked = as_oracle(lambda a: int(a[:3, 3:6].sum() >= 2 and a[6, 7]))
    both = found([*BETWEEN[:2], (6, 7)])
    facts = {"regions": REGIONS, "session": Session(asked), "nodes": NODES}
    first = Case(both, planted=Planted("part", ("B", "A")), **facts)
    assert MEASURES["planted_first"](first) is True
    assert MEASURES["planted_alone"](first) is False
    other = Case(both, planted=Planted("part", ("C", "C")), **facts)
    assert MEASURES["planted_first"](other) is False
    alone = replace(first, result=found(BETWEEN[:2]), session=Session(many(2)))
    assert MEASURES["planted_alone"](alone) is True
    elsewhere = replace(alone, planted=Planted("half", ("B", "A")))
    assert MEASURES["planted_first"](elsewhere) is False
    assert MEASURES["planted_first"](replace(alone, planted=None)) is None


def test_bad_input():
    result = found(BETWEEN[:3])
    with pytest.raises(UnknownNameError, match=r"reading 'typicl'.*Did you mean 'typical'"):
        as_read(result, many(3), REGIONS, reading="typicl")
    with pytest.raises(MissingInputError, match="'typical' needs a background"):
        as_read(result, many(3), REGIONS, reading="typical")
    with pytest.raises(InvalidParameterError, match="draws must be a whole number, at least 1"):
        as_read(result, many(3), REGIONS, draws=0)
    with pytest.raises(InvalidParameterError, match="no edits"):
        as_read(found(), many(3), REGIONS)
    assert as_read(replace(result, status=Status.EXHAUSTED), many(3), REGIONS) is None


def test_only_redraws_of_the_class_that_is_named_count():
    """Of nine pairs three are joined: class 1 if the first is among them, else class 2."""

    def oracle(a):
        return 0 if a[:3, 3:6].sum() < 3 else 1 if a[BETWEEN[0]] else 2

    test = as_read(found(BETWEEN[:3]), as_oracle(oracle), REGIONS, draws=2000)
    assert test.share == pytest.approx(1 / 3, abs=0.04)
