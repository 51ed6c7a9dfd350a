"""What must not be in the repository, and what must agree across its files."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import conftest
from denseflip import __version__

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "tests", "docs", "benchmarks", "scripts", "examples", ".ci")
SKIPPED = {"__pycache__", "_build", "generated", ".ipynb_checkpoints"}
BINARY = {".png", ".jpg", ".svgz", ".gz", ".npz", ".npy", ".dfd", ".pdf", ".mat", ".pyc", ".woff2"}


def files() -> Iterator[Path]:
    """The project's own text files, this one left out: it has to name what it looks for."""
    every = [p for p in ROOT.iterdir() if p.is_file() and p.suffix != ".lock" and p.name != ".git"]
    for folder in FOLDERS:
        every += (p for p in (ROOT / folder).rglob("*") if p.is_file())
    for path in sorted(every):
        if path == Path(__file__) or path.suffix in BINARY or SKIPPED & set(path.parts):
            continue
        yield path


def hits(pattern: str, paths: Iterator[Path]) -> list[str]:
    found = []
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        for match in re.finditer(pattern, text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{line}: {match[0]}")
    return found


def test_no_paths_of_a_machine() -> None:
    assert hits(r"(?<![\w.~-])/(?:work|root|home|Users|tmp/w)/\w+", files()) == []


def test_no_package_registry_hosts() -> None:
    hosts = r"(?i)\bpypi\.org|pythonhosted\.org|index-url|registry\.npmjs|\bartifactory\b"
    assert hits(hosts, files()) == []


def test_nothing_unfinished_in_the_source() -> None:
    # `placeholder=` and `placeholder:` are an attribute of HTML.
    words = r"\b(?:TODO|FIXME|XXX|raise NotImplementedError|stubs?|placeholders?(?![=:]))\b"
    source = (p for p in files() if ROOT / "src" in p.parents)
    assert hits(words, source) == []


def test_no_pickles() -> None:
    pickles = {".pkl", ".pickle", ".joblib"}
    files = (p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.suffix in pickles)
    built = ROOT / "docs" / "_build"  # Sphinx keeps one there
    assert [p for p in files if not p.is_relative_to(built)] == []


def test_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [__version__]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(.+?)\]", changelog, re.MULTILINE)
    assert released[:2] == ["Unreleased", __version__]
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
    assert re.findall(r'^  version: "(.+)"$', recipe, re.MULTILINE) == [__version__]


def test_citation_names_the_paper() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for words in ("cff-version: 1.2.0", "Abrate", "Preti", "Bonchi", "Lenses of Density"):
        assert words in citation


def test_helpers_that_need_an_extra_are_not_collected() -> None:
    """`make test` installs no torch: what imports it at its head would end the run there."""
    heavy = {"torch", "torch_geometric", "onnx", "onnxruntime", "igraph"}
    needing = set()
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if heavy & {name.split(".")[0] for name in names}:
                needing.add(path.relative_to(ROOT / "tests").as_posix())
    assert needing == set(conftest.collect_ignore)


def test_every_dependency_has_a_lower_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [project["dependencies"], *project["optional-dependencies"].values()]
    named = [r for some in wanted for r in some if not r.startswith(project["name"])]
    assert [r for r in named if not re.fullmatch(r"[\w.-]+>=[\d.]+", r)] == []


def test_the_conda_recipe_asks_for_the_same_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
    wanted = [bound.replace(">=", " >=") for bound in project["dependencies"]]
    assert [bound for bound in wanted if f"    - {bound}\n" not in recipe] == []
