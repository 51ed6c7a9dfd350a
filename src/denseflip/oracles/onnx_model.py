"""An ONNX model as an oracle, through onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.errors import (
    FileFormatError,
    InvalidParameterError,
    MissingExtraError,
    OracleError,
    said,
)
from denseflip.oracles.neural import NetworkOracle
from denseflip.oracles.protocol import ClassNames
from denseflip.oracles.tensors import roles_of

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
    features, output, max_batch, class_names : as in `as_oracle`.
    """

    who = "The ONNX model"

    def __init__(
        self,
        model: Any,
        *,
        features: Any = None,
        output: Any = None,
        max_batch: int | None = None,
        class_names: ClassNames | None = None,
    ) -> None:
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
        super().__init__(
            roles,
            features=features,
            output=output,
            max_batch=max_batch,
            class_names=class_names,
        )

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
