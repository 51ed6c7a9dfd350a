"""The true class of a graph is shown at every entrance where it is known, and nowhere else."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from cohorts import make_cohort
from denseflip import (
    Graph,
    as_oracle,
    compare,
    describe,
    explain,
    explain_many,
    write_page,
)
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.errors import FileFormatError
from denseflip.story.story import Story
from denseflip.workflow.explain_and_describe import (
    describe_answers,
    explain_and_describe,
    json_record,
)
from denseflip.workflow.subject import Subject, find_subject

DATA = make_cohort(6)  # classes A and B by turns
BOX = "def first(a):\n    return int(a[0, 1])\n"


def first(a):
    return int(a[0, 1])


ORACLE = as_oracle(first, "adjacency")
RIGHT = next(x.id for x in DATA if first(x.graph.to_adjacency()) == x.label)
WRONG = next(x.id for x in DATA if first(x.graph.to_adjacency()) != x.label)
OPENING = {x.id: f"{x.id} is classified as {'AB'[1 - x.label]}" for x in DATA}
SAYS = f"; the data set says {'AB'[DATA[WRONG].label]}."
TOO = f"The data set says {'AB'[DATA[RIGHT].label]}, too."


@pytest.fixture(scope="module")
def wrong():
    return explain_and_describe(find_subject(DATA, WRONG), ORACLE, "edg+min")


@pytest.fixture(scope="module")
def right():
    return explain_and_describe(find_subject(DATA, RIGHT), ORACLE, "edg+min")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "truebox.py").write_text(BOX)
    DATA.save(tmp_path / "study.dfd")
    return tmp_path


# ---- who knows it ---------------------------------------------------------------------------


def test_a_subject_of_a_data_set_knows_its_class():
    for example in DATA:
        assert find_subject(DATA, example.id).true_class == DATA.class_names[example.label]
    named = Subject(DATA.graphs[3], "Mouse 3", DATA.nodes, DATA)
    assert named.true_class == "B"


def test_a_graph_that_is_none_of_the_data_sets_has_no_true_class(folder):
    strange = Graph.from_edges(12, [(0, 1)])
    assert Subject(strange, DATA.ids[0], DATA.nodes, DATA).true_class is None
    assert Subject(DATA.graphs[0], DATA.ids[0]).true_class is None
    np.savetxt("g0000.csv", DATA.graphs[0].to_adjacency(), delimiter=",")  # named as one of them
    beside = find_subject("g0000.csv", background=DATA)
    assert beside.true_class is None
    story = explain_and_describe(beside, ORACLE, "edg+min")
    assert story.true_class is None
    assert story.correct is None
    assert "data set says" not in str(story)


def test_one_graph_under_two_labels_is_told_apart_by_its_id():
    twice = replace(DATA, graphs=(DATA.graphs[0],) * 2, labels=(0, 1), ids=("a", "b"), subjects={})
    assert find_subject(twice, "a").true_class == "A"
    assert find_subject(twice, "b").true_class == "B"
    assert Subject(twice.graphs[0], "neither", twice.nodes, twice).true_class is None


# ---- the words ------------------------------------------------------------------------------


def test_where_the_classifier_is_wrong_the_first_line_says_so(wrong):
    assert wrong.correct is False
    assert wrong.lead.partition(". ")[0] + "." == wrong.classified
    assert wrong.classified.endswith(SAYS)
    assert str(wrong).count("the data set says") == 1
    assert not any("data set says" in note for note in wrong.footnotes)
    for form in (wrong.statement, wrong.detailed, wrong._repr_html_(), wrong._repr_markdown_()):
        assert "the data set says" in form


def test_where_it_is_right_one_footnote_says_so(right):
    assert right.correct is True
    assert "data set" not in right.lead
    assert [note for note in right.footnotes if "data set says" in note] == [TOO]
    assert right.classified.endswith(", as in the data set.")


def test_where_it_is_not_known_nothing_is_said():
    story = describe(explain(DATA.graphs[0], ORACLE, "edg"), DATA.nodes, ORACLE)
    assert (story.true_class, story.correct) == (None, None)
    assert "data set says" not in " ".join([str(story), story.detailed, story.classified])
    assert story.classified == f"This graph is labelled {story.result.label_before}."


def test_classes_of_another_kind_are_not_compared():
    oracle = as_oracle(lambda a: "linked" if a[0, 1] else "free", "adjacency")
    story = explain_and_describe(find_subject(DATA, WRONG), oracle, "edg+min")
    assert story.correct is None
    assert "; the data set says" not in story.lead
    assert f"The data set says {story.true_class}." in story.footnotes
    named = as_oracle(first, "adjacency", class_names=["free", "linked"])
    story = explain_and_describe(find_subject(DATA, WRONG), named, "edg+min")
    assert "classified as" in story.lead
    assert story.class_name(0) == "free"  # its own names, for it has no class of the data set
    assert story.correct is None


def test_a_classifier_that_answers_by_names_is_compared():
    oracle = as_oracle(lambda a: "AB"[first(a)], "adjacency")
    assert explain_and_describe(find_subject(DATA, WRONG), oracle, "edg+min").correct is False
    assert explain_and_describe(find_subject(DATA, RIGHT), oracle, "edg+min").correct is True


@pytest.mark.parametrize("truth", [0, np.int64(0), False])
def test_describe_takes_a_label_or_a_name(truth):
    graph = Graph.from_edges(4, [(0, 1), (1, 2)])
    result = explain(graph, ORACLE, "edg+min")
    names = ["well", "ill"]
    told = describe(result, None, ORACLE, class_names=names, true_class=truth, subject="Patient 9")
    assert told.true_class == "well"
    assert told.lead.startswith("Patient 9 is classified as ill; the data set says well. If ")
    same = describe(result, None, ORACLE, class_names=names, true_class="ill")
    assert same.correct is True
    plain = describe(result, None, ORACLE, true_class=truth)
    assert plain.true_class.startswith("class ")
    assert plain.correct is False


def test_nothing_found_says_it_too():
    always = as_oracle(lambda a: DATA[WRONG].label ^ 1, "adjacency")
    story = explain_and_describe(find_subject(DATA, WRONG), always, "edg", budget=20)
    assert not story.result.found
    assert story.lead.partition(". ")[0].endswith(SAYS[:-1])
    kept = explain_and_describe(
        find_subject(DATA, WRONG), ORACLE, "edg", target=1 - DATA[WRONG].label
    )
    assert "This is the target class already" in kept.lead
    assert SAYS in kept.lead


# ---- what is saved --------------------------------------------------------------------------


def test_it_survives_saving_and_loading(wrong, right):
    for story in (wrong, right):
        again = Story.from_dict(json.loads(json.dumps(story.to_dict())))
        assert again == story
        assert again.correct == story.correct
        told = json_record(story)
        assert (told["true_class"], told["correct"]) == (story.true_class, story.correct)
        assert told["story"]["true_class"] == story.true_class


def test_a_story_without_it_is_read_and_a_wrong_one_refused(wrong):
    data = wrong.to_dict()
    del data["true_class"], data["correct"]
    assert Story.from_dict(data).true_class is None
    with pytest.raises(FileFormatError):
        Story.from_dict({**data, "true_class": 3})
    hostile = Story.from_dict({**data, "true_class": "A\x1b[31m"})
    assert "\x1b" not in str(hostile)


def test_answers_of_a_front_and_diverse_ones_have_it(wrong):
    subject = find_subject(DATA, WRONG)
    several = explain_and_describe(subject, ORACLE, "edg+min", n=2)
    for one in describe_answers(several, ORACLE):
        assert one.true_class == subject.true_class
        assert one.correct is False


def test_compare_has_it():
    rows = list(compare(find_subject(DATA, WRONG), ORACLE, ["edg", "tri"]))
    assert all(row.to_dict()["correct"] is False for row in rows)
    assert all(SAYS in row.story.lead for row in rows)
    given = compare(DATA.graphs[0], ORACLE, ["edg"], class_names=["A", "B"], true_class="B")
    assert [row.story.true_class for row in given] == ["B"]


@pytest.mark.parametrize("store", [None, "kept"])
def test_many_have_it_fresh_and_from_a_store(store, tmp_path):
    where = None if store is None else tmp_path / store
    for _ in range(1 if store is None else 2):
        many = explain_many(DATA, ORACLE, [WRONG, RIGHT], method="edg+min", store=where)
        assert [one.story.true_class for one in many] == [one.label for one in many]
        assert [one.story.correct for one in many] == [False, True]
        columns, rows = many.table().columns, many.table().rows
        told = [dict(zip(columns, row, strict=True)) for row in rows]
        assert [row["correct"] for row in told] == [False, True]
        assert [row["class"] == row["before"] for row in told] == [False, True]
        assert SAYS in told[0]["sentence"]


# ---- pages and the command line ---------------------------------------------------------------


def test_the_page(wrong, right, tmp_path):
    page = write_page(wrong, tmp_path / "wrong.html", interactive=False).read_text()
    shown = page.partition('<script type="application/json"')[0]
    assert shown.count(SAYS) == 1
    page = write_page(right, tmp_path / "right.html", interactive=False).read_text()
    shown = page.partition('<script type="application/json"')[0]
    # Beside the sentence, and again in the folded notes.
    assert shown.count("data set says") == 2
    assert shown.count(TOO) == 1


def test_the_command_line_explains(folder, capsys):
    args = ["explain", "study.dfd", WRONG, "--oracle", "truebox:first", "-m", "edg+min"]
    assert run(app, args) == 0
    text = capsys.readouterr().out
    assert SAYS in text.splitlines()[0]
    assert run(app, [*args, "--json", "--out", "one"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["correct"] is False
    assert told["true_class"] == DATA.class_names[DATA[WRONG].label]
    assert SAYS in (folder / "one" / "report.html").read_text()
    assert json.loads((folder / "one" / "result.json").read_text())["correct"] is False
    args[2] = RIGHT
    assert run(app, args) == 0
    assert f"* {TOO}" in capsys.readouterr().out.splitlines()


def test_the_command_line_explains_many(folder, capsys):
    args = ["explain", "study.dfd", WRONG, RIGHT, "--oracle", "truebox:first", "-m", "edg+min"]
    args += ["--engine", "serial", "--out", "many", "--pages", "still"]
    assert run(app, args) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["graph", "class", "decision"]
    assert run(app, [*args, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["correct"] for row in rows] == [False, True]
    index = (folder / "many" / "index.html").read_text()
    assert index.count("misclassified") == 1
    assert SAYS in index
    assert SAYS in (folder / "many" / "pages" / f"{WRONG}.html").read_text()
    kept = json.loads((folder / "many" / "pages" / f"{WRONG}.json").read_text())
    assert kept["correct"] is False


def test_the_command_line_compares(folder, capsys):
    args = ["compare", "study.dfd", WRONG, "--oracle", "truebox:first", "--methods", "edg,tri"]
    assert run(app, args) == 0
    assert SAYS in capsys.readouterr().out.splitlines()[0]
    assert run(app, [*args, "--json", "--out", "both"]) == 0
    assert [row["correct"] for row in json.loads(capsys.readouterr().out)] == [False, False]
    assert SAYS in (folder / "both" / "report.html").read_text()
    args[2] = RIGHT
    assert run(app, args) == 0
    assert "as in the data set." in capsys.readouterr().out.splitlines()[0]
    np.savetxt("g.csv", DATA.graphs[0].to_adjacency(), delimiter=",")
    assert run(app, ["compare", "g.csv", *args[3:]]) == 0
    assert "data set" not in capsys.readouterr().out


def test_bench_rows_have_the_label_of_the_data_set(folder, capsys):
    (folder / "bench.toml").write_text(
        'datasets = ["study.dfd"]\nmethods = ["edg"]\n'
        '[[oracles]]\nfunction = "truebox:first"\n[run]\nengine = "serial"\n'
    )
    assert run(app, ["bench", "--config", "bench.toml", "--out", "bench"]) == 0
    capsys.readouterr()
    asked = ["--columns", "graph,label_true,label_before", "--format", "json"]
    assert run(app, ["results", "bench", *asked]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["graph"]: row["label_true"] for row in rows} == dict(
        zip(DATA.ids, DATA.labels, strict=True)
    )
