"""Run the comparisons of ``docs/robust.md`` and update its tables.

    python scripts/make_robustness_tables.py [--quick] [--only TABLE] [--graphs N]

It compares robust with plain searches, and searches guided by confidence with searches by label.
It takes some minutes and needs the paper's data (``DENSEFLIP_DATA``) for ``bip`` and ``aut``.
``--quick`` prints one row per table and does not change the page.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markers import fill

from denseflip import Counterfactual, explain, fit_oracle, load_dataset, make_method
from denseflip.metrics import robustness
from denseflip.oracles.background import Background

PAGE = Path(__file__).resolve().parent.parent / "docs" / "robust.md"
LEVEL, NOISE = 0.9, 0.01
ROBUST = (
    ("mice", "edges-svm", "con"),
    ("mice", "regions-logistic", "auto"),
    ("mice", "sf-knn", "con+min"),
    ("bip", "edges-svm", "con"),
    ("bip", "edges-svm", "tri+min"),
    ("bip", "regions-logistic", "auto"),
    ("aut", "edges-svm", "con"),
    ("aut", "sf-knn", "con+min"),
    ("aut", "sf-knn", "auto"),
)
GUIDED = (("mice", "edges-logistic"), ("mice", "regions-logistic"))
QUESTIONS = {False: 320, True: 100}  # of `tight`, by labels and guided


def explained(
    data: Any, preset: str, n_graphs: int, method: Any, **wishes: Any
) -> Iterator[tuple[Counterfactual, Any]]:
    """The first graphs of a data set, each explained."""
    oracle = fit_oracle(data, preset, seed=0)
    background = Background(data.graphs)
    for graph in data.graphs[:n_graphs]:
        yield (
            explain(graph, oracle, method, nodes=data.nodes, background=background, **wishes),
            oracle,
        )


def robust_rows(n_graphs: int, quick: bool) -> Iterator[str]:
    """Robust against plain: the level reached, edits and queries."""
    yield (
        "| data | classifier | method | found | plain: survived | edits | queries | robust: "
        "survived | reached | edits | queries |"
    )
    yield 11 * "|---" + "|"
    for name, preset, method in ROBUST[:1] if quick else ROBUST:
        data = load_dataset(name)
        plain = list(explained(data, preset, n_graphs, method))
        more = list(explained(data, preset, n_graphs, method, robust=LEVEL, noise=NOISE))
        pairs: list[Any] = [
            (a, b, box) for (a, box), (b, _) in zip(plain, more, strict=True) if a.found
        ]
        each = list(enumerate(pairs, 1))
        # Measured again by perturbations that no search has seen, others for every graph.
        before, after = (
            [robustness(pair[i], pair[2], NOISE, seed=j, repeats=100) for j, pair in each]
            for i in (0, 1)
        )
        reached = sum(b.robustness is not None and b.robustness.reached for _, b, _ in pairs)
        yield (
            f"| {name} | `{preset}` | `{method}` | {len(pairs)} of {n_graphs} | {_mean(before, 2)} "
            f"| {_mean(a.distance for a, *_ in pairs)} | {_mean(a.calls for a, *_ in pairs)} "
            f"| {_mean(after, 2)} | {reached} of {len(pairs)} "
            f"| {_mean(b.distance for _, b, _ in pairs)} | {_mean(b.calls for _, b, _ in pairs)} |"
        )


def guided_rows(n_graphs: int, quick: bool) -> Iterator[str]:
    """`tight` by labels alone and guided: edits and queries of every graph."""
    yield "| data | classifier | `tight` | edits (each graph) | mean | queries (mean) |"
    yield 6 * "|---" + "|"
    for name, preset in GUIDED[:1] if quick else GUIDED:
        data = load_dataset(name)
        for guided, questions in QUESTIONS.items():
            method = make_method("tight", guided=guided, questions=questions)
            found = [r for r, _ in explained(data, preset, n_graphs, method)]
            edits = ", ".join(str(r.distance) if r.found else "–" for r in found)
            words = "guided" if guided else "labels alone"
            yield (
                f"| {name} | `{preset}` | {words}, `questions={questions}` | {edits} "
                f"| {_mean(r.distance for r in found if r.found)} "
                f"| {_mean(r.calls for r in found)} |"
            )


def _mean(values: Any, digits: int = 0) -> str:
    listed = list(values)
    return f"{np.mean(listed):,.{digits}f}" if listed else "–"


TABLES: dict[str, Callable[[int, bool], Iterator[str]]] = {
    "robust": robust_rows,
    "guided": guided_rows,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", choices=TABLES, help="one of the tables")
    parser.add_argument("--graphs", type=int, default=4, help="graphs of each data set")
    parser.add_argument("--quick", action="store_true", help="one row of each, printed only")
    options = parser.parse_args(arguments)
    for name in [options.only] if options.only else TABLES:
        rows = []
        for row in TABLES[name](2 if options.quick else options.graphs, options.quick):
            print(row, flush=True)
            rows.append(row)
        if not options.quick:
            fill(PAGE, name, rows)


if __name__ == "__main__":
    main()
