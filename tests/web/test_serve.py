"""The command: what it prints, what it refuses, and that a second one is told of the first."""

from __future__ import annotations

import socket

import pytest

from denseflip.cli.command_tree import app as commands
from denseflip.cli.common import run
from denseflip.web import server_config as serving_by
from denseflip.web.folder_lock import FolderLock


class Never:
    """A server that ends at once."""

    def __init__(self, app, **told):
        self.app = app

    def run(self, sockets):
        for one in sockets:
            one.close()
        self.app.state.store.close()
        self.app.state.claim.release()


@pytest.fixture
def serve(monkeypatch, tmp_path, study, capsys):
    monkeypatch.setattr(serving_by, "make_server", Never)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.delenv("DENSEFLIP_TOKEN", raising=False)

    def begin(*words):
        told = ["serve", str(study), "--no-browser", "--data", str(tmp_path / "data"), *words]
        code = run(commands, told)
        return code, capsys.readouterr().err

    return begin


def test_the_address_is_printed_with_a_token_that_survives_it(serve):
    code, said = serve("--port", "0", "--token", 'semi;colon "&+% and 16')
    assert code == 0
    assert "?token=semi%3Bcolon%20%22%26%2B%25%20and%2016 " in said


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--host", "0.0.0.0"), "token"),
        (("--max-upload", "much"), "max_upload must be a size such as 50MB"),
        (("--max-kept", "-1"), "max_kept must be a size"),
        (("--max-uploads", "-1"), "max_uploads must be at least 0"),
        (("--token", "short"), "at least 16"),
        (("--port", "99999"), "65535"),
    ],
)
def test_what_cannot_be_served_is_told_in_a_line(serve, words, reason):
    code, said = serve(*words)
    assert code == 1
    assert reason in said
    assert "Traceback" not in said


def test_a_second_one_is_told_of_the_first_whatever_it_trips_over(serve, tmp_path):
    first = FolderLock(tmp_path / "data", "http://127.0.0.1:4711/")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for words in (("--port", "0"), ("--port", port)):
            code, said = serve(*words)
            assert code == 1
            assert "http://127.0.0.1:4711/" in said
            assert "--data" in said
        first.release()
        code, said = serve("--port", port)
        assert code == 1
        assert f"Cannot listen on 127.0.0.1, port {port}" in said
    code, said = serve("--port", "0", "--max-upload", "1MB", "--max-kept", "9GB")
    assert code == 0
    assert "is running at http://127.0.0.1:" in said
