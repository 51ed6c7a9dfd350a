"""``reference="true"``: a sentence is compared with graphs of the true class."""

from __future__ import annotations

import numpy as np
import pytest

from denseflip import Background, Graph, Nodes, describe, explain
from denseflip.errors import InvalidParameterError, MissingInputError
from denseflip.metrics import MEASURES, Case
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.session import Session

N = 20
NODES = Nodes(tuple(f"n{i}" for i in range(N)), regions={"part": ("A",) * 10 + ("B",) * 10})


def made(inside: int, seed: int) -> Graph:
    """As many edges inside A, and as many inside B as 60 in all."""
    rng = np.random.default_rng(seed)
    parts = ([(u, v) for u in range(k, k + 10) for v in range(u + 1, k + 10)] for k in (0, 10))
    a, b = ([part[i] for i in rng.permutation(len(part))] for part in parts)
    return Graph.from_edges(N, a[:inside] + b[: 60 - inside])


# Two of the graphs that are dense by truth are classified as thin.
GRAPHS = [made(k, k) for k in (16, 17, 18, 19, 20, 36, 38, 40, 42, 29, 28)]
TRUTH = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
ORACLE = as_oracle(lambda a: int(np.triu(a)[:10, :10].sum() >= 31))


def told(background: object, **options: object):
    result = explain(GRAPHS[0], ORACLE, nodes=NODES, background=background, **options)
    return describe(result, NODES, ORACLE, background=background)


def test_the_group_is_the_true_class_and_the_words_say_so() -> None:
    known = Background(GRAPHS, TRUTH)
    usual, true = told(known), told(known, reference="true")
    assert [len(one.reference[0].group) for one in (usual, true)] == [4, 6]
    assert usual.result.by_true_labels is False
    assert true.result.by_true_labels is True
    assert any("the 6 graphs of the data set whose true class is" in n for n in true.footnotes)
    assert "whose true class is the target class" in true.methods_text()
    assert any("that the classifier puts in" in note for note in usual.footnotes)
    case = Case(
        true.result,
        regions=NODES.taxonomy(),
        background=[(g, ORACLE.predict([g])[0]) for g in GRAPHS],
        true_labels=TRUTH,
        session=Session(ORACLE),
        nodes=NODES,
    )
    assert [len(place.group) for place in case.reference] == [6]
    assert MEASURES["in_range"](case) == 1.0


def test_a_classifier_that_answers_with_names_is_matched_by_name() -> None:
    by_name = as_oracle(lambda a: ("thin", "dense")[int(np.triu(a)[:10, :10].sum() >= 31)])
    known = Background(GRAPHS, TRUTH, class_names=("thin", "dense"))
    result = explain(GRAPHS[0], by_name, nodes=NODES, background=known, reference="true")
    assert len(describe(result, NODES, by_name, background=known).reference[0].group) == 6


@pytest.mark.parametrize(
    ("background", "why"),
    [
        (GRAPHS, "needs the true labels of the background: pass a data set"),
        (Background(GRAPHS, ["x"] * len(GRAPHS)), "are none of them"),
    ],
)
def test_without_true_labels_it_is_refused(background, why) -> None:
    with pytest.raises(MissingInputError, match=why):
        told(background, reference="true")


def test_fewer_than_three_graphs_of_the_true_class_give_no_range() -> None:
    few = Background(GRAPHS, [0] * 9 + [1, 1])
    story = told(few, reference="true")
    assert story.in_range is None
    assert any(
        "fewer than 3 background graphs are of the target class" in n for n in story.footnotes
    )
    with pytest.raises(InvalidParameterError, match="11 graphs but 2 true labels"):
        Background(GRAPHS, [0, 1])
