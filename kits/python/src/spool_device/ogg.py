"""How long an Ogg file of Opus lasts, by the time stamps of its pages."""

from __future__ import annotations

import struct
from typing import Optional

_PAGE = struct.Struct("<4sBBqIIIB")
_SAMPLES_PER_MS = 48
_NO_TIME = -1


def opus_duration_ms(content: bytes) -> Optional[int]:
    """Milliseconds of a whole Ogg/Opus file; None for anything else."""
    offset = 0
    pre_skip: Optional[int] = None
    last = 0
    while offset < len(content):
        if offset + _PAGE.size > len(content):
            return None
        tag, version, _, granule, _, _, _, segments = _PAGE.unpack_from(content, offset)
        table_end = offset + _PAGE.size + segments
        body_end = table_end + sum(content[offset + _PAGE.size : table_end])
        if tag != b"OggS" or version != 0 or body_end > len(content):
            return None
        if pre_skip is None:
            if content[table_end : table_end + 8] != b"OpusHead" or body_end < table_end + 19:
                return None
            pre_skip = struct.unpack_from("<H", content, table_end + 10)[0]
        elif granule != _NO_TIME:
            last = granule
        offset = body_end
    if pre_skip is None or last <= pre_skip:
        return None
    return max(1, round((last - pre_skip) / _SAMPLES_PER_MS))
