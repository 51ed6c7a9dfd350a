"""Checks at the door: files that are there, names that have changed, parameters in errors."""

from __future__ import annotations

import pickle

import pytest

from denseflip.checks import check_new_file, check_new_folder
from denseflip.errors import (
    DatasetError,
    DenseflipError,
    InvalidParameterError,
    MissingExtraError,
    UnknownNameError,
)


def test_a_file_that_is_there_is_kept_and_the_error_names_the_parameter(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(DatasetError, match=r"a\.txt exists already.*force=True") as caught:
        check_new_file(path, error=DatasetError)
    assert caught.value.parameters == ("force",)
    assert check_new_file(path, force=True) == path
    with pytest.raises(InvalidParameterError, match="is a folder"):
        check_new_file(tmp_path, force=True)
    with pytest.raises(InvalidParameterError, match="Create it first"):
        check_new_file(tmp_path / "no" / "a.txt")


@pytest.mark.parametrize(
    "error",
    [
        DenseflipError("text", parameter="nodes"),
        InvalidParameterError("text", parameter=("nodes",)),
        UnknownNameError("method", "trii", ["tri"], parameter="nodes"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_an_error_keeps_its_parameters_on_its_way_from_a_worker(error):
    back = pickle.loads(pickle.dumps(error))
    assert back.parameters == ("nodes",)
    assert str(back) == str(error)


def test_errors_without_a_parameter_have_none():
    assert DenseflipError("text").parameters == ()
    assert MissingExtraError("dask", "cluster").parameters == ()


def test_a_folder_to_write_into_is_empty_or_can_be_continued_or_is_forced(tmp_path):
    assert check_new_folder(tmp_path / "new") == tmp_path / "new"
    assert check_new_folder(tmp_path) == tmp_path
    (tmp_path / "store").mkdir()  # killed before it wrote anything
    assert check_new_folder(tmp_path, resumable=True) == tmp_path
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InvalidParameterError, match=r"has no run to continue.*force=True"):
        check_new_folder(tmp_path, resumable=True)
    (tmp_path / "store" / "store.json").write_text("{}")
    assert check_new_folder(tmp_path, resumable=True) == tmp_path
    with pytest.raises(InvalidParameterError, match=r"is not empty; nothing.*force=True"):
        check_new_folder(tmp_path)  # what keeps no results has nothing to continue
    assert check_new_folder(tmp_path, force=True) == tmp_path
    with pytest.raises(InvalidParameterError, match="is a file"):
        check_new_folder(tmp_path / "mine.txt", force=True)
