"""What a worker holds and does: the clock, the context, and what it has to import."""

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import denseflip
from benches import bench_specs
from cohorts import make_cohort
from denseflip.errors import OracleError
from denseflip.experiments.explain_many import plan_many
from denseflip.experiments.plan import method_spec
from denseflip.experiments.worker import Context, TimedOracle, share_context
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.session import Session
from denseflip.runs.identity import code_files
from denseflip.runs.sources import preset_oracle
from denseflip.runs.spec_base import run_chunk
from denseflip.search.explain import explain

DATA = make_cohort(4)


class Plain:
    """Labels by the number of edges, and counts what it is asked."""

    asked = 0

    def predict(self, graphs):
        self.asked += len(graphs)
        return [int(g.n_edges > 20) for g in graphs]


class Rich(Plain):
    """Can do all that an oracle may offer."""

    classes = (0, 1)
    card = "rich"
    asked_edits = 0
    asked_how_sure = 0

    def predict_edits(self, base, edits):
        self.asked_edits += len(edits)
        return [int(base.toggle_codes(codes).n_edges > 20) for codes in edits]

    def predict_proba(self, graphs):
        self.asked_how_sure += len(graphs)
        return np.array([[0.25, 0.75] if g.n_edges > 20 else [0.75, 0.25] for g in graphs])


def test_what_an_oracle_offers_goes_through_the_clock():
    rich = Rich()
    timed = TimedOracle(rich)
    assert timed.classes == (0, 1)
    assert timed.card == "rich"
    graph = DATA.graphs[0]
    assert timed.predict([graph, graph]) == rich.predict([graph, graph])
    assert timed.graphs == 2
    assert timed.predict_edits(graph, [np.array([1])] * 3) == [int(graph.n_edges > 20)] * 3
    assert timed.graphs == 5
    assert timed.predict_proba([graph]).shape == (1, 2)
    assert timed.graphs == 6
    assert timed.seconds > 0
    assert Session(timed, confidence=True).query(graph).confidence == 0.75


def test_what_an_oracle_lacks_is_not_made_up():
    timed = TimedOracle(Plain())
    for name in ("predict_edits", "predict_proba", "classes", "card"):
        assert not hasattr(timed, name)
    with pytest.raises(OracleError, match="no confidence"):
        Session(timed, confidence=True)
    again = pickle.loads(pickle.dumps(TimedOracle(Rich())))
    assert again.classes == (0, 1)


def test_a_gradient_goes_through_the_clock_if_it_belongs_to_the_labels():
    class Sloped(Plain):
        def predict(self, graphs):
            return [int(g.n_edges > 20) for g in graphs]

        def gradient(self, graph, label):
            return np.full(graph.n_pairs, 1.0 if label == 1 else -1.0)

    class Changed(Sloped):
        def predict(self, graphs):  # the gradient is that of other labels
            return [int(g.n_edges <= 20) for g in graphs]

    graph = DATA.graphs[0]
    for wrap in (TimedOracle, lambda oracle: as_oracle(oracle, class_names=["few", "many"])):
        assert Session(wrap(Sloped())).offers_gradient
        assert not Session(wrap(Changed())).offers_gradient
    timed = TimedOracle(Sloped())
    assert len(timed.gradient(graph, 1)) == graph.n_pairs
    assert timed.graphs == 1


def test_an_error_is_the_oracles_own_and_its_time_counts():
    class Broken:
        def predict(self, graphs):
            raise ValueError("no")

    timed = TimedOracle(Broken())
    with pytest.raises(ValueError, match="no"):
        timed.predict(DATA.graphs)
    assert timed.graphs == len(DATA)


def test_a_search_uses_edits_where_the_oracle_takes_them(folder):
    rich = Rich()
    direct = explain(DATA.graphs[0], Plain(), "tri")
    timed = TimedOracle(rich)
    result = explain(DATA.graphs[0], timed, "tri")
    assert (result.edits, result.calls) == (direct.edits, direct.calls)
    assert rich.asked_edits
    assert timed.graphs == rich.asked + rich.asked_edits + rich.asked_how_sure


