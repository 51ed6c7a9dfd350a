"""Explain and tell in one call; compare."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cohorts import make_cohort
from denseflip import Counterfactual, compare, describe, explain, make_method
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.graph import Graph
from denseflip.request import Request
from denseflip.search.methods.registry import method_for
from denseflip.story.story import Story
from denseflip.workflow.compare import COMPARED
from denseflip.workflow.explain_and_describe import (
    describe_answers,
    explain_and_describe,
    json_record,
    oracle_for,
    refits_for,
    regions_for,
)
from denseflip.workflow.subject import Subject, find_subject
from graphs import complete, halves, two_cliques

COHORT = make_cohort()


def linked(a):
    return int(a[0, 1])


def eight() -> Subject:
    return Subject(two_cliques(), "Graph 1", halves(8))


def test_tell_is_explain_and_describe():
    subject = eight()
    story = explain_and_describe(subject, linked, "cli", regions="parity", share=0.5, seed=3)
    result = explain(subject.graph, linked, "cli", nodes=subject.nodes, seed=3)
    by_hand = describe(
        result, subject.nodes, linked, regions="parity", share=0.5, subject="Graph 1"
    )
    assert story.result.edits == result.edits
    assert story.statement == by_hand.statement
    assert story.taxonomy is not None
    assert story.taxonomy.name == "parity"
    assert "graph 1" in story.statement


def test_tell_takes_a_bare_graph_and_a_made_method():
    story = explain_and_describe(
        two_cliques(), linked, make_method("cli", max_iterations=1), budget=1
    )
    assert not story.result.found


def test_a_subject_of_a_data_set_brings_everything_along():
    subject = find_subject(COHORT, 0)
    oracle = oracle_for(subject, "edges-svm")
    story = explain_and_describe(
        subject, oracle, "con"
    )  # con needs a background: the data set's graphs
    assert story.class_names == dict(enumerate(COHORT.class_names))
    target = 1 - story.result.label_before
    assert explain_and_describe(subject, oracle, "con", target=target).result.target == target


def test_without_words_the_default_classifier_is_trained_on_the_data_set():
    assert oracle_for(find_subject(COHORT, 0)).card["preset"] == "regions-logistic"


def test_without_a_data_set_the_oracle_must_be_said():
    with pytest.raises(MissingInputError, match=r"A classifier is required \(oracle\)") as e:
        oracle_for(eight())
    assert e.value.parameters == ("oracle",)
    with pytest.raises(MissingInputError, match="must be trained on a data set"):
        oracle_for(eight(), "edges-svm")
    with pytest.raises(UnknownNameError, match="Did you mean 'edges-svm'"):
        oracle_for(eight(), "edge-svm")


def test_regions_reach_a_method_that_works_with_them():
    subject = eight()
    story = explain_and_describe(subject, linked, "rcli", regions="parity")
    assert story.result.parameters["search"]["rank"]["levels"] == ["parity"]
    assert story.taxonomy.name == "parity"
    assert explain_and_describe(subject, linked, "cli", regions="parity").taxonomy.name == "parity"


def test_settings_come_before_what_is_asked_for_in_general():
    asked = Request("blocks", regions="side", parameters={"regions": "parity"})
    method = method_for(asked)
    assert method.parameters["search"]["regions"] == "parity"


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ({"language": "nodes"}, "language"),
        ({"objective": "edits"}, "objective"),
        ({"front": True}, "front"),
    ],
)
def test_what_a_method_does_not_take_is_said(asked, name):
    with pytest.raises(
        InvalidParameterError, match=f"'tri' has no parameter {name}. These have it:"
    ) as error:
        explain_and_describe(eight(), linked, "tri+min", **asked)
    assert error.value.parameters == (name, "method")
    with pytest.raises(InvalidParameterError, match="not with a method object"):
        explain_and_describe(eight(), linked, make_method("tri"), **asked)


def test_max_cells_is_a_constraint_for_a_method_that_does_not_take_it():
    story = explain_and_describe(eight(), linked, "tri+min", max_cells=1)
    assert story.result.constraints["max_cells"] == 1


def test_whoever_wants_to_hear_what_happens_is_told():
    heard = []
    story = explain_and_describe(eight(), linked, "cli", on_event=heard.append)
    assert max(event.calls for event in heard) == story.result.calls
    heard.clear()
    (row,) = compare(eight(), linked, ["cli"], on_event=heard.append)
    assert max(event.calls for event in heard) == row.story.result.calls


def test_a_record_is_the_result_and_what_is_told_of_it():
    story = explain_and_describe(eight(), linked, "cli+min")
    data = json.loads(json.dumps(json_record(story)))
    assert Counterfactual.from_dict(data) == story.result
    assert data["statement"] == story.statement
    assert data["verified"] is True
    assert data["story"]["subject"] == "Graph 1"


# ---- the front --------------------------------------------------------------------------


def fronted() -> tuple[Subject, object, Story]:
    """A subject whose result has a front of three answers, made by hand."""
    cohort = make_cohort(signal=0.9)
    subject = find_subject(cohort, 0)
    oracle = oracle_for(subject, "regions-logistic")
    story = explain_and_describe(subject, oracle, "auto", front=True)
    others = [explain(subject.graph, oracle, m, background=cohort.graphs) for m in ("con", "dat")]
    front = (story.result, *others)
    return subject, oracle, replace(story, result=replace(story.result, front=front))


def test_every_answer_of_a_front_is_told():
    subject, oracle, story = fronted()
    stories = describe_answers(story, oracle, background=subject.background)
    assert stories[0] is story
    assert [one.result.edits for one in stories] == [r.edits for r in story.result.front]
    for one in stories[1:]:
        assert one.verified
        assert one.as_read is not None
        assert one.subject == story.subject
        assert one.class_names == story.class_names
        assert one.taxonomy == story.taxonomy


def test_without_a_front_the_story_is_the_only_one_and_nothing_found_is_none():
    story = explain_and_describe(eight(), linked, "cli+min")
    assert describe_answers(story, linked) == (story,)
    assert describe_answers(explain_and_describe(eight(), linked, "cli", target=7), linked) == ()


def test_a_record_of_a_front_tells_every_answer():
    subject, oracle, story = fronted()
    stories = describe_answers(story, oracle, background=subject.background)
    data = json.loads(json.dumps(json_record(story, stories)))
    assert [one["statement"] for one in data["front"]] == [one.statement for one in stories]
    assert [one["true_as_read"] for one in data["front"]] == [one.true_as_read for one in stories]
    again = Counterfactual.from_dict(data)
    assert [one.edits for one in again.front] == [one.edits for one in story.result.front]


def test_regions_that_the_search_has_seen_to_are_not_forced_on_its_answer():
    subject, oracle, story = fronted()
    assert story.result.as_read is not None
    assert regions_for(story.result, "side") is None
    plain = explain(subject.graph, oracle, "con", background=subject.background)
    assert regions_for(plain, "side") == "side"
    own = explain_and_describe(subject, oracle, "auto", language="nodes", regions="side")
    assert own.language in ("nodes", "pairs")
    assert own.taxonomy is None


# ---- compare ----------------------------------------------------------------------------


def test_compare_gives_a_row_per_method_and_says_why_one_does_not_apply():
    started = []
    rows = list(compare(two_cliques(), linked, ["cli", "rcli", "dat"], progress=started.append))
    assert [row.method for row in rows] == started == ["cli", "rcli", "dat"]
    assert rows[0].story is not None
    assert rows[0].sentence == rows[0].story.statement
    assert rows[1].story is None
    assert "no regions were given" in rows[1].sentence
    assert rows[2].to_dict() == {
        "method": "dat",
        "status": "not-applicable",
        "found": False,
        "reason": rows[2].reason,
    }


def test_regions_of_a_comparison_reach_the_methods_that_work_with_them():
    (row,) = compare(eight(), linked, ["rcli"], regions="parity")
    assert row.story.result.parameters["search"]["rank"]["levels"] == ["parity"]


def test_a_subject_is_compared_with_what_is_known_around_it():
    subject = Subject(two_cliques(), "Graph 1", halves(8))
    given = list(compare(two_cliques(), linked, ["rcli"], nodes=halves(8), subject="Graph 1"))
    known = list(compare(subject, linked, ["rcli"]))
    assert given[0].story.statement == known[0].story.statement
    other = list(compare(subject, linked, ["rcli"], subject="Graph 2", regions="parity"))
    assert "graph 2" in other[0].story.statement
    assert other[0].story.taxonomy.name == "parity"


def test_one_method_may_be_given_by_its_name_alone():
    assert [row.method for row in compare(two_cliques(), linked, "cli")] == ["cli"]


def test_a_wrong_method_is_told_before_the_first_search():
    with pytest.raises(UnknownNameError, match="Did you mean 'tri'"):
        compare(two_cliques(), linked, ["cli", "trii"])


def test_an_unknown_keyword_is_refused_with_the_nearest_one():
    with pytest.raises(UnknownNameError, match=r"keyword of compare 'region'.*'regions'"):
        compare(two_cliques(), linked, ["cli"], region="side")


def test_budget_time_and_target_reach_every_method():
    background = [two_cliques(), complete(8), Graph.from_edges(8, [])]
    rows = compare(
        two_cliques(),
        linked,
        COMPARED,
        nodes=halves(8),
        background=background,
        budget=2,
        target=0,
        time_limit=60.0,
    )
    for row in rows:
        assert row.story is not None
        assert row.story.result.calls <= 2
        assert row.story.result.target == 0


def test_a_long_sentence_is_told_in_short():
    nodes = halves(8)
    rows = list(compare(two_cliques(), lambda a: int(a.sum() > 0), ["edg", "cli"], nodes=nodes))
    for row in rows:
        assert row.n_regions is None or row.n_regions <= 3


@pytest.mark.parametrize("wanted", ["-3", "nowhere", -1])
def test_refits_that_are_neither_a_number_nor_models_are_refused(wanted):
    subject = find_subject(make_cohort(), 0)
    with pytest.raises(InvalidParameterError, match="a folder of models or module:function"):
        refits_for(subject, None, wanted)
