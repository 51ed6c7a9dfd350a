"""Who may ask: Host, Origin, token and size of every request are looked at before anything else.

A page of somebody else in the same browser can send requests here, and a name of theirs can be
made to point at this machine. So the Host must be an address or a name that we were told of, the
Origin of anything that changes something must be ourselves, and the token, where there is one, is
compared in constant time.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from denseflip.web.config import BODY, Settings, is_loopback

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGI = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "denseflip_token"
API = "/api/"
UPLOADS = "/api/uploads"
_SAFE = {"GET", "HEAD"}
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


def error_body(kind: str, message: str, parameters: tuple[str, ...] = ()) -> dict[str, Any]:
    """The one shape of every error that the API gives."""
    return {"error": {"kind": kind, "message": message, "parameters": list(parameters)}}


class TooLargeBodyError(Exception):
    """More was sent than was announced or allowed."""


class Guard:
    """ASGI middleware: lets a request through, or answers it with an error."""

    def __init__(self, app: ASGI, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a websocket: there is none here
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        problem = self._host(headers) or self._origin(scope, headers)
        if problem is not None:
            await _answer(send, 403, "Forbidden", problem)
            return
        if (token := self.settings.token) is not None:
            given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
            if scope["path"] == "/" and given and _same(given, token):
                await _welcome(send, token)
                return
            if not self._known(headers, token):
                message = (
                    "This server asks for its token: open the address that it printed when it "
                    "was started, or send the header 'Authorization: Bearer TOKEN'."
                )
                await _answer(send, 401, "Unauthorized", message)
                return
        await self._bounded(scope, receive, send, headers)

    def _host(self, headers: dict[str, str]) -> str | None:
        name = _name(headers.get("host", ""))
        if is_loopback(name) or (name and name == self.settings.host.lower()):
            return None
        if not is_loopback(self.settings.host) and _is_address(name):
            return None  # a name can be made to point here, an address cannot
        return (
            f"This server does not go by the name {name[:60]!r}. Open {self.settings.url}, or "
            "start it with that name as its host."
        )

    def _origin(self, scope: Scope, headers: dict[str, str]) -> str | None:
        method = scope["method"]
        if headers.get("sec-fetch-site") == "cross-site":
            if method not in _SAFE:
                return "A page of another site may not change anything here."
            if scope["path"].startswith(API):  # it could not read the answer, but keep us busy
                return "A page of another site may not ask anything here."
        origin = headers.get("origin")
        if origin is None or method in _SAFE:
            return None
        here = urlsplit(origin)
        if here.scheme in {"http", "https"} and here.netloc == headers.get("host"):
            return None
        return f"A page of {origin[:80]!r} may not change anything here."

    def _known(self, headers: dict[str, str], token: str) -> bool:
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(shown.strip(), token):
            return True
        for part in headers.get("cookie", "").split(";"):  # odd ones of other servers are no matter
            name, _, value = part.strip().partition("=")
            if name == COOKIE and _same(unquote(value), token):
                return True
        return False

    async def _bounded(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str]
    ) -> None:
        most = self.settings.max_upload if scope["path"] == UPLOADS else BODY
        message = f"A request here may have at most {most:,} bytes; this one has more."
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > most:
            await _answer(send, 413, "TooLarge", message)
            return
        seen = 0
        begun = cut = False

        async def counted() -> Message:
            nonlocal seen
            got = await receive()
            seen += len(got.get("body", b""))
            if seen > most:
                raise TooLargeBodyError
            return got

        async def dressed(out: Message) -> None:
            nonlocal begun, cut
            if cut or (seen > most and not begun):  # whatever the app makes of half a body
                if not cut:
                    cut = begun = True
                    await _answer(send, 413, "TooLarge", message)
                return
            if out["type"] == "http.response.start":
                begun = True
                out = {**out, "headers": [*out.get("headers", []), *_common()]}
            await send(out)

        try:
            await self.app(scope, counted, dressed)
        except TooLargeBodyError:
            if not begun:
                await _answer(send, 413, "TooLarge", message)


def _name(host: str) -> str:
    """A Host header without its port."""
    if host.startswith("["):
        return host.partition("]")[0].strip("[").lower()
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
    headers = [(b"content-type", b"application/json"), *_common()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _welcome(send: Send, token: str) -> None:
    """Keep the token in a cookie, and take it out of the address."""
    cookie = f"{COOKIE}={quote(token, safe='')}; Path=/; HttpOnly; SameSite=Strict"
    headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), *_common()]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
