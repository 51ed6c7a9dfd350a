"""The methods paragraph of a group: what was done, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from denseflip.cohort.cohort import Cohort
from denseflip.cohort.settings import CohortSettings
from denseflip.result_scores import Stability
from groups import CHANCE, GOOD, found_cohort, labelling


def judged() -> Cohort:
    """A cohort whose changes are in range, keep the number of edges and were tested on refits."""
    found = found_cohort()
    patients = tuple(
        replace(p, in_range=True, balanced=True, stability=Stability(20, (0.8,), 20))
        for p in found.observed.patients
    )
    return replace(found, observed=replace(found.observed, patients=patients))


def test_the_paragraph_has_the_figures_of_the_cohort() -> None:
    found = judged()
    text = found.methods_text({"description": "Edges: pairs at or above percentile 97.5."})
    for part in (
        "The data set toy has 20 graphs (10 A, 10 B).",
        "in 3 regions (lobe), which form 6 region pairs",
        "Edges are pairs at or above percentile 97.5.",
        "The classifier, regions-logistic, is a logistic regression on the densities of region "
        "pairs, after standardisation.",
        "5-fold cross-validation with 10 repeats, and tested with 200 permutations",
        f"regions-logistic on toy is better than chance; {GOOD.verdict.partition(': ')[2]}",
        "search scan, seed 0, with 4321 queries",
        "20 of 20 graphs were explained, each with a classifier that was not trained on it",
        "Changes in range were preferred.",
        "All 18 changes are in range",
        "all 18 keep the number of connections",
        "On average, 80 % of the redraws of a change also flip",
        "each classifier was trained again 20 times",
        "The p-values of region pairs come from 19 permutations of the labels.",
        "The significance level is 0.05; the smallest possible p-value is 0.05.",
        "X – Y (more indicate B, 18 of 20 graphs, p = 0.05)",
        "it flips 4 of 5 A graphs that a classifier trained on the other half is right about",
        "[2] Crawford",
        "[3] Westfall",
    ):
        assert part in text, part
    assert "then trained on all graphs" not in text  # each fold has its own classifier
    assert Cohort.from_dict(found.to_dict()).methods_text() == found.methods_text()


def test_nothing_is_stated_that_was_not_done() -> None:
    plain = found_cohort(null=(), refitted=False, shared=(), evaluation=None).methods_text()
    for word in ("permut", "Westfall", "Crawford", "Student", "shared change", "folds", "p = "):
        assert word not in plain, word
    assert "is not known: it was already trained" in plain
    assert "were not tested against chance" in plain
    nobody = replace(labelling(), explained=0)
    closed = found_cohort(evaluation=CHANCE, observed=nobody, null=(), shared=()).methods_text()
    assert "No graphs were explained" in closed
    assert "because the classifier is not better than chance" in closed
    assert "search scan" not in closed


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"in_range": "require"}, "Changes in range were required."),
        ({"in_range": "ignore"}, "Changes in range were not searched for."),
        ({"patients": 10}, "At most 10 graphs were drawn under each labelling."),
        ({"constraints": {"only": "add"}}, "was constrained: by additions only."),
        ({"method": "brief"}, "search brief, seed 0"),
    ],
)
def test_settings_are_stated(settings: dict[str, object], said: str) -> None:
    assert said in replace(judged(), settings=CohortSettings(**settings)).methods_text()  # type: ignore[arg-type]


def test_the_correction_is_cited() -> None:
    text = found_cohort(correction="bh").methods_text()
    assert "[2] Benjamini" in text
    assert "smallest possible p-value before correction" in text
    assert "Westfall" not in text
