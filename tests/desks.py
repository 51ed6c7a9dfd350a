"""A window on the app, for tests in a browser."""

from __future__ import annotations

import os
from typing import Any

PATIENCE = 1000 * int(os.environ.get("DENSEFLIP_PATIENCE", "60"))  # more on a busy machine
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 800}


def reveal(page: Any, selector: str) -> Any:
    """Open what an element is folded into, as a visitor does, and return the element."""
    found = page.locator(selector).first
    found.evaluate(
        """(one) => { for (let part = one.parentElement.closest("details"); part;
          part = part.parentElement.closest("details")) part.open = true; }"""
    )
    return found


def choose(page: Any, selector: str, value: str) -> None:
    """Choose a value of a step of the form."""
    reveal(page, selector).select_option(value)


def press(page: Any, selector: str) -> None:
    """Press a button that may be folded away."""
    reveal(page, selector).click()


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

    def open(self, fragment: str = "", *, unfold: bool = True) -> Any:
        self.page.goto(f"{self.url}/{fragment}")
        self.page.wait_for_selector("html[data-ready=true]")
        if unfold:
            reveal(self.page, "#options")
        return self.page

    def explain(self, dataset: str, subject: str, classifier: str = "regions-logistic") -> Any:
        page = self.page
        if page.locator("#dataset").input_value() != dataset:  # another one empties the form
            choose(page, "#dataset", dataset)
        page.wait_for_function(
            "key => denseflipApp.set && denseflipApp.set.key === key", arg=dataset
        )
        choose(page, "#subject", subject)
        choose(page, "#classifier", classifier)
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
