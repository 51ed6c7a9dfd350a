import math

import numpy as np
import pytest

from denseflip import metrics
from denseflip.counterfactual import Counterfactual, Status
from denseflip.errors import (
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
)
from denseflip.graph import Edits, Graph, Taxonomy
from denseflip.metrics.quality import verify_cells
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.session import Session

ORIGINAL = Graph.from_edges(6, [(0, 1), (1, 2), (0, 2), (3, 4)])
REGIONS = Taxonomy.from_labels("part", ("A", "A", "B", "B", "C", "C"))


def result(added=(), removed=(), *, status=Status.FOUND, **facts) -> Counterfactual:
    facts = {"label_before": 1, "label_after": 0, **facts}
    return Counterfactual(status, ORIGINAL, Edits(tuple(added), tuple(removed)), **facts)


FEW = result([(4, 5)], [(0, 1), (0, 2), (1, 2)])  # cells: CC 1, AA 1, AB 2


def test_regions_touched():
    assert metrics.regions_touched(FEW, REGIONS) == 3
    assert metrics.regions_touched(result(removed=[(0, 1)]), REGIONS) == 1
    assert metrics.regions_touched(result(), REGIONS) == 0


def test_fewest_regions_and_pairs_that_hold_the_edits():
    assert metrics.regions_to_cover(FEW, REGIONS, 0.75) == 2  # A and B hold three of four
    assert metrics.regions_to_cover(FEW, REGIONS, 0.8) == 3
    assert metrics.regions_to_cover(FEW, REGIONS, 0.25) == 1
    assert metrics.region_pairs_to_cover(FEW, REGIONS, 0.5) == 1
    assert metrics.region_pairs_to_cover(FEW, REGIONS, 0.8) == 3
    assert metrics.regions_to_cover(result(), REGIONS) is None
    assert metrics.region_pairs_to_cover(result(), REGIONS) is None
    with pytest.raises(InvalidParameterError, match="share must be"):
        metrics.regions_to_cover(FEW, REGIONS, 0)


def test_many_regions_are_covered_greedily_and_never_with_too_few():
    n = 40
    single = Taxonomy.from_labels("node", [str(i) for i in range(n)])
    graph = Graph.from_edges(n, [])
    star = Counterfactual(
        Status.FOUND, graph, Edits(tuple((0, i) for i in range(1, 21))), label_before=0,
        label_after=1,
    )  # fmt: skip
    assert metrics.regions_to_cover(star, single) == 17  # the hub and 16 of its 20 partners


def test_entropy_runs_from_one_region_to_all():
    assert metrics.region_entropy(result(removed=[(0, 1)]), REGIONS) == 0
    even = result([(0, 3), (1, 4), (3, 5)])
    assert metrics.region_entropy(even, REGIONS) == pytest.approx(1)
    assert metrics.region_entropy(result(), REGIONS) is None
    one = Taxonomy.from_labels("all", ("X",) * 6)
    assert metrics.region_entropy(even, one) == 0


def test_density_drift():
    assert metrics.density_drift(FEW) == 2 / 4
    empty = Counterfactual(Status.FOUND, Graph.from_edges(3, []), Edits(((0, 1),)), 0, 1)
    assert metrics.density_drift(empty) is None


def test_plausibility_is_the_distance_to_the_nearest_real_graph():
    made = result(removed=[(3, 4)])
    near, far = ORIGINAL, Graph.from_edges(6, [(4, 5)])
    assert metrics.plausibility(made, [far, near]) == made.counterfactual.relative_distance(near)
    assert metrics.plausibility(made, [made.counterfactual, far]) == 0
    assert metrics.plausibility(made, []) is None
    assert metrics.plausibility(result(removed=ORIGINAL.edges()), [Graph.from_edges(6, [])]) == 0


def test_plausibility_of_large_graphs_is_the_same_number(monkeypatch):
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(20, 1)
    graphs = [
        Graph.from_edges(20, np.column_stack((u, v))[rng.random(len(u)) < 0.3]) for _ in range(6)
    ]
    made = Counterfactual(Status.FOUND, graphs[0], Edits(), 0, 1)
    quick = metrics.plausibility(made, graphs[1:])
    monkeypatch.setattr("denseflip.metrics.quality._SMALL", 0)
    assert metrics.plausibility(made, graphs[1:]) == quick
    assert quick == min(graphs[0].relative_distance(g) for g in graphs[1:])


