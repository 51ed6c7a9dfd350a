"""Cohorts: what is counted as in range is in range, counted anew from the graphs.

The definition is the second one of `test_in_range`, which uses nothing of the package's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denseflip import Constraints, Graph, Nodes
from denseflip.cohort import labelling
from denseflip.cohort.labelling import run_labelling
from denseflip.cohort.scan import Scan
from denseflip.cohort.settings import CohortSettings, cells_of, check_cohort
from denseflip.cohort.shared_search import find_shared
from denseflip.datasets import Dataset
from denseflip.search.explain import explain
from property.test_in_range import NODES, Cohort, N, ends_well, interval, judge, pairs_of

cohorts = st.builds(
    Cohort, st.integers(0, 10_000), st.booleans(), st.integers(5, 8), st.sampled_from([0.1, 0.25])
)
FEW = settings(max_examples=6, deadline=None)


def dataset_of(cohort: Cohort, new: list[int] | None = None) -> tuple[Dataset, Any]:
    """The graphs as a data set, with their nodes renumbered, and the rule as it is."""
    new = list(range(N)) if new is None else new
    old = [new.index(v) for v in range(N)]
    nodes = Nodes(
        tuple(NODES.names[v] for v in old),
        regions={name: tuple(NODES.regions[name][v] for v in old) for name in NODES.regions},
    )
    graphs = tuple(
        Graph.from_edges(N, [(new[u], new[v]) for u, v in graph.edges()]) for graph in cohort.graphs
    )
    labels = (0,) * cohort.per_class + (1,) * cohort.per_class
    return Dataset("study", graphs, labels, ("A", "B"), nodes), cohort.oracle(nodes)


def labelled(cohort: Cohort, new: list[int] | None = None, **given: Any) -> tuple[Any, ...]:
    """The labelling of a fixed rule, and the result of every patient by id."""
    data, oracle = dataset_of(cohort, new)
    results: dict[str, Any] = {}

    def watched(graph: Graph, *args: Any, **kwargs: Any) -> Any:
        result = explain(graph, *args, **kwargs)
        results[data.ids[data.graphs.index(graph)]] = result
        return result

    patch = pytest.MonkeyPatch()
    patch.setattr(labelling, "explain", watched)
    checked = check_cohort(data, CohortSettings(patients=4, **given))
    found = run_labelling(data, checked, oracle, 0)
    patch.undo()
    return data, oracle, found, results


def check_patients(data: Dataset, oracle: Any, found: Any, results: Any) -> None:
    """Whether every patient's mark is that of the definition."""
    for patient in found.patients:
        result = results[patient.id]
        if not result.found:
            assert patient.in_range is None
            assert not patient.told
            continue
        if result.as_read is None:
            continue  # a list of pairs, whose places the search did not name
        anew = judge(result, data.nodes, data.graphs, oracle)
        assert patient.in_range == (None if None in anew else all(anew))
        assert patient.balanced == result.as_read.balanced
        if patient.balanced:
            assert result.counterfactual.n_edges == result.original.n_edges


@FEW
@given(cohorts, st.permutations(range(N)), st.sampled_from(["scan", "brief"]))
def test_what_a_cohort_counts_as_in_range_is(cohort, new, method):
    data, oracle, found, results = labelled(cohort, list(new), method=method)
    check_patients(data, oracle, found, results)
    assert found.in_range == sum(p.told and p.in_range is True for p in found.patients)


@FEW
@given(cohorts, st.sampled_from([None, Constraints(only="add"), Constraints(max_edits=12)]))
def test_require_never_gives_anything_else(cohort, constraints):
    data, oracle, found, results = labelled(
        cohort, in_range="require", constraints=constraints or {}
    )
    check_patients(data, oracle, found, results)
    assert all(p.in_range for p in found.patients if p.changes)
    assert found.in_range == found.told


