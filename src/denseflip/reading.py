"""How a graph file is read where its content leaves a choice: the options, defined once.

Python, the command line and the upload form of the app take them from here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from denseflip.option import Option, check_fields, option, option_of

FILES = "Reading files"
HEADERS = ("auto", "none", "row", "column", "both")
#: Kinds of files that are not those of a program.
FILE_KINDS = ("auto", "matrix", "timeseries", "edges", "graphml")
DECIMALS = ("auto", "point", "comma")


@dataclass(frozen=True)
class Reading:
    """How to read a graph file that can be read in several ways.

    Parameters
    ----------
    kind : what the file holds: ``auto``, ``matrix``, ``timeseries``, ``edges`` …
    header : which of the first row and the first column hold names or numbers of nodes.
    decimal : the decimal sign.
    first_node : the number of the first node of an edge list.
    """

    kind: str = option(
        FILES,
        "auto",
        "What the file holds: auto, matrix, timeseries, edges, graphml, or a known layout.",
        "Content of the file",
    )
    header: str = option(
        FILES,
        "auto",
        "Whether the first row, the first column or both hold names or numbers of nodes.",
        "Names of nodes",
        choices=HEADERS,
    )
    decimal: str = option(
        FILES,
        "auto",
        "Decimal sign of a text table.",
        "Decimal sign",
        choices=DECIMALS,
    )
    first_node: int | None = option(
        FILES,
        None,
        "Number of the first node in an edge list by number: 0 or 1.",
        "First node of an edge list",
        minimum=0,
        maximum=1,
    )

    def __post_init__(self) -> None:
        check_fields(self)


def reading_options() -> dict[str, Option]:
    """The options by name, with their help and allowed values."""
    return {f.name: option_of(f) for f in fields(Reading)}
