"""Count the modules of a source tree, their lines, and how many of those only import.

    python scripts/count_house.py                      # src of this repository
    python scripts/count_house.py OTHER/src src        # two versions, one below the other

A module is a Python file other than an ``__init__.py``; lines are counted over both. A *code* line
is neither blank nor comment nor docstring. An import of several lines counts as several.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ("modules", "lines", "code", "imports", "of code", "median", "longest", "tree")
_NAMED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Module:
    """The counts of one file."""

    path: Path
    lines: int
    code: int
    imports: int


def count_module(path: Path) -> Module:
    """Read and count one file."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    docstrings: set[int] = set()
    imports: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.update(_span(node))
        elif isinstance(node, _NAMED) and ast.get_docstring(node, clean=False) is not None:
            docstrings.update(_span(node.body[0]))
    code = sum(
        1
        for number, line in enumerate(lines, start=1)
        if number not in docstrings and line.strip() and not line.lstrip().startswith("#")
    )
    return Module(path, len(lines), code, len(imports))


def _span(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def count_tree(root: Path) -> list[Module]:
    """All files below a folder, sorted by path."""
    return [count_module(path) for path in sorted(root.rglob("*.py"))]


def row(root: Path, files: list[Module]) -> list[str]:
    """The cells of one tree."""
    sizes = [m.lines for m in files if m.path.name != "__init__.py"]
    code, imports = sum(m.code for m in files), sum(m.imports for m in files)
    share = f"{100 * imports / code:.1f} %" if code else "–"
    counts = [len(sizes), sum(m.lines for m in files), code, imports]
    median, longest = (round(statistics.median(sizes)), max(sizes)) if sizes else (0, 0)
    return [*(f"{x:,}" for x in counts), share, str(median), str(longest), str(root)]


def line(cells: Sequence[str]) -> str:
    """Cells in columns, the last one aligned left."""
    return "".join(cell.rjust(9) for cell in cells[:-1]) + f"  {cells[-1]}\n"


def main() -> int:
    """Print one line per tree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trees", nargs="*", type=Path, help="folders with Python sources")
    parser.add_argument("--longest", type=int, default=0, help="how many modules to list by size")
    options = parser.parse_args()
    sys.stdout.write(line(HEADERS))
    for tree in options.trees or [ROOT / "src"]:
        if not tree.is_dir():
            parser.error(f"{tree}: there is no such folder")
        files = count_tree(tree)
        sys.stdout.write(line(row(tree, files)))
        for module in sorted(files, key=lambda m: -m.lines)[: options.longest]:
            sys.stdout.write(f"{module.lines:>9}  {module.path.relative_to(tree)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
