"""One request, one answer: through Python, command line, many at once, bench and the web app.

Every entrance gets the same options by its own spelling. Edits, calls, labels and sentence must be
the same. Classifiers are trained once and shared, and how good they are is not computed.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the web app needs the extra 'web'")

import httpx

from denseflip import (
    Counterfactual,
    as_oracle,
    describe,
    explain,
    explain_many,
    load_dataset,
    make_refits,
)
from denseflip.classifiers import classifier_plugins, presets
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.cli.options import flag_of
from denseflip.datasets import Dataset
from denseflip.experiments.bench_config import check_config, make_matrix
from denseflip.experiments.plan import make_plan
from denseflip.experiments.records import read_result
from denseflip.request import Request, list_options
from denseflip.runs.engines import SerialEngine
from denseflip.runs.identity import dataset_digest
from denseflip.runs.result_store import Store
from denseflip.runs.run import run_specs
from denseflip.story.story import Story
from denseflip.web.job_store import Store as Jobs
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.subject import find_subject
from serving import serving, wait

pytestmark = pytest.mark.filterwarnings("default")  # of libraries of the server


@dataclass(frozen=True)
class Case:
    """A graph, a classifier and the options of a request."""

    dataset: str
    graph: str
    classifier: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def request(self) -> Request:
        return Request.build(**self.options)


MOUSE, CONTROL = ("mice", "sub-54811"), ("synthetic", "control-001")
CASES = {
    "sf-knn": Case(*MOUSE, "sf-knn"),
    "edges-svm": Case(*MOUSE, "edges-svm"),
    "regions-logistic": Case(*MOUSE, "regions-logistic"),
    "synthetic": Case(*CONTROL, "sf-knn", {"language": "nodes", "seed": 3}),
    "constraints": Case(
        *MOUSE,
        "regions-logistic",
        {"freeze": ["region: left isocortex", "17"], "only": "add", "max_edits": 2000},
    ),
    "max_cells": Case(*CONTROL, "edges-svm", {"max_cells": 2, "regions": "hemisphere"}),
    "keep_density": Case(*CONTROL, "regions-logistic", {"method": "con", "keep_density": 20.0}),
    "target": Case(*CONTROL, "sf-knn", {"method": "tri+min", "target": "case", "budget": 500}),
    "confidence": Case(*CONTROL, "regions-logistic", {"confidence": 0.8}),
    "front": Case(*CONTROL, "edges-svm", {"method": "brief", "front": True}),
    "robust": Case(*CONTROL, "regions-logistic", {"robust": 0.8, "noise": 0.02, "confirm": 2}),
    "stable": Case(*CONTROL, "regions-logistic", {"stable": 0.8}),
    "several": Case(*CONTROL, "edges-svm", {"n": 2, "time_limit": 200.0}),
    "gradient": Case(*CONTROL, "edges-svm", {"method": "gradient"}),
    "gradient of regions": Case(*CONTROL, "regions-logistic", {"method": "gradient"}),
    "tight": Case(*CONTROL, "edges-svm", {"method": "tight"}),
    "tight regions": Case(*CONTROL, "regions-logistic", {"method": "tight"}),
    "information": Case(
        *CONTROL, "edges-svm", {"method": "tight", "information": "gradients", "budget": 300}
    ),
}


@dataclass(frozen=True)
class Answer:
    """What is compared. An entrance without sentences has None for the sentence."""

    status: str
    edits: tuple[Any, ...]
    calls: int
    before: Any
    after: Any
    others: tuple[Any, ...]
    scores: tuple[Any, ...]
    sentence: str | None = None

    @classmethod
    def of(cls, result: Counterfactual, sentence: str | None = None) -> Answer:
        others = [one.edits for one in (*result.front, *result.diverse)]
        return cls(
            str(result.status),
            _pairs(result.edits),
            result.calls,
            result.label_before,
            result.label_after,
            tuple(map(_pairs, others)),
            (result.robustness, result.plausibility, result.weights),
            sentence,
        )

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Answer:
        return cls.of(Counterfactual.from_dict(record), record["statement"])


def _pairs(edits: Any) -> tuple[Any, ...]:
    return tuple(sorted(edits.added)), tuple(sorted(edits.removed))


# ---- what is shared -----------------------------------------------------------------------------


@cache
def data_of(name: str) -> Dataset:
    return load_dataset(name)


@pytest.fixture(scope="module", autouse=True)
def trained() -> Iterator[Callable[..., Any]]:
    """Every classifier is trained once, whoever asks for it."""
    fit = presets.fit_oracle
    kept: dict[tuple[str, str], Any] = {}

    def shared(dataset: Dataset, preset: str, **how: Any) -> Any:
        assert how in ({}, {"seed": 0})
        key = (dataset_digest(dataset), preset)
        if key not in kept:
            kept[key] = fit(dataset, preset)
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        for module in (presets, classifier_plugins):
            patch.setattr(module, "fit_oracle", shared)
        yield shared


@pytest.fixture(scope="module")
def client(trained: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A client of the web app."""
    folder = tmp_path_factory.mktemp("served")
    jobs = Jobs(folder)
    for case in CASES.values():  # otherwise the app evaluates each classifier first
        identity = f"{case.dataset}@{dataset_digest(data_of(case.dataset))}"
        jobs.judge(identity, case.classifier, {"accuracy": 1.0, "level": "better"})
    jobs.close()
    with (
        serving(folder, datasets=("mice", "synthetic")) as url,
        httpx.Client(base_url=url, timeout=60) as made,
    ):
        yield made


