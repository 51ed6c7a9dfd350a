"""`Scene`: the content of a figure. Every `plot_` and `view_` function starts here.

They share the parameters ``regions`` (for colours and counts), ``max_edges`` (maximum number of
edits drawn) and ``title``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Counterfactual
from denseflip.errors import InvalidParameterError
from denseflip.graph import Cells, Nodes, Pair, Taxonomy
from denseflip.graph.pairs import decode
from denseflip.report.palette import NODE, region_colours, region_markers, split_side

if TYPE_CHECKING:
    from denseflip.story.story import Story

MAX_EDGES = 400
_MNI_LOW, _MNI_HIGH = (-95.0, -135.0, -85.0), (95.0, 95.0, 110.0)
_MNI_SPREAD = 60.0  # millimetres; the minimum extent of a human brain's nodes on the longest axis


@dataclass(frozen=True)
class Scene:
    """The content of a figure.

    Attributes
    ----------
    nodes : names, regions and coordinates.
    taxonomy : the regions in use; a single one, named ``nodes``, if none is known.
    removed, added : the edits that are drawn.
    n_removed, n_added : the total numbers of edits.
    title : headline of the figure.
    note : what was left out, or empty.
    has_regions : whether the nodes have regions.
    """

    nodes: Nodes
    taxonomy: Taxonomy
    removed: tuple[Pair, ...]
    added: tuple[Pair, ...]
    n_removed: int
    n_added: int
    title: str
    note: str
    has_regions: bool = True

    @cached_property
    def colours(self) -> tuple[str, ...]:
        """One colour per region; a neutral one without regions."""
        if not self.has_regions:
            return (NODE,) * len(self.taxonomy.regions)
        return region_colours(self.taxonomy.regions)

    @cached_property
    def markers(self) -> tuple[str, ...]:
        """One marker per region."""
        return region_markers(len(self.taxonomy.regions))

    @cached_property
    def points(self) -> npt.NDArray[np.float64] | None:
        """Coordinates, one row per node, or None."""
        given = self.nodes.coordinates
        return None if given is None else np.asarray(given, dtype=np.float64)

    @cached_property
    def in_mni(self) -> bool:
        """Whether the coordinates can be those of a human brain in MNI space."""
        points = self.points
        if points is None or not len(points):
            return False
        low, high = points.min(axis=0), points.max(axis=0)
        inside = bool((low >= _MNI_LOW).all() and (high <= _MNI_HIGH).all())
        return inside and float((high - low).max()) >= _MNI_SPREAD

    @cached_property
    def sides(self) -> tuple[str, ...]:
        """``"L"``, ``"R"`` or ``""`` for each node, from a hemisphere column or the names."""
        column = next(
            (v for k, v in self.nodes.regions.items() if k.lower() in {"hemisphere", "side"}), None
        )
        if column is not None:
            return tuple(x[:1].upper() if x[:1].upper() in {"L", "R"} else "" for x in column)
        regions = [split_side(self.taxonomy.region_of(i))[1] for i in range(self.nodes.n_nodes)]
        if all(regions):
            return tuple(regions)
        return tuple(split_side(name)[1] for name in self.nodes.names)

    @cached_property
    def changes(self) -> npt.NDArray[np.int64]:
        """Number of drawn edits of each node."""
        ends = np.asarray([*self.removed, *self.added], dtype=np.int64).reshape(-1)
        return np.bincount(ends, minlength=self.nodes.n_nodes)

    @property
    def touched(self) -> npt.NDArray[np.int64]:
        """Nodes with at least one drawn edit, ascending."""
        return np.flatnonzero(self.changes)

    @cached_property
    def cells(self) -> Cells:
        """The region pairs, for all counts by region."""
        return Cells(self.taxonomy)

    @cached_property
    def ends(self) -> npt.NDArray[np.int64]:
        """Number of ends of drawn edits in each region."""
        return self.cells.ends([*self.removed, *self.added])


def as_story(given: Any, nodes: Nodes | None = None) -> Story:
    """Convert the input of a figure to a story: a story, or a result together with its nodes.

    Parameters
    ----------
    given : a `Story`; a `Counterfactual`; or an entry of `explain_many` or `compare` that has a
        story.
    nodes : names, regions and coordinates of the nodes of a result. A story has its own.

    Raises
    ------
    InvalidParameterError
        If there is nothing to draw.
    """
    from denseflip.story.story import Story

    if isinstance(given, Counterfactual):
        from denseflip.story.describe import describe

        return describe(given, nodes)
    story = getattr(given, "story", given)
    if story is None and given is not None:
        reason = getattr(given, "failure", "") or getattr(given, "reason", "")
        msg = f"There is nothing to draw: {reason}"
        raise InvalidParameterError(msg)
    if not isinstance(story, Story):
        msg = (
            "Pass a story from describe(result, nodes, oracle), or a result together with its "
            f"node table, as in plot_regions(result, nodes=nodes); got {type(given).__name__}."
        )
        raise InvalidParameterError(msg)
    if nodes is not None and nodes != story.nodes:
        msg = (
            "A story has its own nodes. Omit nodes, or pass the result: "
            "plot_regions(story.result, nodes=nodes)."
        )
        raise InvalidParameterError(msg, parameter="nodes")
    return story


def make_scene(
    story: Story | Any,
    *,
    nodes: Nodes | None = None,
    regions: str | Taxonomy | None = None,
    max_edges: int | None = None,
    title: str | None = None,
) -> Scene:
    """Reduce a story to the content of a figure.

    Parameters
    ----------
    story, nodes : the input, as in `as_story`.
    regions : regions to use instead of the story's: a column of the node table, two columns crossed
        (``"lobe*hemisphere"``), or a `Taxonomy`.
    max_edges : maximum number of edits to draw, sampled evenly from each region pair; None for all.
    title : headline; None for a default, an empty text for none.

    Raises
    ------
    InvalidParameterError
        If ``max_edges`` is not a positive number, or the regions belong to other nodes.
    UnknownNameError
        If the node table has no such regions.
    """
    whole = isinstance(max_edges, (int, np.integer)) and not isinstance(max_edges, bool)
    if max_edges is not None and (not whole or max_edges < 1):
        msg = f"max_edges must be a number of edges, 1 or more, or None for all; got {max_edges!r}."
        raise InvalidParameterError(msg)
    story = as_story(story, nodes)
    result = story.result
    table = story.nodes
    known = _taxonomy(story, regions)
    used = known or Taxonomy("nodes", ("nodes",), (0,) * table.n_nodes)
    removed, added = tuple(result.removed), tuple(result.added)
    drawn_removed, drawn_added, note = removed, added, ""
    if max_edges is not None and len(removed) + len(added) > max_edges:
        drawn_removed, drawn_added = thin(removed, added, used, max_edges)
        total, kept = len(removed) + len(added), len(drawn_removed) + len(drawn_added)
        sample = "sampled evenly from each region pair" if known else "sampled evenly"
        note = (
            f"{kept:,} of {total:,} edits drawn ({len(drawn_removed):,} removed, "
            f"{len(drawn_added):,} added), {sample}; {total - kept:,} left out."
        )
    return Scene(
        table,
        used,
        drawn_removed,
        drawn_added,
        len(removed),
        len(added),
        headline(story) if title is None else title,
        note,
        known is not None,
    )


def _taxonomy(story: Story, regions: str | Taxonomy | None) -> Taxonomy | None:
    if isinstance(regions, Taxonomy):
        if len(regions.index) != story.nodes.n_nodes:
            msg = (
                f"regions covers {len(regions.index)} nodes; the graph has {story.nodes.n_nodes}. "
                "Use regions of the same nodes."
            )
            raise InvalidParameterError(msg)
        return regions
    if regions:
        return story.nodes.taxonomy(regions)
    if story.taxonomy is None and story.nodes.regions:
        return (
            story.nodes.taxonomy()
        )  # the sentence names nodes or pairs, but their regions can be shown
    return story.taxonomy


def thin(
    removed: Sequence[Pair], added: Sequence[Pair], taxonomy: Taxonomy, keep: int
) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """Sample ``keep`` edits so that every region pair keeps its share, by largest remainder."""
    cells = Cells(taxonomy)
    groups = {
        (kind, *cell): decode(codes, cells.n_nodes)
        for kind, pairs in enumerate((removed, added))
        for cell, codes in cells.split(pairs).items()
    }
    total = len(removed) + len(added)
    quota = {key: keep * len(pairs) / total for key, pairs in groups.items()}
    seats = {key: int(share) for key, share in quota.items()}
    spare = keep - sum(seats.values())
    for key in sorted(quota, key=lambda k: (seats[k] - quota[k], k))[:spare]:
        seats[key] += 1
    drawn: tuple[list[Pair], list[Pair]] = ([], [])
    for key in sorted(groups):
        pairs, count = groups[key], seats[key]
        drawn[key[0]].extend(pairs[int(i * len(pairs) / count)] for i in range(count))
    return tuple(drawn[0]), tuple(drawn[1])


# ---- words --------------------------------------------------------------------------------


def headline(story: Story) -> str:
    """Title of a figure: the subject, the labels and the method."""
    result = story.result
    before, after = story.class_name(result.label_before), story.class_name(result.label_after)
    change = f"{before} → {after}" if result.found else f"{before}, {status_words(story)}"
    return f"{story.subject}: {change} ({result.method})" if result.method else change


def status_words(story: Story) -> str:
    """The status of the search in a few words."""
    return {
        "found": "counterfactual found",
        "exhausted": "no counterfactual found",
        "budget": "none found within the limits",
        "not-needed": "already has the target class",
    }[str(story.result.status)]
