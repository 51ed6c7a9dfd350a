"""Grouping and saying."""

from __future__ import annotations

import itertools

import pytest

from denseflip import Nodes
from denseflip.datasets.atlas import load_aal
from denseflip.graph import Taxonomy
from denseflip.graph.readable_names import readable
from denseflip.search.claims.claim import Amount
from denseflip.story.wording.amounts import Wording, phrases
from denseflip.story.wording.naming import with_article, written
from denseflip.story.wording.phrases import Group, clause, group
from denseflip.story.wording.vocabulary import VOCABULARIES, Vocabulary

PLAIN = Vocabulary()


def test_what_each_form_denotes() -> None:
    assert Group("in", (3, 1)).places == ((3, 3), (1, 1))
    assert Group("between", (2, 1)).places == ((1, 2),)
    assert Group("between", (0, 2, 1)).places == ((0, 2), (0, 1), (1, 2))
    assert Group("between", (2, 0, 4), star=True).places == ((0, 2), (2, 4))
    assert Group("at", (5,)).places == ((5, None),)


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
    assert sorted(u for g in groups for u in g.places) == sorted(cells)


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


COUNTS = [(1, 0), (0, 1), (2, 1), (1, 2), (1, 1)]


@pytest.mark.parametrize("names", TRAPS, ids=[t[2] for t in TRAPS])
@pytest.mark.parametrize("words", VOCABULARIES.values(), ids=VOCABULARIES)
def test_every_amount_is_said_by_itself_whatever_the_names(names, words) -> None:
    """A piece holds the numbers and the names of its own place, and of no other."""
    taxonomy = Taxonomy.from_labels("part", names)
    cells = [(a, b) for a in range(3) for b in range(a, 3)]
    amounts = [Amount(cell, *COUNTS[i % len(COUNTS)]) for i, cell in enumerate(cells)]
    texts = written(taxonomy, phrases(words))
    assert len(set(texts)) == 3
    wording = Wording(words, taxonomy)
    pieces = wording.pieces(amounts)
    assert len(set(pieces)) == len(cells)
    for ((a, b), added, removed), piece in zip(amounts, pieces, strict=True):
        numbers, _, place = piece.partition(" between " if a != b else f" {words.within} ")
        assert place == (texts[a] if a == b else f"{texts[a]} and {texts[b]}")
        for number, word in ((added, words.more), (removed, words.less)):
            said = f"{'one' if number == 1 else number} {word}"
            assert (said in numbers) == (number > 0)
    assert all(piece in wording.clause(amounts) for piece in pieces)


@pytest.mark.parametrize("names", TRAPS, ids=[t[2] for t in TRAPS])
def test_the_papers_clause_names_every_region_whatever_the_names(names) -> None:
    taxonomy = Taxonomy.from_labels("part", names)
    cells = [(a, b) for a in range(3) for b in range(a, 3)]
    for size in (1, 2, 3, 6):
        for chosen in itertools.combinations(cells, size):
            rows = [Amount(cell, *COUNTS[i % len(COUNTS)]) for i, cell in enumerate(chosen)]
            text = clause(rows, taxonomy, VOCABULARIES["paper"])
            assert all(names[r] in text for cell in chosen for r in cell)
            for (a, b), added, removed in rows:
                how = "more" if added >= removed else "less"
                thing = "activation in " if a == b else "co-activation between "
                even = f"redistributed {thing}"
                assert (even if added == removed else f"{how} {thing}") in text


@pytest.mark.parametrize("reading", ["typical", "distinctive"])
@pytest.mark.parametrize("names", [*TRAPS, ("left V", "right V", "left")], ids=str)
def test_a_reading_says_which_connections_are_meant(names, reading) -> None:
    taxonomy = Taxonomy.from_labels("part", names)
    texts = written(taxonomy, phrases(PLAIN))
    wording = Wording(PLAIN, taxonomy, reading, "class 0", "in between, and at")
    both, less = {
        "typical": (
            "in between, and at graphs usually have",
            "in between, and at graphs usually lack",
        ),
        "distinctive": (
            "sets in between, and at apart from class 0",
            "set class 0 apart from in between, and at",
        ),
    }[reading]
    (piece,) = wording.pieces([Amount((0, 2), 1_234, 1)])
    assert piece == (
        f"1,235 edges between {texts[0]} and {texts[2]} changed to what {both} (1,234 more, one "
        "fewer)"
    )
    (piece,) = wording.pieces([Amount((1, None), 0, 5)])
    assert piece == f"5 fewer edges that {less} at {texts[1]}"


# ---- names of regions -----------------------------------------------------------------------


def parts(*names: str) -> Taxonomy:
    return Taxonomy.from_labels("part", names)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Frontal Lobe", "the Frontal Lobe"),
        ("Insula & Cingulate Gyri", "the Insula & Cingulate Gyri"),
        ("Frontal", "Frontal"),
        ("left Frontal", "the left Frontal"),
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


def test_node_names_have_no_underscores() -> None:
    names = ["Frontal_Sup_L", "Vermis_1_2", "V1_a"]
    assert readable(Taxonomy.from_labels("node", names)) == (
        *("left Frontal Sup", "Vermis 1 2"),
        "V1_a",  # a code, left as it is
    )


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


def test_phrases_come_in_the_order_in_which_their_first_pair_was_given() -> None:
    star, whole = [(0, 1), (0, 2)], [(4, 5), (5, 6), (4, 6)]
    assert [g.star for g in group([*star, *whole])] == [True, False]
    assert [g.star for g in group([*whole, *star])] == [False, True]
    assert [g.star for g in group([whole[0], *star, *whole[1:]])] == [False, True]
    assert [g.star for g in group([star[0], *whole, star[1]])] == [True, False]


def test_one_region_with_all_regions() -> None:
    lobes = Taxonomy.from_labels("lobe", ["Frontal Lobe", "Insula", "Occipital Lobe"])
    amounts = (Amount((0, 3), 12, 0),)
    place = "between the Frontal Lobe and all regions"
    assert clause(amounts, lobes, PLAIN).endswith(place)
    assert Wording(PLAIN, lobes).clause(amounts) == f"12 more edges {place}"
    distinctive = Wording(PLAIN, lobes, "distinctive", "TD", "ASD")
    assert distinctive.clause((Amount((0, 3), 5, 4),)) == (
        f"9 edges {place} changed to what sets ASD apart from TD (5 more, 4 fewer)"
    )
    assert group([(0, 3)]) == (Group("between", (0, 3)),)
