"""`denseflip demo`, shortened: fewer classifiers and methods, the same way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
from denseflip.cli import demo
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.workflow import compare

pytestmark = pytest.mark.slow


def test_one_mouse_under_each_classifier_then_by_every_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "CANDIDATES", ("sf-knn", "edges-svm"))
    monkeypatch.setattr(compare, "COMPARED", ("auto", "tri", "dat"))
    out = tmp_path / "demo"
    assert run(app, ["demo", "--out", str(out)]) == 0
    said, noise = capsys.readouterr()
    assert noise == ""
    assert "sf-knn is used" in said  # as accurate as the other, and named first
    assert said.count("\nIf mouse sub-54811 had ") == 2
    assert said.count("it would have been classified as B6.") == 2
    assert said.count("true as read, in range; in terms of regions") == 2
    rows = json.loads((out / "result.json").read_text())
    assert [row["method"] for row in rows] == ["auto", "tri", "dat"]
    page = (out / "report.html").read_text()
    assert page.count('<article class="under"') == 2
    assert "classifier <b>sf-knn</b> · explained above" in page
    assert "Comparison of methods" in page
    # A second time it refuses to overwrite, before anything is trained.
    assert run(app, ["demo", "--out", str(out)]) == 1
    assert "--force" in capsys.readouterr().err
