"""`write_page`: one story as a single HTML file to share.

The page is self-contained: figures, data, styles and scripts are embedded, and nothing is loaded
from elsewhere. It works without JavaScript; with it, the table sorts and the brain rotates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from denseflip._version import __version__
from denseflip.checks import check_new_file
from denseflip.datasets.cards import known_words
from denseflip.errors import InvalidParameterError, MissingExtraError
from denseflip.files import write_whole
from denseflip.graph import Taxonomy
from denseflip.report.comparison import name_stories
from denseflip.report.facts import (
    Chip,
    ClassifierCard,
    as_mapping,
    chips_of,
    classifier_card,
    confidence_words,
    dataset_card,
    decision_of,
    setting_rows,
    setting_words,
    shown_marks,
    tiles_of,
    versions_words,
    without_warning,
)
from denseflip.report.front import (
    Front,
    Told,
    beside,
    make_front,
    read_cell,
    told,
)
from denseflip.report.html import Context, Fact
from denseflip.report.page_figures import PageFigure, comparison_figure, story_figures
from denseflip.report.scene import MAX_EDGES, Scene, as_story, headline, make_scene, status_words
from denseflip.report.strip_layout import SmallStrip, Strip, make_small_strip, make_strip
from denseflip.report.view import page_scene, view_data
from denseflip.story.wording.badge import distrust_words
from denseflip.story.wording.marks import HOLDS

if TYPE_CHECKING:
    from denseflip.story.story import Story

ON_PAPER = 60  # edits that are printed, as page.css has it
MAX_ROWS = 300  # edits in the table; the embedded data contain all
_HEADINGS = {  # columns of the table of edits, between the change and whether it is named
    "name_1": "node",
    "region_1": "region",
    "name_2": "node",
    "region_2": "region",
    "weight_before": "weight before",
    "weight_after": "weight after",
}
_COMPARED = ("method", "status", "removed", "added", "distance", "queries", "named", HOLDS)
LIMITS = (
    "It describes the classifier, not the disease or the trait: it says what would change this "
    "classifier's answer, however good or poor the classifier is.",
    "It is one way to change that answer. There are others, and another method or seed may find "
    "them.",
    "It is neither a cause nor a treatment: it is not known whether these connections can be "
    "changed, or what else would change with them.",
)


@dataclass(frozen=True)
class UnderClassifier:
    """The same graph explained with one classifier, and the accuracy of that classifier."""

    name: str
    judged: str
    chips: tuple[Chip, ...]
    sentence: Told
    strip: Strip | None
    truth: str
    notes: tuple[str, ...]
    current: bool


@dataclass(frozen=True)
class ComparedRow:
    """One method of a comparison: its cells, and what real graphs have in the places it names."""

    cells: tuple[str, ...]
    strip: SmallStrip | None


@dataclass(frozen=True)
class EditRow:
    """One edit: its kind, its nodes and their regions, and whether the sentence names it."""

    kind: str
    cells: tuple[str, ...]
    said: bool


@dataclass(frozen=True)
class EditTable:
    """The listed edits, and notes on those that are not listed."""

    columns: tuple[str, ...]
    rows: tuple[EditRow, ...]
    counted: str
    notes: tuple[str, ...]
    on_paper: str


@dataclass(frozen=True)
class PageContext(Context):
    """The content of the page, from top to bottom."""

    template: ClassVar = "page.html.j2"
    title: str
    description: str
    method: str
    preset: str
    subject: str
    known: str
    found: bool
    before: str
    after: str
    chips: tuple[Chip, ...]
    sure: str
    sentence: Told
    distrust: str
    decision: Chip | None
    strip: Strip | None
    still: PageFigure | None
    unnamed: str
    drawn: str
    truth: str
    footnotes: tuple[str, ...]
    tiles: tuple[Fact, ...]
    tried: tuple[Fact, ...]
    front: Front | None
    classifiers: tuple[UnderClassifier, ...]
    classifiers_figure: PageFigure | None
    figures: tuple[PageFigure, ...]
    unpictured: str
    view: dict[str, Any] | None
    whatif: dict[str, Any] | None
    compared: tuple[ComparedRow, ...]
    compared_columns: tuple[str, ...]
    compared_figure: PageFigure | None
    edits: EditTable | None
    limits: tuple[str, ...]
    classifier: ClassifierCard
    settings: tuple[Fact, ...]
    notes: tuple[str, ...]
    dataset: tuple[Fact, ...]
    command: str | None
    methods: str
    versions: str
    assets: str
    data: dict[str, Any]


def write_page(
    story: Story,
    path: str | Path,
    *,
    force: bool = False,
    stories: Sequence[Story] | Mapping[str, Story] | None = None,
    front: Sequence[Story] = (),
    classifiers: Mapping[str, Story] | None = None,
    card: Any = None,
    evaluation: Any = None,
    dataset: Any = None,
    command: str | None = None,
    regions: str | Taxonomy | None = None,
    max_edges: int | None = MAX_EDGES,
    interactive: bool = True,
    whatif: Mapping[str, Any] | None = None,
    assets: str = "",
) -> Path:
    """Write a self-contained HTML page about one story.

    Parameters
    ----------
    story : the result of `describe`, whether a counterfactual was found or not.
    path : the file to write, for example ``report.html``.
    force : overwrite an existing file.
    stories : explanations by other methods, for a comparison on the same page.
    front : the stories of the Pareto front (`describe_answers`), for a plot and their sentences.
    classifiers : explanations of the same graph under several classifiers, by their names.
    card : the classifier's card (a dictionary) or the fitted oracle itself.
    evaluation : its held-out evaluation; by default the story's, else the card's.
    dataset : a data set's card, or its dictionary, with source and citation.
    command : the command line that reproduces this page.
    regions, max_edges : as in `plot_connectome`.
    interactive : include the interactive figure (about 0.1 MB, opened on demand).
    whatif : the data for "what if" inside the page (`workflow.offline_whatif.whatif_data`), for a
        classifier that is a sum over the edges.
    assets : the folder with styles and scripts (`write_assets`), relative to the page, that many
        pages share; by default the page includes them.

    Returns
    -------
    Path
        The written file.

    Raises
    ------
    InvalidParameterError
        If the file exists and ``force`` is false, or its folder does not exist.
    """
    target = Path(path)
    if target.suffix.lower() not in {".html", ".htm"}:
        msg = f"{target}: a page must be .html; got {target.suffix!r}. Change the file extension."
        raise InvalidParameterError(msg)
    check_new_file(target, force=force)
    text = make_page(
        story, stories=stories, front=front, classifiers=classifiers, card=card,
        evaluation=evaluation, dataset=dataset, command=command,
        regions=regions, max_edges=max_edges, interactive=interactive, whatif=whatif,
        assets=assets,
    )  # fmt: skip
    return write_whole(target, text)


def make_page(
    story: Story,
    *,
    stories: Sequence[Story] | Mapping[str, Story] | None = None,
    front: Sequence[Story] = (),
    classifiers: Mapping[str, Story] | None = None,
    card: Any = None,
    evaluation: Any = None,
    dataset: Any = None,
    command: str | None = None,
    regions: str | Taxonomy | None = None,
    max_edges: int | None = MAX_EDGES,
    interactive: bool = True,
    whatif: Mapping[str, Any] | None = None,
    assets: str = "",
) -> str:
    """Return the HTML text that `write_page` writes."""
    story = as_story(story)
    whole = make_scene(story, regions=regions)
    scene = make_scene(story, regions=regions, max_edges=max_edges)
    named = name_stories(stories) if stories else {}
    compare_with = named if len(named) > 1 else {}
    picture: PageFigure | None = None
    figures: tuple[PageFigure, ...] = ()
    compared, under, unpictured = None, None, ""
    try:
        picture, figures = story_figures(
            story, whole, scene.note, regions=regions, max_edges=max_edges, narrow=not assets
        )
        if compare_with:
            compared = comparison_figure(compare_with, regions=regions, max_edges=max_edges)
        if classifiers and len(classifiers) > 1:
            under = comparison_figure(
                classifiers, "classifier", regions=regions, max_edges=max_edges
            )
    except MissingExtraError as error:
        unpictured = str(error)
    result = story.result
    read, footnotes = beside(story)
    judged = evaluation if evaluation is not None else story.evaluation
    page = PageContext(
        title=headline(story),
        description=story.short,
        method=_method(story),
        preset=str(as_mapping(card).get("preset") or ""),
        subject=story.subject,
        known=known_words(dataset, story.class_names.values()),
        found=result.found,
        before=story.class_name(result.label_before),
        after=story.class_name(result.label_after),
        chips=shown_marks(story),
        sure=confidence_words(story),
        sentence=told(story),
        distrust=distrust_words(story.evaluation) or "",
        decision=decision_of(story),
        strip=make_strip(story),
        still=picture,
        unnamed=unnamed_words(story),
        drawn=drawn_words(story),
        truth=read,
        footnotes=footnotes,
        tiles=tiles_of(story),
        tried=_tried(story),
        front=make_front(front, story),
        classifiers=tuple(
            _under(name, other, current=other is story)
            for name, other in (classifiers or {}).items()
        ),
        classifiers_figure=under,
        figures=figures,
        unpictured=unpictured,
        view=view_data(page_scene(scene, whole), surface=not assets)
        if interactive and result.edits
        else None,
        whatif=dict(whatif) if whatif and whatif.get("model") else None,
        compared=tuple(_compared(name, other) for name, other in compare_with.items()),
        compared_columns=(*_COMPARED, "in short"),
        compared_figure=compared,
        edits=_edits(story, whole),
        limits=LIMITS,
        classifier=classifier_card(card, judged),
        settings=_settings(story),
        notes=tuple(result.notes),
        dataset=dataset_card(dataset),
        command=command,
        methods=story.methods_text(dataset),
        versions=versions_words(),
        assets=assets,
        data={
            "denseflip": __version__,
            "command": command,
            "story": story.to_dict(),
            "card": as_mapping(card),
            "evaluation": as_mapping(judged) or None,
            "comparison": {name: _brief(other) for name, other in named.items()},
            "classifiers": {name: _brief(other) for name, other in (classifiers or {}).items()},
            "diverse" if result.diverse else "front": [_brief(other) for other in front],
        },
    )
    return page.render()


def _method(story: Story) -> str:
    """The method, and the method that it chose, if any."""
    chosen = story.result.chosen
    return f"{story.result.method} ({chosen})" if chosen else story.result.method


def _under(name: str, story: Story, *, current: bool) -> UnderClassifier:
    judged = as_mapping(story.evaluation)
    return UnderClassifier(
        name=name,
        judged=str(judged.get("verdict") or "Its accuracy on held-out graphs is not known."),
        chips=without_warning(chips_of(story), story),
        sentence=told(story),
        strip=make_strip(story),
        truth=beside(story)[0],
        notes=tuple(story.result.notes),
        current=current,
    )


def _tried(story: Story) -> tuple[Fact, ...]:
    """The progress of a search that found nothing."""
    r = story.result
    if r.found or str(r.status) == "not-needed":
        return ()
    return (
        Fact("Status", status_words(story)),
        Fact("Iterations", f"{r.iterations:,}"),
        Fact("Queries", f"{r.calls:,} ({r.distinct_calls:,} different graphs)"),
        Fact(
            "Last graph tried",
            f"{len(r.removed):,} edges removed and {len(r.added):,} added: "
            f"{100 * r.relative_distance:.1f} % of the edges of either graph",
        ),
        Fact("Label of that graph", story.class_name(r.label_after)),
        Fact("Time", f"{r.elapsed:.2f} s"),
    )


def _edits(story: Story, scene: Scene) -> EditTable | None:
    """The edits with their nodes and regions; ``page.js`` sorts and filters them."""
    if not story.result.edits:
        return None
    columns, every = story.edit_rows(scene.taxonomy if scene.has_regions else None)
    shown = [column for column in _HEADINGS if column in columns]
    places = [columns.index(column) for column in shown]
    change, named = columns.index("change"), columns.index("named")
    rows = [
        EditRow(row[change], tuple(_cell(row[i]) for i in places), row[named])
        for row in every[:MAX_ROWS]
    ]
    cut = f"The first {MAX_ROWS:,} of {len(every):,} edits; the data in this page contain all."
    paper = f"The printed table stops after {ON_PAPER} edits; the page itself has all."
    return EditTable(
        columns=("change", *(_HEADINGS[column] for column in shown), "in the sentence"),
        rows=tuple(rows),
        counted=f"{len(rows):,}",
        notes=(cut,) if len(every) > MAX_ROWS else (),
        on_paper=paper if len(rows) > ON_PAPER else "",
    )


def drawn_words(story: Story) -> str:
    """Whether the drawn edits are one draw of many; empty if that is not known."""
    if not story.result.found or not story.true_as_read or story.language == "pairs":
        return ""
    units = story.vocabulary.units
    if story.only_choice:
        return f"The sentence leaves no other choice of {units}."
    where = {"nodes": "of these nodes"}.get(story.language, "between these regions")
    if story.reading != "any":
        where += " of the kind named"
    return f"Any {units} {where} would do; those drawn are one random example."


def unnamed_words(story: Story) -> str:
    """How many of the drawn edits the sentence names; empty if all."""
    result, named = story.result, story.named_edits
    if not result.found or not story.verified or len(named) == result.distance:
        return ""
    sides = [
        f"{len(own):,} of the {len(every):,} {how}"
        for how, own, every in (
            ("added", named.added, result.added),
            ("removed", named.removed, result.removed),
        )
        if every
    ]
    return (
        f"The sentence names {' and '.join(sides)}. The others lie in other places and are not "
        "needed to change the answer."
    )


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.3f}"


def _compared(name: str, story: Story) -> ComparedRow:
    """The row of one method in the comparison."""
    r = story.result
    figures = ("–",) * 3
    if r.found:
        share = f"{100 * r.relative_distance:.1f} %"
        figures = (f"{len(r.removed):,}", f"{len(r.added):,}", share)
    named = f"{len(story.claim.amounts):,}" if r.found else "–"
    cells = (name, str(r.status), *figures, f"{r.calls:,}", named, read_cell(story), story.short)
    return ComparedRow(cells, make_small_strip(story))


def _settings(story: Story) -> tuple[Fact, ...]:
    """Method and parameters, enough to reproduce the result."""
    r = story.result
    lines = [Fact("method", _method(story) or "not named"), Fact("seed", setting_words(r.seed))]
    if r.target is not None:
        lines.append(Fact("target", " or ".join(map(story.class_name, r.targets))))
    if r.confidence is not None:
        lines.append(Fact("required confidence", f"{r.confidence:.2f}"))
    if r.confidence_before is not None and r.confidence_after is not None:
        before = f"{r.confidence_before:.2f} in {story.class_name(r.label_before)} before"
        after = f"{r.confidence_after:.2f} in {story.class_name(r.label_after)} after"
        lines.append(Fact("confidence", f"{before}, {after}"))
    lines += [Fact(name, setting_words(value)) for name, value in r.constraints.items()]
    if r.refused:
        times = ", ".join(f"{name} {n:,}" for name, n in r.refused.items())
        lines.append(Fact("graphs rejected by constraints", times))
    lines += setting_rows(r.parameters)
    asked = f"{r.search_calls:,} in the search, {r.refine_calls:,} in the refinement"
    lines += [Fact("queries", asked), Fact("iterations", f"{r.iterations:,}")]
    lines.append(Fact("time", f"{r.elapsed:.2f} s"))
    if r.background_calls:
        lines.append(Fact("queries for background labels", f"{r.background_calls:,}"))
    return tuple(lines)


_LEFT_OUT = {"original", "trace", "front", "diverse", "as_read"}


def _brief(story: Story) -> dict[str, Any]:
    """A result of the comparison, without the original graph that all of them share."""
    result = story.result.to_dict()
    return {
        "statement": story.statement,
        "verified": story.verified,
        "true_as_read": story.true_as_read,
        "badge": story.badge.to_dict(),
        **{k: v for k, v in result.items() if k not in _LEFT_OUT},
        "as_read": None if story.as_read is None else story.as_read.to_dict(),
    }
