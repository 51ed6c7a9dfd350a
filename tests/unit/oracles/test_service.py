"""A service that is slow, drops, garbles, or answers the wrong number: a real server."""

from __future__ import annotations

import json
import logging
import pickle
import time

import pytest

from conftest import need
from denseflip import Graph, explain, open_oracle
from denseflip.errors import InvalidParameterError, MissingExtraError, OracleError
from denseflip.oracles.service import TOKEN, HttpOracle
from services import Handler, first_then, kindly, label, served

GRAPHS = [Graph.from_edges(9, [(0, i) for i in range(1, k)]) for k in range(2, 9)]
DENSE = Graph.from_edges(9, [(u, v) for u in range(9) for v in range(u)][:24])
SECRET = "s3cret-token-of-the-lab"


@pytest.fixture(autouse=True)
def _httpx(monkeypatch):
    need("http", "httpx")
    monkeypatch.delenv(TOKEN, raising=False)


def quick(url: str, **options) -> HttpOracle:
    return HttpOracle(url, **{"pause": 0.0, "timeout": 10.0, **options})


# ---- as it should be -----------------------------------------------------------------------


def test_a_service_is_opened_by_its_address_and_explained():
    with served() as server:
        oracle = open_oracle(server.url)
        assert oracle.classes == ("dense", "loose")
        assert oracle.class_names == {"dense": "Dense ones", "loose": "Loose ones"}
        result = explain(DENSE, oracle, "dat+min", background=GRAPHS)
        assert (result.label_before, result.label_after) == ("dense", "loose")
        assert label({"edges": result.counterfactual.edges()}) == "loose"
        assert sum(n for n, _ in server.asked) >= result.distinct_calls


def test_questions_are_split_into_batches():
    with served() as server:
        oracle = quick(server.url, max_batch=3)
        assert oracle.predict(GRAPHS) == [label({"edges": g.edges()}) for g in GRAPHS]
        assert [n for n, _ in server.asked] == [3, 3, 1]


def test_a_service_that_gives_bare_labels_will_do():
    with served(lambda h, q: h.give({"labels": [len(g["edges"]) > 3 for g in q["graphs"]]})) as s:
        oracle = open_oracle(s.url)
        assert oracle.classes is None
        assert oracle.class_names is None
        assert not hasattr(oracle, "predict_proba")
        assert oracle.predict(GRAPHS)[-1] is True


def test_the_question_is_the_one_of_the_docs():
    seen = []

    def answer(handler: Handler, question):
        seen.append(question)
        handler.give({"labels": [0] * len(question["graphs"])})

    with served(answer) as server:
        quick(server.url).predict([GRAPHS[1]])
    assert seen == [{"denseflip": 1, "graphs": [{"n_nodes": 9, "edges": [[0, 1], [0, 2]]}]}]


# ---- what may be gone the next time ----------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        lambda h, q: h.drop(),
        lambda h, q: h.break_off(),
        lambda h, q: h.give({}, status=503),
        lambda h, q: h.give({}, status=429, Retry_After="0"),
        lambda h, q: h.give({}, status=500),
        lambda h, q: h.give({}, status=408),
        lambda h, q: h.give({}, status=425),
        lambda h, q: h.give({}, status=502),
        lambda h, q: h.give({}, status=504),
    ],
    ids=["drops", "breaks off", "503", "429", "500", "408", "425", "502", "504"],
)
def test_it_is_asked_again_and_the_answers_are_right(wrong):
    with served(first_then(2, wrong)) as server:
        assert quick(server.url).predict([DENSE, GRAPHS[0]]) == ["dense", "loose"]
        assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda h, q: h.drop(), r"closed the connection during a response .*tried 2 times"),
        (lambda h, q: h.break_off(), r"closed the connection during a response"),
        (
            lambda h, q: h.give({}, status=503),
            r"returned status 503 \(tried 2 times, with",
        ),
    ],
    ids=["drops", "breaks off", "503"],
)
def test_at_last_it_is_given_up(wrong, message):
    with served(wrong) as server:
        with pytest.raises(OracleError, match=message):
            quick(server.url, retries=1).predict([DENSE])
        assert len(server.asked) == 2


def test_one_that_delays_is_given_up_after_the_time_limit():
    with served(lambda h, q: time.sleep(30)) as server:
        started = time.monotonic()
        with pytest.raises(
            OracleError, match=r"did not respond within 0.1 s \(tried 2 times.*time"
        ):
            quick(server.url, timeout=0.1, retries=1).predict([DENSE])
        assert time.monotonic() - started < 20  # and not sixty


