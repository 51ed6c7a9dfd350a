"""The server as an attacker sees it: other sites, other names, bodies, paths, words that import."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from urllib.parse import urlsplit

import pytest

from denseflip.errors import UnknownNameError
from denseflip.web import guard
from denseflip.web import server_config as server
from denseflip.web.guard import HEADERS, Guard
from denseflip.web.job_runner import JobProgress
from denseflip.web.server_config import BODY, ServerSettings

TOKEN = "a-token-of-more-than-16"
ASKED = {"dataset": "study", "subject": "g0000"}
NOBODY = "0123456789abcdef"


def shaped(answer):
    """The message of an error that has the one shape, the headers and nothing that leaks."""
    assert answer.headers["content-type"].startswith("application/json")
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert answer.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in answer.headers
    body = answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"kind", "message", "parameters"}
    assert "Traceback" not in answer.text
    return body["error"]["message"]


# ---- who asks -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
        "evil.example#127.0.0.1",
        "2130706433",
        "127.1",
        "0.0.0.0:8765",
        "[::1]evil.example.",
        "[evil.example]",
        "",
    ],
)
def test_a_name_that_was_made_to_point_here_is_refused(make, host):
    visitor, _ = make()
    answer = visitor.get("/api/health", headers={"host": host})
    assert answer.status_code == 403
    assert "does not accept the host name" in shaped(answer)


def test_two_names_are_refused(make):
    visitor, _ = make()
    for names in (("127.0.0.1", "evil.example"), ("evil.example", "127.0.0.1")):
        answer = visitor.get("/", headers=[("host", name) for name in names])
        assert answer.status_code == 403
        shaped(answer)


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"origin": "http://["},
        {"origin": "file://127.0.0.1"},
    ],
)
def test_pages_of_others_neither_ask_nor_change(make, headers):
    visitor, app = make()
    for method, path in (
        ("GET", "/api/whatif?dataset=study&subject=g0000"),
        ("GET", "/api/health"),
        ("POST", "/api/jobs"),
        ("POST", "/api/uploads"),
        ("DELETE", "/api/datasets/study"),
        ("OPTIONS", "/api/jobs"),
        ("POST", "/"),
    ):
        answer = visitor.request(method, path, headers=headers)
        assert answer.status_code == 403, (method, path)
        assert "must not" in shaped(answer)
    assert app.state.store.recent() == []
    assert visitor.get("/", headers=headers).status_code == 200  # a link


def test_the_own_page_and_no_page_may(make):
    visitor, _ = make()
    for headers in (
        {"sec-fetch-site": "same-origin", "origin": "http://127.0.0.1"},
        {"sec-fetch-site": "none"},
        {},
    ):
        assert visitor.get("/api/methods", headers=headers).status_code == 200
        assert visitor.post("/api/jobs", json={}, headers=headers).status_code == 422


def test_the_token_is_compared_in_constant_time_wherever_it_is_shown(make, monkeypatch):
    visitor, _ = make(token=TOKEN)
    compared = []
    whole = guard.hmac.compare_digest

    def watched(a, b):
        compared.append(a)
        return whole(a, b)

    monkeypatch.setattr(guard.hmac, "compare_digest", watched)
    assert visitor.get("/?token=in-the-address").status_code == 401
    bearer = {"authorization": "Bearer in-a-header"}
    assert visitor.get("/api/health", headers=bearer).status_code == 401
    cookie = {"cookie": "denseflip_token_8765=in-a-cookie"}
    assert visitor.get("/api/health", headers=cookie).status_code == 401
    assert compared == [b"in-the-address", b"in-a-header", b"in-a-cookie"]


def test_a_token_opens_the_page_only_and_leaves_the_address(make):
    visitor, _ = make(token=TOKEN, host="0.0.0.0", port=8123)
    assert visitor.get(f"/api/health?token={TOKEN}").status_code == 401
    assert visitor.get(f"/static/app.js?token={TOKEN}").status_code == 401
    shaped(visitor.get("/openapi.json"))
    came = visitor.get(f"/?token={TOKEN}", headers={"host": "192.168.0.9:8123"})
    assert came.status_code == 303
    assert came.headers["location"] == "/"
    assert came.headers["cache-control"] == "no-store"
    assert came.headers["referrer-policy"] == "no-referrer"
    first, *rest = came.headers["set-cookie"].split("; ")
    assert first == f"denseflip_token_8123={TOKEN}"  # another server here has another cookie
    assert set(rest) == {"Path=/", "HttpOnly", "SameSite=Strict"}
    refused = visitor.get("/?token=" + TOKEN, headers={"host": "evil.example"})
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers


# ---- bodies ---------------------------------------------------------------------------------


def talk(app, method, path, pieces, headers=()):
    """Drive an app by hand: what it sends, and how often it asked for a piece of the body."""
    sent, asked = [], []

    async def receive():
        asked.append(1)
        if not pieces:
            await asyncio.Event().wait()  # nothing comes any more
        return pieces.pop(0)

    async def send(message):
        sent.append(message)

    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"127.0.0.1"), *headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765),
    }
    asyncio.run(app(scope, receive, send))
    return sent, asked


JSON = (b"content-type", b"application/json")


@pytest.mark.parametrize(
    ("told", "headers", "status"),
    [
        ({}, [(b"content-length", str(BODY + 1).encode())], 413),
        ({}, [(b"origin", b"http://evil.example")], 403),
        ({"token": TOKEN}, [], 401),
    ],
)
def test_what_is_refused_is_not_read(make, told, headers, status):
    _, app = make(**told)
    sent, asked = talk(app, "POST", "/api/jobs", [], headers)
    assert sent[0]["status"] == status
    assert asked == []


def test_a_body_that_does_not_come_is_not_waited_for(make, monkeypatch):
    _, app = make()
    for name in ("PIECE", "WHOLE"):
        with monkeypatch.context() as patch:
            patch.setattr(guard, name, 0.01)
            half = [{"type": "http.request", "body": b'{"dataset"', "more_body": True}]
            sent, _ = talk(app, "POST", "/api/jobs", half, [JSON])
        assert [m["status"] for m in sent if "status" in m] == [408]
        assert json.loads(sent[1]["body"])["error"]["kind"] == "TooSlow"


def test_a_request_that_is_there_may_take_its_time(monkeypatch):
    monkeypatch.setattr(guard, "PIECE", 0.01)
    monkeypatch.setattr(guard, "WHOLE", 0.01)

    async def app(scope, receive, send):
        await receive()
        gone = asyncio.ensure_future(receive())
        await asyncio.sleep(0.05)
        assert not gone.done()  # the visitor is still there
        gone.cancel()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})

    sent, _ = talk(
        Guard(app, ServerSettings()), "GET", "/", [{"type": "http.request", "body": b""}]
    )
    assert sent[0]["status"] == 200


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 900_000,
        b'{"a":' * 150_000,
        b'{"dataset": "study", "seed": ' + b"9" * 5_000 + b"}",
        b'{"dataset": "study", "confidence": NaN}',
        b'{"dataset": "study", "time_limit": Infinity}',
        b'{"dataset": "study", "time_limit": 1e400}',
        b'{"dataset": "\\ud800", "subject": "x"}',
        b'{"dataset": "study", "subject": "\\u0000\\u001b[2J\\u202e"}',
        b'{"dataset": {"a": 1}}',
        b'{"dataset": "study", "subject": "g0000", "freeze": [[1]]}',
        b'{"dataset": "study", "subject": "g0000", "constraints": {"freeze": []}}',
        b'{"dataset": "study", "subject": "g0000", "methods": ["auto", ["x"]]}',
        b"\xff\xfe\x00",
        b"",
        b"null",
        b"[]",
    ],
)
def test_odd_bodies_get_an_error_in_the_one_shape(make, body):
    visitor, app = make()
    headers = {"content-type": "application/json"}
    for path in ("/api/jobs", "/api/whatif"):
        answer = visitor.post(path, content=body, headers=headers)
        assert 400 <= answer.status_code < 500, answer.text
        message = shaped(answer)
        assert "\x1b" not in message
        assert "\u202e" not in message
    assert app.state.store.recent() == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_what_a_form_of_another_site_could_send_is_no_job(make, kind):
    visitor, app = make()
    headers = {} if kind is None else {"content-type": kind}
    answer = visitor.post("/api/jobs", content=json.dumps(ASKED).encode(), headers=headers)
    assert answer.status_code == 422
    shaped(answer)
    assert app.state.store.recent() == []


# ---- answers --------------------------------------------------------------------------------


def test_every_kind_of_error_has_the_one_shape_and_the_headers(make, monkeypatch):
    visitor, app = make()
    job = app.state.store.add_done("brought", {}, {}, {})
    seen = {}
    for method, path, how in (
        ("POST", "/api/whatif", {"json": ASKED | {"pairs": [[1, 1]]}}),
        ("GET", "/api/health", {"headers": {"host": "evil.example"}}),
        ("GET", "/nothing", {}),
        ("GET", "/api/jobs/", {}),
        ("GET", f"/api/jobs/{NOBODY}", {}),
        ("PUT", "/api/jobs", {}),
        ("TRACE", "/", {}),
        ("POST", f"/api/jobs/{job.id}/again", {}),
        ("POST", f"/api/jobs/{job.id}/cancel", {}),
        ("POST", "/api/jobs", {"content": b"x" * (BODY + 1)}),
        ("GET", "/api/jobs?limit=0", {}),
        ("POST", "/api/uploads", {"content": b"--x", "headers": {"content-type": "multipart/x"}}),
        (
            "POST",
            "/api/uploads",
            {"content": b"--x", "headers": {"content-type": "multipart/form-data; boundary=x"}},
        ),
    ):
        answer = visitor.request(method, path, **how)
        assert shaped(answer), (method, path)
        seen.setdefault(answer.status_code, set()).add(answer.json()["error"]["kind"])
    assert {400, 403, 404, 405, 409, 413, 422} <= set(seen)
    assert seen[404] == {"NotFound"}
    assert seen[405] == {"MethodNotAllowed"}
    assert seen[409] == {"Conflict"}

    def broken(*_):
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr(app.state.store, "recent", broken)
    answer = visitor.get("/api/jobs")
    assert answer.status_code == 500
    assert shaped(answer).startswith("Unexpected error")
    assert "secret" not in answer.text


def test_what_is_about_patients_is_not_kept_by_the_browser(make):
    visitor, _ = make()
    for path in ("/api/datasets", "/api/datasets/study", "/api/jobs", "/"):
        answer = visitor.get(path)
        assert answer.headers["cache-control"] == "no-store"
        for name, value in HEADERS.items():
            assert answer.headers.get_list(name) == [value]
    assert visitor.get("/static/app.js").headers["cache-control"] == "no-cache"
    policy = HEADERS["content-security-policy"]
    for words in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"):
        assert words in policy


def test_there_is_no_websocket(make):
    _, app = make()
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(app({"type": "websocket", "path": "/", "headers": []}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize(
    "path",
    [
        "/static/..%2f..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/app.js%00",
        "/static//etc/passwd",
        "//etc/passwd",
        "/api/datasets/..%2f..%2fetc%2fpasswd",
        "/api/datasets/%2fetc%2fpasswd",
        "/api/datasets/upload-x%2f..%2fstudy",
        f"/api/jobs/{NOBODY}/files/..%2f..%2fdenseflip-serve.sqlite",
        "/api/jobs/..%2f..%2fx/result",
        "/denseflip-serve.sqlite",
    ],
)
def test_no_path_leads_to_a_file(make, path):
    visitor, _ = make()
    answer = visitor.get(path)
    assert 400 <= answer.status_code < 500
    shaped(answer)


# ---- words that would import ----------------------------------------------------------------

WORDS = ("evil_words:boom", "weights:evil_words:boom", "evil_words", "evil_words:boom+min")


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """A module that can be imported, and must not be."""
    (tmp_path / "evil_words.py").write_text("def boom(*a, **k):\n    return 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    assert "evil_words" not in sys.modules


@pytest.mark.parametrize(
    "place", ["dataset", "classifier", "method", "methods", "subject", "regions", "target"]
)
def test_no_word_of_a_request_is_imported_or_opened(make, evil, place):
    visitor, app = make()
    for words in (*WORDS, "http://evil.example/", "onnx:/etc/passwd", "../x.dfo"):
        value = [words] if place == "methods" else words
        kind = "compare" if place == "methods" else "explain"
        answer = visitor.post("/api/jobs", json=ASKED | {"kind": kind, place: value})
        assert answer.status_code == 404, answer.text
        assert "Known" in shaped(answer)
        if place not in {"method", "methods"}:
            answer = visitor.post("/api/whatif", json=ASKED | {place: value})
            assert answer.status_code == 404, answer.text
    assert app.state.store.recent() == []


def test_nor_one_of_a_job_that_was_put_into_the_store(make, evil):
    _, app = make()
    known = app.state.library.marked("study")[1]
    app.state.store.judge(known, "edges-logistic", {"accuracy": 1})  # or it would be judged first
    asked = ASKED | {"classifier": "edges-logistic"}
    for words in WORDS:
        for name in ("method", "classifier", "dataset"):
            job = app.state.store.add("explain", asked | {name: words})
            with pytest.raises(UnknownNameError):
                app.state.work(job, JobProgress(job.id))


def test_nor_one_of_the_options(make, evil):
    visitor, app = make()
    for option in ({"freeze": ["evil_words:boom"]}, {"vocabulary": "evil_words:boom"}):
        asked = ASKED | {"classifier": "edges-logistic"} | option
        assert visitor.post("/api/jobs", json=asked).status_code == 404
        job = app.state.store.add("explain", asked)
        app.state.store.judge(app.state.library.marked("study")[1], "edges-logistic", {"a": 1})
        with pytest.raises(UnknownNameError):
            app.state.work(job, JobProgress(job.id))
    for name in ("predicate", "allowed", "parameters"):
        asked = ASKED | {name: "evil_words:boom"}
        assert visitor.post("/api/jobs", json=asked).status_code == 422


# ---- connections ----------------------------------------------------------------------------


@pytest.mark.parametrize("first", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: 127.0"])
def test_a_connection_that_does_not_say_what_it_wants_is_closed(monkeypatch, client, first):
    monkeypatch.setattr(server, "HEADERS", 0.05)
    place = urlsplit(str(client.base_url))
    with socket.create_connection((place.hostname, place.port), timeout=20) as raw:
        raw.sendall(first)
        assert raw.recv(100) == b""


def test_one_that_begins_a_second_request_and_stops_is_closed_too(monkeypatch, client):
    place = urlsplit(str(client.base_url))
    with socket.create_connection((place.hostname, place.port), timeout=20) as raw:
        raw.sendall(b"GET /api/methods HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        got = raw.recv(100_000)
        assert got.startswith(b"HTTP/1.1 200")
        assert b"server:" not in got.lower().split(b"\r\n\r\n")[0]
        monkeypatch.setattr(server, "HEADERS", 0.05)
        raw.sendall(b"GET /api/me")
        while got := raw.recv(100_000):
            assert b"HTTP/1.1 200" not in got
