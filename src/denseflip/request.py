"""`Request`: all options of an explanation, each defined once.

The Python functions, the command line, the web app, bench files and the documentation all read
their options from the fields of `Request` and `Constraints`. To add an option, add a field here and
use it where the answer is computed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from functools import partial, wraps
from typing import Any, TypeVar

from denseflip.constraints import Constraints
from denseflip.errors import InvalidParameterError, UnknownNameError, shown
from denseflip.option import (
    LIMITS,
    QUALITY,
    SEARCH,
    SENTENCE,
    Option,
    check_fields,
    documented,
    option,
    option_of,
)

R = TypeVar("R")

LANGUAGES = ("auto", "regions", "nodes", "pairs")
OBJECTIVES = ("sentence", "edits", "balanced")
IN_RANGE = ("prefer", "require", "ignore")
REFERENCE = ("classifier", "true")
BALANCE = ("auto", "on", "off")
INFORMATION = ("auto", "labels", "probabilities", "gradients")
#: Options that belong to one method; a comparison of methods does not take them.
PER_METHOD = (
    *("method", "parameters", "language", "objective", "front", "in_range", "balance"),
    *("reference", "stable", "information"),
)
#: Options that a cohort takes, besides those of `Constraints`.
OF_COHORT = ("regions", "max_cells", "in_range", "balance", "vocabulary", "seed")
_search, _sentence = partial(option, SEARCH), partial(option, SENTENCE)
_quality, _limit = partial(option, QUALITY), partial(option, LIMITS)
NOISE = 0.01  # share of all pairs that a perturbation flips by default


@dataclass(frozen=True)
class Request:
    """All options of an explanation.

    A request is a value. The same request gives the same answer through Python, the command line,
    many graphs at once, bench and the web app.

    Parameters
    ----------
    {options}
    constraints : what may change and what the answer must be like: a `Constraints`, or a mapping of
        its fields. Guaranteed, whatever the method.

    Examples
    --------
    >>> Request(method="tri", target="B6", budget=500).given
    {'method': 'tri', 'target': 'B6', 'budget': 500}
    >>> Request.build(method="tri", max_edits=20).constraints.max_edits
    20
    """

    method: Any = _search(
        "auto",
        "Search method, for example auto, tri, cli or dat+bw. A method of your own: "
        "module:function.",
        common=True,
        short="-m",
        unit="METHOD",
    )
    parameters: Mapping[str, Any] = _search(
        dict,
        "Parameters of the method, as key=value.",
        "Parameters of the method",
        kind="settings",
        flag="set",
        unit="KEY=VALUE",
    )
    target: Any = _search(
        None,
        "Class to reach, by name or label, or several acceptable ones. Default: any class other "
        "than the current one.",
        "Class to reach",
        kind="names",
        common=True,
        unit="CLASS",
    )
    confidence: float | None = _search(
        None,
        "Smallest probability that the classifier must give the new class. Needs a classifier "
        "with probabilities, such as regions-logistic.",
        "Smallest confidence",
        above=0,
        maximum=1,
        unit="P",
    )
    information: str = _search(
        "auto",
        "What the search may use of the classifier: labels, probabilities or gradients. auto uses "
        "gradients if the classifier offers them and the method can use them, otherwise labels.",
        "Information from the classifier",
        choices=INFORMATION,
    )
    regions: Any = _sentence(
        None,
        "Taxonomy of the sentence and, if the method uses one, of the search, for example lobe or "
        "lobe*hemisphere. Default: the first of the node table.",
        common=True,
        unit="TAXONOMY",
    )
    language: str | None = _sentence(
        None,
        "What the sentence names: regions, nodes or pairs of nodes. auto tries them in this order.",
        "Sentence names",
        choices=LANGUAGES,
    )
    max_cells: int | None = _sentence(
        None,
        "Largest number of places (region pairs or nodes) that the sentence names. Without a "
        "sentence: largest number of region pairs that change. By default at most 5, "
        "or 8 if no shorter sentence is in range.",
        "Largest number of places",
        minimum=1,
        common=True,
    )
    objective: str | None = _sentence(
        None,
        "What to minimise: the places of the sentence, the edits, or both (balanced).",
        choices=OBJECTIVES,
    )
    in_range: str | None = _sentence(
        None,
        "Whether every place that the sentence names must end within the range of real graphs of "
        "the new class (95 % prediction interval): prefer (default) falls back to the shortest "
        "sentence out of range, require does not, ignore skips the check.",
        "Within the range of real graphs",
        choices=IN_RANGE,
        common=True,
    )
    balance: Any = _sentence(
        None,
        "Keep the number of edges: what the sentence adds in its places is removed elsewhere, and "
        "vice versa. auto (default) does so if the graphs of the new class have nearly "
        "the same number of edges.",
        "Keep the number of edges",
        choices=BALANCE,
    )
    reference: str | None = _sentence(
        None,
        "Which real graphs the sentence is compared with: those that the classifier puts in the "
        "new class (classifier, the default), or those whose true class it is (true).",
        "Compare with",
        choices=REFERENCE,
    )
    vocabulary: Any = _sentence(
        "auto",
        "Words of the sentence: auto (by the node table), brain, connectome, network, mouse, "
        "molecule, graph, or paper (activation and co-activation, as in the paper).",
        unit="NAME",
    )
    share: float = _sentence(
        0.0,
        "Name places until they cover at least this share of the edits, even if fewer would "
        "suffice. The "
        "sentences of the paper name about 0.8.",
        "Share of edits to name",
        minimum=0,
        maximum=1,
        unit="SHARE",
    )
    constraints: Constraints = Constraints()
    robust: float | None = _quality(
        None,
        "Share of random perturbations that the answer must survive, for example 0.9. If the level "
        "is out of reach, the best answer is returned with the level that it reaches.",
        "Survive perturbations",
        above=0,
        maximum=1,
        unit="SHARE",
    )
    noise: float | None = _quality(
        None,
        f"Share of all pairs that each perturbation of {{robust}} flips. Default: {NOISE}.",
        "Size of a perturbation",
        above=0,
        maximum=0.5,
        unit="SHARE",
    )
    stable: float | None = _quality(
        None,
        "Mean share of redraws that must flip classifiers trained again on resampled data (refits) "
        "as well, for example 0.8. Measured on refits that the search did not use. If the level is "
        "out of reach, the best answer is returned with the level that it reaches.",
        "Hold after retraining",
        above=0,
        maximum=1,
        unit="SHARE",
    )
    plausible: bool = _quality(
        False,
        "Among answers with equal counts per place, prefer edits that real graphs of the new class "
        "have.",
        "Plausible edits",
    )
    max_implausible: float | None = _quality(
        None,
        "Largest distance to the nearest real graph of the new class, as a multiple of the usual "
        "distance between such graphs, for example 1.2.",
        "Largest distance to real graphs",
        above=0,
        unit="FACTOR",
    )
    n: int = _quality(
        1,
        "Number of answers to look for, each in different places.",
        "Number of answers",
        minimum=1,
    )
    front: bool = _quality(
        False,
        "Return every answer that no other answer beats in both places and edits (the Pareto "
        "front).",
        "All best trade-offs",
    )
    budget: int | None = _limit(
        None,
        "Largest number of queries to the classifier, besides those for the labels of the data "
        "set. Default: none; without a time limit 5,000 for graphs of more than 5,000 nodes.",
        "Largest number of queries",
        minimum=1,
        common=True,
    )
    time_limit: float | None = _limit(
        None,
        "Stop after this many seconds with the best answer so far.",
        "Time limit (s)",
        above=0,
        unit="SECONDS",
    )
    seed: int = _limit(
        0, "Seed of the search. The same seed gives the same answer.", minimum=0, common=True
    )
    confirm: int = _limit(
        1,
        "Re-query the result this many times to detect non-deterministic classifiers. 0 turns it "
        "off.",
        "Re-queries of the result",
        minimum=0,
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", Constraints.of(self.constraints))
        if not isinstance(self.parameters, Mapping):
            msg = f"parameters must map names to values; got {shown(self.parameters)}."
            raise InvalidParameterError(msg, parameter="parameters")
        if isinstance(self.balance, bool):
            object.__setattr__(self, "balance", "on" if self.balance else "off")
        check_fields(self)
        if self.noise is not None and self.robust is None:
            msg = "noise sets the perturbations of robust, which is not given: pass robust=0.9 too."
            raise InvalidParameterError(msg, parameter=("noise", "robust"))
        if self.balance == "on" and self.constraints.only is not None:
            msg = (
                f"balance='on' adds and removes connections, and only={self.constraints.only!r} "
                "allows one of these. Use one of the two options."
            )
            raise InvalidParameterError(msg, parameter=("balance", "only"))
        if self.stable is not None:
            self._check_stable()
        self.check_front(self.front)

    def _check_stable(self) -> None:
        """Refuse options with which a stable sentence cannot be searched for."""
        named = {
            "robust": self.robust is not None,
            "objective": self.objective in ("edits", "balanced"),
            "language": self.language == "pairs",
        }
        for name, is_given in named.items():
            if is_given:
                value = "" if name == "robust" else f"={getattr(self, name)!r}"
                msg = f"stable and {name}{value} cannot be combined. Use one of them."
                raise InvalidParameterError(msg, parameter=("stable", name))

    def check_front(self, front: bool) -> None:
        """Refuse a Pareto front together with options that change every answer of it."""
        named = {
            "n": self.n > 1,
            "robust": self.robust is not None,
            "plausible": self.plausible,
            "max_implausible": self.max_implausible is not None,
        }
        for name, is_given in named.items():
            if front and is_given:
                msg = f"front and {name} cannot be combined. Use one of them."
                raise InvalidParameterError(msg, parameter=(name, "front"))

    @classmethod
    def build(cls, **values: Any) -> Request:
        """A request from flat names: fields of `Request` and options of `Constraints` alike.

        None means not given.
        """
        options = list_options()
        bound = {name for name in options if name not in _NAMES}
        own: dict[str, Any] = {}
        terms: dict[str, Any] = {}
        for name, value in values.items():
            if name not in options and name != "constraints":
                raise UnknownNameError("option", name, [*options, "constraints"], parameter=name)
            if value is not None:
                (terms if name in bound else own)[name] = value
        if terms:
            own["constraints"] = replace(Constraints.of(own.get("constraints")), **terms)
        return cls(**own)

    @property
    def given(self) -> dict[str, Any]:
        """The values that differ from the defaults."""
        out = {}
        for f in fields(self):
            value = getattr(self, f.name)
            default = f.default if f.default is not MISSING else {}
            if f.name == "constraints":
                if value.given:
                    out[f.name] = value.given
            elif type(value) is not type(default) or value != default:
                out[f.name] = value
        return out


_NAMES = {f.name for f in fields(Request)}
Request.__doc__ = documented(
    Request.__doc__, [f for f in fields(Request) if "option" in f.metadata]
)


def list_options(*, python: bool = False) -> dict[str, Option]:
    """Every option by its flat name, in the order of the fields.

    Those that only Python can pass (``allowed``, ``predicate``) are included with ``python``.
    """
    out: dict[str, Option] = {}
    for f in fields(Request):
        inner = fields(Constraints) if f.name == "constraints" else (f,)
        for one in inner:
            if "option" in one.metadata and (python or option_of(one).kind != "object"):
                out[one.name] = option_of(one)
    return out


def default_of(name: str) -> Any:
    """The default of an option."""
    for f in (*fields(Request), *fields(Constraints)):
        if f.name == name and "option" in f.metadata:
            return {} if f.default is MISSING else f.default
    raise UnknownNameError("option", name, list_options())


def takes_request(
    *, without: tuple[str, ...] = ()
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Let a function with a parameter ``request`` take the fields of a request by name.

    The function is called with one `Request`. Its signature and its docstring (the line
    ``{options}``) list the fields, except those in ``without``: ``method`` in the place of
    ``request`` and all others by name.
    """

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        plain = inspect.signature(function)
        taken = [f for f in fields(Request) if f.name not in without]
        names = {f.name for f in taken}
        positional = [p.name for p in plain.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        # Where ``request`` is given by name only, ``method`` comes after the other positions.
        places = ["method" if name == "request" else name for name in positional]
        if "request" not in positional and "method" in names:
            places.append("method")
        own = [name for name in plain.parameters if name != "request"]

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> R:
            if len(args) > len(places):
                msg = f"{function.__name__}() takes at most {len(places)} positional arguments"
                raise TypeError(f"{msg}; got {len(args)}.")
            for name, value in zip(places, args, strict=False):
                if name in kwargs:
                    raise TypeError(f"{function.__name__}() got two values for {name!r}.")
                kwargs[name] = value
            request = kwargs.pop("request", None)
            asked = {name: kwargs.pop(name) for name in list(kwargs) if name in names}
            for name in kwargs:
                if name not in own:
                    if "constraints" in names and name in {f.name for f in fields(Constraints)}:
                        msg = (
                            f"{function.__name__}() has no keyword {name!r}: it is a constraint. "
                            f'Pass constraints={{"{name}": …}}.'
                        )
                        raise InvalidParameterError(msg, parameter="constraints")
                    what = f"keyword of {function.__name__}"
                    raise UnknownNameError(what, name, [*own, *names], parameter=name)
            if request is None:
                request = Request(**asked)
            elif asked:
                request = replace(request, **asked)
            return function(request=request, **kwargs)

        call.__signature__ = _signature(plain, taken)  # type: ignore[attr-defined]
        call.__doc__ = documented(function.__doc__, taken)
        return call

    return decorate


def _signature(plain: inspect.Signature, taken: list[Field[Any]]) -> inspect.Signature:
    """The signature with the fields of a request."""
    kinds = inspect.Parameter
    front: list[inspect.Parameter] = []
    back: list[inspect.Parameter] = []
    for p in plain.parameters.values():
        if p.name == "request":
            if any(f.name == "method" for f in taken):
                front.append(kinds("method", kinds.POSITIONAL_OR_KEYWORD, default="auto"))
        else:
            (back if p.kind is p.KEYWORD_ONLY else front).append(p)
    for f in taken:
        if f.name != "method":
            default = None if f.default is MISSING or f.name == "constraints" else f.default
            back.append(kinds(f.name, kinds.KEYWORD_ONLY, default=default, annotation=f.type))
    back.append(kinds("request", kinds.KEYWORD_ONLY, default=None, annotation="Request | None"))
    return plain.replace(parameters=[*front, *back])
