"""A window on the app, for tests in a browser."""

from __future__ import annotations

import os
from typing import Any

PATIENCE = 1000 * int(os.environ.get("DENSEFLIP_PATIENCE", "60"))  # more on a busy machine
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 800}


class Desk:
    """A window on the app that notes every complaint and every foreign request."""

    def __init__(self, context: Any, url: str) -> None:
        self.page = context.new_page()
        self.url = url
        self.errors: list[str] = []
        self.strangers: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._console)
        self.page.on("request", self._request)
        self.page.set_default_timeout(PATIENCE)

    def _console(self, message: Any) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.strangers.append(request.url)

    def open(self, fragment: str = "") -> Any:
        self.page.goto(f"{self.url}/{fragment}")
        self.page.wait_for_selector("html[data-ready=true]")
        return self.page

    def explain(self, dataset: str, subject: str, classifier: str = "regions-logistic") -> Any:
        page = self.page
        if page.locator("#dataset").input_value() != dataset:  # another one empties the form
            page.select_option("#dataset", dataset)
        page.wait_for_function(
            "key => denseflipApp.set && denseflipApp.set.key === key", arg=dataset
        )
        page.select_option("#subject", subject)
        page.select_option("#classifier", classifier)
        shown = page.evaluate("denseflipApp.opened ?? 0")  # an older answer may still be there
        page.click("#explain")
        page.wait_for_function("old => (denseflipApp.opened ?? 0) > old", arg=shown)
        page.wait_for_selector("#story:not([hidden])")
        page.wait_for_selector("#progress", state="hidden")
        return page

    def sideways(self) -> int:
        script = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        return int(self.page.evaluate(script))

    def quiet(self) -> None:
        assert self.errors == []
        assert self.strangers == []
