"""A classifier behind HTTP as an oracle.

There is one address and one kind of request. The body of a POST is
``{"denseflip": 1, "graphs": [{"n_nodes": 3, "edges": [[0, 1]]}]}``, the response
``{"labels": ["ill"]}``, one label per graph in the order of the graphs. A service may add
``"classes"``, the labels that it knows, ``"probabilities"``, one row per graph in the order of
``"classes"``, and ``"class_names"``. The first request has no graphs: it checks that the service
is running, and what it offers.
"""

from __future__ import annotations

import ipaddress
import json
import os
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from denseflip.checks import visible
from denseflip.counterfactual import Label
from denseflip.errors import (
    InvalidParameterError,
    MissingExtraError,
    OracleError,
    counted,
    said,
    whole_number,
)
from denseflip.graph import Graph
from denseflip.oracles.protocol import (
    ClassNames,
    check_answers,
    clean_label,
    clean_probabilities,
    name_classes,
)

#: The environment variable that holds the service's token.
TOKEN = "DENSEFLIP_TOKEN"
#: The version of the request format.
CONTRACT = 1

_LARGEST = 64 * 2**20  # bytes of a response
_AGAIN = {408, 425, 429, 500, 502, 503, 504}  # statuses that may be temporary
_LONGEST_PAUSE = 30.0
_SHOWN = 160  # characters quoted of an invalid response


