"""Take screenshots of the app and of its pages: every view, in three sizes, light and dark.

    python scripts/make_screenshots.py OUT [--data FOLDER] [--only mouse,first] [--size 390]
    python scripts/make_screenshots.py --docs [--data FOLDER]

The script serves the mice, AUT (with ``DENSEFLIP_DATA``), a cohort with long names and one of 400
nodes in 57 regions, explains them, and captures each view in a browser. A file is called
``VIEW-SIZE-SCHEME.png``; on a phone, ``VIEW-390x844-SCHEME-2.png`` is the second screen. ``--docs``
takes the pictures of the docs instead. ``--data`` keeps the answers for the next run. It needs
playwright and chromium.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests"))

from cohorts import make_areas  # noqa: E402
from denseflip.datasets import Dataset, load_dataset  # noqa: E402
from denseflip.datasets.synthetic import make_synthetic  # noqa: E402
from denseflip.oracles.open import open_oracle  # noqa: E402
from denseflip.web.app import create_app  # noqa: E402
from denseflip.web.schemas import JobRequest  # noqa: E402
from denseflip.web.server_config import ServerSettings  # noqa: E402
from desks import press, reveal  # noqa: E402

IMAGES = ROOT / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PHONE = (390, 844)
SIZES = ((1440, 900), (1024, 768), PHONE)
SCHEMES = ("light", "dark")
VIEWS = (
    "#story:not([hidden]), #index:not([hidden]), #comparison:not([hidden]), #together:not([hidden])"
)
LONG = "Superior and middle temporal gyrus including the planum temporale of"


@dataclass(frozen=True)
class View:
    """What a picture shows.

    Attributes
    ----------
    name : of its files.
    asked : the job that it shows; None for the first screen.
    tab : the tab to open.
    act : what a visitor does then.
    file : a page to download and open instead of the app.
    """

    name: str
    asked: dict[str, Any] | None = None
    tab: str = ""
    act: Callable[[Any], None] | None = None
    file: str = ""


# ---- data -----------------------------------------------------------------------------------


def brains() -> Dataset:
    """A cohort of human brains with a planted difference."""
    return make_synthetic(n_per_class=8, strength=2.0)


def areas() -> Dataset:
    """Graphs of 400 nodes in 57 regions."""
    return make_areas(per_class=12)


def long_names() -> Dataset:
    """A cohort whose every name is long."""
    data = brains()
    nodes = data.nodes
    tables = {
        "anatomical area": tuple(f"{LONG} {x}" for x in nodes.regions["lobe"]),
        "hemisphere": nodes.regions["hemisphere"],
    }
    return replace(
        data,
        name="Resting-state connectomes of the multi-centre study, wave 2, without global signal",
        class_names=("Typically developing controls", "Autism spectrum disorder"),
        ids=tuple(f"sub-Centre07-0000{i:03d}_ses-baseline_run-01" for i in range(len(data))),
        nodes=replace(nodes, names=tuple(f"{LONG} {x}" for x in nodes.names), regions=tables),
    )


def misclassified(data: Dataset, classifier: str) -> str:
    """The id of the first graph that a classifier gets wrong."""
    oracle = open_oracle(classifier, dataset=data)
    labels = oracle.predict(list(data.graphs)) if hasattr(oracle, "predict") else ()
    wrong = [id for id, x, y in zip(data.ids, data.labels, labels, strict=True) if x != y]
    return wrong[0] if wrong else data.ids[0]


def upload_broken(page: Any) -> None:
    """Upload a table that cannot be read."""
    reveal(page, "#file").set_input_files(
        {"name": "patient-12.csv", "mimeType": "text/csv", "buffer": b"0,1,1\n1,0,x\n1,0,0\n"}
    )
    press(page, "#upload")
    page.wait_for_selector("#upload-said[role=alert]")
    page.locator("#upload-said").scroll_into_view_if_needed()


def views(aut: Dataset | None) -> list[View]:
    """Every view."""
    mouse = {"dataset": "mice", "subject": "sub-54811", "classifier": "regions-logistic"}
    group = {"dataset": "mice", "classifier": "regions-logistic"}
    large = {"dataset": "areas", "subject": "g0001", "classifier": "regions-logistic"}
    long = {
        "dataset": "long",
        "subject": "sub-Centre07-0000009_ses-baseline_run-01",
        "classifier": "regions-logistic",
    }
    many = group | {"kind": "many"}
    synthetic = {"dataset": "brains", "classifier": "regions-logistic"}
    cohort = synthetic | {"kind": "cohort", "permutations": 39}
    compared = mouse | {"kind": "compare", "methods": ["auto", "tri", "dat", "edg"]}
    found = [
        View("first"),
        View("mouse", mouse | {"seed": 1}),
        View("mouse-matrix", mouse, "matrix"),
        View("mouse-list", mouse, "edits"),
        View("not-found", mouse | {"max_edits": 3, "budget": 60}),
        View("out-of-range", mouse | {"method": "tri"}),
        View("what-if", mouse, "whatif"),
        View("front", mouse | {"front": True}),
        View("many", many),
        View("comparison", compared),
        View("upload-error", act=upload_broken),
        View("long-names", long),
        View("57-regions", large, "matrix"),
        View("400-nodes", large, "brain"),
        View("page-mouse", mouse, file="report.html"),
        View("page-many", many, file="index.html"),
        View("cohort", cohort),
        View("page-cohort", cohort, file="cohort.html"),
    ]
    if aut is None:
        return found
    patient = {"dataset": "aut", "subject": aut.ids[9], "classifier": "regions-logistic"}
    wrong = misclassified(aut, "regions-logistic")
    return [
        *found,
        View("aut-9", patient),
        View("wrong-classifier", patient | {"subject": wrong}),
        View("page-aut-9", patient, file="report.html"),
    ]


# ---- the server -----------------------------------------------------------------------------


@dataclass
class Served:
    """A server over a folder: its address, its app, and answered jobs by request."""

    url: str
    app: Any
    done: dict[str, str] = field(default_factory=dict)

    def job(self, asked: dict[str, Any]) -> str:
        """The id of a job with a result: of an earlier run, or done now."""
        wanted = JobRequest.model_validate(asked).model_dump()
        key = repr(sorted(wanted.items()))
        if key not in self.done:
            store, runner = self.app.state.store, self.app.state.runner
            known = [j.id for j in store.recent(500) if j.request == wanted and j.status == "done"]
            id = known[0] if known else runner.submit(wanted["kind"], wanted).id
            while (job := store.get(id)).status in {"queued", "running"}:
                time.sleep(0.1)
            if job.status != "done":
                raise SystemExit(f"{asked}: {job.status}, {job.error}")
            self.done[key] = id
        return self.done[key]


@contextmanager
def serving(folder: Path) -> Iterator[tuple[Served, Dataset | None]]:
    """Serve the data sets from a folder."""
    from denseflip.web.server_config import make_server

    folder.mkdir(parents=True, exist_ok=True)
    sets = ["mice"]
    made = {"brains": brains, "long": long_names, "areas": areas}
    for name, make in made.items():
        sets.append(str(folder / f"{name}.dfd"))
        if not Path(sets[-1]).exists():
            make().save(Path(sets[-1]))
    aut = None
    if os.environ.get("DENSEFLIP_DATA"):
        aut = load_dataset("aut")
        sets.append("aut")
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    settings = ServerSettings(datasets=tuple(sets), data=folder / "served", port=port, workers=1)
    app = create_app(settings)
    server = make_server(app, log_level="error", timeout_graceful_shutdown=1)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    try:
        yield Served(f"http://127.0.0.1:{port}", app), aut
    finally:
        server.should_exit = True
        thread.join(timeout=20)


# ---- the browser ----------------------------------------------------------------------------


def show(page: Any, served: Served, view: View, folder: Path) -> None:
    """Open a view, and wait until it is drawn."""
    job = served.job(view.asked) if view.asked else None
    if view.file:
        path = folder / f"{view.name}-{view.file}"
        if not path.exists():
            answer = page.request.get(
                f"{served.url}/api/jobs/{job}/files/{view.file}", timeout=180_000
            )
            path.write_bytes(answer.body())
        page.goto(path.as_uri())
        if page.locator("#view").count():
            page.wait_for_selector("#view[data-ready=true]")
    else:
        page.goto("about:blank")  # a new fragment alone would not load the page again
        page.goto(served.url + (f"/#job={job}&tab={view.tab}" if job else "/"))
        page.wait_for_selector("html[data-ready=true]")
        page.wait_for_selector(VIEWS)
        if page.locator("#pane-brain").is_visible():
            page.wait_for_function(
                "() => !denseflipApp.surface || denseflipApp.brain?.layout?.surface"
            )
        if page.locator("#pane-whatif").is_visible():
            page.wait_for_selector("#whatif .wi-verdict strong")
    if view.act:
        view.act(page)
    page.wait_for_timeout(400)  # fonts, and the next frame of a canvas


def take(served: Served, wanted: list[View], out: Path, sizes: Any, schemes: Any) -> None:
    """Take a picture of every view, in every size and scheme."""
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as pages:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for width, height in sizes:
            for scheme in schemes:
                context = browser.new_context(
                    viewport={"width": width, "height": height},
                    color_scheme=scheme,
                    reduced_motion="reduce",
                )
                page = context.new_page()
                page.set_default_timeout(60_000)
                for view in wanted:
                    show(page, served, view, Path(pages))
                    stem = f"{view.name}-{width}x{height}-{scheme}"
                    page.screenshot(path=out / f"{stem}.png")
                    if (width, height) == PHONE and view.act is None:
                        page.evaluate("height => scrollBy(0, height - 80)", height)
                        page.wait_for_timeout(100)
                        page.screenshot(path=out / f"{stem}-2.png")
                context.close()
        browser.close()


def docs_pictures(served: Served) -> None:
    """The pictures of the README and the docs, in few colours."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    mouse = {"dataset": "mice", "subject": "sub-54811", "classifier": "regions-logistic"}
    group = {"dataset": "brains", "classifier": "regions-logistic"}
    brain = group | {"subject": "case-001"}
    pictures = (
        ("app", View("app", brain), (1280, 860)),
        ("app-phone", View("app-phone", brain), PHONE),
        ("app-index", View("app-index", group | {"kind": "many"}), (1280, 900)),
        ("page", View("page", mouse | {"front": True}, file="report.html"), (1100, 1000)),
    )
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as pages:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, view, (width, height) in pictures:
            context = browser.new_context(
                viewport={"width": width, "height": height}, reduced_motion="reduce"
            )
            page = context.new_page()
            show(page, served, view, Path(pages))
            shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            shot.save(IMAGES / f"{name}.png", optimize=True)
            context.close()
        browser.close()


