"""From words to specs and from specs to things: data sets, oracles and methods of an experiment."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from denseflip.datasets import Dataset, load_dataset
from denseflip.errors import ConfigError, DatasetError, UnknownNameError
from denseflip.experiments.spec import DataSpec, MethodSpec, OracleSpec, dataset_digest
from denseflip.oracles.protocol import Oracle
from denseflip.search.methods import Recipe, make_method

PUBLISHED = "published"


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
    dataset = load_dataset(spec.ref or spec.name)
    if dataset_digest(dataset) != spec.digest:
        msg = (
            f"The data set {spec.name!r} ({spec.ref}) is not the one this experiment was planned "
            "for: its content differs. Every worker must see the same files; if the data changed, "
            "start the command again."
        )
        raise DatasetError(msg)
    return dataset


def preset_oracle(preset: str, *, name: str | None = None, seed: int = 0) -> OracleSpec:
    """A classifier that is trained on the data set by a preset of `denseflip train`."""
    from denseflip.classifiers.presets import get_preset

    get_preset(preset)
    return OracleSpec(name or preset, "preset", options={"preset": preset, "seed": seed})


def published_oracle_spec() -> OracleSpec:
    """The classifier behind the paper's printed numbers (D11)."""
    return OracleSpec(PUBLISHED, PUBLISHED)


def file_oracle(path: str, *, name: str | None = None) -> OracleSpec:
    """A classifier saved by `denseflip train`."""
    source = Path(path).expanduser()
    if not source.is_file():
        msg = f"{source}: there is no such classifier file."
        raise ConfigError(msg)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    return OracleSpec(name or source.stem, "file", digest, ref=str(source.resolve()))


def function_oracle(
    text: str, *, name: str | None = None, input: str = "adjacency", batch: bool = False
) -> OracleSpec:
    """A classifier of the user's own, as ``module:function``.

    The digest is that of the module's source file: change the file, and its results are run again.
    What the module itself imports or reads is not looked at.
    """
    from denseflip.oracles.adapt import FORMS, see_current_folder

    module, colon, function = text.partition(":")
    if not colon or not module or not function:
        msg = f"An oracle function is given as module:function; got {text!r}."
        raise ConfigError(msg)
    if input not in FORMS:
        raise UnknownNameError("oracle input", input, FORMS)
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
        from denseflip.classifiers.presets import fit_oracle

        return fit_oracle(dataset, preset=spec.options["preset"], seed=spec.options["seed"])
    if spec.kind == PUBLISHED:
        from denseflip.paper.classifier import published_oracle

        return published_oracle(dataset)
    if spec.kind == "file":
        from denseflip.classifiers.persist import load_oracle

        return load_oracle(spec.ref)
    from denseflip.oracles.adapt import import_oracle

    return import_oracle(spec.ref, spec.options["input"], batch=spec.options["batch"])


def method_spec(
    name: str, parameters: Mapping[str, Any] | None = None, *, reading: str = "text"
) -> MethodSpec:
    """A method with everything it resolves to; unknown names and parameters are errors."""
    given = dict(parameters or {})
    recipe = build_method(MethodSpec(name, given, {}, reading))
    return MethodSpec(recipe.name, given, recipe.parameters, reading)


def build_method(spec: MethodSpec) -> Recipe:
    """The method of a spec, ready to run."""
    if spec.reading == PUBLISHED:
        from denseflip.paper.methods import published_method

        return published_method(spec.name, **spec.parameters)
    return make_method(spec.name, **spec.parameters)
