"""Arrays by odd names, twice by one name, or of other things than numbers."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from denseflip.datasets import import_folder
from denseflip.datasets.number_tables import read_table
from denseflip.errors import DatasetError, FileFormatError

FIRST = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
OTHER = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]])
STACK = np.stack([FIRST, OTHER] * 2)


def element(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def new(name: bytes, array: np.ndarray) -> bytes:
    """A variable of version 5."""
    head = element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<2i", *array.shape))
    return element(14, head + element(1, name) + element(9, array.astype("<f8").tobytes("F")))


def old(name: bytes, array: np.ndarray) -> bytes:
    """A variable of version 4."""
    head = struct.pack("<5i", 0, *array.shape, 0, len(name) + 1)
    return head + name + b"\0" + array.astype("<f8").tobytes("F")


@pytest.mark.parametrize(("form", "head"), [(new, b"x" * 124 + b"\0\1IM"), (old, b"")])
def test_no_variable_is_taken_for_another_of_its_name(form, head, tmp_path):
    path = tmp_path / "a.mat"
    path.write_bytes(head + form(b"a", FIRST))
    assert (read_table(path).values == FIRST).all()
    path.write_bytes(head + form(b"a", FIRST) + form(b"a", OTHER))
    with pytest.raises(FileFormatError, match="two variables are called 'a'"):
        read_table(path)


@pytest.mark.parametrize("name", ["\x1b[31mred", "a\nError: all is well", "a" * 1_000_000])
def test_names_of_arrays_are_told_safely(name, tmp_path):
    files = {"a.npz": None, "a.mat": b"x" * 124 + b"\0\1IM" + new(name.encode(), FIRST)}
    np.savez(tmp_path / "a.npz", **{name[:9000]: FIRST, "b": OTHER})
    (tmp_path / "a.mat").write_bytes(files["a.mat"] + new(b"b", OTHER))
    for file in files:
        for variable in (None, "c"):
            with pytest.raises(FileFormatError) as told:
                read_table(tmp_path / file, variable=variable)
            assert str(told.value).isprintable()
            assert len(str(told.value)) < 300


@pytest.mark.parametrize("kind", ["M8[s]", "m8[s]", "c16", "S2", "V8", [("a", "i4")]])
@pytest.mark.parametrize("column", ["labels", "ids"])
def test_what_is_neither_text_nor_number_beside_a_stack_names_nobody(column, kind, tmp_path):
    columns = {"labels": np.array([0, 1, 0, 1]), column: np.zeros(4, dtype=kind)}
    np.savez(tmp_path / "a.npz", s=STACK, **columns)
    if column == "labels":
        with pytest.raises(DatasetError, match="Pass a labels file"):
            import_folder(tmp_path / "a.npz")
    else:
        assert import_folder(tmp_path / "a.npz").ids == ("0001", "0002", "0003", "0004")
