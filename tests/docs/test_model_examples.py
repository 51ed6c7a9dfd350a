"""The worked examples of models run, and show what the docs say they show."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import need
from denseflip import Graph, open_oracle
from denseflip.errors import OracleError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Import an example by its name."""
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.chdir(EXAMPLES)
    yield importlib.import_module
    for name in ("gnn_mice", "sklearn_pipeline", "http_service"):
        sys.modules.pop(name, None)


@pytest.mark.slow
def test_a_graph_network_on_four_strains(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    need("gnn", "torch", "torch_geometric")
    gnn = example("gnn_mice")
    oracle, judged, story = gnn.main(folds=2)
    assert judged.protocol != "as given"
    assert judged.accuracy >= 0.6  # trained on half of the mice; on three quarters it is 1.0
    assert judged.level == "better"
    assert story.result.found
    assert (story.result.label_before, story.result.label_after) == (0, 1)
    assert "would have been classified as BTBR" in capsys.readouterr().out
    # Asked in batches or one by one, the same is said of the counterfactual and its neighbours.
    near = [story.result.original, story.result.counterfactual]
    near += [story.result.counterfactual.toggle([(0, i)]) for i in range(1, 7)]
    assert oracle.predict(near) == [oracle.predict([g])[0] for g in near]
    assert oracle.predict(near)[:2] == [0, 1]


def test_a_pipeline(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    judged, story = example("sklearn_pipeline").main(permutations=19)
    assert judged.accuracy >= 0.9
    assert story.verified
    assert story.result.label_after == 1
    assert "classified as BTBR" in capsys.readouterr().out
    words = open_oracle("sklearn_pipeline:pipeline?features=degrees")
    assert words.predict([story.result.counterfactual]) == [1]


def test_a_service(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    need("http", "httpx")
    story = example("http_service").main("synthetic", "case")  # smaller than the mice
    assert story.verified
    assert (story.result.label_before, story.result.label_after) == ("control", "case")
    assert "classified as case" in capsys.readouterr().out


def test_the_service_says_what_is_wrong(example: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    need("http", "httpx")
    import threading

    monkeypatch.setenv("SERVICE_TOKEN", "abc")
    service = example("http_service").Service(0)
    threading.Thread(target=service.serve_forever, args=(0.02,), daemon=True).start()
    try:
        with pytest.raises(OracleError, match=r"status 401.*DENSEFLIP_TOKEN"):
            open_oracle(service.url)
        monkeypatch.setenv("DENSEFLIP_TOKEN", "abc")
        oracle = open_oracle(service.url)
        assert oracle.classes == ("B6", "BTBR")
        assert len(oracle.predict_proba(service.dataset.graphs[:3])) == 3
        with pytest.raises(OracleError, match=r"status 400: .*has 3 nodes"):
            oracle.predict([Graph.from_edges(3, [(0, 1)])])
    finally:
        service.shutdown()
        service.server_close()
