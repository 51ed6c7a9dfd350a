"""Node pairs and their codes ``u * n_nodes + v``, ``u < v``: sorting codes sorts pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidGraphError, shown

Pair = tuple[int, int]
Codes = npt.NDArray[np.int64]

_SPLICE = 300  # from this many codes per toggle, cutting is faster than sorting (measured)
_FEW = 64  # up to this many codes, a Python loop is faster than arrays
_64 = (1 << 64) - 1
_SALT = 63  # the bit of a salt, above all codes
_GOLDEN, _MIX_A, _MIX_B = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_MAX_NODES = 3_000_000_000  # codes must fit in 63 bits


def check_n_nodes(n_nodes: int, source: str) -> int:
    """Return ``n_nodes`` as an int, or raise if it is not a valid number of nodes."""
    whole = isinstance(n_nodes, (int, float, np.integer, np.floating)) and _is_whole(n_nodes)
    if not whole or not 0 <= n_nodes <= _MAX_NODES:
        msg = f"{source}: the number of nodes must be a whole number from 0 to {_MAX_NODES:,}; "
        msg += f"got {shown(n_nodes)}."
        raise InvalidGraphError(msg)
    return int(n_nodes)


def encode_pairs(pairs: Iterable[Iterable[int]], n_nodes: int, *, source: str) -> Codes:
    """Check node pairs and return their codes, in the order given."""
    try:
        array = pairs if isinstance(pairs, np.ndarray) else np.array(_listed(pairs, source))
    except ValueError as error:  # a list instead of a node
        msg = f"{source}: nodes must be whole numbers ({error})."
        raise InvalidGraphError(msg) from error
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        msg = f"{source}: expected an array of shape (k, 2); got {array.shape}."
        raise InvalidGraphError(msg)
    if array.dtype.kind not in "iu":
        bad = next((p for p in array.tolist() if not all(map(_is_whole, p))), None)
        if bad is not None:
            msg = f"{source}: nodes must be whole numbers; got the pair {shown(tuple(bad))}."
            raise InvalidGraphError(msg)
    outside = (array < 0) | (array >= n_nodes)  # before the cast, which might overflow
    _report(np.asarray(outside.any(axis=1)), array, source, f"a node outside 0..{n_nodes - 1}")
    array = array.astype(np.int64)
    low, high = array.min(axis=1), array.max(axis=1)
    _report(low == high, array, source, "a self-loop (remove it: denseflip uses simple graphs)")
    codes: Codes = low * n_nodes + high
    ordered = np.sort(codes)  # numpy's unique is slow here: from 2.3 on it hashes
    if (ordered[1:] == ordered[:-1]).any():
        _, first = np.unique(codes, return_index=True)
        again = np.ones(len(codes), dtype=bool)
        again[first] = False
        _report(again, array, source, "a duplicate pair (give each pair once, in either order)")
    return codes


def _listed(pairs: Iterable[Iterable[int]], source: str) -> list[tuple[int, ...]]:
    try:
        entries = list(pairs)
    except TypeError as error:
        msg = f"{source}: expected node pairs; got {type(pairs).__name__}."
        raise InvalidGraphError(msg) from error
    listed: list[tuple[int, ...]] = []
    for i, entry in enumerate(entries):
        pair = tuple(entry) if isinstance(entry, Iterable) else ()
        if len(pair) != 2:
            msg = f"{source}: entry {i} must be a pair of nodes (u, v); got {shown(entry)}."
            raise InvalidGraphError(msg)
        listed.append(pair)
    return listed


def ordered(u: int, v: int) -> Pair:
    """A pair with its smaller number first."""
    return (u, v) if u <= v else (v, u)


def decode(codes: Codes, n_nodes: int) -> list[Pair]:
    """Pair codes back to ``(u, v)`` tuples."""
    low, high = np.divmod(codes, max(n_nodes, 1))
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _report(bad: npt.NDArray[np.bool_], array: Codes, source: str, what: str) -> None:
    where = np.flatnonzero(bad)
    if len(where):
        first = shown(tuple(array[where[0]].tolist()))
        more = f" (and {len(where) - 1} more)" if len(where) > 1 else ""
        msg = f"{source}: entry {where[0]} is {what}: {first}{more}."
        raise InvalidGraphError(msg)


def _is_whole(x: object) -> bool:
    if isinstance(x, (bool, np.bool_)):
        return False
    return isinstance(x, (int, np.integer)) or (
        isinstance(x, (float, np.floating)) and float(x).is_integer()
    )


def sealed(codes: Codes) -> Codes:
    """The same codes in read-only memory.

    An array over a bytes object cannot be made writeable again; one that owns its memory can.
    """
    owner: object = codes.base
    if type(owner) is bytes and codes.dtype == np.int64:
        return codes
    return np.frombuffer(codes.astype(np.int64, copy=False).tobytes(), dtype=np.int64)


def read_only(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of an array that cannot be written to."""
    view = rows.view()
    view.flags.writeable = False
    return view


def odd_ones(codes: Codes) -> Codes:
    """The codes that occur an odd number of times, sorted: the net flips."""
    values, counts = np.unique(codes, return_counts=True)
    odd: Codes = values[counts % 2 == 1]
    return odd


