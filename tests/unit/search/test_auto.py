"""`auto` tells a decision in the language that fits, and says what it chose."""

from __future__ import annotations

import numpy as np
import pytest

from denseflip import Background, explain, make_method
from denseflip.counterfactual import Status
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.graph import Graph, Nodes
from denseflip.search.methods.brief import Brief

N = 24
NODES = Nodes(
    tuple(f"n{i}" for i in range(N)),
    regions={
        "parity": tuple("eo"[i % 2] + "xyzw"[i // 6] for i in range(N)),
        "third": tuple("ABC"[i // 8] for i in range(N)),
        "all": ("one",) * N,
    },
)


def cohort(seed=0, per_class=8):
    rng = np.random.default_rng(seed)
    pairs = np.array([(u, v) for u in range(N) for v in range(u + 1, N)])
    inside = (pairs[:, 0] < 8) & (pairs[:, 1] >= 8) & (pairs[:, 1] < 16)
    return [
        Graph.from_edges(N, pairs[rng.random(len(pairs)) < 0.2 + 0.5 * label * inside])
        for label in (0, 1)
        for _ in range(per_class)
    ]


GRAPHS = cohort()
EVERYTHING = {"nodes": NODES, "background": Background(GRAPHS)}


def by_density(a):
    return int(a[:8, 8:16].sum() >= 28)


def run(oracle=by_density, **given):
    return explain(GRAPHS[0], oracle, "auto", **{**EVERYTHING, **given})


def notes(result):
    return " ".join(result.notes)


def test_regions_that_fit_are_told_by_brief():
    result = run(regions="third")
    assert (result.chosen, result.as_read.regions, result.as_read.true) == ("brief", "third", True)
    assert notes(result).endswith(
        "Described by 'third' (3 regions): a short sentence about these regions is true as "
        "read and in range. Method: brief."
    )
    assert result.method == "auto"


def test_regions_that_do_not_fit_are_said_to_and_the_next_are_taken():
    result = run(regions="parity", max_cells=1)
    assert result.as_read.true
    assert result.as_read.regions == "third"
    said = notes(result)
    assert "cannot be described by 'parity' (8 regions): no sentence of one place" in said
    assert "The taxonomy 'all' has only one region" in said
    assert result.chosen == "brief"


def test_without_regions_nodes_and_without_a_background_pairs():
    result = run(nodes=Nodes.numbered(N))
    assert result.found
    assert result.as_read.language in ("nodes", "pairs")
    pairs = run(background=None)
    assert pairs.found
    assert (pairs.as_read.language, pairs.as_read.draws) == ("pairs", 0)
    assert "there is no background" in notes(pairs)
    assert pairs.chosen


@pytest.mark.parametrize("language", ["nodes", "pairs"])
def test_a_language_can_be_asked_for(language):
    result = run(language=language)
    assert result.found
    assert result.as_read.language in {language, "pairs"}


def test_a_language_needs_what_it_is_made_of():
    with pytest.raises(MissingInputError, match="'auto' needs to know which region"):
        run(language="regions", nodes=None)
    with pytest.raises(MissingInputError, match="'auto' needs background"):
        run(language="nodes", background=None)


@pytest.mark.parametrize("background", [GRAPHS[:1], GRAPHS[:8]], ids=["one graph", "one class"])
def test_a_background_without_the_other_class_leaves_pairs(background):
    result = run(background=background)
    assert result.found
    assert result.as_read.language == "pairs"
    assert "labels no graph of the background as the target class" in notes(result)


def test_bad_words_are_told():
    for wrong in ({"language": "words"}, {"objective": "beauty"}):
        with pytest.raises(UnknownNameError):
            make_method("auto", **wrong)
    with pytest.raises(InvalidParameterError, match="max_cells"):
        make_method("auto", max_cells=0)


def test_a_budget_too_small_is_a_status_and_said():
    result = run(budget=4)
    assert result.calls <= 4
    assert "The budget was spent" in notes(result)
    assert result.status in (Status.BUDGET, Status.FOUND)


def test_the_front_ends_with_the_fewest_edits_listed_by_pairs():
    result = run(regions="third", front=True)
    marks = []
    for member in result.front:
        said = member.as_read
        listed = said.language == "pairs"
        cells = member.distance if listed else max(step.iteration for step in member.trace)
        rank = 3 if listed else ("any", "typical", "distinctive").index(said.reading)
        marks.append((cells, member.distance, rank))
    assert marks == sorted(marks)
    for a, member in zip(marks, result.front, strict=True):
        beaten = any(b != a and all(x <= y for x, y in zip(b, a, strict=True)) for b in marks)
        assert not beaten or member.edits == result.edits  # the default answer is always offered
    assert result.edits in {member.edits for member in result.front}
    assert "the fewest edits" not in notes(result)


def test_a_front_member_in_pairs_where_single_edges_decide():
    graphs = [g for g in GRAPHS if not g.has_edge(0, 9)]
    background = [*graphs, *(g.toggle([(0, 9)]) for g in graphs)]
    result = explain(
        graphs[0], lambda a: int(a[0, 9]), "auto", nodes=NODES, background=background, front=True
    )
    assert result.front[-1].edits.added == ((0, 9),) or result.distance == 1


def test_sentences_have_no_limit_of_size():
    """10,000 nodes are 50 million pairs; they are never listed."""
    n = 10_000
    names = tuple(f"gene{i}" for i in range(n))
    half = np.arange(n) % 2
    nodes = Nodes(names, regions={"half": tuple("AB"[h] for h in half.tolist())})
    between, rng = [], np.random.default_rng(0)
    for k in (40, 45, 50, 90, 95, 100):  # edges between the halves; as many in all
        inside = np.unique(rng.integers(n // 2, size=(400, 2)) * 2, axis=0)
        inside = inside[inside[:, 0] < inside[:, 1]][: 150 - k]
        across = np.stack((np.arange(k) * 2, rng.integers(n // 2, size=k) * 2 + 1), axis=1)
        between.append(Graph.from_edges(n, np.concatenate((inside, np.sort(across, axis=1)))))

    class Oracle:
        def predict(self, graphs):
            ends = [half[g.pairs] for g in graphs]
            return [int((e[:, 0] != e[:, 1]).sum() >= 70) for e in ends]

    for method in ("auto", "brief"):
        result = explain(between[0], Oracle(), method, nodes=nodes, background=between[1:])
        assert result.as_read.true
        assert result.as_read.balanced
        # More between the halves, or fewer within one of them: the classes differ in both.
        assert {step.name for step in result.trace} in ({"A – B", ""}, {"A", ""})
        assert result.counterfactual.n_edges == 150


def test_an_objective_keeps_what_else_was_asked_for():
    """Sentences are looked for in the regions given, and the front is given, not dropped."""
    result = run(regions="third", objective="balanced", max_cells=1, front=True)
    assert result.front
    assert (result.as_read.regions, len({step.name for step in result.trace})) == ("third", 1)
    listed = run(objective="balanced", language="pairs")
    assert listed.as_read.language == "pairs"


def test_the_objective_of_a_sentence_is_the_default(monkeypatch):
    """Also where nothing can be told: no second hunt with other luck."""
    hunts = []
    monkeypatch.setattr(Brief, "find_claims", lambda *given: hunts.append(given[-2:]) or [])
    plain = run()
    parity, third = map(NODES.taxonomy, ("parity", "third"))
    in_range = [taxonomy for taxonomy, attempt in hunts if attempt.in_range]
    # Cells; then more cells; then one region with all regions; then not towards the new class.
    assert in_range == [parity, third, None, third, parity, third, parity, parity, third, None]
    assert [attempt.with_all for _, attempt in hunts[:10]] == [
        *[False] * 5,
        True,
        True,
        *[False] * 3,
    ]
    assert [attempt.towards for _, attempt in hunts[:10]] == [True] * 7 + [False] * 3
    assert [taxonomy for taxonomy, _ in hunts[10:]] == 2 * [parity, third, None]
    asked = run(objective="sentence")
    assert len(hunts) == 32
    assert (asked.edits, asked.calls, asked.chosen) == (plain.edits, plain.calls, plain.chosen)


def test_a_budget_that_ends_behind_a_sentence_leaves_it_told():
    whole = run(regions="third", front=True)
    for budget in range(100, whole.calls, 150):
        result = run(regions="third", front=True, budget=budget)
        assert result.calls <= budget
        if result.found and result.as_read is not None and result.as_read.language == "regions":
            assert result.chosen == "brief"
            assert "Method: brief." in notes(result)
            break
    else:
        pytest.fail("no budget ended behind a sentence")


def test_an_answer_that_is_refined_keeps_only_what_is_still_so():
    result = explain(GRAPHS[0], by_density, "auto+min", **EVERYTHING, regions="third")
    assert result.minimal
    if result.refine_calls and result.trace[-1].block == "refine":
        assert result.as_read is None
        assert "Method: brief." not in notes(result)
    pairs = explain(GRAPHS[0], by_density, "auto+min", **EVERYTHING, language="pairs")
    assert pairs.as_read.language == "pairs"


def named(result):
    """The places that an answer names."""
    return {step.name for step in result.trace if step.name}


@pytest.mark.parametrize("method", ["auto", "best"])
@pytest.mark.parametrize("budget", [None, 150, 600])
@pytest.mark.parametrize("number", [0, 3])
def test_a_front_never_loses_to_the_answer_without_one(method, budget, number):
    """Its answer is that without a front, unless one of the front is better in every respect."""
    graph, given = GRAPHS[number], {**EVERYTHING, "regions": "third", "budget": budget}
    plain = explain(graph, by_density, method, **given)
    fronted = explain(graph, by_density, method, front=True, **given)
    assert fronted.found or not plain.found
    if plain.found and fronted.edits != plain.edits:
        assert fronted.distance <= plain.distance
        assert len(named(fronted)) <= len(named(plain))
    if fronted.front:
        assert fronted.edits in {member.edits for member in fronted.front}
        assert min(member.distance for member in fronted.front) <= plain.distance
