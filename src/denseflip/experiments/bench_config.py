"""The configuration of `denseflip bench`: a TOML file with a schema; errors name the key.

`docs/experiments.md` explains every key; `examples/bench.toml` is an example.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from denseflip.checks import check_no_pipe, visible
from denseflip.errors import ConfigError, DenseflipError, TooLargeError, nearest
from denseflip.experiments.plan import Matrix, Source, choose_graphs, method_spec
from denseflip.experiments.spec import MeasureSpec, MethodSpec
from denseflip.limits import PER_CHARACTER, check_size
from denseflip.oracles.background import Background
from denseflip.request import Request, list_options
from denseflip.runs.sources import (
    OracleSpec,
    data_spec,
    file_oracle,
    function_oracle,
    oracle_of_words,
    preset_oracle,
)
from denseflip.search.constraints.bound_constraints import bind_constraints
from denseflip.search.explain import constraints_for

T = TypeVar("T")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _named(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _oracle(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return {"words" if ":" in value else "preset": value}


class DataConfig(_Model):
    """A data set: a name or a path; a bare string is the name."""

    name: str = Field(min_length=1)
    graphs: list[str] | None = Field(default=None, min_length=1)
    limit: int | None = Field(default=None, ge=1)
    target: str | int | None = None
    oracles: list[str] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _one_way(self) -> DataConfig:
        if self.graphs is not None and self.limit is not None:
            msg = "give 'graphs' (ids) or 'limit' (a number), not both"
            raise ValueError(msg)
        return self


class OracleConfig(_Model):
    """A classifier: exactly one of preset, file, function, words; a bare string is a preset.

    Words are those of `open_oracle`; a bare string with a colon is read as words.
    """

    preset: str | None = None
    file: str | None = None
    function: str | None = None
    words: str | None = None
    name: str | None = None
    seed: int = Field(default=0, ge=0)
    input: str = "auto"
    batch: bool = False

    @model_validator(mode="after")
    def _one_kind(self) -> OracleConfig:
        ways = ("preset", "file", "function", "words")
        given = [k for k in ways if getattr(self, k) is not None]
        if len(given) != 1:
            got = " and ".join(given) or "none of them"
            msg = f"give exactly one of 'preset', 'file', 'function' and 'words'; got {got}"
            raise ValueError(msg)
        return self


#: Options of a request that a bench file sets by other keys, or does not use.
_APART = ("method", "parameters", "seed", "vocabulary", "share")
_KINDS: dict[str, Any] = {
    "text": str,
    "choice": str,
    "whole": int,
    "number": float,
    "flag": bool,
    "names": str | int | list[str | int],
}
#: Every other option of a request is a key of the file, for all methods, and of each method.
_OPTIONS: dict[str, Any] = {
    name: (Annotated[_KINDS[option.kind], Field(**option.limits)] | None, None)
    for name, option in list_options().items()
    if name not in _APART
}


class _MethodModel(_Model):
    name: str | None = Field(default=None, min_length=1)
    function: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    constraints: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_kind(self) -> _MethodModel:
        if self.name is None and self.function is None:
            msg = "give 'name' (a method), or 'function' (your own, as module:name)"
            raise ValueError(msg)
        if self.function is not None and ":" not in self.function:
            msg = "'function' must be module:name"
            raise ValueError(msg)
        return self


if TYPE_CHECKING:
    MethodConfig = _MethodModel
else:
    MethodConfig = create_model(
        "MethodConfig",
        __base__=_MethodModel,
        __doc__="""A method with its parameters and options; a bare string is the name.

    Your own method is a ``function`` (``module:name``); ``name`` is then its name in tables.
    Options and constraints replace those of the file.
    """,
        **_OPTIONS,
    )


class MeasuresConfig(_Model):
    """Which of the expensive measures to compute."""

    robustness: int = Field(default=10, ge=0, le=10_000)
    minimality: bool = False
    statement: bool = True
    regions: str | None = None
    as_read: int = Field(default=20, ge=0, le=10_000)


class RunConfig(_Model):
    """Where to run; the command line overrides it."""

    engine: Literal["auto", "serial", "processes", "dask"] = "auto"
    jobs: int | None = Field(default=None, ge=1)
    scheduler: str | None = None


class _BenchModel(_Model):
    title: Annotated[str, AfterValidator(visible)] = "Comparison"
    datasets: list[Annotated[DataConfig, BeforeValidator(_named)]] = Field(min_length=1)
    oracles: list[Annotated[OracleConfig, BeforeValidator(_oracle)]] = Field(min_length=1)
    methods: list[Annotated[MethodConfig, BeforeValidator(_named)]] = Field(min_length=1)
    seeds: list[Annotated[int, Field(ge=0)]] = Field(default=[0], min_length=1)
    constraints: dict[str, Any] = Field(default_factory=dict)
    measures: MeasuresConfig = MeasuresConfig()
    run: RunConfig = RunConfig()


if TYPE_CHECKING:
    BenchConfig = _BenchModel
else:
    BenchConfig = create_model(
        "BenchConfig",
        __base__=_BenchModel,
        __doc__="The whole file. Options of a request hold for all methods.",
        **_OPTIONS,
    )


_KEYS: dict[str, type[_Model]] = {
    "datasets": DataConfig,
    "oracles": OracleConfig,
    "methods": MethodConfig,
    "measures": MeasuresConfig,
    "run": RunConfig,
}


def read_config(path: str | Path) -> BenchConfig:
    """Read and check a configuration file.

    Raises
    ------
    ConfigError
        Lists every problem of the file, one line each.
    """
    source = Path(path)
    check_no_pipe(source, error=ConfigError)
    try:
        check_size(float(PER_CHARACTER) * source.stat().st_size, f"{source}: its content")
        data = tomllib.loads(source.read_text(encoding="utf-8"))
    except TooLargeError:
        raise
    except FileNotFoundError as error:
        msg = f"{source}: no such file. See examples/bench.toml for an example."
        raise ConfigError(msg) from error
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{source}: cannot be read ({error})."
        raise ConfigError(msg) from error
    except (tomllib.TOMLDecodeError, ValueError) as error:  # also for a number of 5,000 digits
        msg = f"{source}: not valid TOML: {error}."
        raise ConfigError(msg) from error
    except RecursionError as error:
        msg = f"{source}: nested too deeply for a configuration."
        raise ConfigError(msg) from error
    return check_config(data, str(source))


def check_config(data: dict[str, Any], source: str = "configuration") -> BenchConfig:
    """Check a parsed configuration."""
    try:
        return BenchConfig.model_validate(data)
    except ValidationError as error:
        lines = [f"  {_explain(dict(problem))}" for problem in error.errors()]
        plural = "a problem" if len(lines) == 1 else f"{len(lines)} problems"
        msg = f"{source} has {plural}:\n" + "\n".join(lines)
        raise ConfigError(msg) from error


def _explain(problem: dict[str, Any]) -> str:
    """Describe one problem found by the schema."""
    where = ""
    for part in problem["loc"]:
        where += f"[{part}]" if isinstance(part, int) else f".{part}" if where else str(part)
    kind = problem["type"]
    if kind == "extra_forbidden":
        key = str(problem["loc"][-1])
        outer = [p for p in problem["loc"][:-1] if isinstance(p, str)]
        model = _KEYS[outer[0]] if outer else BenchConfig
        known = list(model.model_fields)
        near = nearest(key, known)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return f"{where}: unknown key.{hint} Known here: {', '.join(known)}."
    if kind == "missing":
        return f"{where}: missing; this key is required."
    text = str(problem["msg"]).removeprefix("Value error, ")
    got = repr(problem["input"])
    return f"{where}: {text}; got {got[:60]}{'…' if len(got) > 60 else ''}."


def make_matrix(config: BenchConfig, *, folder: Path | None = None) -> Matrix:
    """Load what a configuration names; report all problems together.

    Parameters
    ----------
    folder : paths in the file are relative to this folder first (the folder of the file).
    """
    problems: list[str] = []

    def each(side: str, make: Callable[[Any], T]) -> list[T]:
        made = []
        for i, one in enumerate(getattr(config, side)):
            try:
                made.append(make(one))
            except DenseflipError as error:
                problems.append(f"{side}[{i}]: {error}")
        return made

    def method_of(method: MethodConfig) -> MethodSpec:
        words, asked = method.function or method.name, _request(config, method)
        assert words is not None
        spec = method_spec(words, method.parameters, called=method.name or "", request=asked)
        _check_constraints(spec.request, sources)
        return spec

    sources = each("datasets", lambda data: _source(data, folder))
    oracles = each("oracles", lambda oracle: _oracle_spec(oracle, folder))
    methods = each("methods", method_of)
    problems += _repeated("datasets", [s.spec.name for s in sources])
    problems += _repeated("oracles", [o.name for o in oracles])
    names = [o.name for o in oracles]
    for i, data in enumerate(config.datasets):
        for name in data.oracles or ():
            if name not in names and len(oracles) == len(config.oracles):
                known = ", ".join(names)
                problems.append(f"datasets[{i}].oracles: no oracle is named {name!r}: {known}.")
    if problems:
        msg = "The configuration cannot be run:\n" + "\n".join(f"  {p}" for p in problems)
        raise ConfigError(msg)
    measures = MeasureSpec(**config.measures.model_dump())
    return Matrix(sources, oracles, methods, config.seeds, measures)


def _request(config: BenchConfig, method: MethodConfig) -> Request:
    """Return the options of a method: its own, else those of the file."""
    asked = {
        name: value
        for name in _OPTIONS
        if (value := getattr(method, name)) is not None
        or (value := getattr(config, name)) is not None
    }
    constraints = {**config.constraints, **method.constraints}
    return Request.build(constraints=constraints or None, **asked)


def _check_constraints(request: Request, sources: list[Source]) -> None:
    """Check before the run that every data set has what the constraints name."""
    for source in sources:
        dataset = source.dataset
        constraints = constraints_for(request, dataset.nodes)
        if constraints and source.ids:
            graph = dataset[source.ids[0]].graph
            bind_constraints(constraints, graph, dataset.nodes, Background(dataset.graphs))


def _repeated(side: str, names: list[str]) -> list[str]:
    twice = sorted({name for name in names if names.count(name) > 1})
    return [f"{side}: the name {name!r} occurs twice; rename one of them." for name in twice]


def _source(config: DataConfig, folder: Path | None) -> Source:
    spec, dataset = data_spec(_place(config.name, folder))
    dataset.check_shared_nodes("A bench")
    target = config.target
    if isinstance(target, str):
        if target not in dataset.class_names:
            known = ", ".join(dataset.class_names)
            msg = f"target {target!r} is not a class of {dataset.name!r}; its classes: {known}."
            raise ConfigError(msg)
        target = dataset.class_names.index(target)
    graphs = choose_graphs(dataset, config.graphs, config.limit)
    return Source(spec, dataset, graphs, target, tuple(config.oracles or ()))


def _oracle_spec(config: OracleConfig, folder: Path | None) -> OracleSpec:
    if config.file is not None:
        return file_oracle(_place(config.file, folder), name=config.name)
    if config.function is not None:
        return function_oracle(
            config.function, name=config.name, input=config.input, batch=config.batch
        )
    if config.words is not None:
        spec = oracle_of_words(config.words, input=config.input, batch=config.batch)
        if config.name is None:
            return spec
        # The words are part of its identity, the name is not.
        digest = hashlib.sha256(f"{config.words}\n{spec.digest}".encode()).hexdigest()
        return replace(spec, name=config.name, digest=digest)
    assert config.preset is not None
    return preset_oracle(config.preset, name=config.name, seed=config.seed)


def _place(text: str, folder: Path | None) -> str:
    beside = None if folder is None else folder / text
    return str(beside) if beside is not None and beside.is_file() else text
