"""A cohort on the engines: the same everywhere, stopped and continued; and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from denseflip import as_oracle
from denseflip.cohort import cohort_parts as parts
from denseflip.cohort import explain_cohort as whole
from denseflip.cohort.explain_cohort import Estimate, explain_cohort
from denseflip.errors import DatasetError, DenseflipError, InvalidParameterError
from denseflip.runs.result_store import Store
from groups import by_density, cohort

DATA = cohort(10)
SMALL: dict[str, Any] = {"permutations": 19, "patients": 10, "folds": 2, "engine": "serial"}
AS_IS = {**SMALL, "permutations": None}  # for a classifier that cannot be retrained


@pytest.fixture(autouse=True)
def short_judgement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_REPEATS", 2)
    monkeypatch.setattr(parts, "_SHUFFLES", 19)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A store with a whole run, and its cohort."""
    folder = tmp_path_factory.mktemp("cohort") / "store"
    patch = pytest.MonkeyPatch()
    patch.setattr(parts, "_REPEATS", 2)
    patch.setattr(parts, "_SHUFFLES", 19)
    found = explain_cohort(DATA, store=folder, **SMALL)
    patch.undo()
    return folder, found


def test_the_planted_pair_is_named(kept: Any) -> None:
    _, found = kept
    assert found.verdict == "named"
    assert [(row.name, row.direction) for row in found.named] == [("X – Y", "more")]
    assert found.permutations == 19
    assert found.questions > 0
    assert any("10 of 20 patients were drawn" in note for note in found.notes)


