"""`Constraints`: what they allow, what they refuse, and what every search makes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from denseflip import Background, Constraints, Graph, Nodes, explain
from denseflip.counterfactual import Counterfactual, Status
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.graph.readable_names import readable
from denseflip.search.constraints.bound_constraints import BoundConstraints, bind_constraints
from denseflip.search.constraints.frozen import Frozen
from denseflip.search.methods.registry import METHODS

N = 12
NODES = Nodes(
    tuple(f"node{i}" for i in range(N)),
    regions={"lobe": ("Front",) * 4 + ("Back",) * 4 + ("Base",) * 4, "side": ("l", "r") * 6},
)


def some_graphs(seed: int = 0, n: int = 16) -> list[Graph]:
    rng = np.random.default_rng(seed)
    out = []
    for i in range(n):
        dense = np.where(i % 2, 0.7, 0.3)
        upper = np.triu(rng.random((N, N)) < 0.4, 1)
        block = np.triu(rng.random((N, N)) < dense, 1)
        upper[:4, 4:8] = block[:4, 4:8]
        out.append(Graph.from_adjacency((upper | upper.T).astype(int)))
    return out


GRAPHS = some_graphs()


def between(a: np.ndarray) -> int:
    """Labels by the number of edges between Front and Back, and a little by Base."""
    return int(a[:4, 4:8].sum() + 0.5 * a[8:, 8:].sum() / 2 > 8)


def allowed_codes(constraints: Constraints, graph: Graph = GRAPHS[0]) -> set[tuple[int, int]]:
    terms = bind_constraints(constraints, graph, NODES, Background(GRAPHS))
    codes = np.array([u * N + v for u in range(N) for v in range(u + 1, N)])
    return {divmod(int(c), N) for c in terms.free(codes)}


def test_what_is_frozen_by_region_node_cell_number_and_pair():
    everything = allowed_codes(Constraints())
    assert len(everything) == N * (N - 1) // 2
    assert allowed_codes(Constraints(freeze="Front")) == {
        (u, v) for u, v in everything if u >= 4 and v >= 4
    }
    assert allowed_codes(Constraints(freeze="node3")) == allowed_codes(Constraints(freeze=3))
    assert allowed_codes(Constraints(freeze=3)) == {p for p in everything if 3 not in p}
    assert allowed_codes(Constraints(freeze=["back x FRONT"])) == {
        (u, v) for u, v in everything if not (u < 4 <= v < 8)
    }
    assert allowed_codes(Constraints(freeze="Base – Base")) == {
        (u, v) for u, v in everything if u < 8
    }
    assert allowed_codes(Constraints(freeze=[(1, 0), ("node2", "node5")])) == everything - {
        (0, 1),
        (2, 5),
    }
    assert allowed_codes(Constraints(freeze=["l", 1], regions="side")) == {
        (u, v) for u, v in everything if u % 2 and v % 2 and u != 1
    }


def test_a_region_of_two_taxonomies_crossed_is_frozen_by_its_full_name():
    assert allowed_codes(Constraints(freeze="lobe*side: Front l")) == allowed_codes(
        Constraints(freeze=[0, 2])
    )
    for wrong in ("lobe*moon: Front l", "lobe*side: Front", "lobe*: Front"):
        with pytest.raises(UnknownNameError):
            allowed_codes(Constraints(freeze=wrong))


def frozen_nodes(name: str, nodes: Nodes, regions: str | None = None) -> list[int]:
    frozen = Frozen((name,), regions, nodes, nodes.n_nodes)
    assert not frozen.blocks
    return np.flatnonzero(frozen.frozen).tolist()


def test_a_region_is_frozen_by_the_name_that_sentences_print():
    names = ("Frontal_Sup_L", "Frontal_Sup_R", "Insula_L", "Insula_R", "Insula_Ant_L")
    lobes = ("Frontal Lobe", "Frontal Lobe", "Insula", "Insula", "Insula")
    nodes = Nodes(names, {"lobe": lobes, "hemisphere": ("L", "R", "L", "R", "L")})
    for taxonomy in (None, "hemisphere"):
        for name in ("left hemisphere", "Left Hemisphere", "the left hemisphere", "L"):
            assert frozen_nodes(name, nodes, taxonomy) == [0, 2, 4]
    assert frozen_nodes("hemisphere: left hemisphere", nodes) == [0, 2, 4]
    assert frozen_nodes("left Frontal Lobe", nodes) == [0]
    assert frozen_nodes("the left Frontal Lobe", nodes, "lobe*hemisphere") == [0]
    assert frozen_nodes("left Insula Ant", nodes) == [4]
    cell = Frozen(("left hemisphere x right hemisphere",), None, nodes, 5).blocks
    assert [side.tolist() for side in cell[0]] == [
        [True, False, True, False, True],
        [False, True, False, True, False],
    ]
    for taxonomy in (tuple(readable(nodes.taxonomy(x))) for x in ("lobe", "hemisphere")):
        for name in taxonomy:
            assert frozen_nodes(name, nodes)


def test_a_readable_name_with_two_meanings_is_refused_with_both():
    nodes = Nodes(
        ("Insula_L", "Insula_R", "Insula_Ant_L"),
        {"lobe": ("Insula",) * 3, "hemisphere": ("L", "R", "L")},
    )
    with pytest.raises(InvalidParameterError, match="ambiguous") as caught:
        frozen_nodes("left Insula", nodes)  # a node, and the left part of the lobe
    for meant in ("node: Insula_L", "lobe*hemisphere: Insula L"):
        assert repr(meant) in str(caught.value)
    assert frozen_nodes("node: Insula_L", nodes) == [0]
    assert frozen_nodes("lobe*hemisphere: Insula L", nodes) == [0, 2]
    other = replace(nodes, regions={"part": ("left hemisphere", "x", "x"), **nodes.regions})
    with pytest.raises(InvalidParameterError, match="'part: left hemisphere' or 'hemisphere: L'"):
        frozen_nodes("left hemisphere", other)
    with pytest.raises(UnknownNameError, match="Did you mean 'left hemisphere'") as unknown:
        frozen_nodes("left hemisfere", nodes)
    assert "right hemisphere" in str(unknown.value)


def test_only_add_only_remove_a_mask_and_what_was_seen():
    joined = set(GRAPHS[0].edges())
    everything = allowed_codes(Constraints())
    assert allowed_codes(Constraints(only="remove")) == joined
    assert allowed_codes(Constraints(only="add")) == everything - joined
    mask = np.zeros((N, N), dtype=bool)
    mask[0, 1] = mask[1, 0] = True
    assert allowed_codes(Constraints(allowed=mask)) == {(0, 1)}
    shares = np.mean([g.to_adjacency() for g in GRAPHS], axis=0)
    n = len(GRAPHS)
    for k in range(round(n * shares.max()) + 1):  # exactly so many graphs have it
        assert allowed_codes(Constraints(allow_seen=100 * k / n)) == {
            (u, v) for u, v in everything if round(n * shares[u, v]) >= k
        }


def test_a_large_graph_needs_no_table(monkeypatch):
    wanted = allowed_codes(Constraints(freeze=["Front x Back", 9], only="add"))
    monkeypatch.setattr("denseflip.search.constraints.bound_constraints._TABLE_NODES", 3)
    assert allowed_codes(Constraints(freeze=["Front x Back", 9], only="add")) == wanted


@pytest.mark.parametrize(
    ("given", "changed", "good"),
    [
        ({"keep_density": 10}, "add", False),
        ({"keep_density": 50}, "add", True),
        ({"max_degree": 2}, "add", False),
        ({"max_degree": N}, "add", True),
        ({"min_degree": 1}, "empty", False),
        ({"keep_connected": True}, "empty", False),
        ({"keep_connected": True}, "add", True),
        ({"predicate": lambda g: g.n_edges > 1000}, "add", False),
    ],
)
def test_what_the_changed_graph_must_be_like(given, changed, good):
    path = Graph.from_edges(N, [(i, i + 1) for i in range(N - 1)])
    other = path.toggle([(0, 2), (0, 3)]) if changed == "add" else path.toggle([(0, 1)])
    terms = bind_constraints(Constraints(**given), path, NODES)
    assert (terms.broken(other) is None) == good
    assert terms.forbids(other) != good
    terms.refuse(other)
    terms.refuse(other)
    assert dict(terms.refused) == ({} if good else {next(iter(given)): 1})
    assert terms.broken(path) is None


def test_bounds_on_the_size_bind_the_answer_alone():
    terms = bind_constraints(Constraints(max_edits=2, max_cells=1), GRAPHS[0], NODES)
    far = GRAPHS[0].toggle([(0, 1), (0, 4), (0, 8)])
    assert terms.broken(far) is None
    assert terms.too_large(far) == "max_edits"
    assert terms.too_large(GRAPHS[0].toggle([(0, 1), (0, 4)])) == "max_cells"
    assert terms.too_large(GRAPHS[0].toggle([(0, 1), (0, 2)])) is None


BAD = [
    ({"freeze": "Frnt"}, UnknownNameError, "Did you mean 'Front'"),
    ({"freeze": "Front x Bck"}, UnknownNameError, "Did you mean 'Back'"),
    ({"freeze": 99}, InvalidParameterError, "no node 99; the graph has nodes 0 to 11"),
    ({"freeze": 2.5}, InvalidParameterError, "freeze takes names of regions.*2.5"),
    ({"only": "both"}, UnknownNameError, "Unknown only 'both'"),
    ({"max_edits": 0}, InvalidParameterError, "max_edits must be a whole number, at least 1"),
    (
        {"keep_density": -1},
        InvalidParameterError,
        "keep_density must be a number at least 0",
    ),
    (
        {"allow_seen": 101},
        InvalidParameterError,
        "at least 0 and at most 100; got 101",
    ),
    ({"min_degree": 3, "max_degree": 2}, InvalidParameterError, "min_degree=3 exceeds"),
    ({"only": "add", "keep_density": 0}, InvalidParameterError, "contradict each other"),
    ({"allowed": np.ones((2, 3))}, InvalidParameterError, "allowed must be a node × node array"),
    ({"allowed": np.ones((3, 3))}, InvalidParameterError, "array of 3 × 3; the graph has 12"),
    ({"allowed": np.triu(np.ones((N, N)))}, InvalidParameterError, "must be symmetric"),
    ({"freeze": ["Front", "Back", "Base"]}, InvalidParameterError, "leave nothing to change"),
    ({"predicate": 3}, InvalidParameterError, "predicate"),
    ({"predicate": lambda g: 1 / 0}, InvalidParameterError, "raised ZeroDivisionError"),
    ({"predicate": lambda g: "yes"}, InvalidParameterError, "must return a bool; got 'yes'"),
]


@pytest.mark.parametrize(("given", "error", "message"), BAD)
def test_bad_constraints_are_refused_in_plain_words(given, error, message):
    with pytest.raises(error, match=message):
        explain(GRAPHS[0], between, "tri", nodes=NODES, constraints=given)


def test_names_and_cells_need_a_table_and_shares_a_background():
    with pytest.raises(MissingInputError, match="there is no node table to look it up in"):
        explain(GRAPHS[0], between, "tri", constraints=Constraints(freeze="Front"))
    with pytest.raises(MissingInputError, match="counts pairs of regions"):
        explain(GRAPHS[0], between, "tri", constraints=Constraints(max_cells=1))
    with pytest.raises(MissingInputError, match="there is no background"):
        explain(GRAPHS[0], between, "tri", constraints=Constraints(allow_seen=10))


def check(result: Counterfactual, terms: BoundConstraints) -> None:
    assert terms.broken(result.counterfactual) is None
    if result.found:
        assert terms.too_large(result.counterfactual) is None
        assert between(result.counterfactual.to_adjacency()) == result.label_after
        assert result.label_after != result.label_before
    assert result.replay() == result.counterfactual
    for one in result.front:
        assert terms.broken(one.counterfactual) is None


# `gradient` needs an oracle with gradients; its own tests are in unit/search/test_gradient.py.
BASES = [name for name in METHODS if name != "gradient"]


@pytest.mark.parametrize("method", [*BASES, "tri+min", "dat+min", "obs+bw"])
@pytest.mark.parametrize(
    "given",
    [
        {"freeze": "Base"},
        {"freeze": "Front x Back", "only": "add"},
        {"only": "remove", "max_edits": 6},
        {"keep_density": 8, "keep_connected": True},
        {"max_cells": 1},
    ],
    ids=str,
)
def test_every_method_honours_them(method, given):
    for graph in GRAPHS[:2]:
        result = explain(
            graph,
            between,
            method,
            nodes=NODES,
            background=GRAPHS,
            constraints=given,
            budget=400,
        )
        check(result, bind_constraints(Constraints(**given), graph, NODES, Background(GRAPHS)))
        assert result.constraints == Constraints(**given).given
        assert Counterfactual.from_dict(result.to_dict()) == result


def test_a_search_that_finds_nothing_names_what_bound():
    result = explain(
        GRAPHS[0],
        between,
        "con",
        nodes=NODES,
        background=GRAPHS,
        constraints={"only": "remove" if between(GRAPHS[0].to_adjacency()) == 0 else "add"},
    )
    assert result.status is Status.EXHAUSTED
    assert any("Limited by the constraints: only=" in note for note in result.notes), result.notes
    result = explain(
        GRAPHS[0], between, "dat", nodes=NODES, background=GRAPHS, constraints={"max_edits": 1}
    )
    assert result.found or any("max_edits=1 (the smallest flip" in note for note in result.notes)


# ---- targets and confidence ---------------------------------------------------------------


class Sure:
    """Three classes by the number of edges, with a confidence."""

    classes = ("few", "some", "many")
    class_names: ClassVar = {"few": "Few edges", "some": "Some edges", "many": "Many edges"}

    def predict_proba(self, graphs):
        rows = []
        for g in graphs:
            x = (g.n_edges - 26) / 4
            scores = np.exp([-(x + 1.5), 0.0, x - 1.5])
            rows.append(scores / scores.sum())
        return np.array(rows)

    def predict(self, graphs):
        return [self.classes[int(np.argmax(row))] for row in self.predict_proba(graphs)]


def test_a_target_by_name_several_and_a_mistyped_one():
    graph = Graph.from_edges(N, GRAPHS[0].edges()[:10])
    assert explain(graph, Sure(), "edg", target="Many edges").target == "many"
    result = explain(graph, Sure(), "obs", target=["some", "Many edges"])
    assert result.found
    assert result.target == ("some", "many")
    assert result.label_after in result.target
    assert Counterfactual.from_dict(result.to_dict()) == result
    assert explain(graph, Sure(), "obs", target=["few", "many"]).status is Status.NOT_NEEDED
    with pytest.raises(UnknownNameError, match="Did you mean 'Many edges'"):
        explain(graph, Sure(), "obs", target="Many edgs")
    words = lambda a: "high" if a.sum() > 50 else "low"  # noqa: E731
    with pytest.raises(UnknownNameError, match="Did you mean 'high'"):
        explain(GRAPHS[0], words, "obs", target="hihg", background=GRAPHS)


@pytest.mark.parametrize("method", ["obs", "race", "con", "auto", "tight", "dat+min", "best"])
def test_a_confidence_is_kept_by_every_method(method):
    graph = min(GRAPHS, key=lambda g: g.n_edges)
    sure = Sure()
    plain = explain(graph, sure, method, nodes=NODES, background=GRAPHS, target="many")
    firm = explain(
        graph, sure, method, nodes=NODES, background=GRAPHS, target="many", confidence=0.6
    )
    for result in (plain, firm):
        assert result.confidence_before == pytest.approx(max(sure.predict_proba([graph])[0]))
        if result.found:
            row = sure.predict_proba([result.counterfactual])[0]
            assert result.confidence_after == pytest.approx(row[2])
    if firm.found:
        assert firm.confidence_after >= 0.6
    assert firm.confidence == 0.6
    if method in ("obs", "race"):
        assert firm.found


def test_an_array_of_what_is_allowed_cannot_be_changed_later():
    given = np.ones((N, N))
    constraints = Constraints(allowed=given)
    given[:] = 0
    assert constraints.allowed.all()
    with pytest.raises(ValueError, match="read-only"):
        constraints.allowed[0, 1] = False


def test_what_leaves_nothing_to_change_is_said_with_its_values():
    nothing = np.zeros((N, N))
    cases = [
        (Constraints(allowed=nothing), "allowed forbid all 66 pairs"),
        (Constraints(freeze=["Front", "Back", "Base"]), "freeze=Front, Back, Base forbid all 66"),
        (
            Constraints(freeze="Front", allowed=nothing),
            "freeze=Front and allowed|allowed and f",
        ),
    ]
    for constraints, said in cases:
        with pytest.raises(InvalidParameterError, match=said):
            explain(GRAPHS[0], between, "con", nodes=NODES, constraints=constraints)
