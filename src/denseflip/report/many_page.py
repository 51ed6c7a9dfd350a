"""The page of many explanations: a sortable, searchable table with a row per graph."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from denseflip._version import __version__
from denseflip.report.facts import Chip, badge_chip, classifier_card, dataset_card
from denseflip.report.front import Told, read_cell, told
from denseflip.report.html import Context, Fact
from denseflip.report.page import LIMITS
from denseflip.report.strip_layout import SmallStrip, make_small_strip
from denseflip.story.wording.marks import HOLDS

if TYPE_CHECKING:
    from denseflip.story.story import Story

_COLUMNS = (
    "graph",
    "class",
    "decision",
    "what would change it",
    "places",
    "edits",
    "% of edges before or after",
)
_LISTED = 3  # maximum length of a list here; the page of the graph has more
_STRIPS = (
    "Strips: a tick is the number of connections of a real graph, those of the old class above and "
    "of the new class below. Shaded: the 95 % prediction interval of the new class. Arrow: before "
    "and after the change."
)


@dataclass(frozen=True)
class ManyRow:
    """The row of one graph: texts, and numbers for sorting."""

    id: str
    link: str
    label: str
    failure: str = ""
    before: str = ""
    after: str = ""
    wrong: bool = False
    chip: Chip | None = None
    truth: str = ""
    sentence: Told = Told("")  # noqa: RUF009
    doubt: str = ""
    strip: SmallStrip | None = None
    cells: str = ""
    edits: str = ""
    share: str = ""
    calls: str = ""


@dataclass(frozen=True)
class ManyContext(Context):
    """The page."""

    template: ClassVar = "many.html.j2"
    title: str
    method: str
    oracle: str
    tiles: tuple[Fact, ...]
    columns: tuple[str, ...]
    rows: tuple[ManyRow, ...]
    strips: str
    files: tuple[Fact, ...]
    limits: tuple[str, ...]
    verdict: str
    better: bool
    dataset: tuple[Fact, ...]
    command: str
    version: str


def make_index(
    entries: Sequence[Any],
    *,
    name: str,
    links: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    oracle: str = "",
    method: str = "",
    card: Any = None,
    dataset: Any = None,
    command: str = "",
) -> str:
    """Return the HTML text of the page that lists many explanations.

    Parameters
    ----------
    entries : one for each graph: its ``id``, its class (``label``), and its ``story`` or its error
        (``failure``), as in `explain_many`.
    name : name of the data set.
    links : id → the page of that graph, relative to this one.
    files : file → description, for files in the same folder.
    oracle, method : names of the classifier and the method.
    card : the classifier's card, as in `write_page`.
    dataset : the data set's card.
    command : the command line that reproduces this page.
    """
    stories: list[Story] = [entry.story for entry in entries if entry.story is not None]
    judged = next((story.evaluation for story in stories if story.evaluation is not None), None)
    known = classifier_card(card, judged)
    return ManyContext(
        title=f"{len(entries):,} {'graph' if len(entries) == 1 else 'graphs'} of {name} explained",
        method=method,
        oracle=oracle,
        tiles=many_tiles(entries),
        columns=(*_COLUMNS, "queries", HOLDS),
        rows=tuple(_row(entry, (links or {}).get(entry.id, "")) for entry in entries),
        strips=_STRIPS if any(story.reference for story in stories) else "",
        files=tuple(Fact(file, what) for file, what in (files or {}).items()),
        limits=LIMITS,
        verdict=known.verdict,
        better=known.better,
        dataset=dataset_card(dataset),
        command=command,
        version=f"denseflip {__version__}",
    ).render()


def many_tiles(entries: Sequence[Any]) -> tuple[Fact, ...]:
    """The key numbers; medians only if something was found."""
    stories = [entry.story for entry in entries if entry.story is not None]
    found = [story for story in stories if story.result.found]
    tiles = [Fact("counterfactuals found", f"{len(found):,} of {len(entries):,}")]
    if found:
        true = sum(story.true_as_read for story in found)
        inside = sum(story.in_range is True for story in found)
        doubted = sum(bool(story.doubt) for story in found)
        edits = statistics.median(story.result.distance for story in found)
        cells = statistics.median(len(story.claim.amounts) for story in found)
        tiles += [
            Fact("sentences that hold with other connections", f"{true:,} of {len(found):,}"),
            Fact("sentences in range", f"{inside:,} of {len(found):,}"),
            *([Fact("in range, but no group difference", f"{doubted:,}")] if doubted else []),
            Fact("places named, median", f"{cells:g}"),
            Fact("edits, median", f"{edits:,.0f}"),
        ]
    if stories:
        asked = statistics.median(story.result.calls for story in stories)
        tiles.append(Fact("queries, median", f"{asked:,.0f}"))
    if failed := len(entries) - len(stories):
        tiles.append(Fact("failed", f"{failed:,}"))
    return tuple(tiles)


def _row(entry: Any, link: str) -> ManyRow:
    story = entry.story
    if story is None:
        return ManyRow(entry.id, link, entry.label, entry.failure)
    result, found = story.result, story.result.found
    before = story.class_name(result.label_before)
    return ManyRow(
        entry.id,
        link,
        entry.label,
        before=before,
        after=story.class_name(result.label_after) if found else "",
        wrong=story.correct is False,
        chip=badge_chip(story),
        truth=read_cell(story),
        sentence=told(story, _LISTED),
        doubt=story.doubt,
        strip=make_small_strip(story),
        cells=f"{len(story.claim.amounts):,}" if found else "–",
        edits=f"{result.distance:,}" if found else "–",
        share=f"{100 * result.relative_distance:.1f} %" if found else "–",
        calls=f"{result.calls:,}",
    )
