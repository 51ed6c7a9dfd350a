"""Large gene networks: from expression tables to a sentence, one command for each step.

    python examples/gene_modules.py LAB [--genes 20000] [--samples 24]

Writes made-up files of a lab: an expression table for each sample (a row per cell, a column per
gene), a table of samples, and a table of genes with 30 modules. In tumours, modules 3 and 7 are
expressed together. The script prints the three commands that lead from these files to a sentence
and a page; with ``--run`` it runs them. The first command correlates the genes of each sample and
keeps the pairs that correlate most.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np

MODULES, CELLS, PLANTED = 30, 80, (2, 6)  # modules are counted from 1 in the files
PAIRS = 6.5  # pairs that are kept per gene


def expression(n_genes: int, rng: np.random.Generator, *, tumour: bool) -> np.ndarray:
    """Expression of each gene (column) in each cell: its module's activity, and its own."""
    activity = np.linalg.qr(rng.normal(size=(CELLS, MODULES)))[0] * CELLS**0.5  # uncorrelated
    if tumour:
        one, other = PLANTED
        activity[:, other] = 0.8 * activity[:, one] + 0.6 * activity[:, other]
    own = rng.normal(size=(CELLS, n_genes))
    return 5 + 0.9 * activity[:, np.arange(n_genes) % MODULES] + own


def write_lab(folder: Path, n_genes: int = 20_000, n_samples: int = 24, *, seed: int = 0) -> None:
    """Write the files of the lab."""
    rng = np.random.default_rng(seed)
    (folder / "expression").mkdir(parents=True)
    names = [f"GENE{v}" for v in range(n_genes)]
    samples = ["sample\ttissue"]
    for i in range(n_samples):
        tissue = "tumour" if i % 2 else "normal"
        values = expression(n_genes, rng, tumour=tissue == "tumour")
        with (folder / "expression" / f"S{i:02}.tsv").open("w") as table:
            table.write("\t".join(["cell", *names]) + "\n")
            for cell, row in enumerate(values.round(2).tolist()):
                table.write("\t".join([f"S{i:02}_cell{cell}", *map(str, row)]) + "\n")
        samples.append(f"S{i:02}\t{tissue}")
    (folder / "samples.tsv").write_text("\n".join(samples) + "\n")
    rows = [f"{name},module {v % MODULES + 1}" for v, name in enumerate(names)]
    (folder / "genes.csv").write_text("\n".join(["name,module", *rows]) + "\n")


def commands(folder: Path, n_genes: int = 20_000) -> list[list[str]]:
    """From the files to a classifier, a sentence and a page."""
    data, model = str(folder / "genes.dfd"), str(folder / "genes.dfo")
    tables = ["--labels", str(folder / "samples.tsv"), "--nodes", str(folder / "genes.csv")]
    keep = ["--edges", str(int(PAIRS * n_genes))]
    return [
        ["denseflip", "data", "import", str(folder / "expression"), *tables, *keep, "--out", data],
        ["denseflip", "train", data, "--preset", "regions-logistic", "--out", model],
        ["denseflip", "explain", data, "S01", "--oracle", model, "--out", str(folder / "S01")],
    ]


def main() -> None:
    """Write the files, and print or run the commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder to write; must not have tables yet")
    parser.add_argument("--genes", type=int, default=20_000)
    parser.add_argument("--samples", type=int, default=24)
    parser.add_argument("--run", action="store_true", help="run the commands too")
    given = parser.parse_args()
    write_lab(given.folder, given.genes, given.samples)
    for command in commands(given.folder, given.genes):
        print(f"$ {shlex.join(command)}", flush=True)
        if given.run:
            subprocess.run([sys.executable, "-m", *command], check=True)


if __name__ == "__main__":
    main()
