"""Grouping, saying and reading back."""

from __future__ import annotations

import itertools

import pytest

from denseflip import Nodes
from denseflip.datasets.atlas import load_aal
from denseflip.errors import (
    FileFormatError,
    UnknownNameError,
)
from denseflip.graph import Taxonomy
from denseflip.search.claims.claim import Amount
from denseflip.story.amounts import Wording
from denseflip.story.naming import readable, reader, with_article, written
from denseflip.story.phrases import Group, clause, group, read_statement
from denseflip.story.vocabulary import VOCABULARIES, Vocabulary

PLAIN = Vocabulary()


def test_what_each_form_denotes() -> None:
    assert Group("in", (3, 1)).units == ((3, 3), (1, 1))
    assert Group("between", (2, 1)).units == ((1, 2),)
    assert Group("between", (0, 2, 1)).units == ((0, 2), (0, 1), (1, 2))
    assert Group("between", (2, 0, 4), star=True).units == ((0, 2), (2, 4))
    assert Group("at", (5,)).units == ((5, None),)


@pytest.mark.parametrize(
    ("cells", "n_groups"),
    [
        ([], 0),
        ([(0, 0), (1, 1)], 1),
        ([(0, 1)], 1),
        ([(0, 1), (0, 2), (1, 2)], 1),
        ([(0, 1), (0, 2)], 1),
        ([(0, 1), (2, 3)], 2),
        (list(itertools.combinations(range(5), 2)), 1),
        ([(0, 0), (0, 1)], 2),
        ([(0, None), (3, None)], 1),
    ],
)
def test_groups_are_few_and_exact(cells, n_groups) -> None:
    groups = group(cells)
    assert len(groups) == n_groups
    assert sorted(u for g in groups for u in g.units) == sorted(cells)


TRAPS = [
    ("A1", "B1", "A1 and B1"),
    ("A1", "B1", "A1, B1"),
    ("A1", "B1", "A1 and each of B1"),
    ("A1", "B1", "more edges in B1"),
    ("A1", "B1", "A1 (2 edges more, 1 fewer)"),
    ("Lobe", "the Lobe", "Lobe and the Lobe"),
    ("“A1”", "A1", "A1”"),
    ("B1, then", "B1", "then"),
    ("in", "between", "at"),
    ("edges", "more", "fewer edges between"),
]


def said_of(rows, taxonomy, words) -> str:
    """The clause, in the paper's form or with amounts, as the words want it."""
    if not words.counts:
        return clause(rows, taxonomy, words)
    return Wording(words, taxonomy).clause([Amount(*row) for row in rows])


@pytest.mark.parametrize("names", TRAPS, ids=[t[2] for t in TRAPS])
@pytest.mark.parametrize("words", VOCABULARIES.values(), ids=VOCABULARIES)
def test_every_set_of_cells_is_read_back_whatever_the_names(names, words) -> None:
    taxonomy = Taxonomy.from_labels("part", names)
    cells = [(a, b) for a in range(3) for b in range(a, 3)]
    counts = [(1, 0), (0, 1), (2, 1), (1, 2), (1, 1)]
    for size in (1, 2, 3, 6):
        for chosen in itertools.combinations(cells, size):
            rows = [(cell, *counts[i % len(counts)]) for i, cell in enumerate(chosen)]
            text = f"G is classified as 1. If G had {said_of(rows, taxonomy, words)}, then G would"
            said = read_statement(text, taxonomy, words)
            assert said.units == set(chosen)
            if words.counts:
                assert said.amounts == {cell: (added, removed) for cell, added, removed in rows}
            assert said.less == {c for c, added, _ in rows if not added}
            assert said.more == {c for c, _, removed in rows if not removed}


def test_the_vocabulary_is_found_if_not_given() -> None:
    taxonomy = Taxonomy.from_labels("part", ("North", "South"))
    for words in VOCABULARIES.values():
        text = f"X had {said_of([((0, 1), 2, 0)], taxonomy, words)}, then X would"
        assert read_statement(text, taxonomy).more == {(0, 1)}


def test_a_subject_that_talks_like_a_sentence_does_not_confuse() -> None:
    taxonomy = Taxonomy.from_labels("part", ("North", "South"))
    text = f"He had fun. If he had {said_of([((0, 0), 2, 0)], taxonomy, PLAIN)}, then he would"
    assert read_statement(text, taxonomy, PLAIN).more == {(0, 0)}


