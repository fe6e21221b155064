"""What was recorded and is not yet stored by the server, in a folder.

    streams/<stream ref>/stream.json      what the stream is; its end, once that is known
    streams/<stream ref>/sent.json        how far the stream had come when its newest chunk was let go of
    streams/<stream ref>/0000000007.chunk one chunk: a line that says what it is, then its bytes
    aside/<stream ref>-0000000007.chunk   a chunk that the server will never take
    done/<stream ref>.json                a stream that was sent as a whole

A chunk is queued when its file has its name. It leaves the queue when the server has said that it is stored.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import time
import uuid
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Dict, List, Optional

from .errors import QueueFull, StreamGone, TornFile
from .files import TEMPORARY, make_folder, read_record, seal, sync_folder, unseal, write_file, write_record

_STREAM = "stream.json"
_SENT = "sent.json"
_CHUNK = ".chunk"
_LABEL_BYTES_MAX = 16 * 1024
_BLOCK = 64 * 1024
#: What a file takes of a disk beside its bytes.
_FILE_OVERHEAD = 4096
_DONE_MAX = 100

BYTES_MAX = 1024 * 1024 * 1024
FREE_BYTES_MIN = 64 * 1024 * 1024


@dataclass(frozen=True)
class Stream:
    """The timeline of one recording."""

    ref: str
    binding_epoch: str
    #: ISO 8601, when the timeline begins by the device's clock.
    captured_at: str
    #: How far off that clock may have been.
    clock_uncertainty_ms: int
    #: When it was queued: nanoseconds since 1970. Streams are sent in this order.
    queued_ns: int
    #: What is recorded, where that can be recorded again: see Recorder.
    source: Optional[Dict[str, Any]] = None
    #: Where the timeline ends; None while it is being recorded.
    end_ms: Optional[int] = None


@dataclass(frozen=True)
class ChunkLabel:
    """What the server is told of a chunk."""

    source_chunk_ref: str
    source_stream_ref: str
    sequence: int
    source_start_ms: int
    publication_start_ms: int
    source_end_ms: int
    codec: str
    container: str
    size_bytes: int
    sha256: str
    sample_rate_hz: Optional[int] = None
    channels: Optional[int] = None


@dataclass(frozen=True)
class QueuedChunk:
    """A chunk in its file."""

    path: Path
    label: ChunkLabel
    body_offset: int

    def open(self) -> BinaryIO:
        """Its bytes, after they were held against their checksum. Raises TornFile."""
        file = self.path.open("rb")
        digest = hashlib.sha256()
        try:
            file.seek(self.body_offset)
            for block in iter(lambda: file.read(_BLOCK), b""):
                digest.update(block)
        except OSError as error:
            file.close()
            raise TornFile(f"{self.path} cannot be read: {error}") from error
        if digest.hexdigest() != self.label.sha256:
            file.close()
            raise TornFile(f"{self.path} is torn: its bytes are not those that were recorded")
        file.seek(self.body_offset)
        return file


@dataclass(frozen=True)
class Progress:
    """How far the recording of a stream has come."""

    next_sequence: int
    reached_ms: int


def chunk_ref(stream_ref: str, sequence: int) -> str:
    """A chunk's own name: always the same for the same place in the same stream."""
    return str(uuid.uuid5(uuid.UUID(stream_ref), str(sequence)))


