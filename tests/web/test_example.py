"""The worked example of the first screen: what the code computes, shown as a job."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("fastapi", reason="the app needs the extra 'web'")

from denseflip.datasets.cards import KNOWN_OF_MICE
from denseflip.web.example import ASKED, EXAMPLE, kept_example
from serving import serving

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_example.py"


def untimed(value: Any) -> Any:
    """Data without the times that a run took."""
    if isinstance(value, dict):
        return {k: untimed(v) for k, v in value.items() if k not in {"elapsed", "seconds"}}
    return [untimed(v) for v in value] if isinstance(value, list) else value


@pytest.mark.slow
def test_the_example_is_what_the_code_computes(tmp_path):
    """If it is not: python scripts/make_example.py."""
    out = tmp_path / "example.json.gz"
    subprocess.run([sys.executable, str(SCRIPT), "--out", str(out)], check=True, timeout=600)
    made = json.loads(gzip.decompress(out.read_bytes()))
    assert untimed(made) == untimed(kept_example())


@pytest.fixture(scope="module")
def mice(tmp_path_factory):
    with (
        serving(tmp_path_factory.mktemp("mice"), datasets=("mice",)) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield client


def test_the_example_is_shown_as_a_job(mice):
    job = mice.get(f"/api/jobs/{EXAMPLE}").json()
    assert (job["status"], job["request"]) == ("done", ASKED)
    view = mice.get(f"/api/jobs/{EXAMPLE}/result").json()["view"]
    assert view["found"]
    assert view["answers"][0]["lead"].startswith("If ")
    assert len(view["answers"][0]["chips"]) == 4
    for name in ("report.html", "result.json", "edits.csv", "reference.svg"):
        assert mice.get(f"/api/jobs/{EXAMPLE}/files/{name}").status_code == 200
    asked = {key: ASKED[key] for key in ("dataset", "subject", "classifier")}
    panel = mice.get("/api/whatif", params={**asked, "job": EXAMPLE}).json()
    assert panel["start"]["cells"]
    cell = panel["start"]["cells"][0]
    low, median, high = panel["usual"][f"{cell['a']}-{cell['b']}"]
    assert low < median < high


def test_the_example_says_what_is_known_of_the_mice(mice):
    assert KNOWN_OF_MICE in mice.get("/").text
    assert mice.get("/api/datasets/mice").json()["known"] == KNOWN_OF_MICE


def test_the_example_is_no_job_of_the_user(mice):
    assert mice.get("/api/jobs").json() == []
    assert mice.delete(f"/api/jobs/{EXAMPLE}").status_code == 404
    assert mice.post(f"/api/jobs/{EXAMPLE}/again").status_code == 404
    assert mice.post(f"/api/jobs/{EXAMPLE}/cancel").status_code == 404


def test_other_data_have_the_example_too(client):
    assert client.get(f"/api/jobs/{EXAMPLE}/result").json()["view"]["subject"]