@pytest.mark.parametrize("reading", ["typical", "distinctive"])
@pytest.mark.parametrize("names", [*TRAPS, ("left V", "right V", "left")], ids=str)
def test_readings_are_read_back(names, reading) -> None:
    taxonomy = Taxonomy.from_labels("part", names)
    cells = [(a, b) for a in range(3) for b in range(a, 3)]
    rows = [Amount(cell, i % 3, 1 + i % 2) for i, cell in enumerate(cells)]
    rows += [Amount((0, None), 1_234, 1)]
    wording = Wording(PLAIN, taxonomy, reading, "class 0", "in between, and at")
    for size in (1, 2, len(rows)):
        for chosen in itertools.combinations(rows, size):
            told = wording.clause(chosen)
            said = read_statement(f"If G had {told}, then G would", taxonomy, PLAIN)
            assert said.amounts == {unit: (more, less) for unit, more, less in chosen}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing was found.",
        "If G had more edges in the West, then G would",
        "If G had more edges in the North",
        "If G had more edges in , then G would",
        "If G had more edges in the North more edges, then G would",
        "If G had more edges in North, then G would",
        "If G had 2 edges in North, then G would",
        "If G had 2 more edges in North",
        "If G had 2 more edges between North, then G would",
        "If G had what follows, then G would:\n- 2 more edges in North\n- something else",
    ],
)
def test_what_is_no_statement_is_refused(text) -> None:
    with pytest.raises(FileFormatError, match="Not a statement about the regions 'part'"):
        read_statement(text, Taxonomy.from_labels("part", ("North", "South")))


def test_an_unknown_vocabulary_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="vocabulary"):
        read_statement("x", Taxonomy.from_labels("part", ("North",)), "brains")


# ---- names of regions -----------------------------------------------------------------------


def parts(*names: str) -> Taxonomy:
    return Taxonomy.from_labels("part", names)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Frontal Lobe", "the Frontal Lobe"),
        ("Insula & Cingulate Gyri", "the Insula & Cingulate Gyri"),
        ("Frontal", "Frontal"),
        ("left Frontal", "left Frontal"),
        ("Insula", "the Insula"),
        ("hindbrain", "the hindbrain"),
        ("within", "the within"),
        ("frontal_lobe", "frontal_lobe"),
        ("Default Mode", "the Default Mode"),
        ("left isocortex", "the left isocortex"),
        ("The Hague", "The Hague"),
        ("the insula", "the insula"),
        ("V1", "V1"),
        ("Network 7", "Network 7"),
        ("A", "A"),
        ("node x", "node x"),
        ("in 3", "the in 3"),
        ("the", "the the"),
    ],
)
def test_article(name, text) -> None:
    assert with_article(name) == text


def test_hemispheres_are_spelled_out() -> None:
    aal = load_aal()
    assert "left Frontal Lobe" in readable(aal.taxonomy("lobe*hemisphere"))
    assert "midline Posterior Fossa" in readable(aal.taxonomy("lobe*hemisphere"))
    assert set(readable(aal.taxonomy("hemisphere"))) == {
        "left hemisphere",
        "right hemisphere",
        "midline",
    }
    assert readable(aal.taxonomy("lobe")) == aal.taxonomy("lobe").regions


def test_spelling_out_never_joins_two_regions() -> None:
    nodes = Nodes(
        ("a", "b"), regions={"part": ("left X", "X"), "hemisphere": ("left hemisphere", "L")}
    )
    taxonomy = nodes.taxonomy("hemisphere")
    assert readable(taxonomy) == taxonomy.regions


@pytest.mark.parametrize(
    ("names", "texts"),
    [
        (("A1", "B1"), ("A1", "B1")),
        (("Insula, left", "B"), ("“Insula, left”", "B")),
        (("A and B", "C"), ("“A and B”", "C")),
        (("Lobe", "the Lobe"), ("“Lobe”", "“the Lobe”")),
        (("say “A”",), ("“say “A”””",)),
        ((" A", "B "), ("“ A”", "“B ”")),
        (("A (old)",), ("“A (old)”",)),
    ],
)
def test_what_could_be_mistaken_is_quoted(names, texts) -> None:
    assert written(parts(*names)) == texts


def test_the_sentences_own_phrases_are_quoted() -> None:
    taxonomy = parts("more edges in 3", "X")
    assert written(taxonomy, ["more edges in "]) == ("“more edges in 3”", "X")


def test_the_longest_name_is_read() -> None:
    taxonomy = parts("V1", "V12", "Frontal", "Frontal Lobe")
    pattern, position = reader(written(taxonomy))
    for i, text in enumerate(written(taxonomy)):
        match = pattern.match(f"{text}, then")
        assert match is not None
        assert position[match.group()] == i


def test_phrases_come_in_the_order_in_which_their_first_pair_was_given() -> None:
    star, whole = [(0, 1), (0, 2)], [(4, 5), (5, 6), (4, 6)]
    assert [g.star for g in group([*star, *whole])] == [True, False]
    assert [g.star for g in group([*whole, *star])] == [False, True]
    assert [g.star for g in group([whole[0], *star, *whole[1:]])] == [False, True]
    assert [g.star for g in group([star[0], *whole, star[1]])] == [True, False]
