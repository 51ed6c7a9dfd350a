"""Settings in words: nested parameters as rows that people can read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_UNSET = "not set"


def setting_rows(data: Mapping[str, Any], parent: str = "") -> list[tuple[str, str]]:
    """Nested settings as one row for each part; parts within a part follow it.

    >>> for row in setting_rows({"search": {"type": "DCS", "rank": {"by": "degree"}, "limit": None},
    ...                          "refine": [{"type": "MinimalRefine"}], "exact": True}):
    ...     print(row)
    ('search', 'DCS (limit not set)')
    ('search: rank', 'by degree')
    ('refine', 'MinimalRefine')
    ('exact', 'yes')
    """
    rows: list[tuple[str, str]] = []
    for key, value in data.items():
        name = f"{parent}: {_plain(key)}" if parent else _plain(key)
        inner = _parts(value)
        if not inner:
            rows.append((name, setting_words(value)))
            continue
        own = {k: v for k, v in value.items() if k not in inner}
        if own:
            rows.append((name, setting_words(own)))
        rows += setting_rows(inner, name)
    return rows


def setting_words(value: Any, *, unset: bool = True) -> str:
    """A setting in one line; ``unset`` also names settings of a part that have no value.

    >>> setting_words({"name": "svm", "C": 10000, "scale": False, "seed": None})
    'svm (C 10000, scale no, seed not set)'
    >>> setting_words([]), setting_words({"type": "denseflip.search.refine.shuffled_changes"})
    ('none', 'shuffled changes')
    """
    if value is None:
        return _UNSET
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple, set, frozenset)):
        return ", ".join(setting_words(v, unset=unset) for v in value) or "none"
    if not isinstance(value, Mapping):
        return str(value)
    head = str(value.get("name") or _short(value.get("type")))
    rest = ", ".join(
        f"{_plain(k)} {setting_words(v, unset=unset)}"
        for k, v in value.items()
        if k not in {"name", "type"} and (unset or v is not None)
    )
    return f"{head} ({rest})" if head and rest else head or rest or "none"


def _parts(value: Any) -> dict[str, Any]:
    """The settings of a part that are parts themselves."""
    if not isinstance(value, Mapping):
        return {}
    return {k: v for k, v in value.items() if isinstance(v, Mapping)}


def _plain(key: object) -> str:
    return str(key).replace("_", " ")


def _short(kind: object) -> str:
    """The last part of a dotted name: a class as it is, a function in words."""
    last = str(kind or "").rsplit(".", 1)[-1]
    return last if last[:1].isupper() else last.replace("_", " ")
