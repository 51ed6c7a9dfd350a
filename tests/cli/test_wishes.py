"""`denseflip explain --robust`, `--plausible`, `--n`: told and shown, and what is wrong is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.counterfactual import Counterfactual

DATA = "synthetic:n_per_class=6,percentile=90"


def call(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = run(app, ["explain", *args])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def test_wishes_are_told_and_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(
        capsys,
        *(
            DATA,
            "control-000",
            "--oracle",
            "regions-logistic",
            "--robust",
            "0.8",
            "--noise",
            "0.01",
        ),
        *("--plausible", "--n", "2", "--out", str(tmp_path / "out")),
    )
    assert code == 0
    assert "noise in " in out
    assert "Plausibility of the changed graph: " in out
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "random perturbations survived (1 % of all pairs" in page
    data = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    result = Counterfactual.from_dict(data)
    assert result.robustness is not None
    assert result.plausibility is not None
    if len(result.diverse) > 1:
        assert '<div class="answers">' in page
        assert "Each of these answers flips the classifier on its own" in out
        assert all("statement" in one for one in data["diverse"])
    else:
        assert "2 answers in different region pairs" in out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--robust", "2"), "robust must be a number above 0 and at most 1; got 2"),
        (("--noise", "0.1"), "pass robust=0.9 too"),
        (("--max-implausible", "-1"), "max_implausible must be a number above 0"),
        (("--n", "2", "--front"), "cannot be combined"),
    ],
)
def test_bad_wishes_are_told(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], says: str
) -> None:
    code, _, err = call(capsys, DATA, "control-000", "--oracle", "regions-logistic", *options)
    assert code != 0
    assert says in " ".join(err.split())
