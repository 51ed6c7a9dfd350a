"""`write_page`: one story as one file to send to a colleague.

The page stands alone: pictures, data, style and script are inside it, nothing is fetched. It reads
without JavaScript; with it, the table sorts and the brain turns.
"""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from denseflip._version import __version__
from denseflip.checks import check_new_file
from denseflip.errors import InvalidParameterError, MissingExtraError
from denseflip.report import sections as part
from denseflip.report.canvas import need
from denseflip.report.card import as_mapping, classifier_card
from denseflip.report.comparison import name_stories
from denseflip.report.figures import comparison_figure, story_figures
from denseflip.report.markup import asset, esc, facts, fill, json_script, plotly_script
from denseflip.report.scene import MAX_EDGES, headline, make_scene
from denseflip.report.view import view_data

if TYPE_CHECKING:
    from denseflip.story.story import Story

_PACKAGES = ("numpy", "scikit-learn", "nilearn", "matplotlib", "plotly")


def write_page(
    story: Story,
    path: str | Path,
    *,
    force: bool = False,
    stories: Sequence[Story] | Mapping[str, Story] | None = None,
    card: Any = None,
    evaluation: Any = None,
    dataset: Any = None,
    command: str | None = None,
    taxonomy: str | None = None,
    max_edges: int | None = MAX_EDGES,
    interactive: bool = True,
) -> Path:
    """Write a self-contained HTML page that tells and shows one story.

    Parameters
    ----------
    story : the told counterfactual, found or not, from `describe`.
    path : the file to write, for example ``report.html``.
    force : overwrite an existing file.
    stories : explanations by other methods, for a comparison on the same page.
    card : what is known about the classifier: its card (a dictionary) or the fitted oracle itself.
    evaluation : its honest evaluation; by default the story's, else the card's.
    dataset : a data set's card, or its dictionary, with source and citation.
    command : the command line that makes this page again.
    taxonomy, max_edges : as in `plot_connectome`.
    interactive : put the turning brain into the page (1.5 MB, shown on demand).

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    InvalidParameterError
        If the file exists and ``force`` is false, or its folder does not exist.
    """
    target = Path(path)
    if target.suffix.lower() not in {".html", ".htm"}:
        msg = f"{target}: a page is written as .html; got {target.suffix!r}. Change the ending."
        raise InvalidParameterError(msg)
    check_new_file(target, force=force)
    text = make_page(
        story, stories=stories, card=card, evaluation=evaluation, dataset=dataset, command=command,
        taxonomy=taxonomy, max_edges=max_edges, interactive=interactive,
    )  # fmt: skip
    # Written beside and then moved: a page is there whole or not at all.
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".page-", suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return target


def make_page(
    story: Story,
    *,
    stories: Sequence[Story] | Mapping[str, Story] | None = None,
    card: Any = None,
    evaluation: Any = None,
    dataset: Any = None,
    command: str | None = None,
    taxonomy: str | None = None,
    max_edges: int | None = MAX_EDGES,
    interactive: bool = True,
) -> str:
    """The text of the page that `write_page` writes."""
    whole = make_scene(story, taxonomy=taxonomy)
    scene = make_scene(story, taxonomy=taxonomy, max_edges=max_edges)
    named = name_stories(stories) if stories else {}
    pictures = story_figures(story, whole, scene.note, taxonomy=taxonomy, max_edges=max_edges)
    compared = (
        part.comparison_table(named)
        + comparison_figure(named, taxonomy=taxonomy, max_edges=max_edges)
        if len(named) > 1
        else ""
    )
    view, scripts = _interactive(story, scene) if interactive else ("", "")
    found = story.result.found
    judged = evaluation if evaluation is not None else story.evaluation
    body = [
        part.lead(story),
        part.key_facts(story),
        part.section("tried", "What was tried", part.tried(story)),
        part.section("pictures", "Where" if found else "Where it tried", pictures, view),
        part.section("comparison", "The methods side by side", compared),
        part.section("edits-part", "Every edit", part.edits_table(story, whole)),
        part.section("limits", "What this does not say", part.limits()),
        part.section("classifier", "The classifier", classifier_card(card, judged)),
        part.section("method", "Method and parameters", part.method_part(story)),
        part.section("dataset", "The data", _dataset(dataset)),
        part.section("reproduce", "Make this page again", _reproduce(command)),
    ]
    data = {
        "denseflip": __version__,
        "command": command,
        "story": story.to_dict(),
        "card": as_mapping(card),
        "evaluation": as_mapping(judged) or None,
        "comparison": {name: _brief(other) for name, other in named.items()},
    }
    return fill(
        "page.html",
        title=esc(headline(story)),
        description=esc(story.short),
        style=asset("page.css") + asset("view.css"),
        body="\n".join(piece for piece in body if piece),
        data=json_script(data, "denseflip-data"),
        view=scripts,
        script=asset("page.js"),
    )


def _brief(story: Story) -> dict[str, Any]:
    """A result of the comparison, without the original, which all of them share."""
    result = story.result.to_dict()
    return {
        "statement": story.statement,
        "verified": story.verified,
        **{key: value for key, value in result.items() if key not in {"original", "trace"}},
    }


def _interactive(story: Story, scene: Any) -> tuple[str, str]:
    if not story.result.edits:
        return "", ""
    try:
        need("plotly")
        packed = plotly_script()
    except MissingExtraError:
        return "", ""
    turn = "Turn the brain round" if scene.in_mni else "Explore it"
    shown = f"""<details class="screen-only" id="interactive">
<summary>{turn}: hover for names, switch edits and regions on and off</summary>
<div class="df-view" id="view"><noscript>This part needs JavaScript.</noscript></div></details>"""
    data = json_script(view_data(scene), "view-data")
    return shown, f"{data}\n{packed}\n<script>\n{asset('view.js')}\n</script>"


def _dataset(card: Any) -> str:
    about = as_mapping(card)
    rows = []
    for key, value in about.items():
        if isinstance(value, (list, tuple)):
            value = " ".join(map(str, value))
        if value not in (None, "", {}) and not isinstance(value, Mapping):
            rows.append((key.replace("_", " "), esc(value)))
    return facts(rows, "list") if rows else ""


def _reproduce(command: str | None) -> str:
    numbers = [("Python", platform.python_version())]
    for package in _PACKAGES:
        try:
            numbers.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return part.reproduce(command, __version__, numbers)
