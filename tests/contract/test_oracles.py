"""Every kind of oracle and every preset passes the same checks: a new one, by being registered.

A kind is opened by its own example, in a folder that holds what the examples name: a new kind
whose example names a file or a module adds it to `FOLDER`. Beside them, models of every make that
`as_oracle` takes (`tests/models.py`).
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import models
from denseflip import explain
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.presets import PRESETS, fit_oracle
from denseflip.errors import MissingInputError
from denseflip.oracles.open import OracleKind, open_oracle, oracle_kinds
from denseflip.oracles.protocol import Oracle, clean_labels

COHORT, GRAPHS = models.COHORT, models.GRAPHS
PAGE = Path(__file__).parents[2] / "docs" / "classifiers.md"

FOLDER: dict[str, Callable[[Path], object]] = {
    "my_classifier.py": lambda path: path.write_text(
        "def label(adjacency):\n    return 'dense' if adjacency.sum() > 40 else 'loose'\n"
    ),
    "study.dfo": lambda path: fit_oracle(COHORT, "edges-logistic").save(path),
}
KINDS = {kind.name: kind for kind in oracle_kinds()}
SERVED = {"onnx", "service"}  # opened from what tests make; see `models`
# What sees weights answers only about graphs whose weights are known: see its own tests.
WEIGHED = {"weighted"}
WORDS = [*(kind.example for kind in KINDS.values() if kind.name not in SERVED | WEIGHED), *PRESETS]


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("folder")
    for name, make in FOLDER.items():
        make(folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", list(sys.path))
        yield
    for name in FOLDER:
        sys.modules.pop(Path(name).stem, None)


@pytest.fixture(scope="module", params=[*dict.fromkeys(WORDS), *models.MODELS])
def oracle(request: pytest.FixtureRequest, _folder: None) -> Any:
    if request.param in models.MODELS:
        return models.MODELS[request.param]()
    return open_oracle(request.param, dataset=COHORT)


def example_of(kind: OracleKind) -> str:
    """Words that open a kind here and now."""
    if kind.name == "onnx":
        return f"onnx:{models.onnx_file()}?features=degree"
    return models.service_url() if kind.name == "service" else kind.example


def label_of(oracle, graph):
    (label,) = oracle.predict([graph])
    return label


def edits_of(graph, seed):
    """Codes to flip: none, one, a few, many."""
    rng = np.random.default_rng(seed)
    n = graph.n_nodes
    u, v = np.triu_indices(n, 1)
    return [rng.choice(u * n + v, size, replace=False) for size in (0, 1, 1, 3, 8, 40)]


# ---- kinds ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_kind_says_what_it_is(kind: OracleKind) -> None:
    assert 10 < len(kind.summary) < 100
    assert kind.words
    assert next(k for k in oracle_kinds() if k.matches(kind.example)) is kind
    assert not any(kind.matches(text) for text in ("", "no such thing", "edges"))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_kind_is_documented(kind: OracleKind) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"| {kind.name} |" in text
    for words in kind.words:
        assert f"`{words}`" in text


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_kind_that_needs_a_data_set_says_so(kind: OracleKind) -> None:
    try:
        assert isinstance(open_oracle(example_of(kind)), Oracle)
    except MissingInputError as error:
        assert "dataset=" in str(error)  # noqa: PT017 - either way is fine


# ---- answers --------------------------------------------------------------------------------


def test_labels_are_plain_one_per_graph(oracle: Any) -> None:
    assert isinstance(oracle, Oracle)
    labels = clean_labels(oracle.predict(GRAPHS), len(GRAPHS))
    assert len(labels) == len(GRAPHS)
    assert len(set(labels)) > 1  # this cohort has both kinds of graphs for everybody
    classes = getattr(oracle, "classes", labels)
    assert set(labels) <= set(classes)


def test_answers_do_not_depend_on_when_or_beside_what(oracle: Any) -> None:
    first = list(oracle.predict(GRAPHS))
    assert list(oracle.predict(GRAPHS)) == first
    assert list(oracle.predict(GRAPHS[::-1]))[::-1] == first
    assert [label_of(oracle, g) for g in GRAPHS] == first
    base = GRAPHS[0]
    changed = [base.toggle_codes(codes) for codes in edits_of(base, 1)]
    afresh = [type(g).from_edges(g.n_nodes, g.edges()) for g in changed]
    assert list(oracle.predict(changed)) == list(oracle.predict(afresh))
    assert list(oracle.predict([*changed, *GRAPHS]))[len(changed) :] == first


def test_graphs_stay_as_they_are(oracle: Any) -> None:
    before = [g.digest for g in GRAPHS]
    oracle.predict(GRAPHS)
    assert [g.digest for g in GRAPHS] == before


def test_edits_are_answered_as_the_changed_graphs_are(oracle: Any) -> None:
    if not hasattr(oracle, "predict_edits"):
        return  # an offer, no duty
    for seed, base in enumerate(GRAPHS):
        edits = edits_of(base, seed)
        expected = oracle.predict([base.toggle_codes(codes) for codes in edits])
        assert oracle.predict_edits(base, edits) == expected
        assert [oracle.predict_edits(base, [codes])[0] for codes in edits] == expected


def test_probabilities_agree_with_the_labels(oracle: Any) -> None:
    if not hasattr(oracle, "predict_proba"):
        return  # an offer, no duty
    shares = np.asarray(oracle.predict_proba(GRAPHS))
    assert shares.shape == (len(GRAPHS), len(oracle.classes))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares.min() >= 0
    likeliest = [oracle.classes[i] for i in shares.argmax(axis=1)]
    assert likeliest == list(oracle.predict(GRAPHS))
    alone = np.concatenate([oracle.predict_proba([g]) for g in GRAPHS])
    # Those trained here to the last bit; a library's own sums may end otherwise in a batch.
    exact = isinstance(oracle, FittedOracle)
    np.testing.assert_allclose(alone, shares, rtol=0, atol=0 if exact else 1e-6)


def test_it_travels_to_a_worker(oracle: Any) -> None:
    again = pickle.loads(pickle.dumps(oracle))
    assert list(again.predict(GRAPHS)) == list(oracle.predict(GRAPHS))


def test_names_of_classes_are_names_of_its_labels(oracle: Any) -> None:
    names = getattr(oracle, "class_names", None)
    if names is None:
        return  # an offer, no duty
    named = set(names) if isinstance(names, dict) else set(range(len(names)))
    assert set(clean_labels(oracle.predict(GRAPHS), len(GRAPHS))) <= named


def test_no_graphs_no_answers(oracle: Any) -> None:
    assert list(oracle.predict([])) == []
    if hasattr(oracle, "predict_proba"):
        assert len(oracle.predict_proba([])) == 0


def test_in_batches_the_explanation_is_the_one_of_one_by_one(oracle: Any) -> None:
    results = [
        explain(GRAPHS[1], oracle, method, background=GRAPHS[:6], budget=60, batch=batch)
        for method in ("con", "tri+min")
        for batch in (1, 64)
    ]
    for one, many in (results[:2], results[2:]):
        assert (one.status, one.edits, one.calls) == (many.status, many.edits, many.calls)


def test_it_can_be_explained(oracle: Any) -> None:
    result = explain(GRAPHS[0], oracle, "edg", budget=60)
    assert result.label_before == label_of(oracle, GRAPHS[0])
    if result.found:
        assert label_of(oracle, result.counterfactual) == result.label_after
