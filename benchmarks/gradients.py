"""Gradients against labels: edits and queries of both on the same graphs and classifiers.

Classifiers: graph networks trained with a seed (`trained_networks`) on `synthetic`, `aut` and
`mice:strain`, and the linear presets. For each, the median of the edits and of the queries of
`gradient` and of the methods that use labels (`information="labels"`), with a budget of 2,000
queries. Then time and peak memory of a gradient over all pairs, as ratios to one forward pass.

    python benchmarks/gradients.py            # 30 graphs each, about an hour
    python benchmarks/gradients.py --quick    # 4 graphs each, two classifiers, two minutes
    python benchmarks/gradients.py --graphs 10 --only mice:strain
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from denseflip import (
    Background,
    Dataset,
    DenseflipError,
    Graph,
    as_oracle,
    evaluate,
    explain,
    load_dataset,
)
from denseflip.classifiers.presets import fit_oracle
from trained_networks import FEATURES, NETWORKS, train

BUDGET = 2000
CASES = (
    ("synthetic", "gin"),
    ("synthetic", "regions-logistic"),
    ("synthetic", "gcn"),
    ("synthetic", "edges-svm"),
    ("aut", "gin"),
    ("aut", "edges-svm"),
    ("mice:strain", "gcn"),
    ("mice:strain", "gin"),
    ("mice", "edges-svm"),
    ("mice", "regions-logistic"),
)
METHODS = (
    ("gradient", "auto"),
    ("gradient+min", "auto"),
    ("tight", "labels"),
    ("race", "labels"),
    ("best", "labels"),
)
EPOCHS = 30


def classifier(data: Dataset, kind: str) -> tuple[Any, str]:
    """An oracle, and its accuracy on held-out graphs in words."""
    if kind not in NETWORKS:
        oracle = fit_oracle(data, kind)
        judged = evaluate(data, oracle, folds=4, repeats=1, permutations=0)
        return oracle, f"{judged.accuracy:.2f}"
    network, accuracy = train(data, kind, epochs=EPOCHS)
    oracle = as_oracle(network, features=FEATURES, class_names=data.class_names)
    return oracle, f"{accuracy:.2f}"


def compared(quick: bool, graphs: int, only: str) -> Iterator[str]:
    """One line of the table per classifier and method."""
    yield "| data | classifier | held-out accuracy | method | found | edits | queries | s |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, kind in CASES[:2] if quick else CASES:
        if only not in (name, kind, ""):
            continue
        try:
            data = load_dataset(name)
        except DenseflipError:
            continue  # the data set is not on this machine
        oracle, accuracy = classifier(data, kind)
        known = Background(data.graphs)
        n = min(4 if quick else graphs, len(data))
        chosen = np.linspace(0, len(data) - 1, n).astype(int)
        for method, information in METHODS:
            started, found = time.process_time(), []
            options: dict[str, Any] = {"information": information, "budget": BUDGET}
            if method == "best":
                options["objective"] = "edits"
            for i in chosen:
                given = {"background": known, "nodes": data.nodes}
                found.append(explain(data.graphs[i], oracle, method, **given, **options))
            edits = [result.distance for result in found if result.found]
            middle = statistics.median(edits) if edits else float("nan")
            calls = statistics.median(result.calls for result in found)
            seconds = (time.process_time() - started) / n
            yield (
                f"| {name} | {kind} | {accuracy} | `{method}` | {len(edits)} of {n} | {middle:g} "
                f"| {calls:g} | {seconds:.2f} |"
            )


def costs(quick: bool) -> Iterator[str]:
    """Time and memory of a gradient over all pairs, for graphs of several sizes."""
    import torch

    yield "| nodes | network | passes | gradient / forward | peak memory (MB) |"
    yield "|---|---|---|---|---|"
    for n in (116, 332) if quick else (116, 332, 1000):
        rng = np.random.default_rng(0)
        u, v = np.triu_indices(n, 1)
        kept = rng.random(len(u)) < 0.1
        graph = Graph.from_edges(n, np.stack((u[kept], v[kept]), axis=1))
        for kind, make in NETWORKS.items():
            torch.manual_seed(0)
            oracle = as_oracle(make(n, 2).eval(), features=FEATURES)
            (label,) = oracle.predict([graph])
            passes = oracle.gradient(graph, label).passes
            times = {"gradient": [], "forward": []}
            for _ in range(3):
                for what in times:
                    started = time.process_time()
                    if what == "gradient":
                        oracle.gradient(graph, label)
                    else:
                        oracle.scores([graph])
                    times[what].append(time.process_time() - started)
            ratio = min(times["gradient"]) / min(times["forward"])
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            yield f"| {n:,} | {kind} | {passes} | {ratio:.1f} | {peak:.0f} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--graphs", type=int, default=30, help="graphs per classifier")
    parser.add_argument("--only", default="", help="a data set or a kind of classifier")
    given = parser.parse_args()
    for part in (costs(given.quick), compared(given.quick, given.graphs, given.only)):
        for line in part:
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
