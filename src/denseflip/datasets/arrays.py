"""`Arrays`: what a .npy, .npz or .mat file holds, and which of it is the table and its names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from denseflip.checks import visible
from denseflip.errors import FileFormatError

_NAME = 60  # characters of an array's name in a message
#: Names of lists that name the nodes, in lower case and without punctuation.
_NODE_LISTS = (
    "names", "name", "regionlabels", "roinames", "roiname", "roilabels", "roilabel", "rois",
    "regionnames", "regions", "nodenames", "nodelabels", "nodes", "parcelnames", "parcellabels",
    "parcels", "labelnames", "areanames", "areas", "channelnames", "channels", "genenames", "genes",
)  # fmt: skip


@dataclass(frozen=True)
class Arrays:
    """The content of a .npy, .npz or .mat file.

    Attributes
    ----------
    numbers : name → array of numbers.
    texts : name → a list of names.
    points : name → a list of three numbers each, such as CONN's ``xyz``.
    closed : name → what it is, for content that is never opened.
    """

    numbers: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    points: dict[str, tuple[tuple[float, float, float], ...]] = field(default_factory=dict)
    closed: dict[str, str] = field(default_factory=dict)

    def choose(self, variable: str | None, source: str, *, ndim: int = 2) -> str:
        """The name of the array to read: the requested one, else the only one."""
        if variable is not None:
            if variable in self.closed:
                msg = f"{source}: {variable!r} is {self.closed[variable]}; only arrays of numbers "
                raise FileFormatError(msg + "and lists of texts are opened.", parameter="variable")
            if variable not in self.numbers:
                held = ", ".join(map(called, self.numbers)) or "no array of numbers"
                msg = f"{source}: no array named {variable!r}. It holds: {held}."
                raise FileFormatError(msg, parameter="variable")
            return variable
        fit = [k for k, v in self.numbers.items() if v.ndim == ndim and min(v.shape) > 1]
        if len(fit) == 1:
            return fit[0]
        held = ", ".join(f"{called(k)} {v.shape}" for k, v in self.numbers.items())
        closed = ", ".join(f"{called(k)} ({w}, not opened)" for k, w in self.closed.items())
        held = ", ".join(x for x in (held, closed) if x) or "nothing"
        what = "table of numbers" if ndim == 2 else "stack of matrices"
        msg = f"{source}: expected one {what}; it holds {held}."
        if fit:
            msg += " Choose one (variable)."
        raise FileFormatError(msg, parameter="variable" if fit else ())

    def names_of(self, chosen: str) -> tuple[str, ...] | None:
        """The list of texts that names the columns of an array, if there is exactly one.

        QSIRecon's ``atlas_A_region_labels`` goes with ``atlas_A_…``; CONN's ``names`` with ``Z``.
        """
        width = self.numbers[chosen].shape[-1]
        square = self.numbers[chosen].shape[0]
        lists = {k: v for k, v in self.texts.items() if len(v) in (width, square)}
        own = [k for k in lists if k.endswith("_region_labels")
               and chosen.startswith(k.removesuffix("region_labels"))]  # fmt: skip
        if own:
            return lists[max(own, key=len)]
        for length in dict.fromkeys((width, square)):
            found = self.node_names(length) or lists.get("labels")
            if found is not None and len(found) == length:
                return found
        return next(iter(lists.values())) if len(lists) == 1 else None

    def node_names(self, n: int) -> tuple[str, ...] | None:
        """The list of n texts whose name says that it names nodes: names, ROInames, regions …"""
        plain = {re.sub(r"[^a-z]", "", k.lower()): v for k, v in self.texts.items() if len(v) == n}
        return next((plain[x] for x in _NODE_LISTS if x in plain), None)


def called(name: str) -> str:
    """The name of an array for a message, shortened and made printable."""
    return visible(name if len(name) <= _NAME else f"{name[: _NAME - 1]}…")
