"""Nothing serious stands in anybody's way: axe-core over every view, and the keyboard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("fastapi", reason="the app needs the extra 'web'")

from desks import PHONE, press, reveal
from serving import wait

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("default")]
AXE = (Path(__file__).parents[1] / "data" / "axe.min.js").read_text(encoding="utf-8")
SMALL = {"dataset": "small", "classifier": "edges-logistic"}
ASKED = {
    "story": SMALL | {"subject": "g0000"},
    "comparison": SMALL | {"kind": "compare", "subject": "g0000", "methods": ["auto", "con"]},
    "together": SMALL | {"kind": "cohort", "permutations": 19},
    "index": SMALL | {"kind": "many", "method": "con", "classes": ["B"]},
}


@pytest.fixture(scope="module")
def jobs(served: str) -> dict[str, str]:
    """A finished job of every kind."""
    with httpx.Client(base_url=served, timeout=60) as client:
        ids = {
            view: client.post("/api/jobs", json=asked).json()["id"] for view, asked in ASKED.items()
        }
        for id in ids.values():
            assert wait(client, id, 300)["status"] == "done"
    return ids


def serious(page: Any) -> list[Any]:
    """What axe finds serious or worse on a page as it is now."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE)
    report = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        (v["id"], v["nodes"][0]["html"][:160], v["nodes"][0].get("failureSummary", "")[:200])
        for v in report["violations"]
        if v["impact"] in {"serious", "critical"}
    ]


def nothing(found: dict[str, list[Any]]) -> None:
    bad = {view: faults for view, faults in found.items() if faults}
    assert bad == {}, json.dumps(bad, indent=1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_tab_of_an_explanation(desk, scheme):
    window = desk(color_scheme=scheme)
    page = window.open()
    found = {"start": serious(page)}
    page.click("#more summary")
    press(page, "#bring summary")
    page.click("#option-freeze-choose summary")
    page.click("#option-freeze .chips button")
    for button in page.locator("button.help").all():
        button.click()
    found["form"] = serious(page)
    page.click("#chosen button")
    window.explain("brains", "case-001")
    assert page.evaluate(  # it does find what is wrong
        """async () => { const img = document.createElement('img'); document.body.append(img);
        const n = (await axe.run(img)).violations.length; img.remove(); return n; }"""
    )
    for tab in ("brain", "circle", "matrix", "edits", "replay", "whatif"):
        page.click(f"#tab-{tab}")
        page.wait_for_timeout(200)
        found[tab] = serious(page)
    page.click(".wi-save")  # one's own counterfactuals, side by side
    page.click(".wi-tools >> text=Original")
    page.click(".wi-save")
    assert page.locator(".wi-saved tbody tr").count() == 2
    found["own"] = serious(page)
    nothing(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_other_view(desk, jobs, scheme):
    found = {}
    for view, id in jobs.items():
        window = desk(color_scheme=scheme) if view != "index" else desk(PHONE, color_scheme=scheme)
        window.open(f"#job={id}")
        window.page.wait_for_selector(f"#{view}:not([hidden])")
        assert window.sideways() <= 0
        found[view] = serious(window.page)
        window.quiet()
    nothing(found)


@pytest.mark.parametrize("width", [1200, 390])
def test_what_is_sent_by_mail(chromium, served, jobs, tmp_path, width):
    found = {}
    for view, name in (("story", "report.html"), ("index", "index.html")):
        text = httpx.get(f"{served}/api/jobs/{jobs[view]}/files/{name}", timeout=60).text
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        scheme = "dark" if width == 390 else "light"
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        page = context.new_page()
        page.goto(path.as_uri())
        if view == "story":
            page.click("#what-if summary")
            page.wait_for_selector("#whatif .wi-verdict strong")
            page.wait_for_selector("#view[data-ready=true]")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        found[name] = serious(page)
        context.close()
    nothing(found)


def test_the_keyboard_reaches_all_and_shows_where_it_is(desk, jobs):
    window = desk(reduced_motion="reduce")
    page = window.open(f"#job={jobs['story']}")
    page.wait_for_selector("#story:not([hidden])")
    for part in ("#dataset", "#classifier", "#many", "#copy-link"):
        reveal(page, part)
    page.evaluate("document.activeElement.blur()")
    seen = []
    for _ in range(200):
        page.keyboard.press("Tab")
        id, outlined = page.evaluate("""() => { const e = document.activeElement;
          if (e === document.body) return [null, true]; // past the last
          return [e.id || e.textContent.trim().slice(0, 20),
            getComputedStyle(e).outlineStyle !== 'none']; }""")
        if id is None:
            break
        seen.append(id)
        assert outlined, id
    wanted = ("theme", "dataset", "classifier", "subject", "explain", "many", "cohort")
    order = [id for id in seen if id in {*wanted, "tab-circle", "copy-link"}]
    assert order == [*wanted, "tab-circle", "copy-link"]
    page.focus("#tab-circle")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-matrix", "aria-selected") == "true"
    assert page.evaluate(
        "getComputedStyle(document.getElementById('explain')).transitionDuration"
    ) in {"0s", ""}
