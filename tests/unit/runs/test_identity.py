"""Content ids and digests of everything a result depends on."""

from dataclasses import replace
from pathlib import Path

import pytest

import denseflip
from cohorts import make_cohort
from denseflip.runs.identity import (
    _NO_CODE,
    canonical_json,
    code_digest,
    code_files,
    content_id,
    dataset_digest,
    versions,
)


def test_a_digest_sees_graphs_labels_ids_and_nodes():
    data = make_cohort(3)
    digests = {
        dataset_digest(data),
        dataset_digest(make_cohort(3, seed=1)),
        dataset_digest(replace(data, labels=data.labels[::-1])),
        dataset_digest(replace(data, ids=tuple(f"x{i}" for i in range(6)))),
        dataset_digest(make_cohort(3, regions=False)),
    }
    assert len(digests) == 5
    assert dataset_digest(make_cohort(3)) == dataset_digest(data)


def test_edited_code_is_another_version(tmp_path):
    (tmp_path / "search" / "core").mkdir(parents=True)
    (tmp_path / "report").mkdir()
    (tmp_path / "search" / "core" / "engine.py").write_text("a = 1\n")
    first = code_digest(tmp_path)
    (tmp_path / "report" / "page.py").write_text("b = 1\n")
    assert code_digest(tmp_path) == first, "what only shows results does not matter"
    (tmp_path / "search" / "core" / "engine.py").write_text("a = 2\n")
    assert code_digest(tmp_path) != first
    assert len(code_digest()) == 16


def test_canonical_json_has_one_form_and_refuses_nan():
    assert canonical_json({"b": 1, "a": [True, None]}) == '{"a":[true,null],"b":1}'
    assert len(content_id([])) == 64
    with pytest.raises(ValueError, match=r"not JSON compliant|Out of range"):
        canonical_json(float("nan"))


def test_the_versions_that_matter_are_there():
    assert set(versions()) == {"code", "denseflip", "numpy", "scikit-learn"}


def test_every_pattern_of_what_decides_nothing_names_a_file():
    root = Path(denseflip.__file__).parent
    assert [pattern for pattern in _NO_CODE if not list(root.glob(pattern))] == []


def test_all_code_but_what_only_reads_or_shows_decides_results():
    names = {path.name for path in code_files(Path(denseflip.__file__).parent)}
    assert {"explain.py", "claim.py", "request.py", "describe.py", "worker.py"} <= names
    assert not {"page.py", "palette.py", "api.py", "command_tree.py", "tables.py"} & names
