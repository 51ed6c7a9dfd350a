"""Run the comparisons of ``docs/constraints.md`` and update its tables.

    python scripts/make_constraint_tables.py [--graphs N] [--only mice]

The script explains a few patients of ``aut`` and ``bip`` (the paper's data, ``DENSEFLIP_DATA``)
without constraints, with the frontal lobe frozen, and with removals only, and mice of four strains
with each strain as the target.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from markers import fill

from denseflip import load_dataset
from denseflip.experiments.explain_many import Explanations, explain_many
from denseflip.experiments.plan import choose_graphs

PAGE = Path(__file__).resolve().parent.parent / "docs" / "constraints.md"
TERMS: dict[str, dict[str, Any] | None] = {
    "no constraints": None,
    "the frontal lobe frozen": {"freeze": "lobe: Frontal Lobe"},
    "removals only": {"only": "remove"},
}
ORACLE = "edges-svm"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS, help="one of the parts")
    parser.add_argument("--graphs", type=int, default=8, help="graphs of each data set")
    options = parser.parse_args(arguments)
    for name in [options.only] if options.only else PARTS:
        fill(PAGE, name, list(PARTS[name](options.graphs)))


def frozen(graphs: int) -> Iterator[str]:
    """A row for each data set and constraint; below them the sentences about the first graph."""
    yield "| data | constraints | found | edits | places named | true as read | queries | refused |"
    yield "|---|---|---|---|---|---|---|---|"
    said: list[str] = []
    for name in ("aut", "bip"):
        dataset = load_dataset(name)
        ids = choose_graphs(dataset, limit=graphs)
        for words, given in TERMS.items():
            many = explain_many(dataset, ORACLE, ids, constraints=given)
            yield row(name, words, many)
            said.append(f"- {name}, {words}: “{many.stories[0].lead}”")
    yield ""
    yield from said


def strains(graphs: int) -> Iterator[str]:
    """A row for each strain of mice that is asked for by name."""
    yield "| data | target | found | edits | places named | true as read | queries | refused |"
    yield "|---|---|---|---|---|---|---|---|"
    dataset = load_dataset("mice:strain")
    for target in dataset.class_names:
        ids = [e.id for e in dataset if dataset.class_names[e.label] != target]
        step = max(1, len(ids) // graphs)
        many = explain_many(dataset, ORACLE, ids[::step][:graphs], target=target)
        yield row("mice, four strains", target, many)


def row(data: str, words: str, many: Explanations) -> str:
    """The figures of one call, medians over what was found."""
    results = [story.result for story in many.stories]
    found = [story for story in many.stories if story.result.found]
    cells = [
        f"{len(found)} of {len(results)}",
        _median([story.result.distance for story in found]),
        _median([len(story.claim.amounts) for story in found]),
        f"{sum(story.true_as_read for story in found)}",
        _median([result.calls for result in results]),
        f"{sum(sum(result.refused.values()) for result in results)}",
    ]
    return f"| {data} | {words} | " + " | ".join(cells) + " |"


def _median(numbers: Sequence[int]) -> str:
    return f"{statistics.median(numbers):g}" if numbers else "–"


PARTS = {"frozen": frozen, "strains": strains}

if __name__ == "__main__":
    main()
