"""The benchmarks can be run: they import, agree with the library, and count what they say.

Nothing here is timed. How fast things are is for ``make bench``.
"""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from denseflip import Graph, explain, load_dataset
from denseflip.paper.published_classifier import published_oracle
from denseflip.paper.published_methods import published_method

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch):
    """Import a benchmark by name, with its folder on the path as when it is run."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.mark.parametrize("path", sorted(FOLDER.glob("bench_*.py")), ids=lambda p: p.stem)
def test_every_benchmark_has_a_title_a_measurement_and_lines(opened, path: Path) -> None:
    module: ModuleType = opened(path.stem)
    assert (module.__doc__ or "").splitlines()[0].endswith(".")
    assert callable(module.measure)
    assert callable(module.lines)


def test_the_reference_finds_what_the_published_profile_finds(opened) -> None:
    shape = opened("authors_shape")
    data = load_dataset("synthetic:n_per_class=8,percentile=97")
    oracle = published_oracle(data)
    reference = shape.SparseOracle(oracle.estimator)
    asked = 0
    for graph in data.graphs[5:9]:  # they flip after 4 to 6 iterations
        result = explain(graph, oracle, published_method("tri"))
        found, edges = shape.open_triangles(graph.to_networkx(), reference)
        assert found is result.found
        assert edges == set(result.counterfactual.edges())
        asked += 1 + 2 * result.iterations
    assert reference.calls == asked


def test_believable_in_its_short_form(opened, tmp_path, capsys) -> None:
    script = opened("believable")
    out = tmp_path / "rows.jsonl"
    script.main(["--short", "--out", str(out)])
    head, _, *lines = capsys.readouterr().out.splitlines()
    assert head.count("|") == len(script.COLUMNS) + 4
    assert [line.split("|")[3].strip() for line in lines] == ["before", "after"] * 2
    after = [cell.strip() for cell in lines[1].split("|")[4:-1]]
    figures = dict(zip(script.COLUMNS, after, strict=True))
    assert figures["in range"] == "2 of 2"
    assert figures["net edges"] == "0"
    script.main(["--short", "--no-run", "--out", str(out)])
    assert capsys.readouterr().out.splitlines() == [head, _, *lines]
    assert len(out.read_text(encoding="utf-8").splitlines()) == 5  # four answers, one classifier


def test_the_second_table_of_believable(opened, tmp_path, capsys, monkeypatch) -> None:
    script = opened("believable")
    monkeypatch.setattr(script, "PAPER", ("tri",))
    monkeypatch.setattr(script, "OURS", ("auto",))
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- paper: begin -->\nstale\n<!-- paper: end -->\nb\n", encoding="utf-8")
    monkeypatch.setattr(script, "PAGE", page)
    out = tmp_path / "rows.jsonl"
    script.main(["--short", "--paper", "--write", "--out", str(out)])
    _, _, *lines = capsys.readouterr().out.splitlines()
    assert [line.split("|")[1].strip() for line in lines] == ["`tri`", "`auto`"]
    text = page.read_text(encoding="utf-8")
    assert "stale" not in text
    assert lines[0] in text
    page.write_text("no place", encoding="utf-8")
    with pytest.raises(SystemExit, match="no place for 'paper'"):
        script.main(["--short", "--paper", "--no-run", "--write", "--out", str(out)])


def test_laplacians_of_the_asked_graphs(opened) -> None:
    triangle = Graph.from_edges(3, [(0, 1), (1, 2), (0, 2)])
    result = explain(triangle, lambda a: int(a[0, 1] + a[1, 2] + a[0, 2] > 2), _one_removal)
    stack = opened("bench_authors").asked_laplacians(result)
    assert stack.shape == (2, 3, 3)
    assert stack[0][0, 0] == pytest.approx(2 / 3)  # a loop and two edges at the node
    assert stack[1].diagonal() == pytest.approx([1 / 2, 1 / 2, 2 / 3])  # (0, 1) is gone


def _one_removal(problem):
    from denseflip import Step

    yield Step("sparsify", "edge", ((0, 1),))


def test_lines_say_whether_a_target_was_met(opened) -> None:
    measuring = opened("measuring")
    quick = measuring.Line("quick", 3.0, "µs", at_most=4)
    slow = measuring.Line("slow", 250.4, at_least=300)
    assert (quick.kept, slow.kept) == (True, False)
    text = measuring.compared([quick, slow], [measuring.Line("quick", 6.0, "µs")])
    assert text.splitlines() == [
        "            before  now  before / now        target",
        "----------  ------  ---  ------------  ------------",
        "quick [µs]       6    3             2      ≤ 4 kept",
        "slow             –  250             –  ≥ 300 MISSED",
    ]


def test_least_takes_the_runs_in_turn(opened) -> None:
    order: list[str] = []
    runs = {name: (lambda n=name: order.append(n)) for name in "ab"}
    assert set(opened("measuring").least(runs, 2)) == {"a", "b"}
    assert order == ["a", "b", "a", "b"]


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 1.5])
def test_the_optimum_of_a_linear_rule_is_that_of_all_sets_of_edits(opened, threshold) -> None:
    rules = opened("linear_rules")
    rng = np.random.default_rng(3)
    weights = np.triu(rng.normal(size=(5, 5)), 1).ravel()
    rule = rules.LinearRule(weights, threshold, 1.0)
    pairs = list(itertools.combinations(range(5), 2))
    for k in range(0, 10, 3):
        graph = Graph.from_edges(5, pairs[:k])
        [label] = rule.predict([graph])
        fewest = next(
            n
            for n in range(1, 11)
            if any(y != label for y in rule.predict(list(_toggled(graph, pairs, n))))
        )
        assert rule.optimum(graph) == fewest
        assert np.argmax(rule.predict_proba([graph])) == label


def _toggled(graph: Graph, pairs, n):
    return (graph.toggle(some) for some in itertools.combinations(pairs, n))


@pytest.mark.data
@pytest.mark.usefixtures("brain_data")
def test_linear_rules_split_the_graphs_in_halves(opened) -> None:
    rules = opened("linear_rules")
    data = load_dataset("aut")
    for family in rules.FAMILIES:
        rule = rules.make_rule(family, 0, data.graphs, data.nodes)
        assert 0.4 < np.mean(rule.predict(data.graphs)) < 0.6
        assert min(rule.optimum(g) for g in data.graphs) >= 1
    row = rules.run("sparse", "con", [0], 2, regions=False).row()
    assert row.startswith("| sparse | `con` |")
    assert "2 of 2" in row


@pytest.mark.parametrize(
    ("option", "ways"),
    [("--stable", ["default", "stable=0.8"]), ("--planted", 3 * ["default"])],
)
def test_the_tables_on_stability_and_on_the_planted_pair(opened, tmp_path, capsys, option, ways):
    script, out = opened("believable"), tmp_path / "rows.jsonl"
    script.main(["--short", option, "--graphs", "1", "--out", str(out)])
    head, _, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(ways)
    cells = [dict(zip(head.split("|"), line.split("|"), strict=True)) for line in lines]
    assert all(row[" told "] == " 1 of 1 " for row in cells)
    if option == "--planted":
        assert all(row[" first "] == row[" alone "] == " 1 of 1 " for row in cells)


def test_the_time_with_refits(opened, capsys) -> None:
    opened("refits_speed").main(["--only", "mice", "--repeats", "1"])
    *_, line = capsys.readouterr().out.splitlines()
    assert line.startswith("| mice | `regions-logistic` | ")
