"""What newcomers are offered: the tutorial as a notebook, a worked example, pages that help."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.cli.newcomers import EXAMPLE, TUTORIAL, as_notebook, find_page


def test_the_first_tutorial_as_a_notebook_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
    assert run(app, ["demo", "--notebook", "--out", str(tmp_path / "new")]) == 0
    path = tmp_path / "new" / "first-explanation.ipynb"
    assert str(path) in capsys.readouterr().out
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile(cell["source"], "cell", "exec"), names)
        else:
            assert "](" not in cell["source"]  # no link that leads nowhere
            assert "{code-cell}" not in cell["source"]
    assert "523 more connections" in capsys.readouterr().out
    assert (tmp_path / "mouse.html").is_file()
    # A second time it refuses to overwrite.
    assert run(app, ["demo", "--notebook", "--out", str(tmp_path / "new")]) == 1


def test_cells_keep_their_order_and_lose_their_options() -> None:
    text = (
        "---\na: b\n---\n# T\n\n```{code-cell}\n:tags: [hide-input]\nx = 1\n```\n\nA [b](c.md).\n"
    )
    cells = as_notebook(text)["cells"]
    assert [c["source"] for c in cells] == ["# T", "x = 1", "A b."]
    assert len({c["id"] for c in cells}) == 3


def plain(text: str) -> str:
    """The text on one line, without the marks of quotations and of emphasis."""
    return " ".join(re.sub(r"^> |\*\*", "", text, flags=re.MULTILINE).split())


def test_the_worked_example_runs_as_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
    assert run(app, ["explain", "--example"]) == 0
    shown = capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    lines = [line.split() for line in shown.splitlines() if line.startswith("     denseflip")]
    assert len(lines) == 3
    for line in lines:
        assert run(app, line[1:]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Better than chance" in said
    assert (tmp_path / "mouse" / "report.html").is_file()
    sentence = re.search(r"If mouse sub-54811 .*? classified as B6\.", said)
    assert sentence is not None
    amount = re.search(r"\d+ more connections between the left and the right hemi", sentence[0])
    assert amount is not None
    root = Path(__file__).resolve().parents[2]
    assert sentence[0] in plain((root / "README.md").read_text(encoding="utf-8"))
    pages = [(root / name).read_text(encoding="utf-8") for name in ("docs/index.md", "paper.md")]
    for text in (EXAMPLE, *pages):
        assert amount[0] in plain(text)


def test_an_error_names_the_page_that_helps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_text("0,1\n1,0,1\n")
    assert run(app, ["explain", str(broken), "--oracle", "len"]) == 1
    *_, last = capsys.readouterr().err.splitlines()
    word, page = shlex.split(last)
    assert word == "Help:"
    assert Path(page).read_text(encoding="utf-8").startswith("# Import")


def test_pages_are_found() -> None:
    assert find_page(TUTORIAL) is not None
    assert find_page("no-such-page.md") is None
    assert find_page("") is None


def test_a_shell_completes_commands() -> None:
    typed = {
        "_DENSEFLIP_COMPLETE": "complete_bash",
        "COMP_WORDS": "denseflip ex",
        "COMP_CWORD": "1",
    }
    asked = [sys.executable, "-m", "denseflip"]
    done = subprocess.run(asked, env=os.environ | typed, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["explain"]
