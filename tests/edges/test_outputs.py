"""What is written never takes the place of a file that is not ours, unless it is asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benches import write_bench
from cohorts import make_cohort
from denseflip.checks import check_new_file
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.datasets import export_dataset
from denseflip.errors import InvalidParameterError
from denseflip.files import clear_torn, whole_file


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ends(capsys, *words: object) -> tuple[int, str]:
    code = run(app, [str(word) for word in words])
    return code, capsys.readouterr().err


@pytest.mark.parametrize("command", ["bench", "paper"])
def test_a_folder_with_other_things_is_left_as_it_is(folder, capsys, command):
    mine = folder / "home" / "index.html"
    mine.parent.mkdir()
    mine.write_text("my page")
    words = {
        "bench": ["bench", "--config", write_bench(folder, methods=["edg"])],
        "paper": ["paper", "--datasets", "bip", "--methods", "edg", "--limit", "1"],
    }[command]
    code, said = ends(capsys, *words, "--out", "home")
    assert code == 1
    assert "home is not empty and has no run to continue; nothing was changed." in said
    assert said.rstrip().endswith("On the command line: --force.")
    assert mine.read_text() == "my page"
    assert os.listdir(folder / "home") == ["index.html"]


def test_a_folder_of_ours_is_gone_on_with_and_others_only_by_force(folder, capsys):
    config = write_bench(folder, methods=["edg"])
    (folder / "home").mkdir()
    (folder / "home" / "notes.txt").write_text("mine")
    assert ends(capsys, "bench", "--config", config, "--out", "home")[0] == 1
    assert ends(capsys, "bench", "--config", config, "--out", "home", "--force")[0] == 0
    code, said = ends(capsys, "bench", "--config", config, "--out", "home")
    assert code == 0
    assert "0 new" in said
    assert (folder / "home" / "notes.txt").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
@pytest.mark.parametrize("force", [True, False])
def test_no_device_and_no_pipe_is_replaced_even_by_force(folder, force):
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(InvalidParameterError, match="is a pipe or a device"):
            check_new_file(folder / name, force=force)


def test_a_link_is_somebody_s_wherever_it_leads(folder):
    (folder / "link").symlink_to("nowhere")
    with pytest.raises(InvalidParameterError, match="exists already"):
        check_new_file(folder / "link")
    assert check_new_file(folder / "link", force=True)


def test_an_export_by_force_replaces_links_and_not_what_they_lead_to(folder):
    (folder / "mine").mkdir()
    (folder / "mine" / "notes").write_text("mine")
    (folder / "out").mkdir()
    (folder / "out" / "graphs").symlink_to("../mine")
    (folder / "out" / "labels.csv").symlink_to("../mine/notes")
    export_dataset(make_cohort(2), "out", force=True)
    assert (folder / "mine" / "notes").read_text() == "mine"
    assert os.listdir(folder / "mine") == ["notes"]
    assert len(os.listdir(folder / "out" / "graphs")) == 4


def test_only_what_a_killed_writer_left_is_cleared(folder):
    torn = folder / ".a.html.x1y2z3_9"
    kept = [folder / name for name in (".notes", ".DS_Store", ".git", ".a.html", "a.x1y2z3_9")]
    for path in (torn, *kept):
        path.write_text("x")
    (folder / ".b.html.abcdefgh").mkdir()
    (folder / ".c.html.abcdefgh").symlink_to("a.x1y2z3_9")
    with whole_file(folder / "p.html"):  # so are they named
        half = next(folder.glob(".p.html.*"))
        (folder / half.name.replace(".p.", ".q.")).write_text("x")
    clear_torn(folder)
    assert not list(folder.glob(".q.*"))
    assert not torn.exists()
    assert all(path.exists() for path in kept)
    assert (folder / ".b.html.abcdefgh").is_dir()
    assert (folder / ".c.html.abcdefgh").is_symlink()


def test_hidden_files_among_pages_are_not_taken_away(folder, capsys):
    make_cohort(2).save("a.dfd")
    words = ("explain", "a.dfd", "--class", "A", "--oracle", "edges-svm", "--method", "edg")
    words = (*words, "--pages", "still", "--out", "out")
    assert ends(capsys, *words)[0] == 0
    (folder / "out" / "pages" / ".notes").write_text("mine")
    (folder / "out" / "pages" / ".git").mkdir()
    code, said = ends(capsys, *words)
    assert code == 0, said
    assert (folder / "out" / "pages" / ".notes").read_text() == "mine"


def test_results_do_not_replace_a_file_unasked(folder, capsys):
    assert (
        ends(capsys, "bench", "--config", write_bench(folder, methods=["edg"]), "--out", "b")[0]
        == 0
    )
    mine = folder / "mine.csv"
    mine.write_text("mine")
    words = ("results", "b", "-f", "csv", "--output", mine)
    code, said = ends(capsys, *words)
    assert code == 1
    assert "mine.csv exists already and was not changed." in said
    assert said.rstrip().endswith("On the command line: --force.")
    assert mine.read_text() == "mine"
    assert ends(capsys, *words, "--force")[0] == 0
    assert mine.read_text() != "mine"
    assert "is a folder; give the name of a file" in ends(capsys, "results", "b", "-o", "b")[1]
    assert "does not exist" in ends(capsys, "results", "b", "-o", "no/where.csv")[1]
