"""Chunks: specs that go to a worker together, and how the worker runs them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from denseflip.errors import DenseflipError, EngineError
from denseflip.oracles.threads import single_thread
from denseflip.runs.identity import versions
from denseflip.runs.result_store import Record
from denseflip.runs.spec_base import Listener, Spec

Chunk = tuple[Spec, ...]
_MOST = 8  # specs of a chunk


def make_chunks(specs: Iterable[Spec], workers: int = 1) -> list[Chunk]:
    """Specs that may go together in groups of up to eight; all others one by one, first.

    Chunks are smaller when there are few specs, so that every worker gets some.
    """
    listed = list(specs)
    size = max(1, min(_MOST, len(listed) // (4 * max(1, workers))))
    chunks: list[Chunk] = [(spec,) for spec in listed if not spec.together]
    group: list[Spec] = []
    for spec in listed:
        if not spec.together:
            continue
        if group and (len(group) >= size or group[0].alike is not spec.alike):
            chunks.append(tuple(group))
            group = []
        group.append(spec)
    if group:
        chunks.append(tuple(group))
    return chunks


def describe_chunk(chunk: Chunk) -> str:
    """Describe a chunk in a few words, for messages."""
    return "; ".join(spec.place for spec in chunk)


def run_chunk(
    specs: Sequence[Spec], shared: str | None = None, *, on_event: Listener | None = None
) -> list[Record]:
    """Do the work of some specs; return their records in order, ``{"id", "failed"}`` for a failure.

    Linear algebra is limited to one thread, so that processes do not compete for the cores and
    every machine sums in the same order.

    Parameters
    ----------
    specs : of one data set and one oracle. An empty sequence only wakes a worker.
    shared : a file that `Spec.share` has prepared.
    on_event : receives the events of the searches, as in `explain`.
    """
    with single_thread():
        if shared is not None:
            specs[0].receive(shared)
        return [_record(spec, on_event) for spec in specs]


def _record(spec: Spec, on_event: Listener | None) -> Record:
    try:
        _check_versions(spec.identity["versions"])
        return spec.work(on_event)
    except DenseflipError as error:
        message = str(error)
    except Exception as error:  # one failing graph must not stop the others
        message = f"{type(error).__name__}: {error}"
    return {"id": spec.id, "failed": message}


def _check_versions(wanted: Mapping[str, Any]) -> None:
    """Raise an error if the versions differ from those of the process that planned the run."""
    here = versions()
    other = [
        f"{k} {here.get(k)} instead of {wanted[k]}" for k in wanted if here.get(k) != wanted[k]
    ]
    if other:
        msg = f"This worker has other versions ({', '.join(other)}). Install the same everywhere."
        raise EngineError(msg)
