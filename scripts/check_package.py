"""Build wheel and sdist, run the packaging checks, and try both in empty environments.

    make package                                     # everything; about ten minutes
    python scripts/check_package.py build checks     # some of the steps
    python scripts/check_package.py --tests tests    # all tests of the sdist instead of a part

The steps are `build` (twice, to compare), `checks`, `container` (the wheel from the files that the
Dockerfile copies), `wheel` and `sdist`. Each step prints what it ran; the first failure ends the
run.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STEPS = ("build", "checks", "container", "wheel", "sdist")
PART = ["tests/unit/graph", "tests/unit/search", "tests/unit/story", "tests/property"]
# pyroma gives a point for an e-mail address and one for a web address; the project has neither yet.
PYROMA = "8"


def run(*command: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    """Run a command and show it; a failure ends the script."""
    print(f"$ {' '.join(command)}".replace(str(ROOT), "."), flush=True)
    subprocess.run(command, cwd=cwd, env={**os.environ, **(env or {})}, check=True)


def tool(name: str) -> str:
    """The path of a command of this environment."""
    return str(Path(sys.executable).parent / name)


def build(out: Path) -> tuple[Path, Path]:
    """Build wheel and sdist from the committed files, twice; both must be identical."""
    stamp = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    sums = []
    for name in ("first", "second"):
        source = out / f"source-{name}"
        archive = subprocess.run(
            ["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True
        )
        source.mkdir(parents=True)
        subprocess.run(["tar", "-x", "-C", str(source)], input=archive.stdout, check=True)
        run(
            *(sys.executable, "-m", "build", "--outdir", str(out / name), "."),
            cwd=source,
            env={"SOURCE_DATE_EPOCH": stamp},
        )
        files = sorted((out / name).iterdir())
        sums.append({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files})
    if sums[0] != sums[1]:
        sys.exit(f"Two builds of the same commit differ: {sums}")
    for name, digest in sums[0].items():
        print(f"{digest}  {name}  (two builds are identical)")
    first = out / "first"
    return next(first.glob("*.whl")), next(first.glob("*.tar.gz"))


def check(wheel: Path, sdist: Path) -> None:
    """Run the checkers of the field."""
    run(tool("twine"), "check", "--strict", str(wheel), str(sdist))
    run(tool("check-wheel-contents"), str(wheel))
    run(tool("validate-pyproject"), "pyproject.toml")
    run(tool("interrogate"), "src/denseflip")
    run(tool("sp-repo-review"), ".")
    run(tool("pyroma"), "--min", PYROMA, str(sdist))
    run(tool("deptry"), "src")
    run(tool("hadolint"), "--no-color", "Dockerfile")
    check_recipe(ROOT / "packaging" / "conda" / "recipe.yaml")


def check_recipe(path: Path) -> None:
    """Render the conda recipe; it must ask for what pyproject.toml asks for."""
    from rattler_build import Stage0Recipe, VariantConfig, rattler_build_version

    (variant,) = Stage0Recipe.from_file(str(path)).render(VariantConfig())
    recipe = variant.recipe.to_dict()
    asked = {"".join(line.split()) for line in recipe["requirements"]["run"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {"".join(line.split()) for line in project["dependencies"]}
    wanted.add(f"python{project['requires-python']}")
    if asked != wanted:
        sys.exit(f"The conda recipe and pyproject.toml differ: {sorted(asked ^ wanted)}")
    package = f"{recipe['package']['name']} {recipe['package']['version']}"
    print(
        f"conda recipe of {package}: rendered by rattler-build {rattler_build_version()}; "
        f"asks for the {len(asked)} packages of pyproject.toml"
    )


def try_container(source: Path, out: Path) -> None:
    """Build the wheel from the files that the Dockerfile copies, and from no others."""
    text = (source / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    context = out / "container"
    context.mkdir()
    for line in text.splitlines():
        if line.startswith("COPY "):
            *files, target = line.split()[1:]
            for name in files:
                if (source / name).is_dir():
                    shutil.copytree(source / name, context / target)
                else:
                    shutil.copy(source / name, context / target)
    wheels = out / "container-wheel"
    run(*(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), str(context)))
    print(f"the files that the Dockerfile copies build {next(wheels.iterdir()).name}")


def empty_environment(folder: Path, *wanted: str) -> Path:
    """A new virtual environment with some packages; returns its folder of commands."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    run(python, "-m", "pip", "install", "-q", "--upgrade", "pip")
    run(python, "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), *wanted)
    return folder / "bin"


def try_wheel(wheel: Path, out: Path) -> None:
    """Install the wheel into an empty environment; run its doctests, the demo and the app there."""
    commands = empty_environment(out / "wheel-env", f"{wheel}[brain,frames,web]", "pytest", "httpx")
    bare = out / "bare"
    bare.mkdir()
    modules = [f"denseflip.{name}" for name in ("graph", "search", "story", "metrics")]
    pytest = (str(commands / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider")
    run(*pytest, "--doctest-modules", "--pyargs", *modules, cwd=bare)
    run(str(commands / "denseflip"), "demo", "--out", "demo", cwd=bare)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(commands / "denseflip"), "serve", "mice", "--port", str(port), "--no-browser"]
    print(f"$ {' '.join(command)}")
    server = subprocess.Popen(command, cwd=bare, stdout=subprocess.DEVNULL)
    try:
        for _ in range(60):
            time.sleep(1)
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as page:
                    print(f"the app answers: {page.status}, {len(page.read()):,} bytes")
                    return
            except OSError:
                if server.poll() is not None:
                    sys.exit(f"denseflip serve ended with code {server.returncode}")
        sys.exit("the app does not answer within 60 seconds")
    finally:
        server.terminate()
        server.wait(timeout=30)


def try_sdist(sdist: Path, out: Path, tests: list[str]) -> None:
    """Unpack the sdist into an empty folder, install it and run tests from there."""
    with tarfile.open(sdist) as archive:
        archive.extractall(out / "sdist", filter="data")
    source = next((out / "sdist").iterdir())
    commands = empty_environment(
        out / "sdist-env", f"{source}[all]", "--group", f"{source}/pyproject.toml:test"
    )
    pytest = (str(commands / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider")
    run(*pytest, *tests, cwd=source)


def main() -> None:
    """Run the steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", help=f"any of {', '.join(STEPS)}; default: all")
    parser.add_argument("--tests", nargs="+", default=PART, help="tests of the sdist to run")
    args = parser.parse_args()
    if unknown := sorted(set(args.steps) - set(STEPS)):
        parser.error(f"unknown step {unknown[0]!r}; choose from {', '.join(STEPS)}")
    steps = args.steps or STEPS
    out = Path(tempfile.mkdtemp(prefix="denseflip-package-"))
    try:
        wheel, sdist = build(out)
        if "checks" in steps:
            check(wheel, sdist)
        if "container" in steps:
            try_container(out / "source-first", out)
        if "wheel" in steps:
            try_wheel(wheel, out)
        if "sdist" in steps:
            try_sdist(sdist, out, args.tests)
        print(f"Passed: {', '.join(steps)}.")
    finally:
        shutil.rmtree(out, ignore_errors=True)


if __name__ == "__main__":
    main()
