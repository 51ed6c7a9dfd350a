"""kill -9 at any moment, again and again: in the end the same tables, byte for byte."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benches import write_bench

FILES = ("flips.csv", "flips.md", "flips.tex", "measures.csv", "results.csv", "index.html")


def command(folder: Path, out: str, engine: str = "serial") -> list[str]:
    return [
        sys.executable, "-m", "denseflip", "bench", "--config", str(folder / "bench.toml"),
        "--engine", engine, "--jobs", "2", "--out", str(folder / out),
    ]  # fmt: skip


def see_oracles(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command import the classifiers in a folder, and denseflip from where it was."""
    before = os.environ.get("PYTHONPATH", "")
    paths = [str(folder), *(str(Path(p).absolute()) for p in before.split(os.pathsep) if p)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


def stored(folder: Path, out: str) -> int:
    return len(list((folder / out / "store" / "parts").glob("*.gz")))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["serial", "auto"])
def test_killed_runs_end_in_the_same_tables(folder, monkeypatch, engine):
    see_oracles(folder, monkeypatch)
    write_bench(folder, "slow", measures={"robustness": 3}, methods=["edg", "dat+bw"], seeds=[0])
    started = time.monotonic()
    subprocess.run(command(folder, "whole"), check=True, capture_output=True, cwd=folder)
    whole = time.monotonic() - started
    kills = 0
    for share in (0.5, 0.7, 0.3):  # of the time that the whole takes: some in loading, some at work
        process = subprocess.Popen(
            command(folder, "killed", engine),
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(share * whole)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills
    subprocess.run(command(folder, "killed", engine), check=True, capture_output=True, cwd=folder)
    for name in FILES:
        assert (folder / "killed" / name).read_bytes() == (folder / "whole" / name).read_bytes()
    assert stored(folder, "killed")


def heed_interrupts() -> None:
    """What a shell runs in the background is deaf to interrupts, and so is all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["serial", "auto", "processes"])
def test_an_interrupt_leaves_a_store_that_continues(folder, monkeypatch, engine):
    see_oracles(folder, monkeypatch)
    write_bench(folder, "slow", methods=["edg", "dat+bw"], measures={"robustness": 3})
    process = subprocess.Popen(
        command(folder, "b", engine),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    deadline = time.monotonic() + 60
    while not stored(folder, "b") and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to workers too
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Run the same command to continue" in err
    assert "Traceback" not in err, err
    assert stored(folder, "b")
