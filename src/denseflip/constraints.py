"""`Constraints`: what a counterfactual may change and what it must be like, as plain values.

`denseflip.search.constraints` holds their bound form, which a session enforces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

from denseflip.errors import (
    InvalidParameterError,
    check_callable,
    check_name,
    shown,
    whole_number,
)
from denseflip.option import CONSTRAINTS, check_fields, documented, option

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_constraint = partial(option, CONSTRAINTS)


class FrozenItems(tuple[Any, ...]):
    """The items of ``freeze``. Two numbers in it are two nodes, not a pair of nodes.

    A tuple of three is a taxonomy and two of its regions, by their exact names.
    """

    @classmethod
    def of(cls, value: Any) -> FrozenItems:
        """A list of one for a single name, number or pair of numbers."""
        if value is None:
            return cls()
        if isinstance(value, cls):  # of constraints that are copied
            return value
        value = value.tolist() if hasattr(value, "tolist") else value  # an array or a tensor
        pair = isinstance(value, tuple) and len(value) == 2 and all(is_number(v) for v in value)
        if pair or isinstance(value, str) or is_number(value):
            return cls((value,))
        try:
            return cls(value)
        except TypeError:
            msg = f"freeze takes names of regions, nodes or cells, or pairs; got {shown(value)}."
            raise InvalidParameterError(msg, parameter="freeze") from None


def join_items(items: Sequence[Any], most: int = 6) -> str:
    """The items of a list with commas; of many the first, and the number of the others.

    Examples
    --------
    >>> join_items(["Frontal", [1, 2], ["lobe", "Frontal", "Temporal"]])
    'Frontal, 1 – 2, lobe: Frontal x Temporal'
    >>> join_items(range(9), most=2)
    '0, 1 and 7 others'
    """
    shown_items = [item_text(item) for item in items[:most]]
    others = len(items) - len(shown_items)
    more = f" and {others:,} other{'s' * (others > 1)}" if others else ""
    return ", ".join(shown_items) + more


def item_text(item: Any) -> str:
    """An item of ``freeze`` as text."""
    if isinstance(item, (list, tuple)):
        if len(item) == 3:
            return f"{item[0]}: {item[1]} x {item[2]}"
        return " – ".join(map(str, item))
    return str(item)


def is_number(value: Any) -> bool:
    """Whether this is a whole number, of Python or NumPy."""
    return isinstance(value, Integral) and not isinstance(value, bool)


@dataclass(frozen=True)
class Constraints:
    """What a counterfactual may change and what it must be like, as a guarantee.

    Parameters
    ----------
    {options}
    max_cells : largest number of region pairs in which something may change.
    regions : taxonomy of the frozen regions and of the region pairs that ``max_cells`` counts. By
        default names are looked up in every taxonomy, and region pairs counted in the first.

    Examples
    --------
    >>> Constraints(freeze="Frontal", only="remove", max_edits=20).given
    {'freeze': ['Frontal'], 'only': 'remove', 'max_edits': 20}

    A tuple of two numbers freezes one pair of nodes, a list freezes two nodes:

    >>> Constraints(freeze=(3, 7)).given, Constraints(freeze=[3, 7]).given
    ({'freeze': [[3, 7]]}, {'freeze': [3, 7]})
    """

    freeze: Any = _constraint(
        (),
        "Regions, nodes or cells that must not change: a region (every pair that touches it), a "
        "node (name or number), a cell such as 'Frontal x Temporal', or a pair of nodes such as "
        "'3 x 7'. Names may be those of the node table or those in a sentence, such as 'left "
        "hemisphere'. If a name has several meanings, write 'lobe: Frontal' or 'node: Frontal'.",
        "Frozen regions and nodes",
        kind="names",
        common=True,
        unit="NAME",
    )
    only: str | None = _constraint(
        None,
        "Allow additions only (add) or removals only (remove).",
        "Allowed changes",
        choices=("add", "remove"),
        common=True,
    )
    allowed: Any = _constraint(
        None,
        "Node × node array that is True where a pair may change.",
        "Allowed pairs",
        kind="object",
    )
    allow_seen: float | None = _constraint(
        None,
        "Change only pairs that at least this percentage of the data set's graphs have.",
        "Pairs seen in at least (%)",
        minimum=0,
        maximum=100,
        unit="PERCENT",
    )
    max_edits: int | None = _constraint(
        None, "Largest number of pairs that may change.", "Largest number of edits", minimum=1
    )
    max_cells: int | None = None
    keep_density: float | None = _constraint(
        None,
        "Keep the number of edges within this percentage of the original's. 0 keeps it exactly.",
        "Number of edges within (%)",
        minimum=0,
        unit="PERCENT",
    )
    keep_connected: bool = _constraint(
        False,
        "Keep the graph connected: the number of connected components must not increase.",
        "Stay connected",
    )
    min_degree: int | None = _constraint(
        None,
        "Smallest degree allowed for nodes at which a pair changes.",
        "Smallest degree",
        minimum=0,
    )
    max_degree: int | None = _constraint(
        None,
        "Largest degree allowed for nodes at which a pair changes.",
        "Largest degree",
        minimum=0,
    )
    degree_bounds: Any = _constraint(
        None,
        "Largest degree of nodes of a type or region, or smallest and largest: C=4,N=3,O=1-2. A "
        "node that has reached its largest degree gets no further edge.",
        "Degrees by type",
        kind="text",
        unit="TYPE=N",
    )
    predicate: Callable[[Any], bool] | None = _constraint(
        None,
        "Function of the changed `Graph` that returns whether it is acceptable.",
        kind="object",
    )
    regions: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "freeze", FrozenItems.of(self.freeze))
        check_fields(self)
        if self.max_cells is not None:
            most = whole_number("max_cells", self.max_cells, minimum=1)
            object.__setattr__(self, "max_cells", most)
        if self.degree_bounds is not None:
            texts = (
                f"{name}={low}-{high}" if low else f"{name}={high}"
                for name, (low, high) in self.bounds.items()
            )
            object.__setattr__(self, "degree_bounds", ",".join(texts) or None)
        if self.predicate is not None:
            check_callable("predicate", self.predicate)
        low, high = self.min_degree, self.max_degree
        if low is not None and high is not None and low > high:
            msg = f"Contradicting constraints: min_degree={low} exceeds max_degree={high}."
            raise InvalidParameterError(msg, parameter=("min_degree", "max_degree"))
        if self.allowed is not None:
            object.__setattr__(self, "allowed", _mask(self.allowed))

    @property
    def bounds(self) -> dict[str, tuple[int, int]]:
        """The smallest and the largest degree of nodes of each type of ``degree_bounds``."""
        value = self.degree_bounds
        if not isinstance(value, (str, Mapping)):
            raise _wrong_bounds(value)
        listed: Any = value.items() if isinstance(value, Mapping) else _split(value)
        found: dict[str, tuple[int, int]] = {}
        for name, ends in listed:
            pair = (0, ends) if is_number(ends) else ends
            if (
                not isinstance(pair, (tuple, list))
                or len(pair) != 2
                or not all(map(is_number, pair))
            ):
                raise _wrong_bounds(value)
            low, high = int(pair[0]), int(pair[1])
            if not 0 <= low <= high or not isinstance(name, str) or name in found:
                raise _wrong_bounds(value)
            found[name] = (low, high)
        return found

    @property
    def given(self) -> dict[str, Any]:
        """What is constrained, JSON-ready; empty if nothing is."""
        out: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if value is None or value is False or (f.name == "freeze" and not value):
                continue
            out[f.name] = _plain(f.name, value)
        return out

    def __bool__(self) -> bool:
        return bool(set(self.given) - {"regions"})

    @classmethod
    def of(cls, value: Constraints | Mapping[str, Any] | None) -> Constraints:
        """Constraints as they are, from a mapping of their fields, or none."""
        if isinstance(value, Constraints):
            return value
        if value is None:
            return cls()
        if not isinstance(value, Mapping):
            msg = (
                "constraints must be Constraints(…) or a mapping of its fields; got "
                f"{type(value).__name__}."
            )
            raise InvalidParameterError(msg, parameter="constraints")
        known = [f.name for f in fields(cls)]
        for key in value:
            check_name("constraint", key, known, parameter="constraints")
        return cls(**value)


Constraints.__doc__ = documented(
    Constraints.__doc__, [f for f in fields(Constraints) if "option" in f.metadata]
)


def _split(text: str) -> list[tuple[str, Any]]:
    """The parts of ``"C=4,N=1-3"``."""
    out: list[tuple[str, Any]] = []
    for part in filter(None, (x.strip() for x in text.split(","))):
        name, _, ends = part.rpartition("=")
        numbers = [x.strip() for x in ends.split("-")]
        if not name.strip() or not all(x.isdecimal() for x in numbers) or len(numbers) > 2:
            raise _wrong_bounds(text)
        out.append((name.strip(), int(numbers[0]) if len(numbers) == 1 else [*map(int, numbers)]))
    return out


def _wrong_bounds(value: Any) -> InvalidParameterError:
    msg = (
        "degree_bounds must give each type (or region) once, with its largest degree, or its "
        f"smallest and largest: 'C=4,N=1-3', or {{'C': 4, 'N': (1, 3)}}; got {shown(value)}."
    )
    return InvalidParameterError(msg, parameter="degree_bounds")


def _mask(value: Any) -> npt.NDArray[np.bool_]:
    import numpy as np

    mask = np.asarray(value)
    if mask.ndim != 2 or mask.shape[0] != mask.shape[1] or mask.dtype.kind not in "biuf":
        got = f"an array of {' × '.join(map(str, mask.shape))}" if mask.ndim else shown(value)
        msg = f"allowed must be a node × node array, True where a pair may change; got {got}."
        raise InvalidParameterError(msg, parameter="allowed")
    mask = np.asarray(mask != 0)
    if not np.array_equal(mask, mask.T):
        msg = "allowed must be symmetric: the order of the two nodes of a pair has no meaning."
        raise InvalidParameterError(msg, parameter="allowed")
    mask.setflags(write=False)
    return mask


def _plain(name: str, value: Any) -> Any:
    if name == "freeze":
        return [list(map(_item, v)) if isinstance(v, (tuple, list)) else _item(v) for v in value]
    if name == "allowed":
        n = len(value)
        free = (int(value.sum()) - int(value.diagonal().sum())) // 2
        return f"{free} of {n * (n - 1) // 2} pairs"
    if name == "predicate":
        return getattr(value, "__qualname__", type(value).__name__)
    return value


def _item(value: Any) -> Any:
    return int(value) if is_number(value) else value
