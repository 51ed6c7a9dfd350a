"""Does a test notice if a line of denseflip is wrong? Coverage, and mutants judged by tests.

    python scripts/mutate.py map                 run the suite under coverage, note who sees what
    python scripts/mutate.py map tests/unit/x.py the same for some files, added to what is known
    python scripts/mutate.py run --sample 400    change one thing at a time, run tests that see it
    python scripts/mutate.py again               once more what survived, by the tests known by now
    python scripts/mutate.py report              coverage, killed by package, the survivors

A mutant is one small change: a comparison, a sign, a constant, a condition, a statement left out.
It is killed if a test that passes on the sound code fails or hangs on it. A mutant on a line that
no test runs has survived. Not every test that sees a line is run, only the quickest, one case of
each before a second of any (``--seconds`` of them): the share of killed is a lower bound.

What is known lies in the folder ``mutants/``; a run that was stopped goes on where it was.
Needs ``pip install coverage``.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from mutate_house import House

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "mutants"
MAP, TESTS = FOLDER / "coverage", FOLDER / "tests.json"
PACKAGES = ("graph", "search", "oracles", "story", "metrics")
SUITE = ("unit", "property", "contract", "golden", "edges", "web", "cli", "docs", "e2e")
JUDGES = ("unit", "property", "contract", "golden", "edges")  # and doctests: within one process
MOST_TESTS = 400  # per mutant
VALUES = "tests/golden/test_values.py"  # looks at defaults and fields, and runs no line of them
COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
SIGNS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "+"}


# ---- mutants ---------------------------------------------------------------------------------


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

    def changed(self) -> bytes:
        """The module with this change."""
        sound = (ROOT / self.path).read_bytes()
        return sound[: self.start] + self.new.encode() + sound[self.end :]


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    encoded = path.read_bytes()
    begins = [0]
    for line in encoded.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    name = path.relative_to(ROOT).as_posix()

    def span(node: ast.AST) -> tuple[int, int]:
        return (
            begins[node.lineno - 1] + node.col_offset,  # type: ignore[attr-defined]
            begins[node.end_lineno - 1] + node.end_col_offset,  # type: ignore[attr-defined]
        )

    tree = ast.parse(encoded)
    skipped = set(_unchanged(tree))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        for at, start, end, new, kind in _changes(node, span, encoded):
            yield Mutant(name, at.lineno, start, end, new, kind)  # type: ignore[attr-defined]


def _changes(
    node: ast.AST, span: Any, encoded: bytes
) -> Iterator[tuple[ast.AST, int, int, str, str]]:
    """The changes of one node: where, which stretch, by what, of which kind."""

    def between(left: ast.AST, right: ast.AST) -> tuple[int, int]:
        return span(left)[1], span(right)[0]

    def negated(test: ast.AST) -> tuple[ast.AST, int, int, str, str]:
        start, end = span(test)
        return test, start, end, f"(not ({encoded[start:end].decode()}))", "condition"

    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        if new := COMPARISONS.get(type(node.ops[0])):
            yield node, *between(node.left, node.comparators[0]), f" {new} ", "comparison"
    elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        if not (isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)):
            start, end = between(node.left, node.right)
            if not set(b"()") & set(encoded[start:end]):
                yield node, start, end, f" {SIGNS[type(node.op)]} ", "sign"
    elif isinstance(node, ast.BoolOp) and len(node.values) == 2:
        start, end = between(*node.values)
        if not set(b"()") & set(encoded[start:end]):
            word = "or" if isinstance(node.op, ast.And) else "and"
            yield node, start, end, f" {word} ", "condition"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        start, end = span(node.operand)
        yield node, *span(node), f"({encoded[start:end].decode()})", "condition"
    elif isinstance(node, (ast.If, ast.IfExp)):
        yield negated(node.test)
    elif isinstance(node, ast.comprehension):
        yield from (negated(test) for test in node.ifs)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        new = str(not node.value) if isinstance(node.value, bool) else f"({node.value!r} + 1)"
        yield node, *span(node), new, "constant"
    elif isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield node, *span(node), "pass", "statement"
    elif isinstance(node, ast.Break):
        yield node, *span(node), "continue", "statement"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        other = {"min": "max", "max": "min", "any": "all", "all": "any"}.get(node.func.id)
        if other:
            yield node, *span(node.func), other, "function"


def _unchanged(tree: ast.AST) -> Iterator[int]:
    """Parts that are not changed: annotations, f-strings, what only a type checker reads."""
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


# ---- which tests see a line ------------------------------------------------------------------


def make_map(paths: Sequence[str], cases: int) -> None:
    """Run tests under coverage, with a context per test; processes that they start are counted."""
    FOLDER.mkdir(exist_ok=True)
    config = FOLDER / "coveragerc"
    config.write_text(
        f"[run]\nbranch = true\nsource = {ROOT / 'src' / 'denseflip'}\nparallel = true\n"
        f"concurrency = thread, multiprocessing\npatch = subprocess, _exit, fork\n"
        f"data_file = {MAP}\n[report]\nexclude_also =\n    if TYPE_CHECKING:\n"
    )
    coverage = [sys.executable, "-m", "coverage"]
    where = os.pathsep.join([str(ROOT / "src"), str(ROOT / "scripts")])
    environment = {**os.environ, "PYTHONPATH": where, "MUTATE_TESTS": str(TESTS)}
    environment["MUTATE_CASES"] = str(cases)
    # One part after the other: what is done is kept if the rest is stopped.
    for part in paths or [*(f"tests/{part}" for part in SUITE), "src"]:
        words = ["run", f"--rcfile={config}", "-m", "pytest", "-q", "-p", "mutate_watch"]
        words += ["-p", "no:cacheprovider", part]
        subprocess.run([*coverage, *words], cwd=ROOT, env=environment, check=False)
        words = ["combine", "-q", "--append", f"--rcfile={config}"]
        subprocess.run([*coverage, *words], cwd=ROOT, check=False)


def covered() -> dict[str, tuple[int, int, int, int]]:
    """By package: lines run and lines, branches taken and branches."""
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "coverage.json"
        words = ["json", "-q", f"--rcfile={FOLDER / 'coveragerc'}", "-o", str(out)]
        subprocess.run([sys.executable, "-m", "coverage", *words], cwd=ROOT, check=True)
        files = json.loads(out.read_text(encoding="utf-8"))["files"]
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for path, found in files.items():
        package = Path(path).as_posix().split("src/denseflip/")[1].split("/")[0]
        for key in (package, "all"):
            sums[key].update({k: v for k, v in found["summary"].items() if isinstance(v, int)})
    keys = ("covered_lines", "num_statements", "covered_branches", "num_branches")
    return {name: tuple(some[k] for k in keys) for name, some in sorted(sums.items())}  # type: ignore[misc]


class Sights:
    """For every line of a module, the tests that run it."""

    def __init__(self, path: Path, contexts: dict[int, set[str]]) -> None:
        tree = ast.parse(path.read_bytes())
        self.contexts = contexts
        self.statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        self.last = max((node.end_lineno or 0 for node in self.statements), default=0)
        self.inside: set[int] = set()  # lines of bodies of functions; the rest runs at import
        for node in self.statements:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.inside.update(range(node.body[0].lineno, (node.end_lineno or 0) + 1))

    def at(self, line: int) -> tuple[set[str], set[str]]:
        """Tests that run the statement; for what runs at import, also those of its scope."""
        own = self._tests(*self._statement(line))
        if line in self.inside:
            return own, set()
        first, last = 1, self.last
        for node in self.statements:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                begin = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                end = node.end_lineno or 0
                if first <= begin <= line <= end <= last:
                    first, last = begin, end
        scope = self._tests(first, last, self.inside)
        return own, scope or self._tests(1, self.last, self.inside)

    def _statement(self, line: int) -> tuple[int, int]:
        """First and last line of the innermost statement there, without its body."""
        best = (line, line)
        for node in self.statements:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or first
            last = max(last, node.lineno)
            if first <= line <= last and (best == (line, line) or first >= best[0]):
                best = (first, last)
        return best

    def _tests(self, first: int, last: int, only: set[int] | None = None) -> set[str]:
        lines = (n for n in range(first, last + 1) if only is None or n in only)
        return {test for n in lines for test in self.contexts.get(n, ()) if test}


def sights(packages: Sequence[str]) -> dict[str, Sights]:
    """Who sees the lines of each module of these packages."""
    from coverage import CoverageData

    data = CoverageData(basename=str(MAP))
    data.read()
    found = {}
    for path in (path for package in packages for path in _modules(package)):
        lines = data.contexts_by_lineno(str(path))
        name = path.relative_to(ROOT).as_posix()
        found[name] = Sights(path, {line: set(tests) for line, tests in lines.items()})
    return found


def _modules(package: str) -> list[Path]:
    place = ROOT / "src" / "denseflip" / package
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def _judges(test: str) -> bool:
    return test.startswith((*(f"tests/{part}/" for part in JUDGES), "src/"))


def _also(test: str, package: str, files: Sequence[str]) -> bool:
    """Whether a test that the map does not know is to judge a package: of its folder, or golden."""
    path = test.split("::")[0]
    near = f"/{package}/" in path or path.endswith(f"test_{package}.py")
    return path in files and (near or (package == "search" and "/golden/" in path))


def choose(
    mutant: Mutant, seen: tuple[set[str], set[str]], tests: dict[str, Any], seconds: float
) -> list[str]:
    """Tests to judge a mutant by: one case of each before a second, near and quick ones first."""
    package = f"/{Path(mutant.path).parts[2]}/"
    ordered: list[str] = []
    for some in (seen[0], seen[1] - seen[0]):
        sound = [t for t in some if _judges(t) and tests.get(t, {}).get("passed")]
        cases: Counter[str] = Counter()
        ranked = []
        for test in sorted(sound, key=lambda t: (tests[t]["seconds"], t)):
            function = test.split("[")[0]
            near = package in function or f"test_{package.strip('/')}." in function
            ranked.append((cases[function], not near, tests[test]["seconds"], test))
            cases[function] += 1
        ordered += [test for *_, test in sorted(ranked)]
    chosen = [t for t in tests if t.startswith(VALUES)] if seen[1] else []
    for test in ordered[:MOST_TESTS]:
        seconds -= tests[test]["seconds"]
        if seconds < 0 and chosen:
            break
        chosen.append(test)
    return chosen


# ---- judging ---------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> None:
    """Try mutants drawn at random, each by tests that see its line."""
    packages = options.packages.split(",")
    seen, tests = sights(packages), json.loads(TESTS.read_text(encoding="utf-8"))
    everything = [m for package in packages for p in _modules(package) for m in mutants_of(p)]
    print(f"{len(everything):,} mutants of {', '.join(packages)}.", flush=True)
    random.Random(options.seed).shuffle(everything)
    chosen = list(islice((m for m in everything if parses(m)), options.sample))
    part, parts = map(int, options.shard.split("/"))
    chosen = chosen[part - 1 :: parts]
    results = FOLDER / f"seed-{options.seed}.jsonl"
    known = {record["key"]: record for record in read(results)}
    if options.step == "again":
        chosen = [m for m in chosen if m.key in known and not known[m.key]["killed"]]
    else:
        chosen = [m for m in chosen if m.key not in known]
    judges = {}
    for mutant in chosen:
        sight = seen[mutant.path].at(mutant.line)
        before = choose(mutant, sight, tests, options.after) if options.after else ()
        some = choose(mutant, sight, tests, options.after + options.seconds)
        judges[mutant] = [test for test in some if test not in before]
    also = options.also.split(",") if options.also else []
    ends = time.monotonic() + 60 * options.minutes

    def work() -> None:
        for number, (mutant, some) in enumerate(judges.items(), 1):
            if time.monotonic() > ends:
                print(f"The time is over: {number - 1} of {len(chosen)} tried.")
                break
            package = Path(mutant.path).parts[2]
            more = [t for t in house.items if t not in tests and _also(t, package, also)]
            judged = [*some, *more]
            killed, by = house.judge(
                mutant.path, mutant.changed(), judged, confirm=not options.quick
            )
            with results.open("a", encoding="utf-8") as out:
                record = {"key": mutant.key, **asdict(mutant), "killed": killed, "by": by}
                out.write(json.dumps({**record, "note": options.note or options.step}) + "\n")
            word = "killed" if killed else "SURVIVED"
            text = f"{mutant.path}:{mutant.line} {mutant.kind} {mutant.new!r} ({by})"
            print(f"{number} of {len(chosen)}: {word} {text}", flush=True)

    with tempfile.TemporaryDirectory() as name:
        files = sorted({test.split("::")[0] for some in judges.values() for test in some})
        house = House(Path(name) / "house", [*files, *(f for f in also if f not in files)])
        house.open(work)


def parses(mutant: Mutant) -> bool:
    """Whether the changed module is Python at all; what is not says nothing of the tests."""
    try:
        ast.parse(mutant.changed())
    except SyntaxError:
        return False
    return True


# ---- telling ---------------------------------------------------------------------------------


def read(results: Path) -> list[dict[str, Any]]:
    """What was tried, oldest first."""
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return [json.loads(line) for line in lines]


def report(coverage: bool) -> None:
    """The share of killed after every round, the survivors; coverage first, if asked for."""
    sys.path.insert(0, str(ROOT / "src"))
    from denseflip.as_read import wilson_interval

    if coverage and MAP.exists():
        print("package, lines run, branches taken:")
        for name, (lines, of, branches, of_them) in covered().items():
            share = 100 * branches / of_them if of_them else 100
            print(f"  {name}: {100 * lines / of:.1f} % of {of:,}, {share:.1f} % of {of_them:,}")

    def told(records: Sequence[dict[str, Any]]) -> str:
        killed = sum(r["killed"] for r in records)
        low, high = wilson_interval(killed / len(records), len(records))
        return (
            f"{killed} of {len(records)} killed, {100 * killed / len(records):.1f} % "
            f"(95 % interval {100 * low:.1f} to {100 * high:.1f})"
        )

    for results in sorted(FOLDER.glob("seed-*.jsonl")):
        last: dict[str, dict[str, Any]] = {}
        for note, group in groupby(read(results), key=itemgetter("note")):
            last.update({record["key"]: record for record in group})
            print(f"{results.stem}, {note}: {told(list(last.values()))}")
            for package in PACKAGES:
                place = f"src/denseflip/{package}/"
                some = [r for r in last.values() if r["path"].startswith(place)]
                if some:
                    print(f"  {package}: {told(some)}")
        for r in last.values():
            if not r["killed"]:
                line = (ROOT / r["path"]).read_text(encoding="utf-8").splitlines()[r["line"] - 1]
                print(f"  survived: {r['path']}:{r['line']} {r['kind']} {r['new']!r} ({r['by']})")
                print(f"      {line.strip()}")


def main() -> None:
    """Read the words of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("step", choices=("map", "run", "again", "report"))
    parser.add_argument("paths", nargs="*", help="for map: tests to add to what is known")
    parser.add_argument("--cases", type=int, default=0, help="for map: at most so many of a test")
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10, help="of tests per mutant")
    parser.add_argument("--after", type=float, default=0, help="without these seconds of tests")
    parser.add_argument("--quick", action="store_true", help="leave second looks to `again`")
    parser.add_argument("--minutes", type=float, default=600, help="after which no other begins")
    parser.add_argument("--brief", action="store_true", help="a report without coverage")
    parser.add_argument("--shard", default="1/1", help="2/3 for the second of three runs beside")
    parser.add_argument("--also", default="", help="files of tests that the map does not know yet")
    parser.add_argument("--note", default="", help="what this round is called in the report")
    parser.add_argument("--packages", default=",".join(PACKAGES))
    options = parser.parse_intermixed_args()
    if options.step == "map":
        make_map(options.paths, options.cases)
    elif options.step == "report":
        report(coverage=not options.brief)
    elif not (MAP.exists() and TESTS.exists()):
        raise SystemExit("Nothing is known of the tests yet. First: python scripts/mutate.py map")
    else:
        run(options)  # it has imported the copy, which is gone by now
        subprocess.run([sys.executable, __file__, "report", "--brief"], cwd=ROOT, check=False)


if __name__ == "__main__":
    main()
