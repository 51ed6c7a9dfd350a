"""Try every method on graphs of several sizes: does it end, in what time, with which answer?

    python scripts/try_methods_by_size.py [--sizes 1000,3000,10000] [--limit 60] [--only NAME]

Networks of modules with 6.5 edges per node, 24 background graphs and a cheap oracle
(`benchmarks/modules.py`). Each run is a process of its own. It is stopped after twice the limit, in
seconds of processor time, and that is reported as a failure.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from denseflip import Background, DenseflipError, explain
from denseflip.search.methods.registry import METHODS
from modules import CountingOracle, module_cohort, module_nodes


def run(method: str, n_nodes: int, limit: float | None) -> dict[str, object]:
    """One explanation, and what it took."""
    first, *others = module_cohort(n_nodes)
    nodes, oracle = module_nodes(n_nodes), CountingOracle(n_nodes)
    start, begun = time.process_time(), time.monotonic()
    try:
        result = explain(
            first,
            oracle,
            method,
            nodes=nodes,
            background=Background(others),
            time_limit=limit,
        )
    except DenseflipError as error:  # a method that cannot serve here says what to take
        return {"seconds": 0.0, "status": "refused", "notes": [str(error)]}
    return {
        "seconds": round(time.process_time() - start, 2),
        "passed": round(time.monotonic() - begun, 2),
        "status": str(result.status.value),
        "edits": result.distance if result.found else None,
        "calls": result.calls,
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "notes": list(result.notes)[:3],
    }


def main() -> int:
    """Run all, print a line for each, and fail if one took too long or raised an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,3000,10000")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--time-limit", type=float, default=None, help="of the search, in seconds")
    parser.add_argument("--only", default="")
    parser.add_argument("--one", nargs=2, metavar=("METHOD", "NODES"))
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run(given.one[0], int(given.one[1]), given.time_limit)))
        return 0
    failed = 0
    for size in given.sizes.split(","):
        for name in given.only.split(",") if given.only else METHODS:
            command = [sys.executable, __file__, "--one", name, size]
            if given.time_limit is not None:
                command += ["--time-limit", str(given.time_limit)]
            seconds = int(2 * given.limit) + 60  # the graphs are made in the same process

            def stop(seconds: int = seconds) -> None:
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

            done = subprocess.run(
                command, capture_output=True, text=True, preexec_fn=stop, check=False
            )
            if done.returncode:
                why = done.stderr.strip().splitlines()[-1:] or ["stopped: too slow"]
                print(f"{name:10} {int(size):7,}  FAILED  {why[0]}", flush=True)
                failed += 1
                continue
            row = json.loads(done.stdout)
            if row["status"] == "refused":
                print(f"{name:10} {int(size):7,}  refused  {row['notes'][0]}", flush=True)
                continue
            late = row["seconds"] > given.limit
            if given.time_limit is not None:
                late = row["passed"] > 1.2 * given.time_limit + 2
            failed += late
            print(
                f"{name:10} {int(size):7,}  {row['seconds']:7.2f} s  "
                f"{row['passed']:7.2f} s passed  {row['peak_gb']:5.2f} GB  "
                f"{row['status']:10} {row['edits']!s:>8} edits {row['calls']:7,} calls"
                f"{'  TOO SLOW' if late else ''}",
                flush=True,
            )
            if row["status"] != "found":
                for note in row["notes"]:
                    print(f"             {note}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
