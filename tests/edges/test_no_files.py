"""What stands where a file should: pipes, devices, folders and links to themselves hang nobody."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from benches import bench_specs, write_bench
from cohorts import make_cohort
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.datasets import export_dataset
from denseflip.errors import StoreError
from denseflip.runs.result_store import Store
from denseflip.runs.run import run_specs

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.fixture(autouse=True)
def _in_time():
    """A test that hangs here hangs for ever."""

    def stop(*_):
        msg = "it hangs"
        raise TimeoutError(msg)

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("make", [pipe, endless, loop, Path.mkdir], ids=lambda x: x.__name__)
@pytest.mark.parametrize(
    "words",
    [
        "data import exp --out o.dfd --nodes ODD.csv",
        "data import exp/graphs --out o.dfd --labels ODD.csv",
        "data import ODD --out o.dfd",
        "data show ODD.dfd",
        "explain exp/graphs/g0000.csv --oracle edges-svm --nodes ODD.csv",
        "explain ODD.graphml --oracle edges-svm",
        "explain a.dfd g0000 --oracle ODD.dfo",
        "bench --config ODD.toml --out b",
    ],
)
def test_what_is_no_file_is_told_at_once(make, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data = make_cohort(2)
    data.save("a.dfd")
    export_dataset(data, "exp")
    listed = words.split()
    make(Path(next(word for word in listed if word.startswith("ODD"))))
    assert run(app, listed) == 1
    said = capsys.readouterr().err
    assert "ODD" in said
    assert "Unexpected error" not in said
    assert "not enough memory" not in said


def test_a_pipe_among_the_parts_of_a_store_is_set_aside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store(tmp_path / "s")
    specs = bench_specs(tmp_path, methods=["edg"])[:2]
    run_specs(specs, store)
    pipe(store.folder / "parts" / "00000099-x.jsonl.gz")
    assert len(store.records()) == 2
    assert store.damaged[0].reason == "it is not a regular file"
    outcome = run_specs(specs, store)
    assert [d.path.parent.name for d in outcome.damaged] == ["set-aside"]


def test_the_head_of_a_store_is_not_read_to_its_end_if_it_has_none(tmp_path):
    Store(tmp_path)
    with (tmp_path / "store.json").open("r+b") as head:
        head.truncate(1 << 40)  # takes no room on the disk
    with pytest.raises(StoreError, match="cannot be read as the header of a result store"):
        Store(tmp_path)


def test_a_folder_of_results_is_gone_on_with_by_a_pipe_in_place_of_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = str(write_bench(tmp_path, methods=["edg"]))
    out = tmp_path / "b"
    assert run(app, ["bench", "--config", config, "--out", str(out)]) == 0
    (out / "index.html").unlink()
    pipe(out / "index.html")
    assert run(app, ["bench", "--config", config, "--out", str(out)]) == 0
    assert (out / "index.html").is_file()
