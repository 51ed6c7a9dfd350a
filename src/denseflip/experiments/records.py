"""Records of the store: save one explanation, and restore the complete result.

A record is a dictionary: ``id`` and ``spec`` (what was run), ``result`` (the columns of tables),
``times``, and ``whole``: what else is needed, together with the data set, to restore the result
with its trace. The graph is in the data set, so only its digest is stored; the edits follow from
the trace. A trace is stored as compressed columns of small numbers: some hundred bytes instead of
some thousand as JSON.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Ask, AsRead, Counterfactual, Status, Step
from denseflip.errors import DatasetError, StoreError
from denseflip.graph import Codes, Edits, Graph, Pair
from denseflip.graph.pairs import decode
from denseflip.limits import max_size, show_size
from denseflip.runs.result_store import CHECKS, Record, make_record

if TYPE_CHECKING:
    from denseflip.datasets import Dataset

_FROM_COLUMNS = (  # fields of a result that are also columns
    "label_before",
    "label_after",
    "search_calls",
    "refine_calls",
    "background_calls",
    "distinct_calls",
    "iterations",
    "minimal",
)
_DIGITS = 16  # of the original's digest, in hexadecimal
_COLUMNS = 7
_STEPPED = 0x80
TIMES = ("search", "search_oracle", "measures", "oracle", "evaluations")


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
    whole: dict[str, Any] = {
        "original": result.original.digest.hex()[:_DIGITS],
        "trace": _pack_trace(result.trace, result.original.n_nodes),
    }
    # The result of a user's method may differ from its trace, or have another name.
    n = result.original.n_nodes
    if not np.array_equal(_odd_codes(result.trace, n), _sorted_codes(result.edits.pairs, n)):
        whole["edits"] = {
            "added": _sorted_codes(result.added, n).tolist(),
            "removed": _sorted_codes(result.removed, n).tolist(),
        }
    whole.update(_told(result))
    if result.front:
        whole["front"] = [_member(member, result) for member in result.front]
    stated = _stated(identity, row)
    other = {key: getattr(result, key) for key in stated if getattr(result, key) != stated[key]}
    if other:
        whole["other"] = {
            key: list(value) if isinstance(value, tuple) else value for key, value in other.items()
        }
    return make_record(
        identity, result=dict(row), whole=whole, times={**times, "elapsed": result.elapsed}
    )


def read_result(record: Record, dataset: Dataset) -> Counterfactual:
    """Restore the result of a record, equal in every field.

    Parameters
    ----------
    record : of a `Store`.
    dataset : the data set that was explained.

    Raises
    ------
    StoreError
        If the record holds no explanation.
    DatasetError
        If it is not the data set that was explained.
    """
    spec, row = record["spec"], record["result"]
    if spec.get("kind") != "run" or "whole" not in record:
        msg = (
            f"The record {record['id'][:12]} has no explanation (kind {spec.get('kind')!r}). "
            "Explanations have the kind 'run' and an entry 'whole'."
        )
        raise StoreError(msg)
    whole, graph = record["whole"], dataset[spec["graph"]].graph
    if not graph.digest.hex().startswith(whole["original"]):
        msg = (
            f"The record {record['id'][:12]} is about a graph {spec['graph']!r} of "
            f"{spec['data']['name']!r} that differs from the one in {dataset.name!r}. "
            "Give the data set that was explained."
        )
        raise DatasetError(msg)
    fields = _stated(spec, row)
    fields.update(whole.get("other", {}))
    fields["notes"] = tuple(fields["notes"])
    result = Counterfactual(
        original=graph,
        edits=_edits(edit_codes(record), graph),
        trace=_unpack_trace(whole["trace"]),
        elapsed=record["times"]["elapsed"],
        **_read_told(whole),
        **{**fields, "status": Status(fields["status"])},
    )
    return replace(result, front=tuple(_read_member(m, result) for m in whole.get("front", ())))


def edit_codes(record: Record) -> Codes:
    """Return the pairs that an explanation changed, as sorted codes ``u * n + v``."""
    listed = record["whole"].get("edits")
    if listed is not None:
        return np.sort(np.asarray(listed["added"] + listed["removed"], dtype=np.int64))
    return _packed_codes(record["whole"]["trace"])


def _stated(spec: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a result that its spec and its columns hold."""
    method = spec["method"]
    return {
        "status": row["status"],
        "notes": tuple(row["notes"]),
        "target": spec["target"],
        "method": method["name"],
        "parameters": method["resolved"],
        "seed": spec["seed"],
        "confidence": None,
        "confidence_before": None,
        "confidence_after": None,
        "constraints": {},
        "refused": {},
        **{key: row[key] for key in _FROM_COLUMNS},
    }


def _edits(codes: Codes, graph: Graph) -> Edits:
    there = np.isin(codes, graph.codes)
    n = graph.n_nodes
    return Edits(added=tuple(decode(codes[~there], n)), removed=tuple(decode(codes[there], n)))


# ---- description -------------------------------------------------------------------------


def _told(result: Counterfactual) -> dict[str, Any]:
    """Return what was chosen and whether it is true as read, if the result has it."""
    told: dict[str, Any] = {}
    if result.as_read is not None:
        test = result.as_read
        told["as_read"] = list(astuple(test))
    if result.chosen:
        told["chosen"] = result.chosen
    return told


def _read_told(kept: Mapping[str, Any]) -> dict[str, Any]:
    test = kept.get("as_read")
    return {"as_read": None if test is None else AsRead(*test), "chosen": kept.get("chosen", "")}


def _member(member: Counterfactual, result: Counterfactual) -> dict[str, Any]:
    """Return what a result of a front has that differs from the result with the front."""
    n = member.original.n_nodes
    kept = {
        "trace": _pack_trace(member.trace, n),
        **_told(member),
        "other": {
            key: value
            for key in _FROM_COLUMNS
            if (value := getattr(member, key)) != getattr(result, key)
        },
    }
    codes = _sorted_codes(member.edits.pairs, n)
    if not np.array_equal(_odd_codes(member.trace, n), codes):
        kept["edits"] = codes.tolist()
    if member.notes != result.notes:
        kept["notes"] = list(member.notes)
    return kept


def _read_member(kept: Mapping[str, Any], result: Counterfactual) -> Counterfactual:
    listed = kept.get("edits")
    codes = _packed_codes(kept["trace"]) if listed is None else np.array(listed, dtype=np.int64)
    return replace(
        result,
        edits=_edits(codes, result.original),
        trace=_unpack_trace(kept["trace"]),
        front=(),
        notes=tuple(kept.get("notes", result.notes)),
        **_read_told(kept),
        **kept["other"],
    )


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


def _packed_codes(packed: Mapping[str, Any]) -> Codes:
    columns = _unpack_columns(packed)
    return _odd(columns[4].astype(np.int64) * packed["n_nodes"] + columns[5])


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


def _odd_codes(trace: Iterable[Step], n_nodes: int) -> Codes:
    """Return the net edits of a trace: the pairs toggled an odd number of times."""
    pairs = [pair for step in trace for pair in step.toggled]
    return _odd(_codes(pairs, n_nodes))


def _odd(codes: Codes) -> Codes:
    values, counts = np.unique(codes, return_counts=True)
    odd: Codes = values[counts % 2 == 1]
    return odd


def _sorted_codes(pairs: Iterable[Pair], n_nodes: int) -> Codes:
    return np.sort(_codes(pairs, n_nodes))


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
