"""The parts of the page, each a piece of HTML made from a story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from denseflip.report.markup import esc, facts, table
from denseflip.report.scene import Scene, status_words
from denseflip.report.settings import setting_rows, setting_words

if TYPE_CHECKING:
    from denseflip.story.story import Story

ON_PAPER = 60  # edits that are printed, as page.css has it
MAX_ROWS = 2000  # edits listed in the table; the embedded data always hold all
_LIMITS = (
    "It speaks of the classifier, not of the disease or the trait: it says what would change "
    "this classifier's answer, however good or poor the classifier is.",
    "It is one way to change that answer. There are others, and another method or seed may find "
    "them.",
    "It is not a cause and not a treatment: nobody has shown that these connections can be "
    "changed, nor what else would change with them.",
)


def section(identity: str, title: str, *parts: str) -> str:
    """A titled part of the page; empty if nothing is in it."""
    body = "\n".join(p for p in parts if p)
    if not body:
        return ""
    return f'<section id="{identity}"><h2>{esc(title)}</h2>\n{body}\n</section>'


def lead(story: Story) -> str:
    """Headline, status, sentence, test and footnotes."""
    result = story.result
    before = esc(story.class_name(result.label_before))
    after = esc(story.class_name(result.label_after))
    change = f"{before} <span aria-label='becomes'>→</span> {after}" if result.found else before
    chips = [("good" if result.found else "plain", status_words(story))]
    if result.found:
        chips.append(("good", "sentence verified") if story.verified else ("plain", "not verified"))
    marks = "".join(f'<li class="chip {kind}">{esc(text)}</li>' for kind, text in chips)
    notes = "".join(f"<li>{esc(note)}</li>" for note in story.footnotes)
    method = f" · method <b>{esc(result.method)}</b>" if result.method else ""
    return f"""<header>
<p class="eyebrow">Counterfactual explanation{method}</p>
<h1>{esc(story.subject)}: {change}</h1>
<ul class="chips">{marks}</ul>
</header>
<blockquote class="statement">{esc(story.statement)}</blockquote>
<ol class="footnotes" aria-label="Footnotes">{notes}</ol>"""


def key_facts(story: Story) -> str:
    """The figures at a glance."""
    r = story.result
    share = f"{100 * r.relative_distance:.1f} %"
    items = [
        ("edges removed" if r.found else "removed when it stopped", f"{len(r.removed):,}"),
        ("edges added" if r.found else "added when it stopped", f"{len(r.added):,}"),
        ("of the edges of either graph", share),
        ("questions to the classifier", f"{r.calls:,}"),
    ]
    if r.minimal is not None:
        certified = ("no change is spare (certified)", "1-minimal")
        items.append(certified if r.minimal else ("that no change is spare", "unproven"))
    return facts([(k, esc(v)) for k, v in items], "tiles")


def tried(story: Story) -> str:
    """What was tried and how far it went, where nothing was found."""
    r = story.result
    if r.found or str(r.status) == "not-needed":
        return ""
    rows = [
        ("How it ended", status_words(story)),
        ("Iterations walked", f"{r.iterations:,}"),
        ("Questions asked", f"{r.calls:,} ({r.distinct_calls:,} different graphs)"),
        (
            "Last graph tried",
            f"{len(r.removed):,} edges removed and {len(r.added):,} added: "
            f"{100 * r.relative_distance:.1f} % of the edges of either graph",
        ),
        ("Label of that graph", story.class_name(r.label_after)),
        ("Time", f"{r.elapsed:.2f} s"),
    ]
    return facts([(k, esc(v)) for k, v in rows], "list")


def edits_table(story: Story, scene: Scene) -> str:
    """Every edit with the names of its nodes and regions; sorted and filtered by ``page.js``."""
    result = story.result
    if not result.edits:
        return ""
    named = story.named_edits
    said = {*named.added, *named.removed}
    regions = scene.has_regions
    names, region_of = story.nodes.names, scene.taxonomy.region_of
    every = [("removed", p) for p in result.removed] + [("added", p) for p in result.added]
    rows = []
    for kind, (u, v) in every[:MAX_ROWS]:
        places = [esc(region_of(u)), esc(region_of(v))] if regions else []
        ends = [esc(names[u]), esc(names[v])]
        cells = [ends[0], places[0], ends[1], places[1]] if regions else ends
        mark = f'<span class="mark {kind}">{"−" if kind == "removed" else "+"} {kind}</span>'
        rows.append([mark, *cells, "yes" if (u, v) in said else "no"])
    head = ["change", "node", "region", "node", "region"] if regions else ["change", "node", "node"]
    buttons = [f'<button type="button">{h}</button>' for h in [*head, "in the sentence"]]
    note = ""
    if len(every) > MAX_ROWS:
        note = (
            f"<p class='quiet'>The first {MAX_ROWS:,} of {len(every):,} edits; the data in this "
            "page hold all.</p>"
        )
    paper = ""
    if len(rows) > ON_PAPER:
        text = f"On paper the table stops after {ON_PAPER} edits; the page itself has all."
        paper = f"<p class='print-only quiet'>{text}</p>"
    return f"""<form class="filter" hidden>