def test_robustness_is_seeded_and_counts_what_keeps_the_label():
    made = result([(4, 5)])
    always = as_oracle(lambda a: 0)
    never = as_oracle(lambda a: 1)
    half = as_oracle(lambda a: int(a[0, 1] == 0))
    assert metrics.robustness(made, always, 0.05) == 1
    assert metrics.robustness(made, never, 0.05) == 0
    shares = [metrics.robustness(made, half, 0.5, repeats=40, seed=s) for s in (1, 1, 2)]
    assert shares[0] == shares[1] != shares[2]
    assert 0.2 < shares[0] < 0.8
    with pytest.raises(InvalidParameterError, match="share must be"):
        metrics.robustness(made, always, 0)
    with pytest.raises(InvalidParameterError, match="repeats must be"):
        metrics.robustness(made, always, 0.1, repeats=0)


def test_perturbations_flip_exactly_the_asked_number_of_pairs():
    seen: list[int] = []
    made = result([(4, 5)])

    def look(graph: Graph) -> int:
        seen.append(made.counterfactual.distance(graph))
        return 0

    metrics.robustness(made, as_oracle(look, "graph"), 0.2, repeats=30)
    assert set(seen) == {3}  # a fifth of 15 pairs


def test_random_pairs_are_all_equally_likely_and_valid():
    from denseflip.graph.pairs import random_codes

    rng = np.random.default_rng(0)
    assert sorted(random_codes(7, 21, rng).tolist()) == [
        u * 7 + v for u in range(7) for v in range(u + 1, 7)
    ]
    big = random_codes(3000, 5000, rng)
    u, v = np.divmod(big, 3000)
    assert len(set(big.tolist())) == 5000
    assert (u < v).all()


def test_seed_stability_is_the_mean_jaccard():
    a, b = result([(4, 5)], [(0, 1)]), result([(4, 5)], [(0, 2)])
    lost = result([(3, 5)], status=Status.EXHAUSTED)
    assert metrics.seed_stability([a, a]) == 1
    assert metrics.seed_stability([a, b]) == pytest.approx(1 / 3)
    assert metrics.seed_stability([a, a, b, lost]) == pytest.approx((1 + 2 / 3) / 3)
    assert metrics.seed_stability([a, lost]) is None


def test_minimality_asks_for_every_edit():
    oracle = as_oracle(lambda a: int(a[0, 1] or a[0, 2]))
    needed = result(removed=[(0, 1), (0, 2)])
    assert metrics.is_minimal(needed, oracle)
    assert not metrics.is_minimal(result(removed=[(0, 1), (0, 2), (3, 4)]), oracle)
    assert metrics.is_minimal(result(removed=[(3, 4)], minimal=True), oracle)
    assert not metrics.is_minimal(result(status=Status.BUDGET), oracle)


def test_a_sentence_names_what_is_enough_and_nothing_before_it():
    oracle = as_oracle(lambda a: int(a[0, 1] or a[0, 2] or a[1, 2]))
    assert verify_cells(FEW, REGIONS, Session(oracle)) == (True, 2)  # AB and AA, not CC
    oracle = as_oracle(lambda a: int(a[0, 1]))
    assert verify_cells(FEW, REGIONS, Session(oracle)) == (True, 1)  # AA, though AB has more edits


def test_a_wanted_class_is_what_counts_as_a_flip():
    oracle = as_oracle(lambda a: int(a.sum() / 2))  # the number of edges
    made = result(removed=[(0, 1), (0, 2), (3, 4)], label_before=4, label_after=1, target=1)
    assert verify_cells(made, REGIONS, Session(oracle)) == (True, 3)


def test_a_sentence_that_never_flips_names_everything():
    assert verify_cells(FEW, REGIONS, Session(as_oracle(lambda a: 1))) == (False, 3)


def test_flip_rate_and_quartiles():
    found, lost = FEW, result([(3, 5)], status=Status.EXHAUSTED, label_before=0)
    assert metrics.flip_rate([found, lost]) == 0.5
    assert metrics.flip_rate([found, lost], label=1) == 1
    assert math.isnan(metrics.flip_rate([]))
    drawn = metrics.quartiles([found, lost, found], "distance")
    assert (drawn.n, drawn.median) == (2, 4)
    assert math.isnan(metrics.quartiles([lost], "calls").mean)
    assert metrics.measure([found, lost], "distance", label=0) == []
    with pytest.raises(UnknownNameError, match="Did you mean 'calls'"):
        metrics.measure([found], "call")


