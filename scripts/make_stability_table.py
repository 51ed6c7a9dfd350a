"""Run the comparison of ``docs/believable.md``, section "Stable", and update its table.

    python scripts/make_stability_table.py [--quick] [--graphs N] [--only PRESET]

Each graph is explained with and without ``stable=0.8``, with the same 20 refits. Both sentences are
then judged on 20 other refits (another seed) that no search has used. It takes some minutes and
needs the paper's data (``DENSEFLIP_DATA``). ``--quick`` prints one row and does not change the
page.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markers import fill

from denseflip import Background, explain, fit_oracle, load_dataset, make_refits
from denseflip.oracles.session import Session
from denseflip.search.claims.redraw import claim_of
from denseflip.search.claims.stability import claim_stability

PAGE = Path(__file__).resolve().parent.parent / "docs" / "believable.md"
LEVEL = 0.8
DATA = ("mice", "bip", "aut", "adhdm")
PRESETS = ("regions-logistic", "edges-svm", "sf-knn")


def rows(n_graphs: int, presets: Sequence[str], quick: bool) -> Iterator[str]:
    """One row for each data set, classifier and search."""
    yield (
        "| data | classifier | search | told | held-out share | other refits: share | holds for "
        "| places (median) | queries (median) | seconds |"
    )
    yield 10 * "|---" + "|"
    for preset in presets:
        for name in DATA[:1] if quick else DATA:
            data = load_dataset(name)
            oracle = fit_oracle(data, preset)
            if len(set(Session(oracle).label_background(data.graphs))) < 2:
                continue  # it gives every graph the same label
            for level in (None, LEVEL):
                yield row(data, preset, oracle, n_graphs, level)


def row(data: Any, preset: str, oracle: Any, n_graphs: int, level: float | None) -> str:
    """The figures of one search."""
    refits, others = (make_refits(data, oracle, seed=seed) for seed in (0, 1))
    background = Background.of(data.graphs)
    told = []
    chosen = np.unique(np.linspace(0, len(data) - 1, n_graphs).astype(int)).tolist()
    for i in chosen:
        started = time.perf_counter()
        result = explain(
            data.graphs[i],
            oracle,
            nodes=data.nodes,
            background=background,
            refits=refits,
            stable=level,
        )
        seconds = time.perf_counter() - started
        test, given = result.as_read, result.stability
        if not result.found or test is None or test.language == "pairs" or given is None:
            continue
        session = Session(oracle)
        claim = claim_of(result, session, nodes=data.nodes)
        seen = claim_stability(result, claim, session, others, background)
        if seen is None or seen.share is None or given.share is None:
            continue
        holds = seen.holds / seen.agreeing
        places = len(claim.amounts)
        told.append((given.share, seen.share, holds, places, result.calls, seconds))
    figures = np.array(told)
    if not told:
        return f"| {data.name} | `{preset}` | {_name(level)} | 0 of {len(chosen)} |" + 6 * " – |"
    given, share, holds, _, _, seconds = figures.mean(axis=0)
    _, _, _, places, calls, _ = np.median(figures, axis=0)
    held_out = "–" if level is None else f"{given:.2f}"
    return (
        f"| {data.name} | `{preset}` | {_name(level)} | {len(told)} of {len(chosen)} | {held_out} "
        f"| {share:.2f} | {100 * holds:.0f} % | {places:g} | {calls:,.0f} | {seconds:.1f} |"
    )


def _name(level: float | None) -> str:
    return "default" if level is None else f"`stable={level:g}`"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--graphs", type=int, default=8, help="graphs of each data set")
    parser.add_argument("--only", choices=PRESETS, help="one classifier, printed only")
    parser.add_argument("--quick", action="store_true", help="one row, printed only")
    options = parser.parse_args(arguments)
    presets = [options.only] if options.only else PRESETS
    listed = []
    for one in rows(2 if options.quick else options.graphs, presets, options.quick):
        print(one, flush=True)
        listed.append(one)
    if not (options.quick or options.only):
        fill(PAGE, "stable", listed)


if __name__ == "__main__":
    main()
