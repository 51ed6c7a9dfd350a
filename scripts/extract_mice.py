"""Extract the embedded mouse data from the wheel of graspologic.

    pip download --no-deps graspologic==3.4.4
    python scripts/extract_mice.py graspologic-3.4.4-py3-none-any.whl

Source: graspologic 3.4.4 (MIT licence, Copyright (c) Microsoft Corporation and contributors),
folder ``datasets/mice``: 32 diffusion-MRI connectomes of mouse brains by Wang et al., "Variability
and heritability of mouse brain structure: Microscopic MRI atlases and connectomes for diverse
strains", NeuroImage 2020, doi 10.1016/j.neuroimage.2020.117274. The script keeps the strongest 10 %
of node pairs by streamline count (5,495 of 54,946; ties go to the first pair), the strain and sex
of each mouse, and the name, hierarchy levels and hemisphere of each node. The output is
reproducible byte for byte.
"""

from __future__ import annotations

import csv
import io
import sys
import zipfile
from pathlib import Path

import numpy as np

from denseflip.datasets import Card, Dataset
from denseflip.datasets.connectome import Keep
from denseflip.graph import Graph, Nodes

FOLDER = "graspologic/datasets/mice"
STRAINS = ("B6", "BTBR", "CAST", "DBA2")
SIDES = {"L": "left", "R": "right"}


def rows(wheel: zipfile.ZipFile, name: str) -> list[dict[str, str]]:
    """The rows of a CSV file in the wheel."""
    text = wheel.read(f"{FOLDER}/{name}").decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def words(text: str) -> str:
    """Underscores are a file's way of writing spaces."""
    return text.replace("_", " ").strip()


def node_table(wheel: zipfile.ZipFile) -> Nodes:
    """Names and taxonomies: the atlas once per hemisphere, left first, as in the matrices."""
    atlas = rows(wheel, "atlas.csv")
    structures = [row["Structure"] for row in atlas]
    names: list[str] = []
    columns: dict[str, list[str]] = {
        k: []
        for k in ("region", "macrostructure", "hemisphere", *(f"level_{i}" for i in range(1, 5)))
    }
    for side, side_word in SIDES.items():
        for row in atlas:
            twice = structures.count(row["Structure"]) > 1
            short = f" ({words(row['Abbreviation'])})" if twice else ""
            names.append(f"{words(row['Structure'])}{short} {side}")
            macro = words(row["Macrostructure"])
            columns["region"].append(f"{side_word} {macro}")
            columns["macrostructure"].append(macro)
            columns["hemisphere"].append(side)
            level = ""
            for i in range(1, 5):
                # Where the hierarchy goes no deeper, the node stays in its last known level.
                level = words(row[f"Level_{i}"]) or level
                columns[f"level_{i}"].append(level)
    check_blocks(wheel, columns)
    return Nodes(tuple(names), {k: tuple(v) for k, v in columns.items()})


def check_blocks(wheel: zipfile.ZipFile, columns: dict[str, list[str]]) -> None:
    """The wheel's own block table must agree with the order of nodes assumed above."""
    for block in rows(wheel, "blocks.csv"):
        part = slice(int(block["i"]), int(block["j"]))
        found = set(zip(columns["macrostructure"][part], columns["hemisphere"][part], strict=True))
        if found != {(words(block["block"]), block["hemisphere"])}:
            sys.exit(f"The block {block} does not match the atlas: {found}.")


def connectome(wheel: zipfile.ZipFile, participant: str, n: int) -> Graph:
    """The strongest tenth of one mouse's pairs."""
    text = wheel.read(f"{FOLDER}/edgelists/{participant}_ses-1_dti.edgelist").decode()
    u, v, count = np.loadtxt(io.StringIO(text)).T
    weights = np.zeros((n, n))
    weights[u.astype(int), v.astype(int)] = count
    weights[v.astype(int), u.astype(int)] = count
    return Keep(percentile=90).apply(weights, source=participant)


def main() -> None:
    """Read the wheel named on the command line; write into the package's data folder."""
    if len(sys.argv) != 2:
        sys.exit("usage: python scripts/extract_mice.py WHEEL")
    out = Path(__file__).parents[1] / "src" / "denseflip" / "datasets" / "data"
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        nodes = node_table(wheel)
        mice = sorted(
            rows(wheel, "participants.csv"),
            key=lambda r: (STRAINS.index(r["genotype"]), r["participant_id"]),
        )
        dataset = Dataset(
            name="mice",
            graphs=tuple(connectome(wheel, r["participant_id"], nodes.n_nodes) for r in mice),
            labels=tuple(STRAINS.index(r["genotype"]) for r in mice),
            class_names=STRAINS,
            ids=tuple(r["participant_id"] for r in mice),
            card=Card(source="graspologic 3.4.4, datasets/mice", licence="MIT"),
            attributes={"sex": [r["sex"] for r in mice]},
        )
    nodes.write_csv(out / "mice_nodes.csv")
    path = dataset.save(out / "mice.dfd", force=True)
    sys.stdout.write(f"{path}: {len(dataset)} graphs, {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
