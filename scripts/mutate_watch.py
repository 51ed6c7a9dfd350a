"""A pytest plugin for `scripts/mutate.py map`: which test runs a line, how long it takes.

Every test is a context of its own to coverage, by its whole id: one case of a parametrised test is
a test. What runs outside of any test (imports while tests are collected) has the empty context.
``MUTATE_CASES`` bounds the cases of a test, evenly spread over all of them.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest

_tests: dict[str, dict[str, float | bool]] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out cases of tests that have very many."""
    most = int(os.environ.get("MUTATE_CASES", "0"))
    if most:
        cases: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            cases[item.nodeid.split("[")[0]].append(item)
        kept = {id(c[i * len(c) // most]) for c in cases.values() for i in range(most)}
        items[:] = [item for item in items if id(item) in kept]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Call what runs now by the test's id."""
    now = coverage.Coverage.current()
    assert now is not None
    now.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        now.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up set-up, call and tear-down; what was called and failed nowhere has passed."""
    known = _tests.setdefault(report.nodeid, {"seconds": 0.0, "passed": False, "failed": False})
    known["seconds"] += report.duration
    known["passed"] = bool(known["passed"]) or (report.when == "call" and report.passed)
    known["failed"] = bool(known["failed"]) or report.failed
    known["passed"] = known["passed"] and not known["failed"]


def pytest_sessionfinish() -> None:
    """Add what was seen to the file that the caller names."""
    path = Path(os.environ["MUTATE_TESTS"])
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**before, **_tests}, indent=0), encoding="utf-8")
