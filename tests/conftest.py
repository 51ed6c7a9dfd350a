"""Fixtures that every test may use."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no reason to fail, and a run should be the same everywhere.
settings.register_profile(
    "denseflip",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("denseflip")

collect_ignore = ["networks.py"]  # needs torch; imported where that is there

ROOT = Path(__file__).resolve().parent.parent


def absent(what: str, reason: str) -> NoReturn:
    """Skip with a plain reason; fail where `what` must be there (DENSEFLIP_REQUIRE, set in CI)."""
    if what in os.environ.get("DENSEFLIP_REQUIRE", "").split(","):
        pytest.fail(f"{reason} (DENSEFLIP_REQUIRE asks for {what!r})")
    pytest.skip(reason)


def need(what: str, *modules: str) -> None:
    """Skip, or fail where `what` must be there, if one of its libraries is not installed."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError:
            absent(what, f'{module} is not installed; pip install -e ".[{what}]"')


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make golden` writes the golden files anew instead of comparing with them."""
    parser.addoption("--regenerate-golden", action="store_true", help="write golden files anew")


@pytest.fixture
def brain_data(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder with the paper's data files; the library is pointed at it for this test."""
    folders = [os.environ.get("DENSEFLIP_DATA", ""), str(ROOT.parent / "shared" / "data" / "brain")]
    for folder in filter(None, folders):
        path = Path(folder).resolve()
        if (path / "autism_graphs.pkl").is_file():
            monkeypatch.setenv("DENSEFLIP_DATA", str(path))
            return path
    absent("data", "the paper's data files are not here; set DENSEFLIP_DATA to their folder")


@pytest.fixture(scope="session")
def _cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, _cache_folder: Path) -> None:
    """Tests keep converted files in a folder of their own, never in the user's cache."""
    monkeypatch.setenv("DENSEFLIP_CACHE", str(_cache_folder))
