import io
import struct
import tempfile
import unittest
import wave
from pathlib import Path
from typing import List, Tuple

from spool_device.errors import UsageError
from spool_device.ogg import opus_duration_ms
from spool_device.queue import Queue, new_stream
from spool_device.recorder import PcmWriter
from spool_device.wav import PcmFormat, pcm_s16le, read_wav, wav_file


def samples_of(count: int) -> bytes:
    return bytes((index * 31 + index // 256) % 256 for index in range(count))


class Cutting(unittest.TestCase):
    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.queue = Queue(Path(self.temporary.name), free_bytes_min=0)

    def cut(
        self, pcm: PcmFormat, samples: bytes, chunk_frames: int, block: int, container: str = "wav"
    ) -> List[Tuple[int, int, bytes]]:
        stream = new_stream("e", "2026-01-01T12:00:00Z", 20, None)
        writer = PcmWriter(self.queue, stream, pcm, chunk_frames=chunk_frames, container=container)
        for at in range(0, len(samples), block):
            writer.write(samples[at : at + block])
        ended = writer.finish()
        self.assertEqual(ended and ended.end_ms, max(1, pcm.milliseconds(len(samples) // pcm.frame_bytes)))
        chunks = []
        for path in self.queue.chunk_paths(stream.ref):
            chunk = self.queue.read_chunk(path)
            with chunk.open() as file:
                chunks.append((chunk.label.source_start_ms, chunk.label.source_end_ms, file.read()))
            self.assertEqual(chunk.label.publication_start_ms, chunk.label.source_start_ms)
            self.assertEqual(chunk.label.sample_rate_hz is None, container == "wav")
        return chunks

    def test_each_chunk_is_a_wav_file_and_together_they_are_the_recording(self) -> None:
        for rate, channels, frames, chunk_frames, block in [
            (8000, 1, 20_000, 8000, 1600),
            (44_100, 2, 100_000, 44_100, 4444),
            (11_025, 1, 5000, 1103, 333),
            (16_000, 1, 1, 16_000, 2),
        ]:
            pcm = pcm_s16le(rate, channels)
            samples = samples_of(frames * pcm.frame_bytes)
            chunks = self.cut(pcm, samples, chunk_frames, block)
            joined = b""
            for _, _, data in chunks:
                with wave.open(io.BytesIO(data)) as one:
                    self.assertEqual((one.getframerate(), one.getnchannels(), one.getsampwidth()), (rate, channels, 2))
                    joined += one.readframes(one.getnframes())
            self.assertEqual(joined, samples)

    def test_times_leave_neither_holes_nor_overlaps_and_do_not_drift(self) -> None:
        pcm = pcm_s16le(11_025, 1)
        chunks = self.cut(pcm, samples_of(2 * 11_025 * 10), 1103, 2000)
        for (_, end_ms, _), (start_ms, _, _) in zip(chunks, chunks[1:]):
            self.assertEqual(end_ms, start_ms)
        self.assertEqual((chunks[0][0], chunks[-1][1]), (0, 10_000))

    def test_a_chunk_lasts_as_long_as_it_says(self) -> None:
        pcm = pcm_s16le(44_100, 1)
        for start_ms, end_ms, data in self.cut(pcm, samples_of(2 * 44_100), 4410, 999):
            with wave.open(io.BytesIO(data)) as one:
                self.assertAlmostEqual(one.getnframes() / 44.1, end_ms - start_ms, delta=1)

    def test_raw_chunks_are_the_samples_alone(self) -> None:
        samples = samples_of(5000)
        chunks = self.cut(pcm_s16le(8000, 1), samples, 1000, 700, container="raw")
        self.assertEqual(b"".join(data for _, _, data in chunks), samples)
        self.assertEqual([len(data) for _, _, data in chunks], [2000, 2000, 1000])

    def test_half_a_frame_at_the_end_is_no_audio(self) -> None:
        stream = new_stream("e", "2026-01-01T12:00:00Z", 20, None)
        writer = PcmWriter(self.queue, stream, pcm_s16le(8000, 2), chunk_frames=100)
        writer.write(b"abc")
        self.assertIsNone(writer.finish())
        self.assertEqual(self.queue.streams(), [])

    def test_an_odd_number_of_bytes_is_padded(self) -> None:
        pcm = PcmFormat("pcm_u8", 8000, 1, 1, struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8))
        data = wav_file(pcm, b"abc")
        self.assertEqual(struct.unpack("<I", data[4:8])[0], len(data) - 8)
        with wave.open(io.BytesIO(data)) as one:
            self.assertEqual(one.readframes(10), b"abc")


class Reading(unittest.TestCase):
    def read(self, content: bytes) -> Tuple[str, int, int]:
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            wav = read_wav(file)  # type: ignore[arg-type]
            return wav.format.codec, wav.data_offset, wav.frames

    def test_a_wav_with_parts_before_its_samples(self) -> None:
        plain = wav_file(pcm_s16le(8000, 1), b"abcd")
        self.assertEqual(self.read(plain), ("pcm_s16le", 44, 2))
        with_note = plain[:12] + b"LIST" + struct.pack("<I", 3) + b"abc\0" + plain[12:]
        self.assertEqual(self.read(with_note), ("pcm_s16le", 56, 2))

    def test_a_wav_that_was_written_into_a_pipe(self) -> None:
        plain = bytearray(wav_file(pcm_s16le(8000, 1), b"abcde!"))
        plain[40:44] = b"\xff\xff\xff\xff"
        self.assertEqual(self.read(bytes(plain)), ("pcm_s16le", 44, 3))

    def test_what_is_none(self) -> None:
        plain = wav_file(pcm_s16le(8000, 1), b"abcd")
        mulaw = plain[:20] + struct.pack("<H", 7) + plain[22:]
        for content, words in [
            (b"", "does not begin"),
            (b"OggS" * 20, "does not begin"),
            (plain[:36], "no samples"),
            (plain[:44], "no audio"),
            (mulaw, "no plain samples"),
            (plain[:22] + b"\0\0" + plain[24:], "contradicts"),
            (plain[:16] + b"\x04\0\0\0" + plain[20:], "wrong length"),
        ]:
            with self.assertRaisesRegex(UsageError, words):
                self.read(content)

    def test_how_long_opus_lasts(self) -> None:
        def page(granule: int, body: bytes) -> bytes:
            return struct.pack("<4sBBqIIIB", b"OggS", 0, 0, granule, 1, 0, 0, 1) + bytes([len(body)]) + body

        head = b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 312, 48_000, 0, 0)
        whole = page(0, head) + page(0, b"OpusTags") + page(48_312, b"x" * 50)
        self.assertEqual(opus_duration_ms(whole), 1000)
        self.assertIsNone(opus_duration_ms(whole[:-1]))
        self.assertIsNone(opus_duration_ms(b"RIFF" + whole))
        self.assertIsNone(opus_duration_ms(page(0, b"\x01vorbis" + b"x" * 30)))
