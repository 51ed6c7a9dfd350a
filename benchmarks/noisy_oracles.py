"""How many non-deterministic oracles does `explain(confirm=n)` detect?

Each oracle sometimes answers with another class, at random, independently for every query. Every
counterfactual of such an oracle is wrong. ``docs/reliability.md`` has the figures of a run. Run
from the root of the repository::

    python benchmarks/noisy_oracles.py                   # 20 % noise, 400 runs each
    python benchmarks/noisy_oracles.py --noise 0.05 --runs 200
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from denseflip import Graph, explain
from denseflip.datasets.synthetic import make_synthetic
from denseflip.errors import OracleError

TIMES = (0, 1, 2, 3, 5, 10)


class Noisy:
    """Labels a graph by its number of edges, wrongly in a share of all answers."""

    def __init__(self, middle: float, noise: float, seed: int) -> None:
        self.middle, self.noise = middle, noise
        self.rng = np.random.default_rng(seed)

    def predict(self, graphs: Sequence[Graph]) -> list[Any]:
        """One label per graph."""
        wrong = self.rng.random(len(graphs)) < self.noise
        return [int((g.n_edges > self.middle) != w) for g, w in zip(graphs, wrong, strict=True)]


def caught(times: int, *, noise: float = 0.2, runs: int = 400, method: str = "edg") -> float:
    """The share of found counterfactuals of noisy oracles that were refused."""
    graphs = make_synthetic(n_per_class=10).graphs
    middle = float(np.median([g.n_edges for g in graphs])) - 0.5
    found = refused = 0
    for run in range(runs):
        oracle = Noisy(middle, noise, run)
        try:
            result = explain(graphs[run % len(graphs)], oracle, method, seed=run, confirm=times)
        except OracleError:
            refused += 1
        else:
            found += result.found
    return refused / max(1, refused + found)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", type=float, default=0.2)
    parser.add_argument("--runs", type=int, default=400)
    chosen = parser.parse_args()
    print("| re-queries | detected | expected |\n|---|---|---|")
    for times in TIMES:
        share = caught(times, noise=chosen.noise, runs=chosen.runs)
        # Two graphs a time; each must get the answer it got first, right or wrong.
        print(
            f"| {times} | {100 * share:.0f} % | at least {100 * least(chosen.noise, times):.0f} % |"
        )


def least(noise: float, times: int) -> float:
    """The share caught if both first answers were the right ones, the hardest case."""
    return 1.0 - (1.0 - noise) ** (2 * times)


if __name__ == "__main__":
    main()
