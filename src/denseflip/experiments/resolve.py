"""From words to specs and from specs to things: data sets, oracles and methods of an experiment.

Three small registries hold what an experiment can name: how methods are built (`MAKERS`), what is
reported as d% and C of their results (`READINGS`), and classifiers beside the presets (`TRAINERS`).
A module of `PLUG_INS` adds to them with `register_reading` and `register_trainer`; it is imported
when a name is asked for that is not there.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from denseflip.counterfactual import Counterfactual
from denseflip.datasets import Dataset, load_dataset
from denseflip.errors import ConfigError, DatasetError, UnknownNameError
from denseflip.experiments.object_identity import source_digest
from denseflip.experiments.spec import PLAIN, DataSpec, MethodSpec, OracleSpec, dataset_digest
from denseflip.oracles.protocol import Oracle
from denseflip.search.methods.registry import Method, as_method, make_method
from denseflip.search.methods.user_methods import is_own

if TYPE_CHECKING:
    from denseflip.classifiers.evaluation import Evaluation

T = TypeVar("T")


def _plainly(result: Counterfactual) -> tuple[float, int]:
    return result.relative_distance, result.calls


@dataclass(frozen=True)
class Trainer:
    """A classifier that is made from a data set, but is no preset of `denseflip train`.

    Attributes
    ----------
    fit : from a data set to the oracle.
    evaluate : judges it, called with the data set and the numbers of `ClassifierSpec` by name.
    """

    fit: Callable[[Dataset], Oracle]
    evaluate: Callable[..., Evaluation]


PLUG_INS = ("denseflip.paper.published_profile",)
MAKERS: dict[str, Callable[..., Method]] = {PLAIN: make_method}
READINGS: dict[str, Callable[[Counterfactual], tuple[float, int]]] = {PLAIN: _plainly}
TRAINERS: dict[str, Trainer] = {}


def register_reading(
    name: str,
    make: Callable[..., Method],
    read: Callable[[Counterfactual], tuple[float, int]],
) -> None:
    """Add a reading of the methods.

    Parameters
    ----------
    make : builds a method from its name and parameters, as `make_method` does.
    read : what is reported as d% and C of a result.
    """
    MAKERS[name], READINGS[name] = make, read


def register_trainer(name: str, trainer: Trainer) -> None:
    """Add a classifier that experiments can name like a preset."""
    TRAINERS[name] = trainer


def _known(registry: Mapping[str, T], name: str) -> bool:
    """Whether a registry has this name, the plug-ins' own among them."""
    if name not in registry:
        for module in PLUG_INS:
            importlib.import_module(module)
    return name in registry


def _find(registry: Mapping[str, T], name: str, kind: str) -> T:
    if not _known(registry, name):
        raise UnknownNameError(kind, name, registry)
    return registry[name]


def data_spec(ref: str, name: str | None = None) -> tuple[DataSpec, Dataset]:
    """Load a data set by name or path, and say what it is."""
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
        If what is there now is not what the spec was made for.
    """
    if spec.given is not None:
        return spec.given
    dataset = load_dataset(spec.ref or spec.name)
    if dataset_digest(dataset) != spec.digest:
        msg = (
            f"The data set {spec.name!r} ({spec.ref}) is not the one this experiment was planned "
            "for: its content differs. Every worker must see the same files; if the data changed, "
            "start the command again."
        )
        raise DatasetError(msg)
    return dataset


def is_trained(name: str) -> bool:
    """Whether this is the name of a classifier that is trained on the data set."""
    from denseflip.classifiers.presets import PRESETS

    return name in PRESETS or _known(TRAINERS, name)


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
        msg = f"{source}: there is no such classifier file."
        raise ConfigError(msg)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    return OracleSpec(name or source.stem, "file", digest, ref=str(source.resolve()))


def function_oracle(
    text: str, *, name: str | None = None, input: str = "auto", batch: bool = False
) -> OracleSpec:
    """A classifier of the user's own, as ``module:function``.

    The digest is that of the module's source file: change the file, and its results are run again.
    What the module itself imports or reads is not looked at.
    """
    from denseflip.oracles.adapt import INPUTS, see_current_folder

    module, colon, function = text.partition(":")
    if not colon or not module or not function:
        msg = f"An oracle function is given as module:function; got {text!r}."
        raise ConfigError(msg)
    if input not in INPUTS:
        raise UnknownNameError("oracle input", input, INPUTS)
    see_current_folder()
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        found = None
    if found is None:
        msg = f"Oracle {text}: there is no module {module!r} in this folder or installed."
        raise ConfigError(msg)
    digest = ""
    if found.origin and Path(found.origin).is_file():
        digest = hashlib.sha256(Path(found.origin).read_bytes()).hexdigest()
    options = {"function": text, "input": input, "batch": batch}
    return OracleSpec(name or text, "function", digest, options, ref=text)


def load_oracle_of(spec: OracleSpec, dataset: Dataset) -> Oracle:
    """The oracle of a spec, trained on the data set if it is of that kind."""
    if spec.kind == "preset":
        from denseflip.classifiers.presets import PRESETS, fit_oracle

        preset = spec.options["preset"]
        if preset not in PRESETS:
            return _find(TRAINERS, preset, "preset").fit(dataset)
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
    from denseflip.oracles.adapt import import_oracle

    how = {"batch": spec.options["batch"], "nodes": dataset.nodes}
    return import_oracle(spec.ref, spec.options["input"], **how)


def evaluate_oracle_of(spec: OracleSpec, dataset: Dataset, **settings: Any) -> Evaluation | None:
    """The oracle of a spec judged on graphs it has not seen; None if it is not trained here."""
    if spec.kind != "preset":
        return None
    from denseflip.classifiers.crossval import evaluate
    from denseflip.classifiers.presets import PRESETS

    preset = spec.options["preset"]
    if preset not in PRESETS:
        return _find(TRAINERS, preset, "preset").evaluate(dataset, **settings)
    return evaluate(dataset, preset, **settings)


def method_spec(
    name: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    reading: str = PLAIN,
    called: str = "",
) -> MethodSpec:
    """A method with everything it resolves to; unknown names and parameters are errors.

    Parameters
    ----------
    name : as `make_method` takes it: also ``module:function``. Of a method of the user's own the
        source file is part of what the spec is: change it, and its results are run again.
    called : what it is called in tables, if not by that name.
    """
    given = dict(parameters or {})
    recipe = build_method(MethodSpec(name, given, {}, reading))
    if called and called != recipe.name:
        return MethodSpec(
            called, given, recipe.parameters, reading, own_digest(name), ref=recipe.name
        )
    return MethodSpec(recipe.name, given, recipe.parameters, reading, own_digest(name))


def own_digest(name: str) -> str:
    """Digest of the source of a method of the user's own; empty for any other."""
    return source_digest(name.partition(":")[0].strip()) if is_own(name) else ""


def build_method(spec: MethodSpec) -> Method:
    """The method of a spec, ready to run."""
    made = _find(MAKERS, spec.reading, "reading")(spec.ref or spec.name, **spec.parameters)
    return replace(made, name=spec.name) if spec.ref else made


def told_method(spec: MethodSpec) -> str | Method:
    """The method of a spec as `tell` takes it: by name, or the object that was given."""
    return spec.name if spec.given is None else as_method(spec.given)


def distance_and_calls(result: Counterfactual, reading: str = PLAIN) -> tuple[float, int]:
    """What a reading reports as d% and C of a result."""
    return _find(READINGS, reading, "reading")(result)
