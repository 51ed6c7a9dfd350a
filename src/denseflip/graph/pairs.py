"""Node pairs and their codes ``u * n_nodes + v``, ``u < v``: sorting codes sorts pairs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidGraphError

Pair = tuple[int, int]
Codes = npt.NDArray[np.int64]

_LARGE = 4096  # above this many edges a toggle by insertion is cheaper than one by sorting
_MAX_NODES = 3_000_000_000  # codes must fit in 63 bits


def check_n_nodes(n_nodes: int, source: str) -> int:
    """Return ``n_nodes`` as an int, or say why it cannot be a number of nodes."""
    if isinstance(n_nodes, bool) or int(n_nodes) != n_nodes or not 0 <= n_nodes <= _MAX_NODES:
        msg = f"{source}: the number of nodes must be a whole number from 0 to {_MAX_NODES:,}; "
        msg += f"got {n_nodes!r}."
        raise InvalidGraphError(msg)
    return int(n_nodes)


def encode_pairs(pairs: Iterable[Iterable[int]], n_nodes: int, *, source: str) -> Codes:
    """Check node pairs and return their codes, in the order given."""
    if not isinstance(pairs, np.ndarray):
        listed = [tuple(p) for p in pairs]
        pairs = listed
        for i, p in enumerate(listed):
            if len(p) != 2:
                msg = f"{source}: entry {i} must be a pair of nodes (u, v); got {p!r}."
                raise InvalidGraphError(msg)
    try:
        array = np.asarray(pairs).reshape(-1, 2)
    except ValueError as error:
        msg = f"{source}: expected an array of shape (k, 2); got {np.shape(pairs)}."
        raise InvalidGraphError(msg) from error
    if len(array) == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        bad = next((p for p in array.tolist() if any(not _is_whole(x) for x in p)), None)
        if bad is not None:
            msg = f"{source}: nodes must be whole numbers; got the pair {tuple(bad)!r}."
            raise InvalidGraphError(msg)
    array = array.astype(np.int64)
    low, high = array.min(axis=1), array.max(axis=1)
    _report((low < 0) | (high >= n_nodes), array, source, f"a node outside 0..{n_nodes - 1}")
    _report(low == high, array, source, "a self-loop (remove it: the graphs here are simple)")
    codes: Codes = low * n_nodes + high
    if len(np.unique(codes)) != len(codes):
        _, first = np.unique(codes, return_index=True)
        again = np.ones(len(codes), dtype=bool)
        again[first] = False
        _report(again, array, source, "a duplicate pair (give each pair once, in either order)")
    return codes


def decode(codes: Codes, n_nodes: int) -> list[Pair]:
    """Pair codes back to ``(u, v)`` tuples."""
    return [divmod(int(c), n_nodes) for c in codes.tolist()]


def _report(bad: npt.NDArray[np.bool_], array: Codes, source: str, what: str) -> None:
    where = np.flatnonzero(bad)
    if len(where):
        first = tuple(array[where[0]].tolist())
        more = f" (and {len(where) - 1} more)" if len(where) > 1 else ""
        msg = f"{source}: entry {where[0]} is {what}: {first}{more}."
        raise InvalidGraphError(msg)


def _is_whole(x: object) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool) and float(x).is_integer()


def toggled(codes: Codes, toggles: Codes) -> Codes:
    """Sorted codes with each of ``toggles`` (unique, any order) flipped. O(len(codes))."""
    if len(codes) > _LARGE and len(toggles) < len(codes) // 8:
        return _toggle_by_insertion(codes, np.sort(toggles))
    merged = np.concatenate((codes, toggles))
    merged.sort()
    # A code that occurs twice was present and is toggled away.
    keep = np.empty(len(merged), dtype=bool)
    keep[0] = True
    np.not_equal(merged[1:], merged[:-1], out=keep[1:])
    keep[:-1] &= keep[1:]
    return merged[keep]


def _toggle_by_insertion(codes: Codes, toggles: Codes) -> Codes:
    at = np.searchsorted(codes, toggles)
    present = codes[np.minimum(at, len(codes) - 1)] == toggles
    present &= at < len(codes)
    # Insert first, so that the positions found above still hold; then drop what was there.
    gone = at[present] + np.searchsorted(toggles[~present], toggles[present])
    return np.delete(np.insert(codes, at[~present], toggles[~present]), gone)
