"""One server to a folder: the second is told of the first; one that was killed holds nobody up."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import pytest

from denseflip import files
from denseflip.errors import StoreError
from denseflip.web import folder_lock as claiming
from denseflip.web.app import create_app
from denseflip.web.folder_lock import HOLDER, FolderLock
from denseflip.web.job_store import Store
from denseflip.web.server_config import ServerSettings

HOLD = """
import os, sys
from pathlib import Path
from denseflip.web.folder_lock import FolderLock
from denseflip.web.job_store import Store
claim = FolderLock(Path(sys.argv[1]), "http://127.0.0.1:4321/")
store = Store(Path(sys.argv[1]))
done = store.add("explain", {"n": 0})
store.start(done.id)
store.finish(done.id, {}, {"n": 0})
running = store.add("explain", {"n": 1})
store.start(running.id)
queued = store.add("explain", {"n": 2})
if "fork" in sys.argv[2:]:
    ready, tell = os.pipe()
    if os.fork() == 0:
        os.write(tell, b"1")
        sys.stdin.read()  # outlives its parent
        os._exit(0)
    os.read(ready, 1)
print(os.getpid(), done.id, running.id, queued.id, flush=True)
sys.stdin.read()
"""


def hold(folder, *words):
    server = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    return server, server.stdout.readline().split()


def test_a_second_server_is_told_where_the_first_is_and_a_killed_one_is_forgotten(tmp_path, study):
    server, (pid, *ids) = hold(tmp_path)
    try:
        with pytest.raises(StoreError) as told:
            create_app(ServerSettings(data=tmp_path, datasets=(str(study),)))
        said = str(told.value)
        assert f"http://127.0.0.1:4321/ (process {pid}). Use that server" in said
        assert told.value.parameters == ("data",)
        probe = Store(tmp_path)
        assert probe.get(ids[1]).status == "running"  # the refused one has touched nothing
        probe.close()
    finally:
        server.send_signal(signal.SIGKILL)
        server.communicate()
    assert (tmp_path / HOLDER).exists()  # it had no time to tidy up
    app = create_app(ServerSettings(data=tmp_path, datasets=(str(study),)))
    waiting, hit = app.state.store.recover()
    assert (waiting, hit) == ([ids[2]], 1)
    assert app.state.store.result(ids[0]) == {"n": 0}
    assert app.state.store.get(ids[1]).status == "interrupted"
    assert app.state.store.again(ids[1])
    app.state.store.close()
    app.state.claim.release()
    assert not (tmp_path / HOLDER).exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_that_a_classifier_forked_does_not_keep_the_folder(tmp_path):
    server, _ = hold(tmp_path, "fork")
    try:
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
        FolderLock(tmp_path, "http://here/").release()  # though the child still runs
    finally:
        server.communicate()


def test_in_one_process_too_and_free_when_it_is_released(tmp_path):
    first = FolderLock(tmp_path, "http://one/")
    with pytest.raises(StoreError, match="http://one/"):
        FolderLock(tmp_path, "http://two/")
    FolderLock(tmp_path / "other", "http://two/").release()
    first.release()
    first.release()
    FolderLock(tmp_path, "http://two/").release()


@pytest.mark.parametrize("left", ["", "{", "[]", '{"pid": "x", "address": 1}'])
def test_a_holder_that_cannot_be_read_is_told_without_an_address(tmp_path, left):
    first = FolderLock(tmp_path, "http://one/")
    (tmp_path / HOLDER).write_text(left)
    with pytest.raises(StoreError, match="already in use by another server"):
        FolderLock(tmp_path, "http://two/")
    first.release()


def test_a_server_that_cannot_begin_leaves_the_folder_free(tmp_path):
    from denseflip.errors import DenseflipError

    with pytest.raises(DenseflipError):
        create_app(ServerSettings(data=tmp_path, datasets=("nothing.dfd",)))
    FolderLock(tmp_path, "http://two/").release()


def test_what_cannot_be_a_folder_or_be_locked_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be used as the data folder"):
        FolderLock(tmp_path / "file", "")

    def locked(handle):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(claiming, "try_lock", locked)
    with pytest.raises(StoreError, match="cannot be locked there"):
        FolderLock(tmp_path, "")


def test_a_full_disk_is_told_and_the_claim_given_back(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(claiming, "write_whole", full)
        with pytest.raises(StoreError, match="Free disk space"):
            FolderLock(tmp_path, "")
    FolderLock(tmp_path, "").release()


def test_a_lock_that_is_no_lock_is_an_error(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def flock(*_):
        raise OSError(errno.ENOTSUP, "not here")

    monkeypatch.setattr(fcntl, "flock", flock)
    with (tmp_path / "x").open("a+b") as handle, pytest.raises(OSError, match="not here"):
        files.try_lock(handle)
