"""A classifier behind HTTP as an oracle.

One address, one kind of question. The body of a POST is
``{"denseflip": 1, "graphs": [{"n_nodes": 3, "edges": [[0, 1]]}]}``, the answer
``{"labels": ["ill"]}``, one label per graph in the order of the graphs. A service may add
``"classes"``, the labels that it knows, ``"probabilities"``, one row per graph in their order, and
``"class_names"``. The first question has no graphs: it shows that the service is there, and what it
offers.
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
#: The version of the question.
CONTRACT = 1

_LARGEST = 64 * 2**20  # bytes of an answer
_AGAIN = {408, 425, 429, 500, 502, 503, 504}  # statuses that may be gone the next time
_LONGEST_PAUSE = 30.0
_SHOWN = 160  # characters of a garbled answer


class HttpOracle:
    """A service that labels graphs; `open_oracle` makes one of its address.

    What cannot be had is asked for again after a pause that doubles: lost connections, time-outs,
    and the statuses 408, 425, 429 and 5xx. What is wrong (another status, no JSON, the wrong number
    of labels) is an error at once.

    The token, if there is one, is taken from the environment (``DENSEFLIP_TOKEN``) when the first
    question is sent, as ``Authorization: Bearer …``. It is in no message, file or worker's task.

    Parameters
    ----------
    url : the address, ``https://…`` or ``http://…``.
    timeout : seconds for one answer, its last byte included.
    retries : how often to ask again.
    pause : seconds before the first time; then twice as many, and so on.
    max_batch : the most graphs in one question.
    class_names : as in `as_oracle`; by default what the service says.
    plain_token : send the token over a connection that is not encrypted, to another machine.
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
        """What the service says of itself, when it is asked about no graph at all."""
        answer = self._ask([])
        classes = answer.get("classes")
        if classes is not None and (not isinstance(classes, list) or not classes):
            msg = f"{self._place} gives {classes!r:.60} as classes; expected a list of labels."
            raise OracleError(msg)
        return answer

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """The labels that it says it knows, or None."""
        found = self._offer.get("classes")
        return None if found is None else tuple(clean_label(c) for c in found)

    @cached_property
    def class_names(self) -> Mapping[Label, str] | None:
        """Label → name, as given here, else as the service has it."""
        names = self._names
        if names is None:
            names = self._offer.get("class_names")
            if isinstance(names, Mapping):  # a key of JSON is always a text
                known = {str(c): c for c in self.classes or ()}
                names = {known.get(str(k), k): v for k, v in names.items()}
        return name_classes(names, self.classes)

    @property
    def given(self) -> str:
        """What the service is given, in words, for messages."""
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
                        f"{self._place} contradicts itself: its label is {label!r}, its "
                        f"likeliest class {best.label!r}."
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
                f"{self._place} answered without a list of {name!r} (it has: "
                f"{', '.join(visible(str(k))[:30] for k in answer) or 'nothing'}). Expected "
                f'{{"{name}": […]}}, one per graph.'
            )
            raise OracleError(msg)
        if len(found) != n_graphs:
            one = "label" if name == "labels" else "row of probabilities"
            many = "labels" if name == "labels" else "rows of probabilities"
            msg = (
                f"{self._place} gave {counted(len(found), one, many)} for "
                f"{counted(n_graphs, 'graph', 'graphs')}. It must answer every graph, in order."
            )
            raise OracleError(msg)
        return check_answers(found, n_graphs)

    # ---- the wire -------------------------------------------------------------------------

    def _ask(self, graphs: Sequence[Graph]) -> Mapping[str, Any]:
        """One question, asked again as long as it is worth it."""
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
                        f"{self._place} {failure}; asked {tries}, about "
                        f"{counted(len(graphs), 'graph', 'graphs')}. Is it running and quick "
                        f"enough? It has {self.timeout:g} s for an answer (timeout=…)."
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
                        msg = f"{self._place} answered with more than {_LARGEST // 2**20} MB."
                        raise OracleError(msg)
                    if time.monotonic() - started > self.timeout:
                        raise _AgainError(f"did not answer within {self.timeout:g} s")
                status, headers = response.status_code, response.headers
        except httpx.TimeoutException:
            raise _AgainError(f"did not answer within {self.timeout:g} s") from None
        except httpx.ConnectError as error:
            raise _AgainError(f"cannot be reached ({self._clean(said(error))})") from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            why = self._clean(said(error))
            raise _AgainError(f"broke off in the middle of an answer ({why})") from None
        if status in _AGAIN:
            raise _AgainError(
                f"answered with status {status}", _seconds(headers.get("retry-after"))
            )
        if status != 200:
            raise OracleError(self._refusal(status, bytes(raw)))
        try:
            answer = json.loads(bytes(raw))
        except (ValueError, RecursionError):
            shown = self._clean(bytes(raw[:_SHOWN]).decode("utf-8", "replace"))
            msg = f"{self._place} answered with what is no JSON: {shown!r}."
            raise OracleError(msg) from None
        if not isinstance(answer, dict):
            kind = type(answer).__name__
            msg = f'{self._place} answered with a {kind}; expected {{"labels": […]}}.'
            raise OracleError(msg)
        return answer

    def _refusal(self, status: int, raw: bytes) -> str:
        shown = self._clean(raw[:_SHOWN].decode("utf-8", "replace"))
        hint = ""
        if status in (401, 403):
            hint = f" Put its token into the environment variable {TOKEN}."
        elif 300 <= status < 400:
            hint = " It wants another address; give that one (denseflip follows no redirects)."
        elif status in (404, 405):
            hint = " Is this the address that takes questions (POST)?"
        elif status == 413:
            hint = " Ask about fewer graphs at once (max_batch=…)."
        said_so = f": {shown!r}" if shown.strip() else ""
        return f"{self._place} answered with status {status}{said_so}.{hint}"

    def _clean(self, text: str) -> str:
        """A text of somebody else's for a message: visible, and without the token."""
        token = os.environ.get(TOKEN, "").strip()
        return visible(text.replace(token, "…") if token else text)[: 2 * _SHOWN]

    @property
    def _place(self) -> str:
        """The service in messages; what stands behind a question mark may be a secret."""
        return f"The service {self.url.partition('?')[0]}"

    @cached_property
    def _client(self) -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        token = os.environ.get(TOKEN, "").strip()
        if token:
            if not token.isascii() or not token.isprintable() or " " in token:
                msg = f"{TOKEN} holds signs that no token has (blanks, breaks, letters with marks)."
                raise InvalidParameterError(msg)
            if not self.plain_token and not _is_safe(self.url):
                msg = (
                    f"{TOKEN} is set, and {self._place[4:]} is not encrypted: anybody on the way "
                    "could read the token. Use https, unset the variable, or say plain_token=True."
                )
                raise InvalidParameterError(msg, parameter="plain_token")
            headers["Authorization"] = f"Bearer {token}"
        client = _httpx().Client(headers=headers, timeout=self.timeout, follow_redirects=False)
        weakref.finalize(self, client.close)
        return client

    def __getstate__(self) -> dict[str, Any]:
        """Without the connection, which holds the token; a worker makes its own."""
        return {k: v for k, v in self.__dict__.items() if k != "_client"}

    def __repr__(self) -> str:
        return f"HttpOracle({self.url.partition('?')[0]!r})"


