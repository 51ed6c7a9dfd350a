"""The form of the app in a browser: a field for every option, sent as it is, filled in again."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

pytest.importorskip("fastapi", reason="the app needs the extra 'web'")

from denseflip.option import LIMITS
from denseflip.request import list_options
from denseflip.web.schemas import NOT_HERE, TIME_LIMIT
from desks import DESK, PHONE, choose, press, reveal
from serving import wait

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("default")]
OPTIONS = {name: option for name, option in list_options().items() if name not in NOT_HERE}
#: A value for every option; where it has none here, one that fits its kind.
VALUES: dict[str, Any] = {
    "method": "con",
    "target": ["A", "B"],
    "regions": "side",
    "freeze": ["lobe: Front", "node: n11"],
    "vocabulary": "network",
}
OF_KIND: dict[str, Any] = {"flag": True, "whole": 7, "number": 0.25, "text": "x", "names": ["x"]}


def value_of(name: str) -> Any:
    """The value that a test sets an option to."""
    option = OPTIONS[name]
    return VALUES.get(name, option.choices[-1] if option.choices else OF_KIND[option.kind])


def put(page: Any, name: str, kind: str, value: Any) -> None:
    """Set an option as a visitor does."""
    field = page.locator(f"[data-option={name}]")
    control = field.locator(f"#option-{name}")
    if name == "freeze":
        page.click("#option-freeze-choose summary")
        for one in value:
            page.fill("#option-freeze-new", one.partition(": ")[2])
            page.click("#option-freeze-add")
    elif kind == "names" and field.locator(".chips button").count():
        for one in value:
            field.locator(f".chips button >> text='{one}'").click()
    elif kind == "names":
        for one in value:
            page.fill(f"#option-{name}-new", one)
            page.keyboard.press("Enter")
    elif kind == "flag":
        control.check()
    elif control.evaluate("e => e.tagName") == "SELECT":
        control.select_option(value)
    else:
        control.fill(str(value))
        control.press("Tab")


def open_form(window: Any) -> Any:
    """The form with everything unfolded, for the small data set."""
    page = window.open()
    choose(page, "#dataset", "small")
    page.wait_for_function("() => denseflipApp.set.key === 'small'")
    page.click("#more summary")
    return page


def sent(page: Any, button: str = "#explain") -> dict[str, Any]:
    """What the page sends when a button is pressed; the server is not asked."""
    bodies: list[str] = []

    def stop(route: Any) -> None:
        bodies.append(route.request.post_data)
        error = {"kind": "x", "message": "stopped here", "parameters": []}
        route.fulfill(status=400, body=json.dumps({"error": error}))

    page.route("**/api/jobs", stop)
    press(page, button)
    page.wait_for_selector("#trouble >> text=stopped here")
    page.unroute("**/api/jobs")
    body: dict[str, Any] = json.loads(bodies[0])
    return body


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_every_option_has_a_field_and_is_sent_as_it_is_set(desk, viewport):
    window = desk(viewport)
    page = open_form(window)
    for name, option in OPTIONS.items():
        field = page.locator(f"[data-option={name}]")
        assert option.label in field.inner_text()
        group = field.locator("xpath=ancestor::fieldset[1]/legend").inner_text()
        assert group == option.group
        assert field.locator("xpath=ancestor::details[@id='more']").count() == (not option.common)
    about = {"kind": "explain", "dataset": "small", "subject": "g0000"}
    assert sent(page) == about | {"classifier": "regions-logistic"}  # nothing that is not set
    assert page.is_hidden("#chosen-part")
    for name, option in OPTIONS.items():
        put(page, name, option.kind, value_of(name))
    body = sent(page)
    assert {name: body[name] for name in OPTIONS} == {name: value_of(name) for name in OPTIONS}
    for name in OPTIONS:  # every chip takes its option back
        page.locator("#chosen button").first.click()
        while page.locator("#chosen button").count() and name in ("target", "freeze"):
            name = ""
            page.locator("#chosen button").first.click()
    assert page.is_hidden("#chosen-part")
    assert sent(page) == about | {"classifier": "regions-logistic"}
    assert window.sideways() <= 0
    window.quiet()


def test_the_seed_is_no_constraint(desk):
    page = open_form(desk())
    legend = page.locator("[data-option=seed] >> xpath=ancestor::fieldset[1]/legend")
    assert legend.inner_text() == LIMITS


@pytest.mark.parametrize("kind", ["flag", "whole", "number", "text", "choice", "names"])
def test_an_option_that_the_server_adds_is_in_the_form_by_itself(desk, kind):
    window = desk()
    made = {
        "name": "made_up",
        "label": "Something new",
        "help": "What it does.",
        "group": "A new group",
        "kind": kind,
        "common": False,
        "choices": ["one", "two"] if kind == "choice" else [],
        "minimum": None,
        "maximum": None,
        "default": {"flag": False, "names": []}.get(kind),
    }

    def more(route: Any) -> None:
        route.fulfill(json=[*route.fetch().json(), made])

    window.page.route("**/api/options", more)
    page = open_form(window)
    value = "two" if kind == "choice" else OF_KIND[kind]
    put(page, "made_up", kind, value)
    assert "Something new" in page.inner_text("#chosen")
    assert sent(page)["made_up"] == value
    assert page.locator("legend >> text='A new group'").count() == 1
    window.quiet()


def test_an_earlier_request_fills_the_form_again(desk, served):
    own = {
        "method": "con",
        "target": "B",
        "regions": "lobe*side",
        "freeze": ["lobe*side: Back L", "node: n11"],
        "only": "remove",
        "max_edits": 30,
        "keep_connected": True,
        "vocabulary": "graph",
        "share": 0.5,
        "budget": 4000,
        "seed": 3,
    }
    about = {"dataset": "small", "subject": "g0000", "classifier": "edges-logistic"}
    with httpx.Client(base_url=served, timeout=60) as client:
        job = client.post("/api/jobs", json=about | own).json()
        assert wait(client, job["id"])["status"] == "done"
    window = desk()
    page = window.open(f"#job={job['id']}")
    page.wait_for_selector("#story:not([hidden])")
    assert page.evaluate("denseflipApp.options.read()") == own | {"target": ["B"]}
    assert page.locator("#classifier").input_value() == "edges-logistic"
    assert page.is_hidden("#newer")
    page.fill("#option-seed", "4")
    page.press("#option-seed", "Tab")
    page.wait_for_selector("#newer:not([hidden])")
    again = sent(page, "#newer-explain")
    assert again == about | own | {"kind": "explain", "target": ["B"], "seed": 4}
    window.quiet()


@pytest.mark.parametrize(
    ("button", "left_out"),
    [
        ("#many", {"subject"}),
        ("#compare", {"method"}),
        ("#cohort", {"subject", "method"}),
        ("#judge", {"subject", "method", "seed"}),
    ],
)
def test_every_kind_of_job_gets_the_options_that_apply(desk, button, left_out):
    window = desk()
    page = open_form(window)
    choose(page, "#classifier", "edges-svm")
    put(page, "method", "text", "con")
    put(page, "seed", "whole", 5)
    body = sent(page, button)
    expected = {"kind", "dataset", "classifier", "subject", "method", "seed"} - left_out
    assert set(body) == expected | ({"permutations"} if button == "#cohort" else set())
    window.quiet()


def test_errors_name_the_label_and_mark_the_field(desk):
    window = desk()
    page = open_form(window)
    put(page, "front", "flag", True)
    put(page, "n", "whole", 3)
    page.click("#more summary")
    page.click("#explain")
    page.wait_for_selector("#trouble:not([hidden])")
    said = page.inner_text("#trouble")
    assert said == (
        "“All best trade-offs” and “Number of answers” cannot be combined. Use one of them."
    )
    assert page.locator("[data-option=n].wrong").is_visible()
    put(page, "n", "whole", "")
    page.locator("#option-front").uncheck()
    page.fill("#option-min_degree", "9")
    page.fill("#option-max_degree", "2")
    page.click("#explain")
    page.wait_for_selector("[data-option=min_degree].wrong")
    said = page.inner_text("#trouble")
    assert "“Smallest degree” = 9 exceeds “Largest degree” = 2" in said
    page.fill("#option-max_degree", "-1")  # the browser refuses it, though it is folded away
    page.click("#more summary")
    press(page, "#compare")
    assert page.locator("#option-max_degree").is_visible()
    window.quiet()


def test_the_front_is_shown_if_it_is_requested(desk):
    window = desk()
    page = open_form(window)
    window.explain("small", "g0002", "edges-logistic")
    assert page.is_hidden("#front")
    page.check("#option-front")
    window.explain("small", "g0002", "edges-logistic")
    assert page.is_visible("#front")
    assert "Choose an answer" in page.inner_text("#front-title")
    page.uncheck("#option-front")
    put(page, "n", "whole", 2)
    window.explain("small", "g0002", "edges-logistic")
    assert "different places" in page.inner_text("#front-title")
    window.quiet()


def test_a_search_that_reached_its_limit_is_repeated_without_it(desk):
    window = desk()
    page = open_form(window)
    put(page, "budget", "whole", 1)
    window.explain("small", "g0002", "edges-logistic")
    before = page.evaluate("denseflipApp.view.before")
    assert page.inner_text("#story-title").endswith(f": still {before}, no answer found")
    said = page.inner_text("#sentence")
    assert "reached the limit on queries." in said
    assert "Next: raise “Largest number of queries” (1 query was used; try 1000)" in said
    assert page.inner_text(".wi-label") == f"still {before}"
    page.click("#unlimited")
    page.wait_for_function("() => denseflipApp.view.found")
    assert page.is_hidden("#unlimited")
    assert page.input_value("#option-budget") == ""
    window.quiet()


def test_the_time_limit_is_shown_as_it_is(desk):
    page = open_form(desk())
    assert page.locator("#option-time_limit").get_attribute("placeholder") == f"{TIME_LIMIT:g}"


def test_a_data_set_is_renamed(desk, served):
    window = desk()
    page = window.open()
    choose(page, "#dataset", "numbers")
    page.wait_for_function("() => denseflipApp.set.key === 'numbers'")
    reveal(page, "#title").fill("Our study")
    press(page, "#rename")
    page.wait_for_function(
        "() => document.getElementById('title-said').textContent.startsWith('Saved')"
    )
    assert page.locator("#dataset option:checked").inner_text() == "Our study"
    assert page.locator("#data-said").inner_text().startswith("Our study, ")
    reveal(page, "#title").fill(" ")
    press(page, "#rename")
    page.wait_for_function(
        "() => !document.getElementById('title-said').textContent.startsWith('Saved')"
    )
    assert httpx.get(f"{served}/api/datasets/numbers").json()["name"] == "Our study"
    httpx.patch(f"{served}/api/datasets/numbers", json={"title": "cohort"})
    window.quiet()