def test_what_is_stored_is_not_run_again(kept: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, found = kept

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(parts, "run_labelling", never)
    monkeypatch.setattr(parts, "find_shared", never)
    again = explain_cohort(DATA, store=folder, **SMALL)
    assert again == found
    assert again.to_json() == found.to_json()  # to the order of the classes


def test_stopped_and_continued_gives_the_same(kept: Any, tmp_path: Any) -> None:
    _, found = kept
    seen: list[int] = []

    def stop(done: int, _: int) -> None:
        seen.append(done)
        if done == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explain_cohort(DATA, store=tmp_path, progress=stop, **SMALL)
    before = len(Store(tmp_path).records())
    assert 1 < before < 22
    seen.clear()
    again = explain_cohort(
        DATA, store=tmp_path, progress=lambda done, _: seen.append(done), **SMALL
    )
    assert seen[0] == before - 1  # the judgement is not one of them
    assert again == found
    assert again.to_json() == found.to_json()


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_every_engine_gives_the_same(kept: Any, tmp_path: Any, engine: str) -> None:
    folder, found = kept
    if engine == "dask":
        pytest.importorskip("distributed")
    store = Store(tmp_path)
    judged = [r for r in Store(folder).records() if r["spec"]["part"] == "judge"]
    with store.writing():
        store.append(judged)  # with its short form, which workers do not know of
    settings = {**SMALL, "engine": engine, "jobs": 2}
    assert explain_cohort(DATA, store=store, **settings) == found


def test_another_subject_table_is_another_cohort(tmp_path: Any) -> None:
    sites = ["ns"[i % 4 < 2] for i in range(20)]
    short = {**SMALL, "permutations": 19, "patients": 2, "confounds": ["site"], "store": tmp_path}
    for place in (0, 1):
        sites[place], sites[place + 2] = sites[place + 2], sites[place]
        explain_cohort(replace(DATA, subjects={"site": tuple(sites)}), **short)
    ids = [r["spec"]["subjects"] for r in Store(tmp_path).records() if r["spec"]["number"] == 1]
    assert len(ids) == len(set(ids)) == 2


def test_a_classifier_at_chance_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(parts, "run_labelling", never)
    found = explain_cohort(cohort(8, gap=0, seed=5), confirm=never, **SMALL)
    assert found.verdict == "chance"
    assert len(found.sentences) == 2


def test_the_cost_is_told_before_and_may_be_declined() -> None:
    told: list[Estimate] = []

    def decline(estimate: Estimate) -> bool:
        told.append(estimate)
        return False

    found = explain_cohort(DATA, confirm=decline, **SMALL)
    assert found.observed.explained == 0
    assert found.verdict == "untested"
    (estimate,) = told
    assert (estimate.labellings, estimate.patients) == (20, 10)
    assert estimate.questions > 100
    assert "20 labellings of 10 subjects each: about" in str(estimate)


def test_the_cost_of_permuted_labels_is_measured_under_permuted_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Under the true labels, a search took 5 s here, but under permuted ones 0.1 s."""
    now = [0.0]
    true = explain_cohort(DATA, **{**SMALL, "permutations": 19, "patients": 2}).observed

    def labelling(_data: Any, few: Any, _fit: Any, number: int, **_: Any) -> Any:
        now[0] += few.patients * (0.1 if number else 5.0)
        return replace(true, explained=few.patients, questions=10 * few.patients)

    monkeypatch.setattr(whole, "run_labelling", labelling)
    monkeypatch.setattr(whole.time, "perf_counter", lambda: now[0])
    told: list[Estimate] = []
    explain_cohort(DATA, confirm=lambda estimate: bool(told.append(estimate)), **SMALL)
    searches = 10 * 5.0 + 19 * 10 * 0.1
    shared = told[0].questions - 20 * 10 * 10
    assert told[0].seconds == pytest.approx(searches + shared * 0.5)


def test_a_classifier_as_it_is_has_coverage_but_no_p_values() -> None:
    given = SimpleNamespace(predict=by_density(DATA).predict)
    with pytest.raises(InvalidParameterError, match=r"cannot be retrained.*permutations=0"):
        explain_cohort(DATA, given, **SMALL)
    found = explain_cohort(DATA, given, **AS_IS)
    assert found.verdict == "untested"
    assert found.p_more is None
    assert not found.refitted
    assert "was not retrained, so there are no p-values" in found.statement
    assert found.shared[0].coverage is not None
    assert "but possibly to train the classifier" in found.statement


def test_a_file_of_a_preset_is_retrained(kept: Any, tmp_path: Path) -> None:
    """Permutations were dropped without a word."""
    _, whole = kept
    oracle = by_density(DATA)
    file = oracle.save(tmp_path / "study.dfo")
    for given in (str(file), oracle):
        found = explain_cohort(DATA, given, **SMALL)
        assert found.p_more == whole.p_more
        assert found.statement == whole.statement
    assert not explain_cohort(DATA, file, **{**SMALL, "permutations": 0}).refitted
    regions = {name: tuple(reversed(of)) for name, of in DATA.nodes.regions.items()}
    other = by_density(replace(DATA, nodes=replace(DATA.nodes, regions=regions)))
    with pytest.raises(InvalidParameterError, match="cannot be retrained"):
        explain_cohort(DATA, other, **SMALL)


def test_an_estimator_is_trained_anew() -> None:
    from sklearn.linear_model import LogisticRegression

    found = explain_cohort(DATA, LogisticRegression(), features="regions", **SMALL)
    assert found.refitted
    assert found.p_more is not None
    assert found.oracle == "LogisticRegression"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"permutations": 18}, "18 permutations cannot give a p-value below"),
        ({"level": 0.01}, "19 permutations cannot give"),
        ({"permutations": -1}, "permutations must be a whole number"),
        ({"correction": "fdr"}, "Unknown correction 'fdr'"),
        ({"group": "C"}, "Unknown class 'C'"),
        ({"method": "scann"}, "Unknown method"),
        ({"regions": "lobes"}, "Unknown taxonomy"),
        ({"oracle": "regions-logistics"}, "regions-logistic"),
        (
            {"oracle": "regions-logistic", "features": "edges"},
            "features applies only to an estimator",
        ),
        ({"engine": "thread"}, "Unknown engine"),
        ({"confounds": 3}, "confounds must be names of columns"),
        ({"constraints": "add"}, "constraints must be Constraints"),
    ],
)
def test_bad_input_is_refused_before_any_work(given: Any, said: str) -> None:
    with pytest.raises(DenseflipError, match=said):
        explain_cohort(DATA, **{**SMALL, **given})


def test_everybody_in_one_class_is_an_error_that_names_it() -> None:
    with pytest.raises(DatasetError, match=r"assigns all 20 patients .* to the class 'B'"):
        explain_cohort(DATA, lambda adjacency: 1, **AS_IS)
    with pytest.raises(DatasetError, match="cannot be compared with the labels"):
        explain_cohort(DATA, lambda adjacency: f"c{int(adjacency.sum()) % 4}", **AS_IS)


def test_too_few_for_halves_and_no_regions() -> None:
    from denseflip.graph import Nodes

    with pytest.raises(DatasetError, match=r"Too few patients .* for two halves"):
        explain_cohort(cohort(3), **SMALL)
    with pytest.raises(DenseflipError, match="These nodes have no regions"):
        explain_cohort(replace(DATA, nodes=Nodes.numbered(12)), **SMALL)


def test_what_cannot_be_sent_is_said_before_any_work() -> None:
    import threading

    class Locked:
        lock = None

        def __init__(self) -> None:
            self.lock = threading.Lock()

        def predict(self, graphs: Any) -> list[int]:
            return [g.n_edges % 2 for g in graphs]

    with pytest.raises(InvalidParameterError, match="cannot be sent to other processes"):
        explain_cohort(DATA, Locked(), engine="processes", jobs=2)


def test_labels_that_mean_other_classes_are_refused() -> None:
    first, second = DATA.class_names
    oracle = as_oracle(lambda a: int(a[0, 1]), class_names={0: second, 1: first})
    with pytest.raises(DatasetError, match=f"class '{second}' where the data set has '{first}'"):
        explain_cohort(DATA, oracle, permutations=0)
