"""Write the results of `denseflip arena` into the docs: tables, a picture, and a summary.

    denseflip arena --out denseflip-arena          # see docs/arena.md; it can be interrupted
    python scripts/verify_arena.py denseflip-arena
    python scripts/make_arena_docs.py denseflip-arena

Every figure of the pages comes from the files of that folder. The tables and ``arena.json``, with
the hashes, are copied to ``docs/_static/arena``.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markers import fill

from denseflip.arena.arena_page import plot_price
from denseflip.arena.peers import default_explainers, is_own
from denseflip.arena.plan import PROTOCOL, Settings
from denseflip.experiments.table import Table
from denseflip.report.canvas import save_figure

DOCS = Path(__file__).resolve().parent.parent / "docs"
KEPT = ("arena.json", "overall.csv", "winners.csv", "scores.csv", "trust.csv", "classifiers.csv")
VALID = 0.9  # validity from which an explainer takes part in "who wins where"
Row = dict[str, Any]


def main() -> None:
    """Read the folder, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", type=Path, default=DOCS)
    given = parser.parse_args()
    folder, docs = given.folder, given.docs
    facts = json.loads((folder / "arena.json").read_text(encoding="utf-8"))
    overall, scores, trust, cards = (
        read(folder / f"{name}.csv") for name in ("overall", "scores", "trust", "classifiers")
    )
    sides = side_rows(scores, trust)
    fill(docs / "arena.md", "arena-run", run_lines(facts, cards))
    fill(docs / "arena.md", "arena-overall", overall_lines(overall))
    fill(docs / "arena.md", "arena-winners", winner_lines(sides))
    fill(docs / "arena.md", "arena-classifiers", classifier_lines(sides))
    fill(docs / "comparison.md", "arena-summary", summary_lines(sides, overall, cards))
    columns = tuple(overall[0])
    table = Table("overall", "", columns, tuple(tuple(row.values()) for row in overall))
    save_figure(plot_price(table), docs / "images" / "arena-price.png", force=True, dpi=150)
    place = docs / "_static" / "arena"
    place.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        shutil.copy(folder / name, place / name)


def read(path: Path) -> list[Row]:
    """The rows of a CSV file, numbers as numbers and empty cells as None."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{key: value_of(text) for key, text in row.items()} for row in csv.DictReader(file)]


def value_of(text: str) -> Any:
    """A cell as a number, a truth value or text."""
    if text in ("", "true", "false", "True", "False"):
        return None if text == "" else text.lower() == "true"
    try:
        return float(text)
    except ValueError:
        return text


def side_rows(scores: list[Row], trust: list[Row]) -> dict[tuple[str, str], list[Row]]:
    """Data set and classifier → the rows of both tables together, by explainer."""
    out: dict[tuple[str, str], list[Row]] = {}
    for one, other in zip(scores, trust, strict=True):
        assert one["explainer"] == other["explainer"]
        out.setdefault((one["data"], one["classifier"]), []).append({**other, **one})
    return out


def number(value: Any) -> str:
    """A number for a table."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:.1f}"


def percent(value: float | None) -> str:
    """A share for a table."""
    return "–" if value is None else f"{100 * value:.0f} %"


def run_lines(facts: Row, cards: list[Row]) -> Iterator[str]:
    """What was run."""
    settings = facts["settings"]
    yield "```bash"
    yield command_of(settings)
    yield "python scripts/verify_arena.py denseflip-arena"
    yield "python scripts/make_arena_docs.py denseflip-arena"
    yield "```"
    yield ""
    yield (
        f"{facts['trials']:,} trials of {len(cards)} frozen classifiers, {settings['graphs']} "
        f"graphs per data set (all, where it has fewer), budget {settings['budget']:,} calls."
    )
    if settings["repeated"]:
        yield (
            f"The first {settings['repeated']} graphs were explained again with "
            f"{settings['seeds']} seeds, with renumbered nodes and on {settings['trainings']} "
            "trainings."
        )
    else:
        yield (
            "Every graph was explained once, with one seed: this run says nothing about other "
            f"seeds and numberings. The {settings['trainings']} trainings only test the answers."
        )
    missing = not_run(cards)
    left_out = [n for n in default_explainers(Path()) if n not in settings["explainers"]]
    if missing:
        yield f"**Not run: {', '.join(missing)}.** This page names no winner there."
    if left_out:
        yield f"Explainers that were left out: {', '.join(left_out)}."
    failures = len(facts["failures"])
    yield f"{failures} trials could not be run." if failures else "All planned trials ran."
    yield f"SHA-256 of all trials without times: `{facts['sha256']}`."
    yield ""
    yield "| data | classifier | held-out accuracy by training | held-out graphs | weights |"
    yield "|---|---|---|---|---|"
    kinds = dict.fromkeys((card["data"], card["kind"]) for card in cards)
    for data, kind in kinds:
        own = [card for card in cards if (card["data"], card["kind"]) == (data, kind)]
        accuracy = ", ".join(f"{card['held_out']:.2f}" for card in own)
        weights, held = own[0]["weights"][:12], f"{own[0]['n_held_out']:.0f}"
        yield f"| {data} | {kind} | {accuracy} | {held} | `{weights}` |"


