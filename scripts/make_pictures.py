"""Draw the pictures of ``docs/pictures.md`` anew: ``python scripts/make_pictures.py``.

The patients need the paper's data files (``DENSEFLIP_DATA``); the mouse comes with the package.
"""

from __future__ import annotations

import sys
from pathlib import Path

from denseflip import (
    describe,
    explain,
    load_dataset,
    plot_comparison,
    plot_connectome,
    plot_region_matrix,
    plot_regions,
)
from denseflip.classifiers.presets import fit_oracle
from denseflip.paper.classifier import published_oracle
from denseflip.paper.methods import published_method
from denseflip.report.canvas import png_bytes
from denseflip.story.story import Story

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
PATIENTS = {"bip": 9, "adhd": 22}
METHODS = ("edg", "tri", "cli", "rcli", "dat", "dat+bw")


def save(figure: object, name: str) -> None:
    """Write one picture, in few colours."""
    (IMAGES / f"{name}.png").write_bytes(png_bytes(figure, dpi=120))


def mouse() -> None:
    """A BTBR mouse by `blocks`: the corpus callosum that it lacks."""
    mice = load_dataset("mice")
    oracle = fit_oracle(mice, preset="sf-knn")
    example = mice[mice.labels.index(1)]
    options = {"nodes": mice.nodes, "background": mice.graphs}
    stories = [
        describe(
            explain(example.graph, oracle, method, **options),
            mice.nodes,
            oracle,
            subject=f"Mouse {example.id}",
        )
        for method in ("blocks", "dat")
    ]
    save(plot_connectome(stories[0]), "mouse-blocks")
    save(plot_region_matrix(stories[1]), "mouse-dat-matrix")


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
