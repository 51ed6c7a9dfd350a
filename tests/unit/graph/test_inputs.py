"""Graphs of other libraries keep the names of their nodes, all the way to oracle and sentence."""

from __future__ import annotations

import json
import pickle
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

from denseflip import Background, Counterfactual, as_oracle, compare, describe, explain
from denseflip.errors import InvalidGraphError, InvalidNodesError, InvalidParameterError
from denseflip.graph import Graph, Nodes
from denseflip.graph.inputs import (
    as_graph,
    ignored_weights,
    match_graph,
    match_nodes,
    settle_names,
    tell_difference,
)
from denseflip.workflow.explain_and_describe import explain_and_describe

GENES = ("TP53", "MDM2", "MDM4", "CHEK2", "ATM")
PAIRS = [("TP53", "MDM2"), ("MDM2", "MDM4"), ("TP53", "MDM4"), ("ATM", "CHEK2")]


def genes() -> nx.Graph:
    out = nx.Graph()
    out.add_nodes_from(GENES)
    out.add_edges_from(PAIRS)
    return out


def by_name(graph: nx.Graph) -> str:
    """A classifier that looks its nodes up by name; an integer would be a KeyError."""
    return "bound" if "MDM2" in graph["TP53"] else "free"


def test_names_are_kept_by_the_graph_and_by_its_copies():
    graph = Graph.from_networkx(genes())
    assert graph.names == GENES
    copy = graph.toggle([(0, 1)]).toggle([(3, 0)])
    assert copy.names == GENES
    assert set(copy.to_networkx()["TP53"]) == {"MDM4", "CHEK2"}
    assert pickle.loads(pickle.dumps(copy)).names == GENES
    assert Graph.from_dict(json.loads(json.dumps(copy.to_dict()))).names == GENES
    assert copy == Graph.from_edges(5, copy.edges())  # names play no part in it
    assert Graph.from_networkx(nx.path_graph(3)).names is None


def test_names_survive_a_long_walk_away_from_the_root():
    graph = Graph.from_networkx(genes())
    for _ in range(300):
        for pair in ((0, 1), (1, 2), (2, 3), (3, 4)):
            graph = graph.toggle([pair])
    assert graph.toggle([(0, 4)]).names == GENES


def test_an_oracle_that_looks_up_names_gets_them_and_the_sentence_says_them():
    oracle = as_oracle(by_name, "networkx")
    result = explain(genes(), oracle, "edg+min")
    assert result.found
    assert result.removed == ((0, 1),)
    story = describe(result, oracle=oracle)
    assert story.verified
    assert "TP53" in str(story)
    assert "MDM2" in str(story)
    again = Counterfactual.from_dict(json.loads(json.dumps(result.to_dict())))
    assert oracle.predict([again.original, again.counterfactual]) == ["bound", "free"]


def test_a_background_of_networkx_graphs_is_matched_by_name():
    other = nx.Graph()
    other.add_nodes_from(reversed(GENES))
    other.add_edges_from([("ATM", "CHEK2"), ("TP53", "ATM")])
    seen = []
    oracle = as_oracle(lambda g: (seen.append(sorted(map(str, g))), by_name(g))[1], "networkx")
    result = explain(genes(), oracle, "dat", background=[genes(), other])
    assert result.found
    assert result.counterfactual.to_networkx().edges == other.edges
    assert {tuple(x) for x in seen} == {tuple(sorted(GENES))}
    plain = Background([Graph.from_networkx(other, order=GENES).named(None)])
    assert explain(genes(), oracle, "dat", background=plain).edits == result.edits
    strange = nx.relabel_nodes(other, {"ATM": "ATR"})
    with pytest.raises(InvalidGraphError, match=r"'ATR' \(nearest: 'ATM'\).*only in the other"):
        explain(genes(), oracle, "dat", background=[strange])


def test_graphs_without_names_get_those_that_the_oracle_was_told():
    nodes = Nodes(GENES)
    plain = Graph.from_networkx(genes()).named(None)
    told = as_oracle(by_name, "networkx", nodes=nodes, class_names={"bound": "p53 held"})
    assert told.predict([plain, plain.toggle([(0, 1)])]) == ["bound", "free"]
    many = as_oracle(lambda gs: [by_name(g) for g in gs], "networkx", batch=True, nodes=GENES)
    assert many.predict([plain]) == ["bound"]
    result = explain(plain, told, "edg+min", nodes=nodes)
    assert "p53 held" in describe(result, nodes, told).short


@pytest.mark.parametrize(
    ("names", "message"),
    [("ab", "a mapping or a sequence"), (["a", "a"], "must be unique"), (3, "a mapping or")],
)
def test_class_names_that_are_none_are_refused(names, message):
    with pytest.raises(InvalidParameterError, match=message):
        as_oracle(by_name, "networkx", class_names=names)


