"""The paper's classifier, opened by its name."""

import pytest

from cohorts import make_cohort
from denseflip.errors import MissingInputError
from denseflip.oracles.open import open_oracle, oracle_kinds
from denseflip.paper.published_classifier import published_oracle


def test_the_papers_classifier_is_opened_by_its_name():
    cohort = make_cohort()
    opened = open_oracle("published", dataset=cohort)
    assert list(opened.predict(cohort.graphs)) == list(
        published_oracle(cohort).predict(cohort.graphs)
    )
    assert "published" in [kind.name for kind in oracle_kinds()]


def test_without_a_data_set_it_cannot_be_trained():
    with pytest.raises(MissingInputError, match="'published'"):
        open_oracle("published")
