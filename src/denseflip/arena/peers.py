"""The explainers of the benchmark by name, and whether what they need is installed."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from denseflip.arena.adapters import gretel
from denseflip.arena.adapters.captum_attributions import INTEGRATED, SALIENCY
from denseflip.arena.adapters.dice import Dice
from denseflip.arena.adapters.greedy import Greedy
from denseflip.arena.adapters.own_methods import OwnMethod
from denseflip.arena.adapters.pyg_explainers import GnnExplainer, PgExplainer
from denseflip.arena.adapters.random_edits import RandomEdits
from denseflip.arena.adapters.user_function import UserFunction
from denseflip.arena.problem import Explainer
from denseflip.errors import ConfigError, UnknownNameError
from denseflip.search.methods.registry import METHODS

_ALL: tuple[Explainer, ...] = (
    RandomEdits(),
    Greedy(),
    GnnExplainer(),
    PgExplainer(),
    SALIENCY,
    INTEGRATED,
    Dice("kdtree"),
    Dice("genetic"),
    Dice("random"),
)
#: Explainers that are not methods of denseflip.
PEERS: dict[str, Explainer] = {peer.name: peer for peer in _ALL}
#: Methods of denseflip that run unless others are named.
OWN = (
    *("auto", "auto@gradients", "auto@any-range", "best@edits", "best@edits@gradients", "tight"),
    *("race", "gradient", "tri", "rcli", "con", "obs"),
)


@dataclass(frozen=True)
class Missing:
    """An explainer that is skipped, and why."""

    name: str
    reason: str


def find_explainer(name: str, checkout: Path | None = None) -> Explainer:
    """The explainer of this name: a peer, a method of denseflip, or ``module:function``.

    Those of GRETEL need a checkout, a folder with its source.
    """
    if name in PEERS:
        return PEERS[name]
    if name in gretel.EXPLAINERS:
        if checkout is None:
            msg = f"{name} needs a checkout of GRETEL: give its folder (option gretel)."
            raise ConfigError(msg)
        gretel.check_checkout(checkout)
        return gretel.Gretel(name, checkout)
    if ":" in name:
        return UserFunction(name)
    try:
        return OwnMethod(name)
    except UnknownNameError as error:
        if "@" in name:
            raise
        known = (*PEERS, *gretel.EXPLAINERS, *METHODS)
        raise UnknownNameError("explainer", name, known) from error


def is_own(name: str) -> bool:
    """Whether an explainer is a method of denseflip.

    >>> is_own("best@edits"), is_own("saliency")
    (True, False)
    """
    return name.split("@")[0].split("+")[0] in METHODS


def default_explainers(checkout: Path | None = None) -> tuple[str, ...]:
    """Names of all explainers of the full benchmark."""
    return (*OWN, *PEERS, *(gretel.EXPLAINERS if checkout else ()))


def is_missing(explainer: Explainer) -> Missing | None:
    """Why an explainer cannot run: packages to install with pip, or a checkout of another version.

    None if it can.
    """
    lacking = [pip for module, pip in explainer.needs.items() if not _is_there(module)]
    if lacking:
        return Missing(explainer.name, f"not installed; run: pip install {' '.join(lacking)}")
    if isinstance(explainer, gretel.Gretel):
        problem = gretel.import_problem(explainer.name, explainer.folder)
        return Missing(explainer.name, problem) if problem else None
    return None


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False
