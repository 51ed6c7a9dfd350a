"""Models of other libraries: the cost of a question, together and alone, beside the bare model.

- *A torch network*: 64 edited graphs (`synthetic`) asked at once beside 64 questions one by one,
  and beside the bare module called on ready tensors (what no adapter could beat). A whole
  explanation in batches beside the same one by one, which must come out the same.
- *A GIN and a GCN* (`mice:strain`): a default explanation, one by labels, and their parts, beside
  the same number of graphs through the bare module at its fastest: the batch size, and whether
  edges are passed as ``edge_index`` or as a sparse matrix.
- *The same network as an ONNX file*, likewise.
- *A scikit-learn pipeline* (`mice`): beside its own `predict` on ready rows.

Without torch or onnxruntime their lines are left out, and a note says so. Run it with
``python benchmarks/bench_models.py [--quick] [--before CHECKOUT]``.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from denseflip import Graph, as_oracle, explain, load_dataset
from measuring import Figures, Line, least, main, note

TOGETHER = 64
EDITS = 5
SIZES = (1, 4, 16, 64)  # batch sizes of the bare module
EPOCHS = 30


def edited(graph: Graph, count: int) -> list[Graph]:
    """Copies of a graph with a few pairs flipped, as a search asks about them."""
    rng = np.random.default_rng(0)
    n = graph.n_nodes
    u, v = np.triu_indices(n, 1)
    codes = u * n + v
    return [graph.toggle_codes(rng.choice(codes, EDITS, replace=False)) for _ in range(count)]


def network(width: int) -> Any:
    """A small network of torch alone."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    import torch

    from networks import Sage

    torch.manual_seed(0)
    torch.set_num_threads(1)
    return Sage(width).eval()


def asked(oracle: Any, graphs: list[Graph], bare: Any, repeats: int, name: str) -> Figures:
    """Seconds a graph: asked together, one by one, and by the bare model."""
    best = least(
        {
            "together": lambda: oracle.predict(graphs),
            "alone": lambda: [oracle.predict([g]) for g in graphs],
            "bare": bare,
        },
        repeats,
    )
    return {f"{name} {key}": value / len(graphs) for key, value in best.items()}


def explained(module: Any, data: Any, budget: int) -> Figures:
    """Seconds a question of one search, in batches and one by one; whether it found the same."""
    oracle = as_oracle(module, features="degree")
    scores = oracle.scores(data.graphs)
    module.last.bias.data[1] += float(np.median(scores[:, 0] - scores[:, 1]))
    seconds, found = {}, []
    for name, batch in (("together", 64), ("alone", 1)):
        started = time.process_time()
        result = explain(data.graphs[0], oracle, "obs", seed=1, budget=budget, batch=batch)
        seconds[f"explained {name}"] = (time.process_time() - started) / result.calls
        found.append((result.status, result.edits, result.calls))
    return {**seconds, "same": float(found[0] == found[1])}