def test_one_that_drips_is_given_up_too():
    with served(lambda h, q: h.drip(30)) as server:
        started = time.monotonic()
        with pytest.raises(OracleError, match=r"did not respond within 0.2 s"):
            quick(server.url, timeout=0.2, retries=0).predict([DENSE])
        assert time.monotonic() - started < 20


def test_one_that_is_quick_enough_the_second_time_is_believed():
    slow = first_then(1, lambda h, q: time.sleep(0.6))
    with served(slow) as server:
        assert quick(server.url, timeout=0.3).predict([DENSE]) == ["dense"]


def test_the_pauses_double_and_the_service_may_ask_for_more(monkeypatch):
    pauses = []
    monkeypatch.setattr("denseflip.oracles.service.time.sleep", pauses.append)
    with served(lambda h, q: h.give({}, status=503)) as server, pytest.raises(OracleError):
        quick(server.url, pause=0.5, retries=3).predict([DENSE])
    assert pauses == [0.5, 1.0, 2.0]
    pauses.clear()
    busy = first_then(1, lambda h, q: h.give({}, status=429, Retry_After="7"))
    with served(busy) as server:
        quick(server.url, pause=0.5).predict([DENSE])
    assert pauses == [7.0]


def test_nobody_there_is_an_error_when_it_is_opened(monkeypatch):
    monkeypatch.setattr("denseflip.oracles.service.time.sleep", lambda s: None)
    with served() as server:
        gone = server.url
    with pytest.raises(OracleError, match=r"cannot be reached .*tried 4 times.*Is it running"):
        open_oracle(gone)


# ---- what is wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>Welcome\x1b[31m</html>", r"did not return JSON: '<html>Welcome\\\\x1b"),
        (b'{"labels": ["dense"', r"did not return JSON"),
        (b"\xff\xfe\x00", r"did not return JSON"),
        (["dense"], r'returned a list; expected {"labels"'),
        ({"label": "dense"}, r"returned no list of 'labels' \(it returned: label\)"),
        ({}, r"returned no list of 'labels' \(it returned: nothing\)"),
        ({"labels": "dense"}, r"returned no list of 'labels'"),
        ({"labels": []}, r"returned 0 labels for 1 graph\. It must answer for every graph"),
        ({"labels": ["dense", "dense"]}, r"returned 2 labels for 1 graph"),
        ({"labels": [None]}, r"None as a label"),
        ({"labels": [["dense"]]}, r"as a label; expected a number or a string"),
        (b'{"labels": [NaN]}', r"nan as a label"),
    ],
)
def test_a_garbled_answer_is_an_error_at_once(content, message):
    with served(lambda h, q: h.give(content)) as server:
        with pytest.raises(OracleError, match=message):
            quick(server.url).predict([DENSE])
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, r"returned status 400: 'no'\."),
        (401, r"status 401.*environment variable DENSEFLIP_TOKEN"),
        (404, r"status 404.*accept POST requests"),
        (413, r"status 413.*max_batch"),
        (302, r"status 302.*redirects are not followed"),
    ],
)
def test_a_refusal_is_an_error_at_once(status, message):
    with served(lambda h, q: h.give(b"no", status=status, Location="http://x/")) as server:
        with pytest.raises(OracleError, match=message):
            quick(server.url).predict([DENSE])
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.9, 0.3]], r"sum to 1; got \[0.9, 0.3\]"),
        ([[1.0]], r"1 probabilities for 2 classes"),
        ([[0.2, 0.8]], r"contradicts itself: its label is 'dense', but its most .*'loose'"),
        ([], r"returned 0 rows of probabilities for 1 graph"),
        ([["much", "little"]], r"expected 2 probabilities"),
    ],
)
def test_probabilities_are_checked(rows, message):
    def answer(handler: Handler, question):
        n = len(question["graphs"])
        content = {"labels": ["dense"] * n, "classes": ["dense", "loose"]}
        handler.give({**content, "probabilities": rows if n else []})

    with served(answer) as server:
        oracle = quick(server.url)
        with pytest.raises(OracleError, match=message):
            oracle.predict_proba([DENSE])


def test_an_answer_without_end_is_not_read_to_the_end(monkeypatch):
    monkeypatch.setattr("denseflip.oracles.service._LARGEST", 2**20)
    with (
        served(lambda h, q: h.give(b"[" * 2**22)) as server,
        pytest.raises(OracleError, match="returned more than 1 MB"),
    ):
        quick(server.url).predict([DENSE])


