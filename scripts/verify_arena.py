"""Verify a folder of `denseflip arena` without any of its measures.

Every answer of ``trials.jsonl`` is checked again, and every table is computed again from the
checked values:

- Labels are asked of the frozen classifiers. The networks are evaluated here, in NumPy, from their
  weights; the other classifiers are opened with denseflip.
- Edit distances are the sizes of set differences of edge lists.
- Fidelity, stability to retraining, the places of sentences and where they end in comparison with
  real graphs are computed here.
- Sentences are redrawn and answers perturbed with other random numbers. Two tests of 20 draws may
  differ by chance; a difference of more than 0.65 counts as an error, and the script prints how
  often the verdicts agree.

    python scripts/verify_arena.py denseflip-arena
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import math
import statistics
import sys
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from denseflip import Graph, load_dataset
from denseflip.classifiers.persist import load_oracle

DRAWS, CHANCE = 20, 0.65
SIDES = ("in range", "between", "beyond")
TRUST = ("true as read", "in range", "stable to noise", "stable to retraining")


# ---- classifiers ----------------------------------------------------------------------------


class Network:
    """The forward pass of the two networks, from their weights."""

    def __init__(self, path: Path) -> None:
        self.w = dict(np.load(path, allow_pickle=False))
        self.kind = str(self.w["kind"])

    def label(self, adjacency) -> int:
        """The class with the highest score; node features are the rows of the adjacency array."""
        w, x = self.w, adjacency
        if self.kind == "gcn":
            loops = adjacency + np.eye(len(adjacency))
            root = 1 / np.sqrt(loops.sum(axis=1))
            pass_on = root[:, None] * loops * root
            for layer in ("first", "second"):
                x = np.maximum(pass_on @ (x @ w[f"{layer}.lin.weight"].T) + w[f"{layer}.bias"], 0)
        else:
            for layer in ("first", "second"):
                x = (x + adjacency @ x) / 10
                hidden = x @ w[f"{layer}.inner.0.weight"].T + w[f"{layer}.inner.0.bias"]
                x = np.maximum(hidden, 0) @ w[f"{layer}.inner.2.weight"].T
                x = np.maximum(x + w[f"{layer}.inner.2.bias"], 0)
        return int(np.argmax(x.mean(axis=0) @ w["last.weight"].T + w["last.bias"]))


class Classifier:
    """Labels of edge sets (codes ``u * n + v``) from a frozen classifier."""

    def __init__(self, path: Path, n: int) -> None:
        self.n, self.known = n, {}
        self.network = Network(path) if path.suffix == ".npz" else None
        self.oracle = None if self.network else load_oracle(path)

    def label(self, codes: frozenset[int]) -> int:
        """The label of a graph, asked once."""
        at = np.sort(np.fromiter(codes, dtype=np.int64, count=len(codes)))
        key = hashlib.sha256(at.tobytes()).digest()  # the sets themselves would take gigabytes
        if key not in self.known:
            if self.network:
                adjacency = np.zeros((self.n, self.n))
                adjacency[at // self.n, at % self.n] = 1
                self.known[key] = self.network.label(adjacency + adjacency.T)
            else:
                self.known[key] = int(self.oracle.predict([Graph(self.n, at)])[0])
        return self.known[key]


class Data:
    """Graphs as sets of codes, and regions of nodes."""

    def __init__(self, source: str) -> None:
        dataset = load_dataset(source)
        self.n = dataset.n_nodes
        self.graphs = {
            one.id: frozenset(u * self.n + v for u, v in one.graph.edges()) for one in dataset
        }
        self.regions_of, self.dataset = {}, dataset
        self.planted = dataset.attributes.get("planted")

    def regions(self, name: str):
        """The region of each node, and the names of the regions."""
        if name not in self.regions_of:
            taxonomy = self.dataset.nodes.taxonomy(name)
            self.regions_of[name] = (np.array(taxonomy.index), list(taxonomy.regions))
        return self.regions_of[name]

    def place(self, claim, a: int, b: int | None):
        """Codes of all pairs of a place."""
        u, v = np.triu_indices(self.n, 1)
        if claim["language"] == "nodes":
            inside = (u == a) | (v == a)
        else:
            of, names = self.regions(claim["taxonomy"])
            b = a if b is None else b
            if b == len(names):  # one region with all regions
                inside = (of[u] == a) | (of[v] == a)
            else:
                inside = ((of[u] == a) & (of[v] == b)) | ((of[u] == b) & (of[v] == a))
        return u[inside] * self.n + v[inside]


# ---- one trial ------------------------------------------------------------------------------


class Checker:
    """Checks the trials of one data set and classifier."""

    def __init__(self, data: Data, classifiers: dict[int, Classifier]) -> None:
        self.data, self.classifiers, self.of_label = data, classifiers, {}
        self.frequency = {}

    def labelled(self, training: int, label: int) -> list[frozenset[int]]:
        """The graphs that a classifier gives a label."""
        key = training, label
        if key not in self.of_label:
            ask = self.classifiers[training].label
            self.of_label[key] = [g for g in self.data.graphs.values() if ask(g) == label]
        return self.of_label[key]

    def counts(self, training: int, label: int):
        """How many graphs of a label join each pair, and the number of graphs."""
        key = training, label
        if key not in self.frequency:
            counts = np.zeros(self.data.n**2)
            for graph in self.labelled(training, label):
                counts[list(graph)] += 1
            self.frequency[key] = counts, len(self.labelled(training, label))
        return self.frequency[key]

    def check(self, trial) -> tuple[dict, list[str]]:
        """The measures of a trial, and what differs from what it says."""
        training = trial["training"]
        ask, n = self.classifiers[training].label, self.data.n
        before = self.data.graphs[trial["graph"]]
        edits = frozenset(trial.get("edits", []))
        after = before ^ edits
        labels = ask(before), ask(after)
        own = {"label_before": labels[0], "found": labels[0] != labels[1]}
        if own["found"]:
            removed = edits & before
            own |= {
                "ged": len(before ^ after),
                "added": len(after - before),
                "removed": len(before - after),
                "sparsity": 1 - len(edits) / (n * (n - 1) // 2),
                "fidelity_plus": int(ask(before - removed) != labels[0]) if removed else None,
                "fidelity_minus": int(ask(frozenset(removed)) != labels[0]) if removed else None,
                "kept": self.kept(training, before, after, labels),
            }
            if trial.get("claim"):
                own |= self.claimed(trial["claim"], training, before, after, labels)
        wrong = [
            f"{name}: {value}, but {trial.get(name)} in the trial"
            for name, value in own.items()
            if not same(value, trial.get(name))
        ]
        spent = [trial[name] for name in ("forwards", "backwards", "calls")]
        if None not in spent and spent[0] + spent[1] != spent[2]:
            wrong.append("the calls do not add up")
        return own, wrong

    def kept(self, training, before, after, labels):
        """Share of the other trainings that agree on the original and flip too."""
        agreeing = [
            other.label
            for number, other in self.classifiers.items()
            if number != training and other.label(before) == labels[0]
        ]
        return statistics.fmean(ask(after) == labels[1] for ask in agreeing) if agreeing else None

    def claimed(self, claim, training, before, after, labels):
        """The places that a sentence names, where they end, and whether the planted one is first.

        Also checks that the amounts are those of the edits.
        """
        out = {"cells": len(claim["amounts"])}
        for a, b, added, removed in claim["amounts"]:
            here = set(self.data.place(claim, a, b).tolist())
            if len(here & (after - before)) != added or len(here & (before - after)) != removed:
                shared = claim["language"] == "nodes" and len(claim["amounts"]) > 1
                if not shared:  # a pair of two named nodes is counted at one of them
                    out["claim"] = f"{a}, {b}: other amounts than the edits"
        if claim["language"] != "regions":
            return out | {"side": None}
        _, names = self.data.regions(claim["taxonomy"])
        if self.data.planted:
            a, b, *_ = claim["amounts"][0]
            first = {names[a], (*names, "all regions")[a if b is None else b]}
            known = self.data.planted
            out["planted_first"] = claim["taxonomy"] == known["taxonomy"] and first == set(
                known["regions"]
            )
        same_class = self.labelled(training, labels[0])
        group = self.labelled(training, labels[1])
        if len(group) < 3 or not same_class:
            return out | {"side": None}
        ends = [self.end(claim, a, b, before, after, same_class, group)
                for a, b, *_ in claim["amounts"]]  # fmt: skip
        worst = max(ends, key=SIDES.index)
        return out | {"side": worst}

    def end(self, claim, a, b, before, after, same_class, group) -> str:
        """Where one region pair ends, compared with real graphs."""
        here = frozenset(self.data.place(claim, a, b).tolist())
        x = [len(graph & here) for graph in group]
        if len(x) >= 40:
            low, high = np.quantile(x, [0.025, 0.975])
        else:
            spread = max(statistics.stdev(x), 0.5)
            half = student.ppf(0.975, len(x) - 1) * spread * math.sqrt(1 + 1 / len(x))
            low, high = statistics.fmean(x) - half, statistics.fmean(x) + half
        low, high = max(math.ceil(low), 0), min(math.floor(high), len(here))
        start, end = len(before & here), len(after & here)
        if low <= end <= high:
            return "in range"
        means = sorted(
            statistics.fmean(len(g & here) for g in some) for some in (same_class, group)
        )
        gaps = [max(low - count, count - high) for count in (start, end)]
        nearer = gaps[0] > 0 and gaps[1] < gaps[0]
        return "between" if means[0] <= end <= means[1] or nearer else "beyond"

    # ---- random tests ---------------------------------------------------------------------

    def redraw(self, trial, rng) -> float | None:
        """Share of redraws of the sentence that flip; None if it is a list of pairs."""
        claim, training = trial["claim"], trial["training"]
        if claim["language"] == "pairs":
            return None
        before = self.data.graphs[trial["graph"]]
        target = trial["label_after"]
        ask = self.classifiers[training].label
        flips = 0
        for _ in range(DRAWS):
            drawn = self.draw(claim, training, before, (trial["label_before"], target), rng)
            if drawn is None:
                return 0.0
            flips += ask(before ^ drawn) == target
        return flips / DRAWS

    def draw(self, claim, training, before, labels, rng) -> frozenset[int] | None:
        """The pairs of one redraw; None if a place has too few."""
        n, drawn, named = self.data.n, [], []
        is_edge = np.zeros(n * n, dtype=bool)
        is_edge[list(before)] = True
        (current, n_current), (wanted, n_wanted) = (self.counts(training, x) for x in labels)
        nodes = [a for a, b, *_ in claim["amounts"]] if claim["language"] == "nodes" else []
        for a, b, added, removed in claim["amounts"]:
            codes = self.data.place(claim, a, b)
            named.append(codes)
            others = [v for v in nodes if v != a]
            if others:
                codes = codes[~(np.isin(codes // n, others) | np.isin(codes % n, others))]
            for adding, amount in ((True, added), (False, removed)):
                if not amount:
                    continue
                pool = codes[is_edge[codes] != adding]
                share = wanted[pool] / max(1, n_wanted)
                more = share - current[pool] / max(1, n_current)
                weight = {
                    "any": np.ones(len(pool)),
                    "typical": share if adding else 1 - share,
                    "distinctive": np.maximum(more if adding else -more, 0),
                }[claim["reading"]]
                pool, weight = pool[weight > 0], weight[weight > 0]
                if amount > len(pool):
                    return None
                drawn += rng.choice(pool, amount, replace=False, p=weight / weight.sum()).tolist()
        net = sum(added - removed for *_, added, removed in claim["amounts"])
        if claim["balanced"] and net:
            u, v = np.triu_indices(n, 1)
            codes = np.setdiff1d(u * n + v, np.concatenate(named))
            pool = codes[is_edge[codes] == (net > 0)]
            seen = (current + wanted)[pool]
            weight = n_current + n_wanted + 1 - seen if net > 0 else seen
            pool, weight = pool[weight > 0], weight[weight > 0]
            if abs(net) > len(pool):
                return None
            drawn += rng.choice(pool, abs(net), replace=False, p=weight / weight.sum()).tolist()
        return frozenset(drawn)

    def perturb(self, trial, rng) -> float:
        """Share of random flips of 1 % of all pairs that the new label survives."""
        n = self.data.n
        u, v = np.triu_indices(n, 1)
        pairs = u * n + v
        after = self.data.graphs[trial["graph"]] ^ frozenset(trial["edits"])
        ask = self.classifiers[trial["training"]].label
        size = max(1, round(0.01 * len(pairs)))
        shaken = (
            after ^ frozenset(rng.choice(pairs, size, replace=False).tolist()) for _ in range(DRAWS)
        )
        return statistics.fmean(ask(graph) == trial["label_after"] for graph in shaken)


def same(one, other) -> bool:
    """Whether two values are equal, apart from rounding."""
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) < 1e-9
    return one == other


# ---- tables ---------------------------------------------------------------------------------


def averaged(trials, column, by_unit, together):
    """Values of a column, first within each graph and training, then together."""
    units = {}
    for trial in trials:
        if trial.get(column) is not None:
            units.setdefault((trial["graph"], trial["training"]), []).append(trial[column])
    return together([by_unit(unit) for unit in units.values()]) if units else None


def middle(trials, column):
    """Median over graphs and trainings."""
    return averaged(trials, column, statistics.median, statistics.median)


def mean(trials, column):
    """Mean over graphs and trainings."""
    return averaged(trials, column, statistics.fmean, statistics.fmean)


def share(values):
    """Mean of some values; None of none."""
    values = list(values)
    return statistics.fmean(values) if values else None


def is_first(trial) -> bool:
    """Whether a trial has the first seed, training and numbering."""
    return trial["seed"] == trial["training"] == trial["renumbering"] == 0


def jaccard(trials, by):
    """Mean distance of the edits of pairs of trials that differ in one thing only."""
    fixed = {"seed", "renumbering", "training"} - {by}
    kept = [t for t in trials if not any(t[name] for name in fixed)]
    far = []
    for one, other in itertools.combinations(kept, 2):
        a, b = set(one["edits"]), set(other["edits"])
        if one["graph"] == other["graph"] and a | b:
            far.append(1 - len(a & b) / len(a | b))
    return share(far)


def trust(told):
    """The measures of the described answers."""
    ends = [t["side"] for t in told if t["side"]]
    return {
        "n": len(told),
        "places named": middle(told, "cells"),
        "true as read": share(t["as_read"] >= 0.9 for t in told if t["as_read"] is not None),
        "in at most 5 places": mean(told, "told"),
        **{side: share(end == side for end in ends) for side in SIDES},
        "stable to noise": mean(told, "robustness_1"),
        "stable to retraining": mean(told, "kept"),
        "planted first": mean(told, "planted_first"),
    }


def tables_of(trials):
    """The figures of all tables: name of the table → keys of a row → column → value."""
    out = {"scores": {}, "trust": {}, "winners": {}, "overall": {}}
    sides = {}
    for trial in trials:
        by_name = sides.setdefault((trial["data"], trial["oracle"]), {})
        by_name.setdefault(trial["explainer"], []).append(trial)
    for side, by_name in sides.items():
        plain = {k: [t for t in v if not t["renumbering"]] for k, v in by_name.items()}
        graphs = {name: {t["graph"] for t in members} for name, members in plain.items()}
        most = max(map(len, graphs.values()))
        solved = {
            name: {t["graph"] for t in members if is_first(t) and t["found"]}
            for name, members in plain.items()
        }
        deciding = [s for name, s in solved.items() if len(graphs[name]) == most <= 2 * len(s)]
        common = set.intersection(*deciding) if deciding else set()
        good = {}
        for name, members in plain.items():
            valid = [t for t in members if t["found"]]
            both = [t["ged"] for t in valid if is_first(t) and t["graph"] in common]
            out["scores"][*side, name] = row = {
                "graphs": len(graphs[name]),
                "trials": len(members),
                "validity": mean(members, "found"),
                "GED": middle(valid, "ged"),
                "GED common": statistics.median(both) if len(both) == len(common) > 0 else None,
                "n common": len(common),
                "sparsity": mean(valid, "sparsity"),
                "fidelity+": mean(valid, "fidelity_plus"),
                "fidelity-": mean(valid, "fidelity_minus"),
                "calls": middle(members, "calls"),
                "of these backward": middle(members, "backwards"),
                "background calls": middle(members, "background_calls"),
                "training calls": middle(members, "training_calls"),
                "seconds": middle(members, "seconds"),
                "training seconds": middle(members, "training_seconds"),
            }
            every = [t for t in by_name[name] if t["found"]]
            out["trust"][*side, name] = trusted = trust([t for t in every if "claim" in t]) | {
                "instability seeds": jaccard(every, "seed"),
                "instability numbering": jaccard(every, "renumbering"),
                "instability retraining": jaccard(every, "training"),
            }
            if len(graphs[name]) == most and row["validity"] >= 0.9:
                good[name] = row | trusted | {"track": members[0]["track"]}
        for track in ("labels", "probabilities", "gradients"):
            some = {k: v["GED"] for k, v in good.items() if v["track"] == track}
            out["winners"][*side, f"fewest edits, {track}"] = best(some, min)
        calls = {name: row["calls"] for name, row in good.items()}
        out["winners"][*side, "fewest calls"] = best(calls, min)
        for title in TRUST:
            some = {name: row[title] for name, row in good.items()}
            out["winners"][*side, title] = best(some, max)
    firsts = [t for t in trials if is_first(t)]
    fewest = {}
    for t in firsts:
        if t["found"]:
            fewest.setdefault((t["data"], t["oracle"], t["graph"]), []).append(t["ged"])
    for name in {t["explainer"] for t in firsts}:
        members = [t for t in firsts if t["explainer"] == name]
        valid = [t for t in members if t["found"]]
        ratio = [t["ged"] / max(1, min(fewest[t["data"], t["oracle"], t["graph"]])) for t in valid]
        calls = [t["calls"] for t in members if t["calls"] is not None]
        trusted = trust(valid)
        # Graphs of several data sets may have the same id: each counts once per classifier.
        for title, column in (
            ("stable to noise", "robustness_1"),
            ("stable to retraining", "kept"),
        ):
            trusted[title] = share(t[column] for t in valid if t[column] is not None)
        out["overall"][(name,)] = {
            "classifiers": len({(t["data"], t["oracle"]) for t in members}),
            "graphs": len(members),
            "validity": share(t["found"] for t in members),
            "edits / fewest": statistics.median(ratio) if ratio else None,
            "calls": statistics.median(calls) if calls else None,
            **{title: trusted[title] for title in TRUST},
        }
    return out


def best(values, choose):
    """The best value and all that reach it."""
    values = {name: value for name, value in values.items() if value is not None}
    if not values:
        return {"explainer": "", "value": None}
    top = choose(values.values())
    if choose is max and not top:
        return {"explainer": "", "value": top}
    names = ", ".join(name for name, value in values.items() if value == top)
    return {"explainer": names, "value": top}


def compare(folder: Path, tables) -> tuple[int, list[str]]:
    """Compare all figures of the CSV files; the number of figures, and what differs."""
    figures, wrong = 0, []
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open(newline="") as file:
            written = list(csv.DictReader(file))
        keys = {"winners": ("data", "classifier", "measure"), "overall": ("explainer",)}
        if len(written) != len(rows):
            wrong.append(f"{name}.csv: {len(written)} rows, expected {len(rows)}")
        for line in written:
            key = tuple(line[k] for k in keys.get(name, ("data", "classifier", "explainer")))
            for column, value in rows.get(key, {}).items():
                figures += 1
                text = line[column]
                if column == "explainer":
                    equal = set(text.split(", ")) == set(value.split(", "))
                elif value is None or text == "":
                    equal = value is None and text == ""
                else:
                    equal = math.isclose(float(text), value, rel_tol=1e-9, abs_tol=1e-9)
                if not equal:
                    wrong.append(f"{name}.csv {key} {column}: {value}, but {text!r} in the file")
            if key not in rows:
                wrong.append(f"{name}.csv: unexpected row {key}")
    return figures, wrong


def main(folder: Path) -> int:
    """Check a folder; return the number of differences."""
    facts = json.loads((folder / "arena.json").read_text())
    text = (folder / "trials.jsonl").read_text().splitlines()
    trials = [json.loads(line) for line in text]
    wrong, checkers, data = [], {}, {}
    timeless = [
        {key: value for key, value in trial.items() if not key.endswith("seconds")}
        for trial in trials
    ]
    plain = json.dumps(timeless, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(plain.encode()).hexdigest() != facts["sha256"]:
        wrong.append("trials.jsonl: another SHA-256 than in arena.json")
    for card in facts["classifiers"]:
        path = folder / "classifiers" / card["file"]
        if hashlib.sha256(path.read_bytes()).hexdigest() != card["sha256"]:
            wrong.append(f"{path}: another SHA-256 than in arena.json")
        name = card["data"]
        data.setdefault(name, Data(facts["sources"][name]))
        side = checkers.setdefault((name, card["kind"]), Checker(data[name], {}))
        side.classifiers[card["training"]] = Classifier(path, data[name].n)
    redrawn = agreed = 0
    over = [0]
    rng = np.random.default_rng(2026)
    checked = []
    for trial in trials:
        where = " ".join(
            str(trial[k]) for k in ("data", "oracle", "training", "explainer", "graph")
        )
        checker = checkers[trial["data"], trial["oracle"]]
        own, problems = checker.check(trial)
        wrong += [f"{where}: {problem}" for problem in problems]
        over.append(max(0, (trial["calls"] or 0) - trial["budget"]))
        if own["found"] and trial.get("claim"):
            tests = [("as_read", checker.redraw), ("robustness_1", checker.perturb)]
            for column, test in tests:
                value = test(trial, rng)
                if (value is None) != (trial[column] is None):
                    wrong.append(f"{where}: {column} is {trial[column]}, here {value}")
                elif value is not None:
                    if abs(value - trial[column]) > CHANCE:
                        wrong.append(f"{where}: {column} is {trial[column]}, here {value}")
                    if column == "as_read":
                        redrawn += 1
                        agreed += (value >= 0.9) == (trial[column] >= 0.9)
        own.pop("claim", None)
        checked.append({**trial, **own})
    figures, differing = compare(folder, tables_of(checked))
    wrong += differing
    for line in wrong[:20]:
        print(line)
    print(
        f"{len(trials)} trials of {len(facts['classifiers'])} classifiers checked, and {figures} "
        f"figures of the tables: {len(wrong)} differences. {redrawn} sentences redrawn: "
        f"{agreed} verdicts agree. {sum(map(bool, over))} trials used more calls than the budget, "
        f"by at most {max(over)}."
    )
    return len(wrong)


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]))))
