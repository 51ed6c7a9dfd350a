"""Vocabularies: what they may hold, and how they come back."""

from __future__ import annotations

import pytest

from denseflip import Vocabulary
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.story.wording.vocabulary import VOCABULARIES


def test_every_vocabulary_is_known_by_its_name_and_survives_its_dictionary() -> None:
    for name, words in VOCABULARIES.items():
        assert Vocabulary.named(name) is words
        assert Vocabulary.from_dict(words.to_dict()) == words


def test_an_unknown_name_suggests_a_known_one() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'mouse'"):
        Vocabulary.named("mous")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"subject": ""}, "subject must be a non-empty text; got ''"),
        ({"inside": "a, b"}, "inside must not contain commas"),
        ({"across": "“x”"}, "across must not contain"),
        ({"unit": 3}, "unit must be a non-empty text"),
        ({"less": "more"}, "less, more and mixed must differ"),
        ({"subject": "", "inside": "(", "unit": ","}, "subject .* inside .* unit"),
        ({"counts": "no"}, "counts must be True or False; got 'no'"),
    ],
)
def test_words_that_would_break_a_sentence_are_refused(options, match) -> None:
    with pytest.raises(InvalidParameterError, match=match):
        Vocabulary(**options)


def test_counting_and_owning() -> None:
    words = Vocabulary.named("brain")
    assert [words.count(n) for n in (0, 1, 2, 1234)] == [
        "0 connections",
        "1 connection",
        "2 connections",
        "1,234 connections",
    ]
    assert words.possessor("Anna") == "Anna's brain"
    assert words.possessor("Anna's Brain") == "Anna's Brain"
    assert Vocabulary().possessor("Graph 1") == "Graph 1"


@pytest.mark.parametrize(
    ("words", "subject", "text"),
    [
        ("brain", "control-03", "control-03"),
        ("brain", "03", "Subject 03"),
        ("connectome", 3, "Subject 3"),
        ("connectome", "sub-3", "sub-3"),
        ("network", "", "This graph"),
        ("graph", "network", "This network"),
        ("mouse", "sub-54811", "Mouse sub-54811"),
    ],
)
def test_only_a_number_or_a_known_id_gets_the_noun(words, subject, text) -> None:
    assert Vocabulary.named(words).called(subject) == text


def test_a_noun_of_ones_own_is_always_used() -> None:
    assert Vocabulary(name="city", subject="Town").called("Ulm") == "Town Ulm"


def test_only_the_paper_speaks_of_activation() -> None:
    spoken = {name for name, words in VOCABULARIES.items() if "activation" in words.across}
    assert spoken == {"paper"}
    assert {name for name, words in VOCABULARIES.items() if not words.counts} == {"paper"}


def test_no_caveat_says_what_the_test_as_read_decides() -> None:
    assert not any("listed" in words.caveat for words in VOCABULARIES.values())
