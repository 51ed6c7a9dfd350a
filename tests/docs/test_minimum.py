"""The oldest versions that we allow, as a list for pip."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return importlib.import_module("minimum")


def test_bounds_are_pinned_and_the_higher_of_two_counts(script):
    project = {
        "name": "denseflip",
        "dependencies": ["numpy>=1.26", "rich>=13.7"],
        "optional-dependencies": {
            "a": ["dask[distributed]>=2024.9", "rich>=13.10"],
            "b": ["never>=1"],
            "all": ["denseflip[a, c]", "rich>=13.8"],
            "c": ["python-multipart>=0.0.18"],
        },
    }
    assert script.oldest(project, []) == ["numpy==1.26", "rich==13.7"]
    assert script.oldest(project, ["all"]) == [
        "dask==2024.9", "numpy==1.26", "python-multipart==0.0.18", "rich==13.10",
    ]  # fmt: skip
    with pytest.raises(SystemExit, match=r"no extra 'd' in pyproject.toml; got: a, b, all, c"):
        script.oldest(project, ["d"])
    for without in ("numpy", "numpy<3", "numpy==2.0"):
        with pytest.raises(SystemExit, match=f"{without!r} in pyproject.toml has no lower bound"):
            script.oldest({**project, "dependencies": [without]}, [])


def test_everything_that_we_ask_for_has_a_lower_bound(script, capsys):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    script.main(list(project["optional-dependencies"]))
    pinned = dict(line.split("==") for line in capsys.readouterr().out.splitlines())
    assert {"numpy", "dask", "torch", "ruff", "sphinx"} <= set(pinned)
    assert "denseflip" not in pinned
