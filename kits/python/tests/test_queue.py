import hashlib
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any, List

from spool_device.errors import QueueFull, StreamGone, TornFile
from spool_device.files import TEMPORARY
from spool_device.queue import ChunkLabel, Progress, Queue, Stream, chunk_ref, new_stream

EPOCH = "00000000-0000-4000-8000-000000000001"


def label_of(stream: Stream, sequence: int, data: bytes) -> ChunkLabel:
    return ChunkLabel(
        source_chunk_ref=chunk_ref(stream.ref, sequence),
        source_stream_ref=stream.ref,
        sequence=sequence,
        source_start_ms=sequence * 100,
        publication_start_ms=sequence * 100,
        source_end_ms=sequence * 100 + 100,
        codec="pcm_s16le",
        container="wav",
        size_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
    )


class QueueTest(unittest.TestCase):
    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = Path(self.temporary.name)
        self.queue = self.open()

    def open(self, **limits: int) -> Queue:
        return Queue(self.folder, **{"free_bytes_min": 0, **limits})

    def begin(self, chunks: int = 0, **more: Any) -> Stream:
        stream = new_stream(EPOCH, "2026-01-01T12:00:00.000Z", 20, more.get("source"))
        self.queue.begin_stream(stream)
        for sequence in range(chunks):
            self.put(stream, sequence)
        return stream

    def put(self, stream: Stream, sequence: int, data: bytes = b"abcdef") -> None:
        self.queue.put(label_of(stream, sequence, data), data)

    def paths(self, stream: Stream) -> List[Path]:
        return self.queue.chunk_paths(stream.ref)

    def test_another_process_finds_what_was_queued(self) -> None:
        stream = self.begin(3)
        self.queue.end_stream(stream, 300)
        [found] = self.open().streams()
        self.assertEqual((found.ref, found.binding_epoch, found.end_ms), (stream.ref, EPOCH, 300))
        chunks = [self.open().read_chunk(path) for path in self.paths(stream)]
        self.assertEqual([chunk.label.sequence for chunk in chunks], [0, 1, 2])
        with chunks[1].open() as file:
            self.assertEqual(file.read(), b"abcdef")

    def test_a_chunk_has_the_same_name_each_time(self) -> None:
        stream = self.begin()
        self.assertEqual(chunk_ref(stream.ref, 7), chunk_ref(stream.ref, 7))
        self.assertNotEqual(chunk_ref(stream.ref, 7), chunk_ref(stream.ref, 8))

    def test_a_chunk_that_is_torn_anywhere_is_noticed(self) -> None:
        stream = self.begin(1)
        [path] = self.paths(stream)
        whole = path.read_bytes()
        for length in range(len(whole)):
            path.write_bytes(whole[:length])
            with self.assertRaises(TornFile, msg=f"cut to {length} bytes"):
                self.queue.read_chunk(path).open()
        for at in range(len(whole)):
            changed = bytearray(whole)
            changed[at] ^= 1
            path.write_bytes(bytes(changed))
            with self.assertRaises(TornFile, msg=f"byte {at} changed"):
                self.queue.read_chunk(path).open()
        path.write_bytes(whole + b"x")
        with self.assertRaises(TornFile):
            self.queue.read_chunk(path)

    def test_what_was_not_written_to_its_end_is_removed(self) -> None:
        stream = self.begin(1)
        folder = self.paths(stream)[0].parent
        (folder / f"{TEMPORARY}1-0000000001.chunk").write_bytes(b"half")
        empty = self.begin()
        (self.folder / "streams" / "nothing").mkdir()
        [interrupted] = self.queue.recover()
        self.assertEqual(interrupted.ref, stream.ref)
        self.assertEqual(sorted(os.listdir(folder)), ["0000000000.chunk", "stream.json"])
        self.assertFalse((self.folder / "streams" / empty.ref).exists())
        self.assertFalse((self.folder / "streams" / "nothing").exists())

    def test_how_far_a_stream_has_come_is_known_when_all_of_it_was_sent(self) -> None:
        stream = self.begin(3)
        self.assertEqual(self.queue.progress(stream.ref), Progress(3, 300))
        for path in self.paths(stream):
            self.queue.let_go(self.queue.read_chunk(path))
            self.assertEqual(self.open().progress(stream.ref), Progress(3, 300))
        self.assertEqual(self.paths(stream), [])
        self.assertEqual([one.ref for one in self.open().recover()], [stream.ref])

    def test_and_when_its_newest_chunk_was_torn(self) -> None:
        stream = self.begin(3)
        newest = self.paths(stream)[-1]
        newest.write_bytes(b"torn")
        self.assertEqual(self.queue.progress(stream.ref), Progress(3, 200))
        self.queue.set_aside(newest)
        self.assertEqual(self.open().progress(stream.ref), Progress(3, 200))

    def test_a_stream_whose_description_is_torn_is_told_apart(self) -> None:
        good, torn = self.begin(1), self.begin(2)
        (self.folder / "streams" / torn.ref / "stream.json").write_bytes(b"torn")
        self.assertEqual([stream.ref for stream in self.queue.streams()], [good.ref])
        self.assertEqual(self.queue.torn_streams(), [torn.ref])
        self.assertEqual(self.queue.set_stream_aside(torn.ref), 2)
        self.assertEqual(self.queue.waiting()["set_aside"], 2)
        self.assertEqual(self.queue.torn_streams(), [])

    def test_the_oldest_stream_comes_first(self) -> None:
        refs = [self.begin(1).ref for _ in range(5)]
        self.assertEqual([stream.ref for stream in self.queue.streams()], refs)

    def test_a_full_queue_says_so_and_keeps_what_it_has(self) -> None:
        self.queue = self.open(bytes_max=40_000)
        stream = self.begin(1)
        with self.assertRaises(QueueFull):
            for sequence in range(1, 100):
                self.put(stream, sequence)
        kept = self.paths(stream)
        self.assertGreater(len(kept), 3)
        for path in kept:
            self.queue.read_chunk(path).open().close()
        self.queue.let_go(self.queue.read_chunk(kept[0]))
        self.put(stream, len(kept))

    def test_what_will_never_be_sent_gives_way_first(self) -> None:
        self.queue = self.open(bytes_max=40_000)
        stream = self.begin(6)
        for path in self.paths(stream)[:4]:
            self.queue.set_aside(path)
        for sequence in range(6, 10):
            self.put(stream, sequence)
        self.assertLess(self.queue.waiting()["set_aside"], 4)
        self.assertEqual(len(self.paths(stream)), 6)

    def test_the_disk_keeps_some_room_for_others(self) -> None:
        self.queue = self.open(free_bytes_min=2**62)
        with self.assertRaises(QueueFull):
            self.begin(1)

    def test_a_stream_that_was_taken_out_gets_nothing_more(self) -> None:
        stream = self.begin(1)
        self.queue.remove_stream(stream.ref)
        with self.assertRaises(StreamGone):
            self.put(stream, 1)
        with self.assertRaises(StreamGone):
            self.queue.end_stream(stream, 100)

    def test_a_source_that_was_recorded_is_known(self) -> None:
        source = {"path": "/a.wav", "bytes": 10}
        stream = self.begin(1, source=source)
        self.assertIsNone(self.queue.recorded(source))
        ended = self.queue.end_stream(stream, 100)
        self.assertEqual(self.queue.recorded(source), ended)
        self.queue.finish_stream(ended)
        self.assertEqual(self.queue.recorded(source), ended)
        self.assertIsNone(self.queue.recorded({"path": "/b.wav", "bytes": 10}))
        self.assertFalse(self.queue.has_work())
