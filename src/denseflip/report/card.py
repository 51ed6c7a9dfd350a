"""The classifier's card on the page: what it is, and how good it is on graphs it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from denseflip.report.markup import esc, facts, table
from denseflip.report.settings import setting_words

_SHOWN = ("preset", "features", "estimator", "dataset", "task", "n_graphs", "n_nodes", "seed")


def as_mapping(value: Any) -> dict[str, Any]:
    """A card or an evaluation as a dictionary; empty if it is neither."""
    if value is None:
        return {}
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    elif hasattr(value, "card") and not isinstance(value, Mapping):
        value = value.card
    return dict(value) if isinstance(value, Mapping) else {}


def classifier_card(card: Any, evaluation: Any) -> str:
    """The card as HTML; says so plainly where nothing is known."""
    about = as_mapping(card)
    figures = as_mapping(evaluation) or as_mapping(about.get("evaluation"))
    rows = [
        (key.replace("_", " "), esc(setting_words(about.get(key, figures.get(key)), unset=False)))
        for key in _SHOWN
        if about.get(key, figures.get(key)) is not None
    ]
    parts = [facts(rows, "list")] if rows else []
    if not figures or "accuracy" not in figures:
        parts.append(
            '<p class="warning"><b>How good this classifier is on graphs it has not seen is not '
            "known here.</b> Before reading anything into its explanations, evaluate it "
            "(<code>denseflip evaluate</code>).</p>"
        )
        return "\n".join(parts)
    if figures.get("verdict"):
        kind = "good" if figures.get("level") == "better" else "warning"
        parts.append(f'<p class="{kind}"><b>{esc(figures["verdict"])}</b></p>')
    if figures.get("warning"):
        parts.append(f'<p class="warning">{esc(figures["warning"])}</p>')
    parts.append(_figures(figures))
    parts.append(_confusion(figures))
    return "\n".join(p for p in parts if p)


def _figures(data: Mapping[str, Any]) -> str:
    low, high = data.get("interval") or (None, None)
    rows = [("accuracy, held-out graphs", _percent(data["accuracy"]))]
    if low is not None and high is not None:
        rows.append(("its 95 % interval", f"{_percent(low)} to {_percent(high)}"))
    if data.get("majority_rate") is not None:
        rows.append(("always the largest class", _percent(data["majority_rate"])))
    if data.get("p_value") is not None:
        rows.append(("permutation test", f"p = {data['p_value']:.3g}"))
    if data.get("balanced_accuracy") is not None:
        rows.append(("balanced accuracy", _percent(data["balanced_accuracy"])))
    if data.get("training_accuracy") is not None:
        text = f"{_percent(data['training_accuracy'])} (says little: it has seen them)"
        rows.append(("on its own training graphs", text))
    if data.get("folds"):
        text = f"nested cross-validation, {data['folds']} folds × {data.get('repeats', 1)}"
        if data.get("permutations"):
            text += f", {data['permutations']} permutations"
        rows.append(("how it was judged", text))
    return facts([(k, esc(v)) for k, v in rows], "list")


def _confusion(data: Mapping[str, Any]) -> str:
    matrix, classes = data.get("confusion"), data.get("class_counts")
    if not matrix or not isinstance(classes, Mapping) or len(matrix) != len(classes):
        return ""
    names = [esc(name) for name in classes]
    rows = [
        [f"<b>{name}</b>", *(esc(count) for count in row)]
        for name, row in zip(names, matrix, strict=True)
    ]
    caption = "Held-out graphs by true class (row) and answer (column), summed over repeats"
    body = table(["", *names], rows, caption=caption)
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">{body}</div>'


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
