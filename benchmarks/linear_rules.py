"""How close do searches come to the fewest edits, where these are known?

Makes linear rules over the AUT graphs: a weight per pair, and the label says on which side of a
threshold the sum over the joined pairs lies. The fewest edits that flip such a rule are found by
taking the largest gains first. Figures of a run are in ``docs/linear-rules.md``. Run from the root
of the repository::

    python benchmarks/linear_rules.py                        # every family, every method
    python benchmarks/linear_rules.py --quick                # two graphs per rule
    python benchmarks/linear_rules.py --methods tight,tight-p --families normal --seeds 1,2
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip import Graph, Nodes, explain, load_dataset, make_method
from denseflip.oracles.background import Background

Floats = npt.NDArray[np.float64]
SEEDS = (0, 1, 2, 3)  # `tight` was made with these in view; others are news to it
OLD = "tri+min,cli+min,con,con+min,obs+min,dbs+min,dat+bw,dat+min,blocks+min,edg+min"
METHODS = f"tight,tight-p,{OLD}"
NOUGHT = 1e-9  # a sum no further from the threshold lies on it, and is of class 0
STEEPNESS = 2.0  # standard deviation of the log-odds over the data set


class LinearRule:
    """Class 1 where the weights of the joined pairs sum to more than the threshold.

    Parameters
    ----------
    weights : one weight per pair (u, v), at ``u * n_nodes + v`` with u < v.
    threshold : the sum that has to be passed.
    scale : what one unit of the sum is in log-odds.
    """

    classes = (0, 1)

    def __init__(self, weights: Floats, threshold: float, scale: float) -> None:
        self.weights = weights
        self.threshold = threshold
        self.scale = scale

    def scores(self, graphs: Sequence[Graph]) -> Floats:
        """How far each graph lies above the threshold."""
        scores = np.array([self.weights[g.codes].sum() for g in graphs]) - self.threshold
        scores[np.abs(scores) < NOUGHT] = 0.0  # rounding must not decide
        return scores

    def predict(self, graphs: Sequence[Graph]) -> list[int]:
        """The side that each graph is on."""
        return [int(s > 0) for s in self.scores(graphs)]

    def predict_proba(self, graphs: Sequence[Graph]) -> Floats:
        """The logistic function of the score."""
        odds = self.scale * self.scores(graphs)
        return np.stack([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))], axis=1)

    def optimum(self, graph: Graph) -> int:
        """The fewest edits that take the graph to the other side."""
        score = float(self.scores([graph])[0])
        joined = np.zeros(len(self.weights), dtype=bool)
        joined[graph.codes] = True
        gains = np.where(joined, -self.weights, self.weights) * (1 if score <= 0 else -1)
        reach = np.cumsum(np.sort(gains[gains > 0])[::-1]) - abs(score)
        # Class 1 is above the threshold, class 0 at it or below: rounding must not decide.
        enough = reach > NOUGHT if score <= 0 else reach >= -NOUGHT
        return int(np.argmax(enough)) + 1 if enough.any() else 0


def two_blocks(nodes: Nodes, rng: np.random.Generator) -> Floats:
    """Two cells of the taxonomy; inside a cell every pair weighs the same."""
    n, lobes = len(nodes.names), nodes.taxonomy("lobe")
    weights = np.zeros((n, n))
    for weight in rng.normal(size=2):
        a, b = rng.integers(len(lobes.regions), size=2)
        inside = np.ix_(lobes.members(int(a)), lobes.members(int(b)))
        weights[inside] += weight
        if a != b:
            weights.T[inside] += weight
    return np.triu(weights, 1).ravel()


def some_pairs(nodes: Nodes, rng: np.random.Generator) -> Floats:
    """400 random pairs with normal weights."""
    weights = np.zeros(len(nodes.names) ** 2)
    u, v = np.triu_indices(len(nodes.names), 1)
    chosen = rng.choice(len(u), 400, replace=False)
    weights[(u * len(nodes.names) + v)[chosen]] = rng.normal(size=400)
    return weights


def every_pair(nodes: Nodes, rng: np.random.Generator) -> Floats:
    """A normal weight for every pair."""
    n = len(nodes.names)
    return np.triu(rng.normal(size=(n, n)), 1).ravel()


FAMILIES: dict[str, Callable[[Nodes, np.random.Generator], Floats]] = {
    "blocks": two_blocks,
    "sparse": some_pairs,
    "normal": every_pair,
}


def make_rule(family: str, seed: int, graphs: Sequence[Graph], nodes: Nodes) -> LinearRule:
    """A rule of this family that splits the graphs in two halves."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(family)])
    weights = FAMILIES[family](nodes, rng)
    rule = LinearRule(weights, 0.0, 1.0)
    scores = np.sort(rule.scores(graphs))
    middle = len(scores) // 2
    # Between two graphs, as near to the middle as there is a gap: none lies on the threshold.
    gaps = [i for i in range(1, len(scores)) if scores[i] - scores[i - 1] > 1e-9]
    at = min(gaps, key=lambda i: abs(i - middle))
    rule.threshold = float(scores[at - 1] + scores[at]) / 2
    rule.scale = STEEPNESS / float(scores.std())
    return rule


