"""Every label of every walk: single against double precision of the spectral classifiers.

The paper's classifier with the published profile of `tri`, `cli` and `edg`, and sf-knn with the
plain methods, over all data sets that are on this machine. Every graph that a search evaluates is
labelled in both ways. *unsure* are those that single precision leaves to double precision; *error*
is the largest distance of its features (of every tenth graph) as a share of `error_of`, the bound
that makes a label certain.

Run it with ``python benchmarks/same_labels.py [--every N] [DATA ...]``; it ends with 1 if a label
differs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from denseflip import DenseflipError, Graph, explain, fit_oracle, load_dataset
from denseflip.classifiers.quick_labels import QuickLabels, error_of
from measuring import published, table

DATA = ("aut", "bip", "adhd", "adhdm", "ohsu", "pek", "kki")
METHODS = ("tri", "cli", "edg")


class Both:
    """An oracle that answers in double precision and compares."""

    def __init__(self, oracle: Any) -> None:
        self.oracle, self.quick = oracle, QuickLabels(oracle.features, oracle.head)
        self.labels = self.unsure = self.wrong = 0
        self.error = 0.0

    def predict(self, graphs: Sequence[Graph]) -> list[int]:
        """Labels of the graphs."""
        rows = self.oracle.features.transform(graphs)
        exact = self.oracle.head.predict(rows).tolist()
        for graph, row, position in zip(graphs, rows, exact, strict=True):
            found = self.quick.position(graph)
            self.unsure += found is None
            self.wrong += found is not None and found != position
            if self.labels % 10 == 0 and (near := self.quick.row(graph)) is not None:
                far = float(np.linalg.norm(near - row)) / error_of(graph.n_nodes)
                self.error = max(self.error, far)
            self.labels += 1
        return [self.oracle.classes[i] for i in exact]


def main() -> int:
    """Compare, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", nargs="*", default=DATA)
    parser.add_argument("--every", type=int, default=1, help="take one graph of this many")
    options = parser.parse_args()
    published_method, published_oracle = published()
    rows, wrong = [], 0
    for name in options.data:
        try:
            dataset = load_dataset(name)
        except DenseflipError as error:
            print(f"{name}: {error}")
            continue
        for kind in ("published", "sf-knn"):
            ours = kind == "sf-knn"
            oracle = fit_oracle(dataset, preset=kind) if ours else published_oracle(dataset)
            for method in METHODS:
                both = Both(oracle)
                for graph in dataset.graphs[:: options.every]:
                    explain(graph, both, method if ours else published_method(method))
                wrong += both.wrong
                share = f"{both.unsure / both.labels:.3f}"
                cells = (name, kind, method, both.labels, share, f"{both.error:.2f}", both.wrong)
                rows.append(cells)
                print(*cells, file=sys.stderr, flush=True)
    heads = ("data", "classifier", "method", "labels", "unsure", "error", "wrong")
    print(table(heads, [tuple(map(str, row)) for row in rows]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
