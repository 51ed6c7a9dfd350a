"""A data set on the terminal: its summary and its card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from denseflip.datasets import Card, Dataset


def figures(dataset: Dataset) -> Any:
    """Return the summary of a data set as a table, to be printed without markup."""
    from rich.table import Table

    s = dataset.summary()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("data set", s.name)
    table.add_row("graphs", str(s.n_graphs))
    for label, (class_name, count) in enumerate(s.graphs_per_class.items()):
        line = f"{count:>4} ({count / s.n_graphs:.0%})  {class_name}"
        table.add_row(f"  class {label}", line)
    table.add_row("nodes", str(s.n_nodes))
    spread = f"{s.edges_mean:.1f} on average ({s.edges_min}–{s.edges_max})"
    same = f"{s.edges_min} in every graph"
    table.add_row("edges", same if s.edges_min == s.edges_max else spread)
    table.add_row("density", f"{s.density:.4f}")
    table.add_row(
        "degrees",
        f"{s.degree_mean:.1f} ± {s.degree_sd:.1f} ({s.degree_min}–{s.degree_max}); "
        f"{s.isolated_mean:.1f} isolated nodes per graph",
    )
    if s.taxonomies:
        for i, (taxonomy, count) in enumerate(s.taxonomies.items()):
            regions = dataset.nodes.taxonomy(taxonomy).regions
            some = ", ".join(regions[:8]) + (", …" if count > 8 else "")
            table.add_row("" if i else "regions", f"{taxonomy} ({count}): {some}")
    else:
        table.add_row("regions", "none")
    if dataset.subjects:
        table.add_row("subjects", ", ".join(dataset.subjects))
    if dataset.weights is not None:
        table.add_row("weights", "kept; classifiers of weighted matrices can be trained")
    some_ids = ", ".join(dataset.ids[:4]) + (", … (--ids lists all)" if len(dataset) > 4 else "")
    table.add_row("ids", some_ids)
    return table


def print_card(console: Any, card: Card) -> None:
    """Print the card of a data set: description, source, licence, citation, caveats."""
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for title in ("description", "sizes", "source", "licence", "citation"):
        if text := getattr(card, title):
            table.add_row("cite" if title == "citation" else title, text)
    for i, caveat in enumerate(card.caveats):
        table.add_row("caveats" if i == 0 else "", caveat)
    console.print(table, markup=False)
