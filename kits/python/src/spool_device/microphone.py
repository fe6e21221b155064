"""Samples of a microphone, through the `arecord` program of ALSA."""

from __future__ import annotations

import queue
import subprocess
import threading
from typing import Iterator, List, Optional

from .errors import SpoolDeviceError
from .wav import PcmFormat, pcm_s16le

_BLOCK_S = 0.1
#: So much is held in memory while a slow disk is written to; after that, arecord says that it lost samples.
_HELD_S = 60.0
_LOOK_S = 0.2


class Microphone:
    """Raw 16-bit samples. Other programs that write these to their standard output will do as well."""

    def __init__(
        self,
        *,
        sample_rate_hz: int = 16_000,
        channels: int = 1,
        alsa_device: str = "default",
        command: Optional[List[str]] = None,
    ) -> None:
        self.format: PcmFormat = pcm_s16le(sample_rate_hz, channels)
        self._command = command or [
            *("arecord", "-q", "-t", "raw", "-f", "S16_LE", "-D", alsa_device),
            *("-r", str(sample_rate_hz), "-c", str(channels)),
        ]

    def blocks(self, stop: threading.Event) -> Iterator[bytes]:
        """Blocks of samples until `stop` is set, or the program says with exit code 0 that it is done. Raises
        SpoolDeviceError when it fails."""
        try:
            # In a session of its own: Ctrl-C is for this process, which then ends the program.
            program = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
            )
        except FileNotFoundError as error:
            message = f"{self._command[0]} is not installed; on Debian: apt-get install alsa-utils"
            raise SpoolDeviceError(message) from error
        held: "queue.Queue[bytes]" = queue.Queue(maxsize=int(_HELD_S / _BLOCK_S))
        ended = threading.Event()
        reader = threading.Thread(target=self._read, args=(program, held, ended), daemon=True)
        reader.start()
        try:
            while not stop.is_set():
                try:
                    block = held.get(timeout=_LOOK_S)
                except queue.Empty:
                    continue
                if not block and program.wait() == 0:
                    return
                if not block:
                    raise SpoolDeviceError(f"{self._command[0]} ended with exit code {program.wait()}")
                yield block
        finally:
            ended.set()
            program.terminate()
            program.wait()
            reader.join(_LOOK_S * 2)

    def _read(self, program: "subprocess.Popen[bytes]", held: "queue.Queue[bytes]", ended: threading.Event) -> None:
        assert program.stdout is not None
        size = round(_BLOCK_S * self.format.sample_rate_hz) * self.format.frame_bytes
        with program.stdout:
            block = b"."
            while block and not ended.is_set():
                block = program.stdout.read(size)
                while not ended.is_set():
                    try:
                        held.put(block, timeout=_LOOK_S)
                        break
                    except queue.Full:
                        continue
