"""What real graphs have, in the sentence, its notes, its badge and the methods paragraph."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from denseflip import Graph, Nodes, Story, Vocabulary, describe, explain
from denseflip.checks import count_words
from denseflip.graph import Taxonomy
from denseflip.result_scores import Stability
from denseflip.search.claims.claim import Amount, Claim
from denseflip.search.claims.reference import PlaceReference

N = 24
NODES = Nodes(
    tuple(f"n{i}" for i in range(N)), regions={"part": ("A",) * 8 + ("B",) * 8 + ("C",) * 8}
)
GOOD = {"level": "better", "verdict": "The classifier is better than chance."}


def made(between: int, seed: int) -> Graph:
    """As many edges between A and B as asked for, and all others of 100 inside C and A."""
    rng = np.random.default_rng(seed)
    cross = [(u, v) for u in range(8) for v in range(8, 16)]
    rest = [(u, v) for u in range(N) for v in range(u + 1, N) if not (u < 8 <= v < 16)]
    chosen = [cross[i] for i in rng.choice(len(cross), between, replace=False)]
    chosen += [rest[i] for i in rng.choice(len(rest), 100 - between, replace=False)]
    return Graph.from_edges(N, chosen)


GRAPHS = [made(10 + i % 3, i) for i in range(8)] + [made(40 + i % 3, i) for i in range(8)]


def dense(a: np.ndarray) -> str:
    return "dense" if a[:8, 8:16].sum() >= 30 else "thin"


def told(**options: object) -> Story:
    result = explain(GRAPHS[0], dense, nodes=NODES, background=GRAPHS, **options)
    return describe(result, NODES, dense, background=GRAPHS, evaluation=GOOD, subject="Graph 1")


def test_a_sentence_in_range_says_what_real_graphs_have_and_keeps_the_number_of_edges():
    story = told()
    (place,) = story.reference
    group = sorted(int(g.to_adjacency()[:8, 8:16].sum()) for g in GRAPHS[8:])
    assert list(place.group) == group
    assert (place.before, place.after) == (10, 10 + story.claim.amounts[0].added)
    assert place.before < place.low == place.after  # from outside into the interval
    assert story.in_range is True
    assert place.is_inside
    assert story.badge.level == "true"
    assert story.statement == (
        f"If graph 1 had {place.after - 10} more connections between A and B (10 → {place.after}; "
        f"dense graphs usually have {place.median:.0f}, 95 % between {place.low} and {place.high}) "
        "and as many fewer elsewhere in the graph, it would have been classified as dense."
    )
    assert len(story.result.added) == len(story.result.removed) == place.after - 10
    assert count_words(story.statement) <= 40
    columns, rows = story.edit_rows()
    sides = [columns.index("region_1"), columns.index("region_2")]
    assert {row[columns.index("change")] for row in rows if row[-1]} == {"added"}
    assert sum(row[-1] for row in rows) == len(story.result.added)  # those elsewhere are not named
    assert all({row[i] for i in sides} == {"A", "B"} for row in rows if row[-1])
    (note,) = (note for note in story.footnotes if note.startswith("In range: every place"))
    assert "or moves towards" not in note
    assert any("The number of connections stays at 100" in note for note in story.footnotes)


def test_out_of_range_is_said_in_the_sentence_and_takes_the_badge():
    def is_known(a: np.ndarray) -> bool:
        return any(np.array_equal(a, graph.to_adjacency()) for graph in GRAPHS)

    def very(a: np.ndarray) -> str:
        """Of the data set, the upper half; of other graphs, only those far beyond them."""
        edges = a[:8, 8:16].sum()
        return "dense" if edges >= 60 or (edges >= 35 and is_known(a)) else "thin"

    result = explain(GRAPHS[0], very, nodes=NODES, background=GRAPHS)
    story = describe(result, NODES, very, background=GRAPHS, evaluation=GOOD)
    assert story.in_range is False
    assert story.badge.level == "listed"
    assert "out of range" in story.badge.text
    assert "more than any of the 8 dense graphs, which have 40–42)" in story.statement
    assert any(
        note.startswith("Out of range: outside the 95 % range of the 8 graphs")
        for note in story.footnotes
    )
    required = explain(GRAPHS[0], very, nodes=NODES, background=GRAPHS, in_range="require")
    assert required.as_read is None or required.as_read.language == "pairs"


def test_a_story_with_its_reference_comes_back_from_json():
    story = told()
    again = Story.from_dict(json.loads(json.dumps(story.to_dict())))
    assert again.reference == story.reference
    assert again.claim == story.claim
    assert again.statement == story.statement
    assert again.badge == story.badge


def test_the_methods_paragraph_has_the_figures_of_the_explanation():
    story = told()
    text = story.methods_text()
    (place,) = story.reference
    assert "method auto (which chose brief), seed 0" in text
    assert f"{story.result.calls} queries" in text
    assert GOOD["verdict"] in text
    assert f"{story.as_read.flips} of {story.as_read.draws} are classified as stated" in text
    assert f"A – B 10 to {place.after} ({place.low} to {place.high})" in text
    assert "The change is in range." in text
    assert "[2] Crawford" in text
    assert "The explained graph has 24 nodes in 3 regions" in text
    ignored = told(in_range="ignore", balance="off").methods_text()
    assert "number of edges was kept" not in ignored
    nothing = describe(explain(GRAPHS[0], lambda a: "thin", "tri"), NODES)
    assert "No counterfactual was found." in nothing.methods_text()


def test_the_methods_paragraph_describes_data_classifier_and_stability():
    judged = {**GOOD, "dataset": "study", "class_counts": {"thin": 8, "dense": 9}}
    judged |= {"preset": "regions-logistic", "features": "regions", "estimator": "Logistic()"}
    judged |= {"folds": 5, "repeats": 10, "permutations": 200}
    story = replace(told(), evaluation=judged, stability=Stability(4, (0.2, 0.3, 0.1), draws=20))
    rule = "Imported from a folder. Edges: pairs at or above percentile 97.5 of each matrix."
    text = story.methods_text({"description": rule})
    assert "The data set study has 17 graphs (8 thin, 9 dense)" in text
    assert "Edges are pairs at or above percentile 97.5 of each matrix." in text
    model = "The classifier, regions-logistic, is a logistic regression"
    assert f"{model} on the densities of region pairs, after standardisation." in text
    fitted = {**judged, "estimator": "Pipeline(steps=[('a', LogisticRegression(C=0.01, tol=1))])"}
    known = SimpleNamespace(
        card={"description": rule},
        attributes={"import": {"left_out": {"their class is missing (n/a)": ["s8", "s9"]}}},
    )
    said = replace(story, evaluation=fitted).methods_text(known)
    assert f"{model} (C = 0.01, by cross-validation) on the densities" in said
    assert "Pipeline" not in said
    assert "Excluded at import: 2 (their class is missing (n/a))." in said
    assert "Edges are pairs" in said
    assert "Excluded" not in text
    own = replace(story, evaluation={**judged, "preset": None}).methods_text()
    assert "The classifier is Logistic() on the features 'regions'." in own
    said = replace(story, evaluation={**judged, "verdict": "Better than chance: 9 of 10."})
    assert "The classifier is better than chance; 9 of 10." in said.methods_text()
    assert "nested, stratified 5-fold cross-validation with 10 repeats, and tested with 200" in text
    assert "3 give the graph the same label, for 0 of these the statement is true" in text
    assert "on average 20 % of the redraws are classified as stated" in text
    assert "not stable under resampling" in text
    assert "searched for" not in text  # stable= was not requested
    unknown = replace(story, evaluation=None, stability=None).methods_text()
    assert "not known" in unknown
    assert "Edges are" not in unknown


@pytest.mark.parametrize(("level", "said"), [(0.8, "was reached"), (0.99, "was not reached")])
def test_the_methods_paragraph_says_which_stability_was_requested_and_reached(level, said):
    seen = Stability(10, (1.0, 0.9, 0.85), draws=20, wanted=level, held_out=True)
    text = replace(told(), stability=seen).methods_text()
    assert f"at least {100 * level:g} % are, on average, also classified as stated" in text
    assert "The search used the first, third, fifth, … of these classifiers" in text
    assert "tested on the 10 others, which the search did not use: 3 give the graph" in text
    assert "on average 92 % of the redraws are classified as stated (95 % interval 73" in text
    assert f"; the requested level {said}." in text
    unknown = replace(told(), stability=replace(seen, shares=())).methods_text()
    assert f"at least {100 * level:g} %" in unknown
    assert "stability is not known" in unknown


def test_the_methods_paragraph_of_a_stable_search_has_its_level():
    refits = [
        lambda a, k=k: "dense" if a[:8, 8:16].sum() >= k else "thin" for k in (28, 29, 31, 32)
    ]
    result = explain(GRAPHS[0], dense, nodes=NODES, background=GRAPHS, refits=refits, stable=0.6)
    text = describe(result, NODES, dense, background=GRAPHS, refits=refits).methods_text()
    assert "at least 60 %" in text
    assert "tested on the 2 others" in text


@pytest.mark.parametrize("n", [1, 2])
def test_a_small_group_has_no_interval(n):
    background = [*GRAPHS[:8], *GRAPHS[8 : 8 + n]]
    result = explain(GRAPHS[0], dense, nodes=NODES, background=background)
    story = describe(result, NODES, dense, background=background, evaluation=GOOD)
    assert story.in_range is None
    assert story.badge.level == "listed"
    assert "range not known" in story.badge.text
    assert all(place.low is None for place in story.reference)
    assert any("fewer than 3 background graphs" in note for note in result.notes)
    assert any("is not known: there are too few graphs" in note for note in story.footnotes)


def test_the_level_usual_for_the_new_class_is_tested_and_said():
    story = told()
    assert story.level is not None
    assert story.level.true  # the median lies further from the boundary than the smallest amount
    (note,) = (note for note in story.footnotes if note.startswith("Also at the level usual for"))
    assert note.startswith("Also at the level usual for dense (the median")
    assert Story.from_dict(json.loads(json.dumps(story.to_dict()))).level == story.level
    plain = describe(story.result, NODES, dense, background=GRAPHS, draws=0)
    assert plain.level is None


@pytest.mark.parametrize("reading", ["any", "typical", "distinctive"])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("class_name", ["B6", "Typically Developed"])
def test_no_sentence_has_more_than_forty_words(reading, n, class_name):
    """Whatever is meant, with long names: a reference sentence or a list takes the rest."""
    lobes = ("Frontal Lobe", "Temporal Lobe", "Central Structures")
    taxonomy = Taxonomy.from_labels("lobe", [lobes[i % 3] for i in range(GRAPHS[0].n_nodes)])
    places = [(0, 1), (1, 2), (0, 0)][:n]
    amounts = tuple(Amount(place, 12, 3 if reading != "any" else 0) for place in places)
    claim = Claim(amounts, 1, "regions", taxonomy, reading, True)
    names = tuple(tuple(sorted({lobes[a], lobes[b]})) for a, b in places)
    reference = tuple(
        PlaceReference(name, 99, 20, 29, (25, 27, 30, 31), (18, 21), 22, 33, True, 0.9)
        for name in names
    )
    story = told()
    sentences = replace(
        story.sentences,
        verification=replace(story.verification, claim=claim),
        as_read=replace(story.as_read, reading=reading),
        class_names={"thin": "x", 1: class_name},
        reference=reference,
        words=Vocabulary.named("brain"),
    )
    for sentence in sentences.lead.split(". "):
        assert count_words(sentence) <= 40, sentence
    assert len(sentences.items) in {1: (0,), 2: (0, 2), 3: (3,)}[n]
    for place in reference:
        assert f"{place.before} → {place.after}" in sentences.standard
    assert "95 %" in sentences.standard


@pytest.mark.parametrize(("n", "said"), [(1, "1 reference graph"), (2, "2 reference graphs")])
def test_one_or_two_graphs_are_listed_and_not_called_usual(n: int, said: str):
    few = GRAPHS[: 8 + n]
    result = explain(GRAPHS[0], dense, nodes=NODES, background=few)
    story = describe(result, NODES, dense, background=few)
    (place,) = story.reference
    assert f"; only {said}, with {' and '.join(map(str, place.group))})" in story.statement
    assert "usually" not in story.statement
    assert story.in_range is None
    # The reference group is too small, but every graph of the data set has 100 edges.
    assert story.result.counterfactual.n_edges == 100
    assert "as many fewer elsewhere in the graph" in story.statement
