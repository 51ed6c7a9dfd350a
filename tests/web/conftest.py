"""A small server that the tests of one module share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cohorts import make_cohort
from denseflip.web.app import create_app
from denseflip.web.server_config import ServerSettings
from serving import Visitor, serving


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data set in a file."""
    return make_cohort().save(tmp_path_factory.mktemp("study") / "study.dfd")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the server."""
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def client(study: Path, data: Path) -> Iterator[Any]:
    """A client of a running server."""
    with (
        serving(data, datasets=(str(study),)) as url,
        httpx.Client(base_url=url, timeout=60) as made,
    ):
        yield made


@pytest.fixture
def make(tmp_path: Path, study: Path) -> Iterator[Callable[..., tuple[Visitor, Any]]]:
    """Makes a server in this process that does no jobs: a visitor, and its app."""
    made: list[Any] = []

    def of(**told: Any) -> tuple[Visitor, Any]:
        app = create_app(ServerSettings(data=tmp_path / "data", datasets=(str(study),), **told))
        made.append(app)
        return Visitor(app), app

    yield of
    for app in made:
        app.state.store.close()
        app.state.claim.release()
