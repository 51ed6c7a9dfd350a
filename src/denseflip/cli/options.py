"""The options of `explain`, `compare` and `cohort`: each is said once, whoever takes it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Method = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        help="Search method, e.g. tri, dat+bw; `denseflip methods` lists them. Or your own: "
        "module:function.",
    ),
]
Oracle = Annotated[
    str | None,
    typer.Option(
        "--oracle",
        help="The classifier: module:function (your own code; a model, with what it needs: "
        "'module:model?features=degree'), onnx:FILE, a service (https://…), a file written by "
        "`denseflip train`, or a preset such as edges-svm or published (the paper's), trained on "
        "the data.",
    ),
]
Input = Annotated[
    str,
    typer.Option(
        help="What module:function takes: adjacency (NumPy array), networkx, sparse or graph; auto "
        "finds it out."
    ),
]
Batch = Annotated[bool, typer.Option("--batch", help="module:function takes many graphs at once.")]
Nodes = Annotated[Path | None, typer.Option(help="Node table (CSV: name, regions …, x, y, z).")]
Background = Annotated[
    str | None, typer.Option(help="For a graph file: the data set that it belongs to.")
]
Percentile = Annotated[
    float | None,
    typer.Option(help="For a weighted matrix: keep pairs from this percentile up, e.g. 90."),
]
Threshold = Annotated[
    float | None, typer.Option(help="For a weighted matrix: keep pairs from this value up.")
]
Edges = Annotated[
    int | None, typer.Option(help="For a weighted matrix: keep this many pairs, the strongest.")
]
Target = Annotated[
    list[str] | None,
    typer.Option(
        help="The class wanted, by name or label; repeat it for several that will do. Default: "
        "any other than the graph's.",
        metavar="CLASS",
    ),
]
Confidence = Annotated[
    float | None,
    typer.Option(
        help="How sure of the other class the classifier must be, 0 to 1; needs one that gives "
        "probabilities, such as regions-logistic."
    ),
]
Budget = Annotated[int | None, typer.Option(min=1, help="Ask the classifier at most this often.")]
Time = Annotated[float | None, typer.Option(help="Stop after so many seconds.")]
Confirm = Annotated[
    int,
    typer.Option(
        min=0, help="Ask so often again about the final pair; catches classifiers that throw dice."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the search.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="A parameter of the method: key=value. May be given often."),
]
Regions = Annotated[
    str | None,
    typer.Option(
        help="Taxonomy that the sentence speaks in, e.g. lobe or lobe*hemisphere, and that the "
        "method works with, if it takes one."
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        help="What the sentence may name: regions, nodes or pairs of nodes; auto takes the first "
        "that tells it."
    ),
]
Objective = Annotated[
    str | None,
    typer.Option(help="What is best: sentence (the shortest), edits (the fewest) or balanced."),
]
Front = Annotated[
    bool,
    typer.Option("--front", help="Show every answer that no other beats in words and in edits."),
]
Robust = Annotated[
    float | None,
    typer.Option(
        help="The share of random perturbations that the flip has to survive, e.g. 0.9 (--noise)."
    ),
]
Noise = Annotated[
    float | None,
    typer.Option(
        help="The share of all pairs that a perturbation flips (--robust). Default: 0.01."
    ),
]
Plausible = Annotated[
    bool,
    typer.Option(
        "--plausible",
        help="Exchange edits for more plausible ones of the same place: pairs that graphs of the "
        "other class have.",
    ),
]
Implausible = Annotated[
    float | None,
    typer.Option(
        help="How far the answer may be from the nearest real graph of its class, as a multiple "
        "of what is usual there, e.g. 1.2."
    ),
]
Answers = Annotated[
    int, typer.Option("--n", min=1, help="Look for so many answers in different places.")
]
Vocabulary = Annotated[
    str,
    typer.Option(
        help="Words of the sentence: auto, brain, connectome, network, mouse, graph, or paper "
        "(activation and co-activation, as the paper has it)."
    ),
]
Share = Annotated[
    float,
    typer.Option(
        min=0,
        max=1,
        help="Let the sentence name at least this share of the changes, needed or not; the "
        "paper's own sentences name about 0.8.",
    ),
]
Evaluation = Annotated[
    Path | None,
    typer.Option(
        help="What is known of the classifier: a file written by `denseflip evaluate --out`."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Folder for the page, the pictures and the result, or for many of them."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is in --out.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

# ---- on which terms an answer is wanted -----------------------------------------------------

Freeze = Annotated[
    list[str] | None,
    typer.Option(
        "--freeze",
        help="Leave this as it is: a region, a node (name or number), or a cell ('Frontal x "
        "Temporal'). May be given often.",
        metavar="NAME",
    ),
]
Add = Annotated[bool, typer.Option("--only-add", help="Allow additions only.")]
Remove = Annotated[bool, typer.Option("--only-remove", help="Allow removals only.")]
Edits = Annotated[
    int | None, typer.Option("--max-edits", min=1, help="Change at most so many pairs.")
]
Cells = Annotated[
    int | None,
    typer.Option(
        "--max-cells",
        min=1,
        help="Change, and name, at most so many pairs of regions (without regions, name at most "
        "so many nodes); by default sentences name at most 5.",
    ),
]
Density = Annotated[
    float | None,
    typer.Option(
        "--keep-density",
        help="Keep the number of edges within so many percent of what it is.",
        metavar="PCT",
    ),
]
Connected = Annotated[
    bool, typer.Option("--keep-connected", help="Do not let the graph fall into more pieces.")
]
Seen = Annotated[
    float | None,
    typer.Option(
        "--allow-seen",
        help="Change only pairs that at least so many percent of the data set's graphs have.",
        metavar="PCT",
    ),
]
LeastDegree = Annotated[
    int | None,
    typer.Option("--min-degree", min=0, help="Leave every node that changes so many edges."),
]
MostDegree = Annotated[
    int | None,
    typer.Option("--max-degree", min=0, help="Give no node that changes more edges than that."),
]

# ---- many graphs at once --------------------------------------------------------------------

All = Annotated[bool, typer.Option("--all", help="Explain every graph of the data set.")]
Class = Annotated[
    list[str] | None,
    typer.Option(
        "--class",
        help="Explain every graph of this class of the data set. May be given often.",
        metavar="NAME",
    ),
]
Engine = Annotated[str, typer.Option(help="For many graphs: auto, serial, processes or dask.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="For many graphs: worker processes; all cores by default.")
]
Scheduler = Annotated[
    str | None, typer.Option(help="For many graphs: address of a Dask scheduler.")
]
Pages = Annotated[
    str,
    typer.Option(
        help="For many graphs, what --out holds of each: full pages (about 3 MB each), still ones "
        "(without the part that turns), or none."
    ),
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        help="What is printed: text, json, csv or tsv. As csv and tsv one graph gives a row for "
        "each edit, many graphs a row for each graph.",
    ),
]
