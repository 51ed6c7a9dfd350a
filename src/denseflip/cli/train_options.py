"""The options of `train` and `evaluate`."""

from __future__ import annotations

from typing import Annotated

import typer

from denseflip.cli.options import EVALUATION, INPUT, OUTPUT

PresetOption = Annotated[
    str,
    typer.Option(
        "--preset",
        "-p",
        rich_help_panel=INPUT,
        help="sf-knn (as the paper describes it), edges-svm, edges-logistic, regions-logistic, or "
        "published (as used for the numbers printed in the paper).",
    ),
]
PresetsOption = Annotated[
    str,
    typer.Option(
        "--preset",
        "-p",
        rich_help_panel=INPUT,
        help="As in `denseflip train`; several, separated by commas, are compared.",
    ),
]
RegionsOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=INPUT,
        help="Taxonomy for regions-logistic and for sentences. Default: the first.",
    ),
]
TellOption = Annotated[
    int,
    typer.Option(
        metavar="N",
        rich_help_panel=EVALUATION,
        help="Explain this many decisions about held-out graphs, and report in how many places "
        "they can be described by sentences that are true as read; 0 turns it off.",
        min=0,
    ),
]
FoldsOption = Annotated[
    int, typer.Option(rich_help_panel=EVALUATION, help="Folds of the cross-validation.")
]
RepeatsOption = Annotated[
    int, typer.Option(rich_help_panel=EVALUATION, help="Repeats with new folds.")
]
PermutationsOption = Annotated[
    int,
    typer.Option(
        rich_help_panel=EVALUATION, help="Label permutations for the p-value; 0 turns it off."
    ),
]
SeedOption = Annotated[
    int, typer.Option(rich_help_panel=EVALUATION, help="Seed of folds and permutations.")
]
ConfoundsOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMNS",
        rich_help_panel=EVALUATION,
        help="Columns of the subject table, e.g. age,sex,site,motion. They are regressed out "
        "inside each fold, and also evaluated alone, for comparison.",
    ),
]
SiteOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        rich_help_panel=EVALUATION,
        help="Column of the site, for leave-site-out evaluation and permutation within sites. "
        "Default: the confound named after sites.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", rich_help_panel=OUTPUT, help="Print JSON instead of tables.")
]
ForceOption = Annotated[
    bool, typer.Option("--force", rich_help_panel=OUTPUT, help="Overwrite an existing file.")
]
