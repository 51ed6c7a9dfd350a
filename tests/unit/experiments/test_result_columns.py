import pytest

from cohorts import make_cohort
from denseflip.checks import count_words
from denseflip.experiments.records import COLUMNS, columns_of
from denseflip.experiments.spec import MeasureSpec
from denseflip.experiments.worker import Context
from denseflip.metrics import MEASURES
from denseflip.oracles.adapt import as_oracle
from denseflip.search.explain import explain
from denseflip.story.describe import describe

DATA = make_cohort(6)
ORACLE = as_oracle(lambda a: int(a[:4, :4].sum() >= a[4:8, 4:8].sum()))
CONTEXT = Context(DATA, ORACLE)


def measured(result, context=CONTEXT, **wanted):
    return columns_of(context.case(result, MeasureSpec(**wanted)))


@pytest.mark.parametrize("method", ["tri", "edg", "dat", "rcli"])
@pytest.mark.parametrize("regions", ["lobe", "side", "lobe*side"])
def test_the_statement_is_tested_as_the_story_tests_it(method, regions):
    for graph in DATA.graphs[:6]:
        result = explain(graph, ORACLE, method, nodes=DATA.nodes, background=DATA.graphs)
        if not result.found:
            continue
        story = describe(result, DATA.nodes, ORACLE, regions=regions)
        row = measured(result, regions=regions)
        assert row["statement_verified"] == story.verified
        assert row["statement_pairs"] == row["cells"] == len(story.claim.amounts)
        assert row["as_read"] == story.as_read.share or story.reading != "any"
        told = describe(result, DATA.nodes, ORACLE, regions=regions, background=CONTEXT.background)
        assert row["told"] == (told.true_as_read and row["cells"] <= 5)
        assert row["reading"] == (told.reading if told.true_as_read else None)
        assert row["words"] == count_words(told.statement)
        assert row["language"] == f"regions ({regions})"


def test_the_columns_of_the_first_release_in_their_order():
    """Who reads our CSV files by position or name still can; new measures go before ``d``."""
    first = (
        "status found label_before label_after distance relative_distance calls search_calls "
        "refine_calls background_calls amortised_calls distinct_calls iterations n_added "
        "n_removed notes minimal regions_touched regions_to_cover region_pairs_to_cover "
        "region_entropy density_drift plausibility robustness_1 robustness_5 statement_verified "
        "statement_pairs d C"
    )
    *old, d, c = first.split()
    assert list(COLUMNS[: len(old)]) == old
    assert list(COLUMNS[-2:]) == [d, c]


def test_every_measure_of_one_explanation_is_a_column():
    left_out = {name for name in MEASURES if name not in COLUMNS}
    assert left_out == {"elapsed", "seed_stability"}


def test_columns_are_always_the_same_ones():
    found = explain(DATA.graphs[0], ORACLE, "tri", nodes=DATA.nodes)
    lost = explain(DATA.graphs[0], ORACLE, "tri", nodes=DATA.nodes, budget=1)
    assert found.found
    assert not lost.found
    rows = [measured(r) for r in (found, lost)]
    expected = [c for c in COLUMNS if c not in {"d", "C"}]
    assert [list(row) for row in rows] == [expected, expected]
    assert rows[1]["plausibility"] is None
    assert rows[0]["minimal"] is None


def test_dearer_measures_can_be_left_out_or_asked_for():
    result = explain(DATA.graphs[0], ORACLE, "tri", nodes=DATA.nodes)
    few = measured(result, robustness=0, statement=False)
    assert few["robustness_1"] is None
    assert few["statement_verified"] is None
    more = measured(result, minimality=True)
    assert isinstance(more["minimal"], bool)
    bare = measured(result, Context(make_cohort(6, regions=False), ORACLE))
    assert bare["regions_touched"] is None
    assert bare["plausibility"] is not None