<label>Find
<input type="search" id="edit-filter" placeholder="node or region" autocomplete="off"></label>
<label>Change <select id="edit-kind"><option value="">all</option><option>removed</option>
<option>added</option></select></label>
<output id="edit-count" aria-live="polite">{len(rows):,} edits</output></form>
<p class="swipe quiet" aria-hidden="true">scroll the table →</p>
<div class="scroll tall" tabindex="0" role="region" aria-label="Table of edits">
{table(buttons, rows, attributes='id="edits"')}</div>{note}{paper}"""


def comparison_table(stories: Mapping[str, Story]) -> str:
    """The methods side by side, in figures and sentences."""
    rows = []
    for name, story in stories.items():
        r = story.result
        found = r.found
        rows.append(
            [
                f"<b>{esc(name)}</b>",
                esc(r.status),
                f"{len(r.removed):,}" if found else "–",
                f"{len(r.added):,}" if found else "–",
                f"{100 * r.relative_distance:.1f} %" if found else "–",
                f"{r.calls:,}",
                ("yes" if story.verified else "no") if found else "–",
                esc(story.short),
            ]
        )
    head = ["method", "status", "removed", "added", "distance", "questions", "verified", "in short"]
    body = table(head, rows, attributes='class="wide cards"', cards=True)
    place = 'class="scroll plain" tabindex="0" role="region" aria-label="Comparison of methods"'
    return f"<div {place}>\n{body}</div>"


def method_part(story: Story) -> str:
    """Method, parameters and notes: enough to run it again."""
    r = story.result
    items = [("method", r.method or "not named"), ("seed", setting_words(r.seed))]
    if r.target is not None:
        items.append(("target", story.class_name(r.target)))
    items += setting_rows(r.parameters)
    items += [
        ("questions", f"{r.search_calls:,} in the search, {r.refine_calls:,} in the refinement"),
        ("iterations", f"{r.iterations:,}"),
        ("time", f"{r.elapsed:.2f} s"),
    ]
    if r.background_calls:
        items.append(("labels of other graphs asked", f"{r.background_calls:,}"))
    notes = "".join(f"<li>{esc(n)}</li>" for n in r.notes)
    return facts([(k, esc(v)) for k, v in items], "list") + (f"<ul>{notes}</ul>" if notes else "")


def reproduce(command: str | None, version: str, packages: Sequence[tuple[str, str]]) -> str:
    """The command line and the versions."""
    lines = f'<pre tabindex="0"><code id="command">{esc(command)}</code></pre>' if command else ""
    copy = '<button type="button" data-copy="command" hidden>copy</button>' if command else ""
    made = ", ".join(f"{esc(name)} {esc(number)}" for name, number in packages)
    return (
        f"{lines}{copy}<p class='quiet'>Made with denseflip {esc(version)} ({made}).</p>"
        "<p class='screen-only'><button type='button' id='save-json' hidden>save the data (JSON)"
        "</button></p><p class='quiet screen-only'>The saved file is one JSON object; in Python "
        '<code>Story.from_dict(data["story"])</code> reads it back. (The <code>result.json</code> '
        "of a command is another file: it holds the results alone.)</p>"
    )


def limits() -> str:
    """What the explanation does not say."""
    return "<ul>" + "".join(f"<li>{esc(text)}</li>" for text in _LIMITS) + "</ul>"
