"""How the label table and the node table of a folder are read: the options, defined once.

The command line and the upload form of the app take their help and their checks from here;
`import_folder` has parameters of the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from denseflip.errors import InvalidParameterError, UnknownNameError, shown
from denseflip.option import Option, check_fields, option, option_of

LABELS, NODES = "Labels", "Files and nodes"


@dataclass(frozen=True)
class TableOptions:
    """How the tables of a folder are read, and what is left out. None is the default."""

    classes: str | None = option(
        LABELS,
        None,
        "Comma-separated class names in order; the first is class 0. Other classes are left out. "
        "1=autism names class 1 autism.",
        "Classes",
        unit="A,B",
    )
    id_column: str | None = option(LABELS, None, "Id column of the labels file.", "Id column")
    label_column: str | None = option(
        LABELS, None, "Label column of the labels file.", "Class column"
    )
    skip_unmatched: bool = option(
        LABELS,
        False,
        "Leave out files without a label, labels without a file, and missing classes.",
        "Leave out what has no label or no file",
    )
    na: str | None = option(
        LABELS,
        None,
        "Comma-separated codes of a missing class. Default: n/a, na, nan, null.",
        "Codes of a missing class",
    )
    drop_subjects: str | None = option(
        LABELS,
        None,
        "Comma-separated ids of subjects to leave out, or incomplete: those without data for some "
        "node.",
        "Subjects to leave out",
    )
    nodes: str | None = option(
        NODES,
        None,
        "Node table (name, regions, and x, y, z if known), a dseg.tsv, or an atlas: aal, "
        "dosenbach, power, seitzman.",
        "Atlas",
    )
    name_column: str | None = option(
        NODES, None, "Column of the node table with the names.", "Name column of the node table"
    )
    region_columns: str | None = option(
        NODES,
        None,
        "Comma-separated columns of the node table that are regions; the first is the default.",
        "Region columns of the node table",
    )
    number_names: bool = option(
        NODES, False, "Number nodes with equal names.", "Number nodes with equal names"
    )
    drop_nodes: bool = option(
        NODES,
        False,
        "Leave out of all graphs the nodes that have no data in some file.",
        "Leave out nodes without data",
    )

    node_types: str | None = option(
        NODES,
        None,
        "For a TU folder: names of the node labels, for example 0=C,1=N,2=O. Default: those in its "
        "README.",
        "Names of node types",
    )

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> TableOptions:
        """Options by name; an unknown name is refused."""
        known = table_options()
        for name in given:
            if name not in known:
                raise UnknownNameError("option of an import", name, known)
            if known[name].kind == "text" and not isinstance(given[name], str | None):
                msg = f"{name} must be a text; got {shown(given[name])}."
                raise InvalidParameterError(msg, parameter=name)
        return cls(**given)

    def to_parameters(self) -> dict[str, Any]:
        """The parameters of `import_folder` that were set."""
        lists = ("classes", "na", "region_columns", "node_types")
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        return {
            name: [x.strip() for x in value.split(",")] if name in lists else value
            for name, value in given.items()
            if value not in (None, False) and (value or name == "na")
        }


def table_options() -> dict[str, Option]:
    """The options by name, with their help."""
    return {f.name: option_of(f) for f in fields(TableOptions)}
