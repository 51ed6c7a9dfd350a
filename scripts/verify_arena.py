"""Verify a folder of `denseflip arena` without any of its measures.

Every answer is checked again from ``trials.jsonl``: the label of the original and of the edited
graph are asked of the frozen classifier, the edit distance is the size of the set difference of the
edge lists, and the counts must stay within the budget. The validity and the median distance of
``scores.csv`` are then recomputed from these.

    python scripts/verify_arena.py denseflip-arena
"""

from __future__ import annotations

import csv
import hashlib
import json
import statistics
import sys
from pathlib import Path

from denseflip import Graph, load_dataset
from denseflip.arena.networks import read_network
from denseflip.classifiers.persist import load_oracle


def main(folder: Path) -> int:
    """Check a folder; return the number of differences."""
    facts = json.loads((folder / "arena.json").read_text())
    lines = (folder / "trials.jsonl").read_text().splitlines()
    trials = [json.loads(line) for line in lines]
    oracles, problems = {}, []
    for card in facts["classifiers"]:
        path = folder / "classifiers" / card["file"]
        if hashlib.sha256(path.read_bytes()).hexdigest() != card["sha256"]:
            problems.append(f"{path}: another SHA-256 than in arena.json")
        key = (card["data"], card["kind"], card["training"])
        oracles[key] = read_network(path)[1] if path.suffix == ".npz" else load_oracle(path)
    data, distances, over = {}, {}, 0
    for trial in trials:
        name = trial["data"]
        if name not in data:
            data[name] = load_dataset(facts["sources"][name])
        graph = data[name][trial["graph"]].graph
        oracle = oracles[name, trial["oracle"], trial["training"]]
        before = set(graph.edges())
        n = graph.n_nodes
        after = before ^ {divmod(code, n) for code in trial.get("edits", [])}
        labels = [int(oracle.predict([Graph.from_edges(n, e)])[0]) for e in (before, after)]
        found = labels[0] != labels[1]
        where = f"{name} {trial['oracle']} {trial['explainer']} {trial['graph']}"
        if found != trial["found"] or labels[0] != trial["label_before"]:
            problems.append(f"{where}: labels {labels}, but found = {trial['found']}")
        if found and len(before ^ after) != trial["ged"]:
            problems.append(f"{where}: {len(before ^ after)} edits, but GED = {trial['ged']}")
        if trial["forwards"] + trial["backwards"] != trial["calls"]:
            problems.append(f"{where}: the calls do not add up")
        over += trial["calls"] > trial["budget"]
        if not trial["renumbering"]:
            key = (name, trial["oracle"], trial["explainer"])
            distances.setdefault(key, []).append(len(before ^ after) if found else None)
    with (folder / "scores.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            key = (row["data"], row["classifier"], row["explainer"])
            valid = [d for d in distances.get(key, []) if d is not None]
            share = len(valid) / max(1, len(distances.get(key, [])))
            if abs(share - float(row["validity"])) > 1e-9:
                problems.append(f"{key}: validity {share}, but {row['validity']} in scores.csv")
            if valid and statistics.median(valid) != float(row["GED"]):
                problems.append(f"{key}: median {statistics.median(valid)}, but {row['GED']}")
    for problem in problems[:20]:
        print(problem)
    print(
        f"{len(trials)} trials of {len(oracles)} classifiers checked, {len(distances)} rows of "
        f"scores: {len(problems)} differences. {over} trials used more calls than the budget."
    )
    return len(problems)


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]))))