def not_run(cards: list[Row]) -> list[str]:
    """The classifiers of the protocol that a run leaves out."""
    ran = {(card["data"], card["kind"]) for card in cards}
    known = [(name, kind) for name, kinds in PROTOCOL.items() for kind in kinds]
    return [f"{name} {kind}" for name, kind in known if (name, kind) not in ran]


def command_of(settings: Row) -> str:
    """The command that makes a run with these settings."""
    checkout = Path("path/to/GRETEL") if settings["checkout"] else None
    usual = Settings(explainers=default_explainers(checkout))
    words = ["denseflip arena"] + (["--gretel path/to/GRETEL"] if checkout else [])
    sides = {name: tuple(kinds) for name, kinds in settings["sides"].items()}
    if sides != usual.sides:
        named = [
            name if kinds == usual.sides.get(name) else "@".join((name, *kinds))
            for name, kinds in sides.items()
        ]
        words.append(f"--datasets {','.join(named)}")
    if tuple(settings["explainers"]) != usual.explainers:
        words.append(f"--explainers {','.join(settings['explainers'])}")
    numbers = ("graphs", "repeated", "slow", "seeds", "trainings", "budget")
    words += [f"--{n} {settings[n]}" for n in numbers if settings[n] != getattr(usual, n)]
    return " ".join([*words, "--out denseflip-arena"])


def overall_lines(overall: list[Row]) -> Iterator[str]:
    """The table over all classifiers."""
    titles = ("true as read", "in range", "stable to noise", "stable to retraining")
    yield (
        "| explainer | track | classifiers | graphs | validity | edits / fewest | calls | "
        + " | ".join(titles)
        + " |"
    )
    yield "|---" * 11 + "|"
    for row in overall:
        name = f"**{row['explainer']}**" if is_own(row["explainer"]) else row["explainer"]
        limited = ", removals only" if row["removal only"] else ""
        ratio = "–" if row["edits / fewest"] is None else f"{row['edits / fewest']:.2f}"
        yield (
            f"| {name}{limited} | {row['track']} | {row['classifiers']:.0f} | "
            f"{row['graphs']:.0f} | {percent(row['validity'])} | {ratio} | "
            f"{number(row['calls'])} | "
            + " | ".join(percent(row[title]) for title in titles)
            + " |"
        )


def contenders(rows: list[Row]) -> list[Row]:
    """The explainers that take part: those that ran on all graphs and found nearly all."""
    most = max(row["graphs"] for row in rows)
    return [row for row in rows if row["graphs"] == most and row["validity"] >= VALID]


def best_of(rows: list[Row], column: str, *, own: bool, most: bool) -> Row | None:
    """The best explainer of denseflip, or of the others; fewer calls decide between equals."""
    known = [row for row in rows if is_own(row["explainer"]) == own and row[column] is not None]
    sign = -1 if most else 1
    return min(known, key=lambda row: (sign * row[column], row["calls"]), default=None)


def duel(rows: list[Row], column: str, *, most: bool, show: Any) -> tuple[str, str, str]:
    """The cells of denseflip's best and of the best other explainer, and who wins."""
    if show is labels_only:
        rows = [r for r in rows if not is_own(r["explainer"]) or r["track"] == "labels"]
    pair = [best_of(rows, column, own=own, most=most) for own in (True, False)]
    values = [None if row is None else row[column] for row in pair]
    cells = [
        "none"
        if row is None
        else f"{row['explainer']} {show(row[column])}"
        + ("" if column == "calls" else f" ({number(row['calls'])} calls)")
        for row in pair
    ]
    if most and not any(values):
        return "none", "none", "tie"
    if None in values:
        winner = "denseflip" if values[1] is None else "other"
    elif values[0] == values[1]:
        winner = "tie"
    else:
        winner = "denseflip" if (values[0] > values[1]) == most else "other"
    if winner != "tie":
        lead = 0 if winner == "denseflip" else 1
        cells[lead] = f"**{cells[lead]}**"
    return cells[0], cells[1], winner


