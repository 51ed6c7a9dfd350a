"""Checks at the door: files that are there, names that have changed, parameters in errors."""

from __future__ import annotations

import inspect
import pickle
import sys
import types

import pytest

from denseflip.checks import check_new_file, renamed, renamed_names
from denseflip.errors import (
    DatasetError,
    DenseflipError,
    InvalidParameterError,
    MissingExtraError,
    RenamedError,
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


class Box:
    @renamed(overwrite="force", taxonomy="regions")
    def save(self, path, *, force=False, regions=None):
        """Save it."""
        return path, force, regions


def test_an_old_parameter_points_to_the_new_one_in_one_line():
    assert Box().save("a", force=True, regions="lobe") == ("a", True, "lobe")
    with pytest.raises(InvalidParameterError) as caught:
        Box().save("a", overwrite=True)
    assert str(caught.value) == "Box.save: overwrite is called force now; write force=True."
    with pytest.raises(InvalidParameterError, match="taxonomy is called regions now"):
        Box().save("a", taxonomy="lobe")


def test_a_renamed_parameter_leaves_the_signature_as_it_reads():
    assert list(inspect.signature(Box.save).parameters) == ["self", "path", "force", "regions"]
    assert Box.save.__doc__ == "Save it."
    with pytest.raises(TypeError, match="unexpected keyword argument 'forced'"):
        Box().save("a", forced=True)


def test_an_old_name_of_a_module_points_to_the_new_one(monkeypatch):
    module = types.ModuleType("house")
    module.__getattr__ = renamed_names("house", {"Old": "New", "gone": "other.place.found"})
    monkeypatch.setitem(sys.modules, "house", module)
    with pytest.raises(RenamedError, match=r"^house\.Old is called New now: from house import New"):
        from house import Old  # noqa: F401
    with pytest.raises(RenamedError, match=r"from other\.place import found"):
        module.gone  # noqa: B018
    assert not hasattr(module, "never")
