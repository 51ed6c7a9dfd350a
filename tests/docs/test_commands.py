"""The commands that the pages show are run: over the mice, and from a folder to a page."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from denseflip.cli.command_tree import app
from denseflip.datasets import make_synthetic
from docs.test_docs import PAGES, read, typed_commands

ROOT = Path(__file__).resolve().parents[2]
# Models and modules of the reader, and commands over many graphs, which other tests run.
_OTHERS = re.compile(r"\w:\w|onnx:|https?://|--all|--class|--permutations 200")


def commands_over_mice() -> list[list[str]]:
    """The commands that explain one mouse, or a few, each once."""
    found = {
        tuple(words[1:])
        for page in PAGES
        for words in typed_commands(page)
        if words[1:2] in (["explain"], ["compare"]) and words[2].startswith("mice")
    }
    return [
        list(words)
        for words in sorted(found)
        if not any(_OTHERS.search(word) for word in (*words[2:], " ".join(words[2:])))
    ]


def run(words: list[str]) -> str:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, f"denseflip {' '.join(words)}\n{done.output}"
    return " ".join(done.output.split())


def write_folder(graphs: str, labels: str, nodes: str, subject: str) -> None:
    """Write a folder such as the pages describe, with a graph of this name."""
    cohort = make_synthetic(n_per_class=8, strength=1.0, seed=3)
    rng = np.random.default_rng(0)
    Path(graphs).mkdir()
    rows = ["id,label"]
    stem, first = subject.rsplit("-", 1)
    for i, one in enumerate(cohort, start=int(first)):
        adjacency = one.graph.to_adjacency().astype(float)
        weights = 0.4 * adjacency + rng.normal(0.2, 0.05, adjacency.shape)
        name = f"{stem}-{i:02}"
        np.savetxt(Path(graphs) / f"{name}.csv", (weights + weights.T) / 2, delimiter=",")
        rows.append(f"{name},{cohort.class_names[one.label]}")
    Path(labels).write_text("\n".join(rows))
    cohort.nodes.write_csv(nodes)


@pytest.mark.slow
@pytest.mark.parametrize("words", commands_over_mice(), ids=" ".join)
def test_commands_over_mice_run(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "mouse sub-54" in run(words).lower()


def test_there_are_commands_over_mice() -> None:
    assert len(commands_over_mice()) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md", "docs/how-to/own-data.md"])
def test_from_a_folder_to_a_page(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The three commands in the order of the page."""
    monkeypatch.chdir(tmp_path)
    known = [words[1:] for words in typed_commands(ROOT / page)]
    imported = next(words for words in known if words[:2] == ["data", "import"])
    trained = next(words for words in known if words[0] == "train")
    explained = next(w for w in known if w[0] == "explain" and w[1].endswith(".dfd"))
    options = dict(zip(imported[3::2], imported[4::2], strict=False))
    write_folder(imported[2], options["--labels"], options["--nodes"], explained[2])
    run(imported)
    run([*trained, "--repeats", "1", "--permutations", "19"])
    assert "would have been classified as" in run(explained)
    assert (Path(explained[-1]) / "report.html").is_file()


def test_the_first_sentence_of_the_pages_is_what_the_demo_says() -> None:
    said = run(["explain", "mice", "sub-54811", "--oracle", "regions-logistic"])
    shown = [
        " ".join(re.sub(r"^> ?|\*\*", "", quoted, flags=re.MULTILINE).split())
        for name in ("README.md", "docs/index.md")
        for quoted in re.findall(r"(?:^> .*\n)+", read(ROOT / name), re.MULTILINE)
    ]
    assert len(shown) == 2
    in_full, in_short = shown
    assert in_full in said
    amount, place = re.search(
        r"had (\d+ more connections) (between .*? hemisphere)", in_short
    ).groups()
    assert f"{amount} {place}" in said
    assert "60 of 60" in said
