"""The kinds of oracle that words can mean beside a function: ONNX files and services."""

from __future__ import annotations

from typing import Any

from denseflip.oracles.adapt import parse_options
from denseflip.oracles.open import OracleKind, register_oracle_kind
from denseflip.oracles.protocol import Oracle

_ONNX = "onnx:"
_ONNX_OPTIONS = ("features", "output", "max_batch", "class_names")


def _open_onnx(text: str, *, dataset: Any, input: str, batch: bool) -> Oracle:
    from denseflip.oracles.onnx_model import OnnxOracle

    path, _, query = text.removeprefix(_ONNX).partition("?")
    return OnnxOracle(path, **parse_options(text, query, _ONNX_OPTIONS))


def _open_service(text: str, *, dataset: Any, input: str, batch: bool) -> Oracle:
    from denseflip.oracles.service import open_service

    return open_service(text)


ONNX = register_oracle_kind(
    OracleKind(
        name="onnx",
        summary="a network in an ONNX file; how its nodes are described behind the question mark",
        words=("onnx:FILE?features=NAME",),
        example="onnx:network.onnx?features=degree",
        matches=lambda text: text.startswith(_ONNX),
        open=_open_onnx,
    )
)
SERVICE = register_oracle_kind(
    OracleKind(
        name="service",
        summary="a classifier behind HTTP; its token in the environment",
        words=("http://HOST/PATH", "https://HOST/PATH"),
        example="http://127.0.0.1:8765/predict",
        matches=lambda text: text.startswith(("http://", "https://")),
        open=_open_service,
    )
)
