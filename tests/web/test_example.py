"""The worked example of the first screen: what the code computes, shown as a job."""

from __future__ import annotations

import gzip
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("fastapi", reason="the app needs the extra 'web'")

from denseflip.datasets.cards import KNOWN_OF_MICE
from denseflip.web.example import ASKED, EXAMPLE, kept_example
from serving import serving

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_example.py"


def differences(made: Any, kept: Any, where: str = "") -> Iterator[str]:
    """Where two JSON values differ, but for times and the last digits of a number.

    Processors add floating-point numbers in different orders.
    """
    if isinstance(made, dict) and isinstance(kept, dict) and made.keys() == kept.keys():
        for key in made.keys() - {"elapsed", "seconds"}:
            yield from differences(made[key], kept[key], f"{where}.{key}")
    elif isinstance(made, list) and isinstance(kept, list) and len(made) == len(kept):
        for i, pair in enumerate(zip(made, kept, strict=True)):
            yield from differences(*pair, f"{where}[{i}]")
    elif type(made) is float and type(kept) is float:
        if not math.isclose(made, kept, rel_tol=1e-9):
            yield f"{where}: {made} is not {kept}"
    elif made != kept or type(made) is not type(kept):
        yield f"{where}: {made} is not {kept}"


def test_differences_are_found_but_for_times_and_last_digits():
    kept = {"a": [1, 0.5649106429448445], "seconds": 1.0}
    assert not list(differences({"a": [1, 0.5649106429448444], "seconds": 2.0}, kept))
    assert list(differences({"a": [1, 0.56491], "seconds": 1.0}, kept)) == [
        ".a[1]: 0.56491 is not 0.5649106429448445"
    ]
    for other in ({"a": [2, 0.5649106429448445], "seconds": 1.0}, {"a": [1], "seconds": 1.0}, {}):
        assert list(differences(other, kept))


@pytest.mark.slow
def test_the_example_is_what_the_code_computes(tmp_path):
    """If it is not: python scripts/make_example.py."""
    out = tmp_path / "example.json.gz"
    subprocess.run([sys.executable, str(SCRIPT), "--out", str(out)], check=True, timeout=600)
    made = json.loads(gzip.decompress(out.read_bytes()))
    assert not list(differences(made, kept_example()))


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
