"""The benchmark: frozen classifiers, counts, adapters, trials in a child process, tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

from cohorts import make_cohort
from denseflip.arena import scores
from denseflip.arena.adapters.gretel import check_checkout
from denseflip.arena.arena_page import write_arena
from denseflip.arena.child import Child, _Opened, solve
from denseflip.arena.frozen import KINDS, freeze, open_frozen, read_card
from denseflip.arena.judge import Judge
from denseflip.arena.peers import PEERS, find_explainer, is_missing
from denseflip.arena.plan import Settings, choose_sides, make_arena_plan
from denseflip.arena.problem import Meter, Problem, edit_in_order
from denseflip.arena.trial import Contender, Side, Trial
from denseflip.counterfactual import Counterfactual, Status
from denseflip.datasets import make_synthetic
from denseflip.errors import ConfigError, UnknownNameError
from denseflip.graph import Edits, Graph
from denseflip.graph.pairs import decode
from denseflip.oracles.base_session import BudgetSpentError
from denseflip.oracles.renumbered import RenumberedOracle, renumber
from denseflip.runs.result_store import Store
from denseflip.runs.run import run_specs
from denseflip.runs.sources import data_spec
from denseflip.search.claims.claim import Amount, Claim
from denseflip.search.claims.intervals import prediction_interval

ROOT = Path(__file__).parents[3]
PEER = """
import os, time
import numpy as np

def crash(problem):
    os._exit(3)

def hang(problem):
    time.sleep(60)

def busy(problem):
    while True:
        pass

def fail(problem):
    raise ValueError("no idea")

def same(problem):
    return problem.graph

def other_size(problem):
    return np.zeros((3, 3))

def spend(problem):
    while True:
        problem.label_of(problem.graph)

def trained(problem):
    def train():
        started = time.process_time()
        while time.process_time() - started < 0.3:
            pass
    problem.once("fit", train)

