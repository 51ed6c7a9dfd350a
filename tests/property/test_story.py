"""Whatever the edits and the oracle: a verified sentence says its claim, which flips it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from zlib import crc32

from hypothesis import given, settings
from hypothesis import strategies as st

from denseflip import Counterfactual, Edits, Graph, Nodes, Story, Vocabulary, describe
from denseflip.counterfactual import Status
from denseflip.graph.pairs import decode
from denseflip.search.claims.places import whole_claim
from denseflip.story.region_table import RegionTable
from denseflip.story.wording.phrases import group
from denseflip.story.wording.vocabulary import VOCABULARIES
from stories import says_its_claim

# Words chosen to break the sentence: its own words, separators, quotation marks, articles.
_WORDS = [
    "A",
    "B",
    "Lobe",
    "the",
    "The",
    "and",
    "and the",
    "between",
    "in",
    "within",
    "each",
    "more",
    "edges",
    "left",
    "Frontal",
    "more connections within",
    "at",
    "each of",
    "more edges in",
    "less activation in",
    "then",
    ", then",
    ",",
    "&",
    "1",
    "12",
    "“",
    "”",
    "(",
    ")",
    "(2 edges more, 1 fewer)",
    "node",
    "node 1",
    "L",
    "R",
    "had",
    ".",
    " ",
    "é",
]
_TRAPS = [
    "A1",
    "B1",
    "A1 and B1",
    "A1, B1",
    "B1, and A1",
    "A1 and each of B1",
    "more edges in B1",
    "A1 (2 edges more, 1 fewer)",
    "Lobe",
    "the Lobe",
    "Lobe and the Lobe",
    "“A1”",
    "A1”",
    "B1, then",
]
odd_names = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4).flatmap(
    lambda words: st.sampled_from([" ".join(words), "".join(words)])
)


def many_names(least: int, most: int) -> st.SearchStrategy[list[str]]:
    """Different names that are easily mistaken for each other or for parts of the sentence."""
    return st.one_of(
        st.permutations(_TRAPS).map(lambda names: names[:most]),
        st.lists(st.sampled_from(_TRAPS) | odd_names, min_size=least, max_size=most, unique=True),
    )


@dataclass(frozen=True)
class TableOracle:
    """Answers at will, but always the same for a graph; knows the two ends of a search."""

    original: Graph
    changed: Graph
    seed: int
    n_classes: int
    rarity: int

    def predict(self, graphs: list[Graph]) -> list[int]:
        return [self._label(g) for g in graphs]

    def _label(self, graph: Graph) -> int:
        if graph == self.original:
            return 0
        if graph == self.changed:
            return 1
        number = crc32(graph.digest, self.seed)
        return 0 if number % self.rarity else (number // self.rarity) % self.n_classes


@dataclass(frozen=True)
class Case:
    """A found result, the oracle it was found with, and its nodes."""

    result: Counterfactual
    oracle: TableOracle
    nodes: Nodes
    taxonomy: str | None


@st.composite
def cases(draw: st.DrawFn, regions: bool = True) -> Case:
    """Any graph of up to nine nodes, any edits, any deterministic oracle, any region names."""
    n = draw(st.integers(2, 9))
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    size = draw(st.integers(1, len(pairs)))
    original = Graph.from_edges(n, draw(st.lists(st.sampled_from(pairs), unique=True)))
    changed = original.toggle(draw(st.permutations(pairs))[:size])
    edits = Edits.between(original, changed)
    oracle = TableOracle(
        original,
        changed,
        seed=draw(st.integers(0, 99)),
        n_classes=draw(st.integers(2, 4)),
        rarity=draw(st.sampled_from([1, 5, 100])),
    )
    target = draw(st.sampled_from([None, 1]))
    result = Counterfactual(Status.FOUND, original, edits, 0, 1, target, method="any")
    if not regions:
        return Case(result, oracle, Nodes(tuple(draw(many_names(n, n)))), None)
    kinds = draw(many_names(1, 6))
    column = st.lists(st.sampled_from(kinds), min_size=n, max_size=n).map(tuple)
    sides = st.lists(st.sampled_from("LRM"), min_size=n, max_size=n).map(tuple)
    table = {"part": draw(column), "hemisphere": draw(sides)}
    taxonomy = draw(st.sampled_from(["part", "part", "hemisphere", "part*hemisphere"]))
    return Case(result, oracle, Nodes(tuple(map(str, range(n))), table), taxonomy)


vocabularies = st.sampled_from(
    [*VOCABULARIES.values(), Vocabulary(inside="talk and love", across="talk between", less="no")]
)


def tell(case: Case, **options: object) -> Story:
    return describe(case.result, case.nodes, case.oracle, regions=case.taxonomy, **options)


def edits_in(story: Story, places: tuple) -> Edits:
    """The edits of a result in some places."""
    claim, parts = whole_claim(story.result, story.language, story.taxonomy, story.nodes)
    held = dict(zip(claim.places, parts, strict=True))
    n = story.nodes.n_nodes
    return story.result.edits.only(pair for place in places for pair in decode(held[place], n))


def reapply(story: Story) -> Graph:
    """The original with what the sentence's claim names, and nothing else."""
    assert says_its_claim(story)
    return edits_in(story, story.claim.places).apply(story.result.original)


