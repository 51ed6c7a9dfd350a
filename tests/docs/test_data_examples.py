"""The worked examples of data run, and name what was planted in them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from denseflip.cli.command_tree import app

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Import an example by its name."""
    monkeypatch.syspath_prepend(EXAMPLES)
    yield importlib.import_module
    for name in ("gene_modules", "gene_network", "time_series"):
        sys.modules.pop(name, None)


def test_gene_networks_by_name(
    example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = example("gene_network").main(tmp_path)
    assert "more connections between the DNA repair and the cell cycle" in told["tumour"]
    assert "would have been classified as normal" in told["tumour"]
    assert "BRCA1 – E2F1 (removed)" in told["own rule"]
    page = (tmp_path / "S01.html").read_text(encoding="utf-8")
    assert "DNA repair" in page
    assert "Better than chance" in capsys.readouterr().out


def test_gene_modules_from_tables_to_a_sentence_by_commands(example: Any, tmp_path: Path) -> None:
    """At 900 of 20,000 genes, and with fewer permutations."""
    genes = example("gene_modules")
    genes.write_lab(tmp_path, n_genes=900)
    read, train, explain = (command[1:] for command in genes.commands(tmp_path, 900))
    for command in (read, [*train, "--repeats", "1", "--permutations", "19"], explain):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    assert "fewer connections between module 3 and module 7" in done.output
    assert "would have been classified as normal" in done.output
    assert (tmp_path / "S01" / "report.html").exists()


def test_time_series_to_a_page(
    example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("nilearn", reason="correlations need the extra 'brain'")
    told = example("time_series").main(tmp_path)
    assert "more connections between the left and the right default mode" in told
    out = capsys.readouterr().out
    assert "Left out, labels without a graph file (1): sub-99." in out
    assert "Left out, their class is missing (n/a) (1): sub-19." in out
    assert "default mode" in (tmp_path / "sub-04.html").read_text(encoding="utf-8")
