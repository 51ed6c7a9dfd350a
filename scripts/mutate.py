"""Does a test notice if a line of denseflip is wrong? Mutation testing, by tests that see the line.

    python scripts/mutate.py map                 which tests see which line (once; the whole suite)
    python scripts/mutate.py run --sample 400    change one thing at a time, run those tests

A mutant is one small change: a comparison, a sign, a constant, a condition, a statement left
out. It is killed if a test fails or hangs. Only lines that some test runs are changed; how many
there are is what coverage tells (`map` prints it). Results are appended to ``mutants.jsonl``, so a
stopped run goes on; ``report`` sums them up and lists what survived.

Needs ``pip install coverage pytest-cov``.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("graph", "search", "oracles", "story", "metrics")
MAP, RESULTS = Path("mutants.coverage"), Path("mutants.jsonl")
MOST_TESTS = 40  # tests per mutant, the quickest first
PATIENCE = 120  # seconds; a mutant that makes the tests hang is killed as well
COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
SIGNS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "+"}


@dataclass(frozen=True)
class Mutant:
    """One change: a stretch of a file replaced by another text."""

    path: str
    line: int
    start: int
    end: int
    new: str
    kind: str

    @property
    def key(self) -> str:
        """What it is known by."""
        return f"{self.path}:{self.start}:{self.end}:{self.new}"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    text = path.read_text(encoding="utf-8")
    encoded = text.encode()
    begins = [0]
    for line in encoded.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    name = path.relative_to(ROOT).as_posix()

    def at(line: int, column: int) -> int:
        return begins[line - 1] + column

    def span(node: ast.AST) -> tuple[int, int]:
        return (
            at(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            at(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def made(node: ast.AST, start: int, end: int, new: str, kind: str) -> Mutant:
        return Mutant(name, node.lineno, start, end, new, kind)  # type: ignore[attr-defined]

    def source(node: ast.AST) -> str:
        start, end = span(node)
        return encoded[start:end].decode()

    tree = ast.parse(text)
    skipped = set(_unchanged(tree))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            new = COMPARISONS.get(type(node.ops[0]))
            if new:
                _, left = span(node.left)
                right, _ = span(node.comparators[0])
                yield made(node, left, right, f" {new} ", "comparison")
        elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
                continue
            _, left = span(node.left)
            right, _ = span(node.right)
            between = encoded[left:right].decode()
            if "(" in between or ")" in between:
                continue
            yield made(node, left, right, f" {SIGNS[type(node.op)]} ", "sign")
        elif isinstance(node, ast.BoolOp) and len(node.values) == 2:
            word = "or" if isinstance(node.op, ast.And) else "and"
            _, left = span(node.values[0])
            right, _ = span(node.values[1])
            if "(" not in encoded[left:right].decode() and ")" not in encoded[left:right].decode():
                yield made(node, left, right, f" {word} ", "condition")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            start, end = span(node)
            yield made(node, start, end, f"({source(node.operand)})", "condition")
        elif isinstance(node, ast.If):
            start, end = span(node.test)
            yield made(node, start, end, f"not ({source(node.test)})", "condition")
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            new = str(not node.value) if isinstance(node.value, bool) else f"({node.value!r} + 1)"
            start, end = span(node)
            yield made(node, start, end, new, "constant")
        elif isinstance(node, (ast.AugAssign, ast.Expr)) and not _is_docstring(node):
            if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call):
                continue
            start, end = span(node)
            yield made(node, start, end, "pass", "statement")
        elif isinstance(node, ast.Break):
            yield made(node, *span(node), "continue", "statement")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            other = {"min": "max", "max": "min", "any": "all", "all": "any"}.get(node.func.id)
            if other:
                yield made(node, *span(node.func), other, "function")


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _unchanged(tree: ast.AST) -> Iterator[int]:
    """Parts that say nothing of behaviour: annotations, messages of errors, speed-only bounds."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, (ast.AnnAssign, ast.arg)):
            parts.append(node.annotation)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parts.append(node.returns)
        elif (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING") or isinstance(
            node, ast.JoinedStr
        ):
            parts.append(node)
        for part in parts:
            if part is not None:
                yield from (id(inner) for inner in ast.walk(part))


# ---- which tests see a line -----------------------------------------------------------------


def make_map() -> None:
    """Run the suite under coverage, with a context per test."""
    config = Path(tempfile.mkdtemp()) / "coveragerc"
    config.write_text(
        f"[run]\nbranch = true\nsource = {ROOT / 'src' / 'denseflip'}\nparallel = false\n"
        f"dynamic_context = test_function\ndata_file = {MAP.absolute()}\n"
    )
    subprocess.run(
        [
            *(sys.executable, "-m", "coverage", "run", f"--rcfile={config}", "-m", "pytest", "-q"),
            *("-p", "no:xdist", "-m", "not slow", "--durations=0", "--durations-min=0.0"),
            *("tests/unit", "tests/property", "tests/contract", "tests/edges"),
        ],
        cwd=ROOT,
        check=False,
    )
    report = [sys.executable, "-m", "coverage", "report", f"--rcfile={config}"]
    done = subprocess.run(report, cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout.splitlines()[-1] if done.stdout else done.stderr)


