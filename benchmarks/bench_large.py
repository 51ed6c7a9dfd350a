"""Large sparse graphs: a step must not grow with the graph, a set-up about as fast as the graph.

Random graphs with 1,000, 10,000 and 100,000 nodes and ten edges a node. The oracle notes when it is
asked, so that one run tells the set-up (from the call of `explain` to the question after the first
step) from the steps behind it. `con` is given four background graphs of the same size; *kept* is
its set-up for the next graph explained with the same `Background`.

Then `auto` explains networks of modules (`modules.py`) of 1,000 to 100,000 nodes, 6.5 edges a node,
with 24 background graphs, each in a process of its own: its time without the oracle, its peak
memory, and whether its answer is told in regions and in range.

Then `tri` runs on the largest graph until the label changes, after 1,000 iterations (`--quick`: on
10,000 nodes): it must find that, in memory that grows with the edges.

Run it with ``python benchmarks/bench_large.py [--quick] [--before CHECKOUT]``.
"""

from __future__ import annotations

import json
import math
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array

from denseflip import Background, Counterfactual, Graph, describe, explain, make_method
from measuring import Figures, Line, main
from modules import EDGES_PER_NODE as MODULE_EDGES
from modules import CountingOracle, module_cohort, module_nodes

SIZES, EDGES_PER_NODE = (1_000, 10_000, 100_000), 10
STEPS, ITERATIONS = 500, 1_000
STEPPED, SET_UP = ("tri", "edg"), ("tri", "edg", "cli", "con", "con kept")
LIMIT = 2.0  # GiB
TOLD = (1_000, 3_000, 10_000, 20_000, 100_000)  # nodes of the networks that are told
OWN_SECONDS = {20_000: 10.0, 100_000: 90.0}
TOLD_MEMORY, EXPONENT = 1.0, 1.15  # GiB at 20,000 nodes; of the time against the edges


def random_graph(n_nodes: int, seed: int = 0) -> Graph:
    """A graph with exactly ten edges a node, without ever listing all pairs."""
    rng, n_edges = np.random.default_rng(seed), EDGES_PER_NODE * n_nodes
    codes = np.empty(0, dtype=np.int64)
    while len(codes) < n_edges:
        u, v = rng.integers(n_nodes, size=(2, n_edges))
        low, high = np.minimum(u, v), np.maximum(u, v)
        codes = np.union1d(codes, (low * n_nodes + high)[low != high])
    u, v = np.divmod(rng.permutation(codes)[:n_edges], n_nodes)
    both = np.concatenate((u, v)), np.concatenate((v, u))
    return Graph.from_sparse(coo_array((np.ones(2 * n_edges), both), (n_nodes, n_nodes)))


class Clock:
    """An oracle that answers at once and notes when it was asked, about how many graphs.

    All graphs have label 0, but for those of the background that are named as of another class.
    """

    def __init__(self, others: Iterable[Graph] = ()) -> None:
        self.others = {id(graph) for graph in others}
        self.asked: list[tuple[float, int]] = []

    def predict(self, graphs: Sequence[Graph]) -> list[int]:
        """Labels of the graphs."""
        self.asked.append((time.process_time(), len(graphs)))
        return [int(id(graph) in self.others) for graph in graphs]


def timed(graph: Graph, method: str, n_steps: int, background: Background) -> tuple[float, float]:
    """Seconds of the set-up and of one step (infinite if there is only one)."""
    clock = Clock(background.graphs[2:])
    start = time.process_time()
    steps = {} if method == "con" else {"max_iterations": n_steps}  # `con` gallops: few queries
    limited = make_method(method, **steps)
    result = explain(graph, clock, limited, background=background)
    # The last questions are the search's; the original's and the background's come before them.
    asked, left = list(clock.asked), result.calls - 1
    while left > 0 and asked[-1][1] <= left:
        left -= asked.pop()[1]
    walked = clock.asked[len(asked) :]
    first, last = walked[0][0], walked[-1][0]
    made = sum(n for _, n in walked[1:])
    return first - start, (last - first) / made if made else math.inf


def flip_at(graph: Graph, iteration: int) -> tuple[int, int]:
    """The edge that `tri` removes in this iteration."""
    walked = explain(graph, Clock(), make_method("tri", max_iterations=iteration))
    last = [step for step in walked.trace if step.iteration == iteration]
    return next(pair for step in last for pair in step.toggled if graph.has_edge(*pair))


class HasPair:
    """An oracle that answers whether a graph still has one pair."""

    def __init__(self, pair: tuple[int, int]) -> None:
        self.pair = pair

    def predict(self, graphs: Sequence[Graph]) -> list[int]:
        """1 while the pair is joined, else 0."""
        return [int(graph.has_edge(*self.pair)) for graph in graphs]


def search(graph: Graph) -> tuple[Counterfactual, float]:
    """`tri` up to the flip, and the seconds of it."""
    oracle = HasPair(flip_at(graph, ITERATIONS))
    start = time.process_time()
    result = explain(graph, oracle, "tri")
    return result, time.process_time() - start


