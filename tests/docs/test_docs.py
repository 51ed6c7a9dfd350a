"""The pages keep up with the code: every name is told, every link leads somewhere."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import denseflip
from denseflip.datasets import list_datasets
from denseflip.metrics import MEASURES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(p for p in sorted(DOCS.rglob("*.md")) if "_build" not in p.parts),
]
_LINK = re.compile(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)[^)]*\)")
_FENCED = re.compile(r"^(`{3,}).*?^\1`*[ \t]*$", re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^```(?:console|bash|sh|shell)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """The page without its fenced blocks and code spans."""
    return re.sub(r"`[^`\n]+`", "", _FENCED.sub("", read(page)))


def all_docs() -> str:
    return "\n".join(read(page) for page in PAGES if DOCS in page.parents)


def reference_writer() -> Any:
    path = ROOT / "scripts" / "make_cli_reference.py"
    spec = importlib.util.spec_from_file_location("make_cli_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def command_tree() -> dict[str, Any]:
    from typer.main import get_command

    from denseflip.cli.command_tree import app

    return dict(reference_writer().commands(get_command(app)))


# ---- every name is documented -----------------------------------------------------------------


@pytest.mark.parametrize("name", denseflip.__all__)
def test_public_name_is_in_the_api_reference(name: str) -> None:
    page = read(DOCS / "reference" / "api.md")
    documented = re.findall(r":: (?:denseflip\.)?(\w+)$", page, re.MULTILINE)
    assert name in documented, f"add {name} to docs/reference/api.md"


def test_command_line_reference_is_up_to_date() -> None:
    writer = reference_writer()
    assert read(writer.PAGE) == writer.render(), (
        "a command has changed: run `python scripts/make_cli_reference.py`"
    )


@pytest.mark.parametrize("name", ["cli.md", "options.md"])
def test_options_and_asterisks_are_shown_as_typed(name: str) -> None:
    """In a page, --out outside of code became a dash, and asterisks became emphasis."""
    plain = re.sub(r"`[^`]*`", "", _FENCED.sub("", read(ROOT / "docs" / "reference" / name)))
    plain = re.sub(r"<!--.*?-->", "", plain, flags=re.S)
    assert re.findall(r"(?<![\w-])--[a-z]+|(?<!\\)\*", plain) == []


def test_page_of_options_is_up_to_date() -> None:
    writer = reference_writer()
    assert read(writer.OPTIONS_PAGE) == writer.render_options(), (
        "an option has changed: run `python scripts/make_cli_reference.py`"
    )


@pytest.mark.parametrize("name", [info.name for info in list_datasets()])
def test_data_set_is_documented(name: str) -> None:
    assert f"`{name}`" in all_docs(), f"no page under docs/ mentions the data set `{name}`"


@pytest.mark.parametrize("name", MEASURES)
def test_metric_is_documented(name: str) -> None:
    assert f"`{name}`" in all_docs(), f"no page under docs/ mentions the metric `{name}`"


# ---- what the pages say can be followed -------------------------------------------------------


def links(page: Path) -> Iterator[str]:
    for target in _LINK.findall(prose(page)):
        if not re.match(r"[a-z][a-z0-9+.-]*:", target):
            yield target


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub and MyST make them."""
    text = _FENCED.sub("", read(page))
    found = set(re.findall(r"^\(([\w-]+)\)=\s*$", text, re.MULTILINE))
    for heading in re.findall(r"^#+\s+(.+?)\s*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in links(page):
        path, _, anchor = target.partition("#")
        goal = (page.parent / path).resolve() if path else page
        if not goal.exists() or (
            anchor and goal.suffix == ".md" and anchor.lower() not in anchors(goal)
        ):
            broken.append(target)
    assert not broken


def typed_commands(page: Path) -> Iterator[list[str]]:
    """The ``denseflip …`` lines in a page's shell blocks, as lists of words."""
    for block in _CONSOLE.findall(read(page)):
        prompts = "$ " in block
        for line in block.replace("\\\n", " ").splitlines():
            text = line.strip()
            if prompts and not text.startswith("$ "):
                continue
            words = shlex.split(text.removeprefix("$ "), comments=True)
            while words and re.match(r"[A-Z_]+=", words[0]):
                words = words[1:]
            if words and Path(words[0]).name == "denseflip":
                yield ["denseflip", *words[1:]]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_typed_commands_exist(page: Path) -> None:
    tree = command_tree()
    for words in typed_commands(page):
        depth = 1
        while " ".join(words[: depth + 1]) in tree and depth < len(words):
            depth += 1
        command = tree[" ".join(words[:depth])]
        rest = words[depth:]
        groups = getattr(command, "commands", None)
        if groups and rest and not rest[0].startswith("-"):
            pytest.fail(f"{name_of(page)}: there is no command `{' '.join(words)}`")
        known = {"--help", "-h", "--debug"}
        known.update(x for p in command.params for x in (*p.opts, *p.secondary_opts))
        for word in rest:
            if word in {"|", ">", "&&", ";"}:
                break
            if re.match(r"--?[a-zA-Z]", word):
                option = word.split("=")[0]
                assert option in known, f"{name_of(page)}: `{' '.join(words)}` has no {option}"


def test_the_pages_show_commands() -> None:
    shown = {" ".join(w[:2]) for page in PAGES for w in typed_commands(page)}
    assert {"denseflip demo", "denseflip data", "denseflip train"} <= shown


# ---- the pages can be read --------------------------------------------------------------------

LONGEST = 100  # words of a paragraph or of an item of a list


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a page and the items of its lists; no tables, headings or code."""
    text = re.sub(r"\A---\n.*?^---\n|<!--.*?-->", "", _FENCED.sub("\n", text), flags=re.M | re.S)
    for block in re.split(r"\n\s*\n", text):
        words: list[str] = []
        for line in map(str.strip, block.splitlines()):
            if re.match(r"[|#:]|[-*+] |\d+\. ", line) and words:
                yield " ".join(words)
                words = []
            if not line.startswith(("|", "#", ":")):
                words.append(line)
        if words:
            yield " ".join(words)


@pytest.mark.parametrize("page", [p for p in PAGES if p.name != "CHANGELOG.md"], ids=name_of)
def test_paragraphs_are_short(page: Path) -> None:
    long = [p for p in paragraphs(read(page)) if len(p.split()) > LONGEST]
    assert not long, f"{name_of(page)}: {len(long[0].split())} words: {long[0][:80]} …"


def test_a_long_paragraph_is_noticed() -> None:
    text = "# A\n\n| a | b |\n\n- one\n- two words\n\n" + "word " * 101 + "\n```text\nno\n```\n"
    assert [len(p.split()) for p in paragraphs(text)] == [2, 3, 101]


def test_the_readme_is_short() -> None:
    text = read(ROOT / "README.md")
    assert len(text.splitlines()) <= 120
    first = "\n".join(text.splitlines()[:24])  # the first screen
    assert "make demo" in first
    assert "make test" in first
