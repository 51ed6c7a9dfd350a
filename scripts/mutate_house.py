"""The copy of the repository in which `scripts/mutate.py` changes modules and runs tests.

Tests are collected once. A mutant is judged in a fork of that process, in which the code of the
changed function is exchanged: no import, no collection. What runs at import (constants, fields,
defaults) and what such a fork has let pass is judged again in a fresh process.
"""

from __future__ import annotations

import compileall
import gc
import importlib.util
import inspect
import json
import os
import py_compile
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType

import pytest

ROOT = Path(__file__).resolve().parent.parent
_FLAGS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header")


class House:
    """A copy of the repository, with its tests collected.

    Parameters
    ----------
    folder : where to.
    tests : the test files and folders to collect.
    """

    def __init__(self, folder: Path, tests: Sequence[str]) -> None:
        self.folder, self.tests = folder, tests
        ignored = shutil.ignore_patterns(".venv", ".git", "*_cache", "_build", "mutants")
        shutil.copytree(ROOT, folder, ignore=ignored)
        # By contents, not by time: a module that is changed twice within a second is no old one.
        by_contents = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(folder / "src", quiet=2, force=True, invalidation_mode=by_contents)
        self.unsound: set[str] = set()  # tests that fail here without any change
        self.sound: set[str] = set()
        self.items: dict[str, pytest.Item] = {}
        self.functions: dict[str, list[FunctionType]] = defaultdict(list)
        self.failed: list[str] = []
        self.work: Callable[[], None] = lambda: None

    # ---- collecting, as a plugin of pytest ----

    def open(self, work: Callable[[], None]) -> None:
        """Collect the tests, then do the work."""
        self.work = work
        source = str(self.folder / "src")
        os.chdir(self.folder)
        sys.path.insert(0, source)
        os.environ["PYTHONPATH"] = source
        found = importlib.util.find_spec("denseflip")
        if "denseflip" in sys.modules or not (found and (found.origin or "").startswith(source)):
            raise SystemExit("Another denseflip would be tested, not the copy.")
        pytest.main([*_FLAGS, "-s", *self.tests], plugins=[self])

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of running the tests: know them, and work."""
        self.items = {item.nodeid: item for item in session.items}
        for thing in gc.get_objects():
            if type(thing) is FunctionType:  # isinstance asks the thing, which may warn
                self.functions[thing.__code__.co_filename].append(thing)
        gc.freeze()
        self.work()
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what failed."""
        if report.failed:
            self.failed.append(report.nodeid)

    # ---- judging ----

    def judge(
        self, path: str, changed: bytes, tests: list[str], *, confirm: bool = True
    ) -> tuple[bool, str]:
        """Whether one of these tests notices the change of a module, and which.

        Without ``confirm`` what passes in a fork is not judged again in a fresh process.
        """
        target = self.folder / path
        sound = target.read_bytes()
        swap = exchange(sound, changed)
        patience, quick = 60.0, swap is not None
        while tests := [t for t in tests if t in self.items and t not in self.unsound]:
            target.write_bytes(changed)  # for processes that a test starts, and late imports
            try:
                if quick:
                    verdict, by = self.forked(tests, patience, str(target), swap or {})
                else:
                    verdict, by = self.fresh(tests, patience)
            finally:
                target.write_bytes(sound)
            if verdict == "passed":
                if not (quick and confirm):
                    return False, f"{len(tests)} tests"
                quick = False
            elif verdict == "gone":  # cases that follow from a changed registry
                tests = [test for test in tests if test not in by]
            elif verdict == "time":
                if self.forked(tests, patience)[0] != "time":
                    return True, "time"
                patience *= 4
            elif verdict == "failed" and by[0] not in self.sound:
                if self.forked(by[:1], patience)[0] == "passed":
                    self.sound.add(by[0])
                else:
                    self.unsound.add(by[0])
                    continue
                return True, by[0]
            else:
                return True, by[0] if by else verdict
        return False, "no test"

    def forked(
        self,
        tests: Sequence[str],
        patience: float,
        filename: str = "",
        swap: dict[tuple[str, int], CodeType] | None = None,
    ) -> tuple[str, list[str]]:
        """Run tests in a fork, with the code of functions exchanged; how it ended, by which.

        Patience is in seconds of the processor, so that a busy machine is no verdict; what waits
        for ever without using it is given ten times as many of the clock.
        """
        with tempfile.TemporaryDirectory() as scratch:
            told = Path(scratch) / "told.json"
            child = os.fork()
            if child == 0:
                _bound(patience)
                self._child([self.items[test] for test in tests], told, filename, swap or {})
            ends = time.monotonic() + 10 * patience
            while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
                if time.monotonic() > ends:
                    os.killpg(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                    return "time", []
                time.sleep(0.02)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child, signal.SIGKILL)  # what it may have left behind
            if not told.exists():
                over = os.WIFSIGNALED(ended[1]) and os.WTERMSIG(ended[1]) == signal.SIGXCPU
                return "time" if over else f"died ({ended[1]})", []
            failed = json.loads(told.read_text(encoding="utf-8"))
        return ("failed", failed) if failed else ("passed", [])

    def _child(
        self,
        items: Sequence[pytest.Item],
        told: Path,
        filename: str,
        swap: dict[tuple[str, int], CodeType],
    ) -> None:
        """In the fork: run the tests up to the first that fails, and tell. Never returns."""
        try:
            os.setsid()
            tempfile.tempdir = os.environ["TMPDIR"] = str(told.parent)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            for function in self.functions.get(filename, ()):
                code = function.__code__
                if new := swap.get((code.co_qualname, code.co_firstlineno)):
                    function.__code__ = new
            for item, after in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                if self.failed:
                    break
            told.write_text(json.dumps(self.failed), encoding="utf-8")
        finally:
            os._exit(0)

    def fresh(self, tests: Sequence[str], patience: float) -> tuple[str, list[str]]:
        """Run tests in a fresh process; how it ended, and by which."""
        words = [sys.executable, "-m", "pytest", "-x", *_FLAGS, "--tb=no", "-rfE", *tests]
        with tempfile.TemporaryDirectory() as scratch:
            out = Path(scratch) / "out.txt"
            with out.open("w") as stream:
                child = subprocess.Popen(
                    words,
                    cwd=self.folder,
                    env={**os.environ, "TMPDIR": scratch},
                    stdout=stream,
                    stderr=stream,
                    start_new_session=True,
                    preexec_fn=lambda: _bound(patience),
                )
                try:
                    code = child.wait(timeout=10 * patience)
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
                    return "time", []
            said = out.read_text(encoding="utf-8", errors="replace")
        if code == 0:
            return "passed", []
        if code == -signal.SIGXCPU:
            return "time", []
        if code == 1:
            lines = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
            known = [t for t in tests if any(f" {t}" in line for line in lines)]
            return "failed", sorted(known, key=len)[-1:] or list(tests[:1])
        gone = [t for t in tests if code == 4 and f"not found: {self.folder}/{t}\n" in said]
        return ("gone", gone) if gone else (f"exit {code}: {_last(said)}", [])


