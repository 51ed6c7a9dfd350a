"""The sentences that the paper shows, and the mice's known answer."""

from __future__ import annotations

from functools import cache

import pytest

from denseflip import Story, describe, explain
from denseflip.classifiers.presets import fit_oracle
from denseflip.datasets.registry import load_dataset
from denseflip.paper.published_classifier import published_oracle
from denseflip.paper.published_methods import published_method
from stories import says_its_claim


@cache
def patient(dataset: str, number: int, share: float = 0.0, words: str = "paper") -> Story:
    """A patient's story by TRI, all of it in the published profile."""
    data = load_dataset(dataset)
    oracle = published_oracle(data)
    recipe = published_method("tri")
    result = explain(data.graphs[number], oracle, recipe, nodes=data.nodes, background=data.graphs)
    options = {"subject": number, "share": share, "vocabulary": words}
    return describe(result, data.nodes, oracle, **options)  # type: ignore[arg-type]


def named(story: Story, change: str) -> set[str]:
    """Regions that a statement says there would be less (more) of."""
    assert says_its_claim(story)
    rows = zip(story.claim.amounts, story.claim.region_sets, strict=True)
    return {name for amount, names in rows if amount.change == change for name in names}


@pytest.mark.data
def test_bip_9_names_what_the_paper_names(brain_data) -> None:
    """Paper, §5.3: less in Parietal Lobe and Insula & Cingulate Gyri, more in Posterior Fossa."""
    story = patient("bip", 9, share=0.8)
    assert named(story, "less") == {"Parietal Lobe", "Insula & Cingulate Gyri"}
    assert named(story, "more") == {"Posterior Fossa"}
    assert story.verified
    assert story.statement == (
        "Patient 9 is classified as Typically Developed. If Patient 9's brain had less activation "
        "in the Parietal Lobe, less co-activation between the Insula & Cingulate Gyri and the "
        "Parietal Lobe, and more activation in the Posterior Fossa, then Patient 9 would have been "
        "classified as Bipolar."
    )


@pytest.mark.data
def test_bip_9_needs_less_than_the_paper_says(brain_data) -> None:
    """The test finds that the Posterior Fossa alone is enough; the rest is said to be unneeded."""
    story = patient("bip", 9)
    assert named(story, "less") == set()
    assert named(story, "more") == {"Posterior Fossa"}
    assert story.verified
    assert story.verification.questions == 2
    assert "less activation in the Parietal Lobe" in story.rest
    assert "between the Insula & Cingulate Gyri and the Parietal Lobe" in story.rest
    assert "which is not needed to flip the classifier" in story.rest


@pytest.mark.data
def test_adhd_22_names_the_occipital_lobe(brain_data) -> None:
    story = patient("adhd", 22, share=0.8)
    assert named(story, "less") == {"Occipital Lobe"}
    assert named(story, "more") == {"Frontal Lobe", "Temporal Lobe"}
    assert story.verified
    assert story.statement == (
        "Patient 22 is classified as ADHD. If Patient 22's brain had less activation in the "
        "Occipital Lobe and more co-activation between the Frontal Lobe and the Temporal Lobe, "
        "then Patient 22 would have been classified as Typically Developed."
    )


@pytest.mark.data
def test_bip_9_in_plain_words_says_how_much_and_for_what_it_holds(brain_data) -> None:
    assert patient("bip", 9, words="auto").statement == (
        "If subject 9 had 18 more connections in the Posterior Fossa (27 → 45 of 325), it would "
        "have been classified as Bipolar – for the 18 connections listed, not for just any others "
        "there."
    )


@pytest.mark.parametrize("preset", ["sf-knn", "regions-logistic", "edges-svm"])
def test_a_btbr_mouse_lacks_what_a_corpus_callosum_does(preset) -> None:
    """BTBR mice are born without a corpus callosum: the first cell joins the hemispheres."""
    mice = load_dataset("mice")
    oracle = fit_oracle(mice, preset=preset)
    graph = mice.graphs[11]
    assert mice.class_names[mice.labels[11]] == "BTBR"
    result = explain(graph, oracle, "blocks", nodes=mice.nodes, background=mice.graphs)
    story = describe(result, mice.nodes, oracle, subject=11)
    assert story.statement.startswith("If mouse 11 had ")
    assert "it would have been classified as B6" in story.lead
    assert "more connections between the left and the right isocortex" in story.statement
    assert story.claim.region_sets[0] == {"left isocortex", "right isocortex"}
    assert story.claim.amounts[0].change == "more"
    assert story.verified


def test_the_mouse_sentence_word_for_word() -> None:
    mice = load_dataset("mice")
    oracle = fit_oracle(mice, preset="sf-knn")
    result = explain(mice.graphs[11], oracle, "blocks", nodes=mice.nodes, background=mice.graphs)
    assert describe(result, mice.nodes, oracle, subject=11).statement == (
        "If mouse 11 had 152 more connections between the left and the right isocortex (11 → 163 "
        "of 1,681) and 86 fewer in the right isocortex (246 → 160 of 820), it would have been "
        "classified as B6."
    )
