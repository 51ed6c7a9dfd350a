"""A torch or PyTorch Geometric module, or an ONNX model, as an oracle."""

from __future__ import annotations

import copy
import inspect
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Label
from denseflip.errors import (
    FileFormatError,
    GradientError,
    InvalidParameterError,
    MissingExtraError,
    OracleError,
    UnknownNameError,
    said,
)
from denseflip.graph import Graph
from denseflip.oracles.gradients import PairGradient
from denseflip.oracles.neural import NetworkOracle
from denseflip.oracles.tensors import EDGE_ATTR_IF_ANY, roles_of


class TorchOracle(NetworkOracle):
    """A torch module as a classifier: the highest score is the label; built by `as_oracle`.

    The module runs without gradients in evaluation mode. A module in training mode is refused,
    here and at every query. Its inputs are matched by their names in ``forward``; see `as_oracle`
    for the rest.

    Parameters
    ----------
    module : the module. It is not changed; on another `device` a copy of it is used.
    device : as in `as_oracle`.
    options : features, output, max_batch and class_names, as in `as_oracle`.
    """

    who = "The module"

    def __init__(self, module: Any, *, device: str | None = None, **options: Any) -> None:
        _check_mode(module)
        _check_memory(module)
        super().__init__(_inputs_of(module), **options)
        self.module = _moved(module, device)
        if self.place_and_type()[0].type != "cpu":
            self._clock = time.perf_counter  # the processor does not do the work
        self._as_matrix: bool | None = None  # whether edges are passed as a sparse matrix
        self._plainly = False
        self.gradient_route: str | None = None  # how pairs get weights; found at the first gradient

    def _call(self, arrays: Mapping[str, npt.NDArray[Any]], n_graphs: int) -> Any:
        import torch

        _check_mode(self.module)
        where, real = self.place_and_type()
        given = {}
        for name, array in arrays.items():
            tensor = torch.as_tensor(array, device=where)
            given[name] = tensor.to(real) if tensor.is_floating_point() else tensor
        if self._as_matrix is None and "edge_index" in self.roles.values():
            self._as_matrix = self._prefers_matrix(given)
        if self._as_matrix and not self._plainly:
            given[self._edges] = edge_matrix(given[self._edges], len(given[self._nodes]))
        with torch.no_grad():
            if self._takes_data:
                return self.module(as_batch(given, n_graphs))
            return self.module(**given)

    @property
    def _takes_data(self) -> bool:
        return "data" in self.roles.values()

    @property
    def _edges(self) -> str:
        return next(name for name, role in self.roles.items() if role == "edge_index")

    @property
    def _nodes(self) -> str:
        return next(name for name, role in self.roles.items() if role in ("x", "batch"))

    def _prefers_matrix(self, given: Mapping[str, Any]) -> bool:
        """Whether the layers take a sparse matrix for edges, agree exactly, and are faster so.

        Only sums over neighbours: there a matrix product holds no row per edge.
        """
        import torch

        from denseflip.oracles.torch_gradient import is_plain, layers_of

        layers = layers_of(self.module)
        if not layers or not all(map(is_plain, layers)) or "edge_weight" in self.roles.values():
            return False
        if any(role.startswith("edge_attr") and name in given for name, role in self.roles.items()):
            return False
        if not {"x", "batch"} & set(self.roles.values()) or self.place_and_type()[0].type != "cpu":
            return False
        other = {**given, self._edges: edge_matrix(given[self._edges], len(given[self._nodes]))}
        try:
            with torch.no_grad():
                a, b = self.module(**given), self.module(**other)
                if not isinstance(a, torch.Tensor) or not torch.equal(a, b):
                    return False
                plain, matrix = (self._seconds(some) for some in (given, other))
        except Exception:  # the module uses edge_index in another way
            return False
        return matrix < plain

    def _seconds(self, given: Mapping[str, Any]) -> float:
        """The least time of a few calls."""
        times = []
        for _ in range(3):
            began = self._clock()
            self.module(**given)
            times.append(self._clock() - began)
        return min(times)

    def alone(self, graph: Graph) -> npt.NDArray[Any]:
        """Scores of one graph, with edges as the module was written for."""
        self._plainly = True
        try:
            return super().alone(graph)
        finally:
            self._plainly = False

    def place_and_type(self) -> tuple[Any, Any]:
        """The device and the type of the module's numbers."""
        import torch

        some = next(self.module.parameters(), None)
        where = torch.device("cpu") if some is None else some.device
        real = some.dtype if some is not None and some.is_floating_point() else torch.float32
        return where, real

    @property
    def gradient(self) -> Callable[[Graph, Label], PairGradient]:
        """How much flipping each pair changes the margin of a label: ``gradient(graph, label)``.

        By autograd, to first order; see `denseflip.oracles.torch_gradient`. Missing if the module
        returns labels only.
        """
        if self.output == "labels" or self._kind == "labels":
            msg = f"{self.who} returns labels, which have no gradient."
            raise AttributeError(msg)
        if "edge_attr" in self.roles.values():
            msg = f"{self.who} takes features of edges, so it has no gradient by pair."
            raise AttributeError(msg)
        return self._gradient

    def _gradient(self, graph: Graph, label: Label) -> PairGradient:
        from denseflip.oracles.torch_gradient import torch_gradient

        _check_mode(self.module)
        optional = self._takes_data or EDGE_ATTR_IF_ANY in self.roles.values()
        if optional and graph.types is not None and graph.types.new_edge is not None:
            msg = f"{self.who} takes features of edges, so it has no gradient by pair."
            raise GradientError(msg)
        if self._kind is None:
            self._look_at(graph)
        if not isinstance(label, int) or not 0 <= label < self._width:
            msg = f"{self.who} has no class {label!r}; its labels are 0 to {self._width - 1}."
            raise GradientError(msg)
        return torch_gradient(self, graph, int(label))

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


