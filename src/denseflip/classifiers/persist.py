"""Classifiers in files without pickle.

A file is a zip with two members: ``card.json`` (format, version, features, classes, card), to be
read by anyone, and ``estimator.skops``, which skops loads from a list of types it may build. A
type outside that list is refused before anything is built.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from denseflip.checks import check_new_file
from denseflip.classifiers.features import FEATURES, features_from_dict
from denseflip.classifiers.fitted import FittedOracle
from denseflip.errors import DenseflipError, FileFormatError, InvalidParameterError

FORMAT = "denseflip-oracle"
VERSION = 1
SUFFIX = ".dfo"
CARD, _ESTIMATOR = "card.json", "estimator.skops"

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


def write_oracle(oracle: FittedOracle, path: str | Path, *, force: bool = False) -> Path:
    """Write a classifier and its card; see `FittedOracle.save`."""
    import sklearn
    import skops
    import skops.io

    target = check_new_file(path, force=force)
    described = oracle.features.to_dict()
    if described.get("name") not in FEATURES:
        msg = (
            f"Features of your own ({oracle.features.name!r}) cannot be saved: the file could not "
            f"be read back without their code. Those that can: {', '.join(FEATURES)}."
        )
        raise InvalidParameterError(msg)
    try:
        estimator = skops.io.dumps(oracle.estimator)
    except Exception as error:  # skops raises several kinds for what it cannot write
        msg = f"The estimator {type(oracle.estimator).__name__} cannot be saved safely: {error}"
        raise InvalidParameterError(msg) from error
    header = {
        "format": FORMAT,
        "version": VERSION,
        "features": described,
        "class_names": list(oracle.class_names),
        "n_nodes": oracle.n_nodes,
        "card": dict(oracle.card),
        "written_with": {"scikit-learn": sklearn.__version__, "skops": skops.__version__},
    }
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with (
            os.fdopen(handle, "wb") as out,
            zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            archive.writestr(CARD, json.dumps(header, indent=2, ensure_ascii=False))
            archive.writestr(_ESTIMATOR, estimator)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
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
        neither known to be safe nor in `trusted`; nothing in it has run then.
    """
    source = Path(path)
    if not source.is_file():
        msg = f"{source}: there is no such file."
        raise FileFormatError(msg)
    try:
        with zipfile.ZipFile(source) as archive:
            missing = {CARD, _ESTIMATOR} - set(archive.namelist())
            if missing:
                msg = f"{source}: not a classifier of denseflip (no {', '.join(sorted(missing))})."
                raise FileFormatError(msg)
            header = _check_header(json.loads(archive.read(CARD)), source)
            data = archive.read(_ESTIMATOR)
        estimator = _load_estimator(data, (*TRUSTED, *trusted), source)
        return FittedOracle(
            features_from_dict(header["features"]),
            estimator,
            tuple(str(x) for x in header["class_names"]),
            int(header["n_nodes"]),
            header["card"],
        )
    except FileFormatError:
        raise
    except DenseflipError as error:
        msg = f"{source}: {error}"
        raise FileFormatError(msg) from error
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        msg = (
            f"{source}: cannot be read as a classifier of denseflip ({type(error).__name__}: "
            f"{error}). Files of this kind are written by `denseflip train`."
        )
        raise FileFormatError(msg) from error


def _check_header(header: Any, source: Path) -> dict[str, Any]:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        msg = f"{source}: not a classifier of denseflip (its card does not say {FORMAT!r})."
        raise FileFormatError(msg)
    if header.get("version") != VERSION:
        msg = (
            f"{source}: classifier format version {header.get('version')!r}; this denseflip reads "
            f"version {VERSION}. Upgrade denseflip, or train the classifier again."
        )
        raise FileFormatError(msg)
    return header


def _load_estimator(data: bytes, trusted: tuple[str, ...], source: Path) -> Any:
    import skops.io

    unknown = sorted(set(skops.io.get_untrusted_types(data=data)) - set(trusted))
    if unknown:
        msg = (
            f"{source}: holds types that are not known to be safe: {', '.join(unknown)}. Nothing "
            "was loaded. If you trust their source, name them: load_oracle(path, trusted=[…])."
        )
        raise FileFormatError(msg)
    allowed = [t for t in skops.io.get_untrusted_types(data=data) if t in trusted]
    try:
        return skops.io.loads(data, trusted=allowed)
    except Exception as error:  # a damaged or foreign estimator fails in many ways
        msg = (
            f"{source}: the estimator inside cannot be rebuilt ({type(error).__name__}: {error}). "
            "It may come from another version of scikit-learn: train the classifier again."
        )
        raise FileFormatError(msg) from error
