"""Who may ask: Host, Origin, token, size; and what every answer carries."""

from __future__ import annotations

import socket
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from denseflip.errors import InvalidParameterError
from denseflip.web.server_config import BODY, ServerSettings
from serving import serving

TOKEN = "a-token-of-more-than-16"
ask = partial(httpx.get, timeout=60)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "192.168.0.9", "[::2]:1", ""])
def test_other_names_are_refused(client, host):
    answer = client.get("/api/health", headers={"host": host})
    assert answer.status_code in {400, 403}


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8765"])
def test_names_of_this_machine_are_fine(client, host):
    assert client.get("/api/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_pages_of_others_change_nothing(client, headers):
    answer = client.post("/api/jobs", json={"dataset": "study"}, headers=headers)
    assert answer.status_code == 403
    assert "must not change" in answer.json()["error"]["message"]


def test_ones_own_page_may(client):
    here = f"{client.base_url}".rstrip("/")
    answer = client.post("/api/jobs", json={"dataset": "nope"}, headers={"origin": here})
    assert answer.status_code == 404


def test_a_request_of_any_size_is_bounded(client):
    large = client.post("/api/jobs", content=b"x" * (BODY + 1))
    assert large.status_code == 413
    assert large.json()["error"]["kind"] == "TooLarge"

    def pieces():
        for _ in range(20):
            yield b" " * 100_000

    assert client.post("/api/jobs", content=pieces()).status_code == 413


def test_every_answer_forbids_scripts_from_elsewhere(client):
    for path in ("/", "/api/health", "/nothing", "/static/app.js"):
        policy = client.get(path).headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
    page = client.get("/").text
    assert "<script>" not in page
    assert "http://" not in page
    assert "https://" not in page


def test_a_token_is_asked_for_and_kept_in_a_strict_cookie(tmp_path: Path, study: Path):
    with serving(tmp_path, datasets=(str(study),), token=TOKEN) as url:
        assert ask(f"{url}/api/health").status_code == 401
        assert ask(f"{url}/").status_code == 401
        assert ask(f"{url}/?token=wrong").status_code == 401
        wrong = {"authorization": "Bearer wrong"}
        assert ask(f"{url}/api/health", headers=wrong).status_code == 401
        right = {"authorization": f"Bearer {TOKEN}"}
        assert ask(f"{url}/api/health", headers=right).status_code == 200
        came = ask(f"{url}/?token={TOKEN}")
        assert came.status_code == 303
        cookie = came.headers["set-cookie"]
        for words in ("HttpOnly", "SameSite=Strict"):
            assert words in cookie
        jar = {"cookie": cookie.partition(";")[0]}
        assert ask(f"{url}/api/health", headers=jar).status_code == 200
        odd = {"cookie": "denseflip_token_1=\x01; ;=;"}
        place = urlsplit(url)
        with socket.create_connection((place.hostname, place.port)) as raw:
            raw.sendall(f"GET / HTTP/1.1\r\nHost: {place.netloc}\r\nCookie: {odd}\r\n\r\n".encode())
            assert b" 401 " in raw.recv(1000) or b" 400 " in raw.recv(1)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"host": "0.0.0.0"}, "token"),
        ({"host": "my.machine"}, "token"),
        ({"token": "short"}, "at least 16"),
        ({"token": "x" * 20 + "\n"}, "printable ASCII"),
        ({"port": 70000}, "65535"),
        ({"workers": 0}, "1 to 64"),
    ],
)
def test_what_may_not_be_served_is_not(told, words):
    with pytest.raises(InvalidParameterError, match=words):
        ServerSettings(**told).check()


def test_another_host_with_a_token_is_fine():
    assert ServerSettings(host="0.0.0.0", token=TOKEN).check().host == "0.0.0.0"


def test_pages_of_others_cannot_even_ask_but_a_link_opens_the_app(client):
    other = {"sec-fetch-site": "cross-site"}
    answer = client.get("/api/whatif?dataset=study&subject=g0000", headers=other)
    assert answer.status_code == 403
    assert "must not query" in answer.json()["error"]["message"]
    assert client.get("/", headers=other).status_code == 200


def test_a_token_of_any_signs_is_kept_beside_odd_cookies_of_others(tmp_path: Path, study: Path):
    token = 'semi;colon "quote", per%cent&+'
    with serving(tmp_path, datasets=(str(study),), token=token) as url:
        came = ask(f"{url}/", params={"token": token})
        assert came.status_code == 303
        own = came.headers["set-cookie"].partition(";")[0]
        for cookie in (own, f'other={{"a": [1, 2]}}; {own}', f'x="; {own}'):
            answer = ask(f"{url}/api/health", headers={"cookie": cookie})
            assert answer.status_code == 200, cookie
        wrong = ask(f"{url}/api/health", headers={"cookie": own[:-1]})
        assert wrong.status_code == 401
