"""Long-running robustness tests; the results are written to ``docs/reliability.md``.

``make soak`` runs all parts in full (hours). ``python scripts/soak.py kills --times 20`` runs one
part; ``--short`` runs all of them in a minute or two and does not change the page. A failure prints
a message and exits with 1.

* ``doors``: randomly modified files and dictionaries for every reader (``tests/edges``);
* ``readers``: the file readers under atheris, a coverage-guided fuzzer (``pip install atheris``);
* ``results``: searches under random constraints, each result checked
  (``scripts/fuzz_constraints.py``);
* ``kills``: runs killed with their workers (``SIGKILL``) after the first stored part, resumed, and
  compared byte for byte with an undisturbed run;
* ``disk``: all writers on a disk that fills up (a tmpfs of a few kilobytes) and in a read-only
  folder;
* ``clock``: runs while the system clock jumps by days;
* ``writers``: two concurrent runs that write to one folder.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markers import fill

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
HEAD = ("| what | how often | what happened |", "|---|---|---|")
PYTHON = [sys.executable]
DENSEFLIP = [*PYTHON, "-m", "denseflip"]
COMPARED = (".csv", ".md", ".tex", ".html", ".json", ".tsv")
PATIENCE = 600  # seconds for one run of a command


@dataclass
class Row:
    """A line of the page: what was tried, how often, and what happened."""

    what: str
    times: str
    happened: str

    def __str__(self) -> str:
        return f"| {self.what} | {self.times} | {self.happened} |"


class Failed(Exception):
    """Something happened that may not."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="by default all of them")
    parser.add_argument("--times", type=int, help="how often, instead of the usual number")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of what is random")
    parser.add_argument("--short", action="store_true", help="a few of each, no page")
    options = parser.parse_args(arguments)
    rng = random.Random(options.seed)
    print(f"Seed {options.seed}.", flush=True)
    for name in options.parts or PARTS:
        part, full, few = PARTS[name]
        times = options.times or (few if options.short else full)
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                rows = part(times, rng, Path(folder))
            except Failed as error:
                print(f"FAILED: {name}: {error} (seed {options.seed})", file=sys.stderr)
                return 1
        print(*rows, sep="\n", flush=True)
        print(f"  ({time.monotonic() - started:.0f} s)", flush=True)
        if not options.short and not options.times:
            fill(PAGE, name, [*HEAD, *map(str, rows)])
    return 0


