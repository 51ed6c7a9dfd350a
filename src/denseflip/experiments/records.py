"""Records of the store: save an explanation or a story, and restore it complete.

A record of an explanation is a dictionary: ``id`` and ``spec`` (what was run), ``result`` (the
columns of tables), ``times``, and ``whole``: what else is needed, together with the data set, to
restore the result with its trace. A record of a story has ``told`` instead; sentences are composed
again from what was tested. Graph and nodes are in the data set, so only the digest of the graph is
stored; the edits follow from the trace. A trace is stored as compressed columns of small numbers:
some hundred bytes instead of some thousand as JSON.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Ask, Counterfactual, Status, Step
from denseflip.datasets import Dataset
from denseflip.errors import DatasetError, FileFormatError, StoreError
from denseflip.graph import Codes, Edits, Graph, Pair
from denseflip.graph.pairs import decode
from denseflip.limits import max_size, show_size
from denseflip.metrics import MEASURES, Case
from denseflip.runs.identity import plain_json
from denseflip.runs.result_store import CHECKS, Record, make_record
from denseflip.story.story import Story

_NO_GRAPH = Graph.from_edges(1, [])
_EMPTY = Counterfactual(Status.FOUND, _NO_GRAPH, Edits(), 0, 0).to_dict()
_MEMBERS = ("front", "diverse")  # other answers that a result carries
_APART = ("original", "edits", "trace", "elapsed", *_MEMBERS)
_FIELDS = tuple(f.name for f in fields(Counterfactual) if f.name not in _APART)
_FROM_COLUMNS = (  # fields of a result that are also columns
    *("status", "label_before", "label_after", "search_calls", "refine_calls", "background_calls"),
    *("distinct_calls", "iterations", "minimal", "notes", "chosen"),
)
_MADE_ANEW = (  # parts of a story that it derives
    *("statement", "lead", "items", "short", "detailed", "verified", "true_as_read", "reading"),
    *("correct", "badge", "footnotes", "regions", "nodes"),
)
_DIGITS = 16  # of the original's digest, in hexadecimal
_COLUMNS = 7
_STEPPED = 0x80
TIMES = ("search", "search_oracle", "measures", "oracle", "evaluations")


# ---- columns ----------------------------------------------------------------------------

# Times are stored separately, since they differ between runs; stability needs many explanations.
_MEASURED = [m for m in MEASURES.values() if m.name != "elapsed" and "seeds" not in m.needs]
_FIRST = ("status", "found", "label_before", "label_after")

# Description: the chosen method, the language, the reading in which it is true.
_SPOKEN = ("chosen", "language", "reading")

# In the order of tables and exports. Those after `notes` are of found counterfactuals only, but
# for ``d`` and ``C``: what the reading of a method calls distance and calls.
COLUMNS = (
    *_FIRST,
    *(m.name for m in _MEASURED if m.always and m.name not in _FIRST),
    "notes",
    *(m.name for m in _MEASURED if not m.always),
    *_SPOKEN,
    "label_true",  # the data set's
    "d",
    "C",
)


def columns_of(case: Case) -> dict[str, Any]:
    """Return all columns of a case except ``d`` and ``C``, which depend on the reading."""
    result = case.result
    row: dict[str, Any] = dict.fromkeys(COLUMNS[: COLUMNS.index("d")])
    row.update((m.name, m(case)) for m in _MEASURED)
    row.update(
        status=str(result.status),
        label_before=result.label_before,
        label_after=result.label_after,
        notes=list(result.notes),
        chosen=result.chosen,
        language=None if case.claim is None else case.claim.spoken,
        reading=case.true_reading,
    )
    return row


# ---- results ----------------------------------------------------------------------------


def result_record(
    identity: Mapping[str, Any],
    result: Counterfactual,
    row: Mapping[str, Any],
    times: Mapping[str, Any],
) -> Record:
    """Return the record of one explanation.

    Parameters
    ----------
    identity : of its spec.
    result : the explanation.
    row : its columns.
    times : durations; the only part that differs from run to run.
    """
    whole = _pack(result, _stated(identity, row)) | {"original": _digest(result.original)}
    times = {**times, "elapsed": result.elapsed}
    return make_record(identity, result=dict(row), whole=whole, times=times)


def read_result(record: Record, dataset: Dataset) -> Counterfactual:
    """Restore the result of a record, equal in every field.

    Parameters
    ----------
    record : of a `Store`.
    dataset : the data set that was explained.

    Raises
    ------
    StoreError
        If the record holds no explanation, or a damaged one.
    DatasetError
        If it is not the data set that was explained.
    """
    spec = record["spec"]
    if spec.get("kind") != "run" or "whole" not in record:
        msg = (
            f"The record {record['id'][:12]} has no explanation (kind {spec.get('kind')!r}). "
            "Explanations have the kind 'run' and an entry 'whole'."
        )
        raise StoreError(msg)
    whole = dict(record["whole"])
    graph = _graph_of(record, whole.pop("original", "?"), dataset)
    return _unpack(whole, _stated(spec, record["result"]), graph, record["times"]["elapsed"])


def edit_codes(record: Record) -> Codes:
    """Return the pairs that an explanation changed, as sorted codes ``u * n + v``."""
    return _edit_codes(record["whole"])


def _stated(spec: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result as far as its spec and its columns hold it, as plain data."""
    method = spec["method"]
    return {
        **_EMPTY,
        "target": spec["target"],
        "method": method["name"],
        "parameters": method["resolved"],
        "seed": spec["seed"],
        **{name: row[name] for name in _FROM_COLUMNS},
    }


