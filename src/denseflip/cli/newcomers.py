"""Where newcomers begin: pages of the documentation, the first tutorial, a worked example."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

TUTORIAL = "tutorials/first-explanation.md"
EXAMPLE = """\
A worked example, on data that come with denseflip. Each line runs as it is.

1. Look at the data: the connectomes of 16 mice of two strains.

     denseflip data show mice

2. Is a classifier of the strain better than chance? Only then is there something to explain.

     denseflip evaluate mice --preset regions-logistic --repeats 2 --permutations 50

3. Why is mouse sub-54811 classified as BTBR?

     denseflip explain mice sub-54811 --oracle regions-logistic --out mouse

   If mouse sub-54811 had 523 more connections between the left and the right hemisphere, and as
   many fewer elsewhere, it would have been classified as B6. BTBR mice are born without the fibres
   that join the hemispheres. Open mouse/report.html in a browser to see the tests and the picture.
"""
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n((?::[^\n]*\n)*)(.*?)^```[ \t]*$", re.M | re.S)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)\s]+\)")


def find_page(name: str) -> Path | None:
    """Return the file of a page of the documentation: in the package, else in the repository."""
    package = Path(__file__).resolve().parents[1]
    places = (package / "docs" / name, package.parents[1] / "docs" / name)
    return next((place for place in places if place.is_file()), None)


def as_notebook(text: str) -> dict[str, Any]:
    """Convert a tutorial (MyST Markdown) to the content of a Jupyter notebook.

    Links to other pages become plain words: a notebook is read elsewhere.
    """
    text = re.sub(r"\A---\n.*?^---\n", "", text, flags=re.M | re.S)
    cells: list[dict[str, Any]] = []
    parts = _CELL.split(text)
    for i in range(0, len(parts), 3):
        if words := _LINK.sub(r"\1", parts[i]).strip():
            cells.append({"cell_type": "markdown", "metadata": {}, "source": words})
        if i + 2 < len(parts):
            code: dict[str, Any] = {
                "cell_type": "code",
                "metadata": {},
                "source": parts[i + 2].rstrip("\n"),
            }
            cells.append({**code, "execution_count": None, "outputs": []})
    cells = [{"id": f"cell-{n}", **cell} for n, cell in enumerate(cells, 1)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def write_tutorial(folder: Path) -> Path:
    """Write the first tutorial as a notebook into a folder; return its path."""
    import json

    from denseflip.errors import DatasetError
    from denseflip.files import write_whole

    page = find_page(TUTORIAL)
    if page is None:
        msg = f"The tutorial ({TUTORIAL}) is not installed. Install denseflip again."
        raise DatasetError(msg)
    folder.mkdir(parents=True, exist_ok=True)
    content = json.dumps(
        as_notebook(page.read_text(encoding="utf-8")), indent=1, ensure_ascii=False
    )
    return write_whole(folder / Path(TUTORIAL).with_suffix(".ipynb").name, content + "\n")


def show_example(show: bool) -> None:
    """Print the worked example and end the command."""
    if show:
        typer.echo(EXAMPLE)
        if page := find_page(TUTORIAL):
            typer.echo(f"More of it, in Python: {page}")
        raise typer.Exit
