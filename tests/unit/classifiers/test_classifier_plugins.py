from __future__ import annotations

import zipfile

import pytest

from cohorts import make_cohort
from denseflip.classifiers.classifier_plugins import FILE
from denseflip.classifiers.presets import PRESETS, fit_oracle
from denseflip.errors import FileFormatError
from denseflip.oracles.open import open_oracle

COHORT = make_cohort()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_trained_on_the_data_set(preset):
    opened = open_oracle(preset, dataset=COHORT)
    fitted = fit_oracle(COHORT, preset=preset)
    assert opened.card == fitted.card
    assert opened.predict(COHORT.graphs) == fitted.predict(COHORT.graphs)


def test_a_file_is_known_by_its_name_or_by_what_is_inside(tmp_path):
    oracle = fit_oracle(COHORT)
    expected = oracle.predict(COHORT.graphs)
    for name in ("it.dfo", "it.DFO", "it"):
        assert open_oracle(str(oracle.save(tmp_path / name))).predict(COHORT.graphs) == expected
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("weights", "x")
    (tmp_path / "text").write_text("no zip")
    for name in ("other.zip", "text", "absent", "."):
        assert not FILE.matches(str(tmp_path / name))
    with pytest.raises(FileFormatError, match="not a file of a known kind of oracle"):
        open_oracle(str(other))
