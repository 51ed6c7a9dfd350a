"""Stories, comparisons and cohorts as plain data for the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from denseflip.cohort.cohort import Cohort
from denseflip.cohort.words import halves_words
from denseflip.counterfactual import Status
from denseflip.errors import MissingExtraError
from denseflip.oracles.session import Session
from denseflip.report.cohort_headline import cohort_marks, headline_of, lines_of
from denseflip.report.cohort_page import cohort_figures
from denseflip.report.facts import (
    as_mapping,
    chips_of,
    confidence_words,
    decision_of,
    shown_marks,
    tiles_of,
)
from denseflip.report.front import (
    answer_labels,
    beside,
    edits_words,
    held_of,
    named_words,
    read_cell,
    told,
    truth_words,
)
from denseflip.report.page import drawn_words, unnamed_words
from denseflip.report.scene import headline, make_scene, status_words
from denseflip.report.strip_layout import strip_html
from denseflip.report.view import circle_data, scene_data
from denseflip.search.methods.registry import methods
from denseflip.story.story import Story
from denseflip.story.wording.badge import distrust_words
from denseflip.story.wording.marks import UNTESTED
from denseflip.workflow.compare import Compared
from denseflip.workflow.whatif import steps_of

_LISTED = 60  # region pairs of a cohort
_CELL = (
    *("name", "direction", "patients", "share", "in_range", "amount", "p", "effect", "difference"),
    "p_difference",
)


def view_of(story: Story, front: Sequence[Story] = ()) -> dict[str, Any]:
    """Return one story with its Pareto front, for ``app.js``."""
    scene = make_scene(story)
    result = story.result
    answers = list(front) if len(front) > 1 else [story]
    current = next((i for i, one in enumerate(answers) if one.result.edits == result.edits), 0)
    return {
        **scene_data(scene),
        "circle": circle_data(scene),
        "title": headline(story),
        "subject": story.subject,
        "found": result.found,
        "needed": result.status is not Status.NOT_NEEDED,
        "status": status_words(story),
        "before": story.class_name(result.label_before),
        "after": story.class_name(result.label_after),
        "trueClass": story.true_class,
        "correct": story.correct,
        "method": result.method,
        "chosen": result.chosen,
        "seed": result.seed,
        "notes": list(result.notes),
        "answers": [
            _answer(one) | {"label": label}
            for one, label in zip(answers, answer_labels(answers, story), strict=True)
        ],
        "current": current,
        "diverse": bool(result.diverse),
        "taxonomy": scene.taxonomy.name if scene.has_regions else None,
        "edges": [int(c) for c in result.original.codes],
        "judged": judged_words(story.evaluation),
        "distrust": distrust_words(story.evaluation) or "",
    }


def _answer(story: Story) -> dict[str, Any]:
    read, notes = beside(story)
    sentence, decision = told(story), decision_of(story)
    result = story.result
    return {
        "decision": None if decision is None else asdict(decision),
        "unnamed": unnamed_words(story),
        "drawn": drawn_words(story),
        "edits": edits_words(story),
        "held": asdict(held_of(story)),
        "lead": sentence.lead,
        "warning": sentence.warning,
        "parameters": list(story.parameters),
        "items": list(sentence.items),
        "strip": strip_html(story),
        "truth": read,
        "notes": list(notes),
        "methods": story.methods_text(),
        "chips": [asdict(chip) for chip in shown_marks(story)],
        "sure": confidence_words(story),
        "tiles": [[fact.term, fact.value] for fact in tiles_of(story)],
        "named": named_words(story) if result.found else "",
        "read": truth_words(story) if result.found else "",
        "removed": [list(p) for p in result.removed],
        "added": [list(p) for p in result.added],
        "said": [list(p) for p in (*story.named_edits.removed, *story.named_edits.added)],
    }


def judged_words(evaluation: Any) -> dict[str, Any] | None:
    """Describe the held-out evaluation of a classifier."""
    data = as_mapping(evaluation)
    if "accuracy" not in data:
        return None
    keys = ("accuracy", "interval", "majority_rate", "p_value", "level", "verdict", "warning")
    return {key: data.get(key) for key in keys}


def replay_of(story: Story, session: Session, *, confident: bool) -> list[dict[str, Any]]:
    """Return the trace as frames: the pairs flipped since the last frame, and the decision.

    Long traces are thinned; a frame includes the pairs of skipped steps.
    """
    result = story.result
    frames: list[dict[str, Any]] = []
    last = 0
    for step, graph in steps_of(result.original, result.trace):
        answer = session.peek(graph)
        made = result.trace[last:step]
        frames.append(
            {
                "step": step,
                "label": story.class_name(answer.label),
                "confidence": answer.confidence if confident else None,
                "toggled": [[int(u), int(v)] for one in made for u, v in one.toggled],
                "name": "original" if not made else made[-1].name or made[-1].structure,
            }
        )
        last = step
    return frames


def row_of(row: Compared) -> dict[str, Any]:
    """Return one method of a comparison."""
    about = {"method": row.method, "summary": _summary(row.method)}
    if row.story is None:
        return {**about, "applies": False, "sentence": row.reason}
    result, seen = row.story.result, row.story.stability
    return {
        **about,
        "applies": True,
        "found": result.found,
        "status": status_words(row.story),
        "sentence": row.sentence,
        "strip": strip_html(row.story, small=True),
        "cell": read_cell(row.story),
        "inRange": row.story.in_range if result.found else None,
        "retrained": f"{seen.holds:,} of {seen.agreeing:,}" if seen and seen.agreeing else None,
        "chips": [asdict(c) for c in chips_of(row.story, alone=True) if c.text != UNTESTED],
        "read": truth_words(row.story) if result.found else "",
        "removed": [list(p) for p in result.removed] if result.found else [],
        "added": [list(p) for p in result.added] if result.found else [],
        "distance": result.distance if result.found else None,
        "relative": result.relative_distance if result.found else None,
        "calls": result.calls,
        "regions": row.n_regions if result.found else None,
    }


def _summary(method: str) -> str:
    """What a method does, with its refinements: the descriptions of the list of methods."""
    known = {one.name: one.summary for one in methods()}
    name, *refined = method.split("+")
    parts = [known.get(name, ""), *(known.get(f"+{one}", "") for one in refined)]
    return " ".join(part for part in parts if part)


def _figures(cohort: Cohort) -> list[dict[str, str]]:
    """The pictures of a cohort; empty if the plotting packages are not installed."""
    try:
        return [
            {"source": one.wide.source, "alt": one.alt, "caption": one.caption}
            | ({"narrow": one.narrow.source} if one.narrow else {})
            for one in cohort_figures(cohort)
        ]
    except MissingExtraError:
        return []


def cohort_of(cohort: Cohort) -> dict[str, Any]:
    """Return a cohort for ``app.js``: sentences, and cells with the patients that use them."""
    rows = cohort.rows
    named = {(row.cell, row.direction) for row in cohort.named}
    return {
        "headline": headline_of(cohort),
        "chips": [asdict(chip) for chip in cohort_marks(cohort)],
        "lines": (lines := lines_of(cohort)),
        "halves": (halves := halves_words(cohort)),
        "figures": _figures(cohort),
        "sentences": [x for x in cohort.sentences if x != halves],
        "verdict": cohort.verdict,
        "judged": judged_words(cohort.evaluation),
        "permutations": cohort.permutations,
        "notes": [note for note in cohort.notes if note not in lines],
        "rows": [
            {key: getattr(row, key) for key in _CELL}
            | {"named": (row.cell, row.direction) in named}
            for row in rows[:_LISTED]
        ],
        "of": len(rows),
    }
