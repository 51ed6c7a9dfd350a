"""The page that is sent by mail answers "what if" by itself, as the classifier would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cohorts import make_cohort
from denseflip import Background, Constraints, Story, make_method
from denseflip.as_read import READINGS
from denseflip.classifiers.presets import fit_oracle
from denseflip.datasets import load_dataset
from denseflip.oracles.session import Session
from denseflip.search.claims.claim import Claim
from denseflip.search.claims.elsewhere import Elsewhere
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.sides import Sides
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.offline_whatif import whatif_data
from denseflip.workflow.outputs import write_outputs
from denseflip.workflow.subject import find_subject

pytestmark = [pytest.mark.browser, pytest.mark.slow]
KEPT = {"balance": "on"}  # the number of connections
DRAWN = """() => {
  const { panel } = denseflipWhatIf;
  return panel.answer.every.map((codes) =>
    ({ codes, ...panel.model.answer(codes, panel.choices.held) }));
}"""


def written(
    folder: Path, preset: str, classes: int = 2, subject_id: str = "g0003", **options: Any
) -> tuple[Path, Any, Any]:
    """A page in a folder, with its classifier and its subject."""
    cohort = make_cohort(classes=classes)
    oracle = fit_oracle(cohort, preset)
    subject = find_subject(cohort, subject_id)
    story = explain_and_describe(subject, oracle, **options)
    page = write_story(folder, story, subject, oracle)
    return page, oracle, subject


def write_story(folder: Path, story: Story, subject: Any, oracle: Any) -> Path:
    data = whatif_data(subject, oracle, story=story)
    return write_outputs(story, folder, oracle, dataset=subject.dataset, whatif=data)[0]


def open_whatif(page: Any) -> None:
    """Open "What if?", which is folded at first."""
    page.click("#what-if summary")
    page.wait_for_selector("#whatif .wi-verdict strong")


def check(page: Any, oracle: Any, subject: Any) -> int:
    """Every draw that the page shows is labelled as the oracle labels it; how many there are."""
    drawn = page.evaluate(DRAWN)
    graphs = [subject.graph.toggle_codes(sorted(one["codes"])) for one in drawn]
    assert [one["label"] for one in drawn] == oracle.predict(graphs)
    if drawn[0]["confidence"] is not None:
        sure = oracle.predict_proba(graphs).max(axis=1)
        assert [one["confidence"] for one in drawn] == pytest.approx(sure.tolist(), abs=1e-9)
    return len(drawn)


def check_elsewhere(page: Any, subject: Any, claim: Claim) -> None:
    """Every draw of a balanced claim keeps the number of connections, outside its places."""
    places = Places(subject.graph, claim.regions)
    inside = {
        int(code)
        for place in claim.places
        for part in (places.absent(place), places.present(place))
        for code in part.tolist()
    }
    for codes in page.evaluate("denseflipWhatIf.panel.answer.every"):
        outside = [code for code in codes if code not in inside]
        assert len(set(codes)) == len(codes)
        assert len(outside) == abs(claim.elsewhere)
        if claim.balanced:
            assert subject.graph.toggle_codes(sorted(codes)).n_edges == subject.graph.n_edges


@pytest.mark.parametrize("preset", ["regions-logistic", "edges-svm", "edges-logistic"])
def test_the_page_says_what_the_classifier_says(visit, tmp_path, preset):
    path, oracle, subject = written(tmp_path / "out", preset)
    seen = visit(path)
    page = seen.page
    open_whatif(page)
    check(page, oracle, subject)  # it begins with the explanation
    page.click(".wi-tools >> text=Original")
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
    page.click(".wi-tools >> text=Redraw")
    check(page, oracle, subject)
    assert seen.sideways() <= 0
    seen.quiet()  # nothing was fetched: there is no network


@pytest.mark.parametrize(
    ("preset", "subject_id", "options", "reading", "language"),
    [
        ("regions-logistic", "g0000", {"readings": ("any",)}, "any", "regions"),
        ("edges-logistic", "g0000", {"readings": ("typical",)}, "typical", "regions"),
        ("edges-logistic", "g0000", {"readings": ("distinctive",)}, "distinctive", "regions"),
        ("regions-logistic", "g0000", {"language": "nodes"}, "any", "nodes"),
        ("edges-logistic", "g0000", {"language": "nodes"}, "distinctive", "nodes"),
        ("regions-logistic", "g0000", KEPT, "any", "regions"),
        ("edges-logistic", "g0001", KEPT | {"readings": ("typical",)}, "typical", "regions"),
        (
            "edges-logistic",
            "g0000",
            KEPT | {"readings": ("distinctive",)},
            "distinctive",
            "regions",
        ),
        ("regions-logistic", "g0005", KEPT | {"language": "nodes"}, "distinctive", "nodes"),
    ],
)
def test_the_panel_opens_with_the_claim_of_the_sentence(
    visit, tmp_path, preset, subject_id, options, reading, language
):
    cohort = make_cohort()
    oracle = fit_oracle(cohort, preset)
    subject = find_subject(cohort, subject_id)
    story = explain_and_describe(subject, oracle, make_method("brief", **options))
    test = story.as_read
    assert (story.reading, story.language) == (reading, language)
    assert story.claim.balanced == ("balance" in options)
    seen = visit(write_story(tmp_path / "out", story, subject, oracle))
    page = seen.page
    open_whatif(page)
    # The number is that of the sentence's test, and the first choice the explanation itself.
    assert page.locator("#whatif").get_attribute("data-flips") == f"{test.flips}/{test.draws}"
    said = f"{test.flips} of {test.draws} random draws of the same number of "
    said += "connections flip the decision"
    assert said in page.inner_text("#whatif")
    assert f"{test.flips} of {test.draws} random choices" in page.text_content("body")
    assert page.inner_text(".wi-label strong") == story.class_name(story.claim.label)
    assert page.locator(".wi-cells select").first.input_value() == reading
    shown = page.evaluate(
        """() => { const { panel } = denseflipWhatIf;
        return [panel.data.start.cells, panel.state.pairs, panel.answer.codes]; }"""
    )
    cells = [((c["a"], c["b"]), c["more"], c["fewer"]) for c in shown[0]]
    assert tuple(cells) == story.claim.amounts
    assert shown[1] == []
    assert page.locator(".wi-balance input").is_checked() == story.claim.balanced
    outside = abs(story.claim.elsewhere)
    assert (f"{outside} of these lie outside the places chosen" in page.inner_text("#whatif")) == (
        outside > 0
    )
    edits = story.named_edits
    assert sorted(shown[2]) == sorted(u * 12 + v for u, v in (*edits.added, *edits.removed))
    for row in page.locator(".wi-row").all():
        assert row.locator("input[type=number]").first.input_value().isdigit()
    check(page, oracle, subject)
    # The page's own choices, 100 of them, have the same verdict.
    flips = 0
    for _ in range(5):
        page.click(".wi-tools >> text=Redraw")
        assert check(page, oracle, subject) == 20
        check_elsewhere(page, subject, story.claim)
        flips += page.evaluate("denseflipWhatIf.panel.answer.flips")
    assert flips >= 88  # nine of ten, and what 100 draws may miss
    page.click(".wi-tools >> text=As explained")
    assert page.locator("#whatif").get_attribute("data-flips") == f"{test.flips}/{test.draws}"
    seen.quiet()


def test_the_page_draws_with_the_weights_of_the_reading(visit, tmp_path):
    """Room and first draws in the page are those that Python's redraws allow."""
    path, _, subject = written(tmp_path / "out", "edges-logistic")
    page = visit(path).page
    open_whatif(page)
    oracle = fit_oracle(subject.dataset, "edges-logistic")
    target = page.evaluate("denseflipWhatIf.panel.data.target")
    background = Background.of(subject.background)
    before = oracle.predict([subject.graph])[0]
    sides = Sides.of_background(background, Session(oracle), before, target)
    places = Places(subject.graph, subject.nodes.taxonomy("lobe"))
    for reading in READINGS:
        redraw = Redraw(places, reading, sides.current, sides.target)
        for place in places.every:
            for adding in (True, False):
                room = page.evaluate(
                    "([key, adding, reading]) => "
                    "denseflipWhatIf.panel.choices.room(key, adding, reading)",
                    [f"{place[0]}-{place[1]}", adding, reading],
                )
                assert room == redraw.room(place, adding=adding)


