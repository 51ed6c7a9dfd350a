"""Gradients against labels: edits and queries of both on the same graphs and classifiers.

Classifiers: graph networks trained with a seed (`trained_networks`) on `synthetic`, `aut` and
`mice:strain`, and the linear presets. The first table has time and peak memory of a gradient over
all pairs, as ratios to one forward pass. The second compares the edits and queries of `gradient`
with those of the methods that use labels (`information="labels"`), with a budget of 2,000 queries.
The third compares the sentences of `auto` with and without gradients.

    python benchmarks/gradients.py              # 30 graphs each, some hours
    python benchmarks/gradients.py --quick      # 4 graphs each, two classifiers, two minutes
    python benchmarks/gradients.py --graphs 10 --only mice:strain --table edits
    python benchmarks/gradients.py --no-run     # the tables of what is there

Results are appended to ``--out``, one line per explanation, and networks are saved beside it. A
stopped run resumes there; ``--seconds`` stops it early.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
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
    fit_oracle,
    load_dataset,
)
from denseflip.metrics import MEASURES, Case
from denseflip.oracles.session import Session
from trained_networks import FEATURES, NETWORKS, train

BUDGET = 2000
CASES = (
    ("synthetic", "gin"),
    ("synthetic", "regions-logistic"),
    ("synthetic", "gcn"),
    ("synthetic", "edges-svm"),
    ("aut", "gin"),
    ("aut", "edges-svm"),
    ("aut", "regions-logistic"),
    ("mice:strain", "gcn"),
    ("mice:strain", "gin"),
    ("mice", "edges-svm"),
    ("mice", "regions-logistic"),
)
TABLES = {  # table → methods and what they may use
    "edits": (
        ("gradient", "auto"),
        ("tight", "labels"),
        ("race", "labels"),
        ("best", "labels"),
    ),
    "sentences": (("auto", "labels"), ("auto", "auto")),
}
EPOCHS = 30
DRAWS = 100  # fresh redraws of every sentence
Row = dict[str, Any]


class Setting:
    """A data set with a classifier that was trained on it."""

    def __init__(self, name: str, kind: str, folder: Path) -> None:
        self.data = load_dataset(name)
        self.kind = kind
        file = folder / f"{name.replace(':', '-')}-{kind}.json"
        if kind in NETWORKS:
            self.oracle, self.accuracy = self._network(file.with_suffix(".pt"))
        else:
            self.oracle = fit_oracle(self.data, kind)
            if not file.exists():
                judged = evaluate(self.data, self.oracle, folds=4, repeats=1, permutations=0)
                file.write_text(json.dumps(judged.accuracy))
            self.accuracy = json.loads(file.read_text())
        self.known = Background(self.data.graphs)

    def _network(self, file: Path) -> tuple[Any, float]:
        import torch

        names = self.data.class_names
        torch.set_num_threads(1)
        network = NETWORKS[self.kind](self.data.n_nodes, len(names)).eval()
        if not file.exists():
            trained, accuracy = train(self.data, self.kind, epochs=EPOCHS)
            torch.save({"weights": trained.state_dict(), "accuracy": accuracy}, file)
        saved = torch.load(file)
        network.load_state_dict(saved["weights"])
        return as_oracle(network, features=FEATURES, class_names=names), saved["accuracy"]

    def explained(self, i: int, method: str, information: str) -> Row:
        """One explanation of one graph."""
        options: Row = {"information": information, "budget": BUDGET}
        if method == "best":
            options["objective"] = "edits"
        started = time.process_time()
        result = explain(
            self.data.graphs[i],
            self.oracle,
            method,
            background=self.known,
            nodes=self.data.nodes,
            **options,
        )
        row = {
            "found": result.found,
            "edits": result.distance if result.found else None,
            "queries": result.calls,
            "seconds": time.process_time() - started,
        }
        told = result.as_read is not None and result.as_read.language != "pairs"
        if method != "auto" or not told:
            return row | {"told": told}
        session = Session(self.oracle)
        labels = self.known.labels(session)
        case = Case(
            result,
            regions=self.data.nodes.taxonomy(),
            background=list(zip(self.data.graphs, labels, strict=True)),
            session=session,
            draws=DRAWS,
            nodes=self.data.nodes,
        )
        known = [there.in_range for there in case.reference if there.low is not None]
        return row | {
            "told": True,
            "in_range": bool(known) and all(known),
            "as_read": MEASURES["as_read"](case),
            "places": len(result.as_read.places),
        }


def run(
    cases: Sequence[tuple[str, str]], tables: Sequence[str], graphs: int, out: Path, seconds: float
) -> None:
    """Explain what is not in the file yet."""
    done = {_key(row) for row in rows_of(out)}
    end = time.monotonic() + seconds
    for name, kind in cases:
        setting = None
        try:
            data = _data(name)
        except DenseflipError:
            print(f"{name}: not on this machine, left out")
            continue
        methods = [pair for table in tables for pair in TABLES[table]]
        for i in np.linspace(0, len(data) - 1, min(graphs, len(data))).astype(int).tolist():
            for method, information in methods:
                key = (name, kind, method, information, i)
                if key in done:
                    continue
                if time.monotonic() > end:
                    return
                setting = setting or Setting(name, kind, out.parent)
                row = dict(zip(_KEY, key, strict=True)) | {"accuracy": setting.accuracy}
                row |= setting.explained(i, method, information)
                with out.open("a") as file:
                    file.write(json.dumps(row) + "\n")


_KEY = ("data", "classifier", "method", "information", "graph")


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _KEY)


@cache
def _data(name: str) -> Dataset:
    return load_dataset(name)


def rows_of(out: Path) -> list[Row]:
    """The results so far."""
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def edits(rows: Sequence[Row]) -> Iterator[str]:
    """Edits and queries of each method, the median over the graphs."""
    yield "| data | classifier | held-out accuracy | method | found | edits | queries | s |"
    yield "|---|---|---|---|---|---|---|---|"
    for some in _grouped(rows, TABLES["edits"]):
        one = some[0]
        found = [row["edits"] for row in some if row["found"]]
        yield (
            f"| {one['data']} | {one['classifier']} | {one['accuracy']:.2f} | `{one['method']}` | "
            f"{len(found)} of {len(some)} | {_median(found)} | {_median(some, 'queries')} "
            f"| {_median(some, 'seconds')} |"
        )


def sentences(rows: Sequence[Row]) -> Iterator[str]:
    """Sentences of `auto` by labels and by gradients."""
    yield (
        "| data | classifier | uses | sentence | in range | true as read | places | edits "
        "| queries | s |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for some in _grouped(rows, TABLES["sentences"]):
        one, told = some[0], [row for row in some if row["told"]]
        uses = "labels" if one["information"] == "labels" else "gradients"
        yield (
            f"| {one['data']} | {one['classifier']} | {uses} | {len(told)} of {len(some)} | "
            f"{sum(row['in_range'] for row in told)} | {_mean(told, 'as_read')} | "
            f"{_mean(told, 'places')} | "
            f"{_median(told, 'edits')} | {_median(some, 'queries')} | {_median(some, 'seconds')} |"
        )


def _grouped(rows: Sequence[Row], methods: Sequence[tuple[str, str]]) -> Iterator[list[Row]]:
    for name, kind in CASES:
        for method, information in methods:
            wanted = (name, kind, method, information)
            some = [row for row in rows if _key(row)[:4] == wanted]
            if some:
                yield some


def _median(rows: Sequence[Any], name: str = "") -> str:
    values = [row[name] for row in rows] if name else list(rows)
    return f"{statistics.median(values):.4g}" if values else "–"


def _mean(rows: Sequence[Row], name: str) -> str:
    return f"{statistics.mean(row[name] for row in rows):.2f}" if rows else "–"


def costs(quick: bool) -> Iterator[str]:
    """Time and peak memory of a gradient over all pairs, for graphs of several sizes.

    Memory is what a call needs beyond what the process had before. So that freed memory is not
    counted as there, large blocks are returned at once (glibc on Linux).
    """
    ctypes.CDLL("libc.so.6").mallopt(_MMAP_THRESHOLD, 1 << 16)
    yield (
        "| nodes | network | passes | time / forward | memory / forward | forward (MB) "
        "| gradient (MB) |"
    )
    yield "|---|---|---|---|---|---|---|"
    for n in (116, 332) if quick else (116, 332, 1000):
        for kind in NETWORKS:
            found = cost(n, kind)
            forward, gradient = found["memory"]
            ratio = f"{gradient / forward:.1f}" if forward > 1 else "–"  # too little to measure
            yield (
                f"| {n:,} | {kind} | {found['passes']} | {found['time']:.1f} | "
                f"{ratio} | {forward:.1f} | {gradient:.1f} |"
            )


_MMAP_THRESHOLD = -3  # the number of an option in malloc.h


def cost(n: int, kind: str) -> Row:
    """Passes, time as a ratio to a forward pass, and peak memory (MB) of both, of one network."""
    import torch

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < 0.1
    graph = Graph.from_edges(n, np.stack((u[kept], v[kept]), axis=1))
    small = Graph.from_edges(n, [(0, 1)])
    torch.manual_seed(0)
    oracle = as_oracle(NETWORKS[kind](n, 2).eval(), features=FEATURES)
    (label,) = oracle.predict([small])  # loads what a first call loads
    oracle.gradient(small, label)
    oracle._as_matrix = False  # a forward pass as the module was written
    runs = {"forward": lambda: oracle._run([graph]), "gradient": lambda: oracle.gradient(graph, 0)}
    peaks = []
    for run in runs.values():
        before = _memory("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
        run()
        peaks.append(_memory("VmHWM") - before)
    times = {name: [] for name in runs}
    for _ in range(3):
        for name, run in runs.items():
            started = time.process_time()
            run()
            times[name].append(time.process_time() - started)
    passes = oracle.gradient(graph, 0).passes
    return {
        "passes": passes,
        "time": min(times["gradient"]) / min(times["forward"]),
        "memory": peaks,
    }


def _memory(name: str) -> float:
    """A line of the status of this process, in MB (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--graphs", type=int, default=30, help="graphs per classifier")
    parser.add_argument("--only", default="", help="a data set, a classifier, or aut@gin")
    parser.add_argument("--table", choices=("costs", *TABLES), action="append")
    parser.add_argument("--out", type=Path, default=Path("runs/gradients/results.jsonl"))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--no-run", action="store_true", help="only print the tables")
    given = parser.parse_args()
    tables = given.table or ["costs", *TABLES]
    given.out.parent.mkdir(parents=True, exist_ok=True)
    if not given.no_run:
        cases = [case for case in CASES if given.only in (*case, "@".join(case), "")]
        if given.quick:
            cases, given.graphs = cases[:2], 4
        names = [name for name in tables if name in TABLES]
        run(cases, names, given.graphs, given.out, given.seconds)
    rows = rows_of(given.out)
    for name in tables:
        lines = {"edits": edits, "sentences": sentences}[name](rows) if name in TABLES else ()
        for line in costs(given.quick) if name == "costs" else lines:
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
