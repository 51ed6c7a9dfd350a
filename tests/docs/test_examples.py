"""The Python blocks of the pages are run, page by page, each page in one namespace.

A block that cannot run here (it needs torch, a network, the paper's data) says so in its opening
fence: ```` ```python no-run ````. It must still be valid Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    *sorted((ROOT / "docs" / "reference").glob("*.md")),
]
_FENCE = re.compile(r"^```(\S*)[ \t]*([^\n]*)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_QUOTE = re.compile(r"\A\n((?:^>.*\n)+)", re.MULTILINE)  # right after a block


@dataclass(frozen=True)
class Block:
    line: int
    language: str
    remark: str
    text: str
    quote: str = ""  # what a page quotes right after the block


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for m in _FENCE.finditer(text):
        after = _QUOTE.match(text[m.end() + 1 :])
        quote = re.sub(r"^> ?", "", after[1], flags=re.MULTILINE) if after else ""
        line = text.count("\n", 0, m.start()) + 2
        found.append(Block(line, m[1], m[2].strip(), m[3], quote))
    return found


def python_blocks(page: Path) -> list[Block]:
    return [b for b in blocks(page) if b.language == "python"]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_blocks_run(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)  # a page may write files
    namespace: dict[str, object] = {"__name__": "page"}
    printed: str | None = None
    for block in blocks(page):
        if block.language == "python":
            # Blank lines in front, so that a traceback shows the line of the page.
            lines = "\n" * (block.line - 1) + block.text
            code = compile(lines, str(page), "exec", dont_inherit=True)
            printed = None
            if block.remark != "no-run":
                exec(code, namespace)
                printed = capsys.readouterr().out
                assert _words(block.quote) in _words(printed)
        elif block.language == "text" and printed is not None:
            # What a page shows after a block is what the block prints, line breaks aside.
            assert _words(block.text) in _words(printed)


def _words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_remarks_of_python_blocks_are_known(page: Path) -> None:
    remarks = {block.remark for block in python_blocks(page)}
    assert remarks <= {"", "no-run"}


def test_most_blocks_are_run() -> None:
    every = [block for page in PAGES for block in python_blocks(page)]
    run = [block for block in every if not block.remark]
    assert len(run) >= 10
    assert len(run) > 2 * (len(every) - len(run))
