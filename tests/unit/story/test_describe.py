"""`describe` and `Story`: inputs, defaults, node-level sentences, forms."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

import denseflip
from denseflip import Counterfactual, Edits, Graph, Nodes, Story, Vocabulary, describe, explain
from denseflip.counterfactual import AsRead, Status
from denseflip.datasets.atlas import load_aal, load_mouse_atlas
from denseflip.errors import (
    FileFormatError,
    InvalidNodesError,
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
)
from denseflip.graph import Taxonomy
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.session import Session
from stories import says_its_claim

PARTS = ("North",) * 3 + ("South",) * 3
NODES = Nodes(tuple("abcdef"), regions={"part": PARTS, "hemisphere": tuple("LRLRLR")})
ORIGINAL = Graph.from_edges(6, [(0, 1), (0, 2), (1, 2)])
RESULT = Counterfactual(
    Status.FOUND, ORIGINAL, Edits(((3, 4),), ((0, 1), (0, 2))), 0, 1, method="tri"
)


def oracle(adjacency) -> int:
    return int(not adjacency[0, 1])


# ---- words and names ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "name"),
    [
        (NODES, "network"),
        (load_aal(), "brain"),
        (load_mouse_atlas(), "mouse"),
        (Nodes(("a", "b"), regions={"lobe": ("Frontal Lobe", "Insula")}), "network"),
        (Nodes(("a", "b"), regions={"macrostructure": ("x", "y")}), "network"),
        (Nodes(("a", "b"), coordinates=((0, 0, 0), (1, 1, 1))), "connectome"),
        (Nodes.numbered(3), "graph"),
    ],
)
def test_the_vocabulary_fits_the_nodes(nodes, name) -> None:
    assert Vocabulary.for_nodes(nodes).name == name


def test_class_names_and_evaluation_come_from_the_oracle() -> None:
    class Card:
        class_names = ("well", "ill")

        def __init__(self):
            verdict = {"level": "chance", "verdict": "Not better than chance: 50 %."}
            self.card = {"evaluation": verdict}

        def predict(self, graphs):
            return [oracle(g.to_adjacency()) for g in graphs]

    story = describe(RESULT, NODES, Card())
    assert "classified as ill" in story.statement
    assert story.footnotes[0] == "Not better than chance: 50 %."
    assert describe(RESULT, NODES, Session(Card())).statement == story.statement


def test_the_taxonomy_may_be_named_crossed_or_given() -> None:
    assert describe(RESULT, NODES).taxonomy.name == "part"
    crossed = describe(RESULT, NODES, regions="part*hemisphere")
    assert "within the left North" in crossed.statement
    own = Taxonomy.from_labels("mine", ["one", "one", "one", "two", "two", "two"])
    story = describe(RESULT, NODES, regions=own)
    assert "within one" in story.statement
    assert Story.from_dict(story.to_dict()) == story


def test_the_regions_that_the_method_worked_with_are_the_default() -> None:
    facts = {"parameters": {"search": {"regions": "hemisphere"}}}
    result = Counterfactual(Status.FOUND, ORIGINAL, RESULT.edits, 0, 1, **facts)
    assert describe(result, NODES).taxonomy.name == "hemisphere"
    assert describe(result, NODES, regions="part").taxonomy.name == "part"


# ---- bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"form": "long"}, UnknownNameError, "Unknown form 'long'"),
        ({"vocabulary": "brian"}, UnknownNameError, "Did you mean 'brain'"),
        ({"regions": "lobes"}, UnknownNameError, "Unknown taxonomy 'lobes'"),
        ({"share": 2}, InvalidParameterError, "share must be a number from 0 to 1; got 2"),
        ({"share": "all"}, InvalidParameterError, "share must be"),
        ({"share": -0.01}, InvalidParameterError, "share must be"),
        ({"share": True}, InvalidParameterError, "share must be"),
        ({"budget": True}, InvalidParameterError, "budget must be"),
        ({"budget": 1}, InvalidParameterError, "budget must be .* at least 2; got 1"),
        ({"class_names": "ab"}, InvalidParameterError, "class_names must be"),
        (
            {"regions": Taxonomy.from_labels("x", ["a"])},
            InvalidParameterError,
            "cover 1 nodes; the graph has 6",
        ),
    ],
)
def test_bad_options_are_refused(options, error, match) -> None:
    with pytest.raises(error, match=match):
        describe(RESULT, NODES, **options)


@pytest.mark.parametrize("options", [{"share": 0}, {"share": 1}, {"budget": 2}])
def test_options_at_their_bounds_are_not(options) -> None:
    assert describe(RESULT, NODES, **options).statement


def test_the_nodes_of_another_graph_are_refused() -> None:
    with pytest.raises(InvalidNodesError, match="6 nodes, but the node table describes 2"):
        describe(RESULT, Nodes(("a", "b")))


def test_regions_asked_for_where_there_are_none() -> None:
    with pytest.raises(MissingInputError, match="no regions"):
        describe(RESULT, Nodes.numbered(6), regions="lobe")
    with pytest.raises(MissingInputError, match="no regions"):
        describe(RESULT).regions()


# ---- without regions ----------------------------------------------------------------------


def test_few_edits_without_regions_are_named_pair_by_pair() -> None:
    story = describe(RESULT, Nodes(tuple("abcdef")), oracle)
    assert story.taxonomy is None
    assert story.statement == (
        "If this graph had one fewer edge between node a and node b, it would have been labelled 1."
    )
    assert "1 of 3 edges, 1 of 3 pairs of nodes" in story.tested
    assert any("region column as nodes (Nodes.read_csv reads one)" in n for n in story.footnotes)
    assert story.parameters == ("nodes",)


def test_many_edits_without_regions_are_told_by_node() -> None:
    star = tuple((0, i) for i in range(1, 9))
    result = Counterfactual(
        Status.FOUND, Graph.from_edges(10, [(8, 9)]), Edits(star, ((8, 9),)), 0, 1
    )
    story = describe(result, None, lambda a: int(a[0].sum() > 6))
    assert "had 8 more edges of node 0 (0 → 8 of 9), it" in story.statement
    assert story.claim.amounts == (((0, None), 8, 0),)
    assert story.verification.edits == Edits(star)
    assert "8 of 9 edges, 1 of 2 nodes" in story.tested
    assert says_its_claim(story)


def test_a_node_with_edits_both_ways_says_both() -> None:
    star = tuple((0, i) for i in range(1, 8))
    result = Counterfactual(
        Status.FOUND, Graph.from_edges(9, [(0, 8)]), Edits(star, ((0, 8),)), 0, 1
    )
    story = describe(result)
    assert "had 7 more and one fewer edge of node 0 (1 → 7 of 8), it" in story.statement


# ---- footnotes ----------------------------------------------------------------------------


def evaluation(level: str):
    return SimpleNamespace(
        level=level,
        better_than_chance=level == "better",
        verdict="The verdict.",
        warning=None if level == "better" else "The warning.",
    )


def test_a_classifier_no_better_than_chance_is_said_first() -> None:
    for level in ("chance", "unclear"):
        notes = describe(RESULT, NODES, oracle, evaluation=evaluation(level)).footnotes
        assert notes[0] == "The verdict. The warning."


def test_a_good_classifier_is_called_so_in_one_note() -> None:
    notes = describe(RESULT, NODES, oracle, evaluation=evaluation("better")).footnotes
    assert notes[0] == "The verdict."
    assert notes[1].startswith("Tested with 2 queries")
    assert not any("chance" in note for note in notes)
    bare = describe(RESULT, NODES, oracle, evaluation={"level": "better"}).footnotes
    assert bare == notes[1:]


def test_an_unjudged_classifier_is_called_so() -> None:
    note = describe(RESULT, NODES, oracle).footnotes[0]
    assert "is not known. Evaluate it first (evaluate):" in note


def test_notes_and_minimality_of_the_search_are_passed_on() -> None:
    base = {"status": Status.FOUND, "original": ORIGINAL, "edits": RESULT.edits}
    labels = {"label_before": 0, "label_after": 1}
    result = Counterfactual(**base, **labels, minimal=True, notes=("A cap bit.",))
    notes = describe(result, NODES).footnotes
    assert "A cap bit." in notes
    assert any("Minimal: none of the 3 connections" in note for note in notes)
    result = Counterfactual(**base, **labels, minimal=False)
    assert any("could not be certified" in n for n in describe(result, NODES).footnotes)


def test_what_it_does_not_say_comes_last() -> None:
    assert "not what makes a graph belong to a class" in describe(RESULT, NODES).footnotes[-1]
    brain = describe(RESULT, NODES, vocabulary="brain").footnotes[-1]
    assert "does not say what causes a condition" in brain


def long_story(method: str = "tri") -> Story:
    n = 14
    pairs = tuple((i, i + 1) for i in range(n - 1))
    nodes = Nodes.from_groups(n, {f"Part {i}": [i] for i in range(n)})
    result = Counterfactual(
        Status.FOUND, Graph.from_edges(n, []), Edits(pairs), 0, 1, method=method
    )
    return describe(result, nodes)


def test_a_long_sentence_points_to_the_method_that_makes_short_ones() -> None:
    story = long_story()
    assert any(
        "The method auto, with a background, searches for" in note for note in story.footnotes
    )
    assert story.parameters == ("method", "background")
    assert long_story("auto").parameters == ()


def test_a_long_sentence_is_a_lead_and_a_list() -> None:
    story = long_story()
    assert story.lead == (
        "If this graph had 13 more connections in 13 places, listed below, it would have been "
        "labelled 1 – for the 13 connections listed; others were not tested."
    )
    assert len(story.items) == 13
    assert story.items[2] == "one more connection between Part 2 and Part 3"
    assert story.statement == "\n- ".join([story.lead, *story.items])
    assert story.to_dict()["lead"] == story.lead
    assert story.to_dict()["items"] == list(story.items)
    assert str(story).startswith(story.statement)
    assert story._repr_markdown_().startswith(f"> {story.lead}\n>\n> - {story.items[0]}\n> - ")
    assert story._repr_html_().count("<li>") == 13 + len(story.footnotes)
    assert story.claim.amounts == tuple(((i, i + 1), 1, 0) for i in range(13))
    assert says_its_claim(story)
    short = describe(RESULT, NODES, oracle)
    assert (short.lead, short.items) == (short.statement, ())


def test_many_pairs_are_a_list_of_pairs() -> None:
    told = AsRead("pairs", None, "any", 0, 0)
    pairs = tuple((0, i) for i in range(1, 14))
    result = Counterfactual(
        Status.FOUND,
        Graph.from_edges(14, pairs[:2]),
        Edits(pairs[2:], pairs[:2]),
        0,
        1,
        as_read=told,
    )
    story = describe(result, Nodes.numbered(14))
    assert story.lead == (
        "If this graph had 11 more and 2 fewer edges, those listed below, it would have been "
        "labelled 1."
    )
    assert story.items[0] == "one fewer edge between node 0 and node 1"
    assert [a.place for a in story.claim.amounts if a.change == "less"] == [(0, 1), (0, 2)]
    assert says_its_claim(story)


def test_nodes_with_names_are_called_by_them() -> None:
    nodes = Nodes(("Hippocampus_L", "Hippocampus_R", "Insula_L", "Vermis_3"))
    told = AsRead("nodes", None, "any", 20, 20)
    result = Counterfactual(
        Status.FOUND, Graph.from_edges(4, []), Edits(((0, 1), (0, 2))), 0, 1, as_read=told
    )
    text = describe(result, nodes).statement
    assert "had 2 more edges of the left Hippocampus (0 → 2 of 3), it" in text


# ---- the numbers and the forms -------------------------------------------------------------


def test_regions_of_all_and_of_named_edits() -> None:
    story = describe(RESULT, NODES, oracle)
    assert len(story.regions().edits) == 3
    assert story.regions(edits="named").edits == Edits(removed=((0, 1), (0, 2)))
    assert story.regions("hemisphere").taxonomy.name == "hemisphere"
    assert story.named_edits == story.verification.edits


def test_str_shows_the_wanted_form() -> None:
    texts = {
        form: str(describe(RESULT, NODES, oracle, form=form))
        for form in ("short", "standard", "detailed")
    }
    story = describe(RESULT, NODES, oracle)
    assert texts["short"] == story.short
    assert texts["standard"].startswith(story.statement + "\n\n[1] ")
    assert texts["detailed"].startswith(story.detailed)


def test_notebook_forms_escape_and_hold_the_footnotes() -> None:
    story = describe(RESULT, NODES, oracle, subject="<b>", class_names=("c", "a&b"))
    page = story._repr_html_()
    assert "&lt;b&gt;" in page
    assert "a&amp;b" in page
    assert page.count("<li>") == len(story.footnotes)
    said = story.statement.replace("<b>", "&lt;b>")
    assert story._repr_markdown_().startswith(f"> {said}\n\n1. ")
    assert "verified=True" in repr(story)


def test_the_dictionary_is_json_and_comes_back() -> None:
    story = describe(RESULT, NODES, oracle, subject=3, class_names={0: "well", 1: "ill"})
    data = json.loads(json.dumps(story.to_dict()))
    again = Story.from_dict(data)
    assert again == story
    assert again.footnotes == story.footnotes
    assert data["statement"] == story.statement
    assert data["verified"] is True
    assert data["verification"]["questions"] == 2
    assert data["regions"]["taxonomy"] == "part"
    assert describe(RESULT).to_dict()["regions"] is None


def test_a_broken_dictionary_is_refused() -> None:
    data = describe(RESULT, NODES).to_dict()
    with pytest.raises(FileFormatError, match="Not a denseflip story: the entry subject is"):
        Story.from_dict({k: v for k, v in data.items() if k != "subject"})
    with pytest.raises(FileFormatError, match="has format 99"):
        Story.from_dict({**data, "format": 99})
    for odd in ("a", [1] * 8, None if data["node_regions"] else [None]):
        with pytest.raises(FileFormatError, match="node_regions"):
            Story.from_dict({**data, "node_regions": odd})


def test_public_names() -> None:
    assert denseflip.describe is describe
    assert denseflip.Story is Story


def test_end_to_end_with_a_search() -> None:
    result = explain(ORIGINAL, oracle, "tri")
    story = describe(result, NODES, oracle)
    assert story.verified
    assert story.node_name(0) == "a"
    assert story.class_name(0) == "class 0"


def test_a_classifier_in_the_place_of_the_node_table_is_refused():
    graph = Graph.from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)])
    oracle = as_oracle(lambda a: int(a[1, 2]))
    result = explain(graph, oracle, "tri")
    with pytest.raises(InvalidNodesError, match=r"nodes must be a node table.*oracle="):
        describe(result, oracle)