# ---- entrances ----------------------------------------------------------------------------------


def by_python(case: Case, oracle: Any) -> Answer:
    """`explain` and `describe`."""
    data, asked = data_of(case.dataset), case.request
    graph = data[case.graph].graph
    refits = None if asked.stable is None else make_refits(data, oracle)
    known = {"nodes": data.nodes, "background": data.graphs, "refits": refits}
    result = explain(graph, oracle, request=asked, **known)
    story = describe(
        result,
        data.nodes,
        oracle,
        regions=asked.regions if result.as_read is None else None,
        subject=case.graph,
        class_names=dict(enumerate(data.class_names)),
        background=data.graphs,
        seed=asked.seed,
    )
    return Answer.of(result, story.statement)


def by_one_call(case: Case, oracle: Any) -> Answer:
    """`explain_and_describe`."""
    subject = find_subject(data_of(case.dataset), case.graph)
    story: Story = explain_and_describe(subject, oracle, request=case.request)
    return Answer.of(story.result, story.statement)


def by_command_line(case: Case, capsys: pytest.CaptureFixture[str]) -> Answer:
    """``denseflip explain``."""
    words = ["explain", case.dataset, case.graph, "--oracle", case.classifier, "--json"]
    for name, value in case.options.items():
        if value is True:
            words.append(flag_of(name))
        else:
            for one in value if isinstance(value, list) else [value]:
                words += [flag_of(name), str(one)]
    capsys.readouterr()
    assert run(app, words) == 0
    return Answer.of_record(json.loads(capsys.readouterr().out))


def by_many(case: Case) -> Answer:
    """`explain_many`."""
    [one] = explain_many(
        data_of(case.dataset), case.classifier, [case.graph], request=case.request, engine="serial"
    )
    assert one.story is not None, one.failure
    return Answer.of(one.story.result, one.story.statement)


def by_bench(case: Case, folder: Path) -> Answer:
    """A bench file, and the result out of its store; a bench has no sentence."""
    options = {key: value for key, value in case.options.items() if key not in ("method", "seed")}
    config = check_config(
        {
            "datasets": [{"name": case.dataset, "graphs": [case.graph]}],
            "oracles": [case.classifier],
            "methods": [{"name": case.options.get("method", "auto"), **options}],
            "seeds": [case.options.get("seed", 0)],
            "measures": {"robustness": 0, "statement": False},
        }
    )
    outcome = run_specs(make_plan(make_matrix(config)).specs, Store(folder), SerialEngine())
    assert not outcome.failures, outcome.failures
    [record] = Store(folder).records()
    return Answer.of(read_result(record, data_of(case.dataset)))


