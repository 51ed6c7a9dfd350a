"""`evaluate` of anything that can be explained: trained anew where possible, else as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cohorts import make_cohort
from denseflip import as_oracle, describe, evaluate, explain, fit_oracle, write_page
from denseflip.classifiers.evaluation import Evaluation, read_evaluation
from denseflip.datasets import make_synthetic
from denseflip.errors import FileFormatError, InvalidParameterError, OracleError
from denseflip.graph import Graph

COHORT = make_cohort(signal=0.7)
NOISE = make_cohort(20, signal=0.0)
NUMBERS = {"repeats": 2, "permutations": 19}


def first_half(adjacency: np.ndarray) -> int:
    half = len(adjacency) // 2
    return int(adjacency[:half, :half].sum() > adjacency[half:, half:].sum())


class Memory:
    """Knows the graphs that it was trained on by heart, and nothing else; can be trained anew."""

    def __init__(self, known: dict[Graph, int]) -> None:
        self.known = known

    @classmethod
    def of(cls, dataset):
        return cls(dict(zip(dataset.graphs, dataset.labels, strict=True)))

    def refit(self, dataset):
        return self.of(dataset)

    def predict(self, graphs):
        return [self.known.get(g, 0) for g in graphs]


def test_a_function_is_judged_as_it_is():
    judged = evaluate(COHORT, as_oracle(first_half), **NUMBERS)
    right = np.mean(
        [
            first_half(g.to_adjacency()) == y
            for g, y in zip(COHORT.graphs, COHORT.labels, strict=True)
        ]
    )
    assert judged.protocol == "as given"
    assert judged.accuracy == right == judged.training_accuracy
    assert np.sum(judged.confusion) == len(COHORT)
    assert judged.folds == 0


def test_what_it_may_have_seen_is_never_better():
    """One that knows all graphs by heart gets no green mark, and page and badge say why."""
    oracle = as_oracle(
        lambda g: NOISE.labels[NOISE.graphs.index(g)] if g in NOISE.graphs else 1, "graph"
    )
    judged = evaluate(NOISE, oracle, **NUMBERS)
    assert judged.accuracy == 1
    assert judged.level == "seen"
    assert not judged.better_than_chance
    assert judged.verdict.startswith(
        "Evaluated only on graphs that it may have seen: 100 % of the 40"
    )
    assert "could not be retrained" in judged.warning
    assert Evaluation.from_dict(judged.to_dict()) == judged


def test_the_page_and_the_badge_carry_it(tmp_path):
    def dense(adjacency):
        return int(adjacency[:4, :4].sum() > 6)

    data = make_cohort(8, signal=0.9)
    labels = tuple(dense(g.to_adjacency()) for g in data.graphs)
    data = type(data)(data.name, data.graphs, labels, data.class_names, data.nodes)
    judged = evaluate(data, dense, **NUMBERS)
    assert judged.level == "seen"
    result = explain(data.graphs[0], dense, "con", background=data.graphs)
    story = describe(result, data.nodes, dense, evaluation=judged)
    assert story.badge.level == "none"
    assert story.badge.text.endswith("classifier evaluated on graphs it may have seen")
    assert "may have memorised" in story.footnotes[0]
    text = write_page(story, tmp_path / "p.html", interactive=False).read_text(encoding="utf-8")
    assert "possibly training graphs" in text
    assert "by true class" in text
    assert "accuracy, held-out graphs" not in text


def test_worse_than_the_largest_class_is_chance_even_so():
    judged = evaluate(COHORT, lambda a: 0, **NUMBERS)
    assert judged.level == "chance"
    assert judged.verdict.startswith("Not better than chance, even on graphs that it may have seen")
    assert "On these graphs" in judged.warning


def test_an_estimator_is_trained_anew_fitted_or_not():
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    few = {"repeats": 1, "permutations": 2, "folds": 3}
    fresh = evaluate(COHORT, pipe, features="edges", **few)
    rows = np.ones((2, 3))
    fitted = evaluate(COHORT, pipe.fit(rows, [0, 1]), features="edges", **few)
    named = evaluate(COHORT, features="edges", estimator=pipe, **few)
    assert fresh == fitted == named
    assert fresh.protocol == "cross-validation"
    assert fresh.better_than_chance


@pytest.mark.parametrize("preset", ["sf-knn", "regions-logistic"])
def test_a_classifier_of_ours_is_judged_as_its_preset(preset):
    oracle = fit_oracle(COHORT, preset)
    assert evaluate(COHORT, oracle, **NUMBERS) == evaluate(COHORT, preset, **NUMBERS)


def test_a_classifier_with_an_estimator_of_the_users():
    oracle = fit_oracle(COHORT, features="edges", estimator=LogisticRegression(C=0.1))
    judged = evaluate(COHORT, oracle, **NUMBERS)
    assert judged.protocol == "cross-validation"
    assert judged.estimator == "LogisticRegression(C=0.1)"


def test_an_oracle_that_can_be_trained_anew_is_not_believed_on_what_it_knows():
    judged = evaluate(NOISE, Memory.of(NOISE), **NUMBERS)
    assert judged.protocol == "cross-validation"
    assert judged.training_accuracy == 1
    assert judged.accuracy == 0.5  # of new graphs it always says 0
    assert judged.level == "chance"
    assert judged.estimator == "Memory"


def test_confounds_of_oracles():
    data = make_synthetic(strength=1, sites=2, site_share=0.5, n_per_class=10)
    given = evaluate(data, lambda a: 0, confounds="site", **NUMBERS)
    assert not given.confounds.regressed
    assert given.beats_confounds is False
    assert "could not be regressed out" in given.verdict
    anew = evaluate(data, Memory.of(data), confounds="site", **NUMBERS)
    assert not anew.confounds.regressed
    assert anew.confounds.leave_site_out == 0.5


def test_answers_may_be_names():
    names = COHORT.class_names
    by_name = evaluate(COHORT, lambda a: names[first_half(a)], **NUMBERS)
    assert by_name.accuracy == evaluate(COHORT, first_half, **NUMBERS).accuracy


@pytest.mark.parametrize(
    ("oracle", "message"),
    [
        (lambda a: "patient?", r"returns patient\?, but the classes .* are 0 \("),
        (lambda a: 7, "returns 7, but the classes"),
        (lambda a: 0.5, "returns 0.5, but the classes"),
    ],
)
def test_answers_that_are_no_class_are_told(oracle, message):
    with pytest.raises(InvalidParameterError, match=message):
        evaluate(COHORT, oracle, **NUMBERS)


def test_what_does_not_go_together_is_told():
    with pytest.raises(InvalidParameterError, match="features cannot be combined with an oracle"):
        evaluate(COHORT, first_half, features="edges")
    with pytest.raises(InvalidParameterError, match=r"oracle .* or preset"):
        evaluate(COHORT, "sf-knn", preset="edges-svm")
    with pytest.raises(InvalidParameterError, match="oracle must have a method"):
        evaluate(COHORT, 3)
    with pytest.raises(InvalidParameterError, match="Two estimators"):
        evaluate(COHORT, LogisticRegression(), estimator=LogisticRegression())


def test_a_refit_that_fails_is_told():
    class Broken(Memory):
        def refit(self, dataset):
            raise RuntimeError("no disk")

    with pytest.raises(OracleError, match="could not be retrained: RuntimeError: no disk"):
        evaluate(NOISE, Broken.of(NOISE), **NUMBERS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no such file"),
        ("{", "x.json"),
        ("[]", "Not an evaluation"),
        ('{"presets": []}', "several classifiers"),
        ('{"accuracy": 1}', "are missing"),
    ],
)
def test_a_file_that_is_no_evaluation_is_told(text, message, tmp_path):
    path = tmp_path / "x.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read_evaluation(path)


def test_an_oracle_that_counts_its_classes_otherwise_is_judged_by_their_names() -> None:
    first, second = COHORT.class_names
    truth = dict(zip(COHORT.graphs, COHORT.labels, strict=True))

    class Reversed:
        """Right about everybody, with the labels the other way round."""

        classes = (0, 1)
        class_names: Any = None

        def predict(self, graphs: Any) -> list[int]:
            return [1 - truth[g] for g in graphs]

    for names in ({0: second, 1: first}, (second, first)):
        oracle = Reversed()
        oracle.class_names = names
        assert evaluate(COHORT, oracle, permutations=0).accuracy == 1.0
    assert evaluate(COHORT, Reversed(), permutations=0).accuracy == 0.0
