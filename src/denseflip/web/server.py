"""The server that an app runs in: uvicorn, without what is not needed, and not to be held up.

A connection that has not said what it wants after some seconds is closed: a thousand of them would
take every place there is.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from denseflip.errors import MissingExtraError

if TYPE_CHECKING:
    import uvicorn

HEADERS = 10.0  # seconds until the head of a request must be there


def make_server(app: Any, **told: Any) -> uvicorn.Server:
    """A server of the app, to be run on sockets.

    Parameters
    ----------
    app : what `create_app` made.
    told : further settings of `uvicorn.Config`.

    Raises
    ------
    MissingExtraError
        If uvicorn is not installed.
    """
    try:
        import h11
        import uvicorn
        from uvicorn.protocols.http.h11_impl import H11Protocol
    except ImportError as error:
        raise MissingExtraError("uvicorn", "web") from error

    class Patient(H11Protocol):
        """Waits for the head of a request, but not for ever."""

        _late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._calm()
            super().connection_lost(exc)

        def _watch(self) -> None:
            if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
                self._calm()
            elif self._late is None:
                self._late = self.loop.call_later(HEADERS, self.transport.close)

        def _calm(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

    settings: dict[str, Any] = {
        "http": Patient,
        "ws": "none",
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_graceful_shutdown": 3,
    }
    return uvicorn.Server(uvicorn.Config(app, **(settings | told)))