@dataclass(frozen=True)
class Figures:
    """What one method did on the rules of one family."""

    family: str
    method: str
    n_graphs: int
    ratios: Floats
    questions: Floats
    seconds: float

    def row(self) -> str:
        """A line of a Markdown table."""
        found = len(self.ratios)
        if not found:
            return f"| {self.family} | `{self.method}` | – | – | – | – | 0 of {self.n_graphs} |"
        return (
            f"| {self.family} | `{self.method}` | {self.ratios.mean():.3f} "
            f"| {100 * (self.ratios <= 1).mean():.0f} % | {np.median(self.questions):.0f} "
            f"| {self.questions.max():.0f} | {found} of {self.n_graphs} "
            f"| {self.seconds / self.n_graphs:.2f} |"
        )


HEADER = (
    "| rule | method | edits, × optimum (mean) | optimal | questions (median) | (most) | found "
    "| seconds |\n" + 8 * "|---" + "|"
)


def run(
    family: str, name: str, seeds: Sequence[int], n_graphs: int, *, regions: bool, **parameters: Any
) -> Figures:
    """Explain some graphs under the rules of these seeds."""
    data = load_dataset("aut")
    guided = name == "tight-p"
    ratios, questions = [], []
    method = make_method(
        "tight" if guided else name, **parameters, **({"guided": True} if guided else {})
    )
    needs_regions = "regions" in method.needs
    started = time.perf_counter()
    for seed in seeds:
        rule = make_rule(family, seed, data.graphs, data.nodes)
        background = Background(data.graphs)
        chosen = np.random.default_rng(seed).permutation(len(data.graphs))[:n_graphs]
        for i in chosen:
            graph = data.graphs[i]
            result = explain(
                graph,
                rule,
                method,
                nodes=data.nodes if regions or needs_regions else None,
                background=background,
                seed=seed,
            )
            asked = result.calls - (len(background) if name.startswith("dat") else 0)
            if result.found:
                ratios.append(result.distance / rule.optimum(graph))
                questions.append(asked)
    seconds = time.perf_counter() - started
    n = len(seeds) * len(chosen)
    return Figures(family, name, n, np.array(ratios), np.array(questions, dtype=float), seconds)


def main() -> None:
    """Read the options, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--graphs", type=int, default=17, help="graphs per rule")
    parser.add_argument("--questions", type=int, help="how many `tight` may ask")
    parser.add_argument("--regions", action="store_true", help="let every method see the regions")
    parser.add_argument("--quick", action="store_true", help="one rule, two graphs")
    options = parser.parse_args()
    seeds = [int(s) for s in options.seeds.split(",")]
    n_graphs = options.graphs
    if options.quick:
        seeds, n_graphs = seeds[:1], 2
    print(f"aut, rules of the seeds {seeds}, {n_graphs} graphs each\n\n{HEADER}")
    for family in options.families.split(","):
        for name in options.methods.split(","):
            limited = options.questions and name in ("tight", "tight-p")
            parameters = {"questions": options.questions} if limited else {}
            figures = run(family, name, seeds, n_graphs, regions=options.regions, **parameters)
            print(figures.row(), flush=True)


if __name__ == "__main__":
    main()
