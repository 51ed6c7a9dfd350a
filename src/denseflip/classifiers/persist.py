"""Classifiers in files without pickle.

A file is a zip with up to three members: ``card.json`` (format, version, features, classes, card),
which is human-readable; ``estimator.skops``, which skops loads from a list of types it may build
(other types are refused before anything is built); and, for estimators that predict from plain
arrays, ``head.npz`` with those arrays. With them the estimator stays unopened until it is accessed,
so that predicting needs no scikit-learn.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from denseflip.checks import check_new_file
from denseflip.classifiers.features import FEATURES, TypeFeatures, features_from_dict
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.heads import LazyEstimator, head_from_parts, head_to_parts
from denseflip.errors import FileFormatError, InvalidParameterError, TooLargeError, shown
from denseflip.files import whole_file
from denseflip.graph import Graph
from denseflip.limits import (
    check_header,
    check_zip,
    open_zip,
    read_json,
    read_member,
    reading,
    repack_zip,
)
from denseflip.serialise import Serialisable

FORMAT = "denseflip-oracle"
VERSION = 1
SUFFIX = ".dfo"
_WHAT = "a denseflip classifier"
_QUICK = 400  # nodes of a graph that any classifier evaluates quickly
CARD, _ESTIMATOR, _HEAD = "card.json", "estimator.skops", "head.npz"

# Besides what skops itself trusts (estimators of scikit-learn, NumPy arrays): the compiled parts
# that fitted neighbours and trees hold. None of them runs code from the file.
TRUSTED = (
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.metrics._dist_metrics.ManhattanDistance64",
    "sklearn.metrics._dist_metrics.MinkowskiDistance64",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.tree._tree.Tree",
)


@dataclass(frozen=True)
class Header(Serialisable, named="the card of a classifier", partial=True):
    """What ``card.json`` holds besides format and version.

    Attributes
    ----------
    features : the features, as `Features.to_dict` describes them.
    class_names, n_nodes, card : those of the `FittedOracle`.
    written_with : versions of the packages that wrote the estimator.
    head : what the arrays of ``head.npz`` are, and the estimator they belong to.
    """

    features: Mapping[str, Any]
    class_names: tuple[str, ...]
    n_nodes: int
    card: Mapping[str, Any]
    written_with: Mapping[str, str]
    head: Mapping[str, Any] | None = None


def write_oracle(oracle: FittedOracle, path: str | Path, *, force: bool = False) -> Path:
    """Write a classifier and its card; see `FittedOracle.save`."""
    import sklearn
    import skops
    import skops.io

    target = check_new_file(path, force=force)
    described = oracle.features.to_dict()
    if described.get("name") not in (*FEATURES, TypeFeatures.name):
        msg = (
            f"Your own features ({oracle.features.name!r}) cannot be saved: the file could not be "
            f"read back without their code. Features that can be saved: {', '.join(FEATURES)}."
        )
        raise InvalidParameterError(msg)
    try:
        estimator = skops.io.dumps(oracle.estimator)
    except Exception as error:  # skops raises several kinds for what it cannot write
        msg = f"The estimator {type(oracle.estimator).__name__} cannot be saved safely: {error}"
        raise InvalidParameterError(msg) from error
    members = {_ESTIMATOR: estimator}
    parts, head = head_to_parts(oracle.head), None
    if parts is not None:
        head, arrays = parts
        members[_HEAD] = _pack(arrays)
        head = {
            **head,
            "classes": list(oracle.classes),
            "estimator": oracle.description,
            "estimator_sha256": hashlib.sha256(estimator).hexdigest(),
        }
    header = Header(
        described,
        oracle.class_names,
        oracle.n_nodes,
        oracle.card,
        {"scikit-learn": sklearn.__version__, "skops": skops.__version__},
        head,
    )
    card = {"format": FORMAT, "version": VERSION, **header.to_dict()}
    if head is None:
        del card["head"]
    with whole_file(target) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CARD, json.dumps(card, indent=2, ensure_ascii=False))
        for name, data in members.items():
            archive.writestr(name, data)
    return target


def load_oracle(path: str | Path, *, trusted: Iterable[str] = ()) -> FittedOracle:
    """Read a classifier written by `FittedOracle.save`.

    Parameters
    ----------
    path : the file.
    trusted : further types (full dotted names) that the file may hold, for an estimator of your
        own or of another library. Name only types whose code you trust.

    Raises
    ------
    FileFormatError
        If the file is missing, damaged, of another kind or version, or holds a type that is
        neither known to be safe nor in `trusted`; no code of the file was run then. If the file
        holds the arrays to predict from, its estimator is checked only when it is accessed.
    """
    source = Path(path)
    with reading(source, _WHAT, "Files of this kind are written by `denseflip train`."):
        with open_zip(source, str(source)) as archive:
            missing = {CARD, _ESTIMATOR} - set(archive.namelist())
            if missing:
                msg = f"{source}: not a denseflip classifier (no {', '.join(sorted(missing))})."
                raise FileFormatError(msg)
            check_zip(archive, str(source))
            card = read_json(read_member(archive, CARD, str(source)), f"{source}: its card")
            check_header(card, source, _WHAT, FORMAT, VERSION, "retrain the classifier")
            header = Header.from_dict(card)
            data = read_member(archive, _ESTIMATOR, str(source))
            arrays = None
            if _HEAD in archive.namelist():
                arrays = repack_zip(read_member(archive, _HEAD, str(source)), str(source))
        build = partial(_load_estimator, data, (*TRUSTED, *trusted), source)
        lazy = _lazy_estimator(header, data, arrays, build)
        oracle = FittedOracle(
            features_from_dict(header.features),
            lazy or build(),
            header.class_names,
            header.n_nodes,
            _check_card(dict(header.card)),
            source,
        )
        if 0 <= header.n_nodes <= _QUICK:  # refuses parts that do not fit together
            made = oracle.features
            plain = Graph.from_edges(header.n_nodes, [])
            oracle.predict([made.blank() if isinstance(made, TypeFeatures) else plain])
        return oracle


def _check_card(card: dict[str, Any]) -> dict[str, Any]:
    """Check the parts of the card that are read by name."""
    for part in ("dataset", "evaluation"):
        if not isinstance(card.get(part, {}), (dict, NoneType)):
            msg = f"its card's {part} is {shown(card[part])}"
            raise TypeError(msg)
    if card.get("dataset", {}) is None:
        del card["dataset"]
    return card


def _pack(arrays: Mapping[str, Any]) -> bytes:
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()


def _lazy_estimator(
    header: Header, data: bytes, arrays: bytes | None, build: Any
) -> LazyEstimator | None:
    """The head of a file; None without one, or if it does not belong to the file's estimator."""
    described = header.head
    if arrays is None or described is None:
        return None
    if described["estimator_sha256"] != hashlib.sha256(data).hexdigest():
        return None
    with np.load(io.BytesIO(arrays), allow_pickle=False) as packed:
        head = head_from_parts(described, packed)
    classes = tuple(int(c) for c in described["classes"])
    return LazyEstimator(head, classes, str(described["estimator"]), build)


def _load_estimator(data: bytes, trusted: tuple[str, ...], source: Path) -> Any:
    import skops.io

    try:
        data = repack_zip(data, str(source))
        found = skops.io.get_untrusted_types(data=data)
    except (FileFormatError, TooLargeError):
        raise
    except Exception as error:  # a damaged archive can fail in any way
        msg = f"{source}: the estimator inside cannot be read ({type(error).__name__}: {error})."
        raise FileFormatError(msg) from error
    unknown = sorted(set(found) - set(trusted))
    if unknown:
        msg = (
            f"{source}: contains types that are not known to be safe: {', '.join(unknown)}. "
            f"Nothing "
            "was loaded. If you trust their source, name them: load_oracle(path, trusted=[…])."
        )
        raise FileFormatError(msg)
    allowed = [t for t in found if t in trusted]
    try:
        return skops.io.loads(data, trusted=allowed)
    except Exception as error:  # a damaged or foreign estimator fails in many ways
        msg = (
            f"{source}: the estimator inside cannot be rebuilt ({type(error).__name__}: {error}). "
            "It may come from another version of scikit-learn: retrain the classifier."
        )
        raise FileFormatError(msg) from error