class HttpOracle:
    """A service that labels graphs; `open_oracle` builds one from its address.

    Temporary failures are retried after a pause that doubles each time: lost connections,
    time-outs, and the statuses 408, 425, 429 and 5xx. Other failures (another status, no JSON, the
    wrong number of labels) raise at once.

    The token, if there is one, is read from the environment (``DENSEFLIP_TOKEN``) when the first
    request is sent, as ``Authorization: Bearer …``. It never appears in a message, a file or a
    task of a worker.

    Parameters
    ----------
    url : the address, ``https://…`` or ``http://…``.
    timeout : seconds for one complete response.
    retries : number of retries.
    pause : seconds before the first retry; doubled for each further one.
    max_batch : the largest number of graphs in one request.
    class_names : as in `as_oracle`; by default the names that the service gives.
    plain_token : whether to send the token to another machine over an unencrypted connection.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 60.0,
        retries: int = 3,
        pause: float = 0.5,
        max_batch: int = 64,
        class_names: ClassNames | None = None,
        plain_token: bool = False,
    ) -> None:
        self.url = _checked(url)
        for name, value in (("timeout", timeout), ("pause", pause)):
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not (value > 0 or (name == "pause" and value == 0)):
                msg = f"{name} must be a positive number of seconds; got {value!r}."
                raise InvalidParameterError(msg, parameter=name)
        self.timeout = float(timeout)
        self.retries = whole_number("retries", retries)
        self.pause = float(pause)
        self.max_batch = whole_number("max_batch", max_batch, minimum=1)
        self.plain_token = plain_token
        self._names = class_names

    # ---- what it offers -------------------------------------------------------------------

    @cached_property
    def _offer(self) -> Mapping[str, Any]:
        """What the service offers: its response to a request without graphs."""
        answer = self._ask([])
        classes = answer.get("classes")
        if classes is not None and (not isinstance(classes, list) or not classes):
            msg = f"{self._place} returned {classes!r:.60} as classes; expected a list of labels."
            raise OracleError(msg)
        return answer

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """The labels that the service lists, or None."""
        found = self._offer.get("classes")
        return None if found is None else tuple(clean_label(c) for c in found)

    @cached_property
    def class_names(self) -> Mapping[Label, str] | None:
        """Label → name, as given here, else as the service gives them."""
        names = self._names
        if names is None:
            names = self._offer.get("class_names")
            if isinstance(names, Mapping):  # JSON keys are always strings
                known = {str(c): c for c in self.classes or ()}
                names = {known.get(str(k), k): v for k, v in names.items()}
        return name_classes(names, self.classes)

    @property
    def given(self) -> str:
        """What the service receives, in words, for messages."""
        return "graphs as JSON, n_nodes and edges"

    # ---- answers --------------------------------------------------------------------------

    def predict(self, graphs: Sequence[Graph]) -> list[Label]:
        """One label per graph."""
        out: list[Label] = []
        for some in self._parts(graphs):
            answer = self._ask(some)
            labels = self._many(answer, "labels", len(some))
            out.extend(clean_label(x) for x in labels)
        return out

    @property
    def predict_proba(self) -> Callable[[Sequence[Graph]], Any]:
        """Probabilities per graph and class; missing if the service offers none."""
        if self.classes is None or "probabilities" not in self._offer:
            msg = f"{self._place} offers no probabilities."
            raise AttributeError(msg)
        return self._shares

    def _shares(self, graphs: Sequence[Graph]) -> list[list[float]]:
        classes = self.classes or ()
        out: list[list[float]] = []
        for some in self._parts(graphs):
            answer = self._ask(some)
            rows = list(self._many(answer, "probabilities", len(some)))
            labels = [clean_label(x) for x in self._many(answer, "labels", len(some))]
            found = clean_probabilities(rows, len(some), classes)
            for label, best in zip(labels, found, strict=True):
                if label != best.label:
                    msg = (
                        f"{self._place} contradicts itself: its label is {label!r}, but its most "
                        f"probable class is {best.label!r}."
                    )
                    raise OracleError(msg)
            out.extend([float(p) for p in row] for row in rows)
        return out

    def _parts(self, graphs: Sequence[Graph]) -> list[Sequence[Graph]]:
        step = self.max_batch
        return [graphs[i : i + step] for i in range(0, len(graphs), step)]

    def _many(self, answer: Mapping[str, Any], name: str, n_graphs: int) -> Sequence[Any]:
        found = answer.get(name)
        if not isinstance(found, list):
            msg = (
                f"{self._place} returned no list of {name!r} (it returned: "
                f"{', '.join(visible(str(k))[:30] for k in answer) or 'nothing'}). Expected "
                f'{{"{name}": […]}}, one per graph.'
            )
            raise OracleError(msg)
        if len(found) != n_graphs:
            one = "label" if name == "labels" else "row of probabilities"
            many = "labels" if name == "labels" else "rows of probabilities"
            msg = (
                f"{self._place} returned {counted(len(found), one, many)} for "
                f"{counted(n_graphs, 'graph', 'graphs')}. It must answer for every graph, in order."
            )
            raise OracleError(msg)
        return check_answers(found, n_graphs)

    # ---- requests -------------------------------------------------------------------------

    def _ask(self, graphs: Sequence[Graph]) -> Mapping[str, Any]:
        """Send one request, with retries."""
        content = {
            "denseflip": CONTRACT,
            "graphs": [{"n_nodes": g.n_nodes, "edges": g.pairs.tolist()} for g in graphs],
        }
        body = json.dumps(content, separators=(",", ":")).encode()
        wait = self.pause
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            try:
                return self._once(body)
            except _AgainError as failure:
                if last:
                    tries = counted(self.retries + 1, "time", "times")
                    msg = (
                        f"{self._place} {failure} (tried {tries}, with "
                        f"{counted(len(graphs), 'graph', 'graphs')}). Is it running and fast "
                        f"enough? The limit per response is {self.timeout:g} s (timeout=…)."
                    )
                    raise OracleError(msg, parameter="timeout") from None
                time.sleep(min(max(wait, failure.pause), _LONGEST_PAUSE))
                wait *= 2
        raise AssertionError

    def _once(self, body: bytes) -> Mapping[str, Any]:
        httpx = _httpx()
        started = time.monotonic()
        try:
            with self._client.stream("POST", self.url, content=body) as response:
                raw = bytearray()
                for part in response.iter_bytes():
                    raw += part
                    if len(raw) > _LARGEST:
                        msg = f"{self._place} returned more than {_LARGEST // 2**20} MB."
                        raise OracleError(msg)
                    if time.monotonic() - started > self.timeout:
                        raise _AgainError(f"did not respond within {self.timeout:g} s")
                status, headers = response.status_code, response.headers
        except httpx.TimeoutException:
            raise _AgainError(f"did not respond within {self.timeout:g} s") from None
        except httpx.ConnectError as error:
            raise _AgainError(f"cannot be reached ({self._clean(said(error))})") from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            why = self._clean(said(error))
            raise _AgainError(f"closed the connection during a response ({why})") from None
        if status in _AGAIN:
            raise _AgainError(f"returned status {status}", _seconds(headers.get("retry-after")))
        if status != 200:
            raise OracleError(self._refusal(status, bytes(raw)))
        try:
            answer = json.loads(bytes(raw))
        except (ValueError, RecursionError):
            shown = self._clean(bytes(raw[:_SHOWN]).decode("utf-8", "replace"))
            msg = f"{self._place} did not return JSON: {shown!r}."
            raise OracleError(msg) from None
        if not isinstance(answer, dict):
            kind = type(answer).__name__
            msg = f'{self._place} returned a {kind}; expected {{"labels": […]}}.'
            raise OracleError(msg)
        return answer

    def _refusal(self, status: int, raw: bytes) -> str:
        shown = self._clean(raw[:_SHOWN].decode("utf-8", "replace"))
        hint = ""
        if status in (401, 403):
            hint = f" Set the environment variable {TOKEN} to its token."
        elif 300 <= status < 400:
            hint = " It redirects to another address; use that one (redirects are not followed)."
        elif status in (404, 405):
            hint = " Does this address accept POST requests?"
        elif status == 413:
            hint = " Send fewer graphs per request (max_batch=…)."
        said_so = f": {shown!r}" if shown.strip() else ""
        return f"{self._place} returned status {status}{said_so}.{hint}"

    def _clean(self, text: str) -> str:
        """A text from outside, made safe for a message: printable, and without the token."""
        token = os.environ.get(TOKEN, "").strip()
        return visible(text.replace(token, "…") if token else text)[: 2 * _SHOWN]

    @property
    def _place(self) -> str:
        """The service in messages, without its query string, which may hold a secret."""
        return f"The service {self.url.partition('?')[0]}"

    @cached_property
    def _client(self) -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        token = os.environ.get(TOKEN, "").strip()
        if token:
            if not token.isascii() or not token.isprintable() or " " in token:
                msg = f"{TOKEN} must not contain spaces, line breaks or non-ASCII characters."
                raise InvalidParameterError(msg)
            if not self.plain_token and not _is_safe(self.url):
                msg = (
                    f"{TOKEN} is set, and {self._place[4:]} is not encrypted: the token could be "
                    f"intercepted. Use https, unset the variable, or pass plain_token=True."
                )
                raise InvalidParameterError(msg, parameter="plain_token")
            headers["Authorization"] = f"Bearer {token}"
        client = _httpx().Client(headers=headers, timeout=self.timeout, follow_redirects=False)
        weakref.finalize(self, client.close)
        return client

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the connection, which holds the token; a worker opens its own."""
        return {k: v for k, v in self.__dict__.items() if k != "_client"}

    def __repr__(self) -> str:
        return f"HttpOracle({self.url.partition('?')[0]!r})"


