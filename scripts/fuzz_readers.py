"""Fuzz the file readers with atheris: ``python scripts/fuzz_readers.py N SEED``.

Each reader gets N inputs, starting from a small valid file. It must return a result or raise a
`DenseflipError`. At the first other outcome the script keeps the input in the current folder and
exits with 1; it exits with 3 if atheris is not installed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

KINDS = ("csv", "edgelist", "graphml", "npy", "npz", "mat", "dfd", "nodes", "result", "bench")


def samples(folder: Path) -> dict[str, bytes]:
    """A small sound file of every kind."""
    import json

    import numpy as np
    import scipy.io

    from denseflip import Graph, explain
    from denseflip.datasets import Dataset

    square = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    graph = Graph.from_adjacency(square)
    np.save(folder / "a.npy", square)
    np.savez(folder / "a.npz", adjacency=square)
    scipy.io.savemat(folder / "a.mat", {"connectivity": square})
    Dataset("d", (graph, graph), (0, 1), ("a", "b")).save(folder / "a.dfd")
    result = explain(graph, lambda a: int(a.sum() > 2), "tri")
    return {
        "csv": b"0,1,0\n1,0,1\n0,1,0\n",
        "edgelist": b"0 1\n1 2\n",
        "graphml": b'<graphml><graph edgedefault="undirected"><node id="0"/><node id="1"/>'
        b'<edge source="0" target="1"/></graph></graphml>',
        **{kind: (folder / f"a.{kind}").read_bytes() for kind in ("npy", "npz", "mat", "dfd")},
        "nodes": b"name,region,x,y,z\na,Front,0,0,0\nb,Back,1,2,3\n",
        "result": json.dumps(result.to_dict()).encode(),
        "bench": b'datasets = ["synthetic"]\nmethods = ["tri"]\nseeds = [0]\n',
    }


def uses(folder: Path) -> dict[str, Callable[[bytes], object]]:
    """What is done with the bytes of every kind."""
    import json
    import tomllib

    from denseflip import Nodes
    from denseflip.counterfactual import Counterfactual
    from denseflip.datasets import load_dataset, read_graph
    from denseflip.errors import DenseflipError
    from denseflip.experiments.bench_config import check_config

    def file(kind: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
        path = folder / f"input.{kind}"

        def use(data: bytes) -> object:
            path.write_bytes(data)
            return read(path)

        return use

    def result(data: bytes) -> object:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise DenseflipError("not of this kind") from error
        return Counterfactual.from_dict(value)

    def bench(data: bytes) -> object:
        try:
            value = tomllib.loads(data.decode())
        except (ValueError, RecursionError) as error:
            raise DenseflipError("not of this kind") from error
        return check_config(value)

    return {
        **{
            kind: file(kind, read_graph)
            for kind in ("csv", "edgelist", "graphml", "npy", "npz", "mat")
        },
        "dfd": file("dfd", load_dataset),
        "nodes": file("csv", Nodes.read_csv),
        "result": result,
        "bench": bench,
    }


def child(kind: str, n: int, seed: int) -> None:
    """One reader, in a process of its own: atheris does not come back."""
    import atheris

    with atheris.instrument_imports(include=["denseflip"]), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sound = samples(folder)[kind]
        use = uses(folder)[kind]
        from denseflip.errors import DenseflipError

        taken = [0, 0]

        def one(data: bytes) -> None:
            taken[0] += 1
            with contextlib.suppress(DenseflipError):
                use(data)
                taken[1] += 1
            if taken[0] == n:
                print(f"{kind}: {taken[0]} inputs, {taken[1]} taken", flush=True)

        corpus = folder / "corpus"
        corpus.mkdir()
        (corpus / "sound").write_bytes(sound)
        warnings.simplefilter("ignore")
        options = [f"-runs={n}", f"-seed={seed}", "-max_len=4096", "-rss_limit_mb=4096"]
        atheris.Setup([sys.argv[0], *options, str(corpus)], one)
        atheris.Fuzz()


def main() -> int:
    """Every reader in turn."""
    import importlib.util
    import subprocess

    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed: pip install atheris", file=sys.stderr)
        return 3
    n, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    each = -(-n // len(KINDS))
    for kind in KINDS:
        command = [sys.executable, __file__, "--one", kind, str(each), str(seed + 1)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
        line = [line for line in done.stdout.splitlines() if line.startswith(f"{kind}: ")]
        if done.returncode or not line:
            print(done.stdout[-500:], done.stderr[-3000:], file=sys.stderr)
            return 1
        print(line[-1], flush=True)
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        child(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        sys.exit(main())
