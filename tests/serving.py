"""A server on a free port of this machine, in a thread of this process."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from denseflip.web.app import create_app
from denseflip.web.server_config import ServerSettings, make_server


@contextmanager
def serving(data: Path, **told: Any) -> Iterator[str]:
    """The address of a server that runs meanwhile."""
    told = {"repeats": 1, "permutations": 19, **told}  # enough to see a verdict, and quick
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = create_app(ServerSettings(data=data, port=port, **told))
    server = make_server(app, log_level="error", timeout_graceful_shutdown=1)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listening.close()


def wait(client: Any, id: str, seconds: float = 240) -> dict[str, Any]:
    """A job when it has ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        job = client.get(f"/api/jobs/{id}").json()
        if job["status"] not in {"queued", "running"}:
            return dict(job)
        time.sleep(0.02)
    raise AssertionError(f"the job still runs after {seconds} s: {job}")


class Visitor:
    """A client of an app in this process, without a port; its jobs wait, for nothing is started."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def request(self, method: str, path: str, **how: Any) -> Any:
        """One request and its answer."""
        import httpx

        async def go() -> Any:
            inside = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=inside, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, **how)

        return asyncio.run(go())

    def get(self, path: str, **how: Any) -> Any:
        """GET."""
        return self.request("GET", path, **how)

    def post(self, path: str, **how: Any) -> Any:
        """POST."""
        return self.request("POST", path, **how)

    def delete(self, path: str, **how: Any) -> Any:
        """DELETE."""
        return self.request("DELETE", path, **how)
