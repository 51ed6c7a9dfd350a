"""Replace a marked part of a docs page with new lines; used by the scripts that write tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def fill(page: Path, name: str, lines: Iterable[str]) -> None:
    """Replace what stands between ``<!-- name: begin -->`` and ``<!-- name: end -->`` of a page.

    The page is read and written at once, so scripts may take hours between two tables of a page.
    A page without such a place is a mistake of the script's, and told.
    """
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{page.name} has no place for {name!r}: {begin.strip()} … {end}.")
    table = "".join(f"{line}\n" for line in lines)
    page.write_text(f"{head}{begin}{table}{end}{tail}", encoding="utf-8")
