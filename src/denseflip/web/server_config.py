"""How the app is served: the settings, checked before anything starts, and the server itself."""

from __future__ import annotations

import asyncio
import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from denseflip.errors import InvalidParameterError, MissingExtraError

if TYPE_CHECKING:
    import uvicorn

TOKEN_VARIABLE = "DENSEFLIP_TOKEN"
LEAST_TOKEN = 16  # characters; shorter ones can be guessed
UPLOAD = 50_000_000  # bytes of one upload
UPLOADS = 500  # number of uploads kept
KEPT = 2_000_000_000  # bytes of uploads and results kept
BODY = 1_000_000  # bytes of any other request
HEADERS = 10.0  # seconds until the head of a request must have arrived


@dataclass(frozen=True)
class ServerSettings:
    """Settings of `denseflip serve`.

    Attributes
    ----------
    datasets : names or files of data sets; empty for all on this machine.
    oracles : the user's classifiers, for `open_oracle`.
    data : folder of uploads and jobs; requests read nothing outside it.
    host, port : where to listen.
    token : access token; required if others can reach the port.
    workers : number of jobs that run at a time; the rest wait.
    max_upload : largest size of one upload in bytes.
    max_uploads : largest number of uploads; 0 turns uploads off.
    max_kept : largest size of uploads and results in bytes; beyond it, new ones are refused.
    repeats, permutations : of the evaluation of a classifier; few, since the page waits for it.

    Examples
    --------
    >>> ServerSettings(host="0.0.0.0").check()
    Traceback (most recent call last):
    denseflip.errors.InvalidParameterError: Anyone who can reach 0.0.0.0 could use this server. ...
    """

    datasets: tuple[str, ...] = ()
    oracles: tuple[str, ...] = ()
    data: Path = Path("denseflip-serve")
    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    workers: int = 2
    max_upload: int = UPLOAD
    max_uploads: int = UPLOADS
    max_kept: int = KEPT
    repeats: int = 5
    permutations: int = 100

    def check(self) -> ServerSettings:
        """Return the settings if they are valid."""
        if self.token is not None and len(self.token) < LEAST_TOKEN:
            msg = (
                f"The token must have at least {LEAST_TOKEN} characters; got {len(self.token)}. "
                "Generate one with `python -c 'import secrets; print(secrets.token_urlsafe())'`."
            )
            raise InvalidParameterError(msg, parameter="token")
        if self.token is not None and not (self.token.isascii() and self.token.isprintable()):
            msg = "The token must consist of printable ASCII characters."
            raise InvalidParameterError(msg, parameter="token")
        if not is_loopback(self.host) and self.token is None:
            msg = (
                f"Anyone who can reach {self.host} could use this server. Set a token (token, or "
                f"the environment variable {TOKEN_VARIABLE}), or listen on 127.0.0.1."
            )
            raise InvalidParameterError(msg, parameter=("token", "host"))
        if not 0 <= self.port <= 65535:
            msg = f"port must be a number from 0 to 65535; got {self.port}."
            raise InvalidParameterError(msg, parameter="port")
        if not 1 <= self.workers <= 64:
            msg = f"workers must be a number from 1 to 64; got {self.workers}."
            raise InvalidParameterError(msg, parameter="workers")
        for name, least in (("max_upload", 1), ("max_uploads", 0), ("max_kept", 1)):
            if getattr(self, name) < least:
                msg = f"{name} must be at least {least}; got {getattr(self, name)}."
                raise InvalidParameterError(msg, parameter=name)
        return self

    @property
    def url(self) -> str:
        """The address of the app."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("192.168.0.7")
    (True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def make_server(app: Any, **settings: Any) -> uvicorn.Server:
    """A uvicorn server of the app, to be run on sockets.

    It closes a connection that has not sent the head of a request after `HEADERS` seconds: a
    thousand of these would take every place there is.

    Parameters
    ----------
    app : the result of `create_app`.
    settings : further settings of `uvicorn.Config`.

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
        """Closes a connection whose request head does not arrive in time."""

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

    own: dict[str, Any] = {
        "http": Patient,
        "ws": "none",
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_graceful_shutdown": 3,
    }
    return uvicorn.Server(uvicorn.Config(app, **(own | settings)))