def test_quartiles_are_those_of_the_values_in_order():
    edges = list(ORIGINAL.edges())
    made = [result([(4, 5)], edges[:k], search_calls=10 * k) for k in (4, 0, 1, 3, 2)]
    drawn = metrics.quartiles(made, "distance")
    assert drawn == metrics.Quartiles("distance", 5, 3.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    # Between two values, linearly.
    drawn = metrics.quartiles([made[1], made[0]], "calls")
    assert drawn == metrics.Quartiles("calls", 2, 20.0, 0.0, 10.0, 20.0, 30.0, 40.0)
    lost = metrics.quartiles([], "calls")
    assert (lost.measure, lost.n) == ("calls", 0)
    figures = (lost.mean, lost.minimum, lost.q1, lost.median, lost.q3, lost.maximum)
    assert all(math.isnan(figure) for figure in figures)


def test_the_bounds_of_a_perturbation():
    made = result([(4, 5)])
    seen: list[int] = []

    def look(graph: Graph) -> int:
        seen.append(made.counterfactual.distance(graph))
        return 0

    oracle = as_oracle(look, "graph")
    assert metrics.robustness(made, oracle, 1, repeats=1) == 1  # every pair: the complement
    assert metrics.robustness(made, oracle, 0.01, repeats=1) == 1  # at least one pair
    assert seen == [15, 1]
    metrics.robustness(made, as_oracle(lambda a: seen.append(1) or 0), 0.4)
    assert len(seen) == 2 + 10
    for wrong in (-0.1, 1.01, float("nan")):
        with pytest.raises(InvalidParameterError, match="share must be larger than 0"):
            metrics.robustness(made, oracle, wrong)
    for wrong in (True, 1.5, -1):
        with pytest.raises(InvalidParameterError, match="repeats must be"):
            metrics.robustness(made, oracle, 0.1, repeats=wrong)
    single = Counterfactual(Status.FOUND, Graph.from_edges(1, []), Edits(), 0, 1)
    assert metrics.robustness(single, as_oracle(lambda a: 0), 0.1) == 1


def test_the_share_that_a_cover_holds_is_four_fifths_unless_said():
    ten = result(((0, 4), (0, 5), (1, 4), (1, 5), (2, 4), (2, 5), (3, 5)), [(0, 1), (0, 2), (1, 2)])
    regions = Taxonomy.from_labels("part", ("A", "A", "B", "B", "C", "C"))
    # Cells: AC 4, BC 3, AB 2, AA 1.
    for share, cells in ((0.4, 1), (0.41, 2), (0.7, 2), (0.71, 3), (0.9, 3), (0.91, 4), (1, 4)):
        assert metrics.region_pairs_to_cover(ten, regions, share) == cells
    assert metrics.region_pairs_to_cover(ten, regions) == 3
    assert metrics.regions_to_cover(ten, regions) == 3
    assert metrics.regions_to_cover(ten, regions, 0.5) == 2  # A and C hold five
    assert metrics.regions_to_cover(ten, regions, 0.51) == 3


def test_entropy_by_hand():
    uneven = result([(4, 5)], [(0, 2), (1, 2)])  # ends: A 2, B 2, C 2 of three regions
    assert metrics.region_entropy(uneven, REGIONS) == pytest.approx(1)
    two = result([], [(0, 1), (0, 2)])  # ends: A 3, B 1
    expected = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) / math.log(3)
    assert metrics.region_entropy(two, REGIONS) == pytest.approx(expected)
    pair = Taxonomy.from_labels("side", ("X", "X", "Y", "Y", "Y", "Y"))
    expected = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) / math.log(2)
    assert metrics.region_entropy(two, pair) == pytest.approx(expected)


# ---- measures as records -------------------------------------------------------------------


def test_many_values_become_one_by_mean_or_median_and_what_is_no_number_is_left_out():
    values = [1, None, 2.0, True, "x", 8]
    assert metrics.MEASURES["distance"].typical(values) == 1.5  # the median of 1, 1, 2, 8
    assert metrics.MEASURES["found"].typical(values) == 3
    assert metrics.MEASURES["found"].typical([None]) is None


