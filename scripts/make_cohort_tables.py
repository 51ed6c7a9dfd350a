"""Run the cohort experiments of ``docs/cohorts.md`` on synthetic and real cohorts.

    python scripts/make_cohort_tables.py synthetic --jobs 2    # effects 0, .5, 1: table
    python scripts/make_cohort_tables.py real --jobs 2         # mice, BIP, AUT: statements
    python scripts/make_cohort_tables.py show                  # tables from stored results

Results are stored in the folder ``--out``, and a stopped run resumes there. The experiments skip
the accuracy check of the classifier, which could only lower the number of false positives. With
``--early``, a cohort is left as soon as enough permutations reach its largest count for its p-value
to be above the level: the same cohorts are named, with far fewer permutations.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from denseflip.cohort.cohort_parts import CohortSpec
from denseflip.cohort.explain_cohort import explain_cohort
from denseflip.cohort.labelling import Labelling
from denseflip.cohort.settings import CohortSettings, cells_of, check_cohort
from denseflip.cohort.stats import max_p
from denseflip.counterfactual import wilson_interval
from denseflip.datasets.synthetic import make_synthetic
from denseflip.runs.engines import make_engine
from denseflip.runs.result_store import Store
from denseflip.runs.run import run_specs
from denseflip.runs.sources import data_of, oracle_of_words

LEVEL = 0.05
PLANTED = ("Frontal Lobe – Temporal Lobe", "more")
REAL = (
    {"name": "mice, hemispheres", "dataset": "mice", "regions": "hemisphere"},
    {"name": "mice, 14 regions", "dataset": "mice"},
    {"name": "BIP, edges-svm", "dataset": "bip", "oracle": "edges-svm", "patients": 30},
    {"name": "AUT, sf-knn", "dataset": "aut", "oracle": "sf-knn", "patients": 20},
)


def say(text: str, where: Any = None) -> bool:
    """Write a line at once."""
    (where or sys.stdout).write(f"{text}\n")
    (where or sys.stdout).flush()
    return True


def synthetic_specs(
    strength: float, cohorts: int, permutations: int, patients: int, per_class: int
) -> dict[int, list[CohortSpec]]:
    """Specs of the labellings of each cohort, by its seed."""
    oracle = oracle_of_words("regions-logistic")
    found = {}
    for seed in range(cohorts):
        dataset = make_synthetic(strength=strength, n_per_class=per_class, seed=1000 + seed)
        data = data_of(dataset)
        settings = check_cohort(dataset, CohortSettings(patients=patients, seed=seed))
        found[seed] = [
            CohortSpec(data, oracle, settings=settings, number=i) for i in range(permutations + 1)
        ]
    return found


def synthetic(args: argparse.Namespace) -> None:
    """Run made-up cohorts of every strength, and write table and picture."""
    rows = []
    engine = make_engine(args.engine, args.jobs)
    for strength, cohorts in ((0.0, args.null), (0.5, args.power), (1.0, args.power)):
        groups = synthetic_specs(
            strength, cohorts, args.permutations, args.patients, args.per_class
        )
        started = time.monotonic()

        def report(done: int, total: int, started: float = started) -> None:
            if done % 200 == 0 or done == total:
                passed = time.monotonic() - started
                say(f"  {done} of {total} labellings, {passed:.0f} s", sys.stderr)

        store = Store(args.out / f"synthetic-{strength:g}")
        found: dict[int, list[Any]] = {seed: [] for seed in groups}
        size, reused = (1 if args.early else args.permutations + 1), 0
        for first in range(0, args.permutations + 1, size):
            open_ = [s for s in groups if not (first and is_decided(found[s], args.permutations))]
            specs = [spec for seed in open_ for spec in groups[seed][first : first + size]]
            outcome = run_specs(specs, store, engine, progress=report, workers=args.jobs)
            if outcome.failures:
                raise SystemExit(str(outcome.failures[0]))
            reused += outcome.reused
            for seed in open_:
                chosen = groups[seed][first : first + size]
                found[seed] += [outcome.records[spec.id]["result"] for spec in chosen]
        rows += [row_of(strength, seed, found[seed], group[0]) for seed, group in groups.items()]
        n, passed = sum(map(len, found.values())), time.monotonic() - started
        say(f"strength {strength:g}: {passed:.0f} s, {n} labellings, {reused} reused")
    facts = {key: getattr(args, key) for key in ("permutations", "patients", "per_class")}
    text = json.dumps({"settings": facts, "rows": rows}, indent=1, ensure_ascii=False)
    (args.out / "synthetic.json").write_text(text, encoding="utf-8")
    show(args)


def is_decided(results: list[Any], permutations: int) -> bool:
    """Whether nothing can be named, whatever the remaining permutations give."""
    tops = [max(*result["more"], *result["fewer"]) for result in results]
    reached = sum(top >= tops[0] for top in tops[1:])
    return (1 + reached) / (permutations + 1) > LEVEL + 1e-9


def row_of(strength: float, seed: int, results: list[Any], spec: CohortSpec) -> dict[str, Any]:
    """What the test says of one cohort."""
    true, *null = (Labelling.from_dict(result) for result in results)
    both = np.concatenate((true.more, true.fewer))
    others = [np.concatenate((x.more, x.fewer)) for x in null]
    p = max_p(both, others)
    assert spec.data.given is not None
    cells = cells_of(spec.data.given, spec.settings)
    names = [
        (cells.name(cell), direction)
        for direction in ("more", "fewer")
        for cell in cells.at(range(len(cells)))
    ]
    return {
        "strength": strength,
        "seed": seed,
        "p": float(p.min()),
        "even": even_p(int(both.max()), [int(x.max()) for x in others], seed),
        "named": [list(names[i]) for i in np.flatnonzero(p <= LEVEL + 1e-9)],
        "right": true.right / true.explained,
        "permutations": len(null),
        "told": true.told,
        "in_range": true.in_range,
    }


def even_p(observed: int, null: list[int], seed: int) -> float:
    """The p of the largest count with ties settled by lot: even from 0 to 1 if labels mean nothing.

    The test itself counts ties against the claim, which can only make a p larger.
    """
    larger, ties = sum(x > observed for x in null), sum(x == observed for x in null)
    drawn = np.random.default_rng(seed).random()
    return float((larger + drawn * (ties + 1)) / (len(null) + 1))


def show(args: argparse.Namespace) -> None:
    """Print the table of made-up cohorts, and draw their p-values."""
    data = json.loads((args.out / "synthetic.json").read_text(encoding="utf-8"))
    facts = data["settings"]
    by: dict[float, list[dict[str, Any]]] = defaultdict(list)
    for row in data["rows"]:
        by[row["strength"]].append(row)
    lines = [
        "| strength | cohorts | anything named | 95 % interval | planted pair, right direction | "
        "anything else | rightly classified, unseen | changes in range |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for strength, rows in sorted(by.items()):
        n = len(rows)
        named = sum(bool(row["named"]) for row in rows)
        planted = sum(list(PLANTED) in row["named"] for row in rows) if strength else 0
        other = sum(any(tuple(x) != PLANTED for x in row["named"]) for row in rows)
        low, high = wilson_interval(named / n, n)
        right = np.mean([row["right"] for row in rows])
        lines.append(
            f"| {strength:g} | {n} | {named} | {low:.3f} – {high:.3f} | "
            f"{planted if strength else '–'} | {other if strength else '–'} | {right:.2f} | "
            f"{sum(row['in_range'] for row in rows)} of {sum(row['told'] for row in rows)} |"
        )
    text = "\n".join(lines) + (
        f"\n\n{facts['per_class']} patients per class, {facts['patients']} of them explained under "
        f"each labelling, {facts['permutations']} permutations, regions-logistic, level {LEVEL}.\n"
    )
    (args.out / "synthetic.md").write_text(text, encoding="utf-8")
    say(text)
    null = by[0.0]
    if any(row["permutations"] < facts["permutations"] for row in null) or not null:
        return  # p-values of cohorts that were left early are not known
    draw([row["p"] for row in null], [row["even"] for row in null], args.out / "null-p-values.png")


def draw(ps: list[float], even: list[float], path: Path) -> None:
    """The p-values of cohorts without a difference, beside what they should be."""
    from denseflip.report.canvas import new_figure, save_figure, style
    from denseflip.report.palette import ADDED, AXIS, QUIET

    with style():
        figure = new_figure(4.6, 4.2)
        ax = figure.add_axes((0.14, 0.14, 0.82, 0.8))
        share = np.arange(1, len(ps) + 1) / len(ps)
        band = 1.36 / np.sqrt(len(ps))  # Kolmogorov and Smirnov, 95 %
        line = np.linspace(0, 1, 50)
        ax.fill_between(line, line - band, line + band, color=AXIS, alpha=0.3, lw=0)
        ax.plot([0, 1], [0, 1], color=QUIET, lw=1, ls=":")
        for values, color, word in (
            (even, QUIET, "ties settled by lot"),
            (ps, ADDED, "as it is told: ties count against the claim"),
        ):
            ordered = np.sort(values)
            ax.step([0, *ordered, 1], [0, *share, 1], where="post", color=color, lw=1.6, label=word)
        ax.legend(frameon=False, loc="upper left")
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
        ax.set_xlabel("p of the most used pair of regions")
        ax.set_ylabel(f"share of {len(ps)} cohorts without a difference")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    save_figure(figure, path, force=True)


def real(args: argparse.Namespace) -> None:
    """The statements of the real cohorts, one after the other."""
    parts = []
    for given in REAL:
        asked: dict[str, Any] = {k: v for k, v in given.items() if k not in ("name", "dataset")}
        if args.only and args.only not in str(given["name"]):
            continue
        started = time.monotonic()
        cohort = explain_cohort(
            str(given["dataset"]),
            asked.pop("oracle", None),
            permutations=args.real_permutations,
            engine=args.engine,
            jobs=args.jobs,
            store=args.out / "real",
            confirm=lambda estimate: say(f"  {estimate}", sys.stderr),
            **asked,
        )
        took = time.monotonic() - started
        name = str(given["name"]).replace(", ", "-").replace(" ", "-").lower()
        cohort.write(args.out / f"{name}.json", force=True)
        parts.append(f"### {given['name']} ({took:.0f} s)\n\n" + "\n".join(cohort.sentences) + "\n")
        say(parts[-1])
    (args.out / "real.md").write_text("\n".join(parts), encoding="utf-8")


def main() -> None:
    """Read the command line and run a part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("part", choices=("synthetic", "real", "show"))
    parser.add_argument("--out", type=Path, default=Path("denseflip-cohorts"))
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--null", type=int, default=100, help="cohorts without a difference")
    parser.add_argument("--power", type=int, default=20, help="cohorts of strength .5, and of 1")
    parser.add_argument("--permutations", type=int, default=39)
    parser.add_argument("--early", action="store_true", help="leave cohorts that are decided")
    parser.add_argument("--patients", type=int, default=20)
    parser.add_argument("--per-class", type=int, default=30)
    parser.add_argument("--real-permutations", type=int, default=200)
    parser.add_argument("--only", default="", help="real cohorts whose name holds this")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    {"synthetic": synthetic, "real": real, "show": show}[args.part](args)


if __name__ == "__main__":
    main()
