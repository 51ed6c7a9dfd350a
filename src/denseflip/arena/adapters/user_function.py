"""An explainer of the user's own: ``module:function``, a function of a `Problem`."""

from __future__ import annotations

import importlib
from typing import Any

from denseflip.arena.problem import Explainer, Problem
from denseflip.errors import ConfigError, said
from denseflip.oracles.open import see_current_folder


class UserFunction(Explainer):
    """A function that takes a problem and returns a graph, an adjacency array or None.

    It may have the attributes ``track``, ``stochastic``, ``removal_only`` and ``kinds``. Without
    them it is taken as stochastic, uses labels and explains every kind of classifier.
    """

    stochastic = True

    def __init__(self, text: str) -> None:
        self.name = text
        module, _, function = text.partition(":")
        see_current_folder()
        try:
            found = getattr(importlib.import_module(module), function)
        except (ImportError, AttributeError, ValueError) as error:
            msg = f"Explainer {text}: cannot be imported ({said(error)})."
            raise ConfigError(msg) from error
        made = found() if isinstance(found, type) else found
        self.function = getattr(made, "explain", made)
        if not callable(self.function):
            msg = f"Explainer {text}: not a function of a problem, nor an object with explain."
            raise ConfigError(msg)
        for name in ("track", "stochastic", "removal_only", "slow", "kinds"):
            setattr(self, name, getattr(made, name, getattr(self, name)))

    def explain(self, problem: Problem) -> Any:
        """Call the function."""
        return self.function(problem)
