import sys
import tempfile
import threading
import time
import unittest
import wave
from pathlib import Path
from typing import Any, Iterator, List, Optional

from spool_device.device import Device
from spool_device.errors import NotBound, QueueFull, SpoolDeviceError, StreamGone
from spool_device.identity import moment_of
from spool_device.microphone import Microphone
from spool_device.recorder import Recorder
from spool_device.wav import pcm_s16le

PCM = pcm_s16le(8000, 1)


def microphone(program: str) -> Microphone:
    return Microphone(sample_rate_hz=8000, command=[sys.executable, "-c", program])


class MicrophoneTest(unittest.TestCase):
    def test_it_gives_what_the_program_writes(self) -> None:
        program = "import sys; sys.stdout.buffer.write(bytes(range(250)) * 100)"
        blocks = list(microphone(program).blocks(threading.Event()))
        self.assertEqual(b"".join(blocks), bytes(range(250)) * 100)
        self.assertEqual({len(block) for block in blocks[:-1]}, {1600})

    def test_a_program_that_fails_is_told(self) -> None:
        with self.assertRaisesRegex(SpoolDeviceError, "exit code 3"):
            list(microphone("import sys; sys.exit(3)").blocks(threading.Event()))
        with self.assertRaisesRegex(SpoolDeviceError, "is not installed"):
            list(Microphone(command=["/no/arecord"]).blocks(threading.Event()))

    def test_it_ends_when_asked_to(self) -> None:
        stop = threading.Event()
        stop.set()
        self.assertEqual(list(microphone("import time; time.sleep(60)").blocks(stop)), [])


class Live(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.device = self.open()

    def open(self, **limits: int) -> Device:
        return Device(self.folder / "state", **{"free_bytes_min": 0, **limits})

    def bind(self, expires_in_s: Optional[float] = None) -> None:
        at = None if expires_in_s is None else moment_of(time.time() + expires_in_s)
        self.device.keep_binding(
            {
                "kind": "owner" if at is None else "session",
                "binding_epoch": "00000000-0000-4000-8000-000000000001",
                "session": at and {"expires_at": at, "drain_until": at},
                "server_time": moment_of(time.time()),
                "limits": {"chunk_bytes_max": 20_000},
            }
        )

    def blocks(self, count: int, pause_s: float = 0.0) -> Iterator[bytes]:
        for index in range(count):
            time.sleep(pause_s)
            yield bytes([index % 256]) * 1600

    def recorder(self, **more: Any) -> Recorder:
        return Recorder(self.device, chunk_s=1.0, **more)

    def reports(self) -> List[str]:
        return [report["what"] for report in self.device.reports()]

    def test_whoever_is_bound_to_nobody_records_nothing(self) -> None:
        with self.assertRaises(NotBound):
            self.recorder().record_live(PCM, self.blocks(1))

    def test_it_ends_with_the_session(self) -> None:
        self.bind(1.5)
        stream = self.recorder().record_live(PCM, self.blocks(1000, 0.05))
        assert stream is not None and stream.end_ms is not None
        self.assertLess(stream.end_ms, 6000)
        with self.assertRaises(NotBound):
            self.recorder().record_live(PCM, self.blocks(1))

    def test_a_microphone_that_fails_leaves_a_whole_stream(self) -> None:
        self.bind()

        def failing() -> Iterator[bytes]:
            yield from self.blocks(15)
            raise SpoolDeviceError("unplugged")

        with self.assertRaisesRegex(SpoolDeviceError, "unplugged"):
            self.recorder().record_live(PCM, failing())
        [stream] = self.device.queue.streams()
        self.assertEqual((stream.end_ms, len(self.device.queue.chunk_paths(stream.ref))), (1500, 2))

    def test_a_full_queue_leaves_a_hole_and_the_time_goes_on(self) -> None:
        self.device = self.open(queue_bytes_max=70_000)
        self.bind()

        def meanwhile() -> Iterator[bytes]:
            yield from self.blocks(50)
            [stream] = self.device.queue.streams()
            for path in self.device.queue.chunk_paths(stream.ref):
                self.device.queue.let_go(self.device.queue.read_chunk(path))
            yield from self.blocks(10)

        stream = self.recorder().record_live(PCM, meanwhile())
        assert stream is not None
        labels = [self.device.queue.read_chunk(path).label for path in self.device.queue.chunk_paths(stream.ref)]
        self.assertEqual([(label.source_start_ms, label.source_end_ms) for label in labels], [(5000, 6000)])
        self.assertEqual((stream.end_ms, set(self.reports())), (6000, {"not recorded"}))
        self.assertEqual(labels[0].sequence + len(self.reports()), 5)

    def test_a_stream_that_was_deleted_while_it_was_recorded(self) -> None:
        self.bind()

        def meanwhile() -> Iterator[bytes]:
            yield from self.blocks(15)
            [stream] = self.device.queue.streams()
            self.device.queue.remove_stream(stream.ref)
            yield from self.blocks(15)

        with self.assertRaises(StreamGone):
            self.recorder().record_live(PCM, meanwhile())
        self.assertEqual(self.device.queue.streams(), [])

    def test_a_chunk_is_no_larger_than_the_server_takes(self) -> None:
        self.bind()
        stream = Recorder(self.device, chunk_s=60.0).record_live(PCM, self.blocks(30))
        assert stream is not None
        sizes = [
            self.device.queue.read_chunk(path).label.size_bytes for path in self.device.queue.chunk_paths(stream.ref)
        ]
        self.assertEqual(len(sizes), 3)
        self.assertLessEqual(max(sizes), 20_000)

    def test_a_file_waits_only_while_somebody_sends(self) -> None:
        self.device = self.open(queue_bytes_max=70_000)
        self.bind()
        path = self.folder / "long.wav"
        with wave.open(str(path), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(bytes(16_000 * 10))
        asked: List[int] = []

        def is_sending() -> bool:
            asked.append(1)
            return len(asked) < 3

        for one in (self.recorder(), self.recorder(is_sending=is_sending)):
            with self.assertRaises(QueueFull):
                one.record_file(path)
        self.assertEqual(len(asked), 3)
        [stream] = self.device.queue.streams()
        before = self.device.queue.progress(stream.ref)
        for each in self.device.queue.chunk_paths(stream.ref):
            self.device.queue.let_go(self.device.queue.read_chunk(each))
        with self.assertRaises(QueueFull):
            self.recorder().record_file(path)
        [same] = self.device.queue.streams()
        self.assertEqual(same.ref, stream.ref)
        self.assertGreater(self.device.queue.progress(stream.ref).next_sequence, before.next_sequence)
