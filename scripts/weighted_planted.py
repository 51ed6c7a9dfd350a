"""How often a classifier of weights is explained by the pair of regions that was planted.

For every control of made-up cohorts (`make_synthetic(weights=True)`): logistic regression on the
weights, `auto`, one line per cohort. Run: python scripts/weighted_planted.py [seeds]
"""

from __future__ import annotations

import statistics
import sys

from denseflip import describe, evaluate, explain
from denseflip.classifiers.weighted_features import fit_weighted
from denseflip.datasets import make_synthetic


def main(seeds: int) -> None:
    """Print how many controls are told by the planted pair alone, true as read."""
    for seed in range(seeds):
        data = make_synthetic(weights=True, seed=seed)
        oracle = fit_weighted(data)
        judged = evaluate(data, oracle, repeats=2, permutations=19)
        planted = set(data.attributes["planted"]["regions"])
        alone, true, before, after = 0, 0, [], []
        controls = [example for example in data if example.label == 0]
        for example in controls:
            result = explain(example.graph, oracle, nodes=data.nodes, background=data.graphs)
            story = describe(result, data.nodes, oracle, background=data.graphs)
            named = [set(names) for names in story.claim.region_sets]
            alone += named == [planted]
            true += named == [planted] and bool(story.true_as_read)
            before += [entry[2] for entry in result.weights]
            after += [entry[3] for entry in result.weights]
        sys.stdout.write(
            f"seed {seed}: held-out accuracy {judged.accuracy:.2f}; the planted pair named alone "
            f"{alone} of {len(controls)}, true as read {true}; weights at the edits "
            f"{statistics.median(before):.2f} → {statistics.median(after):.2f} on the median\n"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
