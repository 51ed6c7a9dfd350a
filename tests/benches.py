"""A tiny comparison for the tests of experiments: a data set, classifiers and a configuration."""

from __future__ import annotations

import json
from pathlib import Path

from cohorts import make_cohort
from denseflip.experiments.bench_config import BenchConfig, check_config, make_matrix
from denseflip.experiments.plan import make_plan
from denseflip.experiments.spec import RunSpec

ORACLES = """
import os, signal, time
from pathlib import Path

def label(a):
    return int(a[:4, :4].sum() >= a[4:8, 4:8].sum())

def slow(a):
    time.sleep(0.004)
    return label(a)

def broken(a):
    if a.sum() % 3 == 0:
        raise ValueError("cannot read this graph")
    return label(a)

def fragile(a):
    # Dies once in all: the file says that it has happened.
    flag = Path("died")
    if a.sum() % 5 == 0 and os.environ.get("FRAGILE") == "1":
        try:
            flag.touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return label(a)

def deadly(a):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def write_bench(folder: Path, function: str = "label", **changes: object) -> Path:
    """Write data, classifiers and configuration into a folder; returns the configuration file."""
    data = folder / "cohort.dfd"
    if not data.exists():
        make_cohort(4).save(data)
    (folder / "toy_oracles.py").write_text(ORACLES)
    settings: dict[str, object] = {
        "datasets": ["cohort.dfd"],
        "oracles": [{"function": f"toy_oracles:{function}", "name": "own"}],
        "methods": ["tri", "edg", "rcli", "dat+bw"],
        "seeds": [0, 1],
        "run": {"engine": "serial"},
        **changes,
    }
    lines = [
        f"{key} = {_toml(value)}" for key, value in settings.items() if not isinstance(value, dict)
    ]
    for key, value in settings.items():
        if isinstance(value, dict):
            lines += [f"[{key}]", *(f"{k} = {_toml(v)}" for k, v in value.items())]
    path = folder / "bench.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return json.dumps(value)


def bench_specs(folder: Path, function: str = "label", **changes: object) -> list[RunSpec]:
    """The specs of that comparison."""
    import tomllib

    data = tomllib.loads(write_bench(folder, function, **changes).read_text())
    config: BenchConfig = check_config(data)
    return make_plan(make_matrix(config, folder=folder)).specs
