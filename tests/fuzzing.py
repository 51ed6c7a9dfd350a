"""Files and dictionaries changed at random, and the doors that they are brought to.

`Fuzz(seed, folder)` gives one case after the other: a door's name and a function that opens it with
something mutated. Whatever comes of it must be a result or an error of our own.
"""

from __future__ import annotations

import copy
import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

import bombs
from cohorts import make_cohort
from denseflip import Counterfactual, Graph, Story, describe, explain, fit_oracle, load_oracle
from denseflip.classifiers.evaluation import Evaluation
from denseflip.datasets import Card, export_dataset, import_folder, load_dataset, read_graph
from denseflip.datasets.connectome import Keep
from denseflip.experiments.bench_config import read_config
from denseflip.graph import Nodes
from denseflip.story.wording.vocabulary import Vocabulary

PIECES = (
    b"9" * 5000, b"-1", b"1e309", b"nan", b"\0", b",", b"\n", b"\t", b'"', b"\xff\xfe", b"1" * 20,
    b"{", b"[", b"\xf0\x9f\xa7\xa0", b"<", b"x" * 140_000, b"\r", b"\x1b[31m", b"99999999999",
    b"0.5", b" ", b";", b"\xe2\x80\xae", b"\x0b", b"\xc2\x85",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1.5, float("nan"), float("inf"), "x", "", [], {}, [[]], [None], {"a": 1},
    10**30, 10**5000, "\ud800", b"x", [1, 2, 3], [["a", "b"]], [[0, 0]], object,
)  # fmt: skip
CONFIG = """
datasets = ["mice", "synthetic:hypo"]
oracles = ["edges-svm", {function = "own:label", name = "own"}]
methods = ["tri", {name = "cli+min", parameters = {max_iterations = 50}}]
seeds = [0, 1]
budget = 200

[graphs]
limit = 5

[measures]
robustness = 3

[run]
engine = "serial"
"""
KINDS = ("auto", "auto", "matrix", "timeseries", "edges")
KEEPS = (None, None, Keep(percentile=90), Keep(threshold=0.5), Keep(edges=2))


