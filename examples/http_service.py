"""A classifier behind HTTP: the service, with the standard library only, and its client.

    pip install "denseflip[http]"
    python examples/http_service.py            # start it and explain one graph
    python examples/http_service.py serve      # keep it running at http://127.0.0.1:8765/predict

While the second one runs:

    denseflip explain mice 0 --oracle http://127.0.0.1:8765/predict

The service is for this machine only. A service that others can reach needs https and a token
(``DENSEFLIP_TOKEN`` on the side of the client; this service requires it if ``SERVICE_TOKEN`` is
set).
"""

from __future__ import annotations

import hmac
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from denseflip import Graph, fit_oracle, load_dataset, open_oracle
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.subject import find_subject

LARGEST = 64 * 2**20  # largest size of a query in bytes


class Service(ThreadingHTTPServer):
    """Answers queries about graphs with a classifier of `fit_oracle`."""

    daemon_threads = True

    def __init__(self, port: int = 8765, dataset: str = "mice") -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.dataset = load_dataset(dataset)
        self.classifier = fit_oracle(self.dataset, "regions-logistic")
        self.token = os.environ.get("SERVICE_TOKEN", "")

    @property
    def url(self) -> str:
        """The address of the service."""
        return f"http://127.0.0.1:{self.server_address[1]}/predict"

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return labels and probabilities of the graphs of a query, with class names."""
        graphs = [Graph.from_edges(g["n_nodes"], g["edges"]) for g in question["graphs"]]
        names = self.dataset.class_names
        labels = [names[label] for label in self.classifier.predict(graphs)]
        shares = self.classifier.predict_proba(graphs).tolist() if graphs else []
        return {"labels": labels, "classes": list(names), "probabilities": shares}


class Handler(BaseHTTPRequestHandler):
    """Answers each POST with JSON."""

    server: Service
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # send headers and body without delay

    def do_POST(self) -> None:
        """Answer a query; an invalid one with status 400 and the reason."""
        size = int(self.headers.get("Content-Length", 0))
        token = f"Bearer {self.server.token}"
        if size > LARGEST:
            return self.give(413, {"error": "too large"})
        body = self.rfile.read(size)
        if self.server.token and not hmac.compare_digest(
            self.headers.get("Authorization", ""), token
        ):
            return self.give(401, {"error": "a token is needed"})
        try:
            return self.give(200, self.server.answer(json.loads(body)))
        except Exception as error:
            return self.give(400, {"error": str(error)})

    def give(self, status: int, content: dict[str, Any]) -> None:
        """Send JSON."""
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Log nothing."""


def main(dataset: str = "mice", target: str = "BTBR") -> Any:
    """Start the service, open it by its address, explain one graph; return the story."""
    with Service(0, dataset) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        oracle = open_oracle(service.url)
        story = explain_and_describe(find_subject(dataset, 0), oracle, target=target)
        print(story)
        service.shutdown()
    return story


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        with Service() as running:
            print(f"Listening at {running.url}")
            running.serve_forever()
    else:
        main()
