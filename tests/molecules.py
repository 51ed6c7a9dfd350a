"""A small TU folder of molecule-like graphs with a planted rule, for tests.

The graphs have different sizes. Nodes are atoms with a valence, joined to a tree and a few rings.
A graph is of class 1 if it has at least two N–O bonds, else of class -1.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

NAMES = ("C", "N", "O", "Cl")
VALENCE = {"C": 4, "N": 3, "O": 2, "Cl": 1}
BOUNDS = "C=4,N=3,O=2,Cl=1"
README = (
    "README\n\nNode labels:\n\n  0  C\n  1  N\n  2  O\n  3  Cl\n\nEdge labels:\n\n  0  single\n"
)
CLASSES = ("-1=inactive", "1=active")


def molecule(rng: np.random.Generator) -> tuple[list[int], list[tuple[int, int]]]:
    """The types of some atoms, and the bonds between them."""
    n = int(rng.integers(12, 22))
    types = [0, 0, *rng.choice(4, size=n - 2, p=[0.5, 0.25, 0.2, 0.05]).tolist()]
    limit = [VALENCE[NAMES[t]] for t in types]
    degree = [0] * n
    bonds: set[tuple[int, int]] = set()

    def join(u: int, v: int) -> None:
        bonds.add((min(u, v), max(u, v)))
        degree[u] += 1
        degree[v] += 1

    for v in range(1, n):
        free = [u for u in range(v) if degree[u] < limit[u]]
        if free:
            join(int(rng.choice(free)), v)
    for _ in range(n // 6):
        free = [u for u in range(n) if degree[u] < limit[u]]
        if len(free) > 1:
            u, v = (int(x) for x in rng.choice(free, 2, replace=False))
            if (min(u, v), max(u, v)) not in bonds:
                join(u, v)
    return types, sorted(bonds)


def n_between(types: list[int], bonds: list[tuple[int, int]], a: str, b: str) -> int:
    """How many bonds join an atom of one type to one of another."""
    wanted = sorted((a, b))
    return sum(sorted((NAMES[types[u]], NAMES[types[v]])) == wanted for u, v in bonds)


def write_molecules(
    folder: Path, n_graphs: int = 60, seed: int = 0, *, readme: bool = True
) -> Path:
    """Write the files ``MOL_….txt`` to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    files: dict[str, list[str]] = {
        x: [] for x in ("A", "graph_indicator", "graph_labels", "node_labels", "edge_labels")
    }
    first = 1
    for number in range(1, n_graphs + 1):
        types, bonds = molecule(rng)
        active = n_between(types, bonds, "N", "O") >= 2
        files["graph_labels"].append("1" if active else "-1")
        files["graph_indicator"] += [str(number)] * len(types)
        files["node_labels"] += map(str, types)
        for u, v in bonds:
            kind = str(int(rng.integers(2)))
            files["A"] += [f"{u + first}, {v + first}", f"{v + first}, {u + first}"]
            files["edge_labels"] += [kind, kind]
        first += len(types)
    for name, lines in files.items():
        (folder / f"MOL_{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if readme:
        (folder / "README.txt").write_text(README, encoding="utf-8")
    return folder
