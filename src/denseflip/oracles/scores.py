"""Interpret the output of a network as scores, probabilities and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidParameterError, OracleError, UnknownNameError

Scores = npt.NDArray[np.float64]

#: What a network may return for a graph.
OUTPUTS = ("logits", "probabilities", "logit", "probability", "labels")
_SUM = 1e-3  # tolerated deviation from 1 of a sum of probabilities
_HALF = 0.5


def check_output(output: Any) -> Any:
    """Check the kind of output."""
    if output is None or callable(output) or output in OUTPUTS:
        return output
    if isinstance(output, str):
        raise UnknownNameError("output", output, OUTPUTS, parameter="output")
    msg = f"output must be one of {', '.join(OUTPUTS)}, or a function; got {output!r:.60}."
    raise InvalidParameterError(msg, parameter="output")


def as_array(returned: Any, output: Any, who: str) -> npt.NDArray[Any]:
    """The output of a network as an array, converted by the user's function if there is one."""
    if callable(output):
        returned = output(returned)
    if isinstance(returned, (tuple, list)) and len(returned) == 1:
        returned = returned[0]
    if isinstance(returned, (tuple, list, dict)):
        kind = type(returned).__name__
        msg = (
            f"{who} returns a {kind} of {len(returned)}, and it is not clear which part is the "
            "answer. Select it: output=lambda returned: returned[0]."
        )
        raise OracleError(msg)
    if hasattr(returned, "detach"):
        returned = returned.detach().cpu()
        if returned.dtype.is_floating_point:
            returned = returned.double()
        returned = returned.numpy()
    array = np.asarray(returned)
    if array.dtype.kind not in "iufb":
        msg = f"{who} returns values of type {array.dtype}; expected numbers, a score per class."
        raise OracleError(msg)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        msg = f"{who} returned {array[~np.isfinite(array)][0]}; a score must be a finite number."
        raise OracleError(msg)
    return array


def kind_of(array: npt.NDArray[Any], n_graphs: int, output: Any, who: str) -> str:
    """Which of `OUTPUTS` an output is, as stated by the user or else inferred."""
    one = array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)
    if array.ndim not in (1, 2) or len(array) != n_graphs:
        hint = ""
        if array.ndim and n_graphs and len(array) > n_graphs:
            hint = " A node classifier must first pool its nodes into one output per graph."
        msg = (
            f"{who} returned an array of shape {array.shape} for {n_graphs} graph(s); expected "
            f"({n_graphs}, classes), one row of scores per graph.{hint}"
        )
        raise OracleError(msg)
    if isinstance(output, str):
        if one != (output in ("logit", "probability", "labels")):
            shape = "(k,) or (k, 1)" if not one else "(k, classes)"
            msg = (
                f"{who} returned shape {array.shape}, which does not match output={output!r}; "
                f"expected the shape {'(k, classes)' if one else shape}."
            )
            raise OracleError(msg)
        return output
    if one and array.dtype.kind in "iub" and not callable(output):
        return "labels"
    if one:
        msg = (
            f"{who} returns one number per graph ({array.ravel()[0]:.4g} for the first), and its "
            "meaning is not clear. State it: output='logit' (class 1 if above 0), 'probability' "
            "(of class 1) or 'labels'."
        )
        raise OracleError(msg, parameter="output")
    return "probabilities" if _look_like_shares(array) else "logits"


def _look_like_shares(array: npt.NDArray[Any]) -> bool:
    return bool(
        array.min() >= 0 and array.max() <= 1 and np.allclose(array.sum(axis=1), 1, atol=1e-5)
    )


def shares_of(array: npt.NDArray[Any], kind: str, who: str) -> Scores:
    """Probabilities, shape (k, classes), of an output of a kind other than `labels`."""
    values = np.asarray(array, dtype=np.float64)
    if kind in ("logit", "probability"):
        ones = values.reshape(len(values))
        if kind == "probability":
            _check_between(ones, who)
            return np.stack((1 - ones, ones), axis=1)
        return _softmax(np.stack((np.zeros(len(ones)), ones), axis=1))
    if kind == "probabilities":
        _check_between(values, who)
        sums = values.sum(axis=1)
        bad = np.flatnonzero(np.abs(sums - 1) > _SUM)
        if len(bad):
            msg = (
                f"{who} returns probabilities that sum to {sums[bad[0]]:.4g}, not to 1 "
                f"({[round(float(p), 4) for p in values[bad[0]]]!r:.80}). If these are not "
                "probabilities, pass output='logits'; otherwise end the model with a softmax."
            )
            raise OracleError(msg, parameter="output")
        return np.asarray(values / sums[:, None])
    return _softmax(values)


def _check_between(values: Scores, who: str) -> None:
    outside = values[(values < -1e-6) | (values > 1 + 1e-6)]
    if len(outside):
        msg = (
            f"{who} returns {outside[0]:.4g} as a probability; it must be between 0 and 1. If "
            "these are not probabilities, pass output='logits' (or 'logit', for one number per "
            "graph)."
        )
        raise OracleError(msg, parameter="output")


def _softmax(values: Scores) -> Scores:
    raised = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def margins(array: npt.NDArray[Any], kind: str) -> Scores:
    """Distance of each output from another label, in the unit of the scores."""
    values = np.asarray(array, dtype=np.float64)
    if kind == "labels":
        return np.full(len(values), np.inf)
    if kind in ("logit", "probability"):
        edge = 0.0 if kind == "logit" else _HALF
        return np.abs(values.reshape(len(values)) - edge)
    if values.shape[1] < 2:
        return np.full(len(values), np.inf)
    top = np.sort(values, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


def positions(array: npt.NDArray[Any], kind: str) -> npt.NDArray[np.int64]:
    """Position of the class of each output; a label is its own position."""
    if kind == "labels":
        return np.asarray(array.reshape(len(array)), dtype=np.int64)
    if kind in ("logit", "probability"):
        edge = 0.0 if kind == "logit" else _HALF
        return np.asarray(array.reshape(len(array)) > edge, dtype=np.int64)
    return np.asarray(array.argmax(axis=1), dtype=np.int64)
