import pytest

from cohorts import make_cohort
from denseflip.experiments.measures import COLUMNS, columns_of, statement_test
from denseflip.experiments.spec import MeasureSpec
from denseflip.oracles.adapt import as_oracle
from denseflip.search.explain import explain
from denseflip.story.describe import describe

DATA = make_cohort(6)
ORACLE = as_oracle(lambda a: int(a[:4, :4].sum() >= a[4:8, 4:8].sum()))
LABELLED = list(zip(DATA.graphs, ORACLE.predict(DATA.graphs), strict=True))


@pytest.mark.parametrize("method", ["tri", "edg", "dat", "rcli"])
@pytest.mark.parametrize("taxonomy", ["lobe", "side", "lobe*side"])
def test_the_statement_is_tested_as_the_story_tests_it(method, taxonomy):
    for graph in DATA.graphs[:6]:
        result = explain(graph, ORACLE, method, nodes=DATA.nodes, background=DATA.graphs)
        if not result.found:
            continue
        story = describe(result, DATA.nodes, ORACLE, regions=taxonomy)
        row = statement_test(result, ORACLE, DATA.nodes.taxonomy(taxonomy))
        assert row["statement_verified"] == story.verified
        assert row["statement_pairs"] == len(story.verification.named)


def test_columns_are_always_the_same_ones():
    found = explain(DATA.graphs[0], ORACLE, "tri", nodes=DATA.nodes)
    lost = explain(DATA.graphs[0], ORACLE, "tri", nodes=DATA.nodes, budget=1)
    assert found.found
    assert not lost.found
    rows = [columns_of(r, DATA, ORACLE, LABELLED, MeasureSpec()) for r in (found, lost)]
    expected = [c for c in COLUMNS if c not in {"d", "C"}]
    assert [list(row) for row in rows] == [expected, expected]
    assert rows[1]["plausibility"] is None
    assert rows[0]["minimal"] is None


def test_dearer_measures_can_be_left_out_or_asked_for():
    result = explain(DATA.graphs[0], ORACLE, "tri", nodes=DATA.nodes)
    few = columns_of(result, DATA, ORACLE, LABELLED, MeasureSpec(robustness=0, statement=False))
    assert few["robustness_1"] is None
    assert few["statement_verified"] is None
    more = columns_of(result, DATA, ORACLE, LABELLED, MeasureSpec(minimality=True))
    assert isinstance(more["minimal"], bool)
    flat = make_cohort(6, regions=False)
    bare = columns_of(result, flat, ORACLE, LABELLED, MeasureSpec())
    assert bare["regions_touched"] is None
    assert bare["plausibility"] is not None
