"""A classifier behind HTTP for tests: a real local server, which can also misbehave on purpose."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Handler", dict[str, Any]], None]


def label(graph: dict[str, Any]) -> str:
    """What the service says of a graph."""
    return "dense" if len(graph["edges"]) > 20 else "loose"


def share(graph: dict[str, Any]) -> float:
    """The service's probability of "dense"; above a half just where it says so."""
    return min(0.5 + (len(graph["edges"]) - 20.5) / 200, 1.0)


def kindly(handler: Handler, question: dict[str, Any]) -> None:
    """Answer as the contract says."""
    graphs = question["graphs"]
    rows = [[share(g), 1 - share(g)] for g in graphs]
    handler.give(
        {
            "labels": [label(g) for g in graphs],
            "classes": ["dense", "loose"],
            "class_names": {"dense": "Dense ones", "loose": "Loose ones"},
            "probabilities": rows,
        }
    )


class Handler(BaseHTTPRequestHandler):
    """Hands every question to the server's way of answering."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # an answer in two parts would wait for 40 ms
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        question = json.loads(body)
        self.server.asked.append((len(question["graphs"]), dict(self.headers)))
        self.server.answer(self, question)

    def give(self, content: Any, *, status: int = 200, **headers: str) -> None:
        """Send JSON, or bytes as they are."""
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    def drop(self) -> None:
        """Hang up without a word."""
        self.close_connection = True
        self.connection.close()

    def break_off(self) -> None:
        """Promise more than is sent, then hang up."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"labels": [')
        self.wfile.flush()
        self.drop()

    def drip(self, seconds: float) -> None:
        """Send an answer one byte at a time, for ever so long."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.02)
        except OSError:
            pass
        self.drop()

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


class Server(ThreadingHTTPServer):
    """One address, one way of answering; `asked` keeps sizes and headers of all questions."""

    daemon_threads = True

    def __init__(self, answer: Answer, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.answer = answer
        self.asked: list[tuple[int, dict[str, str]]] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that hung up is no news."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/predict"


@contextmanager
def served(answer: Answer = kindly, port: int = 0) -> Iterator[Server]:
    """A running service."""
    server = Server(answer, port)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)


def first_then(times: int, wrong: Answer, right: Answer = kindly) -> Answer:
    """So many wrong answers to questions with graphs, then right ones."""
    left = [times]

    def answer(handler: Handler, question: dict[str, Any]) -> None:
        if question["graphs"] and left[0] > 0:
            left[0] -= 1
            wrong(handler, question)
        else:
            right(handler, question)

    return answer
