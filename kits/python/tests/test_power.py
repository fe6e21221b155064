import os
import shutil
import tempfile
import unittest
import wave
from pathlib import Path
from typing import Any, Callable, List
from unittest import mock

from spool_device.device import Device
from spool_device.recorder import Recorder
from spool_device.sender import Sender

from .test_sender import DAY_S, Authority, Server

SAMPLES = bytes((index * 31 + index // 256) % 256 for index in range(8000 * 2 * 5 - 700))


Work = Callable[[Path, Server], None]


class PowerLost(BaseException):
    """From here on the process does nothing more."""


class Power:
    """Is lost at a step: a change of the disk, or a call of the server before or after it took effect."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise PowerLost()

    def guard(self, change: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*arguments: Any, **named: Any) -> Any:
            self.step()
            return change(*arguments, **named)

        return guarded


class PowerTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.authority = Authority(self.folder)
        self.file = self.folder / "file.wav"
        with wave.open(str(self.file), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(SAMPLES)
        self.fresh = self.folder / "fresh"
        device = Device(self.fresh, free_bytes_min=0)
        request = device.identities.certificate_request()
        device.identities.install(self.authority.answer(request), "https://localhost:1")
        device.keep_binding(Server(self.authority).binding())

    def device(self, state: Path, server: Server) -> Device:
        device = Device(state, free_bytes_min=0)
        device.connect = lambda _: server  # type: ignore[method-assign, assignment, return-value]
        return device

    def record_and_send(self, state: Path, server: Server) -> None:
        device = self.device(state, server)
        Recorder(device, chunk_s=1.0).record_file(self.file)
        Sender(device).drain()

    def renew(self, state: Path, server: Server) -> None:
        sender = Sender(self.device(state, server))
        sender.refresh_binding()
        sender.refresh_binding()

    def lose_power_after(self, steps: int, work: Work, state: Path, server: Server) -> bool:
        """False when the work was done before."""
        power = Power(steps)
        names = ["open", "replace", "fsync", "unlink", "rmdir", "mkdir"]
        patches = [mock.patch.object(os, name, power.guard(getattr(os, name))) for name in names]
        for name in ("renew", "register", "chunk_status", "announce", "upload", "end_stream"):
            call = power.guard(getattr(server, name))

            def ask(*arguments: Any, call: Callable[..., Any] = call) -> Any:
                answer = call(*arguments)
                power.step()  # the answer is lost
                return answer

            patches.append(mock.patch.object(server, name, ask))
        for patch in patches:
            patch.start()
        try:
            work(state, server)
            return False
        except PowerLost:
            return True
        finally:
            for patch in patches:
                patch.stop()

    def test_wherever_power_is_lost_all_is_stored_once(self) -> None:
        steps = 0
        while True:
            state = self.folder / f"state-{steps}"
            shutil.copytree(self.fresh, state)
            server = Server(self.authority)
            was_lost = self.lose_power_after(steps, self.record_and_send, state, server)
            self.record_and_send(state, server)
            with self.subTest(steps=steps):
                self.assert_stored_once(state, server)
            shutil.rmtree(state)
            if not was_lost:
                break
            steps += 1
        self.assertGreater(steps, 60)

    def test_and_when_it_is_lost_again_and_again(self) -> None:
        state = self.folder / "state"
        shutil.copytree(self.fresh, state)
        server = Server(self.authority)
        times = 0
        # Each start costs some steps, so it comes a little further each time.
        while self.lose_power_after(8 + times // 4, self.record_and_send, state, server):
            times += 1
        self.assertGreater(times, 10)
        self.assert_stored_once(state, server)

    def test_wherever_power_is_lost_a_certificate_is_renewed(self) -> None:
        # Made once, since making keys and certificates takes most of the time.
        asked = Device(self.fresh, free_bytes_min=0).identities.certificate_request()
        answer = self.authority.answer(asked, 3 * DAY_S)
        key = (self.fresh / "identity" / "next.key").read_bytes()
        steps = 0
        while True:
            state = self.folder / f"state-{steps}"
            shutil.copytree(self.fresh, state)
            server = Server(self.authority)
            server.ahead_s = 2 * DAY_S
            with mock.patch.object(self.authority, "answer", return_value=answer):
                was_lost = self.lose_power_after(steps, self.renew, state, server)
                self.renew(state, server)
            with self.subTest(steps=steps):
                device = self.device(state, server)
                identity = device.identities.load()
                self.assertEqual((identity.number, identity.used), (2, True))
                self.assertEqual(device.identities.key_path(identity).read_bytes(), key, "whatever was lost")
            shutil.rmtree(state)
            if not was_lost:
                break
            steps += 1
        self.assertGreater(steps, 30)

    def assert_stored_once(self, state: Path, server: Server) -> None:
        chunks = sorted(server.announced.values(), key=lambda chunk: int(chunk["sequence"]))
        self.assertEqual([chunk["sequence"] for chunk in chunks], [0, 1, 2, 3, 4])
        bodies: List[bytes] = [server.stored[chunk["source_chunk_ref"]] for chunk in chunks]
        self.assertEqual(b"".join(body[44:] for body in bodies), SAMPLES)
        self.assertEqual(list(server.ends.values()), [4956])
        self.assertEqual({chunk["source_stream_ref"] for chunk in chunks}, set(server.ends))
        self.assertEqual(set(server.streams), set(server.ends))
        device = Device(state, free_bytes_min=0)
        self.assertEqual(device.reports(), [])
        self.assertEqual(device.queue.waiting(), {"streams": 0, "chunks": 0, "bytes": 0, "set_aside": 0, "done": 1})
        left = [name for _, _, names in os.walk(state / "queue") for name in names if name.startswith(".tmp-")]
        self.assertEqual(left, [])