def _is_training(module: Any) -> bool:
    return module.training or any(map(_is_training, module.children()))


def _check_mode(module: Any) -> None:
    if not _is_training(module):
        return
    training = [name for name, part in module.named_modules() if part.training]
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


def edge_matrix(ends: Any, n_nodes: int) -> Any:
    """Edges as a sparse matrix in rows (CSR): rows receive, columns send.

    SciPy's conversion keeps the order of the edges of a row, and `inputs_of` lists the senders of a
    node in increasing order, so nothing is sorted.
    """
    import torch
    from scipy.sparse import coo_array

    senders, receivers = ends.numpy()
    ones = np.ones(len(senders), dtype=np.float32)
    rows = coo_array((ones, (receivers, senders)), shape=(n_nodes, n_nodes)).tocsr()
    parts = (rows.indptr, rows.indices, rows.data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that CSR is new in torch
        return torch.sparse_csr_tensor(*map(torch.from_numpy, parts), size=(n_nodes, n_nodes))


def as_batch(given: Mapping[str, Any], n_graphs: int) -> Any:
    """A batch of graphs as PyTorch Geometric's `Batch`."""
    import torch

    try:
        from torch_geometric.data import Batch
    except ImportError as error:
        raise MissingExtraError("torch_geometric", "gnn") from error
    batch = given["batch"]
    counts = torch.bincount(batch, minlength=n_graphs)
    ptr = torch.cat((counts.new_zeros(1), counts.cumsum(0)))
    more = {"edge_attr": given["edge_attr"]} if "edge_attr" in given else {}
    return Batch(x=given["x"], edge_index=given["edge_index"], batch=batch, ptr=ptr, **more)


# ---- ONNX ---------------------------------------------------------------------------------------


_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
}