@pytest.mark.parametrize("constraints", [None, {"freeze": ["n0", "n1"]}])
def test_the_page_draws_elsewhere_what_python_draws(visit, tmp_path, constraints):
    """The pairs and weights in the page are those of `Elsewhere`, and so are their shares."""
    path, oracle, subject = written(
        tmp_path / "out", "regions-logistic", subject_id="g0000", constraints=constraints
    )
    page = visit(path).page
    open_whatif(page)
    target = page.evaluate("denseflipWhatIf.panel.data.target")
    before = oracle.predict([subject.graph])[0]
    background = Background.of(subject.background)
    sides = Sides.of_background(background, Session(oracle), before, target)
    terms = BoundConstraints(Constraints(**(constraints or {})), subject.graph, subject.nodes)
    places = Places(subject.graph, subject.nodes.taxonomy("lobe"), terms)
    elsewhere = Elsewhere(places, sides.current, sides.target)
    for adding in (True, False):
        pool = elsewhere._pairs[int(adding)]
        shown = page.evaluate("adding => denseflipWhatIf.panel.choices.pool(adding)", adding)
        assert shown["codes"] == pool.codes.tolist()
        assert shown["weights"] == pytest.approx(pool.weights.values.tolist())
        first = page.evaluate(
            """adding => { const { choices } = denseflipWhatIf.panel;
            return [...Array(4000).keys()].map((i) =>
              choices.queueElsewhere(adding, 5, i, 1)[0]); }""",
            adding,
        )
        shares = [first.count(code) / len(first) for code in pool.codes.tolist()]
        wanted = pool.weights.values / pool.weights.values.sum()
        assert shares == pytest.approx(wanted.tolist(), abs=0.03)


