"""The columns of a result: every measure of one explanation, JSON-ready."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from denseflip import metrics
from denseflip.counterfactual import Counterfactual, Label
from denseflip.datasets import Dataset
from denseflip.experiments.spec import MeasureSpec
from denseflip.graph import Graph, Taxonomy
from denseflip.oracles.protocol import Oracle, clean_labels

_LOOK_AHEAD = 32
LEVELS = {"robustness_1": 0.01, "robustness_5": 0.05}  # column → share of pairs flipped

# Columns in the order of tables and exports; those after `notes` only for found counterfactuals.
COLUMNS = (
    "status",
    "found",
    "label_before",
    "label_after",
    "distance",
    "relative_distance",
    "calls",
    "search_calls",
    "refine_calls",
    "background_calls",
    "amortised_calls",
    "distinct_calls",
    "iterations",
    "n_added",
    "n_removed",
    "notes",
    "minimal",
    "regions_touched",
    "regions_to_cover",
    "region_pairs_to_cover",
    "region_entropy",
    "density_drift",
    "plausibility",
    *LEVELS,
    "statement_verified",
    "statement_pairs",
    "d",
    "C",
)


def columns_of(
    result: Counterfactual,
    dataset: Dataset,
    oracle: Oracle,
    background: Sequence[tuple[Graph, Label]],
    wanted: MeasureSpec,
) -> dict[str, Any]:
    """All columns but ``d`` and ``C``, which belong to the profile.

    Parameters
    ----------
    background : the data set's graphs with the oracle's labels.
    wanted : which of the dearer measures to take.
    """
    row: dict[str, Any] = {
        "status": str(result.status),
        "found": result.found,
        "label_before": result.label_before,
        "label_after": result.label_after,
        "distance": result.distance,
        "relative_distance": result.relative_distance,
        "calls": result.calls,
        "search_calls": result.search_calls,
        "refine_calls": result.refine_calls,
        "background_calls": result.background_calls,
        "amortised_calls": result.amortised_calls,
        "distinct_calls": result.distinct_calls,
        "iterations": result.iterations,
        "n_added": len(result.added),
        "n_removed": len(result.removed),
        "notes": list(result.notes),
    }
    row.update(dict.fromkeys(COLUMNS[len(row) : COLUMNS.index("d")]))
    if not result.found:
        return row
    row["minimal"] = result.minimal
    if wanted.minimality:
        row["minimal"] = metrics.is_minimal(result, oracle)
    if dataset.nodes.regions:
        regions = dataset.nodes.taxonomy(wanted.taxonomy)
        row["regions_touched"] = metrics.regions_touched(result, regions)
        row["regions_to_cover"] = metrics.regions_to_cover(result, regions)
        row["region_pairs_to_cover"] = metrics.region_pairs_to_cover(result, regions)
        row["region_entropy"] = metrics.region_entropy(result, regions)
        if wanted.statement:
            row.update(statement_test(result, oracle, regions))
    row["density_drift"] = metrics.density_drift(result)
    same = [graph for graph, label in background if label == result.label_after]
    row["plausibility"] = metrics.plausibility(result, same)
    if wanted.robustness:
        for column, share in LEVELS.items():
            row[column] = metrics.robustness(
                result, oracle, share, repeats=wanted.robustness, seed=result.seed
            )
    return row


def statement_test(result: Counterfactual, oracle: Oracle, taxonomy: Taxonomy) -> dict[str, Any]:
    """Whether the sentence's edits alone flip the oracle, and how many region pairs it names.

    What `story.verify` finds, without its sentence: region pairs are taken in its order until the
    edits inside them flip the oracle. Here it is done for thousands of results, so on pair codes.
    """
    from denseflip.story.regions import RegionTable

    order = RegionTable(taxonomy, result.edits).cells
    pairs = np.asarray(result.edits.pairs, dtype=np.int64)
    low, high = np.sort(taxonomy.array[pairs], axis=1).T
    place = np.zeros((len(taxonomy.regions),) * 2, dtype=np.int64)
    for i, cell in enumerate(order):
        place[cell] = i
    rank = place[low, high]
    codes = pairs[:, 0] * result.original.n_nodes + pairs[:, 1]
    done, batch = 0, 1
    while done < len(order):
        sizes = range(done + 1, min(done + batch, len(order)) + 1)
        graphs = [result.original.toggle_codes(codes[rank < k]) for k in sizes]
        for k, label in zip(sizes, clean_labels(oracle.predict(graphs), len(graphs)), strict=True):
            wanted = result.target
            if label != result.label_before if wanted is None else label == wanted:
                return {"statement_verified": True, "statement_pairs": k}
        done, batch = done + len(graphs), min(2 * batch, _LOOK_AHEAD)
    return {"statement_verified": False, "statement_pairs": len(order)}