def test_a_node_table_in_another_order_is_matched_by_name():
    table = Nodes(tuple(reversed(GENES)), {"role": ("kinase", "kinase", "ligase", "ligase", "tf")})
    found = match_nodes(Graph.from_networkx(genes()), table)
    assert found is not None
    assert found.names == GENES
    assert found.regions["role"] == ("tf", "ligase", "ligase", "kinase", "kinase")
    oracle = as_oracle(by_name, "networkx")
    result = explain(genes(), oracle, "edg+min", nodes=table)
    assert describe(result, table, oracle).nodes.names == GENES
    wrong = Nodes(("TP53", "MDM2", "MDM4", "CHK2", "ATM"))
    with pytest.raises(InvalidNodesError, match=r"'CHEK2' \(nearest: 'CHK2'\); only in the node"):
        explain(genes(), oracle, "edg", nodes=wrong)


def test_numbers_as_names_say_nothing_of_a_table():
    shifted = nx.relabel_nodes(nx.path_graph(3), {0: 1, 1: 2, 2: 3})
    table = Nodes(("a", "b", "c"))
    assert match_nodes(Graph.from_networkx(shifted), table) == table


def test_weighted_graphs_get_the_question_that_weighted_arrays_get():
    weighted = nx.Graph()
    weighted.add_weighted_edges_from([("a", "b", 0.7), ("b", "c", 0.2), ("a", "c", 1)])
    for ask in (Graph.from_networkx, as_graph, lambda g: explain(g, lambda a: 0, "edg")):
        with pytest.raises(InvalidGraphError, match=r"got 0\.7 between 'a' and 'b' \(2 such edges"):
            ask(weighted)
    assert Graph.from_networkx(weighted, threshold=0.5).edges() == [(0, 1), (0, 2)]
    assert Graph.from_networkx(weighted, weight=None).n_edges == 3
    weighted["a"]["b"]["weight"] = "strong"
    with pytest.raises(InvalidGraphError, match="weight of the edge 'a' - 'b' is 'strong'"):
        Graph.from_networkx(weighted)
    with pytest.raises(InvalidGraphError, match="a threshold needs weights"):
        Graph.from_networkx(weighted, weight=None, threshold=1)
    plain = nx.Graph([("a", "b")])
    plain["a"]["b"]["weight"] = 1
    assert Graph.from_networkx(plain).n_edges == 1
    assert ignored_weights(plain) is None


def test_a_weighted_networkx_graph_is_explained_as_it_is_with_a_note():
    club = nx.karate_club_graph()
    assert as_graph(club) == Graph.from_networkx(club, weight=None)
    result = explain(club, lambda a: int(a[0, 1]), "edg")
    assert result.original.n_edges == club.number_of_edges()
    [note] = [note for note in result.notes if "weights" in note]
    assert "('weight', from 1 to 7). They were ignored: every listed edge is an edge" in note
    assert "Graph.from_networkx(graph, threshold=…)" in note
    story = describe(result)
    assert note in story.footnotes
    strong = explain(Graph.from_networkx(club, threshold=3), lambda a: int(a[0, 1]), "edg")
    assert strong.original.n_edges < club.number_of_edges()
    assert not any("weights" in note for note in strong.notes)


def test_the_note_about_weights_reaches_every_kind_of_result():
    club = nx.karate_club_graph()

    def linked(a):
        return int(a[0, 1])

    wanted = explain(club, linked, "edg", target=1)  # it has this label already
    assert [note for note in wanted.notes if "weights" in note]
    for row in compare(club, linked, ["edg", "tri"], constraints={"max_edits": 400}):
        assert row.story is not None
        assert [note for note in row.story.result.notes if "They were ignored" in note]
    assert any(
        "They were ignored" in note
        for note in explain_and_describe(club, linked, "edg").result.notes
    )


def test_weights_of_the_background_are_noted_too():
    club, other = nx.karate_club_graph(), nx.karate_club_graph()
    other.remove_edge(0, 1)
    plain = nx.Graph(list(club.edges))
    result = explain(plain, lambda a: int(a[0, 1]), "dat", background=[other, club, plain])
    assert result.removed == ((0, 1),)
    note = "The edges of 2 of 3 background graphs have weights, which were ignored."
    assert result.notes.count(note) == 1
    named = nx.relabel_nodes(other, str)
    again = explain(nx.relabel_nodes(plain, str), lambda a: int(a[0, 1]), "dat", background=[named])
    assert "The edges of 1 of 1 background graphs have weights, which were ignored." in again.notes


