"""CBOR for bodies that hold bytes, which JSON would make a third longer."""

from __future__ import annotations

import struct
from typing import List, Mapping, Sequence, Union

Encodable = Union[int, str, bytes, Sequence["Encodable"], Mapping[str, "Encodable"]]

_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP = range(6)


def encode(value: Encodable) -> bytes:
    """Maps, lists, texts, whole numbers and bytes. Raises TypeError for anything else."""
    pieces: List[bytes] = []
    _write(value, pieces)
    return b"".join(pieces)


def _write(value: Encodable, pieces: List[bytes]) -> None:
    if isinstance(value, bool):
        raise TypeError("a body holds no truth values")
    if isinstance(value, int):
        pieces.append(_head(_UNSIGNED, value) if value >= 0 else _head(_NEGATIVE, -1 - value))
    elif isinstance(value, str):
        text = value.encode("utf-8")
        pieces += (_head(_TEXT, len(text)), text)
    elif isinstance(value, bytes):
        pieces += (_head(_BYTES, len(value)), value)
    elif isinstance(value, Mapping):
        pieces.append(_head(_MAP, len(value)))
        for key, member in value.items():
            _write(key, pieces)
            _write(member, pieces)
    elif isinstance(value, Sequence):
        pieces.append(_head(_ARRAY, len(value)))
        for item in value:
            _write(item, pieces)
    else:
        raise TypeError(f"a body holds no {type(value).__name__}")


def _head(major: int, argument: int) -> bytes:
    if argument < 24:
        return bytes([major << 5 | argument])
    if argument < 1 << 32:
        return struct.pack(">BI", major << 5 | 26, argument)
    return struct.pack(">BQ", major << 5 | 27, argument)