class OnnxOracle(NetworkOracle):
    """An ONNX model as a classifier: the highest score is the label of a graph.

    Built by `as_oracle` or `open_oracle`. Inputs are matched by name, as those of a torch module.
    An ONNX file holds a network, and opening it runs no code.

    Parameters
    ----------
    model : the file, or an ``onnxruntime.InferenceSession``.
    options : features, output, max_batch and class_names, as in `as_oracle`.
    """

    who = "The ONNX model"

    def __init__(self, model: Any, **options: Any) -> None:
        self.source: Any = model
        if isinstance(model, (str, Path)):
            self._session = _open(Path(model))
        else:
            self._session = model
            found = getattr(model, "_model_path", None) or getattr(model, "_model_bytes", None)
            self.source = found
        inputs = self._session.get_inputs()
        self._types = {i.name: _type_of(i) for i in inputs}
        roles = roles_of([i.name for i in inputs], [], self.who)
        for i in inputs:
            if roles[i.name] == "x or adjacency" and len(i.shape) != 3:
                msg = (
                    f"The ONNX model's input {i.name!r} has {len(i.shape)} dimensions; one array "
                    "for graphs has 3, (graphs, nodes, nodes). Export it with inputs x, edge_index "
                    "and batch, or adjacency."
                )
                raise InvalidParameterError(msg)
        self._at_most = self._fixed = _fixed_batch(inputs, roles)
        super().__init__(roles, **options)

    def _call(self, arrays: Mapping[str, npt.NDArray[Any]], n_graphs: int) -> Any:
        given = {name: a.astype(self._types[name], copy=False) for name, a in arrays.items()}
        lacking = 0 if self._fixed is None else self._fixed - n_graphs
        if lacking > 0:  # a fixed batch size is filled up with copies of the last graph
            given = {
                name: np.concatenate((a, np.repeat(a[-1:], lacking, axis=0)))
                for name, a in given.items()
            }
        try:
            returned = self._session.run(None, given)
        except Exception as error:
            why = " ".join(said(error, 300).split())
            msg = f"The ONNX model failed: {why} It received {self.given}."
            raise OracleError(msg) from error
        if lacking > 0:
            returned = [part[:n_graphs] for part in returned]
        return returned

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the session, which cannot be pickled; it is opened again on arrival."""
        state = dict(self.__dict__)
        del state["_session"]
        if self.source is None:
            msg = "The source of this ONNX session is not known. Pass the path of the file instead."
            raise InvalidParameterError(msg)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._session = _open(self.source if isinstance(self.source, bytes) else Path(self.source))

    def __repr__(self) -> str:
        name = "bytes" if isinstance(self.source, bytes) else Path(str(self.source)).name
        return f"OnnxOracle({name!r}, {self.given})"


def _open(source: Path | bytes) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("onnxruntime", "onnx") from error
    if isinstance(source, Path) and not source.is_file():
        msg = f"There is no ONNX file {source}."
        raise InvalidParameterError(msg)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # for sums that do not depend on the machine's load
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(
            source if isinstance(source, bytes) else str(source),
            options,
            providers=["CPUExecutionProvider"],
        )
    except Exception as error:
        name = "These bytes" if isinstance(source, bytes) else str(source)
        msg = f"{name}: not an ONNX model that onnxruntime can run ({said(error, 200)})."
        raise FileFormatError(msg) from error


def _type_of(given: Any) -> Any:
    if given.type not in _TYPES:
        msg = f"The ONNX model's input {given.name!r} is a {given.type}; denseflip passes numbers."
        raise InvalidParameterError(msg)
    return _TYPES[given.type]


def _fixed_batch(inputs: Any, roles: Mapping[str, str]) -> int | None:
    """The number of graphs per call, if it was fixed at export."""
    fixed: set[int] = set()
    for i in inputs:
        dimensions = [d for d in i.shape if isinstance(d, int)]
        if roles[i.name] in ("adjacency", "x or adjacency"):
            fixed |= {i.shape[0]} if isinstance(i.shape[0], int) else set()
        elif roles[i.name] == "edge_index" and len(dimensions) > 1:
            msg = (
                f"The ONNX model was exported for graphs with exactly {i.shape[1]} edges (both "
                "directions), but edits change the number of edges. Export it with dynamic axes: "
                "dynamic_axes={'x': {0: 'nodes'}, 'edge_index': {1: 'edges'}, 'batch': {0: "
                "'nodes'}}."
            )
            raise InvalidParameterError(msg)
    return fixed.pop() if fixed else None
