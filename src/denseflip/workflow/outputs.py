"""Write an output folder: the page, the result, the pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from denseflip.checks import check_new_folder
from denseflip.datasets import Dataset
from denseflip.errors import MissingExtraError
from denseflip.files import write_whole
from denseflip.story.story import Story
from denseflip.workflow.compare import Compared
from denseflip.workflow.explain_and_describe import json_record

PAGE, RESULT, METHODS = "report.html", "result.json", "methods.txt"


def write_outputs(
    told: Story | Sequence[Compared],
    folder: str | Path,
    oracle: Any = None,
    *,
    front: Sequence[Story] = (),
    classifiers: Mapping[str, Story] | None = None,
    dataset: Dataset | None = None,
    command: str = "",
    force: bool = False,
    whatif: Mapping[str, Any] | None = None,
    pictures: str = "png",
) -> list[Path]:
    """Write the page, the result, the methods and, if the extra is installed, the pictures.

    Parameters
    ----------
    told : one story, or the rows of a comparison.
    folder : where to write; created if missing.
    oracle : the classifier, whose card the page shows.
    front : the stories of the front (`describe_answers`), for the page and the result.
    classifiers : the same graph under several classifiers, for the page.
    dataset : the data set, whose card the page shows.
    command : the command shown on the page to reproduce it.
    force : write into a folder that is not empty.
    whatif : data of the "what if" panel (`whatif_data`).
    pictures : the format of the pictures: ``"png"`` (300 dpi), ``"svg"`` or ``"pdf"``.

    Returns
    -------
    The files, the page first; empty if no method of a comparison applies.
    """
    from denseflip.report.page import write_page

    rows = () if isinstance(told, Story) else tuple(told)
    stories = [told] if isinstance(told, Story) else [r.story for r in rows if r.story is not None]
    out = check_new_folder(folder, force=force)
    if not stories:
        return []
    out.mkdir(parents=True, exist_ok=True)
    data = [row.to_dict() for row in rows] or json_record(stories[0], front)
    write_whole(out / RESULT, json.dumps(data, ensure_ascii=False))
    methods = out / METHODS
    write_whole(methods, stories[0].methods_text(dataset) + "\n")
    page = write_page(
        stories[0],
        out / PAGE,
        force=True,
        stories=stories if len(stories) > 1 else None,
        front=front,
        classifiers=classifiers,
        card=dict(getattr(oracle, "card", {}) or {}),
        dataset=None if dataset is None else dataset.card,
        command=command,
        whatif=whatif,
    )
    return [page, out / RESULT, methods, *_write_pictures(stories, out, pictures)]


def _write_pictures(stories: Sequence[Story], out: Path, form: str) -> list[Path]:
    from denseflip.report.comparison import plot_comparison
    from denseflip.report.plot import plot_connectome, plot_regions
    from denseflip.report.reference_strip import plot_reference

    found = [story for story in stories if story.result.found]
    if not found:
        return []
    draw: dict[str, Any] = {"connectome": plot_connectome}
    if len(stories) > 1:
        draw = {"comparison": lambda _, **options: plot_comparison(found, **options)}
    elif found[0].taxonomy is not None:
        draw["regions"] = plot_regions
    if found[0].reference:
        draw["reference"] = plot_reference
    written = []
    try:
        for name, plot in draw.items():
            path = out / f"{name}.{form}"
            plot(found[0], path=path, force=True)
            written.append(path)
    except MissingExtraError:
        return []  # the page says how to install the extra
    return written
