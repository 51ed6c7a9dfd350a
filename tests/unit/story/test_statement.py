"""The sentences, word for word, over a table of cases."""

from __future__ import annotations

import itertools

import pytest

from denseflip import Counterfactual, Edits, Graph, Nodes, Story, Vocabulary, describe
from denseflip.checks import count_words
from denseflip.counterfactual import AsRead, Status
from denseflip.result_scores import Robustness
from denseflip.story.wording import statement
from stories import says_its_claim

LOBES = (
    "Frontal Lobe",
    "Insula & Cingulate Gyri",
    "Temporal Lobe",
    "Posterior Fossa",
    "Parietal Lobe",
)
SIZE = 4  # nodes per lobe
F, C, T, P, A = range(5)
NODES = Nodes(
    tuple(f"n{i}" for i in range(SIZE * len(LOBES))),
    regions={"lobe": tuple(lobe for lobe in LOBES for _ in range(SIZE))},
)
CLASSES = {0: "Typically Developed", 1: "Autism Spectrum Disorder"}


def pairs_in(cell: tuple[int, int]) -> list[tuple[int, int]]:
    """Node pairs of a cell, in order."""
    a, b = (range(SIZE * r, SIZE * r + SIZE) for r in cell)
    every = itertools.combinations(a, 2) if cell[0] == cell[1] else itertools.product(a, b)
    return sorted((min(p), max(p)) for p in every)


def make_result(cells: dict[tuple[int, int], tuple[int, int]], **facts: object) -> Counterfactual:
    """A found result with so many (added, removed) edits in each cell."""
    added, removed = [], []
    for cell, (n_added, n_removed) in cells.items():
        pairs = pairs_in(cell)
        added += pairs[:n_added]
        removed += pairs[n_added : n_added + n_removed]
    original = Graph.from_edges(NODES.n_nodes, removed)
    values = {
        "status": Status.FOUND,
        "original": original,
        "edits": Edits(tuple(added), tuple(removed)),
        "label_before": 1,
        "label_after": 0,
        "method": "tri",
        **facts,
    }
    return Counterfactual(**values)  # type: ignore[arg-type]


def tell(result: Counterfactual, nodes: Nodes, **options: object) -> Story:
    """`describe`, in the paper's words unless told otherwise."""
    return describe(result, nodes, **{"vocabulary": "paper", **options})  # type: ignore[arg-type]


def had(cells: dict[tuple[int, int], tuple[int, int]], **options: object) -> str:
    """What stands between "had" and the consequence."""
    story = tell(make_result(cells), NODES, class_names=CLASSES, **options)  # type: ignore[arg-type]
    assert set(story.claim.places) == set(cells), "the claim names the cells and nothing else"
    assert says_its_claim(story)
    clause = story.statement.partition(" had ")[2].partition(" would have been ")[0]
    return clause.rpartition(", ")[0]