class Fuzz:
    """Mutated input for every door.

    Parameters
    ----------
    seed : the same seed gives the same cases.
    folder : where files are written.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.data = data = make_cohort()
        self.files: dict[str, bytes] = {".txt": b"0 1\n1 2\n2 0\n"}
        for form in ("csv", "tsv", "npy", "npz", "edges", "graphml"):
            out = export_dataset(data, folder / form, format=form)
            path = sorted((out / "graphs").iterdir())[0]
            self.files[path.suffix] = path.read_bytes()
        matrix = {"a": data.graphs[0].to_adjacency()}
        scipy.io.savemat(folder / "a.mat", matrix, do_compression=True)
        self.files[".mat"] = (folder / "a.mat").read_bytes()
        self.dfd = data.save(folder / "a.dfd").read_bytes()
        oracle = fit_oracle(data, "edges-svm")
        self.dfo = oracle.save(folder / "a.dfo").read_bytes()
        result = explain(data.graphs[0], oracle, "tri+min", nodes=data.nodes)
        self.result = result.to_dict()
        self.story = describe(result, data.nodes, oracle).to_dict()
        self.tables = {
            name: (folder / "csv" / name).read_bytes()
            for name in ("nodes.csv", "labels.csv", "card.json")
        }
        self.doors: tuple[Callable[[], tuple[str, Callable[[], object]]], ...] = (
            *[self._graph] * 5,
            self._dataset,
            self._oracle,
            self._nodes,
            self._import,
            self._result,
            self._story,
            self._dictionary,
            self._config,
            self._name,
        )

    def case(self) -> tuple[str, Callable[[], object]]:
        """The next case: the door's name, and what opens it."""
        return self.rng.choice(self.doors)()

    # ---- the doors ----------------------------------------------------------------------

    def _graph(self) -> tuple[str, Callable[[], object]]:
        rng, suffix = self.rng, self.rng.choice(sorted(self.files))
        path = self.folder / f"m{suffix}"
        path.write_bytes((self.zipped if suffix == ".npz" else self.bytes)(self.files[suffix]))
        options: dict[str, Any] = {
            "kind": "auto" if suffix == ".graphml" else rng.choice(KINDS),
            "keep": rng.choice(KEEPS),
            "nodes": rng.choice((None, self.data.nodes)),
            "variable": rng.choice((None, None, "a")),
        }
        return f"graph {suffix}", lambda: read_graph(path, **options)

    def _dataset(self) -> tuple[str, Callable[[], object]]:
        path = self.folder / "m.dfd"
        path.write_bytes(self.zipped(self.dfd))

        def use() -> object:
            data = load_dataset(path)
            return data.summary(), repr(data), data.nodes.to_dict()

        return "data set", use

    def _oracle(self) -> tuple[str, Callable[[], object]]:
        path = self.folder / "m.dfo"
        path.write_bytes(self.zipped(self.dfo))

        def use() -> object:
            oracle = load_oracle(path)
            labels = oracle.predict(self.data.graphs[:2])
            return labels, oracle.estimator, repr(oracle), str(oracle.card)

        return "classifier", use

    def _nodes(self) -> tuple[str, Callable[[], object]]:
        path = self.folder / "m.csv"
        path.write_bytes(self.bytes(self.tables["nodes.csv"]))
        return "node table", lambda: Nodes.read_csv(path)

    def _import(self) -> tuple[str, Callable[[], object]]:
        form = self.rng.choice(("csv", "edges", "graphml", "npz"))
        for name, content in self.tables.items():
            if self.rng.random() < 0.4:
                content = self.bytes(content)
            elif name == "card.json" and self.rng.random() < 0.5:
                content = _json(self.tree(json.loads(content)))
            (self.folder / form / name).write_bytes(content)
        return f"folder {form}", lambda: import_folder(self.folder / form).summary()

    def _result(self) -> tuple[str, Callable[[], object]]:
        data = self.tree(self.result)

        def use() -> object:
            result = Counterfactual.from_dict(data)
            return str(result), repr(result), result._repr_html_(), result.amortised_calls

        return "result", use

    def _story(self) -> tuple[str, Callable[[], object]]:
        data = self.tree(self.story)

        def use() -> object:
            story = Story.from_dict(data)
            return str(story), story.short, story.detailed, story.to_dict()

        return "story", use

    def _dictionary(self) -> tuple[str, Callable[[], object]]:
        parts = (self.data.graphs[0], self.data.nodes, self.data.card)
        data = self.tree(self.rng.choice(parts).to_dict())
        kind: Any = self.rng.choice((Graph, Nodes, Card, Evaluation, Vocabulary))
        return f"{kind.__name__}.from_dict", lambda: kind.from_dict(data)

    def _config(self) -> tuple[str, Callable[[], object]]:
        path = self.folder / "m.toml"
        deep = self.rng.random() < 0.05
        path.write_bytes(b"a=" + b"[" * 10_000 if deep else self.bytes(CONFIG.encode()))
        return "configuration", lambda: read_config(path)

    def _name(self) -> tuple[str, Callable[[], object]]:
        options = self.bytes(b"strength=2,seed=3").decode("latin-1")
        name = f"{self.rng.choice(('mice', 'synthetic', 'kki'))}:{options}"
        return "name", lambda: load_dataset(name)

    # ---- changes ------------------------------------------------------------------------

    def bytes(self, content: bytes) -> bytes:
        """Bytes with a few of them changed, added, doubled or left out."""
        rng, data = self.rng, bytearray(content)
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(data) + 1)
            match rng.randrange(8):
                case 0 if data:
                    data[at % len(data)] = rng.randrange(256)
                case 1:
                    data[at:at] = rng.randbytes(rng.randrange(1, 6))
                case 2:
                    del data[at : at + rng.randrange(1, 30)]
                case 3:
                    del data[at:]
                case 4:
                    data[at:at] = rng.choice(PIECES)
                case 5:
                    start = rng.randrange(len(data) + 1)
                    data[at:at] = data[start : start + rng.randrange(1, 50)]
                case 6 if len(data) < 100_000:
                    data.extend(bytes(data))
                case _:
                    old = rng.choice((b"0", b"1", b",", b"\n", b'"'))
                    new = rng.choice((b"", b"2", b"-", b";", b"nan", b"\n\n"))
                    data = data.replace(old, new, rng.choice((1, 3, -1)))
        return bytes(data)

    def tree(self, value: Any) -> Any:
        """Plain data with one or two of its parts replaced or left out."""
        if self.rng.random() < 0.03:
            return self.rng.choice(VALUES)
        value = copy.deepcopy(value)
        for _ in range(self.rng.choice((1, 1, 2))):
            place: tuple[Any, Any] | None = None
            part = value
            while isinstance(part, (dict, list)) and part:
                keys = list(part) if isinstance(part, dict) else range(len(part))
                place = part, self.rng.choice(keys)
                part = part[place[1]]
                if self.rng.random() < 0.3:
                    break
            if place is None:
                continue
            if self.rng.random() < 0.2:
                del place[0][place[1]]
            else:
                place[0][place[1]] = self.rng.choice(VALUES)
        return value

    def zipped(self, content: bytes) -> bytes:
        """An archive changed as a whole, or with one member changed, or oddly packed."""
        rng = self.rng
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = {name: archive.read(name) for name in archive.namelist()}
        except zipfile.BadZipFile:
            members = {}
        if not members or rng.random() < 0.4:
            return self.bytes(content)
        name = rng.choice(sorted(members))
        members[name] = self._member(name, members[name])
        if rng.random() < 0.1:
            del members[name]
        packed = bombs.zip_of(members, compression=rng.choice((0, 8, 8, 12, 14)))
        if rng.random() < 0.1:  # said to be encrypted
            packed = packed.replace(b"PK\3\4\x14\0\0", b"PK\3\4\x14\0\1")
            packed = packed.replace(b"PK\1\2\x14\3\x14\0\0", b"PK\1\2\x14\3\x14\0\1")
        return packed

    def _member(self, name: str, content: bytes) -> bytes:
        rng = self.rng
        if name.endswith(".json") and rng.random() < 0.7:
            return _json(self.tree(json.loads(content)))
        if name == "header.npy":
            header = self.tree(json.loads(np.load(io.BytesIO(content)).tobytes()))
            return bombs.npy(np.frombuffer(_json(header), np.uint8))
        if name.endswith(".skops") and rng.random() < 0.7:
            return self.zipped(content)
        if name.endswith(".npy") and rng.random() < 0.6:
            array = np.atleast_1d(np.load(io.BytesIO(content), allow_pickle=False))
            if array.dtype.kind in "biuf":
                kind = rng.choice(("i8", "f8", "u1", "f4", "?", "c8", "S3", "U2"))
                with np.errstate(invalid="ignore"):
                    array = array.astype(kind)
            forms = (array, array[:1], array.reshape(-1, 1), np.append(array, array), array[:0])
            return bombs.npy(rng.choice(forms))
        return self.bytes(content)


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, default=str).encode()
    except ValueError:  # an int of 5,000 digits
        return b'{"a": ' + b"9" * 5000 + b"}"