def test_a_service_that_changes_its_mind_is_found_out():
    turn = iter(range(10**6))

    def answer(handler: Handler, question):
        handler.give({"labels": [next(turn) % 3 for _ in question["graphs"]]})

    with served(answer) as server, pytest.raises(OracleError, match="is not deterministic"):
        explain(DENSE, quick(server.url), "edg", confirm=5)


# ---- the token -------------------------------------------------------------------------------


def test_the_token_is_sent_and_told_to_nobody(monkeypatch, caplog):
    monkeypatch.setenv(TOKEN, SECRET)
    caplog.set_level(logging.DEBUG)

    def parrot(handler: Handler, question):
        said = handler.headers["Authorization"]
        if question["graphs"]:
            handler.give(f"no entry for {said}".encode(), status=403)
        else:
            kindly(handler, question)

    with served(parrot) as server:
        oracle = open_oracle(server.url)
        assert server.asked[0][1]["Authorization"] == f"Bearer {SECRET}"
        with pytest.raises(OracleError, match="no entry for Bearer …") as caught:
            oracle.predict([DENSE])
    told = [str(caught.value), repr(oracle), caplog.text, repr(vars(oracle).get("_names"))]
    assert not any(SECRET in text for text in told)
    assert SECRET.encode() not in pickle.dumps(oracle)


def test_without_a_token_nothing_is_sent():
    with served() as server:
        quick(server.url).predict([DENSE])
        assert "Authorization" not in server.asked[0][1]


@pytest.mark.parametrize("token", ["two words", "naïve", "line\nbreak"])
def test_what_cannot_be_a_token_is_not_shown(monkeypatch, token):
    monkeypatch.setenv(TOKEN, token)
    with pytest.raises(InvalidParameterError, match="must not contain spaces") as caught:
        quick("http://127.0.0.1:1/").predict([DENSE])
    assert token not in str(caught.value)


def test_a_token_does_not_travel_in_the_open(monkeypatch):
    monkeypatch.setenv(TOKEN, SECRET)
    with pytest.raises(InvalidParameterError, match="is not encrypted: the token") as caught:
        quick("http://classifier.example/predict?key=hidden").predict([DENSE])
    assert SECRET not in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert caught.value.parameters == ("plain_token",)
    oracle = quick("http://classifier.example/predict", plain_token=True)
    assert oracle._client.headers["Authorization"].endswith(SECRET)


# ---- the address and the settings -------------------------------------------------------------


@pytest.mark.parametrize(
    "url", ["ftp://host/x", "host/x", "http://", "http://host:port/", 7, None, "https:///x"]
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(InvalidParameterError, match="A service's address must be http://host/path"):
        HttpOracle(url)


def test_a_password_in_the_address_is_refused_and_not_repeated():
    with pytest.raises(InvalidParameterError, match="holds a user name or password") as caught:
        HttpOracle("https://me:hunter2@host/x")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"timeout": 0}, "timeout must be a positive number"),
        ({"timeout": "1"}, "timeout must be a positive number"),
        ({"pause": -1}, "pause must be a positive number"),
        ({"retries": -1}, "retries must be a whole number"),
        ({"max_batch": 0}, "max_batch must be a whole number, at least 1"),
    ],
)
def test_settings_are_checked(setting, message):
    with pytest.raises(InvalidParameterError, match=message):
        HttpOracle("http://host/", **setting)


def test_without_httpx_the_line_to_type_is_told(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtraError, match=r'pip install "denseflip\[http\]"'):
        open_oracle("http://127.0.0.1:1/")


def test_the_command_says_it_in_one_line(tmp_path, monkeypatch, capsys):
    from cohorts import make_cohort
    from denseflip.cli.command_tree import app
    from denseflip.cli.common import run

    monkeypatch.chdir(tmp_path)
    data = make_cohort(signal=0.3)
    data.save("a.dfd")
    dense = next(i for i, g in zip(data.ids, data.graphs, strict=True) if g.n_edges > 20)
    with served() as server:
        words = ["explain", "a.dfd", dense, "--oracle", server.url, "--json", "--method", "con"]
        assert run(app, words) == 0
        told = json.loads(capsys.readouterr().out)
        assert "loose" in json.dumps(told)
    with served(lambda h, q: h.give(b"<html>")) as server:
        words[4] = server.url
        assert run(app, words) == 1
        told = capsys.readouterr().err
    assert "not return JSON" in told
    assert "Traceback" not in told
