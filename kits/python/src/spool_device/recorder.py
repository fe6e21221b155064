"""Cuts audio into chunks, each of which can be played by itself, and queues them."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Optional

from .device import Binding, Device, log
from .errors import NotBound, QueueFull, SpoolDeviceError, StreamGone, UsageError
from .identity import moment_of
from .ogg import opus_duration_ms
from .queue import ChunkLabel, Queue, Stream, chunk_ref, new_stream
from .wav import PcmFormat, Wav, read_wav, wav_file, wav_header

CHUNK_S = 10.0
#: How soon a queue that is full is asked again for room, where the audio can wait.
ROOM_S = 0.2
#: How often a live recording looks whether its recorder session is over.
SESSION_LOOK_S = 1.0

#: How files that are sent as one chunk are named to the server: container and codec.
WHOLE_FILES = {".ogg": ("ogg", "opus"), ".opus": ("ogg", "opus"), ".mp3": ("mp3", "mp3"), ".flac": ("flac", "flac")}


class PcmWriter:
    """The chunks of one stream of plain samples. The stream begins with its first chunk."""

    def __init__(
        self,
        queue: Queue,
        stream: Stream,
        pcm: PcmFormat,
        *,
        chunk_frames: int,
        container: str = "wav",
        next_sequence: int = 0,
        next_frame: int = 0,
        put: Optional[Callable[[Callable[[], None]], bool]] = None,
    ) -> None:
        """`container`: `wav`, or `raw` for samples without a header. `next_sequence` and `next_frame`: where to go on
        with a stream of which an earlier run has queued chunks. `put` runs what queues a chunk, and says whether it
        did: see `drop_when_full`, `wait_when_full`."""
        self.stream = stream
        self._queue = queue
        self._pcm = pcm
        self._container = container
        self._chunk_bytes = chunk_frames * pcm.frame_bytes
        self._put = put or _at_once
        self._sequence = next_sequence
        self._frames = next_frame
        self._has_begun = next_sequence > 0
        self._held = bytearray()

    def write(self, samples: bytes) -> None:
        """Takes samples; whole chunks are queued. Raises QueueFull, as `put` has it, and StreamGone."""
        self._held += samples
        while len(self._held) >= self._chunk_bytes:
            self._cut(self._chunk_bytes)

    def finish(self) -> Optional[Stream]:
        """Queues what is left, and the end. None where nothing was recorded."""
        left = len(self._held) - len(self._held) % self._pcm.frame_bytes
        if left > 0:
            self._cut(left)
        if not self._has_begun:
            return None
        reached_ms = self._queue.progress(self.stream.ref).reached_ms
        return self._queue.end_stream(self.stream, max(reached_ms, self._pcm.milliseconds(self._frames)))

    def _cut(self, size: int) -> None:
        samples = bytes(self._held[:size])
        first, frames = self._frames, size // self._pcm.frame_bytes
        start_ms = self._pcm.milliseconds(first)
        end_ms = max(start_ms + 1, self._pcm.milliseconds(first + frames))
        if self._put(lambda: self._queue_chunk(samples, start_ms, end_ms)):
            self._sequence += 1
        del self._held[:size]
        self._frames += frames

    def _queue_chunk(self, samples: bytes, start_ms: int, end_ms: int) -> None:
        if not self._has_begun:
            self._queue.begin_stream(self.stream)
            self._has_begun = True
        is_raw = self._container == "raw"
        data = samples if is_raw else wav_file(self._pcm, samples)
        label = ChunkLabel(
            source_chunk_ref=chunk_ref(self.stream.ref, self._sequence),
            source_stream_ref=self.stream.ref,
            sequence=self._sequence,
            source_start_ms=start_ms,
            publication_start_ms=start_ms,
            source_end_ms=end_ms,
            codec=self._pcm.codec,
            container=self._container,
            size_bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            sample_rate_hz=self._pcm.sample_rate_hz if is_raw else None,
            channels=self._pcm.channels if is_raw else None,
        )
        self._queue.put(label, data)


def _at_once(work: Callable[[], None]) -> bool:
    work()
    return True


def drop_when_full(device: Device) -> Callable[[Callable[[], None]], bool]:
    """For a microphone, which does not wait: while there is no room the timeline gets a hole."""

    def put(work: Callable[[], None]) -> bool:
        try:
            work()
            return True
        except QueueFull as error:
            device.report("not recorded", why=str(error))
            return False

    return put


def wait_when_full(stop: threading.Event, is_sending: Callable[[], bool]) -> Callable[[Callable[[], None]], bool]:
    """For a file, which does: until the sender has made room. Raises QueueFull when nobody sends any more, or `stop` is
    set first."""

    def put(work: Callable[[], None]) -> bool:
        while True:
            try:
                work()
                return True
            except QueueFull as error:
                log.info("waiting for room: %s", error)
                if not is_sending() or stop.wait(ROOM_S):
                    raise

    return put


class Recorder:
    """Queues recordings under the device's present binding. Needs the recorder's lock."""

    def __init__(
        self,
        device: Device,
        *,
        chunk_s: float = CHUNK_S,
        clock_uncertainty_ms: int = 1000,
        container: str = "wav",
        is_sending: Optional[Callable[[], bool]] = None,
        stop: Optional[threading.Event] = None,
    ) -> None:
        """`is_sending`: whether a queue that is full is being emptied; a file then waits for that. By default nobody
        sends."""
        self._device = device
        self._queue = device.queue
        self._chunk_s = chunk_s
        self._clock_uncertainty_ms = clock_uncertainty_ms
        self._container = container
        self._is_sending = is_sending
        self._stop = stop or threading.Event()

    def record_file(self, path: Path, *, again: bool = False) -> Stream:
        """Records a WAV file in chunks. The same file goes on where an earlier run broke off; one that was recorded to
        its end is not recorded twice, unless `again` says so."""
        source = _source_of(path, {"chunk_s": self._chunk_s, "container": self._container})
        unfinished = self._finish_others(source)
        recorded = None if again or unfinished is not None else self._queue.recorded(source)
        if recorded is not None:
            log.info("%s was recorded already, as stream %s", path, recorded.ref)
            return recorded
        with path.open("rb") as file:
            try:
                wav = read_wav(file)
            except UsageError as error:
                raise UsageError(f"{path}: {error}") from error
            return self._record_wav(file, wav, source, unfinished)

    def _record_wav(self, file: Any, wav: Wav, source: Dict[str, Any], unfinished: Optional[Stream]) -> Stream:
        binding = self._present_binding() if unfinished is None else self._device.binding()
        frames = self._frames_of(wav.format, binding)
        stream = unfinished or self._new_stream(binding, time.time(), source)
        queued = 0 if unfinished is None else self._queue.progress(unfinished.ref).next_sequence
        skipped = min(wav.frames, queued * frames)
        writer = PcmWriter(
            self._queue,
            stream,
            wav.format,
            chunk_frames=frames,
            container=self._container,
            next_sequence=queued,
            next_frame=skipped,
            put=None if self._is_sending is None else wait_when_full(self._stop, self._is_sending),
        )
        file.seek(wav.data_offset + skipped * wav.format.frame_bytes)
        left = (wav.frames - skipped) * wav.format.frame_bytes
        while left > 0 and not self._stop.is_set():
            block = file.read(min(left, frames * wav.format.frame_bytes))
            if not block:
                raise UsageError(f"{source['path']} became shorter while it was recorded")
            left -= len(block)
            writer.write(block)
        if left > 0:
            return stream  # it goes on with the next run
        ended = writer.finish()
        assert ended is not None
        return ended

    def record_whole(
        self, path: Path, *, container: str, codec: str, duration_ms: Optional[int] = None, again: bool = False
    ) -> Stream:
        """Records a file that is audio by itself as a stream of one chunk. An Ogg file of Opus says how long it lasts,
        of others the caller does."""
        source = _source_of(path, {"container": container, "codec": codec})
        unfinished = self._finish_others(source)
        if unfinished is not None:
            return self._queue.end_stream(unfinished, self._queue.progress(unfinished.ref).reached_ms)
        recorded = None if again else self._queue.recorded(source)
        if recorded is not None:
            return recorded
        binding = self._present_binding()
        size = path.stat().st_size
        if not 0 < size <= binding.chunk_bytes_max:
            raise UsageError(f"{path} has {size} bytes; a chunk has 1 to {binding.chunk_bytes_max}")
        data = path.read_bytes()
        known_ms = opus_duration_ms(data) if duration_ms is None else duration_ms
        if known_ms is None or known_ms < 1:
            raise UsageError(f"how long {path} lasts has to be said: --duration-ms")
        stream = self._new_stream(binding, time.time(), source)
        label = ChunkLabel(
            source_chunk_ref=chunk_ref(stream.ref, 0),
            source_stream_ref=stream.ref,
            sequence=0,
            source_start_ms=0,
            publication_start_ms=0,
            source_end_ms=known_ms,
            codec=codec,
            container=container,
            size_bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
        )
        self._queue.begin_stream(stream)
        self._queue.put(label, data)
        return self._queue.end_stream(stream, known_ms)

    def record_live(self, pcm: PcmFormat, blocks: Iterable[bytes]) -> Optional[Stream]:
        """Records blocks of samples as they come, until they end, a stop is asked for, or the session is over. None
        where nothing was recorded."""
        self._finish_others(None)
        binding = self._present_binding()
        writer: Optional[PcmWriter] = None
        looked_at = time.monotonic()
        try:
            for block in blocks:
                if writer is None:
                    writer = self._live_writer(pcm, binding, time.time() - len(block) / pcm.bytes_per_s)
                writer.write(block)
                if time.monotonic() - looked_at >= SESSION_LOOK_S:
                    looked_at = time.monotonic()
                    if self._device.is_over(binding.binding_epoch):
                        break
        except StreamGone:
            raise
        except SpoolDeviceError:
            if writer is not None:
                writer.finish()
            raise
        return None if writer is None else writer.finish()

    def _live_writer(self, pcm: PcmFormat, binding: Binding, began_s: float) -> PcmWriter:
        return PcmWriter(
            self._queue,
            self._new_stream(binding, began_s, None),
            pcm,
            chunk_frames=self._frames_of(pcm, binding),
            container=self._container,
            put=drop_when_full(self._device),
        )

    def finish_interrupted(self) -> None:
        """Says of streams whose recording broke off where they end: with their last chunk. A file's goes on as long as
        the file is there."""
        self._finish_others(None)

    def _finish_others(self, source: Optional[Dict[str, Any]]) -> Optional[Stream]:
        """The same of all but the stream of this file; gives that one."""
        same: Optional[Stream] = None
        for stream in self._queue.recover():
            if stream.source is not None and stream.source == source and same is None:
                same = stream
            elif stream.source is None or not _is_there(stream.source):
                self._queue.end_stream(stream, self._queue.progress(stream.ref).reached_ms)
        return same

    def _present_binding(self) -> Binding:
        """Raises NotBound."""
        binding = self._device.binding()
        if binding.is_over():
            raise NotBound(f"the recorder session was over at {binding.expires_at}")
        return binding

    def _new_stream(self, binding: Binding, began_s: float, source: Optional[Dict[str, Any]]) -> Stream:
        return new_stream(binding.binding_epoch, moment_of(began_s), self._clock_uncertainty_ms, source)

    def _frames_of(self, pcm: PcmFormat, binding: Binding) -> int:
        """Of a chunk: at least a millisecond, and no more than the server takes."""
        most = (binding.chunk_bytes_max - len(wav_header(pcm, 0)) - 1) // pcm.frame_bytes
        least = -(-pcm.sample_rate_hz // 1000)
        return max(least, min(most, round(self._chunk_s * pcm.sample_rate_hz)))


def _source_of(path: Path, how: Dict[str, Any]) -> Dict[str, Any]:
    """What makes a recording the same: the file, and how it is cut. Raises UsageError."""
    try:
        facts = path.stat()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    return {"path": os.path.abspath(path), "bytes": facts.st_size, "changed_ns": facts.st_mtime_ns, **how}


def _is_there(source: Dict[str, Any]) -> bool:
    try:
        facts = os.stat(source["path"])
    except OSError:
        return False
    return (facts.st_size, facts.st_mtime_ns) == (source["bytes"], source["changed_ns"])
