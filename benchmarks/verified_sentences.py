"""How many verified sentences need fewer than all edits, and how many are true as read?

Explains every graph of a data set by each method, describes the result, and counts.
``docs/statements.md`` has the figures of a run. Run from the root of the repository::

    python benchmarks/verified_sentences.py            # AUT by tri and cli, the paper's classifier
    python benchmarks/verified_sentences.py aut --oracle sf-knn --methods tri,cli,tri+min,cli+min
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from denseflip import Story, describe, explain
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.presets import fit_oracle
from denseflip.datasets.base import Dataset
from denseflip.datasets.registry import load_dataset
from denseflip.oracles.background import Background
from denseflip.paper.published_classifier import published_oracle
from denseflip.paper.published_methods import published_method


@dataclass(frozen=True)
class Figures:
    """What is counted over the stories of one method."""

    method: str
    n_graphs: int
    n_found: int
    n_verified: int
    n_fewer: int
    share_of_edits: float
    pairs_named: float
    pairs_changed: float
    questions: float
    n_true: int
    seconds: float

    @property
    def share_fewer(self) -> float:
        """Share of the verified sentences that need fewer than all edits."""
        return self.n_fewer / self.n_verified if self.n_verified else float("nan")

    def row(self) -> str:
        """A line of a Markdown table."""
        return (
            f"| `{self.method}` | {self.n_found} of {self.n_graphs} | {self.n_verified} | "
            f"{self.n_fewer} ({100 * self.share_fewer:.0f} %) | {100 * self.share_of_edits:.0f} % "
            f"| {self.pairs_named:g} of {self.pairs_changed:g} | {self.questions:g} | "
            f"{self.n_true} ({100 * self.n_true / max(1, self.n_verified):.0f} %) | "
            f"{self.seconds:.0f} |"
        )


HEADER = (
    "| method | found | verified | need fewer than all edits | share of the edits named (median) "
    "| region pairs named (median) | questions (median) | true as read | seconds |\n"
    + 9 * "|---"
    + "|"
)


def count(method: str, stories: Sequence[Story], n_graphs: int, seconds: float) -> Figures:
    """The figures of one method's stories (of those that found a counterfactual)."""
    checks = [s.verification for s in stories]
    verified = [(s, c) for s, c in zip(stories, checks, strict=True) if c.verified]
    fewer = [s for s, c in verified if len(c.edits) < s.result.distance]

    def median(values: list[float]) -> float:
        return statistics.median(values) if values else float("nan")

    return Figures(
        method=method,
        n_graphs=n_graphs,
        n_found=len(stories),
        n_verified=len(verified),
        n_fewer=len(fewer),
        share_of_edits=median([len(c.edits) / s.result.distance for s, c in verified]),
        pairs_named=median([len(c.named) for _, c in verified]),
        pairs_changed=median([c.n_cells for _, c in verified]),
        questions=median([c.questions for _, c in verified]),
        n_true=sum(s.true_as_read for s in stories),
        seconds=seconds,
    )


def run(dataset: Dataset, oracle: FittedOracle, method: str, profile: str) -> Figures:
    """Explain and describe every graph of the data set."""
    background = Background(dataset.graphs)
    started = time.perf_counter()
    stories = []
    for graph in dataset.graphs:
        recipe = published_method(method) if profile == "published" else method
        result = explain(graph, oracle, recipe, nodes=dataset.nodes, background=background)
        if result.found:
            stories.append(describe(result, dataset.nodes, oracle))
    return count(method, stories, len(dataset), time.perf_counter() - started)


def main() -> None:
    """Read the options, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", default="aut")
    parser.add_argument("--methods", default="tri,cli")
    parser.add_argument("--oracle", default="published", help="published, or a preset")
    parser.add_argument("--profile", default="text", choices=("text", "published"))
    options = parser.parse_args()
    dataset = load_dataset(options.dataset)
    if options.oracle == "published":
        oracle = published_oracle(dataset)
    else:
        oracle = fit_oracle(dataset, preset=options.oracle)
    print(f"{options.dataset}, oracle {options.oracle}, methods as in the {options.profile}\n")
    print(HEADER)
    for method in options.methods.split(","):
        print(run(dataset, oracle, method, options.profile).row(), flush=True)


if __name__ == "__main__":
    main()
