"""The errors that denseflip raises.

.. code-block:: text

    DenseflipError
    ├── InvalidGraphError (ValueError)     the input is not a simple, undirected graph
    ├── InvalidNodesError (ValueError)     a node table contradicts itself or its graphs
    ├── InvalidParameterError (ValueError) a parameter has a value that is not allowed
    ├── UnknownNameError (ValueError)      an unknown name (with "did you mean")
    ├── MissingInputError (ValueError)     a method needs regions, a background, coordinates …
    ├── OracleError (RuntimeError)         the classifier raised, or returned no label
    │   └── GradientError                  it has no gradient, or one that is of no use
    ├── NotFittedError (RuntimeError)      a classifier was used before it was trained
    ├── DatasetError (ValueError)          a data set cannot be obtained, read or created
    │   └── HashMismatchError              a file does not have the expected hash
    ├── FileFormatError (ValueError)       a file does not have the expected format
    ├── TooLargeError (ValueError)         a file or graph would need more memory than allowed
    ├── ConfigError (ValueError)           a configuration with unknown keys or wrong values
    ├── StoreError (RuntimeError)          a result store cannot be read or written
    ├── EngineError (RuntimeError)         a worker or scheduler is not available, or died
    └── MissingExtraError (ImportError)    an optional dependency is not installed

"No counterfactual found" and "budget spent" are not errors: they are results with a status.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeVar

T = TypeVar("T")


class DenseflipError(Exception):
    """Base class of the errors that denseflip raises.

    Messages name parameters as they are spelled in Python. The command line and the web app spell
    them differently: they find the names in ``parameters`` and add their own spelling.

    Parameters
    ----------
    args : the message.
    parameter : the parameter, or the parameters, that would solve the problem.

    Examples
    --------
    >>> DenseflipError("a.dfd exists already (force=True).", parameter="force").parameters
    ('force',)
    """

    parameters: tuple[str, ...] = ()
    page: ClassVar[str] = ""  #: the page of the documentation that helps, if there is one

    def __init__(self, *args: object, parameter: str | Iterable[str] = ()) -> None:
        super().__init__(*args)
        self.parameters = (parameter,) if isinstance(parameter, str) else tuple(parameter)


class InvalidGraphError(DenseflipError, ValueError):
    """The input is not an undirected, simple graph over a fixed node set."""

    page = "how-to/own-data.md"


class InvalidNodesError(DenseflipError, ValueError):
    """A node table contradicts itself or the graphs it describes."""

    page = "how-to/own-data.md"


class InvalidParameterError(DenseflipError, ValueError):
    """A parameter has a value that is not allowed."""


class UnknownNameError(DenseflipError, ValueError):
    """A name is unknown.

    Parameters
    ----------
    kind : what the name should refer to, for example ``"method"``.
    got : the name that was given.
    known : the names that exist.
    where : where the name was looked up, for example ``"in data set 'mice'"``.
    aliases : aliases of the names, as in `nearest`.
    """

    def __init__(
        self,
        kind: str,
        got: str,
        known: Iterable[str],
        where: str = "",
        aliases: Mapping[str, str] | None = None,
        *,
        parameter: str | Iterable[str] = (),
    ) -> None:
        options = list(known)
        got = got if isinstance(got, str) else shown(got)
        near = nearest(got, options, aliases=aliases)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        listed = ", ".join(options) if options else "(none)"
        place = f" {where}" if where else ""
        message = f"Unknown {kind} {got!r}{place}.{hint} Known: {listed}."
        super().__init__(message, parameter=parameter)
        self.kind = kind
        self.got = got
        self.known = options
        self.where = where
        self.aliases = dict(aliases or {})

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self.kind, self.got, self.known, self.where, self.aliases)
        return (type(self), given, self.__dict__)


class MissingInputError(DenseflipError, ValueError):
    """A method or figure needs an input that was not given (regions, a background …)."""


class OracleError(DenseflipError, RuntimeError):
    """The classifier raised an error, or returned something that is not a label."""

    page = "how-to/own-oracle.md"


class GradientError(OracleError):
    """The classifier has no gradient for a graph, or one that cannot be used."""


class NotFittedError(DenseflipError, RuntimeError):
    """A classifier was used before it was trained."""

    page = "classifiers.md"


class DatasetError(DenseflipError, ValueError):
    """A data set cannot be obtained, read or created."""

    page = "how-to/import.md"


class HashMismatchError(DatasetError):
    """A file does not have the expected hash."""

    page = "datasets.md"


class FileFormatError(DenseflipError, ValueError):
    """A file does not have the expected format."""

    page = "how-to/import.md"


class TooLargeError(DenseflipError, ValueError):
    """A file or a graph would need more memory than is allowed (see `denseflip.limits`)."""

    page = "reliability.md"


class ConfigError(DenseflipError, ValueError):
    """A configuration has unknown keys or wrong values."""

    page = "experiments.md"


class StoreError(DenseflipError, RuntimeError):
    """A store of results cannot be read or written."""

    page = "how-to/long-runs.md"


class EngineError(DenseflipError, RuntimeError):
    """A worker or a scheduler is not available, or died."""

    page = "how-to/long-runs.md"


class MissingExtraError(DenseflipError, ImportError):
    """An optional dependency is not installed.

    Parameters
    ----------
    package : the package that could not be imported.
    extra : the extra of denseflip that installs it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"This needs the package {package!r}, which is not installed. "
            f'Install it with: pip install "denseflip[{extra}]"'
        )
        self.package = package
        self.extra = extra

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return (type(self), (self.package, self.extra))


