"""Take the screenshots of the web app for the docs.

    python scripts/make_app_screenshots.py [--data FOLDER]

The script serves a synthetic cohort, explains it, and captures one explanation (desktop and phone)
and the index of all subjects in a browser. It needs playwright and chromium. ``--data`` reuses the
results of an earlier run.
"""

from __future__ import annotations

import argparse
import io
import shutil
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from denseflip.datasets.synthetic import make_synthetic
from denseflip.web.app import create_app
from denseflip.web.server_config import ServerSettings

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
DESK, PHONE = {"width": 1280, "height": 1130}, {"width": 400, "height": 860}
TALL = {"width": 1280, "height": 1380}  # with the whole brain
ASKED = {
    "story": {"dataset": "brains", "subject": "case-001", "classifier": "regions-logistic"},
    "index": {"kind": "many", "dataset": "brains", "classifier": "regions-logistic"},
}


def serve(folder: Path) -> tuple[str, Any]:
    """A server over a folder, and the app it serves."""
    import uvicorn

    data = folder / "brains.dfd"
    if not data.exists():
        make_synthetic(n_per_class=8, strength=2.0).save(data)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = create_app(ServerSettings(datasets=(str(data),), data=folder / "served", port=port))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
    run = {"sockets": [listening]}
    threading.Thread(target=server.run, kwargs=run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return f"http://127.0.0.1:{port}", app


def answers(app: Any) -> dict[str, str]:
    """A finished job of each kind: of an earlier run, or done now."""
    from denseflip.web.schemas import JobRequest

    ids = {}
    for view, words in ASKED.items():
        asked = JobRequest.model_validate(words).model_dump()
        jobs = app.state.store.recent(500)
        known = [job.id for job in jobs if job.request == asked and job.status == "done"]
        ids[view] = known[0] if known else app.state.runner.submit(asked["kind"], asked).id
    while any(app.state.store.get(id).status in {"queued", "running"} for id in ids.values()):
        time.sleep(0.2)
    return ids


def save(name: str, shot: bytes) -> None:
    """Write one picture."""
    from PIL import Image

    Image.open(io.BytesIO(shot)).convert("RGB").save(IMAGES / name, optimize=True)


def look(url: str, ids: dict[str, str]) -> None:
    """Open the pages, and take the pictures."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        for name, viewport, view in (
            ("app.png", TALL, "story"),
            ("app-phone.png", PHONE, "story"),
            ("app-index.png", DESK, "index"),
        ):
            page = browser.new_context(viewport=viewport, reduced_motion="reduce").new_page()
            page.set_default_timeout(120_000)
            page.goto(f"{url}/#job={ids[view]}")
            page.wait_for_selector("html[data-ready=true]")
            page.wait_for_selector(f"#{view}:not([hidden])")
            if view == "story":
                page.wait_for_selector("#brain[data-ready=true]")
                page.wait_for_timeout(1500)  # the glass round the nodes comes last
            if viewport is PHONE:
                page.evaluate("document.getElementById('story').scrollIntoView()")
            save(name, page.screenshot())
        browser.close()


def main() -> int:
    """Take all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder to keep the answers in")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = given.data or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        url, app = serve(folder)
        look(url, answers(app))
    return 0


if __name__ == "__main__":
    sys.exit(main())
