"""Plain samples: what format they have, where they lie in a WAV file, and a WAV file around some of them."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import BinaryIO

from .errors import UsageError

_PCM = 1
_FLOAT = 3
_EXTENSIBLE = 0xFFFE
#: What follows the first two bytes of the sub-format of an extensible WAV.
_SUBFORMAT_TAIL = bytes.fromhex("000000001000800000aa00389b71")
_FMT_BYTES_MAX = 1024
_PARTS_MAX = 10_000
_CODECS = {
    (_PCM, 1): "pcm_u8",
    (_PCM, 2): "pcm_s16le",
    (_PCM, 3): "pcm_s24le",
    (_PCM, 4): "pcm_s32le",
    (_FLOAT, 4): "pcm_f32le",
    (_FLOAT, 8): "pcm_f64le",
}


@dataclass(frozen=True)
class PcmFormat:
    """Interleaved samples without a header."""

    codec: str
    sample_rate_hz: int
    channels: int
    #: One sample of each channel.
    frame_bytes: int
    #: The body of the `fmt ` part of a WAV file of such samples.
    fmt: bytes

    @property
    def bytes_per_s(self) -> int:
        return self.sample_rate_hz * self.frame_bytes

    def milliseconds(self, frames: int) -> int:
        """How long so many frames last, rounded."""
        return (frames * 1000 + self.sample_rate_hz // 2) // self.sample_rate_hz


@dataclass(frozen=True)
class Wav:
    """Where the samples of a WAV file lie."""

    format: PcmFormat
    data_offset: int
    frames: int


def pcm_s16le(sample_rate_hz: int, channels: int) -> PcmFormat:
    """16-bit samples, little endian: what microphones of small boards give."""
    frame_bytes = 2 * channels
    fmt = struct.pack("<HHIIHH", _PCM, channels, sample_rate_hz, sample_rate_hz * frame_bytes, frame_bytes, 16)
    return PcmFormat("pcm_s16le", sample_rate_hz, channels, frame_bytes, fmt)


def read_wav(file: BinaryIO) -> Wav:
    """Finds format and samples of an open WAV file. A file that ends before its header says so is taken as far as it
    goes. Raises UsageError for anything else than plain samples."""
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    head = file.read(12)
    if len(head) < 12 or head[:4] != b"RIFF" or head[8:] != b"WAVE":
        raise UsageError("it does not begin as a WAV file does")
    pcm = None
    offset = 12
    for _ in range(_PARTS_MAX):
        file.seek(offset)
        header = file.read(8)
        if len(header) < 8:
            break
        tag, length = header[:4], struct.unpack("<I", header[4:])[0]
        if tag == b"data":
            if pcm is None:
                raise UsageError("its samples come before their format")
            frames = min(length, size - offset - 8) // pcm.frame_bytes
            if frames == 0:
                raise UsageError("it holds no audio")
            return Wav(pcm, offset + 8, frames)
        if tag == b"fmt ":
            pcm = _read_format(file.read(min(length, _FMT_BYTES_MAX)), length)
        offset += 8 + length + length % 2
    raise UsageError("it has no samples")


def _read_format(fmt: bytes, length: int) -> PcmFormat:
    if not 16 <= length <= _FMT_BYTES_MAX or len(fmt) < length:
        raise UsageError("the description of its format has a wrong length")
    number, channels, sample_rate_hz, _, frame_bytes, bits = struct.unpack("<HHIIHH", fmt[:16])
    sample_bytes = (bits + 7) // 8
    if number == _EXTENSIBLE and len(fmt) >= 40 and fmt[26:40] == _SUBFORMAT_TAIL:
        number = struct.unpack("<H", fmt[24:26])[0]
    codec = _CODECS.get((number, sample_bytes))
    if codec is None:
        raise UsageError(f"it holds no plain samples (format {number}, {bits} bits)")
    if channels == 0 or sample_rate_hz == 0 or frame_bytes != channels * sample_bytes:
        raise UsageError("the description of its format contradicts itself")
    return PcmFormat(codec, sample_rate_hz, channels, frame_bytes, fmt)


def wav_header(pcm: PcmFormat, data_bytes: int) -> bytes:
    """All of a WAV file that comes before its samples."""
    fmt = pcm.fmt + b"\0" * (len(pcm.fmt) % 2)
    riff_bytes = 4 + 8 + len(fmt) + 8 + data_bytes + data_bytes % 2
    return b"".join(
        [
            struct.pack("<4sI4s", b"RIFF", riff_bytes, b"WAVE"),
            struct.pack("<4sI", b"fmt ", len(pcm.fmt)),
            fmt,
            struct.pack("<4sI", b"data", data_bytes),
        ]
    )


def wav_file(pcm: PcmFormat, samples: bytes) -> bytes:
    """A whole WAV file around samples."""
    return wav_header(pcm, len(samples)) + samples + b"\0" * (len(samples) % 2)
