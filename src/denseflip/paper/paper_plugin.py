"""The oracle kind of the paper: its own classifier, named ``published``."""

from __future__ import annotations

from typing import Any

from denseflip.errors import MissingInputError
from denseflip.oracles.open import OracleKind, register_oracle_kind
from denseflip.oracles.protocol import Oracle

NAME = "published"


def _open(text: str, *, dataset: Any, input: str, batch: bool) -> Oracle:
    from denseflip.paper.published_classifier import published_oracle

    if dataset is None:
        msg = (
            f"The classifier {text!r} of the paper must be trained on a data set. Pass one "
            "(dataset=…)."
        )
        raise MissingInputError(msg, parameter="dataset")
    return published_oracle(dataset)


PUBLISHED = register_oracle_kind(
    OracleKind(
        name=NAME,
        summary="the classifier behind the paper's printed numbers, trained on the data set (D11)",
        words=(NAME,),
        example=NAME,
        matches=NAME.__eq__,
        open=_open,
    )
)