def open_service(url: str, **options: Any) -> HttpOracle:
    """Open the oracle of an address, and check that the service is running."""
    oracle = HttpOracle(url, **options)
    oracle._offer  # noqa: B018 - requested here, so that a wrong address fails at once
    return oracle


def _httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise MissingExtraError("httpx", "http") from error
    return httpx


class _AgainError(Exception):
    """A failure that may be temporary."""

    def __init__(self, words: str, pause: float = 0.0) -> None:
        super().__init__(words)
        self.pause = pause


def _seconds(text: str | None) -> float:
    """Seconds that a service asks to wait (its header Retry-After, if that is a number)."""
    return float(text) if text is not None and text.strip().isdecimal() else 0.0


def _checked(url: str) -> str:
    """Check an address."""
    parts = None
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname)
        parts.port  # noqa: B018 - raises ValueError if invalid
    except (ValueError, AttributeError, TypeError):
        fine = False
    if not fine or parts is None:
        msg = f"A service's address must be http://host/path or https://host/path; got {url!r:.60}."
        raise InvalidParameterError(msg)
    if parts.username or parts.password:
        msg = (
            f"The address of {parts.hostname} holds a user name or password, which would appear in "
            f"files and messages. Remove it; set the environment variable {TOKEN} to a token."
        )
        raise InvalidParameterError(msg)
    return url


def _is_safe(url: str) -> bool:
    """Whether a token sent there cannot be read on the way."""
    parts = urlsplit(url)
    if parts.scheme == "https" or parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
