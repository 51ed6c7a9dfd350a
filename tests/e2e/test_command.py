"""From the command line to the browser: what a newcomer does first."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")

from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.datasets import load_dataset

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_mouse_explained_on_the_command_line_reads_in_a_browser(visit, tmp_path, capsys):
    mice = load_dataset("mice")
    mouse = mice.ids[mice.labels.index(1)]
    out = tmp_path / "mouse"
    arguments = ["explain", "mice", mouse, "--oracle", "sf-knn"]
    assert run(app, [*arguments, "--out", str(out)]) == 0
    assert "between the left and the right isocortex" in capsys.readouterr().out

    seen = visit(out / "report.html")
    for folded in seen.page.locator("main details:not([open]) > summary").all():
        if folded.is_visible():
            folded.click()
    text = " ".join(seen.page.inner_text("main").split())
    said = seen.page.inner_text("blockquote")
    assert "more connections between the left and the right isocortex" in said
    assert "holds with other connections there: " in text
    assert "58 of 60 random choices" in text
    assert mouse in seen.page.inner_text("h1")
    data = json.loads(seen.page.inner_text("#denseflip-data"))
    assert data["story"]["statement"] == said
    seen.quiet()

    # The same again refuses to overwrite, in one line.
    assert run(app, [*arguments, "--out", str(out)]) == 1
    assert "--force" in capsys.readouterr().err