@settings(max_examples=300, deadline=None)
@given(cases(), vocabularies, st.sampled_from([None, "X", 9, "Patient had less, then"]))
def test_a_verified_sentence_says_its_claim_which_flips_the_oracle(case, words, subject) -> None:
    story = tell(case, vocabulary=words, subject=subject)
    assert story.verified
    (label,) = case.oracle.predict([reapply(story)])
    target = case.result.target
    assert label == target if target is not None else label != case.result.label_before
    assert label == story.claim.label


@settings(max_examples=150, deadline=None)
@given(cases(regions=False), vocabularies)
def test_a_verified_sentence_about_nodes_flips_the_oracle(case, words) -> None:
    story = tell(case, vocabulary=words)
    (label,) = case.oracle.predict([reapply(story)])
    assert story.verified
    assert label == story.claim.label != case.result.label_before


@settings(max_examples=150, deadline=None)
@given(cases(), st.booleans())
def test_the_claim_names_exactly_what_the_verification_holds(case, with_oracle) -> None:
    oracle = case.oracle if with_oracle else None
    story = describe(case.result, case.nodes, oracle, regions=case.taxonomy)
    assert says_its_claim(story)
    edits = story.verification.edits
    table = {
        (row.region_a, row.region_b): (row.added, row.removed)
        for row in RegionTable(story.taxonomy, edits).pairs
    }
    rows = {(p.region_a, p.region_b): (p.added, p.removed) for p in story.claim.rows()}
    assert rows == table
    assert edits_in(story, story.claim.places) == edits
    if not with_oracle:
        assert not story.verified
        assert story.verification.edits == case.result.edits


@settings(max_examples=150, deadline=None)
@given(cases())
def test_nothing_that_is_named_can_be_left_out(case) -> None:
    story = tell(case)
    named = story.claim.amounts
    totals = [amount.total for amount in named]
    assert totals == sorted(totals, reverse=True)
    assert story.verification.minimal
    said = story.claim.places
    for place in said if len(said) > 1 else ():
        left = edits_in(story, tuple(other for other in said if other != place))
        (label,) = case.oracle.predict([left.apply(case.result.original)])
        assert (label == 0) if case.result.target is None else (label != 1)
    assert story.verification.all_needed == (len(named) == len(story.whole.amounts))


@settings(max_examples=60, deadline=None)
@given(cases(), st.floats(0, 1))
def test_a_wanted_share_is_named_and_still_tested(case, share) -> None:
    story = tell(case, share=share)
    assert story.verified
    assert len(story.verification.edits) >= share * case.result.distance - 1e-6
    (label,) = case.oracle.predict([reapply(story)])
    assert label == story.claim.label


@settings(max_examples=60, deadline=None)
@given(cases(), st.integers(2, 5))
def test_a_small_budget_is_kept_and_the_sentence_still_true(case, budget) -> None:
    story = tell(case, budget=budget)
    assert story.verification.questions <= budget
    assert story.verified
    (label,) = case.oracle.predict([reapply(story)])
    assert label == story.claim.label


@settings(max_examples=60, deadline=None)
@given(cases(), vocabularies)
def test_a_story_survives_json(case, words) -> None:
    story = tell(case, vocabulary=words, class_names=("no", "yes"))
    again = Story.from_dict(json.loads(json.dumps(story.to_dict())))
    assert again == replace(story, nodes=again.nodes)
    assert again.statement == story.statement
    assert again.footnotes == story.footnotes


cells = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda c: (min(c), max(c))), unique=True
)


@settings(max_examples=200, deadline=None)
@given(cells)
def test_groups_say_every_cell_once_and_nothing_else(places) -> None:
    said = [place for g in group(places) for place in g.places]
    assert sorted(said) == sorted(places)


@settings(max_examples=100, deadline=None)
@given(cases(), st.floats(0.01, 1))
def test_the_region_table_agrees_with_counting_one_by_one(case, share) -> None:
    taxonomy = case.nodes.taxonomy(case.taxonomy)
    table = RegionTable(taxonomy, case.result.edits)
    edits = case.result.edits
    assert sum(row.total for row in table.pairs) == len(edits) == table.within + table.between
    for side, attribute in ((edits.added, "added_share"), (edits.removed, "removed_share")):
        ends = [taxonomy.region_of(node) for pair in side for node in pair]
        for row in table.rows:
            expected = ends.count(row.region) / len(ends) if ends else 0.0
            assert abs(getattr(row, attribute) - expected) < 1e-12
    for of in ("pairs", "regions"):
        chosen = set(table.smallest(share, of))
        held = sum(
            row.total
            for row in table.pairs
            if (
                (row.region_a, row.region_b) in chosen
                if of == "pairs"
                else {row.region_a, row.region_b} <= chosen
            )
        )
        assert held >= share * len(edits) - 1e-6