CASES = [
    ("one region, removed", {(F, F): (0, 3)}, "less activation in the Frontal Lobe"),
    ("one region, added", {(P, P): (3, 0)}, "more activation in the Posterior Fossa"),
    (
        "one plural region",
        {(C, C): (1, 0)},
        "more activation in the Insula & Cingulate Gyri",
    ),
    (
        "two regions, removed",
        {(F, F): (0, 3), (T, T): (0, 2)},
        "less activation in the Frontal Lobe and the Temporal Lobe",
    ),
    (
        "three regions, in order of their edits",
        {(F, F): (0, 1), (T, T): (0, 3), (P, P): (0, 2)},
        "less activation in the Temporal Lobe, the Posterior Fossa and the Frontal Lobe",
    ),
    (
        "between two, added",
        {(F, T): (2, 0)},
        "more co-activation between the Frontal Lobe and the Temporal Lobe",
    ),
    (
        "between two, removed",
        {(F, T): (0, 2)},
        "less co-activation between the Frontal Lobe and the Temporal Lobe",
    ),
    (
        "three regions, all pairs: one group, as in the paper",
        {(C, P): (3, 0), (T, P): (2, 0), (C, T): (1, 0)},
        "more co-activation between the Insula & Cingulate Gyri, the Posterior Fossa and the "
        "Temporal Lobe",
    ),
    (
        "three regions, two of the three pairs: no group",
        {(F, T): (3, 0), (F, P): (2, 0)},
        "more co-activation between the Frontal Lobe and each of the Temporal Lobe and the "
        "Posterior Fossa",
    ),
    (
        "a chain",
        {(F, C): (4, 0), (C, T): (3, 0), (T, P): (2, 0)},
        "more co-activation between the Insula & Cingulate Gyri and each of the Frontal Lobe and "
        "the Temporal Lobe, and between the Temporal Lobe and the Posterior Fossa",
    ),
    (
        "two pairs apart",
        {(F, C): (4, 0), (T, P): (2, 0)},
        "more co-activation between the Frontal Lobe and the Insula & Cingulate Gyri, and between "
        "the Temporal Lobe and the Posterior Fossa",
    ),
    (
        "four regions, all pairs",
        dict.fromkeys(itertools.combinations((F, C, T, P), 2), (1, 0)),
        "more co-activation between the Frontal Lobe, the Insula & Cingulate Gyri, the Temporal "
        "Lobe and the Posterior Fossa",
    ),
    (
        "a group and a star that share a region",
        {(F, C): (9, 0), (F, T): (8, 0), (C, T): (7, 0), (F, P): (6, 0), (F, A): (5, 0)},
        "more co-activation between the Frontal Lobe, the Insula & Cingulate Gyri and the Temporal "
        "Lobe, and between the Frontal Lobe and each of the Posterior Fossa and the Parietal Lobe",
    ),
    (
        "less here, more there",
        {(F, F): (0, 3), (P, P): (2, 0)},
        "less activation in the Frontal Lobe and more activation in the Posterior Fossa",
    ),
    (
        "the paper's sentence",
        {(F, F): (0, 5), (C, P): (3, 0), (T, P): (2, 0), (C, T): (1, 0)},
        "less activation in the Frontal Lobe and more co-activation between the Insula & Cingulate "
        "Gyri, the Posterior Fossa and the Temporal Lobe",
    ),
    (
        "a list before the and",
        {(F, F): (0, 3), (T, T): (0, 2), (P, P): (1, 0)},
        "less activation in the Frontal Lobe and the Temporal Lobe, and more activation in the "
        "Posterior Fossa",
    ),
    (
        "inside and between, one direction",
        {(F, F): (0, 3), (F, T): (0, 2)},
        "less activation in the Frontal Lobe and less co-activation between the Frontal Lobe and "
        "the Temporal Lobe",
    ),
    (
        "all four kinds",
        {(F, F): (0, 5), (F, T): (0, 4), (P, P): (3, 0), (T, P): (2, 0)},
        "less activation in the Frontal Lobe, less co-activation between the Frontal Lobe and the "
        "Temporal Lobe, more activation in the Posterior Fossa, and more co-activation between the "
        "Temporal Lobe and the Posterior Fossa",
    ),
    (
        "both ways in one region, mostly less",
        {(F, F): (1, 4)},
        "on balance less activation in the Frontal Lobe (4 links fewer, 1 more)",
    ),
    (
        "both ways between two, mostly more",
        {(F, T): (3, 1)},
        "on balance more co-activation between the Frontal Lobe and the Temporal Lobe "
        "(3 links more, 1 fewer)",
    ),
    (
        "as many as fewer",
        {(F, F): (1, 1)},
        "redistributed activation in the Frontal Lobe (1 link more, 1 fewer)",
    ),
    (
        "both ways beside one way",
        {(F, F): (1, 4), (P, P): (2, 0)},
        "more activation in the Posterior Fossa and on balance less activation in the Frontal Lobe "
        "(4 links fewer, 1 more)",
    ),
]


