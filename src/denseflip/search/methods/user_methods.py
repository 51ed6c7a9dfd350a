"""Methods written by users: objects passed to `explain`, and names of the form ``module:name``.

A ``module:name`` may refer to a search, a composition such as `DCS`, a class of searches, or a
function without required parameters that returns one. An error raised in such a method is reported
with its file and line.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from denseflip.counterfactual import Step
from denseflip.errors import (
    DenseflipError,
    InvalidParameterError,
    check_name,
    said,
)
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.oracles.open import import_value
from denseflip.search.core.method import (
    Conversation,
    Method,
    Stream,
    bind,
    count_required,
    declares_kind,
    needs_of,
)
from denseflip.search.core.problem import Problem, StopSearch, Walk
from denseflip.search.core.refinement import as_refiners
from denseflip.search.methods.dcs import DCS

_PASSED_ON = (DenseflipError, BudgetSpentError, StopSearch)  # these explain themselves
_SEARCH_PACKAGE = Path(__file__).parents[1]
_SHAPE = (
    "A method is a function of a problem that yields steps, a function of a problem and a session "
    "that returns a Walk, a DCS, or a function without required parameters that returns one of "
    "these"
)


def is_user_method(name: str) -> bool:
    """Whether a name refers to a method written by the user.

    >>> is_user_method("mylab:peel+min"), is_user_method("tri+min")
    (True, False)
    """
    return ":" in name.partition("+")[0]


@dataclass(frozen=True)
class UserStream(Stream):
    """A stream given as ``module:name``; reports errors raised in it."""

    words: str
    search: Callable[[Problem], Iterator[Step]]

    @property
    def needs(self) -> frozenset[str]:
        """The needs that it declares."""
        return needs_of(self.search)

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield its steps."""
        try:
            yield from self.search(problem)
        except _PASSED_ON:
            raise
        except Exception as error:
            raise failure(self.words, error) from error


@dataclass(frozen=True)
class UserConversation(Conversation):
    """A conversation given as ``module:name``; reports errors raised in it."""

    words: str
    search: Callable[[Problem, BaseSession], Walk]

    @property
    def needs(self) -> frozenset[str]:
        """The needs that it declares."""
        return needs_of(self.search)

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Search, and return where it ended."""
        try:
            return self.search(problem, session)
        except _PASSED_ON:
            raise
        except Exception as error:
            raise failure(self.words, error) from error


def method_from(value: Any) -> Method:
    """Make a method of a composition such as `DCS`, or of any callable search.

    Raises
    ------
    InvalidParameterError
        If the value is not callable, or if it is unclear which kind of search it is.
    """
    if isinstance(value, Method):
        return value
    if not callable(value):
        msg = f"method must be a name, a DCS or a callable; got {type(value).__name__}."
        raise InvalidParameterError(msg)
    if isinstance(value, DCS):
        return Method("dcs", replace(value, refine=()), as_refiners(value.refine))
    name = getattr(value, "__name__", type(value).__name__).lower()
    return Method(name, value)


def load_user_method(name: str, parameters: Mapping[str, Any]) -> Method:
    """Load the method that ``module:name`` refers to, with refinements behind ``+``.

    Parameters
    ----------
    name : ``module:name``; the method carries it as its name.
    parameters : passed to the class or function that makes the search, or to the keyword
        parameters of the search itself.

    Raises
    ------
    InvalidParameterError
        If the module cannot be imported, or if the value is not a search.
    UnknownNameError
        If the module has no such name, or the search has no such parameter.
    """
    suffixes = [suffix.lower() for suffix in name.strip().split("+")[1:]]
    words, found = _import(name)
    value = _with_parameters(words, found, dict(parameters))
    if not isinstance(value, Method) and not callable(value):
        msg = (
            f"Method {words}: {_file_of(words)} has a {type(value).__name__} under this name, "
            f"which is not a search. {_SHAPE}."
        )
        raise InvalidParameterError(msg, parameter="method")
    ready = method_from(value)
    search: Any = ready.search
    wrapper = UserConversation if search.kind == "conversation" else UserStream
    refiners = (*ready.refiners, *as_refiners(suffixes))
    return Method("+".join([words, *suffixes]), wrapper(words, search), refiners)


def user_method_parameters(name: str) -> tuple[str, ...]:
    """The names of the parameters of a method written by the user."""
    _, value = _import(name)
    return tuple(_keywords(value)) if callable(value) else ()


def _import(name: str) -> tuple[str, Any]:
    """The ``module:name`` part of a method's name, and the value it refers to."""
    words = name.partition("+")[0].strip()
    if words.startswith(":") or words.endswith(":"):
        msg = f"A method of your own is given as module:function; got {words!r}."
        raise InvalidParameterError(msg, parameter="method")
    return words, import_value(words, "method")


def _with_parameters(words: str, value: Any, parameters: dict[str, Any]) -> Any:
    """Make the search by calling the value, or bind the parameters to it."""
    makes = inspect.isclass(value) or (
        inspect.isroutine(value) and not declares_kind(value) and count_required(value) == 0
    )
    if not callable(value) or not (makes or parameters):
        return value
    known = _keywords(value)
    for key in parameters:
        check_name(f"parameter of {words!r}", key, known, parameter="parameters")
    if not makes:
        return bind(value, getattr(value, "kind", None), **parameters)
    try:
        return value(**parameters)
    except DenseflipError:
        raise
    except Exception as error:
        raise failure(words, error, "was being created") from error


def _keywords(value: Any) -> list[str]:
    """Parameters that can be passed by name: all of a class, those with a default of a search."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    named = [p for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if inspect.isclass(value):
        return [p.name for p in named]
    return [p.name for p in named if p.default is not p.empty or p.kind is p.KEYWORD_ONLY]


def failure(words: str, error: Exception, when: str = "searched") -> InvalidParameterError:
    """Describe an error raised in a user's method, with its file and line."""
    where = ""
    if frames := traceback.extract_tb(error.__traceback__):
        outside = [frame for frame in frames if _SEARCH_PACKAGE not in Path(frame.filename).parents]
        frame = (outside or frames)[-1]
        where = f" ({frame.filename}, line {frame.lineno})"
    return InvalidParameterError(f"The method {words} raised {said(error)} while it {when}{where}.")


def _file_of(words: str) -> str:
    module = words.partition(":")[0]
    return str(getattr(sys.modules.get(module), "__file__", None) or module)
