"""The measures of one answer. Labels come from a copy of the classifier that no explainer saw."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from denseflip.arena.child import Reply
from denseflip.arena.frozen import open_frozen
from denseflip.arena.problem import labels_of
from denseflip.counterfactual import Counterfactual, Label, Reading, Status
from denseflip.datasets import Dataset
from denseflip.experiments.worker import planted_in
from denseflip.graph import Edits, Graph
from denseflip.graph.pairs import decode
from denseflip.metrics import MEASURES, Case
from denseflip.oracles.session import Session
from denseflip.search.claims.claim import Claim
from denseflip.search.claims.intervals import FEWEST, prediction_interval
from denseflip.search.claims.places import Places

#: Measures of `denseflip.metrics` that are taken of every answer that is described.
DESCRIBED = ("cells", "as_read", "told", "cells_in_range", "robustness_1", "planted_first")
_DRAWS = 20  # redraws of the sentence, and perturbations
Side = Literal["in range", "between", "beyond"]


class Judge:
    """Judges answers about one data set and one frozen classifier.

    ``others`` are files and hashes of the same classifier from other trainings.
    """

    def __init__(
        self, dataset: Dataset, path: str, sha256: str, others: tuple[tuple[str, str], ...] = ()
    ) -> None:
        self.dataset = dataset
        self.oracle = open_frozen(Path(path), sha256).oracle
        self.others = [open_frozen(Path(p), digest).oracle for p, digest in others]

    @cached_property
    def labels(self) -> list[Label]:
        """The label of every graph of the data set."""
        return labels_of(self.oracle, self.dataset.graphs)

    def judge(self, graph_id: str, reply: Reply, *, described: bool) -> dict[str, Any]:
        """The columns of one answer; with those of its sentence if it is described."""
        graph = self.dataset[graph_id].graph
        before = self.labels[self.dataset.index_of(graph_id)]
        row: dict[str, Any] = {
            "label_before": before,
            "found": False,
            "problem": reply.problem,
            "forwards": reply.forwards,
            "backwards": reply.backwards,
            "calls": reply.forwards + reply.backwards,
            "background_calls": reply.background,
            "training_calls": reply.training,
        }
        if not reply.counted:
            row |= dict.fromkeys(name for name in row if name.endswith(("wards", "calls")))
        if reply.codes is None:
            return row
        after = Graph(graph.n_nodes, np.asarray(reply.codes, dtype=np.int64))
        label = self._label(after)
        changed = after.difference(graph)
        row |= {"label_after": label, "edits": changed.tolist(), "found": label != before}
        if not row["found"]:
            row["problem"] = row["problem"] or "the answer has the old label"
            return row
        removed = changed[np.isin(changed, graph.codes)]
        row |= {
            "ged": len(changed),
            "added": len(changed) - len(removed),
            "removed": len(removed),
            "sparsity": 1 - len(changed) / graph.n_pairs,
            **self._fidelity(graph, removed, before),
            "kept": self._kept(graph, after, before, label),
        }
        if described:
            row |= self._described(graph, changed, before, label, reply.result)
        return row

    def _label(self, graph: Graph) -> Label:
        return labels_of(self.oracle, [graph])[0]

    def _fidelity(self, graph: Graph, removed: Any, before: Label) -> dict[str, Any]:
        """Fidelity of the removed edges as an explanation; None if nothing is removed."""
        if not len(removed):
            return {"fidelity_plus": None, "fidelity_minus": None}
        without, alone = graph.toggle_codes(removed), Graph(graph.n_nodes, np.sort(removed))
        return {
            "fidelity_plus": int(self._label(without) != before),
            "fidelity_minus": int(self._label(alone) != before),
        }

    def _kept(self, graph: Graph, after: Graph, before: Label, label: Label) -> float | None:
        """Share of the other trainings that agree on the original in which the change flips too."""
        agreeing = [o for o in self.others if labels_of(o, [graph]) == [before]]
        if not agreeing:
            return None
        return float(np.mean([labels_of(o, [after]) == [label] for o in agreeing]))

    def _described(
        self, graph: Graph, changed: Any, before: Label, label: Label, own: Counterfactual | None
    ) -> dict[str, Any]:
        nodes = self.dataset.nodes
        there = np.isin(changed, graph.codes)
        n = graph.n_nodes
        edits = Edits(tuple(decode(changed[~there], n)), tuple(decode(changed[there], n)))
        result = Counterfactual(Status.FOUND, graph, edits, before, label)
        if own is not None and own.as_read is not None and own.as_read.language != "pairs":
            result = own  # it has a sentence of its own
        regions = nodes.taxonomy() if nodes.regions else None
        case = Case(
            result,
            regions=regions,
            background=list(zip(self.dataset.graphs, self.labels, strict=True)),
            session=Session(self.oracle),
            robustness=_DRAWS,
            statement=True,
            draws=_DRAWS,
            nodes=nodes,
            planted=planted_in(self.dataset),
        )
        row: dict[str, Any] = {name: MEASURES[name](case) for name in DESCRIBED}
        row["claim"] = None if case.claim is None else _claimed(case.claim, case.own_reading)
        row["side"] = None
        if case.claim is not None and case.claim.regions is not None:
            row["side"] = self.side(result, case.claim)
        return row

    def side(self, result: Counterfactual, claim: Claim) -> Side | None:
        """Where the region pairs that a sentence names end, in comparison with real graphs.

        ``in range`` if all of them end in the 95 % prediction interval of the graphs with the new
        label; ``between`` if the others end between the means of the two classes; ``beyond`` if one
        of them ends anywhere else. A region pair that began outside the interval and was brought
        nearer to it counts as ``between``.
        """
        places = Places.of_claim(result.original, claim)
        groups = [
            np.array(
                [
                    places.edges_of(graph)
                    for graph, given in zip(self.dataset.graphs, self.labels, strict=True)
                    if given == wanted
                ]
            )
            for wanted in (result.label_before, result.label_after)
        ]
        same, group = groups
        if len(group) < FEWEST or not len(same):
            return None
        touched = [places.column(place) for place in claim.places]
        low, high = (end[touched] for end in prediction_interval(group, places.sizes))
        start = places.edges_of(result.original)[touched]
        end = places.edges_of(result.counterfactual)[touched]
        inside = (low <= end) & (end <= high)
        ends = np.sort([same.mean(axis=0)[touched], group.mean(axis=0)[touched]], axis=0)
        between = (ends[0] <= end) & (end <= ends[1])
        gap, gap_before = (np.maximum(low - x, x - high) for x in (end, start))
        nearer = (gap_before > 0) & (gap < gap_before)
        if inside.all():
            return "in range"
        return "between" if (inside | between | nearer).all() else "beyond"


def _claimed(claim: Claim, reading: Reading) -> dict[str, Any]:
    """What a sentence claims, so that others can test it: places, connections added and removed."""
    return {
        "language": claim.language,
        "taxonomy": claim.taxonomy.name,
        "reading": reading,
        "balanced": claim.balanced,
        "amounts": [[*amount.place, amount.added, amount.removed] for amount in claim.amounts],
    }