@pytest.mark.parametrize(("cells", "text"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_clause_of_the_paper(cells, text) -> None:
    assert had(cells) == text


def test_the_whole_sentence_in_the_papers_form() -> None:
    story = tell(
        make_result({(F, F): (0, 5), (C, P): (3, 0), (T, P): (2, 0), (C, T): (1, 0)}),
        NODES,
        subject="Patient X",
        class_names=CLASSES,
    )
    assert story.statement == (
        "Patient X is classified as Autism Spectrum Disorder. If X's brain had less activation in "
        "the Frontal Lobe and more co-activation between the Insula & Cingulate Gyri, the "
        "Posterior Fossa and the Temporal Lobe, then X would have been classified as Typically "
        "Developed."
    )


@pytest.mark.parametrize(
    ("subject", "start", "middle"),
    [
        (9, "Patient 9 is", "If Patient 9's brain had"),
        ("Patient 9", "Patient 9 is", "If Patient 9's brain had"),
        ("Patient Anna", "Patient Anna is", "If Anna's brain had"),
        ("X", "Patient X is", "If X's brain had"),
        ("aut-009", "Patient aut-009 is", "If Patient aut-009's brain had"),
        ("adhdm-3", "Patient adhdm-3 is", "If Patient adhdm-3's brain had"),
        ("control-03", "control-03 is", "If control-03's brain had"),
        ("patient-07", "patient-07 is", "If patient-07's brain had"),
        ("Anna", "Anna is", "If Anna's brain had"),
        ("brain", "This brain is", "If the brain had"),
        ("brain-01", "brain-01 is", "If brain-01 had"),
        ("Anna's brain", "Anna's brain is", "If Anna's brain had"),
        ("brainy", "brainy is", "If brainy's brain had"),
        ("patient", "This patient is", "If the patient's brain had"),
        ("Our first patient", "Our first patient is", "If Our first patient's brain had"),
        (None, "This patient is", "If the patient's brain had"),
    ],
)
def test_subject(subject, start, middle) -> None:
    text = tell(make_result({(F, F): (0, 5)}), NODES, subject=subject).statement
    assert text.startswith(start)
    assert middle in text


@pytest.mark.parametrize(
    ("label", "names", "text"),
    [
        (1, None, "labelled 1"),
        (1, ["healthy", "ill"], "classified as ill"),
        (1, {1: "ill"}, "classified as ill"),
        (1, {0: "healthy"}, "labelled 1"),
        ("ASD", None, "classified as ASD"),
        ("", None, "labelled ''"),
        (True, None, "labelled True"),
        (0.5, None, "labelled 0.5"),
    ],
)
def test_class_names(label, names, text) -> None:
    result = make_result({(F, F): (0, 5)}, label_before=label, label_after="other")
    story = tell(result, NODES, class_names=names, subject=9)
    assert story.statement.startswith(f"Patient 9 is {text}.")


COUNTED = [
    ("removed", {(F, F): (0, 3)}, "3 fewer connections in the Frontal Lobe (3 → 0 of 6)"),
    ("one is one", {(F, F): (0, 1)}, "one fewer connection in the Frontal Lobe (1 → 0 of 6)"),
    (
        "between two",
        {(F, T): (2, 0)},
        "2 more connections between the Frontal Lobe and the Temporal Lobe (0 → 2 of 16)",
    ),
    (
        "three places are a list",
        {(F, F): (0, 3), (T, T): (0, 2), (F, P): (4, 0)},
        "5 fewer and 4 more connections in 3 places, listed below",
    ),
    (
        "two",
        {(F, F): (0, 3), (T, T): (2, 0)},
        "3 fewer connections in the Frontal Lobe (3 → 0 of 6) and 2 more in the Temporal Lobe "
        "(0 → 2 of 6)",
    ),
    (
        "both ways, the more first",
        {(F, F): (1, 4)},
        "4 fewer and one more connection in the Frontal Lobe (4 → 1 of 6)",
    ),
    (
        "as many as fewer",
        {(F, T): (2, 2)},
        "2 more and 2 fewer connections between the Frontal Lobe and the Temporal Lobe "
        "(2 → 2 of 16)",
    ),
]


@pytest.mark.parametrize(("cells", "text"), [c[1:] for c in COUNTED], ids=[c[0] for c in COUNTED])
def test_clause_with_amounts(cells, text) -> None:
    assert had(cells, vocabulary="brain") == text


def told(reading: str | None, flips: int, **options: object) -> Story:
    """A result that brings its own test along, of one cell both ways."""
    test = reading and AsRead("regions", "lobe", reading, 20, flips)
    result = make_result({(F, F): (3, 2)}, as_read=test)
    return tell(result, NODES, vocabulary="brain", class_names=CLASSES, subject=9, **options)


def test_words_follow_truth() -> None:
    start = (
        "If subject 9 had 3 more and 2 fewer connections in the Frontal Lobe (2 → 3 of 6), it "
        "would have been classified as Typically Developed"
    )
    assert told("any", 18).statement == f"{start}."
    assert told("any", 17).statement == (
        f"{start} – for the 5 connections listed, not for just any others there."
    )
    assert told(None, 0).statement == (
        f"{start} – for the 5 connections listed; others were not tested."
    )


@pytest.mark.parametrize(
    ("reading", "text"),
    [
        (
            "typical",
            "5 connections in the Frontal Lobe changed to what Typically Developed subjects "
            "usually have (3 more, 2 fewer: 2 → 3 of 6)",
        ),
        (
            "distinctive",
            "5 connections in the Frontal Lobe changed to what sets Typically Developed apart "
            "from Autism Spectrum Disorder (3 more, 2 fewer: 2 → 3 of 6)",
        ),
    ],
)
def test_words_say_which_connections_are_meant(reading, text) -> None:
    story = told(reading, 20)
    assert f" had {text}, it " in story.statement
    assert story.claim.amounts == (((F, F), 3, 2),)
    assert story.claim.reading == reading
    failed = told(reading, 3)
    assert "usually" not in failed.statement
    assert "apart" not in failed.statement
    assert failed.claim.reading == "any"


def test_footnotes_follow_truth() -> None:
    held = told("any", 19)
    assert (
        "True as read: 19 of 20 random choices of as many connections in the same places change "
        "the answer (95 % interval of the share: 76 to 99 %)."
    ) in held.footnotes
    assert held.sentences.listed is None
    failed = told("any", 2)
    assert any(
        n.startswith("Not true of just any connections there: only 2 of 20")
        for n in failed.footnotes
    )
    assert (
        "The 5 connections it holds for: n1 – n2 (removed), n1 – n3 (removed), n0 – n1 (added), "
        "n0 – n2 (added), n0 – n3 (added)."
    ) in failed.footnotes
    assert "as many such connections in the same" in str(told("typical", 20).footnotes)


def test_the_paper_speaks_as_it_does_and_the_footnotes_tell() -> None:
    test = AsRead("regions", "lobe", "any", 20, 2)
    story = tell(make_result({(F, F): (0, 5)}, as_read=test), NODES)
    assert "had less activation in the Frontal Lobe, then" in story.statement
    assert "listed" not in story.statement
    assert any(note.startswith("Not true of just any links there") for note in story.footnotes)


def test_many_connections_are_not_listed_in_a_footnote() -> None:
    story = tell(make_result({(F, T): (13, 0)}), NODES, vocabulary="brain")
    assert story.sentences.listed == (
        "The 13 connections it holds for are in the table of edits (in Python: story.named_edits)."
    )


def test_left_and_right_are_said_once() -> None:
    sides = tuple(f"{side} isocortex" for side in ("left", "right") for _ in range(10))
    nodes = Nodes(tuple(f"n{i}" for i in range(20)), regions={"part": sides})
    result = make_result({(F, A): (2, 0)})
    story = describe(result, nodes)
    assert "between the left and the right isocortex (0 → 2 of 100)" in story.statement
    assert says_its_claim(story)


@pytest.mark.parametrize(
    ("vocabulary", "cells", "text"),
    [
        ("mouse", {(F, T): (2, 0)}, "2 more connections between the Frontal Lobe and the Temporal"),
        ("mouse", {(F, F): (0, 2)}, "2 fewer connections in the Frontal Lobe"),
        ("connectome", {(F, F): (0, 2)}, "2 fewer connections within the Frontal Lobe"),
        ("network", {(F, F): (2, 0)}, "2 more connections within the Frontal Lobe"),
        ("network", {(F, T): (0, 2)}, "2 fewer connections between the Frontal Lobe and the"),
        ("graph", {(F, F): (0, 2)}, "2 fewer edges in the Frontal Lobe"),
        ("graph", {(F, F): (2, 2)}, "2 more and 2 fewer edges in the Frontal Lobe (2 → 2 of 6)"),
        (
            Vocabulary(
                name="city",
                subject="Town",
                whole="road map",
                inside="lanes",
                across="bridges",
                unit="road",
                units="roads",
                verb="taken for",
            ),
            {(F, F): (0, 2), (F, T): (1, 0)},
            "2 fewer lanes in the Frontal Lobe (2 → 0 of 6) and one more road between the Frontal",
        ),
    ],
)
def test_words_of_a_domain(vocabulary, cells, text) -> None:
    assert had(cells, vocabulary=vocabulary).startswith(text)


def test_a_vocabulary_of_ones_own_speaks_throughout() -> None:
    words = Vocabulary(
        name="city", subject="Town", whole="road map", unit="road", units="roads", verb="taken for"
    )
    result = make_result({(F, F): (0, 2)})
    story = tell(result, NODES, vocabulary=words, subject="Town Ulm", class_names=CLASSES)
    assert story.statement == (
        "If town Ulm had 2 fewer edges in the Frontal Lobe (2 → 0 of 6), it would have been taken "
        "for Typically Developed – for the 2 roads listed; others were not tested."
    )
    assert "2 roads" in story.detailed


def test_a_labs_own_regions_get_neutral_words() -> None:
    """Lobes of an unknown atlas: nobody said that activation was measured, or who is a patient."""
    regions = tuple(lobe.removesuffix(" Lobe") for lobe in NODES.regions["lobe"])
    nodes = Nodes(NODES.names, regions={"lobe": regions})
    result = make_result({(F, F): (0, 5), (T, A): (2, 0)})
    told = {"subject": "control-03", "class_names": ["patient", "control"]}
    assert describe(result, nodes, **told).statement == (
        "If control-03 had 5 fewer connections within Frontal (5 → 0 of 6) and 2 more between "
        "Temporal and Parietal (0 → 2 of 16), it would have been classified as patient – for "
        "the 7 connections listed; others were not tested."
    )
    places = tuple((float(i), 0.0, 0.0) for i in range(nodes.n_nodes))
    nodes = Nodes(NODES.names, regions={"lobe": regions}, coordinates=places)
    story = describe(result, nodes, **told)
    assert "If control-03 had 5 fewer connections within Frontal" in story.statement
    assert describe(result, nodes, subject=3).subject == "Subject 3"


def test_a_plain_graph_owns_its_edges_itself() -> None:
    result = make_result({(F, F): (0, 2)})
    story = tell(result, NODES, vocabulary="graph", class_names=CLASSES)
    assert story.statement == (
        "If this graph had 2 fewer edges in the Frontal Lobe (2 → 0 of 6), it would have been "
        "classified as Typically Developed – for the 2 edges listed; others were not tested."
    )


def test_short_names_few_and_counts_many() -> None:
    few = tell(make_result({(F, F): (0, 5)}), NODES, subject=9, class_names=CLASSES)
    assert few.short == (
        "Patient 9: Autism Spectrum Disorder → Typically Developed with less activation in the "
        "Frontal Lobe."
    )
    cells = {(F, F): (0, 5), **dict.fromkeys(itertools.combinations(range(5), 2), (1, 0))}
    many = tell(make_result(cells), NODES, subject=9, class_names=CLASSES, vocabulary="brain")
    assert many.short == (
        "Subject 9: Autism Spectrum Disorder → Typically Developed with changes in 11 region "
        "pairs, most in Frontal Lobe (5 connections removed) – for the 15 connections listed; "
        "others were not tested."
    )


def test_detailed_gives_counts_distance_and_calls() -> None:
    result = make_result({(F, F): (0, 5), (T, P): (2, 1)}, search_calls=1200, refine_calls=34)
    text = tell(result, NODES, class_names=CLASSES).detailed
    assert "Frontal Lobe: 5 links removed" in text
    assert "Temporal Lobe – Posterior Fossa: 1 link removed, 2 added" in text
    assert "distance of 8 (6 links removed, 2 added; 100.0 % of the edges of either graph)" in text
    assert "found by tri with 1,234 queries" in text
    assert "Not tested" in text


def footnotes(**facts: object) -> str:
    result = make_result({(F, F): (2, 0)}, **facts)
    return "\n".join(describe(result, NODES, class_names=CLASSES).footnotes)


def test_how_much_noise_a_change_survives_is_said() -> None:
    assert "noise" not in footnotes()
    unknown = footnotes(robustness=Robustness(0.9, 0.01, draws=0, flips=0))
    assert "was requested but could not be measured" in unknown
    enough = footnotes(robustness=Robustness(0.9, 0.01, draws=100, flips=94))
    assert "All 2 changes together survive" in enough
    assert "less than" not in enough
    short = footnotes(robustness=Robustness(0.9, 0.01, draws=100, flips=40))
    assert "less than the 90 % requested" in short


def test_what_is_named_is_a_list_from_two_on_where_the_sentence_is_long(monkeypatch) -> None:
    two = describe(make_result({(F, F): (2, 0), (T, P): (0, 3)}), NODES, class_names=CLASSES)
    assert two.items == ()
    words = count_words(two.statement.partition(" – ")[0])
    for longest, n in ((words, 0), (words - 1, 2)):
        monkeypatch.setattr(statement, "LONG", longest)
        again = describe(make_result({(F, F): (2, 0), (T, P): (0, 3)}), NODES, class_names=CLASSES)
        assert len(again.items) == n
    one = describe(make_result({(F, F): (2, 0)}), NODES, class_names=CLASSES)
    monkeypatch.setattr(statement, "LONG", 1)
    assert one.items == ()


def test_a_sentence_by_node_says_so_where_there_are_regions() -> None:
    said = AsRead("nodes", None, "any", draws=20, flips=20)
    result = make_result({(F, F): (2, 0)}, as_read=said)
    told = "Described by node, not by region."
    assert told in describe(result, NODES, class_names=CLASSES).footnotes
    plain = Nodes(NODES.names)
    assert told not in describe(result, plain, class_names=CLASSES).footnotes
