"""Every decision on the paper has a record, and every record names the test that pins it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "decisions"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
PAPER = range(1, 14)  # D1 … D13 settle the paper; later records are about the project
PARTS = (
    "The paper says.",
    "Unclear because.",
    "Options.",
    "Chosen.",
    "Effect on the numbers.",
    "Pinned by.",
)
_TEST = re.compile(r"\btests/[\w/-]+\.py(?:::(\w+))?")


def record(number: int) -> Path:
    found = [p for p in RECORDS if p.name.startswith(f"{number:04}-")]
    assert len(found) == 1, f"there must be one record of D{number}"
    return found[0]


@pytest.mark.parametrize("number", PAPER)
def test_record_is_complete(number: int) -> None:
    text = record(number).read_text(encoding="utf-8")
    assert text.startswith(f"# D{number} · ")
    parts = re.findall(r"^\*\*(.+?)\*\*", text, re.MULTILINE)
    assert tuple(p for p in parts if p in PARTS) == PARTS


@pytest.mark.parametrize("number", PAPER)
def test_paper_record_names_a_test(number: int) -> None:
    text = record(number).read_text(encoding="utf-8")
    assert _TEST.search(text[text.index("**Pinned by.**") :])


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.name[:4])
def test_named_tests_exist(path: Path) -> None:
    for match in _TEST.finditer(path.read_text(encoding="utf-8")):
        file, _, function = match[0].partition("::")
        assert (ROOT / file).is_file(), f"{path.name} names {file}, which is not there"
        if function:
            source = (ROOT / file).read_text(encoding="utf-8")
            assert f"def {function}(" in source, f"{path.name}: {file} has no {function}"


def test_records_are_numbered_and_listed() -> None:
    numbers = [int(p.name[:4]) for p in RECORDS]
    assert numbers == list(range(1, len(numbers) + 1))
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [p.name for p in RECORDS if f"({p.name})" not in index] == []


def test_decisions_named_in_the_code_exist() -> None:
    named = {
        int(n)
        for path in sorted((ROOT / "src").rglob("*.py"))
        for n in re.findall(r"\bD-?0*(\d{1,2})\b", path.read_text(encoding="utf-8"))
    }
    assert named
    assert named <= {int(p.name[:4]) for p in RECORDS}