def environment(**more: str) -> dict[str, str]:
    """The environment of a command: one thread, this denseflip, the tests' helpers."""
    paths = [str(ROOT / "src"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "OMP_NUM_THREADS": "1",
        **more,
    }


def run(command: Sequence[str], **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(),
        check=False,
        **options,  # type: ignore[call-overload]
    )


# ---- doors, readers, results --------------------------------------------------------------


def doors(times: int, rng: random.Random, folder: Path) -> list[Row]:
    """Mutated files and dictionaries."""
    each = -(-times // 4)
    done = subprocess.run(
        [*PYTHON, "-m", "pytest", "-q", "-k", "mutated", "tests/edges/test_doors.py"],
        cwd=ROOT,
        env=environment(DENSEFLIP_SOAK=str(each), DENSEFLIP_SOAK_SEED=str(rng.randrange(10**6))),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or "4 passed" not in done.stdout:
        raise Failed(done.stdout[-3000:])
    text = "each gave a result or a denseflip error"
    return [Row("randomly changed files and dictionaries, all entry points", f"{4 * each:,}", text)]


def readers(times: int, rng: random.Random, folder: Path) -> list[Row]:
    """The readers under atheris."""
    done = subprocess.run(
        [*PYTHON, str(ROOT / "scripts" / "fuzz_readers.py"), str(times), str(rng.randrange(10**6))],
        env=environment(),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 3:
        return [Row("readers, fuzzed with atheris", "0", "not run: atheris is not installed")]
    if done.returncode:
        raise Failed((done.stdout + done.stderr)[-3000:])
    ran = re.findall(r"^(\w+): (\d+) inputs, (\d+) taken", done.stdout, re.M)
    total = sum(int(n) for _, n, _ in ran)
    kinds = ", ".join(kind for kind, _, _ in ran)
    return [
        Row(
            f"readers, fuzzed with atheris ({kinds})",
            f"{total:,}",
            "each gave a result or a denseflip error",
        )
    ]


def results(times: int, rng: random.Random, folder: Path) -> list[Row]:
    """Searches under random constraints."""
    script = ROOT / "scripts" / "fuzz_constraints.py"
    done = subprocess.run(
        [*PYTHON, str(script), "--results", str(times), "--seed", str(rng.randrange(10**6))],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failed((done.stdout + done.stderr)[-3000:])
    last = done.stdout.strip().splitlines()[-1]
    return [Row("searches under random constraints, all methods", f"{times:,}", last)]


# ---- kills --------------------------------------------------------------------------------


@dataclass
class Job:
    """A command that writes parts and can be continued."""

    name: str
    words: Callable[[Path], list[str]]

    def start(self, folder: Path, out: Path, **more: str) -> subprocess.Popen[bytes]:
        """Run it in a session of its own, so that its workers can be killed with it."""
        return subprocess.Popen(
            [*DENSEFLIP, *self.words(out)],
            cwd=folder,
            env=environment(**more),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def finish(self, folder: Path, out: Path, **more: str) -> None:
        """Run it to its end."""
        done = subprocess.run(
            [*DENSEFLIP, *self.words(out)],
            cwd=folder,
            env=environment(**more),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode:
            raise Failed(f"{self.name}: status {done.returncode}: {done.stderr[-2000:]}")


def bench_job(engine: str) -> Job:
    """The comparison of the tests on an engine."""
    return Job(
        f"bench, {engine}",
        lambda out: [
            *("bench", "--config", "bench.toml", "--engine", engine, "--jobs", "2"),
            *("--out", str(out)),
        ],
    )


def paper_job(engine: str) -> Job:
    """A little of the paper on an engine."""
    return Job(
        f"paper, {engine}",
        lambda out: [
            *("paper", "--datasets", "kki", "--methods", "edg", "--limit", "8", "--jobs", "2"),
            *("--robustness", "0", "--permutations", "0", "--no-figures", "--engine", engine),
            *("--out", str(out)),
        ],
    )


def cohort_job(engine: str) -> Job:
    """What a made-up group has in common, on an engine."""
    return Job(
        f"cohort, {engine}",
        lambda out: [
            *("cohort", "groups.dfd", "--permutations", "39", "--patients", "8"),
            *("--engine", engine, "--jobs", "2", "--yes", "--out", str(out)),
        ],
    )


JOBS = [
    bench_job("serial"),
    bench_job("processes"),
    bench_job("dask"),
    Job(
        "explain --all",
        lambda out: [
            *("explain", "cohort.dfd", "--all", "--method", "edg", "--oracle", "toy_oracles:slow"),
            *("--jobs", "2", "--out", str(out)),
        ],
    ),
    paper_job("processes"),
    paper_job("dask"),
    cohort_job("serial"),
    cohort_job("processes"),
    cohort_job("dask"),
]


def prepare(folder: Path) -> None:
    """Write the little comparison of the tests into a folder, a group, and graphs to import."""
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    from benches import write_bench
    from denseflip.datasets.export import export_dataset
    from denseflip.datasets.synthetic import make_synthetic

    groups = make_synthetic(strength=1, n_per_class=10, seed=5)
    groups.save(folder / "groups.dfd")
    export_dataset(groups, folder / "files", format="csv")

    write_bench(
        folder, "slow", methods=["edg", "dat+bw"], seeds=[0, 1, 2], measures={"robustness": 3}
    )


def has_papers_data() -> bool:
    """Whether the paper's data are here: where DENSEFLIP_DATA says, or beside the project."""
    beside = ROOT.parent / "shared" / "data" / "brain"
    if not os.environ.get("DENSEFLIP_DATA") and beside.is_dir():
        os.environ["DENSEFLIP_DATA"] = str(beside)
    return bool(os.environ.get("DENSEFLIP_DATA"))


def kills(times: int, rng: random.Random, folder: Path) -> list[Row]:
    """Kill runs after their first part was written, continue them, compare."""
    prepare(folder)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    rows = []
    real = has_papers_data()
    jobs = [job for job in JOBS if real or not job.name.startswith("paper")]
    for number, job in enumerate(jobs):
        wanted = times // len(jobs) + (number < times % len(jobs))
        if not wanted:
            continue
        whole = folder / f"whole-{number}"
        started = time.monotonic()
        job.finish(folder, whole)
        took = time.monotonic() - started
        killed = rounds = 0
        while killed < wanted and rounds < 20 * wanted:
            rounds += 1
            out = folder / f"killed-{number}-{rounds}"
            for _ in range(4):
                if killed >= wanted or not kill_once(job, folder, out, rng, took):
                    break
                killed += 1
            job.finish(folder, out)
            compare(job.name, whole, out)
            shutil.rmtree(out)
        if killed < wanted:
            raise Failed(f"{job.name}: only {killed} of {wanted} kills came in time")
        rows.append(
            Row(
                f"{job.name}: killed after a part was written, and continued",
                f"{killed} kills of {rounds} runs",
                "the same files as undisturbed, byte for byte",
            )
        )
    if not real:
        rows.append(Row("paper", "0", "not tried: its data are not here (DENSEFLIP_DATA)"))
    return rows


def kill_once(job: Job, folder: Path, out: Path, rng: random.Random, took: float) -> bool:
    """Kill a run at some moment after it wrote a part; False if it ended before."""
    before = parts(out)
    process = job.start(folder, out)
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and parts(out) <= before and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(rng.random() * 0.1 * took)
    alive = process.poll() is None
    if alive:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return alive and parts(out) > before


def parts(out: Path) -> int:
    """How many parts a run has written."""
    return len(list(out.rglob("parts/*.gz")))


def compare(name: str, whole: Path, other: Path) -> None:
    """Raise unless two folders hold the same results (times and versions of files aside)."""
    seen = 0
    for path in sorted(whole.rglob("*")):
        if path.name == "run.json":  # times: the one file that may differ
            continue
        if path.suffix not in COMPARED or "store" in path.relative_to(whole).parts:
            continue
        again = other / path.relative_to(whole)
        if not again.exists():
            raise Failed(f"{name}: {path.name} is missing after the kill")
        if timeless(path, whole) != timeless(again, other):
            raise Failed(f"{name}: {path.name} differs after the kill")
        seen += 1
    if not seen:
        raise Failed(f"{name}: there was nothing to compare")


def timeless(path: Path, folder: Path) -> bytes:
    """A file without the seconds that a run took, and without its folder's name."""
    text = path.read_bytes().replace(str(folder).encode(), b"OUT")
    if path.name == "pages.json":  # which pages are there, by a hash of the folder's name, too
        return re.sub(rb'": "[0-9a-f]+"', b'"', text)
    text = re.sub(rb'"elapsed": ?[0-9.e-]+', b'"elapsed": 0', text)
    return re.sub(rb"\b\d+(\.\d+)? s\b", b"0 s", text)


# ---- disk ---------------------------------------------------------------------------------

SIZES = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)  # kilobytes

WRITERS: dict[str, list[str]] = {
    "explain --out": ["explain", "mice", "sub-54811", "--method", "tri", "--out", "{out}/page"],
    "data export": ["data", "export", "mice", "--format", "csv", "--out", "{out}/exported"],
    "bench": [
        *("bench", "--config", "bench.toml", "--engine", "serial", "--out", "{out}/bench"),
    ],
    "results --output": ["results", "ready", "--output", "{out}/results.csv"],
    "explain --all": [
        *("explain", "cohort.dfd", "--all", "--method", "edg", "--oracle", "toy_oracles:label"),
        *("--out", "{out}/many"),
    ],
    "train": ["train", "mice", "--preset", "regions-logistic", "--out", "{out}/oracle.dfo"],
    "evaluate --out": [
        *("evaluate", "mice", "--preset", "regions-logistic", "--permutations", "2"),
        *("--out", "{out}/evaluation.json"),
    ],
    "compare --out": [
        *("compare", "mice", "sub-54811", "--methods", "tri,edg", "--out", "{out}/compared"),
    ],
    "cohort": [
        *("cohort", "groups.dfd", "--permutations", "19", "--patients", "4"),
        *("--engine", "serial", "--yes", "--out", "{out}/cohort"),
    ],
    "data import": ["data", "import", "files", "--out", "{out}/imported.dfd"],
    "demo": ["demo", "--out", "{out}/demo"],
    "paper": [
        *("paper", "--datasets", "kki", "--methods", "edg", "--limit", "2", "--robustness", "0"),
        *("--permutations", "0", "--engine", "serial", "--out", "{out}/paper"),
    ],
}


def disk(times: int, rng: random.Random, folder: Path) -> list[Row]:
    """Every writer on a disk that fills up, and where it may not write."""
    prepare(folder)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    ready = [*DENSEFLIP, "bench", "--config", "bench.toml", "--engine", "serial", "--out", "ready"]
    if (done := run(ready, cwd=folder)).returncode:
        raise Failed(done.stderr[-2000:])
    real = has_papers_data()
    known = [(name, words) for name, words in WRITERS.items() if real or name != "paper"]
    some = dict(known[:times])  # the short form takes the first, which are quick
    full = ended = closed = locked = 0
    for name, words in some.items():
        for _ in range(max(1, times // len(some))):
            well = on_disk(name, words, folder, f"size={rng.choice(SIZES)}k")
            if well is None:
                break
            full += 1
            ended += well
        if (well := on_disk(name, words, folder, "ro")) is not None:
            locked += 1
            if well:
                raise Failed(f"{name}: said to have written to a disk that is only read")
        closed += on_closed_folder(name, words, folder)
    what = "a denseflip error, no traceback, no incomplete file"
    rows = [Row(f"{len(some)} writers with a file in place of their folder", str(closed), what)]
    if not full:
        rows.append(Row("writers on a full disk", "0", "not run: no disk can be mounted here"))
        return rows
    return [
        *rows,
        Row(f"{len(some)} writers on a read-only disk", str(locked), what),
        Row(
            f"{len(some)} writers on a disk of {SIZES[0]} to {SIZES[-1]:,} KB that fills up",
            str(full),
            f"{what}; {ended} times there was enough space",
        ),
    ]


def on_disk(name: str, words: list[str], folder: Path, options: str) -> bool | None:
    """Run a writer on a tmpfs; whether it ended well, None if none can be mounted here."""
    place = folder / "small"
    place.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        return None
    try:
        done = run([*DENSEFLIP, *(w.format(out=place) for w in words)], cwd=folder)
        check_said(name, done)
        whole_files_only(name, place, done.returncode == 0)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)
    return done.returncode == 0


def on_closed_folder(name: str, words: list[str], folder: Path) -> int:
    """Run a writer where a file stands in place of the folder (root may write anywhere else)."""
    place = folder / "closed"
    place.write_text("this is a file")
    done = run([*DENSEFLIP, *(w.format(out=place) for w in words)], cwd=folder)
    check_said(name, done)
    if done.returncode == 0:
        raise Failed(f"{name}: said to have written under a file")
    if place.read_text() != "this is a file":
        raise Failed(f"{name}: wrote over a file that was not its own")
    return 1


def check_said(name: str, done: subprocess.CompletedProcess[str]) -> None:
    """Raise on a traceback, or on an error that was not foreseen."""
    text = done.stdout + done.stderr
    if "Traceback" in text or "not foreseen" in text:
        raise Failed(f"{name}: {text[-2000:]}")
    if done.returncode and not done.stderr.strip():
        raise Failed(f"{name}: ended with {done.returncode} and said nothing")


def whole_files_only(name: str, place: Path, well: bool) -> None:
    """Raise if a file under its final name cannot be read as what it is."""
    import json
    import zipfile

    for path in place.rglob("*"):
        if path.suffix == ".json":
            try:
                json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise Failed(f"{name}: {path.name} is half written ({error})") from error
        if path.suffix in (".dfo", ".dfd", ".npz") and not zipfile.is_zipfile(path):
            raise Failed(f"{name}: {path.name} is half written")
        if well and path.is_file() and not path.stat().st_size and path.suffix in COMPARED:
            raise Failed(f"{name}: said to be done, and {path.name} is empty")


# ---- clock, writers -------------------------------------------------------------------------

JUMPING = """
import random, time
_time, _rng = time.time, random.Random()
time.time = lambda: _time() + _rng.choice([0, 0, 86400 * 400, -86400 * 400, 3600, -3600])
"""


def clock(times: int, rng: random.Random, folder: Path) -> list[Row]:
    """Runs whose wall clock jumps."""
    prepare(folder)
    (folder / "sitecustomize.py").write_text(JUMPING)
    paths = os.pathsep.join([str(folder), str(ROOT / "src"), str(ROOT / "tests")])
    job = bench_job("serial")
    plain = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])}
    quiet = folder / "quiet"
    quiet.mkdir()
    prepare(quiet)
    plain["PYTHONPATH"] = os.pathsep.join([str(quiet), plain["PYTHONPATH"]])
    job.finish(quiet, folder / "steady", **plain)
    for number in range(times):
        out = folder / f"jumping-{number}"
        job.finish(folder, out, PYTHONPATH=paths)
        compare("clock", folder / "steady", out)
    return [Row("bench while the clock jumps by hours and years", str(times), "the same files")]


def writers(times: int, rng: random.Random, folder: Path) -> list[Row]:
    """Two runs at once into one folder."""
    prepare(folder)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    job = bench_job("serial")
    job.finish(folder, folder / "undisturbed")
    refused = 0
    for number in range(times):
        out = folder / f"both-{number}"
        two = [job.start(folder, out) for _ in range(2)]
        codes = [process.wait(timeout=PATIENCE) for process in two]
        if all(codes):
            raise Failed(f"both of two runs failed: {codes}")
        refused += any(codes)
        job.finish(folder, out)
        compare("two writers", folder / "undisturbed", out)
    text = f"the same files in the end; {refused} times the second run was refused"
    return [Row("two simultaneous runs of bench in one folder", str(times), text)]


PARTS: dict[str, tuple[Callable[[int, random.Random, Path], list[Row]], int, int]] = {
    "doors": (doors, 100_000, 400),
    "readers": (readers, 100_000, 2_000),
    "results": (results, 100_000, 200),
    "kills": (kills, 207, 3),
    "disk": (disk, 96, 2),
    "clock": (clock, 20, 1),
    "writers": (writers, 20, 1),
}

if __name__ == "__main__":
    sys.exit(main())