def seen_by() -> dict[tuple[str, int], set[str]]:
    """For every line the tests that run it, as ``module.function``."""
    from coverage import CoverageData

    data = CoverageData(basename=str(MAP.absolute()))
    data.read()
    seen: dict[tuple[str, int], set[str]] = defaultdict(set)
    for path in data.measured_files():
        name = Path(path).relative_to(ROOT).as_posix()
        for line, contexts in data.contexts_by_lineno(path).items():
            seen[name, line].update(filter(None, contexts))
    return seen


def as_test(context: str) -> tuple[str, str] | None:
    """The file and the name of a test of its context."""
    module, _, function = context.rpartition(".")
    parts = module.split(".")
    for k in range(len(parts), 0, -1):
        for path in ROOT.glob("tests/**/" + "/".join(parts[:k]) + ".py"):
            rest = [*parts[k:], function]
            return path.relative_to(ROOT).as_posix(), "::".join(rest)
    return None


# ---- mutants ---------------------------------------------------------------------------------


def run(sample: int, seed: int, packages: Sequence[str]) -> None:
    """Try mutants drawn at random, each by the tests that see its line."""
    seen = seen_by()
    everything = [
        mutant
        for package in packages
        for path in _modules(package)
        for mutant in mutants_of(path)
        if seen.get((mutant.path, mutant.line))
    ]
    print(f"{len(everything):,} mutants of {', '.join(packages)} on lines that tests run.")
    chosen = random.Random(seed).sample(everything, min(sample, len(everything)))
    done = {json.loads(line)["key"] for line in _lines()}
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "house"
        shutil.copytree(
            ROOT,
            copy,
            ignore=shutil.ignore_patterns(".venv", ".git", "*_cache", "docs", "*.coverage"),
        )
        for number, mutant in enumerate(chosen, 1):
            if mutant.key in done or not parses(mutant):
                continue
            killed, by = judge(mutant, seen[mutant.path, mutant.line], copy)
            with RESULTS.open("a", encoding="utf-8") as out:
                record = {"key": mutant.key, **asdict(mutant), "killed": killed, "by": by}
                out.write(json.dumps(record) + "\n")
            print(f"{number} of {len(chosen)}: {'killed' if killed else 'SURVIVED'} {mutant.key}")
    report()


def parses(mutant: Mutant) -> bool:
    """Whether the changed module is Python at all; what is not says nothing of the tests."""
    text = (ROOT / mutant.path).read_bytes()
    try:
        ast.parse(text[: mutant.start] + mutant.new.encode() + text[mutant.end :])
    except SyntaxError:
        return False
    return True


def _modules(package: str) -> list[Path]:
    place = ROOT / "src" / "denseflip" / package
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def judge(mutant: Mutant, contexts: set[str], copy: Path) -> tuple[bool, str]:
    """Whether a test notices, and which."""
    target = copy / mutant.path
    sound = target.read_bytes()
    target.write_bytes(sound[: mutant.start] + mutant.new.encode() + sound[mutant.end :])
    try:
        tests = sorted({test for c in contexts if (test := as_test(c))}, key=lambda t: len(t[0]))
        by_file = Counter(path for path, _ in tests)
        tests.sort(key=lambda t: (by_file[t[0]], t))
        words = [f"{path}::{name}" for path, name in tests[:MOST_TESTS]]
        if not words:
            return False, "no test"
        command = [
            *(sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"),
            *("-p", "no:randomly", "--no-header", *words),
        ]
        paths = os.pathsep.join([str(copy / "src"), str(copy / "tests")])
        done = subprocess.run(
            command,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True, "time"
    finally:
        target.write_bytes(sound)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return done.returncode == 1 or done.returncode == 2, failed[0] if failed else ""


def _lines() -> list[str]:
    return RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []


def report() -> None:
    """Sum up what was tried."""
    records = [json.loads(line) for line in _lines()]
    if not records:
        print("Nothing tried yet.")
        return
    for package in PACKAGES:
        some = [r for r in records if r["path"].startswith(f"src/denseflip/{package}")]
        if some:
            killed = sum(r["killed"] for r in some)
            print(f"{package}: {killed} of {len(some)} killed ({100 * killed / len(some):.0f} %)")
    killed = sum(r["killed"] for r in records)
    print(f"all: {killed} of {len(records)} killed ({100 * killed / len(records):.1f} %)")
    for r in records:
        if not r["killed"]:
            print(f"  survived: {r['path']}:{r['line']} {r['kind']} -> {r['new']!r}")


def main() -> None:
    """Read the words of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("step", choices=("map", "run", "report"))
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--packages", default=",".join(PACKAGES))
    options = parser.parse_args()
    if options.step == "map":
        make_map()
    elif options.step == "run":
        try:
            run(options.sample, options.seed, options.packages.split(","))
        except (ImportError, sqlite3.Error, OSError) as error:
            raise SystemExit(f"{error}. Run `python scripts/mutate.py map` first.") from error
    else:
        report()


if __name__ == "__main__":
    main()