def default_explanations(kind: str, graphs: int, repeats: int) -> Figures:
    """Seconds of default explanations, of their parts, and of the same graphs, bare."""
    from denseflip import Background
    from trained_networks import FEATURES, train

    mice = load_dataset("mice:strain")
    oracle = as_oracle(train(mice, kind, epochs=EPOCHS)[0], features=FEATURES)
    known, passed = Background(mice.graphs), []
    run = oracle._run

    def watched(some: list[Graph]) -> Any:
        passed.extend(some)
        return run(some)

    def explanations(information: str) -> None:
        for graph in mice.graphs[:graphs]:
            explain(
                graph, oracle, nodes=mice.nodes, background=known, information=information, seed=1
            )

    figures = {}
    for information in ("auto", "labels"):
        explanations(information)  # labels of the background, batch sizes
        passed.clear()
        oracle._run = watched
        explanations(information)
        oracle._run = run
        asked = list(passed)
        some = asked[:: max(1, len(asked) // TOGETHER)][:TOGETHER]
        bare = {
            f"{form} {size}": _bare(oracle, some, size, form) for form in FORMS for size in SIZES
        }
        times = least({"explained": lambda which=information: explanations(which)} | bare, repeats)
        scale = len(asked) / len(some)
        figures[f"{kind} {information} explained"] = times.pop("explained")
        figures[f"{kind} {information} floor"] = scale * min(times.values())
        for _ in range(repeats):
            for part, seconds in _parts(oracle, lambda which=information: explanations(which)):
                name = f"{kind} {information} {part}"
                figures[name] = min(seconds, figures.get(name, seconds))
    return figures


def _parts(oracle: Any, run: Any) -> list[tuple[str, float]]:
    """Seconds in the module, in the rest of a query, in gradients, and in the search."""
    spent = dict.fromkeys(("forward", "_run", "_gradient"), 0.0)

    def timed(owner: Any, name: str) -> None:
        inner = getattr(owner, name)

        def call(*given: Any, **named: Any) -> Any:
            started = time.process_time()
            try:
                return inner(*given, **named)
            finally:
                spent[name] += time.process_time() - started

        setattr(owner, name, call)

    places = ((oracle.module, "forward"), (oracle, "_run"), (oracle, "_gradient"))
    for owner, name in places:
        timed(owner, name)
    started = time.process_time()
    run()
    whole = time.process_time() - started
    for owner, name in places:
        delattr(owner, name)
    forward, asked, gradient = spent.values()
    # The forward passes of gradients are part of both figures; there are one or two of them.
    return [
        ("module", forward),
        ("inputs", asked - forward),
        ("gradient", gradient),
        ("search", whole - asked - gradient),
    ]


PARTS = {
    "module": "its calls of the module",
    "inputs": "inputs for the module, checks of outputs",
    "gradient": "gradients",
    "search": "the search",
}
FORMS = ("edges", "matrix")


def _bare(oracle: Any, graphs: list[Graph], size: int, form: str) -> Any:
    """The module on ready tensors, in batches of one size."""
    import torch

    from denseflip.oracles.networks import edge_matrix
    from denseflip.oracles.tensors import inputs_of

    ready = []
    for start in range(0, len(graphs), size):
        arrays = inputs_of(graphs[start : start + size], oracle.roles, oracle._rows)
        tensors = {name: torch.as_tensor(array) for name, array in arrays.items()}
        if form == "matrix":
            tensors["edge_index"] = edge_matrix(tensors["edge_index"], len(tensors["x"]))
        ready.append(tensors)

    def run() -> None:
        with torch.no_grad():
            for tensors in ready:
                oracle.module(**tensors)

    return run


def measure(quick: bool) -> Figures:
    """Time a question to each kind of model."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    repeats = 2 if quick else 5
    mice = load_dataset("mice")
    graphs = edited(mice.graphs[0], TOGETHER)
    rows = np.stack([g.degrees() for g in mice.graphs])
    pipeline = make_pipeline(MinMaxScaler(), LogisticRegression()).fit(rows, mice.labels)
    ready = np.stack([g.degrees() for g in graphs]).astype(float)
    oracle = as_oracle(pipeline, features="degrees")
    figures = asked(oracle, graphs, lambda: pipeline.predict(ready), repeats, "pipeline")
    try:
        import torch
    except ImportError:
        note('torch is not installed (pip install "denseflip[gnn]"): networks are left out.')
        return figures
    from denseflip.oracles.tensors import inputs_of, node_features

    module = network(1)
    small = load_dataset("synthetic")
    graphs = edited(small.graphs[0], TOGETHER)
    roles = {name: name for name in ("x", "edge_index", "batch")}
    arrays = inputs_of(graphs, roles, node_features("degree"))
    tensors = {name: torch.as_tensor(array) for name, array in arrays.items()}

    def bare() -> None:
        with torch.no_grad():
            module(**tensors)

    oracle = as_oracle(module, features="degree")
    figures |= asked(oracle, graphs, bare, repeats, "torch")
    figures |= explained(module, small, 60 if quick else 300)
    for kind in _kinds():
        figures |= default_explanations(kind, 1 if quick else 6, repeats)
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError:
        note('onnxruntime is not installed (pip install "denseflip[onnx]"): ONNX is left out.')
        return figures
    from denseflip import open_oracle
    from networks import export

    with tempfile.TemporaryDirectory() as folder:
        path = export(module, Path(folder) / "network.onnx")
        exported = open_oracle(f"onnx:{path}?features=degree")
        figures |= asked(
            exported, graphs, lambda: exported._call(arrays, TOGETHER), repeats, "onnx"
        )
    return figures


def _kinds() -> tuple[str, ...]:
    try:
        import torch_geometric  # noqa: F401
    except ImportError:
        note('PyG is not installed (pip install "denseflip[gnn]"): GIN and GCN are left out.')
        return ()
    return KINDS


KINDS = ("gin", "gcn")


def lines(figures: Figures) -> list[Line]:
    """Ratios: what a batch gains, and what the adapter costs."""
    out = []
    for name in ("torch", "onnx", "pipeline"):
        if f"{name} together" not in figures:
            continue
        together, alone = figures[f"{name} together"], figures[f"{name} alone"]
        bare = figures[f"{name} bare"]
        out.append(Line(f"{name}: one by one / {TOGETHER} together", alone / together, "×"))
        out.append(Line(f"{name}: {TOGETHER} together / the bare model", together / bare, "×"))
    if "explained alone" in figures:
        ratio = figures["explained alone"] / figures["explained together"]
        out.append(Line("torch: a question of `obs`, one by one / in batches", ratio, "×"))
        same = figures["same"]
        out.append(Line("torch: the same counterfactual both ways", same, at_least=1, must=True))
    for kind in KINDS:
        for information, what in (("auto", "a default explanation"), ("labels", "one by labels")):
            if f"{kind} {information} explained" not in figures:
                continue
            floor = figures[f"{kind} {information} floor"]
            name = f"mice {kind.upper()}: {what} / its graphs through the module"
            took = figures[f"{kind} {information} explained"]
            out.append(Line(name, took / floor, "×", at_most=1.3))
            for part, words in PARTS.items():
                share = figures[f"{kind} {information} {part}"] / floor
                out.append(Line(f"mice {kind.upper()}: {what}: {words}", share, "×"))
    return out


if __name__ == "__main__":
    sys.exit(main(__doc__, measure, lines))