def by_web_app(case: Case, client: Any) -> Answer:
    """The API that the page uses."""
    about = {"dataset": case.dataset, "subject": case.graph, "classifier": case.classifier}
    answer = client.post("/api/jobs", json=about | case.options)
    assert answer.status_code == 201, answer.text
    job = wait(client, answer.json()["id"])
    assert job["status"] == "done", job["error"]
    result = client.get(f"/api/jobs/{job['id']}/result").json()
    assert Story.from_dict(result["story"]).statement == result["record"]["statement"]
    return Answer.of_record(result["record"])


@pytest.mark.parametrize("name", CASES)
def test_one_request_one_answer(name, trained, client, capsys, tmp_path):
    case = CASES[name]
    oracle = trained(data_of(case.dataset), case.classifier)
    answers = {
        "python": by_python(case, oracle),
        "one call": by_one_call(case, oracle),
        "command line": by_command_line(case, capsys),
        "many": by_many(case),
        "web app": by_web_app(case, client),
        "bench": by_bench(case, tmp_path / "store"),
    }
    expected = answers["python"]
    assert expected.status == "found"  # the cases say something
    assert bool(expected.others) == (name in ("front", "several"))
    if name == "sf-knn":  # the app differed when it added a Pareto front to each
        assert sum(map(len, expected.edits)) == 194
    for entrance, answer in answers.items():
        if answer.sentence is None:
            assert entrance == "bench"
            expected = replace(expected, sentence=None)
        assert answer == expected, entrance


NETWORK = """
import torch

class Sums(torch.nn.Module):
    def __init__(self):
        super().__init__()
        weights = torch.randn(116, 116, generator=torch.Generator().manual_seed(0)).double()
        self.weights = torch.nn.Parameter(weights)

    def forward(self, adjacency):
        sums = (adjacency.to(self.weights.dtype) * self.weights).sum((1, 2))
        return torch.stack((-sums, sums), 1)  # right about control-001

model = Sums().eval()
"""


@pytest.mark.parametrize("method", ["auto", "tight", "gradient"])
def test_a_torch_module_gets_one_answer(method, trained, capsys, tmp_path, monkeypatch):
    """Its gradient reaches the search through every entrance that takes a module."""
    pytest.importorskip("torch", reason="a network needs torch")
    name = f"network_{method}"
    (tmp_path / f"{name}.py").write_text(NETWORK)
    monkeypatch.syspath_prepend(tmp_path)
    oracle = as_oracle(importlib.import_module(name).model)
    case = Case(*CONTROL, f"{name}:model", {"method": method, "budget": 500})
    data = data_of(case.dataset)
    [given] = explain_many(data, oracle, [case.graph], request=case.request, engine="serial")
    assert given.story is not None, given.failure
    answers = {
        "one call": by_one_call(case, oracle),
        "command line": by_command_line(case, capsys),
        "many": by_many(case),
        "many, the object": Answer.of(given.story.result, given.story.statement),
        "bench": by_bench(case, tmp_path / "store"),
    }
    expected = by_python(case, oracle)
    assert expected.status == "found"
    for entrance, answer in answers.items():
        same = replace(expected, sentence=None) if entrance == "bench" else expected
        assert answer == same, entrance


def test_the_cases_are_of_every_kind():
    """Presets, data sets and the options that are easily lost on the way."""
    used = {option for case in CASES.values() for option in case.options}
    assert used <= set(list_options())
    assert {"freeze", "only", "max_edits", "max_cells", "keep_density", "target"} <= used
    assert {"confidence", "front", "robust", "stable", "n", "language", "regions", "seed"} <= used
    assert len(CASES) == 18