def whole_number(name: str, value: object, *, minimum: int = 0) -> int:
    """Return the value as an int, or raise if it is not a whole number.

    >>> whole_number("batch", 5.0)
    5
    """
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or isinstance(value, (bool, str)) or number != value or number < minimum:
        msg = f"{name} must be a whole number, at least {minimum}; got {shown(value)}."
        raise InvalidParameterError(msg)
    return int(number)


def shown(value: object, width: int = 60) -> str:
    """A value for a message: its repr, shortened; never raises.

    >>> shown(10**5000), shown([1, 2])
    ('an int that cannot be shown', '[1, 2]')
    """
    try:
        text = repr(value)
    except Exception:  # an int of 5,000 digits, or a class whose repr fails
        name = type(value).__name__
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name} that cannot be shown"
    return text if len(text) <= width else f"{text[: width - 1]}…"


def said(error: BaseException, width: int = 200) -> str:
    """The type and message of an error, for another message.

    >>> said(KeyError("names"))
    "KeyError: 'names'"
    """
    try:
        text = str(error)
    except Exception:  # a KeyError whose key cannot be shown
        text = "(no message)"
    return f"{type(error).__name__}: {text if len(text) <= width else f'{text[: width - 1]}…'}"


def check_callable(name: str, value: T) -> T:
    """Return the value, or raise if it is not callable."""
    if not callable(value):
        msg = f"{name} must be a name or a callable; got {type(value).__name__} {value!r:.60}."
        raise InvalidParameterError(msg)
    return value


def check_name(
    kind: str, value: T, known: Iterable[str], *, parameter: str | Iterable[str] = ()
) -> T:
    """Return the value, or raise an `UnknownNameError` if it is not one of the known names."""
    known = tuple(known)
    if value not in known:
        raise UnknownNameError(kind, str(value), known, parameter=parameter)
    return value


def check_choice(name: str, value: object, known: Iterable[object]) -> None:
    """Raise if the value of a parameter is not one of these.

    >>> check_choice("ties", "rank", ("rank", "harmonic"))
    """
    known = tuple(known)
    if value not in known:
        msg = f"{name} must be one of {', '.join(map(str, known))}; got {value!r}."
        raise InvalidParameterError(msg, parameter=name)


def counted(n: int, one: str, many: str) -> str:
    """A number with its noun in singular or plural.

    >>> counted(1, "such entry", "such entries")
    '1 such entry'
    """
    return f"{n} {one if n == 1 else many}"


def nearest(
    got: str, known: Iterable[str], n: int = 1, *, aliases: Mapping[str, str] | None = None
) -> list[str]:
    """Names in ``known`` that are similar to ``got``, best first.

    First come names with a similar spelling or a similar alias. Then come names that abbreviate
    it, or that it abbreviates. Last come names of which one word, or the initials, are similar.

    Parameters
    ----------
    got : the name that was typed.
    known : the names that exist.
    n : the largest number of names to return.
    aliases : alias → name.

    Examples
    --------
    >>> nearest("trii", ["tri", "cli"])
    ['tri']
    >>> nearest("mouse", ["mice", "aut"], aliases={"mouse": "mice"})
    ['mice']
    >>> nearest("svm", ["sf-knn", "edges-svm"]), nearest("ASD", ["Autism Spectrum Disorder"])
    (['edges-svm'], ['Autism Spectrum Disorder'])
    """
    typed, names = got.lower(), list(known)
    spelled = {word.lower(): name for word, name in (aliases or {}).items() if name in names}
    spelled |= {name.lower(): name for name in names}
    hits = [spelled[hit] for hit in difflib.get_close_matches(typed, spelled, n=n)]
    hits += [name for name in names if _abbreviates(typed, name.lower())]
    parts: dict[str, str] = {}
    for name in names:
        words = re.findall(r"[^\W_]+", name.lower())
        for word in (*words, "".join(word[0] for word in words)):
            parts.setdefault(word, name)
    hits += [parts[hit] for hit in difflib.get_close_matches(typed, parts, n=n, cutoff=0.8)]
    return list(dict.fromkeys(hits))[:n]


def _abbreviates(one: str, other: str) -> bool:
    """Whether one word is a prefix, of at least three letters, of the other."""
    return min(len(one), len(other)) >= 3 and (one.startswith(other) or other.startswith(one))
