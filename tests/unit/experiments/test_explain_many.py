"""Many graphs at once: the stories of one by one, on every engine, and after a stop."""

import inspect
import json
import os
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path

import pytest

from benches import ORACLES
from cohorts import make_cohort
from denseflip import DCS, Background, Constraints, explain_many
from denseflip.datasets import load_dataset
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.experiments.explain_many import Explanations, gather, plan_many
from denseflip.experiments.story_records import read_story, story_record
from denseflip.request import Request
from denseflip.runs.identity import plain_json
from denseflip.runs.result_store import Store
from denseflip.runs.run import run_specs
from denseflip.runs.sources import oracle_of_words
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.subject import find_subject

COHORT = make_cohort(4)


def label(adjacency):
    return int(adjacency[:4, :4].sum() >= adjacency[4:8, 4:8].sum())


def fails_on_some(adjacency):
    if adjacency.sum() % 3 == 0:
        raise ValueError("cannot read this graph")
    return label(adjacency)


def timeless(story):
    return replace(story, result=replace(story.result, elapsed=0.0, front=())).to_dict()


@pytest.fixture
def here(folder, monkeypatch):
    """A folder with classifiers to import, for worker processes, too."""
    (folder / "toy_oracles.py").write_text(ORACLES)
    before = os.environ.get("PYTHONPATH", "")
    paths = [str(folder), *(str(Path(p).absolute()) for p in before.split(os.pathsep) if p)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    return folder


# ---- the same as one by one -----------------------------------------------------------------


def test_the_classes_stay_with_their_rows_of_confusions():
    judged = {"class_counts": {"B": 4, "A": 4}, "confusion": [[4, 0], [3, 1]]}
    story = explain_and_describe(find_subject(COHORT, COHORT.ids[0]), label, "tri")
    identity = {"kind": "story", "graph": COHORT.ids[0]}
    record = story_record(identity, replace(story, evaluation=judged), {})
    read = read_story(json.loads(plain_json(record)), COHORT)
    assert list(read.evaluation["class_counts"]) == ["B", "A"]  # not by the alphabet


@pytest.mark.parametrize(("method", "oracle"), [("con", "edges-svm"), ("tri", label)])
def test_the_stories_are_those_of_one_by_one(method, oracle):
    many = explain_many(COHORT, oracle, method=method, seed=3)
    assert isinstance(many, Explanations)
    assert [one.id for one in many] == list(COHORT.ids)
    opened = oracle if callable(oracle) else find_oracle(oracle)
    background = Background(COHORT.graphs)
    for id, result, story in many:
        alone = explain_and_describe(
            find_subject(COHORT, id), opened, method, seed=3, background=background
        )
        assert timeless(story) == timeless(alone)
        assert story.result is result
        assert str(story) == str(alone)


def find_oracle(words):
    from denseflip.oracles.open import open_oracle

    return open_oracle(words, dataset=COHORT)


def test_every_option_of_a_request_is_taken_and_reaches_the_search():
    asked = inspect.signature(explain_many).parameters
    assert {f.name for f in fields(Request)} <= set(asked)
    given = {
        "target": 1,
        "budget": 40,
        "seed": 2,
        "time_limit": 100.0,
        "confirm": 0,
        "regions": "side",
        "share": 0.5,
        "vocabulary": "graph",
    }
    many = explain_many(COHORT, label, [0, 1], method="edg", **given)
    for one in many:
        assert one.result.target == 1
        assert one.result.seed == 2
        assert one.result.calls <= 40
        assert one.story.taxonomy is None or one.story.taxonomy.name == "side"
        assert one.story.vocabulary.units == "edges"


def test_the_background_is_labelled_once_for_all():
    asked = Counter()

    def counting(adjacency):
        asked[adjacency.tobytes()] += 1
        return label(adjacency)

    many = explain_many(COHORT, counting, method="dat", confirm=0)
    assert all(one.result.search_calls == 9 for one in many)
    # Once among the background, once as the graph that is explained, not once per explanation.
    assert {asked[g.to_adjacency().tobytes()] for g in COHORT.graphs} <= {1, 2, 3}


@pytest.mark.parametrize("engine", ["processes", pytest.param("dask", marks=pytest.mark.slow)])
def test_every_engine_gives_the_same_stories(here, engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    background = {"method": "con", "max_cells": None}
    words = explain_many(COHORT, "toy_oracles:label", [3, 0, 1], **background)
    several = explain_many(
        COHORT, "toy_oracles:label", [3, 0, 1], engine=engine, jobs=2, **background
    )
    assert [one.id for one in several] == [COHORT.ids[i] for i in (3, 0, 1)]
    assert [timeless(a.story) for a in words] == [timeless(b.story) for b in several]


def test_a_function_of_the_moment_goes_to_processes_too():
    most = 5
    many = explain_many(
        COHORT, lambda a: int(a[:4, :4].sum() > most), [0, 1], method="tri", engine="processes"
    )
    assert not many.failures
    assert all(one.result.method == "tri" for one in many)


def test_tables_of_graphs_and_of_edits():
    many = explain_many(COHORT, label, [0, 1, 2], method="tri")
    table, edits = many.table(), many.edit_table()
    assert [row[0] for row in table.rows] == ["g0000", "g0001", "g0002"]
    found = dict(zip(table.columns, table.rows[0], strict=True))
    story = many[0].story
    assert found["edits"] == story.result.distance == found["added"] + found["removed"]
    assert found["sentence"] == story.statement
    assert len(edits.rows) == sum(one.result.distance for one in many)
    pandas = pytest.importorskip("pandas")
    assert many.to_frame().shape == (3, len(table.columns))
    assert isinstance(many.to_frame(edits=True), pandas.DataFrame)


# ---- failures -------------------------------------------------------------------------------


def test_a_graph_that_fails_is_an_entry_and_not_the_end():
    many = explain_many(COHORT, fails_on_some, method="edg", confirm=0)
    assert len(many) == 8
    assert many.failures
    assert len(many.stories) + len(many.failures) == 8
    for one in many:
        assert (one.story is None) == bool(one.failure)
    why = next(iter(many.failures.values()))
    assert "cannot read this graph" in why
    assert f"{len(many.failures)} failed" in repr(many)


def test_what_failed_is_tried_again_and_what_is_done_is_not(tmp_path):
    first = explain_many(COHORT, fails_on_some, method="edg", store=tmp_path / "s")
    again = explain_many(COHORT, fails_on_some, method="edg", store=tmp_path / "s")
    assert again.outcome.reused == len(first.stories)
    assert again.failures == first.failures


# ---- a store --------------------------------------------------------------------------------


def test_a_run_goes_on_where_it_stopped(tmp_path):
    whole = explain_many(COHORT, "edges-svm", method="con")
    done = []

    def stop(so_far, total):
        done.append((so_far, total))
        if so_far == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explain_many(
            COHORT, "edges-svm", method="con", store=tmp_path, engine="serial", progress=stop
        )
    assert done == [(n, 8) for n in range(4)]
    rest = explain_many(COHORT, "edges-svm", method="con", store=tmp_path)
    assert rest.outcome.reused == 3
    assert [timeless(a.story) for a in rest] == [timeless(b.story) for b in whole]


def test_a_store_knows_what_it_is_about(here, tmp_path):
    def run(oracle="toy_oracles:label", **asked):
        kept = tmp_path / "store"
        return explain_many(COHORT, oracle, [0, 1], store=kept, **{"method": "tri", **asked})

    assert run().outcome.reused == 0
    assert run().outcome.reused == 2
    for other in (
        {"seed": 1},
        {"method": "edg"},
        {"target": 1},
        {"budget": 7},
        {"confirm": 3},
        {"oracle": "edges-svm"},
        {"oracle": label},
        {"method": DCS(rank="degree", refine="min")},
    ):
        assert run(**other).outcome.reused == 0, other
        assert run(**other).outcome.reused == 2, other
    (here / "toy_oracles.py").write_text(ORACLES + "\n# changed")
    assert run().outcome.reused == 0


def test_the_same_labels_another_data_set(tmp_path):
    other = replace(COHORT, labels=tuple(1 - x for x in COHORT.labels))
    explain_many(COHORT, "edges-svm", [0], method="con", store=tmp_path)
    assert not explain_many(other, "edges-svm", [0], method="con", store=tmp_path).outcome.reused


def test_several_plans_run_as_one(tmp_path):
    other = replace(COHORT, labels=tuple(1 - x for x in COHORT.labels))
    plans = [plan_many(data, "edges-svm", [0, 1], method="con") for data in (COHORT, other)]
    outcome = run_specs([*plans[0], *plans[1]], Store(tmp_path))
    first, second = (gather(plan, outcome) for plan in plans)
    assert [one.result.label_before for one in first] == [0, 1]
    assert [one.result.label_before for one in second] == [1, 0]
    assert first["g0001"].label == "B"
    assert second["g0001"].label == "A"


# ---- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "kind", "words"),
    [
        ({"ids": ["g0001", "g9"]}, UnknownNameError, "graph id 'g9'"),
        ({"ids": ["g0001", "g0001"]}, InvalidParameterError, "'g0001' is given twice"),
        ({"ids": ["g0001", 1]}, InvalidParameterError, "twice (as 'g0001' and 1)"),
        ({"ids": []}, InvalidParameterError, "ids is empty"),
        ({"ids": [99]}, UnknownNameError, "'99'"),
        ({"bugdet": 3}, UnknownNameError, "Did you mean 'budget'?"),
        ({"on_event": print}, UnknownNameError, "on_event"),
        ({"regions": "lobes"}, UnknownNameError, "lobe"),
        ({"vocabulary": "brian"}, UnknownNameError, "brain"),
        ({"constraints": {"freeze": "Bakc"}}, UnknownNameError, "Did you mean 'Back'?"),
        ({"constraints": {"frezee": "Back"}}, UnknownNameError, "freeze"),
        ({"constraints": {"only": "ad"}}, UnknownNameError, "Did you mean 'add'?"),
        ({"confidence": 1.5}, InvalidParameterError, "confidence"),
        ({"method": "trii"}, UnknownNameError, "tri"),
        (
            {"method": "tri", "language": "nodes"},
            InvalidParameterError,
            "has no parameter language",
        ),
        ({"method": 3}, InvalidParameterError, "method must be"),
        ({"oracle": "egdes-svm"}, UnknownNameError, "edges-svm"),
        ({"oracle": "nowhere:f"}, Exception, "no module 'nowhere'"),
        ({"oracle": "lost.dfo"}, Exception, "no such classifier file"),
        ({"oracle": 3}, InvalidParameterError, "oracle must"),
        ({"dataset": 3}, InvalidParameterError, "dataset must be"),
        ({"engine": "fast"}, UnknownNameError, "engine"),
        ({"jobs": 0}, InvalidParameterError, "jobs"),
    ],
)
def test_bad_input_is_told_before_any_search(asked, kind, words):
    given = {"dataset": COHORT, "oracle": label, **asked}
    with pytest.raises(kind) as error:
        explain_many(**given)
    assert words in str(error.value)


class Unsendable:
    def predict(self, graphs):
        return [label(g.to_adjacency()) for g in graphs]

    def __reduce__(self):
        raise TypeError("has a socket in it")


def test_what_cannot_be_sent_is_told(tmp_path):
    box = Unsendable()
    assert not explain_many(COHORT, box, [0], method="tri").failures
    with pytest.raises(InvalidParameterError, match=r"cannot be sent .*socket"):
        explain_many(COHORT, box, [0], method="tri", jobs=2)
    with pytest.raises(InvalidParameterError, match=r"cannot be recognised .*socket"):
        explain_many(COHORT, box, [0], method="tri", store=tmp_path)


def test_a_method_that_lacks_something_says_so_for_every_graph():
    many = explain_many(make_cohort(2, regions=False), label, method="rcli")
    assert set(many.failures) == set(many.dataset.ids)
    assert all("regions" in why for why in many.failures.values())
    with pytest.raises(MissingInputError):
        explain_and_describe(find_subject(many.dataset, 0), label, "rcli")


def test_unknown_ids_of_the_result_name_the_nearest():
    many = explain_many(COHORT, label, [0, 1], method="tri")
    with pytest.raises(UnknownNameError, match="g0001"):
        many["g00001"]
    assert many[0].id == "g0000"
    assert [one.id for one in many[:1]] == ["g0000"]


def test_words_of_every_kind_become_a_spec(here):
    assert oracle_of_words("edges-svm").kind == "preset"
    assert oracle_of_words("published").kind == "preset"
    assert oracle_of_words("toy_oracles:label", batch=True).options["batch"]
    from denseflip import fit_oracle

    fit_oracle(COHORT, "edges-svm").save("own.dfo")
    spec = oracle_of_words("own.dfo")
    assert (spec.kind, len(spec.digest)) == ("file", 64)
    assert not explain_many(COHORT, "own.dfo", [0], method="con").failures


def test_a_data_set_by_name():
    many = explain_many("mice", "edges-svm", ["sub-54790"], method="con", max_cells=None)
    assert many.dataset.name == load_dataset("mice").name
    assert many[0].result.found


def few(graph):
    return graph.n_edges > 3


def test_constraints_and_confidence_reach_every_graph(tmp_path):
    terms = Constraints(freeze="Back", only="remove", max_edits=4, predicate=few)
    given = {"method": "edg", "constraints": terms, "store": tmp_path}
    many = explain_many(COHORT, label, [0, 1, 2], **given)
    for one in many:
        assert not one.result.added or not one.result.found
        if one.result.found:
            assert one.result.distance <= 4
            assert all(max(pair) < 6 for pair in one.result.edits.pairs)
    assert explain_many(COHORT, label, [0, 1, 2], **given).outcome.reused == 3
    other = {**given, "constraints": replace(terms, max_edits=5)}
    assert explain_many(COHORT, label, [0, 1, 2], **other).outcome.reused == 0
    there = explain_many(COHORT, label, [0, 1], **{**given, "engine": "processes", "store": None})
    assert [a.result.edits for a in there] == [a.result.edits for a in many[:2]]
    sure = explain_many(COHORT, "edges-logistic", [0, 1], method="con", confidence=0.6)
    assert all(not one.result.found or one.result.confidence_after >= 0.6 for one in sure)
    wrong = explain_many(COHORT, label, [0], method="con", confidence=0.6)
    assert "confidence" in wrong.failures["g0000"]


def test_other_answers_are_kept_without_times_and_come_back_whole(tmp_path):
    store = Store(tmp_path / "store")
    many = explain_many(COHORT, label, COHORT.ids[:2], method="con", n=2, store=store)
    again = explain_many(COHORT, label, COHORT.ids[:2], method="con", n=2, store=store)
    assert any(one.result.diverse for one in many)
    for one, other in zip(many, again, strict=True):
        assert len(one.result.diverse) == len(other.result.diverse)
        for mine, kept in zip(one.result.diverse, other.result.diverse, strict=True):
            assert mine.edits == kept.edits
            assert kept.original == one.result.original
    for record in store.records():
        kept = record["told"]["result"]
        assert not {"elapsed", "original"} & set(kept)
        for member in kept["diverse"]:
            assert not {"elapsed", "original"} & set(member)
