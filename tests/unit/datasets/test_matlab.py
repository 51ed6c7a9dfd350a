"""MATLAB files are read here, not by SciPy, which a damaged file can crash; the same comes out."""

import base64
import contextlib
import io
import struct
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from denseflip.datasets.matlab import load_mat
from denseflip.errors import DenseflipError, FileFormatError, TooLargeError
from denseflip.limits import allow

RNG = np.random.default_rng(5)
TABLE = RNG.normal(size=(4, 5))
ARRAYS = {
    "double": TABLE,
    "small": np.arange(12.0).reshape(3, 4),  # stored in bytes, though they are doubles
    "single": TABLE.astype(np.float32),
    "logical": TABLE > 0,
    "stack": RNG.normal(size=(2, 3, 4)),
    "row": np.arange(5.0),
    "one": np.array([[7.0]]),
    "empty": np.zeros((0, 3)),
    "sparse": scipy.sparse.random_array((6, 4), density=0.4, rng=RNG, format="csc"),
    "sparse_empty": scipy.sparse.csc_array((3, 2)),
    **{
        f"{sign}int{bits}": RNG.integers(0, 100, (2, 3)).astype(f"{sign}int{bits}")
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}
#: Found by `make soak`: SciPy 1.17 ends with a segmentation fault in reading it.
CRASH = (
    "TUFUTEFCIDUuMCBNQVQtZmlsZSBQbGF0Zm9ybTogcG9zaXgsIENyZWF0ZWQgb246IE1vbiBOb3YgMTYgMTU6MjY6"
    "MzggMjAyNgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABSU0OAAAA"
    "iAAAAAYAAAAIAAAADgAAAAAAAAAFAAAACAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAA"
    "AAABAAAAAAAAAAAAAAAAAAAA"
)


def saved(values, **options) -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, values, **options)
    return file.getvalue()


def dense(value):
    return value.toarray() if scipy.sparse.issparse(value) else np.atleast_2d(np.asarray(value))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ARRAYS)
def test_the_numbers_are_those_that_were_saved(name, packed):
    read = load_mat(saved({name: ARRAYS[name]}, do_compression=packed), "a.mat").numbers[name]
    assert np.array_equal(read, dense(ARRAYS[name]))
    wanted = "u1" if name == "logical" else dense(ARRAYS[name]).dtype
    assert read.dtype == wanted


@pytest.mark.parametrize("name", ["double", "single", "row", "one", "sparse", "int16", "uint8"])
def test_version_4_too(name):
    read = load_mat(saved({"x": ARRAYS[name], "y": TABLE}, format="4"), "a.mat").numbers
    assert np.array_equal(read["x"], dense(ARRAYS[name]))
    assert np.array_equal(read["y"], TABLE)


def element(order: str, kind: int, data: bytes) -> bytes:
    return struct.pack(f"{order}II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


@pytest.mark.parametrize("order", ["<", ">"])
def test_either_order_of_bytes(order):
    body = (
        element(order, 6, struct.pack(f"{order}II", 6, 0))
        + element(order, 5, struct.pack(f"{order}2i", 2, 2))
        + element(order, 1, b"fc")
        + element(order, 9, struct.pack(f"{order}4d", 1, 2, 3, 4))
    )
    mark = {"<": b"\x00\x01IM", ">": b"\x01\x00MI"}[order]
    content = b"MATLAB 5.0 MAT-file".ljust(124) + mark + element(order, 14, body)
    assert load_mat(content, "a.mat").numbers["fc"].tolist() == [[1, 3], [2, 4]]
    old = struct.pack(f"{order}5i", 1000 * (order == ">"), 2, 1, 0, 2) + b"x\0"
    read = load_mat(old + struct.pack(f"{order}2d", 1.5, -2), "a.mat").numbers["x"]
    assert read.tolist() == [[1.5], [-2.0]]


def test_complex_numbers_and_texts_are_not_taken_for_numbers():
    held = {"z": np.array([[1 + 2j]]), "t": "abc", "fc": TABLE}
    read = load_mat(saved(held), "a.mat")
    assert list(read.numbers) == ["fc"]
    assert read.closed == {"z": "complex numbers"}
    assert read.texts == {"t": ("abc",)}
    read = load_mat(saved(held, format="4"), "a.mat")
    assert read.closed == {"z": "complex numbers", "t": "a text"}
    assert list(read.numbers) == ["fc"]


def test_what_crashes_scipy_is_an_error():
    with pytest.raises(FileFormatError, match="ends in the middle"):
        load_mat(base64.b64decode(CRASH), "a.mat")


WHOLE = saved({"fc": TABLE})
SPARSE = saved({"fc": ARRAYS["sparse"]})


def harmed(content: bytes, at: bytes, new: bytes) -> bytes:
    assert content.count(at) == 1
    return content.replace(at, new)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "damaged"),
        (b"no MATLAB file at all, but a text", "first bytes"),
        (WHOLE[:-40], "ends in the middle"),
        (harmed(WHOLE, struct.pack("<ii", 4, 5), struct.pack("<ii", 4, 6)), "20 numbers for"),
        (harmed(WHOLE, struct.pack("<ii", 4, 5), struct.pack("<ii", -4, 5)), "shape"),
        (harmed(WHOLE, struct.pack("<II", 9, 160), struct.pack("<II", 77, 160)), "type 77"),
        (harmed(SPARSE, struct.pack("<ii", 6, 4), struct.pack("<ii", 2, 4)), "outside its"),
        (harmed(SPARSE, struct.pack("<ii", 6, 4), struct.pack("<ii", 6, 3)), "columns of"),
        (saved({"x": TABLE}, format="4")[:-8], "cut off"),
        (struct.pack("<5i", 2, 1, 3, 0, 2) + b"x\0" + struct.pack("<3d", -1, 5, 0), "outside its"),
        (struct.pack("<5i", 2, 1, 2, 0, 2) + b"x\0" + struct.pack("<2d", 3, 5), "sparse array"),
        (WHOLE[:128] + struct.pack("<II", 15, 9) + zlib.compress(b"x")[:4] + b"\1" * 5, "damaged"),
    ],
)
def test_what_is_damaged_is_said_to_be(content, said):
    with pytest.raises(FileFormatError, match=said) as caught:
        load_mat(content, "a.mat")
    assert str(caught.value).startswith("a.mat: damaged, or not a MATLAB file (")


