"""Gene networks: names and pathways, no coordinates, and a rule that finds genes by name.

    python examples/gene_network.py

Twenty-four synthetic co-expression networks of sixteen genes in four pathways, one edge list per
sample. In tumours, the genes of DNA repair and of the cell cycle are less connected. The script
imports the networks with their names, trains and evaluates a classifier, and explains one tumour in
terms of pathways. Then it explains the same tumour under a custom rule, written for networkx.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import networkx as nx
import numpy as np

from denseflip import as_oracle, describe, evaluate, explain, fit_oracle, write_page
from denseflip.datasets import Dataset, import_folder
from denseflip.datasets.folder import import_report

PATHWAYS = {
    "p53 signalling": ("TP53", "MDM2", "MDM4", "CDKN1A"),
    "DNA repair": ("ATM", "CHEK2", "BRCA1", "RAD51"),
    "cell cycle": ("CCND1", "CDK4", "RB1", "E2F1"),
    "apoptosis": ("BAX", "BCL2", "CASP3", "CASP9"),
}
GENES = tuple(gene for genes in PATHWAYS.values() for gene in genes)


def write_lab(folder: Path, *, seed: int = 0) -> None:
    """Write the files of a lab: an edge list per sample, a table of samples, a table of genes."""
    rng = np.random.default_rng(seed)
    (folder / "networks").mkdir(parents=True)
    samples = ["sample\ttissue\tage"]
    for i in range(24):
        tumour = bool(i % 2)
        lines = ["geneA geneB"]
        for u, one in enumerate(GENES):
            for two in GENES[u + 1 :]:
                places = {p for p, genes in PATHWAYS.items() for g in (one, two) if g in genes}
                chance = 0.75 if len(places) == 1 else 0.08
                if places == {"DNA repair", "cell cycle"}:
                    chance = 0.1 if tumour else 0.7
                if rng.random() < chance:
                    lines.append(f"{one} {two}")
        (folder / "networks" / f"S{i:02}.edgelist").write_text("\n".join(lines) + "\n")
        samples.append(f"S{i:02}\t{'tumour' if tumour else 'normal'}\t{40 + i}")
    (folder / "samples.tsv").write_text("\n".join(samples) + "\n")
    rows = [f"{gene},{place}" for place, genes in PATHWAYS.items() for gene in genes]
    (folder / "genes.csv").write_text("\n".join(["name,pathway", *sorted(rows)]) + "\n")


def read_lab(folder: Path) -> Dataset:
    """The same as ``denseflip data import networks --labels samples.tsv --nodes genes.csv``."""
    return import_folder(
        folder / "networks",
        folder / "samples.tsv",
        nodes=folder / "genes.csv",
        id_column="sample",
        label_column="tissue",
        name="genes",
    )


def joined(network: nx.Graph) -> str:
    """A custom rule: is there a path from BRCA1 to E2F1 of at most two steps?"""
    near = nx.has_path(network, "BRCA1", "E2F1")
    near = near and nx.shortest_path_length(network, "BRCA1", "E2F1") <= 2
    return "joined" if near else "apart"


def main(folder: Path) -> dict[str, str]:
    """Import, train, evaluate, explain; return the two sentences."""
    write_lab(folder)
    data = read_lab(folder)
    print("\n".join(import_report(data)))

    verdict = evaluate(data, preset="edges-logistic", repeats=2, permutations=20)
    print(verdict.verdict)
    oracle = fit_oracle(data, "edges-logistic")
    tumour = data["S01"]
    result = explain(
        tumour.graph, oracle, nodes=data.nodes, background=data.graphs, target="normal"
    )
    story = describe(
        result,
        data.nodes,
        oracle,
        subject=tumour.id,
        background=data.graphs,
        evaluation=verdict,
    )
    print(story)
    page = write_page(story, folder / "S01.html", dataset=data.card, interactive=False)
    print(f"Written to {page.name}: a circle of pathways, since genes have no coordinates.")

    mine = as_oracle(joined, "networkx", nodes=data.nodes)
    other = explain(data["S00"].graph, mine, "edg+min", nodes=data.nodes)
    told = describe(other, data.nodes, mine, subject="S00", regions=None)
    print(told)
    return {"tumour": str(story), "own rule": str(told)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        main(Path(home))
