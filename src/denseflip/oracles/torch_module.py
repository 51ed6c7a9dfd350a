"""A torch or PyTorch Geometric module as an oracle."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from denseflip.errors import (
    InvalidParameterError,
    MissingExtraError,
    OracleError,
    UnknownNameError,
    said,
)
from denseflip.oracles.neural import NetworkOracle
from denseflip.oracles.protocol import ClassNames
from denseflip.oracles.tensors import roles_of


class TorchOracle(NetworkOracle):
    """A torch module as a classifier: the highest score is the label; built by `as_oracle`.

    The module runs without gradients in evaluation mode. A module in training mode is refused,
    here and at every query. Its inputs are matched by their names in ``forward``; see `as_oracle`
    for the rest.

    Parameters
    ----------
    module : the module. It is not changed; on another `device` a copy of it is used.
    features, output, device, max_batch, class_names : as in `as_oracle`.
    """

    who = "The module"

    def __init__(
        self,
        module: Any,
        *,
        features: Any = None,
        output: Any = None,
        device: str | None = None,
        max_batch: int | None = None,
        class_names: ClassNames | None = None,
    ) -> None:
        _check_mode(module)
        _check_memory(module)
        super().__init__(
            _inputs_of(module),
            features=features,
            output=output,
            max_batch=max_batch,
            class_names=class_names,
        )
        self.module = _moved(module, device)

    def _call(self, arrays: Mapping[str, npt.NDArray[Any]], n_graphs: int) -> Any:
        import torch

        _check_mode(self.module)
        some = next(self.module.parameters(), None)
        where = torch.device("cpu") if some is None else some.device
        real = some.dtype if some is not None and some.is_floating_point() else torch.float32
        given = {}
        for name, array in arrays.items():
            tensor = torch.as_tensor(array, device=where)
            given[name] = tensor.to(real) if tensor.is_floating_point() else tensor
        with torch.no_grad():
            if "data" in self.roles.values():
                return self.module(_as_batch(given, n_graphs))
            return self.module(**given)

    def __repr__(self) -> str:
        return f"TorchOracle({type(self.module).__name__}, {self.given})"


def _inputs_of(module: Any) -> dict[str, str]:
    """Name of each parameter of ``forward`` → what to fill it with."""
    name = type(module).__name__
    try:
        parameters = list(inspect.signature(module.forward).parameters.values())
    except (TypeError, ValueError) as error:
        msg = f"The parameters of {name}.forward cannot be read ({said(error)})."
        raise InvalidParameterError(msg) from error
    open_ended = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    named = [p for p in parameters if p.kind not in open_ended]
    required = [p.name for p in named if p.default is p.empty]
    if not required:
        msg = (
            f"{name}.forward has no parameter that denseflip can fill. Wrap it in a module with "
            "forward(self, x, edge_index, batch) that calls it."
        )
        raise InvalidParameterError(msg)
    optional = [p.name for p in named if p.default is not p.empty]
    return roles_of(required, optional, f"{name}.forward")


def _check_mode(module: Any) -> None:
    training = [name for name, part in module.named_modules() if part.training]
    if training:
        which = "" if training[0] == "" else f" (its part {training[0]!r})"
        msg = (
            f"The module is in training mode{which}: dropout and batch normalisation would change "
            "its answers from one query to the next. Call model.eval() first."
        )
        raise OracleError(msg)


def _check_memory(module: Any) -> None:
    """Refuse layers that cache the edges of the first graph and would ignore all others."""
    for name, part in module.named_modules():
        if getattr(part, "cached", False) is True:
            msg = (
                f"The layer {name!r} has cached=True: it keeps the edges of the first graph it "
                "sees, so edits would have no effect. Create it with cached=False."
            )
            raise InvalidParameterError(msg)


def _moved(module: Any, device: str | None) -> Any:
    """The module, or a copy of it on another device."""
    import torch

    if device is None:
        return module
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        place = torch.device(device)
    except RuntimeError as error:
        known = ("auto", "cpu", "cuda", "cuda:0", "mps")
        raise UnknownNameError("device", str(device), known, parameter="device") from error
    some = next(module.parameters(), None)
    if some is None or some.device == place:
        return module
    try:
        return copy.deepcopy(module).to(place)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        msg = f"The device {device!r} cannot be used here: {said(error)}. Use device='cpu'."
        raise InvalidParameterError(msg, parameter="device") from error


def _as_batch(given: Mapping[str, Any], n_graphs: int) -> Any:
    """A batch of graphs as PyTorch Geometric's `Batch`."""
    import torch

    try:
        from torch_geometric.data import Batch
    except ImportError as error:
        raise MissingExtraError("torch_geometric", "gnn") from error
    batch = given["batch"]
    counts = torch.bincount(batch, minlength=n_graphs)
    ptr = torch.cat((counts.new_zeros(1), counts.cumsum(0)))
    return Batch(x=given["x"], edge_index=given["edge_index"], batch=batch, ptr=ptr)
