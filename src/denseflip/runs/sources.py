"""The data set and the oracle of a task: what identifies each, and how a worker gets it.

`DataSpec` and `OracleSpec` are made from names, files or objects by the process that plans a run,
and turned back into a `Dataset` and an oracle by `load_data` and `load_oracle_of` wherever the work
is done. Classifiers other than presets are registered in `TRAINERS`.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from denseflip.checks import visible
from denseflip.datasets import Dataset, load_dataset
from denseflip.errors import (
    ConfigError,
    DatasetError,
    InvalidParameterError,
    UnknownNameError,
    shown,
)
from denseflip.oracles.protocol import Oracle
from denseflip.runs.identity import dataset_digest

if TYPE_CHECKING:
    from denseflip.classifiers.evaluation import Evaluation

T = TypeVar("T")


@dataclass(frozen=True)
class DataSpec:
    """A data set: its name, the digest of its content, and where to load it from.

    ``given`` is the loaded data set, if there is one. It is sent to other processes only if they
    cannot load it from ``ref``.
    """

    name: str
    digest: str
    ref: str = field(default="", compare=False)  # the location is not part of the identity
    given: Dataset | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "given": None} if self.ref else self.__dict__

    @classmethod
    def of(cls, dataset: Dataset, ref: str, name: str | None = None) -> Self:
        """The spec of a loaded data set."""
        return cls(name or dataset.name, dataset_digest(dataset), ref)


@dataclass(frozen=True)
class OracleSpec:
    """A classifier.

    Attributes
    ----------
    name : its name in tables.
    kind : ``preset`` (trained on the data set), ``file`` (saved by `denseflip train`),
        ``function`` (``module:function``), ``words`` (anything else for `open_oracle`) or
        ``given`` (a Python object).
    digest : of the file, of the function's source file, or of the object.
    options : preset name, seed, input format of the function …
    ref : the path, the ``module:function`` or the words.
    given : the object.
    """

    name: str
    kind: str
    digest: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    ref: str = field(default="", compare=False)
    given: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", visible(self.name))

    @property
    def identity(self) -> dict[str, Any]:
        """What a result depends on, in plain JSON-ready form."""
        return {
            "name": self.name,
            "kind": self.kind,
            "digest": self.digest,
            "options": dict(self.options),
        }


@dataclass(frozen=True)
class Trainer:
    """A classifier that is trained on a data set but is not a preset of `denseflip train`.

    Attributes
    ----------
    fit : takes a data set and returns the oracle.
    evaluate : evaluates it; takes the data set, and the settings of `evaluate` by name.
    """

    fit: Callable[[Dataset], Oracle]
    evaluate: Callable[..., Evaluation]


PLUG_INS = ("denseflip.paper.paper_specs",)  # imported when a name is unknown
TRAINERS: dict[str, Trainer] = {}


def register_trainer(name: str, trainer: Trainer) -> None:
    """Add a classifier that experiments can name like a preset."""
    TRAINERS[name] = trainer


def has_entry(registry: Mapping[str, T], name: str) -> bool:
    """Whether a registry has this name; imports the plug-ins if it is missing."""
    if name not in registry:
        for module in PLUG_INS:
            importlib.import_module(module)
    return name in registry


def find_entry(registry: Mapping[str, T], name: str, kind: str) -> T:
    """The entry of a registry by its name; `UnknownNameError` if no plug-in adds it either."""
    if not has_entry(registry, name):
        raise UnknownNameError(kind, name, registry)
    return registry[name]


def data_spec(ref: str, name: str | None = None) -> tuple[DataSpec, Dataset]:
    """Load a data set by name or path; return its spec and the data set."""
    path = Path(ref).expanduser()
    is_file = path.is_file()
    place = str(path.resolve()) if is_file else ref
    dataset = load_dataset(place)
    return DataSpec.of(dataset, place, name or (dataset.name if is_file else ref)), dataset


def load_data(spec: DataSpec) -> Dataset:
    """The data set of a spec.

    Raises
    ------
    DatasetError
        If the content is not the one that the spec was made for.
    """
    if spec.given is not None:
        return spec.given
    dataset = load_dataset(spec.ref or spec.name)
    if dataset_digest(dataset) != spec.digest:
        msg = (
            f"The content of data set {spec.name!r} ({spec.ref}) has changed since the run was "
            "planned. All workers must see the same files. If the data has changed, start again."
        )
        raise DatasetError(msg)
    return dataset


def is_trained(name: str) -> bool:
    """Whether this names a classifier that is trained on the data set."""
    from denseflip.classifiers.presets import PRESETS

    return name in PRESETS or has_entry(TRAINERS, name)


def preset_oracle(preset: str, *, name: str | None = None, seed: int = 0) -> OracleSpec:
    """A classifier trained on the data set: a preset of `denseflip train`, or one of `TRAINERS`."""
    if not is_trained(preset):
        from denseflip.classifiers.presets import PRESET_WORDS, PRESETS

        raise UnknownNameError("preset", preset, (*PRESETS, *TRAINERS), aliases=PRESET_WORDS)
    return OracleSpec(name or preset, "preset", options={"preset": preset, "seed": seed})


def file_oracle(path: str, *, name: str | None = None) -> OracleSpec:
    """A classifier saved by `denseflip train`."""
    source = Path(path).expanduser()
    if not source.is_file():
        msg = f"{source}: no such classifier file."
        raise ConfigError(msg)
    return OracleSpec(name or source.stem, "file", _file_digest(source), ref=str(source.resolve()))


def function_oracle(
    text: str, *, name: str | None = None, input: str = "auto", batch: bool = False
) -> OracleSpec:
    """A user's own classifier, as ``module:function``.

    The digest is that of the module's source file: results are computed again when it changes. What
    the module itself imports or reads is not checked.
    """
    from denseflip.oracles.adapt import INPUTS
    from denseflip.oracles.open import see_current_folder

    module, colon, function = text.partition(":")
    if not colon or not module or not function:
        msg = f"An oracle function must be given as module:function; got {text!r}."
        raise ConfigError(msg)
    if input not in INPUTS:
        raise UnknownNameError("oracle input", input, INPUTS)
    see_current_folder()
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        found = None
    if found is None:
        msg = f"Oracle {text}: no module {module!r} in this folder or installed."
        raise ConfigError(msg)
    options = {"function": text, "input": input, "batch": batch}
    return OracleSpec(name or text, "function", _file_digest(found.origin), options, ref=text)


def load_oracle_of(spec: OracleSpec, dataset: Dataset) -> Oracle:
    """The oracle of a spec; a preset is trained on the data set."""
    if spec.kind == "preset":
        from denseflip.classifiers.presets import PRESETS, fit_oracle

        preset = spec.options["preset"]
        if preset not in PRESETS:
            return find_entry(TRAINERS, preset, "preset").fit(dataset)
        return fit_oracle(dataset, preset=preset, seed=spec.options["seed"])
    if spec.kind == "file":
        from denseflip.classifiers.persist import load_oracle

        return load_oracle(spec.ref)
    if spec.kind == "given":
        from denseflip.oracles.adapt import coerce_oracle

        return coerce_oracle(spec.given)
    if spec.kind == "words":
        from denseflip.oracles.open import open_oracle

        return open_oracle(spec.ref, dataset=dataset, **spec.options)
    from denseflip.oracles.open import import_oracle

    how = {"batch": spec.options["batch"], "nodes": dataset.nodes}
    return import_oracle(spec.ref, spec.options["input"], **how)


def evaluate_oracle_of(spec: OracleSpec, dataset: Dataset, **settings: Any) -> Evaluation | None:
    """Evaluate an oracle on held-out graphs; None if it is not trained here."""
    if spec.kind != "preset":
        return None
    from denseflip.classifiers.crossval import evaluate
    from denseflip.classifiers.presets import PRESETS

    preset = spec.options["preset"]
    if preset not in PRESETS:
        return find_entry(TRAINERS, preset, "preset").evaluate(dataset, **settings)
    return evaluate(dataset, preset, **settings)


def data_of(dataset: Dataset | str | Path) -> DataSpec:
    """The spec of a loaded data set, or of its name or file."""
    if isinstance(dataset, Dataset):
        return DataSpec(dataset.name, dataset_digest(dataset), given=dataset)
    if isinstance(dataset, (str, Path)):
        spec, loaded = data_spec(str(dataset))
        return DataSpec(spec.name, spec.digest, spec.ref, given=loaded)
    msg = (
        f"dataset must be a Dataset, its name or its file; got {shown(dataset)}. Make one of your "
        "graphs: Dataset(name, [as_graph(g) for g in graphs], labels, class_names), with "
        "denseflip.graph.as_graph."
    )
    raise InvalidParameterError(msg, parameter="dataset")


def oracle_of_words(text: str, *, input: str = "auto", batch: bool = False) -> OracleSpec:
    """The spec of an oracle given in any form that `open_oracle` takes.

    The digest is that of the file or of the module's source. A service behind an address has none:
    a store cannot know whether it has changed.
    """
    from denseflip.oracles.open import kind_of

    kind = kind_of(text)
    if kind.name == "file":
        return file_oracle(text)
    if kind.name == "function":
        return function_oracle(text, input=input, batch=batch)
    if is_trained(text):  # once, by the process that starts the workers
        return preset_oracle(text)
    digest = _file_digest(text) or _file_digest(text.partition(":")[2].partition("?")[0])
    return OracleSpec(text, "words", digest, {"input": input, "batch": batch}, text)


def _file_digest(path: str | Path | None) -> str:
    """SHA-256 of a file; empty if there is none."""
    if not path or not Path(path).is_file():
        return ""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
