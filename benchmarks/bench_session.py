"""How a search queries its oracle: graphs evaluated per query, and number of calls.

Four things, each as a ratio:

- *evaluated / asked* over AUT with spectral classifiers, the paper's and our own: what looking
  ahead costs. The graphs that are asked about once more at the end, to see that the oracle is
  steady, are part of it; the line below is without them.
- *total / oracle time* of the same runs: what everything but the oracle costs.
- *calls / questions* of refinement on the mice with a linear classifier: how well it is batched.
- *looking ahead / one by one* with made-up oracles that spend a stated amount of work: one that is
  slower in batches than alone, as small graph networks can be, one that costs the same either way,
  and one with a fixed cost per call. Looking ahead may never change a result.

Run it with ``python benchmarks/bench_session.py [--quick] [--before CHECKOUT]``.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from denseflip import Background, Graph, explain, fit_oracle, load_dataset, make_method
from measuring import Figures, Line, autism, least, main, published

SPECTRAL = ("published", "sf-knn")
WASTE = {"tri": 1.10, "cli": 1.20}  # evaluated / asked
OVERHEAD = {"tri": 1.08, "cli": 1.20}  # total / oracle time
REFINED = ("con+min", "dat+bw")
CALLS = 1 / 8  # calls of the oracle per question


# ---- what is evaluated ----------------------------------------------------------------------


@dataclass(eq=False)  # an oracle that can be told from others: a session remembers its pace
class Watched:
    """An oracle, with a count of its calls and graphs and of the time it takes.

    It offers `predict_edits` exactly if the oracle does: see `watch`. The probabilities
    that a result reports are time of the oracle too.
    """

    inner: Any
    calls: int = 0
    evaluated: int = 0
    seconds: float = 0.0

    def predict(self, graphs: Sequence[Graph]) -> Any:
        """Labels of the graphs."""
        return self._timed(len(graphs), self.inner.predict, graphs)

    def __getattr__(self, name: str) -> Any:
        if name in {"predict_edits", "inner"}:
            raise AttributeError(name)
        given = getattr(self.inner, name)
        if name == "predict_proba":
            return lambda graphs: self._timed(0, given, graphs)
        return given

    def _timed(self, n: int, ask: Callable[..., Any], *given: Any) -> Any:
        start = time.process_time()
        answers = ask(*given)
        self.seconds += time.process_time() - start
        self.calls += 1
        self.evaluated += n
        return answers


class WatchedEdits(Watched):
    """The same for an oracle that answers from edits."""

    def predict_edits(self, base: Graph, edits: Sequence[Any]) -> Any:
        """Labels of the base graph after each of the edits."""
        return self._timed(len(edits), self.inner.predict_edits, base, edits)


def watch(oracle: Any) -> Watched:
    """The oracle with its counts."""
    return (WatchedEdits if hasattr(oracle, "predict_edits") else Watched)(oracle)


class Repeats:
    """Counts the graphs that an oracle is given more than once in one search."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.seen: Counter[bytes] = Counter()

    def predict(self, graphs: Sequence[Graph]) -> Any:
        """Labels of the graphs."""
        self.seen.update(graph.digest for graph in graphs)
        return self.inner.predict(graphs)

    @property
    def again(self) -> int:
        """Evaluations beyond the first of each graph."""
        return sum(self.seen.values()) - len(self.seen)


def look_ahead(quick: bool) -> Figures:
    """Counts and times of `tri` and `cli` over AUT."""
    dataset = autism()
    graphs = dataset.graphs[:: 8 if quick else 1]
    oracles = {
        name: published()[1](dataset) if name == "published" else fit_oracle(dataset, preset=name)
        for name in SPECTRAL
    }
    figures: Figures = {}
    for name, oracle in oracles.items():
        for method in WASTE:
            watched, asked, again = watch(oracle), 0, 0
            start = time.process_time()
            for graph in graphs:
                asked += explain(graph, watched, method).calls
            total = time.process_time() - start
            for graph in graphs:
                repeats = Repeats(oracle)
                explain(graph, repeats, method)
                again += repeats.again
            figures |= {
                f"{method} {name} asked": asked,
                f"{method} {name} evaluated": watched.evaluated,
                f"{method} {name} again": again,
                f"{method} {name} total": total,
                f"{method} {name} oracle": watched.seconds,
            }
    return figures


def refinement(quick: bool) -> Figures:
    """Counts and times of refined methods on the mice."""
    mice = load_dataset("mice")
    oracle = fit_oracle(mice, preset="edges-svm")
    figures: Figures = {}
    for method in REFINED:
        watched, asked = watch(oracle), 0
        background = Background(mice.graphs)
        start = time.process_time()
        for graph in mice.graphs[:: 8 if quick else 2]:
            asked += explain(graph, watched, method, background=background).calls
        figures |= {
            f"{method} total": time.process_time() - start,
            f"{method} oracle": watched.seconds,
            f"{method} asked": asked,
            f"{method} calls": watched.calls,
            f"{method} evaluated": watched.evaluated,
        }
    return figures