def labels_only(value: Any) -> str:
    """A number of a comparison in which denseflip may use labels only, the others what they use."""
    return number(value)


MEASURES = (
    ("GED", "edits", False, number),
    ("GED", "edits, denseflip by labels only", False, labels_only),
    ("calls", "calls", False, number),
    ("true as read", "true as read", True, percent),
    ("in range", "in range", True, percent),
    ("stable to noise", "stable to noise", True, percent),
)


def winner_lines(sides: dict[tuple[str, str], list[Row]]) -> Iterator[str]:
    """Who wins where: denseflip's best and the best other explainer, by classifier."""
    yield "| data | classifier | measure | best of denseflip | best of the others |"
    yield "|---|---|---|---|---|"
    for (data, kind), rows in sides.items():
        good = contenders(rows)
        if not good:
            yield f"| {data} | {kind} | all | none | none |"
            continue
        for column, title, most, show in MEASURES:
            own, other, _ = duel(good, column, most=most, show=show)
            yield f"| {data} | {kind} | {title} | {own} | {other} |"


def classifier_lines(sides: dict[tuple[str, str], list[Row]]) -> Iterator[str]:
    """One table per classifier."""
    for (data, kind), rows in sides.items():
        yield f"**{data}, {kind}**"
        yield ""
        yield (
            "| explainer | graphs | validity | edits | edits, common | calls | seconds | places | "
            "true as read | in range | noise | seeds | numbering |"
        )
        yield "|---" * 13 + "|"
        for row in sorted(rows, key=lambda row: (row["GED"] is None, row["GED"] or 0)):
            cells = (
                row["explainer"] + (" (removals)" if row["removal only"] else ""),
                f"{row['graphs']:.0f}",
                percent(row["validity"]),
                number(row["GED"]),
                number(row["GED common"]),
                number(row["calls"]),
                "–" if row["seconds"] is None or row["seconds"] < 0 else f"{row['seconds']:.2f}",
                number(row["places named"]),
                percent(row["true as read"]),
                percent(row["in range"]),
                percent(row["stable to noise"]),
                percent(row["instability seeds"]),
                percent(row["instability numbering"]),
            )
            yield "| " + " | ".join(cells) + " |"
        yield ""


def summary_lines(
    sides: dict[tuple[str, str], list[Row]], overall: list[Row], cards: list[Row]
) -> Iterator[str]:
    """How often each side wins, and the price of a sentence."""
    yield "| measure | denseflip better | equal | another explainer better |"
    yield "|---|---|---|---|"
    for column, title, most, show in MEASURES:
        won: dict[str, list[str]] = {"denseflip": [], "tie": [], "other": []}
        for (data, kind), rows in sides.items():
            good = contenders(rows)
            if any(row[column] is not None for row in good):
                winner = duel(good, column, most=most, show=show)[2]
                won[winner].append(f"{data} {kind}")
        cells = [", ".join(won[key]) or "–" for key in ("denseflip", "tie", "other")]
        yield f"| {title} | {' | '.join(cells)} |"
    if missing := not_run(cards):
        yield ""
        yield f"Not run: {', '.join(missing)}."
    auto = next((row for row in overall if row["explainer"] == "auto"), None)
    others = [row for row in overall if not is_own(row["explainer"]) and row["true as read"]]
    if auto is not None and auto["true as read"] is not None:
        true, inside = percent(auto["true as read"]), percent(auto["in range"])
        yield ""
        yield (
            f"The price of a sentence: `auto` makes {auto['edits / fewest']:.1f} times as many "
            f"edits as the explainer with the fewest on the same graph (median). Its sentences are "
            f"true as read for {true} of the graphs and in range for {inside}."
        )
        for row in sorted(others, key=lambda row: -row["true as read"])[:1]:
            true, inside = percent(row["true as read"]), percent(row["in range"])
            yield (
                f"Of the other explainers, {row['explainer']} comes closest ({true}, {inside}); "
                f"it changes the label of {percent(row['validity'])} of the graphs."
            )


if __name__ == "__main__":
    main()