def _pack(result: Counterfactual, like: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result as plain data, as far as it differs from ``like``; without graph and times.

    Other answers (`_MEMBERS`) are stored as far as they differ from the result.
    """
    bare: dict[str, Any] = {"original": _NO_GRAPH, "edits": Edits(), "trace": ()}
    plain = replace(result, **bare, front=(), diverse=()).to_dict()
    n = result.original.n_nodes
    kept = {name: plain[name] for name in _FIELDS if plain[name] != like[name]}
    kept["trace"] = _pack_trace(result.trace, n)
    codes = np.sort(_codes(result.edits.pairs, n))
    # The result of a user's method may differ from its trace.
    if not np.array_equal(_odd(_codes((p for s in result.trace for p in s.toggled), n)), codes):
        kept["edits"] = codes.tolist()
    for name in _MEMBERS:
        if members := getattr(result, name):
            kept[name] = [_pack(member, plain) for member in members]
    return kept


def _unpack(
    kept: Mapping[str, Any], like: Mapping[str, Any], graph: Graph, elapsed: float
) -> Counterfactual:
    """Inverse of `_pack`."""
    if unknown := set(kept) - {*_FIELDS, *_MEMBERS, "trace", "edits"}:
        msg = f"A stored result has unknown parts: {', '.join(sorted(unknown))}."
        raise StoreError(msg)
    plain = {**like, **{name: kept[name] for name in _FIELDS if name in kept}}
    codes, n = _edit_codes(kept), graph.n_nodes
    there = np.isin(codes, graph.codes)
    members: dict[str, Any] = {
        name: tuple(_unpack(member, plain, graph, elapsed) for member in kept.get(name, ()))
        for name in _MEMBERS
    }
    try:
        found = Counterfactual.from_dict(plain)
    except FileFormatError as error:
        msg = f"A stored result cannot be read ({error})"
        raise StoreError(msg) from error
    return replace(
        found,
        original=graph,
        edits=Edits(tuple(decode(codes[~there], n)), tuple(decode(codes[there], n))),
        trace=_unpack_trace(kept["trace"]),
        elapsed=elapsed,
        **members,
    )


def _edit_codes(kept: Mapping[str, Any]) -> Codes:
    listed, packed = kept.get("edits"), kept["trace"]
    if listed is not None:
        return np.array(listed, dtype=np.int64)
    columns = _unpack_columns(packed)
    return _odd(columns[4].astype(np.int64) * packed["n_nodes"] + columns[5])


def _digest(graph: Graph) -> str:
    return graph.digest.hex()[:_DIGITS]


def _graph_of(record: Record, digest: Any, dataset: Dataset) -> Graph:
    """Return the graph that a record is about; refuse another data set."""
    name: str = record["spec"]["graph"]
    graph = dataset[name].graph
    if _digest(graph) != digest:
        msg = (
            f"The record {record['id'][:12]} is about a graph {name!r} that differs from the one "
            f"in {dataset.name!r}. Give the data set that was explained."
        )
        raise DatasetError(msg)
    return graph


# ---- stories ----------------------------------------------------------------------------


def story_record(identity: Mapping[str, Any], story: Story, times: Mapping[str, Any]) -> Record:
    """Return the record of one story.

    Parameters
    ----------
    identity : of its spec.
    story : the story.
    times : durations; the only part that differs from run to run.
    """
    told = {key: value for key, value in story.to_dict().items() if key not in _MADE_ANEW}
    told |= {"result": _pack(story.result, _EMPTY), "original": _digest(story.result.original)}
    # As restored from a store, so that the result does not depend on whether it was stored.
    plain = json.loads(plain_json(told))
    return make_record(identity, told=plain, times={**times, "elapsed": story.result.elapsed})


def read_story(record: Record, dataset: Dataset) -> Story:
    """Restore the story of a record.

    Parameters
    ----------
    record : of a `Store`.
    dataset : the data set that was explained.

    Raises
    ------
    StoreError
        If the record holds no story.
    DatasetError
        If it is not the data set that was explained.
    """
    spec, told = record["spec"], record.get("told")
    if spec.get("kind") != "story" or not isinstance(told, Mapping):
        msg = f"The record {record['id'][:12]} has no story (kind {spec.get('kind')!r})."
        raise StoreError(msg)
    graph = _graph_of(record, told.get("original"), dataset)
    try:
        result = _unpack(told["result"], _EMPTY, graph, record["times"]["elapsed"])
        nodes = dataset.nodes_of(graph).to_dict()
        story = Story.from_dict({**told, "result": result.to_dict(), "nodes": nodes})
    except (AttributeError, LookupError, TypeError, FileFormatError) as error:
        msg = f"The record {record['id'][:12]} cannot be read as a story ({error})."
        raise StoreError(msg) from error
    # Share the graph and the node table between the stories of a data set.
    return replace(story, nodes=dataset.nodes_of(graph), result=result)


# ---- traces -----------------------------------------------------------------------------


def _pack_trace(trace: Sequence[Step], n_nodes: int) -> dict[str, Any]:
    """Pack a trace as columns: kind of step, numbers of pairs and nodes, iteration, pairs, nodes.

    The description of a step (block, structure, question, name) is stored once per kind. If the
    nodes of a step are just the ends of its pairs, as for single edges, they are not repeated.
    """
    kinds: dict[tuple[str, str, str, str], int] = {}
    of_kind = [
        kinds.setdefault((s.block, s.structure, str(s.ask), s.name), len(kinds)) for s in trace
    ]
    plain = [tuple(s.nodes) == _ends(s.toggled) for s in trace]
    own_nodes = [() if same else s.nodes for s, same in zip(trace, plain, strict=True)]
    counts = [0 if same else 1 + len(s.nodes) for s, same in zip(trace, plain, strict=True)]
    columns = [
        _narrow(of_kind),
        _narrow(len(s.toggled) for s in trace),
        _narrow(counts),
        _narrow(s.iteration for s in trace),
        _narrow(u for s in trace for u, _ in s.toggled),
        _narrow(v for s in trace for _, v in s.toggled),
        _narrow(v for nodes in own_nodes for v in nodes),
    ]
    # Iterations increase, and sorted pairs are smaller as differences.
    data = min((_squeeze(columns, stepped) for stepped in ({3}, {3, 4, 5})), key=len)
    return {
        "n_nodes": n_nodes,
        "n_steps": len(trace),
        "kinds": [list(kind) for kind in kinds],
        "steps": base64.b64encode(data).decode("ascii"),
    }


def _unpack_trace(packed: Mapping[str, Any]) -> tuple[Step, ...]:
    of_kind, n_pairs, n_nodes, iterations, low, high, nodes = (
        column.tolist() for column in _unpack_columns(packed)
    )
    kinds = [(block, structure, Ask(ask), name) for block, structure, ask, name in packed["kinds"]]
    pairs = list(zip(low, high, strict=True))
    steps, at, node = [], 0, 0
    for kind, k, m, iteration in zip(of_kind, n_pairs, n_nodes, iterations, strict=True):
        block, structure, ask, name = kinds[kind]
        toggled = tuple(pairs[at : at + k])
        at += k
        ends = _ends(toggled) if m == 0 else tuple(nodes[node : node + m - 1])
        node += max(0, m - 1)
        steps.append(Step(block, structure, toggled, ask, ends, name, iteration))
    return tuple(steps)


def _unpack_columns(packed: Mapping[str, Any]) -> list[npt.NDArray[Any]]:
    try:
        columns = _columns_of(packed)
    except (LookupError, OverflowError, TypeError, ValueError, zlib.error) as error:
        msg = f"A stored trace cannot be read ({type(error).__name__}: {error!s:.80})."
        raise StoreError(msg) from error
    if len(columns) != _COLUMNS:
        msg = f"A stored trace must have {_COLUMNS} columns; got {len(columns)}."
        raise StoreError(msg)
    return columns


def _columns_of(packed: Mapping[str, Any]) -> list[npt.NDArray[Any]]:
    unpack, most = zlib.decompressobj(), max_size()
    data = unpack.decompress(base64.b64decode(packed["steps"]), most)
    if not unpack.eof:
        msg = f"A stored trace is truncated, or unpacks to more than {show_size(most)}."
        raise StoreError(msg)
    n_steps, at = packed["n_steps"], _COLUMNS
    columns: list[npt.NDArray[Any]] = []
    for i, form in enumerate(data[:_COLUMNS]):
        width = form & ~_STEPPED
        if i < 4:
            count = n_steps
        elif i < 6:
            count = int(columns[1].sum())
        else:
            count = int(np.maximum(columns[2].astype(np.int64) - 1, 0).sum())
        column = np.frombuffer(data, f"<u{width}", count, at)
        columns.append(np.cumsum(column, dtype=column.dtype) if form & _STEPPED else column)
        at += width * count
    return columns


def _squeeze(columns: Sequence[npt.NDArray[Any]], stepped: set[int]) -> bytes:
    """Compress columns one after the other, some of them as differences (modulo their width).

    Each column starts with a byte: its width, and whether it holds differences.
    """
    parts = [
        np.diff(column, prepend=column.dtype.type(0)) if i in stepped else column
        for i, column in enumerate(columns)
    ]
    forms = (c.itemsize | (_STEPPED if i in stepped else 0) for i, c in enumerate(columns))
    return zlib.compress(bytes(forms) + b"".join(part.tobytes() for part in parts), 9)


def _narrow(values: Iterable[int]) -> npt.NDArray[Any]:
    """Return the numbers in the narrowest unsigned type that fits."""
    array = np.fromiter(values, dtype=np.int64)
    largest = int(array.max(initial=0))
    width = next(w for w in (1, 2, 4, 8) if largest < 1 << 8 * w)
    return array.astype(f"<u{width}")


def _ends(pairs: Iterable[Pair]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(v for pair in pairs for v in pair))


def _odd(codes: Codes) -> Codes:
    values, counts = np.unique(codes, return_counts=True)
    odd: Codes = values[counts % 2 == 1]
    return odd


def _codes(pairs: Iterable[Pair], n_nodes: int) -> Codes:
    array = np.asarray(list(pairs), dtype=np.int64).reshape(-1, 2)
    return np.asarray(array[:, 0] * n_nodes + array[:, 1])


def _is_complete(record: Record) -> bool:
    """Whether the record of an explanation has everything that tables need."""
    spec = record["spec"]
    named = [spec.get(part) for part in ("data", "oracle", "method")]
    result, times = record.get("result"), record.get("times")
    return (
        all(isinstance(x, dict) and isinstance(x.get("name"), str) for x in named)
        and isinstance(spec["method"].get("parameters"), dict)
        and isinstance(spec.get("graph"), str)
        and isinstance(spec.get("seed"), int)
        and {"profile", "budget"} <= spec.keys()
        and isinstance(result, dict)
        and isinstance(result.get("calls"), int)
        and all(_is_plain(value) for value in result.values())
        and isinstance(times, dict)
        and all(isinstance(times.get(key), (int, float)) for key in TIMES)
    )


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return not any(isinstance(x, (list, dict)) for x in value)
    return not isinstance(value, dict)


CHECKS["run"] = _is_complete
