"""Classifiers of every make, as oracles over the cohort of 12 nodes, for contract tests."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cohorts import make_cohort
from conftest import need
from denseflip import as_oracle, open_oracle
from denseflip.oracles.protocol import Oracle

COHORT = make_cohort(signal=0.3)
GRAPHS = list(COHORT.graphs)
LABELS = np.asarray(COHORT.labels)
NAMES = np.asarray(COHORT.class_names)[LABELS]
_stack = ExitStack()  # what is open until the tests end
atexit.register(_stack.close)


def degree_row(adjacency: Any) -> Any:
    """The row of a graph for a pipeline."""
    return adjacency.sum(0)


def degree_rows(stack: Any) -> Any:
    """The rows of several."""
    return stack.sum(1)


def triangles(adjacency: Any) -> Any:
    """Features of nodes: degree and triangles."""
    return np.column_stack((adjacency.sum(0), np.diag(adjacency @ adjacency @ adjacency) / 2))


def from_graphs(graphs: Any) -> Any:
    """The first step of a pipeline that reads graphs themselves."""
    return np.stack([g.degrees() for g in graphs])


def _fitted(estimator: Any, labels: Any = LABELS) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    return make_pipeline(MinMaxScaler(), estimator).fit(from_graphs(GRAPHS), labels)


def _pipeline() -> Oracle:
    from sklearn.linear_model import LogisticRegression

    return as_oracle(_fitted(LogisticRegression(), NAMES), features="degrees")


def _forest() -> Oracle:
    from sklearn.ensemble import RandomForestClassifier

    forest = _fitted(RandomForestClassifier(20, random_state=0, n_jobs=1))
    return as_oracle(forest, features=degree_rows, batch=True, class_names=["A", "B"])


def _support() -> Oracle:
    from sklearn.svm import SVC

    return as_oracle(_fitted(SVC(kernel="rbf")), features=degree_row)


def _of_graphs() -> Oracle:
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    steps = make_pipeline(FunctionTransformer(from_graphs), KNeighborsClassifier(3))
    return as_oracle(steps.fit(GRAPHS, LABELS), features="graphs")


def _regions() -> Oracle:
    from sklearn.linear_model import LogisticRegression

    from denseflip.classifiers.features import make_features

    rows = make_features("regions", COHORT.nodes).transform(GRAPHS)
    fitted = LogisticRegression(C=100).fit(rows, LABELS)
    return as_oracle(fitted, features="regions", nodes=COHORT.nodes)


def _torch(make: str, features: Any, **options: Any) -> Oracle:
    need("gnn", "torch")
    import torch

    import networks

    torch.manual_seed(3)
    widths = {"degree": 1, "profile": 12, "identity": 12}
    width = widths[features] if isinstance(features, str) else 2
    network = networks.Dense(12) if make == "dense" else networks.Sage(width)
    if make == "data":
        need("gnn", "torch_geometric")
        network = networks.OfData(network)
    network.eval()
    oracle = as_oracle(network, features=features, **options)
    networks.between(network, oracle, GRAPHS)
    return oracle


def _one_number() -> Oracle:
    need("gnn", "torch")
    import networks

    inner = _torch("edges", "degree").module  # type: ignore[attr-defined]
    return as_oracle(networks.OneNumber(inner).eval(), features="degree", output="logit")


@cache
def onnx_file() -> Path:
    """A network in an ONNX file; written once."""
    need("gnn", "torch")
    need("onnx", "onnx", "onnxruntime")
    import networks

    folder = Path(_stack.enter_context(tempfile.TemporaryDirectory()))
    module = _torch("edges", "degree").module  # type: ignore[attr-defined]
    return networks.export(module, folder / "network.onnx")


def _onnx() -> Oracle:
    return open_oracle(f"onnx:{onnx_file()}?features=degree&class_names=few,many")


@cache
def service_url() -> str:
    """The address of a service that answers until the tests end."""
    need("http", "httpx")
    import services

    return _stack.enter_context(services.served()).url


def _service() -> Oracle:
    return open_oracle(service_url())


def _named() -> Oracle:
    from denseflip.classifiers.presets import fit_oracle

    return as_oracle(fit_oracle(COHORT, "edges-logistic"), class_names={0: "few", 1: "many"})


MODELS: dict[str, Callable[[], Oracle]] = {
    "pipeline": _pipeline,
    "forest on own rows": _forest,
    "support vectors on own rows": _support,
    "pipeline on graphs": _of_graphs,
    "logistic on regions": _regions,
    "torch edges, degree": lambda: _torch("edges", "degree"),
    "torch edges, profile": lambda: _torch("edges", "profile"),
    "torch edges, identity": lambda: _torch("edges", "identity", class_names=["few", "many"]),
    "torch edges, fixed": lambda: _torch("edges", np.arange(24.0).reshape(12, 2) / 9),
    "torch edges, function": lambda: _torch("edges", triangles),
    "torch edges, one by one": lambda: _torch("edges", "degree", max_batch=1),
    "torch data": lambda: _torch("data", "degree", device="cpu"),
    "torch dense": lambda: _torch("dense", None),
    "torch one number": _one_number,
    "onnx": _onnx,
    "service": _service,
    "named": _named,
}
