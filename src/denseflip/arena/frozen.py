"""Frozen classifiers: trained once from a seed, kept in files, identified by their hashes."""

from __future__ import annotations

import copy
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from denseflip.arena import networks
from denseflip.classifiers.persist import load_oracle
from denseflip.classifiers.presets import fit_oracle
from denseflip.datasets import Dataset
from denseflip.errors import ConfigError, UnknownNameError
from denseflip.files import write_whole
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import Session

HELD_OUT = 0.25  # share of the graphs that a classifier does not see in training


def _fit_forest(dataset: Dataset, seed: int) -> Oracle:
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_estimators=50, random_state=seed, n_jobs=1)
    return fit_oracle(dataset, features="regions", estimator=forest, seed=seed)


#: Kind of classifier → how it is trained.
KINDS: Mapping[str, Callable[[Dataset, int], Oracle]] = {
    "linear": lambda dataset, seed: fit_oracle(dataset, "edges-svm", seed=seed),
    "knn": lambda dataset, seed: fit_oracle(dataset, "sf-knn", seed=seed),
    "forest": _fit_forest,
    **{kind: partial(networks.fit_network, kind) for kind in networks.KINDS},
}
#: The kinds that are trained in a second, so that several trainings are cheap.
SMALL = ("linear", "knn", "forest")


@dataclass(frozen=True)
class Card:
    """What is known about a frozen classifier.

    Attributes
    ----------
    data : the data set.
    kind : the kind of classifier.
    training : number of the training: seed of the split, of the initial weights and of the folds.
    file : name of its file.
    sha256 : hash of that file.
    weights : hash of what was learned; the same for every file of the same training.
    held_out : accuracy on the graphs that it was not trained on.
    n_held_out : their number.
    majority : the accuracy of always answering the most frequent class on these graphs.
    training_seconds : duration of the training.
    """

    data: str
    kind: str
    training: int
    file: str
    sha256: str
    weights: str
    held_out: float
    n_held_out: int
    majority: float
    training_seconds: float


@dataclass(frozen=True)
class Frozen:
    """An opened classifier of a kind."""

    kind: str
    oracle: Oracle

    @property
    def is_network(self) -> bool:
        """Whether it is a torch module."""
        return self.kind in networks.KINDS

    def copy(self) -> Frozen:
        """A copy that shares nothing with this one: some explainers leave masks in a module."""
        return Frozen(self.kind, copy.deepcopy(self.oracle) if self.is_network else self.oracle)


def freeze(name: str, dataset: Dataset, kind: str, training: int, folder: Path) -> Card:
    """Train a classifier and write it and its card; reuse the files if both are there and match.

    A quarter of the data set is held out.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of classifier", kind, KINDS)
    stem = f"{''.join(c if c.isalnum() else '-' for c in name)}-{kind}-{training}"
    path = folder / f"{stem}.{'npz' if kind in networks.KINDS else 'dfo'}"
    card_path = folder / f"{stem}.json"
    if path.is_file() and card_path.is_file():
        return read_card(card_path)
    train, test = dataset.split(HELD_OUT, seed=training)
    started = time.perf_counter()
    oracle = KINDS[kind](train, training)
    seconds = time.perf_counter() - started
    folder.mkdir(parents=True, exist_ok=True)
    if kind in networks.KINDS:
        networks.write_network(oracle, kind, path)  # type: ignore[arg-type]
        weights = hash_file(path)
    else:
        from joblib import hash as hash_object

        oracle.save(path, force=True)  # type: ignore[attr-defined]
        weights = hash_object(oracle.estimator, hash_name="sha1")  # type: ignore[attr-defined]
    answers = np.array([answer.label for answer in Session(oracle).query_all(list(test.graphs))])
    truth = test.label_array()
    card = Card(
        data=name,
        kind=kind,
        training=training,
        file=path.name,
        sha256=hash_file(path),
        weights=weights,
        held_out=float(np.mean(answers == truth)),
        n_held_out=len(test),
        majority=float(np.bincount(truth).max() / len(truth)),
        training_seconds=seconds,
    )
    write_whole(card_path, json.dumps(asdict(card), indent=1) + "\n")
    return card


def read_card(path: Path) -> Card:
    """Read the card of a frozen classifier; refuse it if the classifier's file has changed."""
    try:
        card = Card(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        msg = f"{path}: not the card of a frozen classifier ({error}). Delete it to train again."
        raise ConfigError(msg) from error
    now = hash_file(path.parent / card.file)
    if now != card.sha256:
        msg = (
            f"{path.parent / card.file}: its SHA-256 is {now[:12]}…, but the card says "
            f"{card.sha256[:12]}…. Delete both files to train again."
        )
        raise ConfigError(msg)
    return card


def hash_file(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def open_frozen(path: Path, sha256: str) -> Frozen:
    """Open a frozen classifier; refuse another file than the one that was planned with."""
    if hash_file(path) != sha256:
        msg = f"{path}: the classifier has changed since the run was planned."
        raise ConfigError(msg)
    if path.suffix != ".npz":
        kind = path.stem.rsplit("-", 2)[1]
        return Frozen(kind, load_oracle(path))
    return Frozen(*networks.read_network(path))
