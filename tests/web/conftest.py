"""A small server that the tests of one module share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cohorts import make_cohort
from serving import serving


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