@FEW
@given(cohorts)
def test_the_number_of_edges_is_kept_if_asked(cohort):
    _, _, found, results = labelled(cohort, balance="on")
    for patient in found.patients:
        if patient.changes and results[patient.id].as_read is not None:
            assert patient.balanced
    _, _, found, _ = labelled(cohort, balance="off", in_range="ignore")
    assert not found.balanced


@FEW
@given(cohorts, st.sampled_from([None, "require"]))
def test_a_shared_change_is_in_range_for_those_it_covers(cohort, in_range):
    data, oracle = dataset_of(cohort)
    trained: list[set[str]] = []

    def fit(train: Dataset) -> Any:
        trained.append(set(train.ids))
        return oracle

    checked = check_cohort(data, CohortSettings(in_range=in_range))
    cells = cells_of(data, checked)
    edges = {id: set(g.edges()) for id, g in zip(data.ids, data.graphs, strict=True)}
    answers = dict(zip(data.ids, oracle.predict(data.graphs), strict=True))
    for change in find_shared(data, checked, fit).shared:
        for half, seen in zip(change.halves, trained, strict=True):
            if in_range == "require":
                assert set(half.in_range) == set(half.flipped)
            if half.amounts and not half.fallback:
                assert set(half.in_range) == set(half.flipped)
            group = [edges[id] for id in seen if answers[id] == half.target]
            for id in set(half.in_range) - set(half.limited):
                total = 0
                for number, amount in half.amounts.items():
                    a, b = cells.at([number])[0]
                    names = (cells.taxonomy.regions[a], cells.taxonomy.regions[b])
                    pairs = pairs_of(names, data.nodes, cells.taxonomy.name)
                    now, total = len(edges[id] & pairs), total + amount
                    ends = interval([len(one & pairs) for one in group], len(pairs))
                    assert ends_well(now, now + amount, ends)
                    apart = [
                        len((one - edges[id] if amount > 0 else edges[id] - one) & pairs)
                        for one in group
                    ]
                    assert abs(amount) <= max(apart)
                if not half.balanced:
                    now = len(edges[id])
                    low, high = interval([len(one) for one in group], N * (N - 1) // 2)
                    assert ends_well(now, now + total, (np.ceil(low), np.floor(high)))


def test_require_that_cannot_be_met_finds_nothing():
    """A rule that only graphs beyond every real one satisfy, except a few odd ones."""
    cohort = Cohort(1, per_class=8)
    data, _ = dataset_of(cohort)
    pairs = pairs_of(("A", "A"), NODES, "third")

    class Beyond:
        def predict(self, graphs: Any) -> list[int]:
            odd = {data.graphs[i] for i in (8, 10, 12, 14)}
            return [int(g in odd or len(set(g.edges()) & pairs) > 24) for g in graphs]

    require = check_cohort(data, CohortSettings(in_range="require", group="A"))
    found = run_labelling(data, require, Beyond(), 0)
    assert found.right == 8
    assert found.told == 0
    assert all(not patient.changes for patient in found.patients)
    (change,) = find_shared(data, require, Beyond()).shared
    assert all(not half.amounts for half in change.halves)
    prefer = check_cohort(data, CohortSettings(group="A", max_cells=1, balance="off"))
    found = run_labelling(data, prefer, Beyond(), 0)
    assert found.told > 0
    assert found.in_range == 0
    (change,) = find_shared(data, prefer, Beyond()).shared
    assert any(half.fallback for half in change.halves)
    assert change.in_range == 0


def test_scan_ends_inside_where_the_graph_began_outside():
    cohort = Cohort(3)
    data, oracle = dataset_of(cohort)
    result = explain(data.graphs[0], oracle, Scan(), nodes=data.nodes, background=data.graphs)
    assert result.found
    assert all(judge(result, data.nodes, data.graphs, oracle))
    (place,) = result.as_read.places
    pairs = pairs_of(place, data.nodes, result.as_read.regions)
    group = [len(set(g.edges()) & pairs) for g in data.graphs if oracle.predict([g])[0] != 0]
    low, high = interval(group, len(pairs))
    assert low <= len(set(result.counterfactual.edges()) & pairs) <= high
