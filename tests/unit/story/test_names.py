"""Region names as a sentence writes them."""

from __future__ import annotations

import pytest

from denseflip import Nodes
from denseflip.datasets.atlas import load_aal
from denseflip.graph import Taxonomy
from denseflip.story.names import readable, reader, with_article, written


def regions(*names: str) -> Taxonomy:
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
    assert written(regions(*names)) == texts


def test_the_sentences_own_phrases_are_quoted() -> None:
    taxonomy = regions("more edges in 3", "X")
    assert written(taxonomy, ["more edges in "]) == ("“more edges in 3”", "X")


def test_the_longest_name_is_read() -> None:
    taxonomy = regions("V1", "V12", "Frontal", "Frontal Lobe")
    pattern, position = reader(written(taxonomy))
    for i, text in enumerate(written(taxonomy)):
        match = pattern.match(f"{text}, then")
        assert match is not None
        assert position[match.group()] == i
