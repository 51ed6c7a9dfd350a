"""Methods of one's own by words: ``module:name``, wherever a method is given by its name.

What the words name may be a search, a composition such as `DCS`, a class of searches, or a function
without positional parameters that makes one. What fails in it is told with its file and line.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from denseflip.counterfactual import Step
from denseflip.errors import DenseflipError, InvalidParameterError, UnknownNameError, said
from denseflip.oracles.adapt import import_value
from denseflip.oracles.session import BudgetSpentError, Session
from denseflip.search.core.problem import Problem, StopSearch, Walk, is_conversation, needs_of

if TYPE_CHECKING:
    from denseflip.search.methods.registry import Method

_OURS = (DenseflipError, BudgetSpentError, StopSearch)  # these say what they mean
_HOME = Path(__file__).parents[1]
_SHAPE = (
    "A method is a function of a problem that yields steps, or of a problem and a session that "
    "asks for itself, a DCS, or a function without positional parameters that makes one of these"
)


def is_own(name: str) -> bool:
    """Whether a method's name means one of the user's own.

    >>> is_own("mylab:peel+min"), is_own("tri+min")
    (True, False)
    """
    return ":" in name.partition("+")[0]


@dataclass(frozen=True)
class OwnStream:
    """A blind search of the user's own; an error inside it is told as such."""

    words: str
    search: Callable[[Problem], Iterator[Step]]

    @property
    def needs(self) -> frozenset[str]:
        """What it declares to need."""
        return needs_of(self.search)

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Its steps."""
        try:
            yield from self.search(problem)
        except _OURS:
            raise
        except Exception as error:
            raise failed(self.words, error) from error


@dataclass(frozen=True)
class OwnConversation:
    """A search of the user's own that listens; an error inside it is told as such."""

    words: str
    search: Callable[[Problem, Session], Walk]

    @property
    def needs(self) -> frozenset[str]:
        """What it declares to need."""
        return needs_of(self.search)

    def __call__(self, problem: Problem, session: Session) -> Walk:
        """Where it ended."""
        try:
            return self.search(problem, session)
        except _OURS:
            raise
        except Exception as error:
            raise failed(self.words, error) from error


def own_method(name: str, parameters: Mapping[str, Any]) -> Method:
    """The method that ``module:name`` names, with refinements behind ``+``.

    Parameters
    ----------
    name : the words; the method carries them as its name.
    parameters : go to the class or the function that makes the search, or to the keyword
        parameters of the search itself.

    Raises
    ------
    InvalidParameterError
        If the module cannot be imported, or what it holds is no search.
    UnknownNameError
        If the module has no such name, or the search no such parameter.
    """
    from denseflip.search.core.refinement import as_refiners
    from denseflip.search.methods.registry import Method, as_method

    suffixes = name.strip().split("+")[1:]
    words, found = _named(name)
    value = _with(words, found, dict(parameters))
    if not isinstance(value, Method) and not callable(value):
        msg = (
            f"Method {words}: {_place(words)} holds {type(value).__name__} there, which is no "
            f"search. {_SHAPE}."
        )
        raise InvalidParameterError(msg, parameter="method")
    ready = as_method(value)
    search: Any = ready.search
    kind = OwnConversation if is_conversation(search) else OwnStream
    refiners = (*ready.refiners, *as_refiners([suffix.lower() for suffix in suffixes]))
    return Method("+".join([words, *map(str.lower, suffixes)]), kind(words, search), refiners)


def own_parameters(name: str) -> tuple[str, ...]:
    """The parameters that a method of one's own takes."""
    _, value = _named(name)
    return tuple(_keywords(value)) if callable(value) else ()


def _named(name: str) -> tuple[str, Any]:
    """The words of a method's name, and what they name."""
    words = name.partition("+")[0].strip()
    if words.startswith(":") or words.endswith(":"):
        msg = f"A method of your own is given as module:function; got {words!r}."
        raise InvalidParameterError(msg, parameter="method")
    return words, import_value(words, "method")


def _with(words: str, value: Any, parameters: dict[str, Any]) -> Any:
    """What the words name, made or bound with the parameters."""
    makes = inspect.isclass(value) or (inspect.isroutine(value) and _positional(value) == 0)
    if not callable(value) or not (makes or parameters):
        return value
    known = _keywords(value)
    for key in parameters:
        if key not in known:
            raise UnknownNameError(f"parameter of {words!r}", key, known, parameter="settings")
    if not makes:
        return _bound(value, parameters)
    try:
        return value(**parameters)
    except DenseflipError:
        raise
    except Exception as error:
        raise failed(words, error, "was being made") from error


def _bound(search: Any, parameters: dict[str, Any]) -> Any:
    bound = partial(search, **parameters)
    bound.needs = getattr(search, "needs", frozenset())  # type: ignore[attr-defined]
    bound.__name__ = getattr(search, "__name__", "search")  # type: ignore[attr-defined]
    return bound


def _keywords(value: Any) -> list[str]:
    """Parameters that can be given by name: all of a class, of a search those with a default."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    named = [p for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if inspect.isclass(value):
        return [p.name for p in named]
    return [p.name for p in named if p.default is not p.empty or p.kind is p.KEYWORD_ONLY]


def _positional(value: Any) -> int | None:
    """How many parameters must be given by position; None if that cannot be seen."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is p.empty for p in found)


def failed(words: str, error: Exception, when: str = "searched") -> InvalidParameterError:
    """What went wrong in somebody's method, with the file and the line."""
    where = ""
    if frames := traceback.extract_tb(error.__traceback__):
        inside = [frame for frame in frames if _HOME not in Path(frame.filename).parents]
        frame = (inside or frames)[-1]
        where = f" ({frame.filename}, line {frame.lineno})"
    msg = f"The method {words} raised {said(error)} while it {when}{where}. Mend it there."
    return InvalidParameterError(msg)


def _place(words: str) -> str:
    import sys

    module = words.partition(":")[0]
    return str(getattr(sys.modules.get(module), "__file__", None) or module)
