"""The house keeps its shape: imports point left, modules stay small, starting up is light."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "denseflip"
MODULES = sorted(SOURCE.rglob("*.py"))

# A room may import those before it. Rooms on one line are neighbours that do not know one another.
ORDER = [
    {"_version"},
    {"errors"},
    {"limits"},
    {"checks", "files"},
    {"as_read"},
    {"graph"},
    {"result_scores"},
    {"counterfactual"},
    {"oracles"},
    {"search"},
    {"datasets"},
    {"classifiers"},
    {"metrics"},
    {"story"},
    {"cohort"},
    {"report"},
    {"workflow"},
    {"experiments"},
    {"paper"},
    {"web"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: i for i, rooms in enumerate(ORDER) for room in rooms}
MAX_LINES = 500
HEAVY = ("torch", "matplotlib", "dask", "nilearn", "sklearn", "jinja2", "markupsafe")
AT_FIRST_USE = (*HEAVY, "scipy", "networkx", "joblib", "distributed", "skops", "pooch", "skimage")


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def room_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path, *, top_level: bool = False) -> set[str]:
    """Dotted names of the modules that a file imports; relative imports made absolute."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = ("denseflip", *path.relative_to(SOURCE).parts[:-1])
    out: set[str] = set()
    nodes = list(_running(tree.body)) if top_level else list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            out.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            stem = ".".join((*base, *((node.module or "").split(".") if node.module else ())))
            out.add(stem)
            out.update(f"{stem}.{alias.name}" for alias in node.names)
    return out


def _running(body):
    """Statements that run when the module is imported: not those under TYPE_CHECKING."""
    for node in body:
        if isinstance(node, ast.If):
            if "TYPE_CHECKING" not in ast.dump(node.test):
                yield from _running(node.body)
            yield from _running(node.orelse)
        elif isinstance(node, ast.Try):
            yield from _running(node.body)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_only_left(path):
    room = room_of(path)
    if room == "__init__":
        return  # the front door: names only, loaded when first used
    assert room in LEVEL, f"{name_of(path)} stands in a room that the plan does not know"
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "denseflip" and len(parts) > 1 and parts[1] in LEVEL:
            other = parts[1]
            fine = other == room or LEVEL[other] < LEVEL[room]
            assert fine, f"{name_of(path)} may not import denseflip.{other}"


@pytest.mark.parametrize(
    "path",
    [p for p in MODULES if room_of(p) not in {"__init__", "paper", "cli", "web"}],
    ids=name_of,
)
def test_only_the_paper_knows_what_was_published(path):
    """The reproduction has a room of its own; commands, and old addresses, may name it."""
    text = path.read_text(encoding="utf-8").lower()
    assert "published" not in text, name_of(path)


def test_the_plan_of_the_docs_is_the_plan_of_the_test():
    text = (SOURCE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    for room in LEVEL:
        if not room.startswith("_"):
            assert room in text


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_fits_in_a_head(path):
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= MAX_LINES, f"{name_of(path)} has {lines} lines: split it"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), name_of(path)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_heavy_libraries_are_imported_where_they_are_used(path):
    tops = {name.split(".")[0] for name in imported(path, top_level=True)}
    assert not tops & set(AT_FIRST_USE), name_of(path)


@pytest.mark.parametrize("path", [p for p in MODULES if room_of(p) != "cli"], ids=name_of)
def test_the_library_never_prints(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    assert not [c.lineno for c in calls if c.func.id == "print"]


@pytest.mark.parametrize("path", [p for p in MODULES if room_of(p) != "cli"], ids=name_of)
def test_the_library_names_parameters_and_leaves_flags_to_the_command_line(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    flags = {
        flag
        for text in texts
        if isinstance(text, str) and "{" not in text  # a style sheet spells no flags
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)
    }
    assert flags <= {"--nthreads"}, name_of(path)  # that is dask's own


def loaded_after(code: str) -> set[str]:
    script = f"{code}\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    return {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


@pytest.mark.parametrize(
    "code",
    [
        "import denseflip",
        "import denseflip; denseflip.Graph, denseflip.explain, denseflip.methods()",
        "import sys\nfrom denseflip.cli import main\nsys.argv = ['denseflip', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass",
    ],
    ids=["import", "first-names", "help"],
)
def test_starting_up_loads_nothing_heavy(code):
    loaded = loaded_after(code)
    assert "denseflip" in loaded
    assert not loaded & set(HEAVY)


def test_explaining_by_tri_needs_nothing_heavy():
    code = (
        "from denseflip import Graph, explain\n"
        "g = Graph.from_edges(4, [(0, 1), (1, 2)])\n"
        "assert explain(g, lambda a: int(a[0, 1])).found"
    )
    assert not loaded_after(code) & {*HEAVY, "networkx"}