def test_a_measure_cannot_need_what_no_case_holds():
    with pytest.raises(InvalidParameterError, match="needs a, z; a measure may need regions"):
        metrics.Measure("mine", "", "", frozenset({"z", "regions", "a"}), "mean", lambda case: 1)


def test_a_measure_that_lacks_something_says_what_to_give():
    with pytest.raises(MissingInputError, match=r"needs oracle and regions: pass Case\(result, s"):
        metrics.measure([FEW], "statement_pairs")
    case = metrics.Case(FEW, regions=REGIONS, session=Session(as_oracle(lambda a: int(a[0, 1]))))
    assert metrics.measure([case], "statement_pairs") == [1]
    assert metrics.MEASURES["statement_pairs"](FEW) is None


def test_what_was_not_found_is_measured_only_where_that_makes_sense():
    lost = result([(3, 5)], status=Status.EXHAUSTED)
    assert metrics.MEASURES["distance"](lost) == 1
    assert metrics.MEASURES["found"](lost) is False
    assert metrics.MEASURES["density_drift"](lost) is None
    assert metrics.MEASURES["n_added"](lost) == 1
    assert metrics.MEASURES["n_removed"](FEW) == 3


def test_what_a_case_leaves_out_is_not_asked():
    asked = []
    session = Session(as_oracle(lambda a: asked.append(1) or int(a[0, 1])))
    given = {"regions": REGIONS, "session": session}
    case = metrics.Case(FEW, **given, statement=False, robustness=0)
    for name in ("statement_verified", "statement_pairs", "cells", "as_read", "told"):
        assert metrics.MEASURES[name](case) is None
    assert metrics.MEASURES["robustness_1"](case) is None
    assert metrics.MEASURES["minimal"](case) is None  # nothing certified, and not to be asked
    silent = metrics.Case(FEW, **given, draws=0)
    assert metrics.MEASURES["as_read"](silent) is None
    assert metrics.MEASURES["told"](silent) is None
    assert silent.true_reading is None
    asked.clear()
    assert metrics.MEASURES["minimal"](metrics.Case(FEW, **given, minimality=True)) is False
    assert asked
    assert metrics.MEASURES["robustness_5"](metrics.Case(FEW, **given, robustness=3)) == 1


def test_plausible_is_what_lies_near_a_graph_of_the_new_class():
    made = result(removed=[(3, 4)])
    far, near = Graph.from_edges(6, [(4, 5)]), ORIGINAL
    for labels, nearest in (((0, 1), far), ((0, 0), near), ((1, 0), near)):
        case = metrics.Case(made, background=[(far, labels[0]), (near, labels[1])])
        expected = made.counterfactual.relative_distance(nearest)
        assert metrics.MEASURES["plausibility"](case) == expected
    none = metrics.Case(made, background=[(far, 1)])
    assert metrics.MEASURES["plausibility"](none) is None
    assert metrics.measure([none], "plausibility") == []


def test_a_planted_pair_is_named_first_or_alone_or_not():
    session = Session(as_oracle(lambda a: int(a[0, 1] or a[0, 2] or a[1, 2])))
    given = {"regions": REGIONS, "session": session}

    def named(*regions, taxonomy="part"):
        planted = metrics.Planted(taxonomy, regions)
        case = metrics.Case(FEW, **given, planted=planted)
        return [metrics.MEASURES[f"planted_{word}"](case) for word in ("first", "alone")]

    assert named("A", "B") == [True, False]  # AB has two edits, AA one
    assert named("A", "A") == [False, False]
    assert named("A", "B", taxonomy="other") == [False, False]
    one = metrics.Case(
        result(removed=[(0, 1)]),
        regions=REGIONS,
        session=Session(as_oracle(lambda a: int(a[0, 1]))),
        planted=metrics.Planted("part", ("A", "A")),
    )
    assert metrics.MEASURES["planted_alone"](one) is True
    assert metrics.MEASURES["planted_alone"](metrics.Case(FEW, **given)) is None


def test_what_a_result_knows_itself_is_a_function_too():
    assert metrics.distance(FEW) == 4
    assert metrics.n_removed(FEW) == 3
    with pytest.raises(AttributeError, match="no attribute 'distanc'"):
        metrics.distanc  # noqa: B018
