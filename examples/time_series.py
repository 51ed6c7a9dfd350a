"""From time series to a page: two groups, one folder of tables, one HTML file.

    pip install "denseflip[brain]"
    python examples/time_series.py OUT

Twenty synthetic subjects with ninety volumes of twenty Schaefer parcels each, in the format of
XCP-D. In patients, the left and right default mode networks are less connected. The import takes
names, networks and hemispheres from the names of the parcels, and classes from
``participants.tsv``, where one participant has no scan and one no diagnosis. Then the script trains
and evaluates a classifier, explains one patient, and writes a page.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from denseflip import describe, evaluate, explain, fit_oracle, write_page
from denseflip.datasets import Keep, import_folder
from denseflip.datasets.folder import import_report

NAMES = tuple(
    f"7Networks_{side}H_{network}_{i}"
    for network in ("Vis", "Default")
    for side in "LR"
    for i in range(1, 6)
)


def write_study(folder: Path, *, seed: int = 0) -> None:
    """Write time series in the layout of XCP-D, and a BIDS table of participants."""
    rng = np.random.default_rng(seed)
    people = ["participant_id\tage\tsex\tgroup"]
    for i in range(1, 21):
        name, patient = f"sub-{i:02}", i % 2 == 0
        shared = rng.standard_normal((90, 4))  # one signal per network and hemisphere
        shared[:, 1] = shared[:, 0]  # both sides of the visual network correlate
        if not patient:
            shared[:, 3] = shared[:, 2]  # and, in controls, those of the default mode network
        series = np.repeat(shared, 5, axis=1) + 0.9 * rng.standard_normal((90, 20))
        lines = ["\t".join(NAMES), *("\t".join(f"{x:.5f}" for x in row) for row in series)]
        home = folder / name / "func"
        home.mkdir(parents=True)
        path = home / f"{name}_task-rest_space-MNI_seg-Schaefer_stat-mean_timeseries.tsv"
        path.write_text("\n".join(lines) + "\n")
        group = "n/a" if i == 19 else "patient" if patient else "control"
        people.append(f"{name}\t{20 + i}\t{'FM'[i % 3 % 2]}\t{group}")
    people.append("sub-99\t50\tF\tpatient")  # never scanned
    (folder / "participants.tsv").write_text("\n".join(people) + "\n")


def main(out: Path) -> str:
    """Write, import, train, evaluate, explain, describe; return the sentence."""
    write_study(out / "xcp_d")
    data = import_folder(
        out / "xcp_d", measure="pearson", keep=Keep(threshold=0.3), skip_unmatched=True
    )
    print("\n".join(import_report(data)))

    preset, regions = "regions-logistic", "network*hemisphere"
    verdict = evaluate(data, preset=preset, regions=regions, repeats=2, permutations=20)
    print(verdict.verdict)
    oracle = fit_oracle(data, preset, regions=regions)
    patient = data["sub-04"]
    result = explain(
        patient.graph, oracle, nodes=data.nodes, background=data.graphs, regions=regions
    )
    story = describe(
        result,
        data.nodes,
        oracle,
        subject=patient.id,
        regions=regions,
        background=data.graphs,
        evaluation=verdict,
    )
    print(story)
    page = write_page(story, out / "sub-04.html", dataset=data.card, interactive=False)
    print(f"Written to {page.name}.")
    return str(story)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(exist_ok=True)
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as home:
            main(Path(home))
