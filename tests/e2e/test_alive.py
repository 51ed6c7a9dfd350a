"""The page that is sent by mail answers "what if" by itself, as the classifier would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cohorts import make_cohort
from denseflip.classifiers.presets import fit_oracle
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.offline_whatif import whatif_data
from denseflip.workflow.outputs import write_outputs
from denseflip.workflow.subject import find_subject

pytestmark = [pytest.mark.browser, pytest.mark.slow]
DRAWN = """() => {
  const { panel } = denseflipWhatIf;
  return panel.answer.every.map((codes) =>
    ({ codes, ...panel.model.answer(codes, panel.choices.held) }));
}"""


def written(folder: Path, preset: str, classes: int = 2) -> tuple[Path, Any, Any]:
    """A page in a folder, with its classifier and its subject."""
    cohort = make_cohort(classes=classes)
    oracle = fit_oracle(cohort, preset)
    subject = find_subject(cohort, "g0003")
    story = explain_and_describe(subject, oracle)
    data = whatif_data(subject, oracle, story=story)
    page = write_outputs(story, folder, oracle, dataset=cohort, whatif=data)[0]
    return page, oracle, subject


def check(page: Any, oracle: Any, subject: Any) -> int:
    """Every draw that the page shows is labelled as the oracle labels it; how many there are."""
    drawn = page.evaluate(DRAWN)
    graphs = [subject.graph.toggle_codes(sorted(one["codes"])) for one in drawn]
    assert [one["label"] for one in drawn] == oracle.predict(graphs)
    if drawn[0]["confidence"] is not None:
        sure = oracle.predict_proba(graphs).max(axis=1)
        assert [one["confidence"] for one in drawn] == pytest.approx(sure.tolist(), abs=1e-9)
    return len(drawn)


@pytest.mark.parametrize("preset", ["regions-logistic", "edges-svm", "edges-logistic"])
def test_the_page_says_what_the_classifier_says(visit, tmp_path, preset):
    path, oracle, subject = written(tmp_path / "out", preset)
    seen = visit(path)
    page = seen.page
    page.wait_for_selector("#whatif .wi-verdict strong")
    check(page, oracle, subject)  # it begins with the explanation
    page.click(".wi-tools >> text=As it is")
    assert page.evaluate("denseflipWhatIf.panel.answer.added") == 0
    page.select_option("[aria-label='first region']", label="Front")
    page.select_option("[aria-label='second region']", label="Back")
    page.click(".wi-add")
    for key in ("PageUp", "PageUp", "End", "ArrowLeft"):
        page.locator("[data-cell='0-1'] input[type=range]").first.focus()
        page.keyboard.press(key)
        check(page, oracle, subject)
    page.locator("[data-cell='0-1'] .wi-fewer input[type=number]").fill("2")
    page.keyboard.press("Enter")
    assert check(page, oracle, subject) == 20
    if page.locator("select option[value=typical]").count():
        page.locator(".wi-cells select").first.select_option("typical")
        check(page, oracle, subject)
    page.fill("[aria-label='first node']", "n0")
    page.fill("[aria-label='second node']", "n11")
    page.click(".wi-flip")
    check(page, oracle, subject)
    page.click(".wi-tools >> text=Another choice")
    check(page, oracle, subject)
    assert seen.sideways() <= 0
    seen.quiet()  # nothing was fetched: there is no network


def test_one_more_connection_keeps_the_others(visit, tmp_path):
    path, _, _ = written(tmp_path / "out", "regions-logistic")
    page = visit(path).page
    page.wait_for_selector("#whatif .wi-verdict strong")
    walks = page.evaluate(
        """() => { const { choices } = denseflipWhatIf.panel;
        const state = (more) =>
          ({cells: {'0-1': {more, fewer: 0}}, pairs: [], reading: 'any', seed: 4});
        return [3, 4, 5].map((n) => choices.draw(state(n), 7)); }"""
    )
    assert set(walks[0]) < set(walks[1]) < set(walks[2])


def test_several_classes(visit, tmp_path):
    path, oracle, subject = written(tmp_path / "out", "edges-logistic", classes=3)
    page = visit(path, width=390, height=800).page
    page.wait_for_selector("#whatif .wi-verdict strong")
    check(page, oracle, subject)


def test_a_classifier_that_is_no_sum_has_no_panel(visit, tmp_path):
    path, _, _ = written(tmp_path / "out", "sf-knn")
    seen = visit(path)
    assert seen.page.locator("#whatif").count() == 0
    seen.quiet()