def test_the_data_set_is_asked_about_once_for_all_explanations(folder):
    plain = Plain()
    context = Context(DATA, plain)
    spec = bench_specs(folder, methods=["dat"])[0]
    assert context.labels == [int(g.n_edges > 20) for g in DATA.graphs]
    before = plain.asked
    first = context.explain(spec)
    assert first.background_calls == len(DATA)
    assert plain.asked < before + len(DATA)
    assert len(context.case(first, spec.job.measures).background) == len(DATA)


@pytest.mark.parametrize("preset", ["sf-knn", "edges-svm"])
def test_a_worker_answers_with_what_was_trained_without_scikit_learn(folder, preset):
    job = replace(bench_specs(folder)[0].job, oracle=preset_oracle(preset))
    spec = replace(bench_specs(folder)[0], job=job)
    shared = share_context(job.data, job.oracle, folder)
    (folder / "spec.pickle").write_bytes(pickle.dumps(spec))
    code = (
        "import pickle, sys\n"
        "from denseflip.runs.spec_base import run_chunk\n"
        "spec = pickle.load(open('spec.pickle', 'rb'))\n"
        f"record, = run_chunk([spec], {shared!r})\n"
        "heavy = {'sklearn', 'networkx', 'pandas', 'matplotlib', 'jinja2', 'typer', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "pickle.dump(record, open('record.pickle', 'wb'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n", "imported though nobody needs it"
    theirs = pickle.loads(Path("record.pickle").read_bytes())
    (ours,) = run_chunk([spec])
    assert theirs["result"] == ours["result"]
    assert theirs["whole"] == ours["whole"]


def test_a_worker_gets_the_refits_that_were_trained(folder):
    source = bench_specs(folder)[0].job.data.ref
    spec = plan_many(source, "edges-svm", ["g0001"])[0]
    (ours,) = run_chunk([spec])
    assert ours["told"]["result"]["stability"], "refits were trained here"
    shared = spec.share(folder)
    (folder / "spec.pickle").write_bytes(pickle.dumps(spec))
    code = (
        "import pickle, sys\n"
        "from denseflip.runs.spec_base import run_chunk\n"
        "spec = pickle.load(open('spec.pickle', 'rb'))\n"
        f"record, = run_chunk([spec], {shared!r})\n"
        "print('sklearn' in sys.modules)\n"
        "pickle.dump(record, open('record.pickle', 'wb'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "False\n", "no refit is trained again"
    theirs = pickle.loads(Path("record.pickle").read_bytes())
    assert theirs["told"] == ours["told"]


NO_CODE = (
    "_version",
    "checks",
    "datasets",
    "errors",
    "experiments.spec",
    "files",
    "option",
    "limits",  # decides whether there is a result, not which
    "runs.identity",
    "runs.result_store",
    "runs.spec_base",
)


@pytest.mark.parametrize(("reading", "method"), [("plain", "dbs+min"), ("published", "dat+bw")])
def test_all_that_a_worker_runs_is_part_of_a_results_version(folder, reading, method):
    job = replace(
        bench_specs(folder)[0].job,
        oracle=preset_oracle("sf-knn"),
        method=method_spec(method, reading=reading),
    )
    (folder / "spec.pickle").write_bytes(pickle.dumps(replace(bench_specs(folder)[0], job=job)))
    code = (
        "import pickle, sys\n"
        "from denseflip.runs.spec_base import run_chunk\n"
        "record, = run_chunk([pickle.load(open('spec.pickle', 'rb'))])\n"
        "assert 'failed' not in record, record\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('denseflip.')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    root = Path(denseflip.__file__).parent
    known = set(code_files(root))
    for text in done.stdout.split():
        module = ".".join(Path(text).relative_to(root).with_suffix("").parts)
        if not module.startswith(NO_CODE) and not module.endswith("__init__"):
            assert Path(text) in known, f"{module} decides results: add it to _CODE"
