"""Kinds of oracle registered by this package: presets by name, and files of trained classifiers."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from denseflip.classifiers.persist import CARD, SUFFIX, load_oracle
from denseflip.classifiers.presets import PRESET_WORDS, PRESETS, fit_oracle
from denseflip.errors import MissingInputError, TooLargeError
from denseflip.limits import open_zip
from denseflip.oracles.open import OracleKind, register_oracle_kind
from denseflip.oracles.protocol import Oracle


def _open_preset(text: str, *, dataset: Any, input: str, batch: bool) -> Oracle:
    if dataset is None:
        msg = f"The preset {text!r} must be trained on a data set, but none is given (dataset=…)."
        raise MissingInputError(msg, parameter="dataset")
    return fit_oracle(dataset, text)


def _is_classifier_file(text: str) -> bool:
    """Whether the text names a file of `denseflip train`: by its ending, else by its content."""
    path = Path(text)
    if path.suffix.lower() == SUFFIX:
        return True
    try:
        if not path.is_file() or not zipfile.is_zipfile(path):
            return False
        with open_zip(path, text) as archive:
            return CARD in archive.namelist()
    except TooLargeError:
        raise
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def _open_weighted(text: str, *, dataset: Any, input: str, batch: bool) -> Oracle:
    from denseflip.classifiers.presets import fit_weighted
    from denseflip.oracles.open import import_value
    from denseflip.oracles.weighted import known_weights, weighted_oracle

    if dataset is None:
        msg = f"{text!r} needs the weights of a data set, but no data set is given (dataset=…)."
        raise MissingInputError(msg, parameter="dataset")
    known_weights(dataset)  # raises before anything is imported
    what = text.removeprefix(_WEIGHTS)
    return (
        fit_weighted(dataset)
        if what == "logistic"
        else weighted_oracle(import_value(what), dataset)
    )


_WEIGHTS = "weights:"
PRESET = register_oracle_kind(
    OracleKind(
        name="preset",
        summary="a preset, trained on the data set as by `denseflip train`",
        words=tuple(PRESETS),
        aliases=PRESET_WORDS,
        example="edges-svm",
        matches=PRESETS.__contains__,
        open=_open_preset,
    )
)
FILE = register_oracle_kind(
    OracleKind(
        name="file",
        summary="a classifier in a file, written by `denseflip train`",
        words=(f"FILE{SUFFIX}",),
        example=f"study{SUFFIX}",
        matches=_is_classifier_file,
        open=lambda text, **_: load_oracle(text),
    )
)
WEIGHTED = register_oracle_kind(
    OracleKind(
        name="weighted",
        summary="a classifier of weighted matrices: trained here, or your own",
        words=("weights:logistic", "weights:module:function"),
        example="weights:logistic",
        matches=lambda text: text.startswith(_WEIGHTS),
        open=_open_weighted,
    )
)