def open_service(url: str, **options: Any) -> HttpOracle:
    """The oracle of an address, after the service has shown that it is there."""
    oracle = HttpOracle(url, **options)
    oracle._offer  # noqa: B018 - asked here, so that a wrong address is an error at once
    return oracle


def _httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise MissingExtraError("httpx", "http") from error
    return httpx


class _AgainError(Exception):
    """A failure that may be gone the next time."""

    def __init__(self, words: str, pause: float = 0.0) -> None:
        super().__init__(words)
        self.pause = pause


def _seconds(text: str | None) -> float:
    """How long a service asks to wait (its header Retry-After, if that is a number)."""
    return float(text) if text is not None and text.strip().isdecimal() else 0.0


def _checked(url: str) -> str:
    """The address, or what is wrong with it."""
    parts = None
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname)
        parts.port  # noqa: B018 - a ValueError if it is none
    except (ValueError, AttributeError, TypeError):
        fine = False
    if not fine or parts is None:
        msg = f"A service's address is http://host/path or https://host/path; got {url!r:.60}."
        raise InvalidParameterError(msg)
    if parts.username or parts.password:
        msg = (
            f"The address of {parts.hostname} holds a name or password, which would end up in "
            f"files and messages. Take it out; a token goes into the environment variable {TOKEN}."
        )
        raise InvalidParameterError(msg)
    return url


def _is_safe(url: str) -> bool:
    """Whether a token sent there can be read by nobody on the way."""
    parts = urlsplit(url)
    if parts.scheme == "https" or parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
