"""Draw the figures of ``docs/pictures.md``: ``python scripts/make_docs_figures.py``.

The patients need the paper's data files (``DENSEFLIP_DATA``); the mouse data ship with the package.
Screenshots of pages and of the app: ``scripts/make_screenshots.py --docs``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from denseflip import (
    describe,
    explain,
    load_dataset,
    plot_circle,
    plot_comparison,
    plot_connectome,
    plot_reference,
    plot_region_matrix,
    plot_regions,
    view_connectome,
)
from denseflip.paper.published_classifier import published_oracle
from denseflip.paper.published_methods import published_method
from denseflip.report.canvas import png_bytes
from denseflip.story.story import Story
from denseflip.workflow.explain_and_describe import explain_and_describe, oracle_for
from denseflip.workflow.subject import find_subject

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
MOUSE = "sub-54811"  # a BTBR
PATIENTS = {"bip": 9, "adhd": 22}
METHODS = ("edg", "tri", "cli", "rcli", "dat", "dat+bw")


def save(figure: object, name: str, dpi: int = 120) -> None:
    """Write one picture, in few colours."""
    (IMAGES / f"{name}.png").write_bytes(png_bytes(figure, dpi=dpi))


def mouse() -> None:
    """A BTBR mouse by `auto`: the corpus callosum that it lacks; and the real B6 next to it."""
    subject = find_subject("mice", MOUSE)
    oracle = oracle_for(subject, "sf-knn")
    save(plot_connectome(explain_and_describe(subject, oracle)), "mouse-auto")
    save(plot_region_matrix(explain_and_describe(subject, oracle, "dat")), "mouse-dat-matrix")
    story = explain_and_describe(subject, oracle_for(subject, "regions-logistic"))
    save(plot_reference(story), "mouse-reference")
    save(plot_circle(story, regions="region"), "mouse-circle")
    title = "Every dot is a mouse"  # the landing page and the README
    save(plot_reference(story, title=title), "mouse-hero", dpi=200)
    save(plot_reference(story, title=title, narrow=True), "mouse-hero-phone", dpi=200)


def shot(page: Path, name: str, size: str) -> None:
    """A page as a browser shows it, if there is a chromium."""
    from PIL import Image

    program = shutil.which("chromium")
    if program is None:
        return
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    flags += [
        f"--user-data-dir={page.parent}/browser",
        f"--window-size={size}",
        "--hide-scrollbars",
        "--virtual-time-budget=3000",  # milliseconds, for the scripts
    ]
    target = IMAGES / f"{name}.png"
    picture = f"--screenshot={target}"
    subprocess.run([program, *flags, picture, page.as_uri()], check=True, capture_output=True)
    Image.open(target).convert("RGB").save(target, optimize=True)


def view(story: Story) -> None:
    """The interactive picture as it opens."""
    with tempfile.TemporaryDirectory() as folder:
        path = view_connectome(story).save_as_html(Path(folder) / "view.html")
        shot(path, "view", "1000,720")


def patient(name: str, number: int) -> None:
    """A patient of the paper, by the methods and the classifier that it ran."""
    dataset = load_dataset(name)
    oracle = published_oracle(dataset)
    stories: dict[str, Story] = {}
    for method in METHODS:
        result = explain(
            dataset.graphs[number],
            oracle,
            published_method(method),
            nodes=dataset.nodes,
            background=dataset.graphs,
        )
        stories[method.upper()] = describe(
            result,
            dataset.nodes,
            oracle,
            subject=f"{name.upper()} patient {number}",
            class_names=dataset.class_names,
        )
    if name == "bip":
        view(stories["TRI"])
    save(plot_connectome(stories["TRI"]), f"{name}-{number}-tri")
    save(plot_regions(stories["TRI"]), f"{name}-{number}-tri-regions")
    save(plot_comparison(stories, columns=3, max_edges=300), f"{name}-{number}-comparison")


def main() -> int:
    """Draw everything."""
    IMAGES.mkdir(exist_ok=True)
    mouse()
    for name, number in PATIENTS.items():
        patient(name, number)
    return 0


if __name__ == "__main__":
    sys.exit(main())