@pytest.mark.parametrize("weight", [0, -0.5, float("nan"), float("inf"), "strong", None])
def test_weights_that_cannot_be_ignored_are_refused_with_the_call_that_helps(weight):
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, 2.0, "weight")
    graph[0][1]["weight"] = weight
    assert ignored_weights(graph) is None
    with pytest.raises(InvalidGraphError, match="weight=None"):
        explain(graph, lambda a: 0, "edg")
    assert Graph.from_networkx(graph, weight=None).n_edges == 3


def test_a_weighted_graph_of_all_pairs_is_a_matrix_and_needs_a_threshold():
    graph = nx.complete_graph(5)
    nx.set_edge_attributes(graph, 0.4, "weight")
    with pytest.raises(InvalidGraphError, match=r"Graph\.from_networkx\(graph, threshold=…\)"):
        explain(graph, lambda a: 0, "edg")


def test_nodes_from_networkx():
    graph = genes()
    nx.set_node_attributes(graph, dict.fromkeys(GENES, "nucleus"), "place")
    nx.set_node_attributes(graph, {"TP53": "tf"}, "role")  # not of all nodes
    nodes = Nodes.from_networkx(graph)
    assert nodes.names == GENES
    assert nodes.taxonomies == ("place",)
    assert nodes.coordinates is None
    for axis in "xyz":
        nx.set_node_attributes(graph, dict.fromkeys(GENES, 1.5), axis)
    assert Nodes.from_networkx(graph).coordinates == ((1.5, 1.5, 1.5),) * 5
    turned = Nodes.from_networkx(graph, order=reversed(GENES))
    assert turned.names == tuple(reversed(GENES))
    with pytest.raises(InvalidNodesError, match=r"4 nodes have no attribute 'role': 'MDM2'"):
        Nodes.from_networkx(graph, regions=["role"])
    with pytest.raises(InvalidNodesError, match="no node 'BRCA1'"):
        Nodes.from_networkx(graph, order=["BRCA1"])


def test_duplicate_names_are_listed_all_at_once_with_a_remedy():
    with pytest.raises(InvalidNodesError) as info:
        Nodes(("Insula", "Insula", "Vermis", "Cuneus", "Cuneus", "Cuneus"))
    assert "2 names occur more than once: 'Insula' (2 times), 'Cuneus' (3 times)" in str(info.value)
    assert "hemisphere" in str(info.value)
    with pytest.raises(InvalidGraphError, match="duplicates: 'a'"):
        Graph.from_edges(2, []).named("aa")
    with pytest.raises(InvalidGraphError, match="needs 2 names; got 3"):
        Graph.from_edges(2, []).named("abc")


def test_data_frames_keep_their_names_and_are_aligned():
    pd = pytest.importorskip("pandas")
    matrix = nx.to_numpy_array(genes(), nodelist=GENES)
    frame = pd.DataFrame(matrix, index=GENES, columns=GENES)
    assert as_graph(frame).names == GENES
    shuffled = frame.loc[list(reversed(GENES))]
    assert as_graph(shuffled) == as_graph(frame)
    assert as_graph(pd.DataFrame(matrix)).names is None
    assert as_graph(pd.DataFrame(matrix, columns=GENES)) == as_graph(frame)  # rows by number
    with pytest.raises(InvalidGraphError, match="name different nodes"):
        as_graph(frame.rename(index={"ATM": "ATR"}))
    twice = pd.DataFrame(np.zeros((3, 2)), index=["a", "b", "b"], columns=["a", "b"])
    with pytest.raises(InvalidGraphError, match="different nodes: another number of them"):
        as_graph(twice)