def test_the_number_of_connections_is_kept_on_request(visit, tmp_path):
    path, oracle, subject = written(tmp_path / "out", "regions-logistic", subject_id="g0000")
    seen = visit(path)
    page = seen.page
    open_whatif(page)
    page.click(".wi-tools >> text=Original")
    box = page.get_by_label(
        "Keep the number of connections (as many change outside the places chosen)"
    )
    assert not box.is_checked()
    page.select_option("[aria-label='first region']", label="Front")
    page.select_option("[aria-label='second region']", label="Back")
    page.click(".wi-add")
    page.locator("[data-cell='0-1'] .wi-more input[type=number]").fill("3")
    page.keyboard.press("Enter")
    plain = page.evaluate("denseflipWhatIf.panel.answer.every")
    box.check()
    assert "3 added, 3 removed. To keep the number of connections, 3 of these" in page.inner_text(
        "#whatif"
    )
    kept = page.evaluate("denseflipWhatIf.panel.answer.every")
    assert all(set(a) < set(b) for a, b in zip(plain, kept, strict=True))
    assert check(page, oracle, subject) == 20
    page.locator("[data-cell='0-1'] .wi-more input[type=number]").fill("4")
    page.keyboard.press("Enter")
    more = page.evaluate("denseflipWhatIf.panel.answer.every")
    assert all(set(a) < set(b) for a, b in zip(kept, more, strict=True))  # nested
    page.click(".wi-tools >> text=Undo")
    page.click(".wi-tools >> text=Undo")
    assert not box.is_checked()
    page.click(".wi-tools >> text=Redo")
    assert box.is_checked()
    page.fill("[aria-label='first node']", "n0")
    page.fill("[aria-label='second node']", "n1")
    page.click(".wi-flip")  # a single connection counts
    assert (
        page.evaluate("denseflipWhatIf.panel.choices.net(denseflipWhatIf.panel.answer.codes)") == 0
    )
    for cell in ("0-1", "0-0", "1-1"):  # all places are named, so there is no elsewhere
        if cell != "0-1":
            page.evaluate(
                "key => denseflipWhatIf.panel.addCell(...key.split('-').map(Number))", cell
            )
        page.locator(f"[data-cell='{cell}'] .wi-more input[type=number]").fill("2")
        page.keyboard.press("Enter")
    assert (
        "would have to be removed outside the places chosen, and only 0 can be"
        in page.inner_text(".wi-error")
    )
    page.click(".wi-save")  # there is nothing to save
    assert page.locator(".wi-saved tbody tr").count() == 0
    box.uncheck()
    assert page.locator(".wi-error").count() == 0
    assert check(page, oracle, subject) == 20
    seen.quiet()


@pytest.mark.usefixtures("brain_data")
@pytest.mark.parametrize(("name", "which"), [("mice", 0), ("aut", 0)])
def test_a_page_about_a_brain_opens_with_the_share_of_its_headline(visit, tmp_path, name, which):
    data = load_dataset(name)
    oracle = fit_oracle(data, "regions-logistic")
    subject = find_subject(data, which)
    story = explain_and_describe(subject, oracle)
    assert story.claim.balanced
    seen = visit(write_story(tmp_path / "out", story, subject, oracle))
    page = seen.page
    open_whatif(page)
    test = story.as_read
    assert page.locator("#whatif").get_attribute("data-flips") == f"{test.flips}/{test.draws}"
    flips = 0
    for _ in range(5):
        page.click(".wi-tools >> text=Redraw")
        assert check(page, oracle, subject) == 20
        check_elsewhere(page, subject, story.claim)
        flips += page.evaluate("denseflipWhatIf.panel.answer.flips")
    assert flips / 100 == pytest.approx(test.share, abs=0.08)
    seen.quiet()


def test_what_was_frozen_is_not_drawn(visit, tmp_path):
    path, oracle, subject = written(
        tmp_path / "out", "regions-logistic", constraints={"freeze": ["n0", "n1"]}
    )
    page = visit(path).page
    open_whatif(page)
    page.click(".wi-tools >> text=Original")
    page.select_option("[aria-label='first region']", label="Front")
    page.select_option("[aria-label='second region']", label="Back")
    page.click(".wi-add")
    page.locator("[data-cell='0-1'] .wi-more input[type=number]").fill("8")
    page.keyboard.press("Enter")
    assert check(page, oracle, subject) == 20
    drawn = page.evaluate("denseflipWhatIf.panel.answer.every").copy()
    assert all(code // 12 > 1 for codes in drawn for code in codes)


def test_one_more_connection_keeps_the_others(visit, tmp_path):
    path, _, _ = written(tmp_path / "out", "regions-logistic")
    page = visit(path).page
    open_whatif(page)
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
    open_whatif(page)
    check(page, oracle, subject)


def test_a_classifier_that_is_no_sum_has_no_panel(visit, tmp_path):
    path, _, _ = written(tmp_path / "out", "sf-knn")
    seen = visit(path)
    assert seen.page.locator("#whatif").count() == 0
    seen.quiet()