def loud(problem):
    print("hello")
    for graph, label in problem.background:
        if label != problem.label:
            return graph.to_adjacency()
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A data set in a file, a frozen classifier, and a module of bad peers."""
    folder = tmp_path_factory.mktemp("arena")
    make_cohort(signal=0.5).save(folder / "toy.dfd")
    (folder / "bad_peers.py").write_text(PEER)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def opened(place):
    spec, dataset = data_spec(str(place / "toy.dfd"))
    card = freeze("toy", dataset, "linear", 0, place / "classifiers")
    return spec, dataset, card, place / "classifiers" / card.file


@pytest.fixture(scope="module")
def child():
    made = Child()
    yield made
    made.stop()


def make_trial(opened, explainer: str, **other) -> Trial:
    spec, dataset, card, path = opened
    contender = Contender(explainer, "labels", False, {})
    given = {"seed": 0, "budget": 300, "renumbering": 0, "seconds": 60, "described": False, **other}
    return Trial(Side(spec, card, str(path)), contender, dataset.ids[0], **given)


def make_problem(opened, budget: int = 500) -> Problem:
    _, dataset, card, path = opened
    frozen, order = open_frozen(path, card.sha256), np.arange(dataset.n_nodes)
    return Problem(frozen, dataset, dataset.graphs[0], 0, Meter(budget), order)


def test_training_again_gives_the_same_weights(opened, tmp_path):
    _, dataset, card, _ = opened
    again = freeze("toy", dataset, "linear", 0, tmp_path)
    assert again.weights == card.weights
    assert again.held_out == card.held_out
    assert freeze("toy", dataset, "linear", 1, tmp_path).weights != card.weights


def test_a_changed_classifier_is_refused(opened, tmp_path):
    _, dataset, *_ = opened
    card = freeze("toy", dataset, "linear", 0, tmp_path)
    path = tmp_path / card.file
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(ConfigError, match="SHA-256"):
        read_card(path.with_suffix(".json"))
    with pytest.raises(ConfigError, match="changed"):
        open_frozen(path, card.sha256)


def test_calls_are_counted_by_phase_and_limited(opened):
    problem = make_problem(opened, budget=3)
    assert len(problem.background) == len(problem.dataset)
    problem.labels_of(problem.graphs[:2])
    with problem.meter.during("training"):
        problem.labels_of(problem.graphs[:4])
    meter = problem.meter
    assert (meter.forwards, meter.background, meter.training) == (2, len(problem.dataset), 4)
    with pytest.raises(BudgetSpentError):
        problem.labels_of(problem.graphs[:2])
    assert meter.forwards == 2


def test_what_is_trained_once_is_charged_every_time(opened):
    problem = make_problem(opened)
    for _ in range(2):
        problem.once("fit", lambda: problem.labels_of(problem.graphs[:3]))
    assert problem.meter.training == 6
    assert problem.meter.training_seconds == pytest.approx(2 * problem.meter.spent_seconds)


def test_seconds_of_the_search_leave_out_training_whoever_did_it(opened, child):
    for _ in range(2):
        reply = child.solve(make_trial(opened, "bad_peers:trained"))
        assert reply.training_seconds >= 0.3
        assert 0 <= reply.seconds < 0.2


def test_edits_in_order_end_at_the_first_flip(opened):
    problem = make_problem(opened)
    other = next(g for g, label in problem.background if label != problem.label)
    order = other.difference(problem.graph)
    found = edit_in_order(problem, order)
    assert found is not None
    size = len(found.difference(problem.graph))
    assert problem.flips(found)
    assert not any(problem.flips(problem.graph.toggle_codes(order[:k])) for k in range(size))


def test_renumbering_is_undone():
    graph = make_cohort().graphs[0]
    order = np.random.default_rng(1).permutation(12)
    assert renumber(renumber(graph, np.argsort(order)), order) == graph


@pytest.mark.parametrize("renumbering", [0, 1])
@pytest.mark.parametrize("name", ["race", "con", "random"])
def test_an_answer_is_judged_by_a_classifier_of_its_own(opened, name, renumbering):
    _, dataset, card, path = opened
    reply = solve(make_trial(opened, name, renumbering=renumbering), _Opened())
    row = Judge(dataset, str(path), card.sha256).judge(dataset.ids[0], reply, described=True)
    assert row["found"], reply.problem
    graph = dataset.graphs[0]
    after = set(Graph(12, np.asarray(reply.codes)).edges())
    assert row["ged"] == len(set(graph.edges()) ^ after) == row["added"] + row["removed"]
    assert 0 < row["calls"] == reply.forwards
    assert row["side"] in scores.SIDES


def test_one_region_with_all_regions_is_judged_by_all_its_connections(tmp_path):
    dataset = make_synthetic(seed=3)
    card = freeze("synthetic", dataset, "linear", 0, tmp_path)
    judge = Judge(dataset, str(tmp_path / card.file), card.sha256)
    regions = dataset.nodes.taxonomy()
    n, k = dataset.n_nodes, len(regions.regions)
    before = judge.labels[0]
    last = max(i for i, label in enumerate(judge.labels) if label != before)
    graph, after = dataset.graphs[0], dataset.graphs[last]
    changed = after.difference(graph)
    there = np.isin(changed, graph.codes)
    edits = Edits(tuple(decode(changed[~there], n)), tuple(decode(changed[there], n)))
    result = Counterfactual(Status.FOUND, graph, edits, before, judge.labels[last])
    for a in range(k):
        ends = [
            sum(a in (regions.index[u], regions.index[v]) for u, v in one.edges())
            for one in dataset.graphs
        ]
        group = [x for x, label in zip(ends, judge.labels, strict=True) if label != before]
        low, high = prediction_interval(group, n * n)
        claim = Claim((Amount((a, k), 1, 0),), judge.labels[last], "regions", regions)
        assert (judge.side(result, claim) == "in range") == (low <= ends[last] <= high)


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        ("crash", "crashed (3)"),
        ("hang", "no answer within 0.5 s"),
        ("busy", "no answer within 0.5 s"),
        ("fail", "no idea"),
        ("same", "the answer has the old label"),
        ("other_size", "12"),
        ("spend", "budget spent"),
    ],
)
def test_a_bad_peer_is_not_found_and_shown(opened, child, function, problem):
    _, dataset, card, path = opened
    seconds = 0.5 if function in ("hang", "busy") else 60
    reply = child.solve(make_trial(opened, f"bad_peers:{function}", seconds=seconds))
    row = Judge(dataset, str(path), card.sha256).judge(dataset.ids[0], reply, described=True)
    assert not row["found"]
    assert problem in row["problem"]
    assert (row["calls"] is None) == (function in ("crash", "hang", "busy"))


def test_the_child_goes_on_after_a_crash_and_ignores_prints(opened, child):
    child.solve(make_trial(opened, "bad_peers:crash"))
    good = child.solve(make_trial(opened, "bad_peers:loud"))
    assert good.problem == ""
    assert good.codes is not None


def test_names_are_checked(tmp_path):
    with pytest.raises(UnknownNameError, match="GNNExplainer"):
        find_explainer("GNNExplaner")
    with pytest.raises(ConfigError, match="cannot be imported"):
        find_explainer("no_such_module:function")
    with pytest.raises(ConfigError, match="option gretel"):
        find_explainer("GRETEL-OBS")


def test_another_version_of_gretel_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="no checkout"):
        check_checkout(tmp_path)
    (tmp_path / "README.md").write_text("# GRETEL (v1.0)\n")
    with pytest.raises(ConfigError, match=r"v1\.0.*use v2"):
        check_checkout(tmp_path)
    (tmp_path / "README.md").write_text("# GRETEL (v2.0)\n")
    with pytest.raises(ConfigError, match="has no src"):
        check_checkout(tmp_path)


def test_a_checkout_that_cannot_be_imported_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr("denseflip.arena.peers._is_there", lambda module: True)
    (tmp_path / "README.md").write_text("# GRETEL (v2.0)\n")
    for module, text in {"heuristic/obs": "import no_such_package", "search/i_rand": ""}.items():
        path = tmp_path / "src" / "explainer" / f"{module}.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    missing = is_missing(find_explainer("GRETEL-OBS", tmp_path))
    assert missing is not None
    assert "No module named 'no_such_package'" in missing.reason
    assert is_missing(find_explainer("GRETEL-iRand", tmp_path)) is None


def test_a_peer_that_is_not_installed_is_skipped_with_the_pip_line(monkeypatch):
    monkeypatch.setattr("denseflip.arena.peers._is_there", lambda module: module != "captum")
    missing = is_missing(PEERS["saliency"])
    assert missing is not None
    assert missing.reason == "not installed; run: pip install captum"


def test_a_run_is_resumed_and_written(place, tmp_path):
    data = str(place / "toy.dfd")
    settings = Settings(
        {data: ("linear",)},
        ("con", "random", "bad_peers:same"),
        graphs=2,
        repeated=1,
        seeds=2,
        trainings=2,
        budget=200,
    )
    plan = make_arena_plan(settings, tmp_path / "classifiers")
    store = Store(tmp_path / "store")
    first = run_specs(plan.trials, store)
    assert not first.failures
    assert run_specs(plan.trials, store).reused == len(plan.trials)
    tables, remarks = write_arena(plan, first, tmp_path)
    assert not remarks
    by_name = {row[2]: dict(zip(tables[2].columns, row, strict=True)) for row in tables[2].rows}
    assert by_name["bad_peers:same"]["validity"] == 0
    assert by_name["con"]["validity"] == 1
    reasons = {row[3] for row in tables[5].rows}
    assert "the answer has the old label" in reasons
    overall = {row[0]: dict(zip(tables[0].columns, row, strict=True)) for row in tables[0].rows}
    assert overall["con"]["edits / fewest"] >= 1
    assert overall["bad_peers:same"]["edits / fewest"] is None
    facts = json.loads((tmp_path / "arena.json").read_text())
    assert facts["trials"] == len(plan.trials)
    assert (tmp_path / "figures" / "price.svg").is_file()
    verify = run_path(str(ROOT / "scripts" / "verify_arena.py"))["main"]
    assert verify(tmp_path) == 0
    scored = (tmp_path / "scores.csv").read_text()
    (tmp_path / "scores.csv").write_text(scored.replace("labels,False,2,", "labels,False,3,"))
    assert verify(tmp_path) == 3  # the number of graphs of each explainer
    lines = (tmp_path / "trials.jsonl").read_text().splitlines()
    changed = {**json.loads(lines[-1]), "ged": 1000}
    (tmp_path / "scores.csv").write_text(scored)
    (tmp_path / "trials.jsonl").write_text("\n".join([*lines[:-1], json.dumps(changed)]) + "\n")
    assert verify(tmp_path) == 2  # the distance, and the hash of all trials


def test_the_docs_are_written_from_a_run(place, tmp_path, monkeypatch):
    settings = Settings({str(place / "toy.dfd"): ("linear",)}, ("auto", "random"), 3, 1, 1, 2, 2)
    plan = make_arena_plan(settings, tmp_path / "classifiers")
    write_arena(plan, run_specs(plan.trials, Store(tmp_path / "store")), tmp_path)
    docs = tmp_path / "docs"
    (docs / "images").mkdir(parents=True)
    for page in ("arena.md", "comparison.md"):
        (docs / page).write_text((ROOT / "docs" / page).read_text())
    script = ROOT / "scripts" / "make_arena_docs.py"
    monkeypatch.syspath_prepend(str(script.parent))
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path), "--docs", str(docs)])
    run_path(str(script), run_name="__main__")
    page = (docs / "arena.md").read_text()
    facts = json.loads((tmp_path / "arena.json").read_text())
    assert facts["sha256"] in page
    assert "| cohort | linear | edits |" in page
    assert "The price of a sentence: `auto` makes" in (docs / "comparison.md").read_text()
    assert (docs / "images" / "arena-price.png").stat().st_size > 1000
    assert (docs / "_static" / "arena" / "overall.csv").is_file()


def test_the_explainer_of_the_docs_works(opened, tmp_path, monkeypatch):
    page = (ROOT / "docs" / "arena.md").read_text()
    (tmp_path / "my_module.py").write_text(page.split("```python\n")[1].split("```")[0])
    monkeypatch.syspath_prepend(str(tmp_path))
    _, dataset, card, path = opened
    reply = solve(make_trial(opened, "my_module:shrink"), _Opened())
    row = Judge(dataset, str(path), card.sha256).judge(dataset.ids[0], reply, described=True)
    explainer = find_explainer("my_module:shrink")
    assert (explainer.removal_only, explainer.stochastic) == (True, False)
    assert reply.problem == ""
    assert row["found"]
    assert row["added"] == 0


def test_repeats_are_of_some_graphs_and_slow_explainers_run_on_fewer(place, tmp_path, monkeypatch):
    monkeypatch.setattr(find_explainer("random"), "slow", True, raising=False)
    data = str(place / "toy.dfd")
    settings = Settings({data: ("linear",)}, ("con", "random"), 6, 2, 1, 3, 2)
    plan = make_arena_plan(settings, tmp_path)
    trials = [(t.contender.name, t.side.card.training, t.seed, t.renumbering) for t in plan.trials]
    assert trials.count(("con", 0, 0, 0)) == 6
    assert trials.count(("con", 0, 2, 0)) == trials.count(("con", 0, 0, 1)) == 2
    assert trials.count(("con", 1, 0, 0)) == 2
    assert [t for t in trials if t[0] == "random"] == [("random", 0, 0, 0)]
    assert choose_sides({"a": ("gin",)}, (), ()) == {"a": ("gin",)}
    assert choose_sides({"a": ("gin",)}, ("a", "b"), ()) == {"a": ("gin",), "b": tuple(KINDS)}
    assert choose_sides({"a": ("gin",)}, (), ("knn",)) == {"a": ("knn",)}
    assert choose_sides({}, ("a@gcn@gin", "b@c"), ("knn",)) == {
        "a": ("gcn", "gin"),
        "b@c": ("knn",),
    }


def test_instability_compares_what_differs_in_nothing_else():
    def row(seed, training, edits):
        return {"graph": "g", "seed": seed, "renumbering": 0, "training": training, "edits": edits}

    rows = [row(0, 0, [1, 2]), row(1, 0, [1, 3]), row(0, 1, [1, 2])]
    assert scores.instability(rows, "seed") == pytest.approx(2 / 3)
    assert scores.instability(rows, "training") == 0
    assert scores.instability(rows, "renumbering") is None


@pytest.mark.parametrize("renumbering", [0, 1])
def test_methods_use_labels_only_unless_they_are_to_use_gradients(opened, renumbering):
    found = {}
    for name in ("race", "race@gradients", "gradient"):
        reply = solve(make_trial(opened, name, renumbering=renumbering), _Opened())
        assert reply.problem == ""
        found[name] = reply
        explainer = find_explainer(name)
        assert explainer.track == ("labels" if name == "race" else "gradients")
    assert found["race"].backwards == 0
    assert found["race@gradients"].backwards > 0
    assert found["gradient"].backwards > 0
    with pytest.raises(UnknownNameError, match="any-range"):
        find_explainer("auto@in-rnge")


def test_gradients_do_not_depend_on_the_numbering(opened):
    _, dataset, card, path = opened
    oracle, graph = open_frozen(path, card.sha256).oracle, dataset.graphs[0]
    order = np.random.default_rng(0).permutation(12)
    renumbered = RenumberedOracle(oracle, order).gradient(renumber(graph, np.argsort(order)), 0)
    plain = oracle.gradient(graph, 0)
    for u, v in [(0, 1), (3, 7), (2, 11)]:
        here = np.array([u * 12 + v])
        a, b = sorted((order[u], order[v]))
        assert renumbered.at(here)[0] == pytest.approx(plain.at(np.array([a * 12 + b]))[0])


@pytest.mark.parametrize("kind", ["gcn", "gin"])
def test_gradients_are_counted_and_agree_with_the_classifier(kind, tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    dataset = make_cohort(signal=0.5)
    card = freeze("toy", dataset, kind, 0, tmp_path)
    frozen = open_frozen(tmp_path / card.file, card.sha256)
    order = np.random.default_rng(0).permutation(12)
    graph = renumber(dataset.graphs[0], np.argsort(order))
    problem = Problem(frozen, dataset, graph, 0, Meter(100), order)
    weights = problem.weights[None].requires_grad_()
    soft = problem.scores(weights)
    assert torch.allclose(soft[0], problem.model(*problem.tensors(graph))[0], atol=1e-4)
    assert np.allclose(soft.detach().numpy(), frozen.oracle.scores([dataset.graphs[0]]), atol=1e-4)
    assert (problem.meter.forwards, problem.meter.backwards) == (2, 0)
    soft[0, 0].backward()
    assert (problem.meter.forwards, problem.meter.backwards) == (2, 1)
    assert weights.grad is not None
    assert weights.grad.abs().sum() > 0
