"""The page of statuses and messages has all of them, and what it says agrees with the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest

from denseflip import errors
from denseflip.classifiers.evaluation import Level as VerdictLevel
from denseflip.cli.newcomers import TUTORIAL
from denseflip.counterfactual import Status
from denseflip.story.wording import badge

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "reference" / "messages.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return TEXT.split(f"## {title}\n")[1].split("\n## ")[0]


def keys(title: str) -> list[str]:
    return re.findall(r"^\| `([\w-]+)` \|", section(title), re.MULTILINE)


def subclasses(kind: Any) -> set[Any]:
    return {kind}.union(*(subclasses(one) for one in kind.__subclasses__()))


OURS = sorted(
    (e for e in subclasses(errors.DenseflipError) if e.__module__ == errors.__name__),
    key=lambda e: e.__name__,
)
OURS.remove(errors.DenseflipError)


def test_statuses_are_listed() -> None:
    from denseflip.web.job_store import Status as JobStatus

    assert keys("Status of a result") == [str(status) for status in Status]
    assert keys("Jobs of the web app") == list(get_args(JobStatus))
    assert keys("Verdict on a classifier") == list(get_args(VerdictLevel))


@pytest.mark.parametrize("error", OURS, ids=lambda e: e.__name__)
def test_every_error_has_a_row_with_its_page(error: Any) -> None:
    (row,) = re.findall(rf"^\| `{error.__name__}` .*", TEXT, re.MULTILINE)
    assert all(cell.strip() for cell in row.split("|")[2:4])
    if error.page:
        assert (DOCS / error.page).is_file()
        assert row.endswith(f"(../{error.page}) |")


def test_no_row_tells_of_an_error_that_is_not_there() -> None:
    assert set(keys("Errors")) == {error.__name__ for error in OURS}


def test_badges_are_worded_as_in_the_code() -> None:
    source = Path(badge.__file__).read_text(encoding="utf-8")
    source = badge.TRUE + source[source.index("def badge_of") :]
    for text in re.findall(r"^\| ([a-z][^|`]+) \|", section("Badge of a sentence"), re.MULTILINE):
        if text != "text":
            for words in re.split(r", |the classifier is ", text):
                assert words in source


def test_the_pages_that_are_named_are_in_the_wheel() -> None:
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert all(target == f"denseflip/{source}" for source, target in shipped.items())
    for page in {TUTORIAL, *(error.page for error in OURS if error.page)}:
        assert f"docs/{page}" in shipped or f"docs/{Path(page).parent}" in shipped, page