def _bound(seconds: float) -> None:
    """No more of the processor than so many seconds for this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))


def _last(said: str) -> str:
    lines = [line for line in said.splitlines() if "Error" in line]
    return lines[-1].strip()[:120] if lines else ""


def exchange(sound: bytes, changed: bytes) -> dict[tuple[str, int], CodeType] | None:
    """The new code of functions that differ, by their old name and line; None if more differs."""
    before, after = compile(sound, "module", "exec"), compile(changed, "module", "exec")
    found: dict[tuple[str, int], CodeType] = {}
    try:
        for old, new in _differing(before, after):
            if not old.co_flags & inspect.CO_OPTIMIZED or old.co_freevars != new.co_freevars:
                return None  # the body of a module or a class
            found[old.co_qualname, old.co_firstlineno] = new
    except ValueError:  # not the same functions inside
        return None
    return found or None


def _differing(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Pairs of code that differ, or of which a part inside differs that is made when it runs."""

    def facts(code: CodeType) -> tuple[object, ...]:
        plain = tuple(repr(c) for c in code.co_consts if not isinstance(c, CodeType))
        return code.co_code, plain, code.co_names, code.co_varnames, code.co_freevars

    def inner(code: CodeType) -> list[CodeType]:
        return [c for c in code.co_consts if isinstance(c, CodeType)]

    below = [pair for a, b in zip(inner(old), inner(new), strict=True) for pair in _differing(a, b)]
    differs = facts(old) != facts(new)
    if differs or (below and old.co_flags & inspect.CO_OPTIMIZED):
        yield old, new
    yield from below
