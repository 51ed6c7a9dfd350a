"""Every registered measure: taken of what was found and what was not, and told in the docs."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from denseflip.counterfactual import Counterfactual, Status
from denseflip.errors import InvalidParameterError, MissingInputError
from denseflip.graph import Edits, Graph, Taxonomy
from denseflip.metrics import MEASURES, Case, Measure, Planted, measure, quartiles
from denseflip.metrics.case import NEEDS
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.session import Session

PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
ORACLE = as_oracle(lambda a: int(a[0, 1] or a[0, 2]))
ORIGINAL = Graph.from_edges(6, [(0, 1), (1, 2), (0, 2), (3, 4)])
FOUND = Counterfactual(
    Status.FOUND,
    ORIGINAL,
    Edits(((4, 5),), ((0, 1), (0, 2))),
    label_before=1,
    label_after=0,
    minimal=False,  # refinement could not certify it
)
LOST = replace(FOUND, status=Status.EXHAUSTED, edits=Edits(((3, 5),)), label_after=1)
FIELDS = {
    "regions": Taxonomy.from_labels("part", ("A", "A", "B", "B", "C", "C")),
    "background": [
        (ORIGINAL, 1),
        (Graph.from_edges(6, [(0, 1), (2, 3)]), 1),
        *((Graph.from_edges(6, edges), 0) for edges in ([(1, 2)], [(3, 4)], [(1, 2), (3, 4)])),
    ],
    "seeds": [FOUND, replace(FOUND, seed=1)],
    "story": SimpleNamespace(statement="It would be otherwise."),
    "planted": Planted("part", ("A", "B")),
}
MEASURE = pytest.mark.parametrize("chosen", MEASURES.values(), ids=list(MEASURES))


def case(result: Counterfactual, **other) -> Case:
    return Case(result, **{"session": Session(ORACLE), **FIELDS, **other})


@MEASURE
def test_a_found_result_has_a_value_that_json_can_hold(chosen):
    value = chosen(case(FOUND, minimality=True))
    assert isinstance(value, (bool, int, float))
    assert json.loads(json.dumps(value, allow_nan=False)) == value


@MEASURE
def test_a_search_that_found_nothing_has_a_value_only_where_that_means_something(chosen):
    value = chosen(case(LOST))
    assert (value is not None) == chosen.always


@MEASURE
@pytest.mark.parametrize("need", NEEDS)
def test_without_what_it_needs_there_is_no_value(chosen, need):
    value = chosen(case(FOUND, **{NEEDS[need]: None}, minimality=True))
    assert (value is None) == (need in chosen.needs)
    lacking = [case(FOUND, **{NEEDS[need]: None})]
    if need in chosen.needs:
        with pytest.raises(MissingInputError, match=rf"needs {need}: pass Case\(result"):
            measure(lacking, chosen.name)
    else:
        measure(lacking, chosen.name)


@MEASURE
def test_a_bare_result_is_a_case(chosen):
    assert (chosen(FOUND) is None) == bool(chosen.needs)
    assert chosen(FOUND) == chosen(Case(FOUND))


@MEASURE
def test_the_record_is_whole(chosen):
    assert chosen.name == chosen.name.lower().strip()
    assert chosen.summary
    assert not chosen.summary.endswith(".")
    assert chosen.better in {"low", "high", ""}
    assert chosen.needs <= set(NEEDS)
    values = [chosen(case(FOUND, minimality=True)), None]
    assert chosen.typical(values) == values[0]
    assert chosen.typical([None, None]) is None
    numbers = [0, 0, 0, 1, 1]
    average = {"mean": statistics.fmean, "median": statistics.median}[chosen.average]
    assert chosen.typical(numbers) == average(numbers)


@MEASURE
def test_quartiles_are_taken_of_what_was_found(chosen):
    cases = [case(FOUND, minimality=True), case(LOST)]
    drawn = quartiles(cases, chosen.name)
    assert (drawn.n, drawn.measure) == (1, chosen.name)
    assert drawn.median == drawn.mean == float(chosen(cases[0]))


@MEASURE
def test_the_page_says_what_the_record_says(chosen):
    summary = chosen.summary.replace("|", "\\|")
    needs = ", ".join(sorted(chosen.needs))
    cells = (f"`{chosen.name}`", summary, chosen.better, needs, chosen.average)
    line = "| " + " | ".join(cells) + " |"
    assert line.replace("  ", " ") in PAGE.read_text(encoding="utf-8").replace("  ", " "), (
        f"add to {PAGE.name}: {line}"
    )


def test_the_page_knows_no_measure_that_is_gone():
    rows = [x.split("`")[1] for x in PAGE.read_text("utf-8").splitlines() if x.startswith("| `")]
    assert rows == list(MEASURES)


def test_the_dearer_measures_can_be_left_out():
    def left_out(**settings):
        bare = case(FOUND, **settings)
        return {name for name, chosen in MEASURES.items() if chosen(bare) is None}

    redrawn = {"as_read", "as_read_typical", "told", "level"}
    judged = {"in_range", "worst_z", "towards"}
    told = {"statement_verified", "statement_pairs", "cells", "planted_first", "planted_alone"}
    assert left_out(robustness=0) == {"robustness_1", "robustness_5"}
    assert left_out(draws=0) == redrawn
    assert left_out(statement=False) == told | redrawn | judged


def test_minimality_is_the_certificate_unless_one_may_ask():
    small = replace(FOUND, edits=Edits((), ((0, 1), (0, 2))), minimal=None)
    assert MEASURES["minimal"](case(small)) is None  # nobody has certified it, and nobody asks
    assert MEASURES["minimal"](case(small, minimality=True)) is True
    assert MEASURES["minimal"](case(replace(small, minimal=True))) is True


def test_an_unknown_need_is_refused():
    with pytest.raises(InvalidParameterError, match="needs money; a measure may need regions"):
        Measure("price", "what it cost", "low", frozenset({"money"}), "mean", lambda case: 0)


def test_the_sentence_is_tested_once_for_all_its_measures():
    asked: list[int] = []

    def look(graph: Graph) -> int:
        asked.append(1)
        return int(graph.has_edge(0, 1) or graph.has_edge(0, 2))

    both = case(FOUND, session=Session(as_oracle(look, "graph")))
    # Cells AA, AB and CC hold an edit each: AA alone leaves (0, 2), AA and AB flip.
    assert MEASURES["statement_verified"](both) is True
    seen = len(asked)
    assert MEASURES["statement_pairs"](both) == 2
    assert len(asked) == seen
