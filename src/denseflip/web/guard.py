"""Access control: checks Host, Origin, token and size of every request before anything else.

Another site's page in the same browser can send requests to this server, and its domain can be
made to point at this machine (DNS rebinding). So the Host must be an address or the configured
name, the Origin of every request that changes something must be this server, and the token, if
any, is compared in constant time. Bodies are limited in size and time. All errors have the same
JSON shape and headers.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from denseflip.checks import visible
from denseflip.web.server_config import BODY, ServerSettings, is_loopback

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGI = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "denseflip_token"
API = "/api/"
UPLOADS = "/api/uploads"
PIECE, WHOLE = 30.0, 600.0  # time limits in seconds of a chunk of a body, and of a whole body
_SAFE = {"GET", "HEAD"}
_OTHERS = {"cross-site", "same-site"}  # other sites, and other ports of this machine
_LOG = logging.getLogger(__name__)
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


_NO_STORE = (b"cache-control", b"no-store")  # patient data must not stay in a cache


def error_body(kind: str, message: str, parameters: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the JSON body of every API error, with control characters escaped."""
    named = [visible(name) for name in parameters]
    return {"error": {"kind": kind, "message": visible(message, lines=True), "parameters": named}}


class BadBodyError(Exception):
    """The body is too large, or arrived too slowly."""


class Guard:
    """ASGI middleware that passes a request on, or answers it with an error."""

    def __init__(self, app: ASGI, settings: ServerSettings) -> None:
        self.app = app
        self.settings = settings
        self._cookie = f"{COOKIE}_{settings.port}"  # cookies are shared by all ports of a host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # websockets are not used
            await send({"type": "websocket.close", "code": 1008})
            return
        listed = [(k.decode("latin-1").lower(), v.decode("latin-1")) for k, v in scope["headers"]]
        headers = dict(listed)
        problem = self._host(headers) or self._origin(scope, headers)
        if sum(name == "host" for name, _ in listed) > 1:
            problem = "A request must have a single Host header."
        if problem is not None:
            await _answer(send, 403, "Forbidden", problem)
            return
        if (token := self.settings.token) is not None:
            given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
            if scope["path"] == "/" and given and _same(given, token):
                await _welcome(send, self._cookie, token)
                return
            if not self._known(headers, token):
                message = (
                    "This server requires a token. Open the address that it printed at start, or "
                    "send the header 'Authorization: Bearer TOKEN'."
                )
                await _answer(send, 401, "Unauthorized", message)
                return
        await self._bounded(scope, receive, send, headers)

    def _host(self, headers: dict[str, str]) -> str | None:
        name = _name(headers.get("host", ""))
        if is_loopback(name) or (name and name == self.settings.host.lower()):
            return None
        if not is_loopback(self.settings.host) and _is_address(name):
            return None  # DNS rebinding needs a name, not an address
        return (
            f"This server does not accept the host name {name[:60]!r}. Open {self.settings.url}, "
            "or start the server with this name as its host."
        )

    def _origin(self, scope: Scope, headers: dict[str, str]) -> str | None:
        method = scope["method"]
        may_not = "must not change anything on this server."
        if method in _SAFE:
            if not scope["path"].startswith(API):
                return None  # a link to the app
            may_not = "must not query this server."  # unread, but it costs time
        if headers.get("sec-fetch-site") in _OTHERS:
            return f"A page of another site {may_not}"
        origin = headers.get("origin")
        if origin is None or _is_ours(origin, headers.get("host", "")):
            return None
        return f"A page of {origin[:80]!r} {may_not}"

    def _known(self, headers: dict[str, str], token: str) -> bool:
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(shown.strip(), token):
            return True
        for part in headers.get("cookie", "").split(";"):  # ignores malformed cookies
            name, _, value = part.strip().partition("=")
            if name == self._cookie and _same(unquote(value), token):
                return True
        return False

    async def _bounded(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str]
    ) -> None:
        most = self.settings.max_upload if scope["path"] == UPLOADS else BODY
        large = (413, "TooLarge", f"The request exceeds the limit of {most:,} bytes.")
        slow = (408, "TooSlow", "The request did not arrive in time. Send it again.")
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > most:
            await _answer(send, *large)
            return
        seen = 0
        begun = whole = cut = False
        wrong: tuple[int, str, str] | None = None
        until = time.monotonic() + WHOLE

        async def counted() -> Message:
            nonlocal seen, whole, wrong
            if whole:
                return await receive()  # a disconnect
            left = min(PIECE, until - time.monotonic())
            try:
                got = await asyncio.wait_for(receive(), max(0.0, left))
            except TimeoutError:
                wrong = slow
                raise BadBodyError from None
            seen += len(got.get("body", b""))
            whole = not got.get("more_body", False)
            if seen > most:
                wrong = large
                raise BadBodyError
            return got

        async def dressed(out: Message) -> None:
            nonlocal begun, cut
            if cut:
                return
            if wrong is not None and not begun:  # overrides the answer to a partial body
                cut = begun = True
                await _answer(send, *wrong)
                return
            if out["type"] == "http.response.start":
                begun = True
                given = list(out.get("headers", []))
                if not any(name.lower() == b"cache-control" for name, _ in given):
                    given.append(_NO_STORE)
                out = {**out, "headers": [*given, *_common()]}
            await send(out)

        try:
            await self.app(scope, counted, dressed)
        except BadBodyError:
            if not begun and wrong is not None:
                await _answer(send, *wrong)
        except Exception:
            if begun:
                raise
            path = visible(scope["path"][:200])
            _LOG.exception("Unexpected error in %s %s", scope["method"], path)
            message = "Unexpected error. See the output of the server for details."
            await _answer(send, 500, "Unforeseen", message)


def _is_ours(origin: str, host: str) -> bool:
    try:
        here = urlsplit(origin)
    except ValueError:
        return False
    return here.scheme in {"http", "https"} and here.netloc == host


def _name(host: str) -> str:
    """Return a Host header without its port."""
    if host.startswith("["):
        name, _, rest = host[1:].partition("]")
        return name.lower() if rest == "" or rest.startswith(":") else host
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


def _common() -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in HEADERS.items()]


async def _answer(send: Send, status: int, kind: str, message: str) -> None:
    body = json.dumps(error_body(kind, message)).encode()
    headers = [(b"content-type", b"application/json"), *_common(), _NO_STORE]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _welcome(send: Send, name: str, token: str) -> None:
    """Store the token in a cookie and redirect to the address without it."""
    cookie = f"{name}={quote(token, safe='')}; Path=/; HttpOnly; SameSite=Strict"
    headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), *_common(), _NO_STORE]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