def main() -> int:
    """Take all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path, help="folder of the pictures")
    parser.add_argument("--data", type=Path, help="folder to keep the answers in")
    parser.add_argument("--only", default="", help="names of views, separated by commas")
    parser.add_argument("--size", default="", help="one of 1440, 1024 and 390; default: all")
    parser.add_argument("--scheme", default="", help="light or dark; default: both")
    parser.add_argument("--docs", action="store_true", help="take the pictures of the docs")
    given = parser.parse_args()
    if given.out is None and not given.docs:
        parser.error("name a folder for the pictures, or --docs")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        began = time.monotonic()
        with serving(given.data or Path(place)) as (served, aut):
            if given.docs:
                docs_pictures(served)
            if given.out is not None:
                names = {x for x in given.only.split(",") if x}
                wanted = [v for v in views(aut) if not names or v.name in names]
                for view in wanted:
                    if view.asked:
                        served.job(view.asked)
                        sys.stdout.write(f"{time.monotonic() - began:5.0f} s  {view.name}\n")
                        sys.stdout.flush()
                sizes = [x for x in SIZES if given.size in ("", str(x[0]))]
                schemes = [x for x in SCHEMES if given.scheme in ("", x)]
                take(served, wanted, given.out, sizes, schemes)
        sys.stdout.write(f"{time.monotonic() - began:5.0f} s in all\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