# ---- oracles that like batches, and those that do not ---------------------------------------


@dataclass(eq=False)  # an oracle that can be told from others: a session remembers its pace
class Working:
    """An oracle that spends work as stated, in terms of a long sum, and sees one pair.

    Attributes
    ----------
    per_call : terms for every call.
    alone, together : terms for a graph that comes alone, and for each of several.
    pair : the label is 1 while these nodes are joined.
    sizes : how many graphs came in each call.
    """

    per_call: int
    alone: int
    together: int
    pair: tuple[int, int] = (0, 1)
    sizes: list[int] = field(default_factory=list)

    def predict(self, graphs: Sequence[Graph]) -> list[int]:
        """Labels of the graphs, after the work."""
        n = len(graphs)
        self.sizes.append(n)
        sum(range(self.per_call))
        for _ in graphs:
            sum(range(self.alone if n == 1 else self.together))
        return [int(graph.has_edge(*self.pair)) for graph in graphs]


KINDS = {
    "slower in batches": (0, 10_000, 16_000),
    "the same in batches": (0, 10_000, 10_000),
    "quicker in batches": (50_000, 1_000, 1_000),
}
FLIP_AT = 300


def made_up(quick: bool) -> Figures:
    """Time of whole searches, looking ahead and one by one, and the sizes of the calls."""
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(116, k=1)
    chosen = rng.choice(len(u), 667, replace=False)
    graph = Graph.from_edges(116, np.stack((u[chosen], v[chosen]), axis=1))
    walked = explain(graph, Working(0, 0, 0), make_method("tri", max_iterations=FLIP_AT))
    last = [pair for step in walked.trace[-2:] for pair in step.toggled]
    pair = next(p for p in last[::-1] if graph.has_edge(*p))
    figures: Figures = {}
    for kind, work in KINDS.items():
        for method in ("tri", "tri+bw"):

            def run(batch: int, m: str = method, w: tuple[int, int, int] = work) -> Any:
                oracle = Working(*w, pair)  # a new one: nothing is known of its pace
                return explain(graph, oracle, m, batch=batch), oracle.sizes

            runs = {"ahead": lambda r=run: r(64), "single": lambda r=run: r(1)}
            best = least(runs, 2 if quick else 5)
            (a, sizes), (b, _) = run(64), run(1)
            same = (a.edits, a.calls, a.distinct_calls) == (b.edits, b.calls, b.distinct_calls)
            key = f"{method} {kind}"
            figures |= {f"{key} {name}": seconds for name, seconds in best.items()}
            figures[f"{key} same"] = float(same and a.found)
            figures[f"{key} calls"] = len(sizes)
            figures[f"{key} graphs"] = sum(sizes)
    return figures


# ---- all of it ------------------------------------------------------------------------------


def measure(quick: bool) -> Figures:
    """All figures."""
    return look_ahead(quick) | refinement(quick) | made_up(quick)


def lines(figures: Figures) -> list[Line]:
    """The ratios."""
    return [*_ahead_lines(figures), *_refined_lines(figures), *_made_up_lines(figures)]


def _ahead_lines(figures: Figures) -> Iterable[Line]:
    for name, method in product(SPECTRAL, WASTE):
        asked, evaluated, again, total, oracle = (
            figures[f"{method} {name} {x}"]
            for x in ("asked", "evaluated", "again", "total", "oracle")
        )
        what = f"{method}, {name}"
        yield Line(f"{what}: evaluated / asked", evaluated / asked, at_most=WASTE[method])
        yield Line(f"{what}: without the check at the end", (evaluated - again) / asked)
        yield Line(f"{what}: total / oracle time", total / oracle, at_most=OVERHEAD[method])


def _refined_lines(figures: Figures) -> Iterable[Line]:
    for method in REFINED:
        asked, calls, evaluated, total, oracle = (
            figures[f"{method} {x}"] for x in ("asked", "calls", "evaluated", "total", "oracle")
        )
        yield Line(f"{method}, edges-svm: calls / questions", calls / asked, at_most=CALLS)
        yield Line(f"{method}, edges-svm: evaluated / asked", evaluated / asked)
        yield Line(f"{method}, edges-svm: total per question", 1e6 * total / asked, "µs")
        yield Line(f"{method}, edges-svm: total / oracle time", total / oracle)


def _made_up_lines(figures: Figures) -> Iterable[Line]:
    for kind in KINDS:
        for method in ("tri", "tri+bw"):
            key = f"{method} {kind}"
            ratio = figures[f"{key} ahead"] / figures[f"{key} single"]
            limit = 1.05 if kind == "slower in batches" else None
            yield Line(f"{method}, {kind}: looking ahead / one by one", ratio, at_most=limit)
            mean = figures[f"{key} graphs"] / figures[f"{key} calls"]
            yield Line(f"{method}, {kind}: graphs per call", mean)
    same = min(value for name, value in figures.items() if name.endswith(" same"))
    yield Line("looking ahead changes no result (1: none)", same, at_least=1, must=True)


if __name__ == "__main__":
    sys.exit(main(__doc__, measure, lines))