class _Tensor:
    """What `as_graph` asks of a tensor."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def detach(self):
        return self

    def cpu(self):
        return self

    def __array__(self, dtype=None, copy=None):
        return self._values


def test_tensors_and_pyg_data():
    assert as_graph(_Tensor([[0, 1], [1, 0]])).edges() == [(0, 1)]
    both = SimpleNamespace(edge_index=_Tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=4)
    assert as_graph(both) == Graph.from_edges(4, [(0, 1), (1, 2)])
    for index, message in (
        ([[0, 1, 1], [1, 0, 2]], "1 of its 3 edges in one direction only"),
        ([[0, 1], [1, 2]], "2 of its 2 edges in one direction only.*to_undirected"),
        ([[0, 0], [1, 1]], "lists an edge twice"),
    ):
        with pytest.raises(InvalidGraphError, match=message):
            as_graph(SimpleNamespace(edge_index=_Tensor(index), num_nodes=3))
    with pytest.raises(InvalidGraphError, match=r"self-loop"):
        as_graph(SimpleNamespace(edge_index=_Tensor([[0, 1, 1], [1, 0, 1]]), num_nodes=3))
    weighted = SimpleNamespace(
        edge_index=_Tensor([[0], [1]]), edge_weight=_Tensor([0.3]), num_nodes=2
    )
    with pytest.raises(InvalidGraphError, match="edge weights other than 1"):
        as_graph(weighted)
    with pytest.raises(InvalidGraphError, match="no edge_index"):
        as_graph(SimpleNamespace(edge_index=None, num_nodes=2))


def test_the_node_features_of_pyg_data_stay_with_the_graph():
    """Copies, names, pickles and another order of the nodes keep x; equality ignores it."""
    ends = _Tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    x = _Tensor([[1.5], [2], [3]])
    graph = as_graph(SimpleNamespace(edge_index=ends, num_nodes=3, x=x))
    x._values[0] = 9  # the graph has its own copy
    for same in (
        graph,
        graph.toggle([(0, 2)]),
        graph.named("abc"),
        pickle.loads(pickle.dumps(graph)),
    ):
        assert same.x.tolist() == [[1.5], [2], [3]]
        assert not same.x.flags.writeable
    assert graph == Graph.from_edges(3, [(0, 1), (1, 2)])
    turned = match_graph(graph.named("abc"), ("c", "a", "b"))
    assert turned.x.tolist() == [[3], [1.5], [2]]
    assert turned.edges() == [(0, 2), (1, 2)]
    assert as_graph(SimpleNamespace(edge_index=ends, num_nodes=3, x=None)).x is None
    with pytest.raises(InvalidGraphError, match=r"shape \(3, 1\).*4 nodes"):
        as_graph(SimpleNamespace(edge_index=ends, num_nodes=4, x=x))


@pytest.mark.parametrize("kind", [list, tuple])
def test_several_graphs_are_told_of_explain_many(kind):
    graph = Graph.from_edges(3, [(0, 1)])
    ends = _Tensor([[0, 1], [1, 0]])
    for one in (graph, graph.to_networkx(), SimpleNamespace(edge_index=ends, num_nodes=2)):
        with pytest.raises(
            InvalidGraphError, match=r"of 2 graphs.*explain_many\(dataset, oracle\)"
        ):
            as_graph(kind([one, one]))


@pytest.mark.parametrize("value", [None, "graph.csv", {}])
def test_what_is_no_graph_is_told_what_to_pass(value):
    with pytest.raises(InvalidGraphError, match=r"is not a graph\. Pass a denseflip Graph"):
        as_graph(value)


def test_differences_are_told_both_ways():
    many = [f"n{i}" for i in range(30)]
    text = tell_difference(many, ["Ab"], "a.csv", "the table")
    assert "only in a.csv (30): 'n0'" in text
    assert "and 20 more" in text
    assert text.endswith("only in the table (1): 'Ab'.")


# ---- names of many graphs ------------------------------------------------------------------


def test_graphs_of_a_data_set_take_the_order_of_its_table_and_leave_their_names_there():
    g = Graph.from_edges(3, [(0, 1)])
    table = Nodes(("c", "a", "b"))
    named, turned = g.named(("a", "b", "c")), Graph.from_edges(3, [(1, 2)])
    graphs, nodes = settle_names([g, named], table)
    assert nodes is table
    assert graphs == (g, turned)  # a and b are the second and the third
    assert all(one.names is None for one in graphs)


def test_without_a_table_the_first_names_make_one():
    g = Graph.from_edges(3, [(0, 1)])
    graphs, nodes = settle_names([g, g.named(("x", "y", "z")), g.named(("y", "x", "z"))], Nodes(()))
    assert nodes.names == ("x", "y", "z")
    assert graphs == (g, g, g)
    assert all(one.names is None for one in graphs)


def test_graphs_without_names_or_with_numbers_stay_as_they_are_numbered():
    g = Graph.from_edges(3, [(0, 1)])
    none = Nodes(())
    graphs, nodes = settle_names([g, g], none)
    assert graphs == (g, g)
    assert nodes is none
    table = Nodes(("c", "a", "b"))
    graphs, nodes = settle_names([g.named((2, 1, 0))], table)
    assert nodes is table
    assert graphs == (g,)
    assert graphs[0].names is None


def test_a_difference_of_names_lists_ten_of_each_and_counts_the_rest():
    ours, theirs = [f"p{i}" for i in range(12)], [f"q{i}" for i in range(10)]
    said = tell_difference(ours, theirs, "here", "there")
    assert said.startswith("only in here (12): 'p0'")
    assert "'p9'" in said
    assert "'p10'" not in said
    assert " and 2 more; only in there (10): 'q0'" in said
    assert said.endswith("'q9'.")


def test_a_subject_of_a_data_set_is_refused_with_the_remedy():
    from denseflip.datasets import make_synthetic

    subject = make_synthetic(n_per_class=2, seed=0)[0]
    with pytest.raises(
        InvalidGraphError, match=r"type Example is not a graph\. Pass its attribute"
    ):
        as_graph(subject)
    assert as_graph(subject.graph) is subject.graph