def test_sizes_are_checked_before_anything_is_made():
    huge = scipy.sparse.csc_array(([1.0], ([0], [1])), shape=(10**5, 10**5))
    with pytest.raises(TooLargeError, match="its array 'x'"):
        load_mat(saved({"x": huge}), "a.mat")
    with allow("1MB"), pytest.raises(TooLargeError, match="unpacked"):
        load_mat(saved({"x": np.zeros((400, 400))}, do_compression=True), "a.mat")
    old = struct.pack("<5i", 2, 1, 3, 0, 2) + b"x\0" + struct.pack("<3d", 1e6, 1e6, 0)
    with pytest.raises(TooLargeError, match="its array 'x'"):
        load_mat(old, "a.mat")


@pytest.mark.parametrize("options", [{"do_compression": True}, {"format": "4"}])
def test_many_arrays_are_no_way_around_the_limit(options):
    wide = scipy.sparse.csc_array(([1.0], ([0], [1])), shape=(300, 300))  # 0.72 MB each
    raw = saved({"a": wide, "b": wide}, **options)
    with allow("1.5MB"):
        assert set(load_mat(raw, "a.mat").numbers) == {"a", "b"}
    with allow("1MB"), pytest.raises(TooLargeError, match="its array 'b', and those before it,"):
        load_mat(raw, "a.mat")


def version_5(kind: int, *parts: bytes) -> bytes:
    """A file of one array ``x`` of a class, its parts from the shape on."""
    flags, name = element("<", 6, struct.pack("<II", kind, 0)), element("<", 1, b"x")
    body = flags + parts[0] + name + b"".join(parts[1:])
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + element("<", 14, body)


def test_places_of_a_sparse_array_are_whole_numbers():
    shape, value = element("<", 5, struct.pack("<2i", 2, 1)), element("<", 9, struct.pack("<d", 7))
    row, begins = element("<", 5, struct.pack("<i", 1)), element("<", 5, struct.pack("<2i", 0, 1))
    read = load_mat(version_5(5, shape, row, begins, value), "a.mat")
    assert read.numbers["x"].tolist() == [[0], [7]]
    odd = element("<", 9, struct.pack("<2d", 0, 1))
    for parts in ((row, odd, value), (element("<", 9, struct.pack("<d", 1)), begins, value)):
        with pytest.raises(FileFormatError, match="not whole numbers"):
            load_mat(version_5(5, shape, *parts), "a.mat")


@pytest.mark.parametrize("kind", [1, 6])  # a cell, numbers
def test_endless_axes_are_refused_before_they_are_multiplied(kind):
    shape = element("<", 5, struct.pack("<i", 2**31 - 1) * 100_000 + struct.pack("<i", 0))
    with pytest.raises(FileFormatError, match="100,001 axes"):
        load_mat(version_5(kind, shape, element("<", 9, b"")), "a.mat")


def test_a_sparse_array_of_complex_numbers_in_version_4_is_named_as_such():
    table = np.array([[1.0, 2, 2, 2], [1, 2, 5, 0], [2, 2, 0, 1]])[[1, 2, 0]]
    z = struct.pack("<5i", 2, *table.shape, 0, 2) + b"z\0" + table.tobytes(order="F")
    read = load_mat(z + saved({"fc": TABLE}, format="4"), "a.mat")
    assert read.closed == {"z": "complex numbers"}
    assert np.array_equal(read.numbers["fc"], TABLE)


@pytest.mark.parametrize("options", [{}, {"do_compression": True}, {"format": "4"}])
def test_damaged_files_end_in_errors_of_our_own(options):
    values = {"fc": TABLE, "s": ARRAYS["sparse"], "names": "abc"}
    raw = saved(values, **options)
    rng = np.random.default_rng(1)
    errors = 0
    for _ in range(1_000):
        content = bytearray(raw)
        for at in rng.integers(0 if "format" in options else 124, len(raw), size=3).tolist():
            content[at] = int(rng.integers(256))
        with contextlib.suppress(DenseflipError):
            load_mat(bytes(content), "a.mat")
            errors -= 1
        errors += 1
    assert errors > 100