def key_of(codes: Sequence[int] | Codes, *, salt: int = 0) -> int:
    """A 128-bit hash of a set of codes: one word per code, combined by exclusive or.

    So adding or removing a code changes the key by an exclusive or with its word. The words come
    from two rounds of SplitMix64 (Steele, Lea & Flood 2014), the same on all machines.

    >>> key_of([3, 8]) == key_of([8]) ^ key_of([3])
    True
    """
    if isinstance(codes, np.ndarray):
        few = codes.tolist() if len(codes) <= _FEW else None
    else:
        few = codes if len(codes) <= _FEW else None
        codes = codes if few is not None else np.fromiter(codes, dtype=np.int64, count=len(codes))
    if few is not None:
        key = 0
        for code in few:
            key ^= _word(code, salt)
        return key
    assert isinstance(codes, np.ndarray)
    high = mixed(codes.astype(np.uint64) + np.uint64(salt << _SALT))
    return int(np.bitwise_xor.reduce(high)) << 64 | int(np.bitwise_xor.reduce(mixed(high)))


@lru_cache(maxsize=1 << 18)
def _word(code: int, salt: int) -> int:
    high = _mix((int(code) + (salt << _SALT)) & _64)  # the code may be a 64-bit NumPy integer
    return high << 64 | _mix(high)


def _mix(z: int) -> int:
    z = (z + _GOLDEN) & _64
    z = ((z ^ (z >> 30)) * _MIX_A) & _64
    z = ((z ^ (z >> 27)) * _MIX_B) & _64
    return z ^ (z >> 31)


def mixed(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Hash 64-bit numbers (a round of SplitMix64, which is a bijection)."""
    z = z + np.uint64(_GOLDEN)  # 64-bit integers wrap around, as intended
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX_A)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX_B)
    return z ^ (z >> np.uint64(31))


def toggled(codes: Codes, toggles: Codes) -> Codes:
    """Sorted codes with each of ``toggles`` (unique, any order) flipped. O(len(codes))."""
    if not len(codes):
        return np.sort(toggles)
    if len(toggles) * _SPLICE <= len(codes):
        return _splice(codes, np.sort(toggles)) if len(toggles) else codes
    merged = _merged(codes, toggles)
    # A code that occurs twice was present and is toggled away.
    keep = np.empty(len(merged), dtype=bool)
    keep[0] = True
    np.not_equal(merged[1:], merged[:-1], out=keep[1:])
    keep[:-1] &= keep[1:]
    return merged[keep]


def count_shared(a: Codes, b: Codes) -> int:
    """How many codes two sorted arrays have in common. O(len(a) + len(b))."""
    merged = _merged(a, b)
    return int(np.count_nonzero(merged[1:] == merged[:-1]))


def count_each(runs: Sequence[Codes]) -> tuple[Codes, Codes]:
    """The sorted union of sorted arrays of codes, and the number of arrays that have each."""
    merged = _merged(*runs)
    new = np.ones(len(merged), dtype=bool)
    np.not_equal(merged[1:], merged[:-1], out=new[1:])
    first = np.append(np.flatnonzero(new), len(merged))
    return merged[new], first[1:] - first[:-1]


def _merged(*runs: Codes) -> Codes:
    merged = np.concatenate(runs) if runs else np.empty(0, dtype=np.int64)
    merged.sort(kind="stable")  # this sort detects sorted runs; the default does not
    return merged


def _splice(codes: Codes, toggles: Codes) -> Codes:
    """Cut the sorted codes at each of a few sorted toggles, and join the parts."""
    parts, start = [], 0
    at = codes.searchsorted(toggles).tolist()
    for i, (cut, code) in enumerate(zip(at, toggles.tolist(), strict=True)):
        parts.append(codes[start:cut])
        if cut < len(codes) and codes.item(cut) == code:
            start = cut + 1
        else:
            parts.append(toggles[i : i + 1])
            start = cut
    parts.append(codes[start:])
    return np.concatenate(parts)


def random_codes(n_nodes: int, k: int, rng: np.random.Generator) -> Codes:
    """Codes of ``k`` different node pairs, all equally likely."""
    ranks = rng.choice(n_nodes * (n_nodes - 1) // 2, size=k, replace=False, shuffle=False)
    # Pairs (u, v), u < v, counted by v: pair number r has the largest v with v (v - 1) / 2 <= r.
    v = ((1 + np.sqrt(1 + 8 * ranks.astype(np.float64))) / 2).astype(np.int64)
    v -= v * (v - 1) // 2 > ranks
    v += (v + 1) * v // 2 <= ranks
    u = ranks - v * (v - 1) // 2
    return np.asarray(u * n_nodes + v, dtype=np.int64)


def all_pairs(n_nodes: int) -> Codes:
    """The codes of all pairs of nodes, sorted. O(n²).

    >>> all_pairs(3).tolist()
    [1, 2, 5]
    """
    u, v = np.triu_indices(n_nodes, 1)
    return (u * n_nodes + v).astype(np.int64)


def are_among(codes: int | Codes, others: Codes) -> npt.NDArray[np.bool_]:
    """Which of the codes are among sorted others."""
    if not len(others):
        return np.zeros(np.shape(codes), dtype=bool)
    at = np.minimum(others.searchsorted(codes), len(others) - 1)
    found: npt.NDArray[np.bool_] = others[at] == codes
    return found
