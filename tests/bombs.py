"""Small files that stand for much: made without unpacking what they stand for."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

GB = 10**9
CHUNK = 16 << 20  # zeros that one repeated piece of a packed stream stands for


def _piece(size: int = CHUNK) -> bytes:
    """A piece of a raw deflate stream of zeros that can be repeated."""
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    return pack.compress(b"\0" * size) + pack.flush(zlib.Z_FULL_FLUSH)


def deflated_zeros(size: int, head: bytes = b"") -> bytes:
    """A raw deflate stream of a head and then zeros, at least ``size`` of them."""
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = pack.compress(head) + pack.flush(zlib.Z_FULL_FLUSH)
    return start + _piece() * -(-size // CHUNK) + b"\x03\x00"


def gzipped_zeros(path: Path, size: int) -> Path:
    """A gzip file of so many zeros, of many members."""
    path.write_bytes(gzip.compress(b"\0" * CHUNK) * -(-size // CHUNK))
    return path


def zlib_zeros(size: int) -> bytes:
    """A zlib stream of so many zeros; its checksum is never reached."""
    return b"\x78\xda" + deflated_zeros(size)


def npy_head(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    """The head of an .npy file that says it holds such an array."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": dtype, "fortran_order": False, "shape": shape}
    )
    return head.getvalue()


def _checksum(packed: bytes, size: int) -> int:
    """The checksum of what a stream gives up to a size."""
    unpack, check, left = zlib.decompressobj(-15), 0, size
    while left > 0 and (some := unpack.decompress(packed, min(left, CHUNK))):
        check, left, packed = zlib.crc32(some, check), left - len(some), unpack.unconsumed_tail
    return check


def raw_zip(
    members: dict[str, bytes], sizes: dict[str, int] | None = None, *, method=8, flags=0
) -> bytes:
    """A zip archive of packed streams as they are, with the sizes that it claims they have."""
    out, listing = bytearray(), bytearray()
    for name, packed in members.items():
        size = (sizes or {}).get(name, len(packed))
        check = _checksum(packed, size) if method == 8 and size < GB else 0
        fields = (20, flags, method, 0, 0x21, check, len(packed), size, len(name), 0)
        start = len(out)
        out += struct.pack("<IHHHHHIIIHH", 0x04034B50, *fields) + name.encode() + packed
        listing += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, *fields, 0, 0, 0, 0, start)
        listing += name.encode()
    end = struct.pack(
        "<IHHHHIIH", 0x06054B50, 0, 0, len(members), len(members), len(listing), len(out), 0
    )
    return bytes(out + listing + end)


def crowd(n: int) -> bytes:
    """An archive that lists many empty members, all at the one place."""
    first = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, *(0,) * 7, 1, 0) + b"a"
    entry = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, *(0,) * 7, 8, *(0,) * 6)
    listing = b"".join(entry + b"%08x" % i for i in range(n))
    most = min(n, 0xFFFF)
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, most, most, len(listing), len(first), 0)
    return first + listing + end


def zip_of(members: dict[str, bytes], **options) -> bytes:
    """An honest zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **{"compression": zipfile.ZIP_DEFLATED, **options}) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def packed_array(shape: tuple[int, ...], dtype: str = "<f8") -> tuple[bytes, int]:
    """An array of zeros as a packed stream, and how long it is unpacked."""
    head = npy_head(shape, dtype)
    size = int(np.prod([float(x) for x in shape])) * np.dtype(dtype).itemsize
    return deflated_zeros(size, head), len(head) + size


_WIDE = "[" + "[]," * 15_000_000 + "0]"  # 45 MB of text that would be a gigabyte of lists


def dfd_header(**changes) -> bytes:
    """The header of a data set file as an .npy array."""
    header = {
        "format": "denseflip-dataset",
        "version": 1,
        "name": "bomb",
        "n_nodes": 3,
        "class_names": ["a", "b"],
        "ids": ["one", "two"],
        "nodes": {"names": ["x", "y", "z"]},
        "card": {},
        "attributes": {},
        **changes,
    }
    return npy(np.frombuffer(json.dumps(header).replace('"WIDE"', _WIDE).encode(), dtype=np.uint8))


def npy(array: np.ndarray) -> bytes:
    """An array as an .npy file."""
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def deflated(content: bytes) -> bytes:
    """Bytes as a raw deflate stream."""
    pack = zlib.compressobj(1, zlib.DEFLATED, -15)
    return pack.compress(content) + pack.flush()
