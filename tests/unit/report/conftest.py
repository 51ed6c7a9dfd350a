"""Stories that the report tests draw."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

from denseflip.story.story import Story
from stories import brain_nodes, complete, make_story, plain_nodes, sided_nodes


@pytest.fixture(scope="session")
def brain() -> Story:
    """AAL: ten edges among five frontal nodes removed, six among four occipital ones added."""
    frontal, occipital = (2, 3, 4, 5, 6), (42, 43, 48, 49)
    return make_story(brain_nodes(), complete(frontal), complete(occipital))


@pytest.fixture(scope="session")
def busy() -> Story:
    """AAL: several hundred edits all over."""
    removed = [(u, v) for u in range(0, 116, 3) for v in range(u + 1, 116, 7)]
    added = [(u, v) for u in range(1, 116, 3) for v in range(u + 2, 116, 9)]
    return make_story(brain_nodes(), removed, added, method="dat")


@pytest.fixture(scope="session")
def sided() -> Story:
    """No coordinates, four regions with awkward names: two edges removed, three added."""
    return make_story(sided_nodes(), [(0, 1), (3, 4)], [(0, 6), (1, 7), (2, 8)], method="blocks")


@pytest.fixture(scope="session")
def plain() -> Story:
    """No coordinates and no regions."""
    return make_story(plain_nodes(), [(0, 1)], [(2, 3), (4, 5)])


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Pretend that a package is not installed."""
    real = importlib.import_module
    gone: set[str] = set()

    def pretend(name: str, *rest: Any) -> Any:
        if name in gone:
            msg = f"No module named {name!r}"
            raise ImportError(msg)
        return real(name, *rest)

    monkeypatch.setattr("denseflip.report.canvas.importlib.import_module", pretend)
    return gone.add
