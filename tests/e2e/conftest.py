"""A browser that may not reach anything: pages are opened from files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cohorts import make_areas, make_cohort
from denseflip.datasets.synthetic import make_synthetic
from desks import DESK, Desk

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--use-angle=swiftshader",  # WebGL without a graphics card
    "--enable-unsafe-swiftshader",
]


# Not for the whole session: playwright keeps an event loop running, which other tests would meet.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A running chromium, or a skip that says what is missing."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = os.environ.get("DENSEFLIP_CHROMIUM") or shutil.which("chromium")
    if program is None:
        reason = "chromium is not installed (apt-get install chromium)"
        if "browser" in os.environ.get("DENSEFLIP_REQUIRE", "").split(","):
            pytest.fail(f"{reason}; DENSEFLIP_REQUIRE asks for it")
        pytest.skip(reason)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


class Visit:
    """An opened page with everything it complained about or tried to fetch."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._request)

    def _console(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def _request(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.requests.append(request.url)

    def quiet(self) -> None:
        """Nothing went wrong, nothing was fetched."""
        assert self.errors == []
        assert self.requests == []

    def sideways(self) -> int:
        """Pixels by which the page is wider than the window."""
        script = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        return int(self.page.evaluate(script))


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Visit]]:
    """Open a file in a new window: ``visit(path, width=…, scripts=…)``."""
    contexts = []

    def opened(path: Path, *, width: int = 1200, height: int = 900, scripts: bool = True) -> Visit:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, java_script_enabled=scripts
        )
        contexts.append(context)
        seen = Visit(context.new_page())
        seen.page.goto(path.as_uri())
        return seen

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a cohort of human brains, small ones without
    coordinates, and graphs of many nodes and regions.
    """
    folder = tmp_path_factory.mktemp("app")
    brains = make_synthetic(n_per_class=8, strength=2.0).save(folder / "brains.dfd")
    small = make_cohort().save(folder / "small.dfd")
    numbers = replace(make_cohort(), class_names=("1", "0")).save(folder / "numbers.dfd")
    many = make_areas().save(folder / "areas.dfd")
    sets = (str(brains), str(small), str(numbers), str(many))
    from serving import serving  # needs the extra "web"

    with serving(folder / "data", datasets=sets) as url:
        yield url


@pytest.fixture
def desk(chromium: Any, served: str) -> Iterator[Any]:
    """Open the app in a window of some size."""
    contexts = []

    def opened(viewport: dict[str, int] = DESK, **more: Any) -> Desk:
        context = chromium.new_context(viewport=viewport, accept_downloads=True, **more)
        contexts.append(context)
        return Desk(context, served)

    yield opened
    for context in contexts:
        context.close()
