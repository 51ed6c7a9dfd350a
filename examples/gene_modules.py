"""Large gene networks: from tables of a lab to a sentence, one command for each step.

    python examples/gene_modules.py LAB [--genes 20000] [--samples 24]

Writes made-up files of a lab: a co-expression network for each sample as an edge list, a table of
samples, and a table of genes with 30 modules. Each network is made from an expression table of 80
cells: of the candidate pairs, as of a database of interactions, it keeps those that correlate most.
In tumours, modules 3 and 7 are expressed together. The script prints the three commands that lead
from these files to a sentence and a page; with ``--run`` it runs them.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np

MODULES, CELLS, PLANTED = 30, 80, (2, 6)  # modules are counted from 1 in the files
CANDIDATES, KEPT = 13, 6.5  # pairs per gene


def candidate_pairs(n_genes: int, rng: np.random.Generator) -> np.ndarray:
    """Pairs of genes that may interact: within a module, with the next one, or the planted pair."""
    in_module = n_genes // MODULES
    module = rng.integers(MODULES, size=CANDIDATES * n_genes)
    partner = np.where(rng.random(len(module)) < 0.7, module, (module + 1) % MODULES)
    planted = np.full((n_genes, 2), PLANTED)
    ends = np.concatenate((np.stack((module, partner), axis=1), planted))
    pairs = rng.integers(in_module, size=ends.shape) * MODULES + ends
    return np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)


def expression(n_genes: int, rng: np.random.Generator, *, tumour: bool) -> np.ndarray:
    """Expression of each gene (column) in each cell: its module's activity, and its own."""
    activity = np.linalg.qr(rng.normal(size=(CELLS, MODULES)))[0] * CELLS**0.5  # uncorrelated
    if tumour:
        one, other = PLANTED
        activity[:, other] = 0.8 * activity[:, one] + 0.6 * activity[:, other]
    return 0.6 * activity[:, np.arange(n_genes) % MODULES] + rng.normal(size=(CELLS, n_genes))


def network(values: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The candidate pairs that correlate most; every sample keeps as many."""
    scaled = (values - values.mean(axis=0)) / values.std(axis=0)
    strength = np.zeros(len(pairs))
    for cell in scaled:  # a table of all pairs of genes would take gigabytes
        strength += cell[pairs[:, 0]] * cell[pairs[:, 1]]
    kept = np.argsort(-strength, kind="stable")[: int(KEPT * values.shape[1])]
    return pairs[np.sort(kept)]


def write_lab(folder: Path, n_genes: int = 20_000, n_samples: int = 24, *, seed: int = 0) -> None:
    """Write the files of the lab."""
    rng = np.random.default_rng(seed)
    (folder / "networks").mkdir(parents=True)
    names = np.array([f"GENE{v}" for v in range(n_genes)])
    pairs = candidate_pairs(n_genes, rng)
    samples = ["sample\ttissue"]
    for i in range(n_samples):
        tissue = "tumour" if i % 2 else "normal"
        kept = names[network(expression(n_genes, rng, tumour=tissue == "tumour"), pairs)]
        lines = "\n".join(["geneA geneB", *map(" ".join, kept.tolist())])
        (folder / "networks" / f"S{i:02}.edgelist").write_text(f"{lines}\n")
        samples.append(f"S{i:02}\t{tissue}")
    (folder / "samples.tsv").write_text("\n".join(samples) + "\n")
    rows = [f"{name},module {v % MODULES + 1}" for v, name in enumerate(names)]
    (folder / "genes.csv").write_text("\n".join(["name,module", *rows]) + "\n")


def commands(folder: Path) -> list[list[str]]:
    """From the files to a classifier, a sentence and a page."""
    data, model = str(folder / "genes.dfd"), str(folder / "genes.dfo")
    tables = ["--labels", str(folder / "samples.tsv"), "--nodes", str(folder / "genes.csv")]
    return [
        ["denseflip", "data", "import", str(folder / "networks"), *tables, "--out", data],
        ["denseflip", "train", data, "--preset", "regions-logistic", "--out", model],
        ["denseflip", "explain", data, "S01", "--oracle", model, "--out", str(folder / "S01")],
    ]


def main() -> None:
    """Write the files, and print or run the commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder to write; must not have networks yet")
    parser.add_argument("--genes", type=int, default=20_000)
    parser.add_argument("--samples", type=int, default=24)
    parser.add_argument("--run", action="store_true", help="run the commands too")
    given = parser.parse_args()
    write_lab(given.folder, given.genes, given.samples)
    for command in commands(given.folder):
        print(f"$ {shlex.join(command)}", flush=True)
        if given.run:
            subprocess.run([sys.executable, "-m", *command], check=True)


if __name__ == "__main__":
    main()
