"""Short forms of the scripts that put a server under load and under fire."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def run(name: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / name), *words], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_no_request_that_can_be_made_up_is_answered_with_5xx(study):
    said = run("web_fuzz.py", "--cases", "3", "--study", str(study))
    sent = int(re.match(r"(\d+) cases", said)[1])
    assert sent >= 60
    assert "0 answers of 5xx" in said


@pytest.mark.slow
def test_several_clients_at_once_get_answers_and_lose_no_job(study):
    said = run("web_load.py", "--clients", "8", "--seconds", "2", "--study", str(study))
    assert "0 errors" in said
    assert " 0 lost" in said


@pytest.mark.slow
def test_a_killed_server_loses_nothing_that_was_finished(study):
    said = run("web_kill.py", "--kills", "1", "--jobs", "6", "--study", str(study))
    assert "lost 0, changed 0" in said