class Queue:
    """One process at a time adds (with the recorder's lock), one takes out (with the sender's lock)."""

    def __init__(self, folder: Path, *, bytes_max: int = BYTES_MAX, free_bytes_min: int = FREE_BYTES_MIN) -> None:
        self._folder = folder
        self._streams = folder / "streams"
        self._aside = folder / "aside"
        self._done = folder / "done"
        self._bytes_max = bytes_max
        self._free_bytes_min = free_bytes_min
        self._used: Optional[int] = None
        for each in (self._streams, self._aside, self._done):
            make_folder(each)

    # What the recorder does.

    def begin_stream(self, stream: Stream) -> None:
        """Queues a stream. Raises QueueFull."""
        self._make_room(_FILE_OVERHEAD)
        folder = self._streams / stream.ref
        with _full_disk():
            make_folder(folder)
            write_record(folder / _STREAM, asdict(stream))

    def put(self, label: ChunkLabel, data: bytes) -> None:
        """Queues a chunk: it is on disk when this returns. Raises QueueFull, and StreamGone."""
        head = seal({name: value for name, value in asdict(label).items() if value is not None})
        self._make_room(len(head) + len(data) + _FILE_OVERHEAD)
        try:
            with _full_disk():
                write_file(self._chunk_path(label.source_stream_ref, label.sequence), head, data)
        except FileNotFoundError as error:
            raise StreamGone(f"nothing of stream {label.source_stream_ref} is taken any more") from error

    def end_stream(self, stream: Stream, end_ms: int) -> Stream:
        """Says where the stream ends; it gets no chunk after that. Raises StreamGone."""
        ended = replace(stream, end_ms=end_ms)
        try:
            write_record(self._streams / stream.ref / _STREAM, asdict(ended))
        except FileNotFoundError as error:
            raise StreamGone(f"nothing of stream {stream.ref} is taken any more") from error
        return ended

    def recover(self) -> List[Stream]:
        """After a restart, with the recorder's lock: removes what was not written to its end, and gives the streams
        whose recording broke off."""
        open_streams = []
        for folder in [each for each in self._streams.iterdir() if each.is_dir()]:
            for left in _files_below(folder):
                if left.name.startswith(TEMPORARY):
                    left.unlink(missing_ok=True)
            try:
                stream = self._read_stream(folder)
            except TornFile:
                continue  # the sender sets it aside, with a report
            if stream is None or (stream.end_ms is None and not self._has_begun(folder)):
                shutil.rmtree(folder, ignore_errors=True)
            elif stream.end_ms is None:
                open_streams.append(stream)
        return sorted(open_streams, key=_age)

    def progress(self, stream_ref: str) -> Progress:
        """From what is queued of a stream and what was sent of it. Raises TornFile."""
        next_sequence, reached_ms = 0, 0
        for path in reversed(self.chunk_paths(stream_ref)):
            next_sequence = max(next_sequence, _sequence_of(path) + 1)
            try:
                reached_ms = self.read_chunk(path).label.source_end_ms
            except (TornFile, FileNotFoundError):
                continue  # a torn one says nothing; of one that was sent meanwhile the next lines know
            break
        sent = read_record(self._streams / stream_ref / _SENT) or {"next_sequence": 0, "reached_ms": 0}
        return Progress(max(next_sequence, sent["next_sequence"]), max(reached_ms, sent["reached_ms"]))

    # What the sender does.

    def streams(self) -> List[Stream]:
        """Streams that have begun, the oldest first, but for torn ones."""
        found = []
        for folder in self._streams.iterdir():
            try:
                stream = self._read_stream(folder)
            except TornFile:
                continue
            if stream is not None and (stream.end_ms is not None or self._has_begun(folder)):
                found.append(stream)
        return sorted(found, key=_age)

    def torn_streams(self) -> List[str]:
        """Streams of which nobody can say any more what they are."""
        torn = []
        for folder in self._streams.iterdir():
            try:
                self._read_stream(folder)
            except TornFile:
                torn.append(folder.name)
        return torn

    def reread(self, stream: Stream) -> Stream:
        """The stream as it is now."""
        return self._read_stream(self._streams / stream.ref) or stream

    def chunk_paths(self, stream_ref: str) -> List[Path]:
        """The files of a stream's chunks, in their order."""
        try:
            return sorted(path for path in (self._streams / stream_ref).iterdir() if path.suffix == _CHUNK)
        except FileNotFoundError:
            return []

    def read_chunk(self, path: Path) -> QueuedChunk:
        """What lies in a chunk's file, except that its bytes are not looked at. Raises TornFile."""
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            try:
                head = file.readline(_LABEL_BYTES_MAX)
            except OSError as error:
                raise TornFile(f"{path} cannot be read: {error}") from error
        try:
            label = ChunkLabel(**unseal(head))
        except TornFile as error:
            raise TornFile(f"{path} is torn: {error}") from error
        if size != len(head) + label.size_bytes:
            raise TornFile(f"{path} is torn: it has {size - len(head)} bytes of {label.size_bytes}")
        return QueuedChunk(path, label, len(head))

    def let_go(self, chunk: QueuedChunk) -> None:
        """Deletes a chunk that the server has stored."""
        self._keep_progress(chunk.path)
        chunk.path.unlink()

    def set_aside(self, path: Path) -> None:
        """Takes a chunk out of the queue that will never be stored. It gives way when room is needed."""
        self._keep_progress(path)
        self._move_aside(path)

    def _move_aside(self, path: Path) -> None:
        os.replace(path, self._aside / f"{path.parent.name}-{path.name}")
        sync_folder(self._aside)

    def _keep_progress(self, path: Path) -> None:
        """When the newest chunk goes of a stream that is still recorded, nothing else would say how far it had come."""
        stream_ref = path.parent.name
        stream = self._read_stream(path.parent)
        is_ended = stream is not None and stream.end_ms is not None
        if not is_ended and path == self.chunk_paths(stream_ref)[-1]:
            write_record(path.parent / _SENT, asdict(self.progress(stream_ref)))

    def set_stream_aside(self, stream_ref: str) -> int:
        """The same for all that is left of a stream; gives the number of its chunks."""
        paths = self.chunk_paths(stream_ref)
        for path in paths:
            self._move_aside(path)
        shutil.rmtree(self._streams / stream_ref)
        return len(paths)

    def remove_stream(self, stream_ref: str) -> int:
        """Deletes all that is left of a stream; gives the number of its chunks."""
        count = len(self.chunk_paths(stream_ref))
        shutil.rmtree(self._streams / stream_ref)
        return count

    def finish_stream(self, stream: Stream) -> None:
        """A stream whose chunks and end the server has."""
        write_record(self._done / f"{stream.ref}.json", asdict(stream))
        shutil.rmtree(self._streams / stream.ref)
        for old in sorted(self._done.glob("*.json"), key=_changed)[:-_DONE_MAX]:
            old.unlink()

    # What others ask.

    def has_work(self) -> bool:
        """Whether anything is left to send: chunks, or the end of a stream."""
        return any(stream.end_ms is not None or self.chunk_paths(stream.ref) for stream in self.streams())

    def recorded(self, source: Dict[str, Any]) -> Optional[Stream]:
        """A stream that has recorded this source to its end, be it sent or not."""
        done = [Stream(**record) for record in map(_read_or_none, self._done.glob("*.json")) if record is not None]
        return next((one for one in [*self.streams(), *done] if one.source == source and one.end_ms is not None), None)

    def waiting(self) -> Dict[str, int]:
        """How much there is to send, and how much will never be sent."""
        chunks = [path for path in _files_below(self._streams) if path.suffix == _CHUNK]
        aside = list(self._aside.iterdir())
        return {
            "streams": sum(1 for stream in self.streams() if stream.end_ms is not None or self.chunk_paths(stream.ref)),
            "chunks": len(chunks),
            "bytes": sum(map(_size, chunks)),
            "set_aside": len(aside),
            "done": len(list(self._done.glob("*.json"))),
        }

    def _chunk_path(self, stream_ref: str, sequence: int) -> Path:
        return self._streams / stream_ref / f"{sequence:010d}{_CHUNK}"

    def _read_stream(self, folder: Path) -> Optional[Stream]:
        record = read_record(folder / _STREAM)
        return None if record is None else Stream(**record)

    def _has_begun(self, folder: Path) -> bool:
        return (folder / _SENT).exists() or len(self.chunk_paths(folder.name)) > 0

    def _make_room(self, wanted: int) -> None:
        """Raises QueueFull where so many bytes more would be too many. What is set aside gives way first."""
        if self._used is None or self._used + wanted > self._bytes_max:
            # The sender has taken out since, of which this count knows nothing.
            self._used = sum(_size(path) + _FILE_OVERHEAD for path in _files_below(self._folder))
        for old in sorted(self._aside.iterdir(), key=_changed):
            if self._fits(wanted):
                break
            self._used -= _size(old) + _FILE_OVERHEAD
            old.unlink()
        if self._used + wanted > self._bytes_max:
            raise QueueFull(f"the queue holds {self._used} bytes, of {self._bytes_max} at most")
        if not self._fits(wanted):
            raise QueueFull(f"the disk has less than {self._free_bytes_min} bytes left for others")
        self._used += wanted

    def _fits(self, wanted: int) -> bool:
        disk = os.statvfs(self._folder)
        free = disk.f_bavail * disk.f_frsize
        return (self._used or 0) + wanted <= self._bytes_max and free - wanted >= self._free_bytes_min


class _full_disk:
    """Turns an error of a disk that has no room into QueueFull."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: Optional[BaseException], __: object) -> None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise QueueFull("the disk is full") from error


def new_stream(
    binding_epoch: str, captured_at: str, clock_uncertainty_ms: int, source: Optional[Dict[str, Any]]
) -> Stream:
    """A stream with a name of its own."""
    return Stream(str(uuid.uuid4()), binding_epoch, captured_at, clock_uncertainty_ms, time.time_ns(), source)


def _files_below(folder: Path) -> List[Path]:
    """Also while others delete some of them."""
    return [Path(at, name) for at, _, names in os.walk(folder) for name in names]


def _sequence_of(path: Path) -> int:
    return int(path.stem)


def _age(stream: Stream) -> Any:
    return (stream.queued_ns, stream.ref)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _read_or_none(path: Path) -> Optional[Dict[str, Any]]:
    try:
        return read_record(path)
    except TornFile:
        return None
