from __future__ import annotations

import numpy as np

from cohorts import make_cohort
from denseflip.classifiers import pairwise
from denseflip.classifiers.features import DegreeFeatures, EdgeFeatures
from denseflip.classifiers.heads import LinearHead
from denseflip.classifiers.pairwise import PairScores
from denseflip.graph import Graph

BASE = Graph.from_edges(4, [(0, 1), (1, 2)])
# Weights of (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3).
HEAD = LinearHead(np.array([[1.0, 2.0, -4.0, 0.5, -0.25, 8.0]]), np.array([-1.0]))


def codes(*pairs):
    return np.array([u * 4 + v for u, v in pairs], dtype=np.int64)


def test_flips_add_or_take_away_a_weight():
    pairs = PairScores(HEAD, EdgeFeatures(), 4)
    edits = [
        codes(),  # 1 + 0.5 - 1 = 0.5
        codes((0, 1)),  # 0.5 - 1 = -0.5: an edge is taken away
        codes((0, 1), (0, 2)),  # -0.5 + 2 = 1.5
        codes((0, 3)),  # 0.5 - 4 = -3.5
        codes((1, 2)),  # 0.5 - 0.5 = 0: not more than 0, and too near to be sure
    ]
    positions, sure = pairs.decide_edits(BASE, edits)
    assert positions.tolist() == [1, 0, 1, 0, 0]
    assert sure.tolist() == [True, True, True, True, False]
    assert [pairs.decide_one(BASE, e) for e in edits] == [1, 0, 1, 0, None]
    changed = [BASE.toggle_codes(e) for e in edits]
    for asked in (changed, [Graph.from_edges(4, g.edges()) for g in changed]):
        positions, sure = pairs.decide(asked)
        assert positions[sure].tolist() == [1, 0, 1, 0]
        assert not sure[-1]


def test_several_classes_and_a_tie_of_the_two_best():
    """Scores by degree: class c counts the neighbours of node c."""
    head = LinearHead(np.eye(3, 4), np.zeros(3))
    pairs = PairScores(head, DegreeFeatures(), 4)
    # Degrees 1, 2, 1; with (2, 3) and (0, 2): 2, 2, 3; with (2, 3): 1, 2, 2.
    positions, sure = pairs.decide_edits(BASE, [codes(), codes((2, 3), (0, 2)), codes((2, 3))])
    assert positions.tolist() == [1, 2, 1]
    assert sure.tolist() == [True, True, False]
    assert pairs.decide_one(BASE, codes((2, 3), (0, 2))) == 2
    assert pairs.decide_one(BASE, codes((2, 3))) is None


def test_a_score_that_is_no_number_is_never_sure():
    head = LinearHead(np.array([[np.inf, 0.0, 0.0, -np.inf, 0.0, 0.0]]), np.zeros(1))
    with np.errstate(invalid="ignore"):
        pairs = PairScores(head, EdgeFeatures(), 4)
        for _ in range(2):
            assert not pairs.decide_edits(BASE, [codes((2, 3)), codes()])[1].any()
            assert pairs.decide_one(BASE, codes((2, 3))) is None


def test_few_bases_are_kept(monkeypatch):
    graphs = make_cohort().graphs
    head = LinearHead(np.random.default_rng(0).normal(size=(1, 66)), np.zeros(1))
    for table, kept in ((pairwise._TABLE, 8), (300, 2), (0, 8)):
        monkeypatch.setattr(pairwise, "_TABLE", table)
        pairs = PairScores(head, EdgeFeatures(), 12)
        for graph in graphs:
            pairs.decide_edits(graph, [np.array([1])])
        assert len(pairs._bases) == kept
        assert list(pairs._bases) == [id(g) for g in graphs[-kept:]]
