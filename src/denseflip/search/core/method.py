"""The two kinds of search, `Stream` and `Conversation`, and `Method`: a search ready to run.

A search declares its kind: a class derives from `Stream` or `Conversation`, a function has the
decorator `stream` or `conversation`. A function without one is classified once, when a `Method` is
made of it, by its number of required parameters.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Protocol

from denseflip.counterfactual import Step
from denseflip.errors import InvalidParameterError
from denseflip.graph import Nodes
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession
from denseflip.search.core.problem import Problem, Walk, check_given
from denseflip.search.core.refinement import Refine

STREAM: Literal["stream"] = "stream"
CONVERSATION: Literal["conversation"] = "conversation"


class Stream(Protocol):
    """A search that only proposes: called with a problem, it yields the steps to follow.

    Its steps may not depend on the oracle's answers, so that the engine can evaluate several graphs
    together.
    """

    kind: ClassVar[Literal["stream"]] = STREAM

    @abstractmethod
    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield steps until there is nothing left to try."""
        ...


class Conversation(Protocol):
    """A search that queries the oracle itself, through the session, and uses the answers."""

    kind: ClassVar[Literal["conversation"]] = CONVERSATION

    @abstractmethod
    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Search, and return where the search ended."""
        ...


def stream(search: Callable[..., Iterator[Step]]) -> Stream:
    """Declare that a function is a `Stream`.

    Use it as a decorator. A class of searches derives from `Stream` instead.

    Examples
    --------
    >>> @stream
    ... def remove_edges(problem):
    ...     for i, edge in enumerate(problem.graph.edges(), start=1):
    ...         yield Step("sparsify", "edge", (edge,), iteration=i)
    >>> remove_edges.kind
    'stream'
    """
    search.kind = STREAM  # type: ignore[attr-defined]
    return search  # type: ignore[return-value]


def conversation(search: Callable[..., Walk]) -> Conversation:
    """Declare that a function is a `Conversation`.

    Use it as a decorator. A class of searches derives from `Conversation` instead.

    Examples
    --------
    >>> @conversation
    ... def remove_all(problem, session):
    ...     graph = problem.graph.toggle(problem.graph.edges())
    ...     return problem.end(graph, session.query(graph).label)
    >>> remove_all.kind
    'conversation'
    """
    search.kind = CONVERSATION  # type: ignore[attr-defined]
    return search  # type: ignore[return-value]


def bind(search: Callable[..., Any], kind: str | None, **parameters: Any) -> Any:
    """A search with parameters bound, which declares a kind and the needs of the search."""
    bound = partial(search, **parameters)
    bound.kind, bound.needs = kind, needs_of(search)  # type: ignore[attr-defined]
    bound.__name__ = getattr(search, "__name__", type(search).__name__)  # type: ignore[attr-defined]
    return bound


def with_kind(search: Any) -> Stream | Conversation:
    """Return a search that declares its kind, or classify a callable that does not.

    A callable with one required parameter is a stream, one with two is a conversation.

    Raises
    ------
    InvalidParameterError
        If a callable declares no kind and its parameters do not show it.
    """
    if declares_kind(search):
        return search  # type: ignore[no-any-return]
    n = count_required(search)
    if n in (1, 2):
        return bind(search, STREAM if n == 1 else CONVERSATION)  # type: ignore[no-any-return]
    name = getattr(search, "__qualname__", type(search).__qualname__)
    seen = "its parameters cannot be inspected" if n is None else f"it has {n} required parameters"
    msg = (
        f"The kind of the search {name} is unclear: {seen}. Declare it: @denseflip.stream for a "
        "function of a problem that yields steps, @denseflip.conversation for a function of a "
        "problem and a session that returns a Walk."
    )
    raise InvalidParameterError(msg, parameter="method")


def declares_kind(search: Any) -> bool:
    """Whether a search says which kind it is."""
    return getattr(search, "kind", None) in (STREAM, CONVERSATION)


def count_required(function: Callable[..., Any]) -> int | None:
    """Count the parameters that must be passed by position; None if they cannot be inspected."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional and p.default is p.empty for p in parameters)


@dataclass(frozen=True)
class Method:
    """A method ready to run: a name, a search of either kind, and refinements.

    Parameters
    ----------
    name : the name that results carry.
    search : a `Stream` or a `Conversation`, or a function that is classified here.
    refiners : refinements applied to a counterfactual that was found, in this order.
    """

    name: str
    search: Stream | Conversation
    refiners: tuple[Refine, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "search", with_kind(self.search))

    @property
    def needs(self) -> frozenset[str]:
        """The inputs required beside graph and oracle: regions, background, confidence."""
        return needs_of(self.search, *self.refiners)

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters in plain JSON-ready form."""
        return {
            "search": describe_parameters(self.search),
            "refine": describe_parameters(self.refiners),
        }


def needs_of(*parts: object) -> frozenset[str]:
    """Collect the needs that these searches, blocks or rankings declare."""
    return frozenset().union(*(getattr(part, "needs", ()) for part in parts))


def check_needs(method: Method, nodes: Nodes | None, background: Background | None) -> None:
    """Raise an error with the remedy if a method lacks regions or a background that it can use.

    Graphs that share only the types of their nodes can be used by searches that say so
    (``takes_types``): they compare numbers of edges between types.
    """
    name = method.name.split("+")[0]
    typed = background is not None and background.by_type
    usable = not typed or getattr(method.search, "takes_types", False)
    for need in sorted(method.needs, reverse=True):
        check_given(need, name, nodes, background if usable else None, background)
    for option, value in (("language", "nodes"), ("balance", "on")):
        if typed and getattr(method.search, option, None) == value:
            msg = (
                f"{option}={value!r} needs graphs over the same nodes, but the nodes of this data "
                "set have types and no identity. Leave it out: sentences are about types."
            )
            raise InvalidParameterError(msg, parameter=option)


def describe_parameters(value: Any) -> Any:
    """Describe a method, block or value in plain JSON-ready form, with the names of its types."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        inner = {f.name: describe_parameters(getattr(value, f.name)) for f in fields(value)}
        return {"type": type(value).__name__, **inner}
    if isinstance(value, (list, tuple)):
        return [describe_parameters(v) for v in value]
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, partial):
        given = {key: describe_parameters(v) for key, v in value.keywords.items()}
        return {**describe_parameters(value.func), **given}
    if callable(value):
        return {
            "type": f"{getattr(value, '__module__', '')}."
            f"{getattr(value, '__qualname__', type(value).__name__)}"
        }
    return repr(value)
