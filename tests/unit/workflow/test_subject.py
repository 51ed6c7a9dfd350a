"""From words to what is to be explained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cohorts import make_cohort
from denseflip.classifiers.presets import fit_oracle
from denseflip.datasets import Dataset, Keep, load_dataset, make_synthetic
from denseflip.errors import (
    InvalidGraphError,
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
)
from denseflip.experiments.explain_many import explain_many
from denseflip.graph import Graph, Nodes
from denseflip.oracles.adapt import as_oracle
from denseflip.workflow import subject as module
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.subject import (
    Subject,
    find_subject,
    open_dataset,
    parse_settings,
    parse_value,
)
from graphs import triangle_with_tail

COHORT = make_cohort()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "brain.csv"
    np.savetxt(path, triangle_with_tail().to_adjacency(int), fmt="%d", delimiter=",")
    return path


def test_a_graph_of_a_data_set_by_id_and_by_number():
    mice = load_dataset("mice")
    by_id = find_subject("mice", mice.ids[3])
    assert by_id.graph == mice.graphs[3]
    assert (by_id.name, by_id.source) == (mice.ids[3], "mice")
    assert by_id.nodes == mice.nodes
    assert by_id.background.graphs == mice.graphs
    assert by_id.class_names == {0: "B6", 1: "BTBR"}
    assert find_subject("mice", "3").name == find_subject("mice", 3).name == by_id.name


def test_a_data_set_may_be_given_itself_or_as_a_file(tmp_path):
    path = COHORT.save(tmp_path / "lab.dfd")
    for source in (COHORT, path, str(path)):
        assert find_subject(source, 0).graph == COHORT.graphs[0]


def _numbered(*ids):
    return Dataset("study", COHORT.graphs[: len(ids)], (0, 1, 0, 1)[: len(ids)],
                   COHORT.class_names, ids=ids)  # fmt: skip


def test_a_number_that_means_two_graphs_is_refused():
    """`explain study.dfd 2` explained sub-03, the graph at position 2."""
    study = _numbered("sub-01", "sub-02", "sub-03", "sub-04")
    for typed in ("2", "02"):
        with pytest.raises(InvalidParameterError) as caught:
            find_subject(study, typed)
        assert "id it is sub-02, and by position, counted from 0, it is sub-03" in str(caught.value)
        assert "Give the id: sub-02 or sub-03." in str(caught.value)
        assert caught.value.parameters == ("graph_id",)
    with pytest.raises(InvalidParameterError, match="ambiguous"):
        explain_many(study, "regions-logistic", ["sub-01", "2"])
    assert find_subject(study, 2).name == "sub-03"  # an int is a position
    assert find_subject(study, "0").name == "sub-01"  # only a position
    assert find_subject(study, "4").name == "sub-04"  # only an id
    with pytest.raises(UnknownNameError):
        find_subject(study, "5")


def test_a_number_that_means_one_graph_is_taken():
    both = _numbered("aut-000", "aut-001", "aut-002")
    assert [find_subject(both, x).name for x in ("0", "01", "002")] == list(both.ids)
    one_session = _numbered("sub-7_ses-1", "sub-8_ses-1", "sub-9_ses-1")
    assert find_subject(one_session, "1").name == "sub-8_ses-1"  # all have ses-1
    assert find_subject(one_session, "7").name == "sub-7_ses-1"
    two = _numbered("sub-7_ses-1", "sub-7_ses-2", "sub-8_ses-1", "sub-8_ses-2")
    with pytest.raises(InvalidParameterError, match="sub-7_ses-1, sub-7_ses-2"):
        find_subject(two, "7")


def test_an_id_comes_before_a_number():
    named = Dataset("odd", COHORT.graphs[:2], (0, 1), COHORT.class_names, ids=("1", "0"))
    assert find_subject(named, "1").graph == COHORT.graphs[0]


def test_the_graph_of_a_file_stands_alone(file):
    found = find_subject(file)
    assert found.graph == triangle_with_tail()
    assert (found.name, found.source) == ("brain", "brain.csv")
    assert found.nodes is None
    assert found.background is None
    assert found.class_names is None


def test_a_file_takes_nodes_and_background_along(file, tmp_path):
    nodes = Nodes(tuple("abcde"))
    nodes.write_csv(tmp_path / "nodes.csv")
    assert find_subject(file, nodes=tmp_path / "nodes.csv").nodes == nodes
    assert find_subject(file, nodes=nodes).nodes == nodes
    data = Dataset("five", (triangle_with_tail(),) * 2, (0, 1), ("x", "y"))
    found = find_subject(file, background=data)
    assert found.nodes == data.nodes
    assert found.background.graphs == data.graphs
    with pytest.raises(InvalidGraphError, match="5 nodes"):
        find_subject(file, background=COHORT)


def test_a_weighted_file_needs_a_rule(tmp_path):
    path = tmp_path / "w.csv"
    np.savetxt(path, [[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]], delimiter=",")
    with pytest.raises(InvalidGraphError) as caught:
        find_subject(path)
    assert "keep" in caught.value.parameters
    assert "--" not in str(caught.value)
    assert find_subject(path, keep=Keep(edges=1)).graph.edges() == [(0, 1)]


@pytest.mark.parametrize("source", ["mice", COHORT], ids=["name", "data set"])
def test_a_data_set_without_an_id_asks_which_graph(source):
    with pytest.raises(MissingInputError, match="Choose one of its graphs") as caught:
        find_subject(source)
    assert caught.value.parameters == ("graph_id",)


def test_words_that_name_nothing(tmp_path):
    with pytest.raises(MissingInputError, match=r"is named 'gone\.csv'.*mice, synthetic"):
        find_subject("gone.csv")
    with pytest.raises(UnknownNameError, match="Unknown graph id 'sub-1'"):
        find_subject("mice", "sub-1")


def test_what_must_be_downloaded_is_fetched_by_the_skins_own_way(monkeypatch):
    infos = [info for info in module.list_datasets() if info.name == "mice"]
    absent = [type(infos[0])("far", "far away", "download", False, 2, 3)]
    monkeypatch.setattr(module, "list_datasets", lambda: infos + absent)
    asked = []

    def fetch(name):
        asked.append(name)
        return COHORT

    assert open_dataset("far", fetch=fetch) is COHORT
    assert open_dataset("mice", fetch=fetch).name == "mice"
    assert find_subject("far", 0, fetch=fetch).dataset is COHORT
    assert asked == ["far", "far"]


def test_the_label_that_words_mean():
    found = find_subject("mice", 0)
    assert found.label_of(None) is None
    assert found.label_of("btbr") == found.label_of("1") == 1
    with pytest.raises(UnknownNameError, match="target class 'BTBRR'") as caught:
        found.label_of("BTBRR")
    assert caught.value.parameters == ("target",)
    with pytest.raises(UnknownNameError, match="target class 'BTBRR'"):
        found.label_of("BTBRR", fit_oracle(found.dataset, preset="regions-logistic"))
    own = as_oracle(lambda adjacency: "high")
    assert found.label_of("high", own) == "high"
    # It answers in words, so the class's name is what it would answer; numbers go with numbers.
    assert found.label_of("btbr", own) == "BTBR"
    assert found.label_of("btbr", as_oracle(lambda adjacency: 0)) == 1
    assert found.label_of(["btbr", "B6"], as_oracle(lambda adjacency: 0)) == (1, 0)
    assert found.label_of(["btbr"]) == found.label_of(["btbr", "1"]) == 1
    alone = Subject(Graph.from_edges(2, []), "g")
    assert alone.label_of("1") == 1
    assert alone.label_of("sick") == "sick"


def test_words_become_plain_values():
    words = {"none": None, "True": True, "3": 3, "0.5": 0.5, "full": "full"}
    assert {word: parse_value(word) for word in words} == words
    assert parse_settings(["max-iterations=5", "rank=triangles"]) == {
        "max_iterations": 5,
        "rank": "triangles",
    }
    for bad in ("foo", "=3"):
        with pytest.raises(InvalidParameterError, match="key=value") as caught:
            parse_settings([bad])
        assert caught.value.parameters == ("parameters",)


def test_classes_that_an_oracle_counts_otherwise_are_told_and_wanted_by_its_own_names() -> None:
    data = make_synthetic(n_per_class=4)
    first, second = data.class_names
    subject = Subject(data.graphs[0], "one", data.nodes, data)
    edge = next(iter(data.graphs[0].edges()))
    turned = as_oracle(lambda a: int(a[edge]), class_names={0: second, 1: first})
    assert subject.label_of(first, turned) == 1
    assert subject.label_of(second, turned) == 0
    story = explain_and_describe(subject, turned, "tri", target=subject.label_of(second, turned))
    assert story.result.label_after == 0
    assert story.class_name(0) == second
    assert story.class_name(1) == first
    alike = as_oracle(lambda a: int(a[edge]), class_names={0: first, 1: "another word"})
    assert subject.names_for(alike) == {0: first, 1: second}
    assert Subject(data.graphs[0], "one").names_for(turned) is None
