"""Print the oldest versions that ``pyproject.toml`` allows, as constraints for pip.

``python scripts/minimum.py all test > oldest.txt`` pins the core and these extras to their lower
bounds; ``pip install -c oldest.txt -e ".[all,test]"`` then makes an environment in which these
bounds can be tried. What denseflip does not name itself stays free: pip takes what fits.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
_ONE = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<extras>[^\]]+)\])?\s*(?:>=\s*(?P<low>[\w.]+))?")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line for each package."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("extras", nargs="*", metavar="EXTRA", help="extras beside the core")
    options = parser.parse_args(arguments)
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    print(*oldest(project, options.extras), sep="\n")


def oldest(project: dict[str, Any], extras: Iterable[str]) -> list[str]:
    """The lower bounds of the core and of these extras, as ``name==version``.

    Where two of them ask for one package, the higher bound counts. A requirement without a lower
    bound is a mistake of ours, and told.
    """
    bounds: dict[str, str] = {}
    for requirement in _requirements(project, extras):
        found = _ONE.fullmatch(requirement)
        if found is None or not found["low"]:
            sys.exit(f"{requirement!r} in {PROJECT.name} has no lower bound: write name>=version.")
        name, low = found["name"], found["low"]
        bounds[name] = max(bounds.get(name, low), low, key=_parts)
    return [f"{name}=={low}" for name, low in sorted(bounds.items())]


def _requirements(project: dict[str, Any], extras: Iterable[str]) -> Iterator[str]:
    """What the core and these extras ask for; an extra of extras is opened."""
    known = project["optional-dependencies"]
    yield from project["dependencies"]
    for extra in extras:
        if extra not in known:
            sys.exit(f"There is no extra {extra!r} in {PROJECT.name}; got: {', '.join(known)}.")
        for requirement in known[extra]:
            found = _ONE.fullmatch(requirement)
            if found is not None and found["name"] == project["name"]:
                inner = [word.strip() for word in (found["extras"] or "").split(",")]
                yield from _requirements({**project, "dependencies": []}, inner)
            else:
                yield requirement


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


if __name__ == "__main__":
    main()