def peak() -> float:
    """Largest resident memory of this process so far, in GiB.

    On Linux from /proc: `getrusage` starts a new process at the peak of the one that started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        kib = re.search(r"VmHWM:\s+(\d+)", status.read_text(encoding="ascii", errors="replace"))
        if kib is not None:
            return int(kib[1]) / 2**20
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (2**30 if sys.platform == "darwin" else 2**20)


def tell(n_nodes: int) -> Figures:
    """`auto` and the sentence of one network, without the time of the oracle."""
    first, *others = module_cohort(n_nodes)
    nodes, oracle, background = module_nodes(n_nodes), CountingOracle(n_nodes), Background(others)
    start = time.process_time()
    result = explain(first, oracle, nodes=nodes, background=background)
    story = describe(result, nodes, oracle, background=background) if result.found else None
    seconds = time.process_time() - start - oracle.seconds
    told = story is not None and story.claim.language == "regions" and bool(story.in_range)
    return {"own": seconds, "told": float(told), "memory": peak(), "calls": float(result.calls)}


def tell_apart(n_nodes: int) -> Figures:
    """The same in a process of its own, so that its peak of memory is that of this network."""
    command = [sys.executable, __file__, "--tell", str(n_nodes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def measure(quick: bool) -> Figures:
    """Set-ups and steps at every size, sentences, then the search on the largest graph."""
    sizes = SIZES[:2] if quick else SIZES
    figures: Figures = {}
    largest = random_graph(sizes[-1])
    result, figures["search"] = search(largest)
    figures["found"] = float(result.found and result.iterations == ITERATIONS)
    figures["peak"] = peak()
    for n in sizes:
        graph = random_graph(n)
        graphs = [random_graph(n, seed) for seed in range(1, 5)]
        kept = Background(graphs)
        timed(graph, "con", 1, kept)
        for turn in range(5 if n < SIZES[-1] else 2):
            for place, name in enumerate(SET_UP):
                # A pair apart each time: what an earlier search counted must not be at hand.
                graph = graph.toggle([(turn, n - 1 - place)])
                graph = Graph.from_edges(n, graph.pairs)
                method = name.split()[0]
                background = kept if name == "con kept" else Background(graphs)
                steps = STEPS if name in STEPPED else 1
                set_up, step = timed(graph, method, steps, background)
                for what, value in ((f"{name} set-up {n}", set_up), (f"{name} step {n}", step)):
                    figures[what] = min(value, figures.get(what, math.inf))
    for n in TOLD[:3] if quick else TOLD:
        figures |= {f"auto {what} {n}": value for what, value in tell_apart(n).items()}
    return figures


def told_lines(figures: Figures) -> list[Line]:
    """What `auto` takes at every size, and how its time grows with the edges."""
    sizes = [n for n in TOLD if f"auto own {n}" in figures]
    out = []
    for n in sizes:
        most = OWN_SECONDS.get(n)
        out += [
            Line(f"auto, own time at {n:,} nodes", figures[f"auto own {n}"], "s", at_most=most),
            Line(
                f"auto, peak memory at {n:,} nodes",
                figures[f"auto memory {n}"],
                "GiB",
                at_most=TOLD_MEMORY if n <= 20_000 else None,
            ),
            Line(
                f"told in regions and in range at {n:,} nodes (1: yes)",
                figures[f"auto told {n}"],
                at_least=1,
                must=True,
            ),
        ]
    if len(sizes) > 1:
        edges = [math.log(MODULE_EDGES * n) for n in sizes]
        times = [math.log(figures[f"auto own {n}"]) for n in sizes]
        slope = float(np.polyfit(edges, times, 1)[0])
        out.append(Line("auto, exponent of time against edges", slope, at_most=EXPONENT))
    return out


def lines(figures: Figures) -> list[Line]:
    """Times at every size, and how they grow."""
    sizes = [n for n in SIZES if f"tri step {n}" in figures]
    out = []
    for name in STEPPED:
        steps = {n: 1e6 * figures[f"{name} step {n}"] for n in sizes}
        out += [Line(f"{name}, step at {n:,} nodes", steps[n], "µs") for n in sizes]
        growth = f"{name}, step at {sizes[-1]:,} / at {sizes[0]:,}"
        out.append(Line(growth, steps[sizes[-1]] / steps[sizes[0]], "×", at_most=2))
    for name in SET_UP:
        times = {n: 1e3 * figures[f"{name} set-up {n}"] for n in sizes}
        out.append(Line(f"{name}, set-up at {sizes[-1]:,} nodes", times[sizes[-1]], "ms"))
        for a, b in pairwise(sizes):
            out.append(Line(f"{name}, set-up at {b:,} / at {a:,}", times[b] / times[a], "×"))
    n = sizes[-1]
    return [
        *out,
        *told_lines(figures),
        Line(f"tri up to a flip after {ITERATIONS:,} iterations at {n:,}", figures["search"], "s"),
        Line("that flip found (1: yes)", figures["found"], at_least=1, must=True),
        Line("peak memory of it", figures["peak"], "GiB", at_most=LIMIT, must=True),
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--tell"]:
        print(json.dumps(tell(int(sys.argv[2]))))
        sys.exit()
    sys.exit(main(__doc__, measure, lines))
