import hashlib
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, BinaryIO, Dict, List, Optional

from spool_device.device import Device
from spool_device.errors import AccountDeleted, NoAnswer, NotBound, NotProvisioned, Refused
from spool_device.identity import moment_of, seconds_of
from spool_device.queue import Stream, new_stream
from spool_device.recorder import PcmWriter
from spool_device.sender import REFUSALS_MAX, OutOfTime, Sender
from spool_device.wav import pcm_s16le

EPOCH = "00000000-0000-4000-8000-000000000001"
DAY_S = 86_400.0


def refused(status: int, code: str, **more: Any) -> Refused:
    return Refused(status, code, "words", **more)


UNBOUND = refused(403, "DEVICE_UNBOUND")
UNKNOWN = refused(404, "NOT_FOUND")


class Authority:
    """Issues certificates with openssl, for a day unless told otherwise."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.run(
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=ca"),
            *("-keyout", str(folder / "ca.key"), "-out", str(folder / "ca.pem"), "-days", "2"),
        )

    def answer(self, csr_pem: str, renew_in_s: float = DAY_S) -> Dict[str, Any]:
        ca, key = str(self._folder / "ca.pem"), str(self._folder / "ca.key")
        certificate = self.run("x509", "-req", "-CA", ca, "-CAkey", key, "-CAcreateserial", given=csr_pem)
        return {
            "certificate_pem": certificate,
            "ca_pem": Path(ca).read_text(),
            "renew_after": moment_of(time.time() + renew_in_s),
            "not_after": moment_of(time.time() + renew_in_s + DAY_S),
        }

    def run(self, *arguments: str, given: str = "") -> str:
        return subprocess.run(["openssl", *arguments], input=given, capture_output=True, text=True, check=True).stdout


class Server:
    """What a server keeps, and what it answers instead: exceptions for the next calls of a name."""

    def __init__(self, authority: Authority) -> None:
        self.authority = authority
        self.faults: Dict[str, List[Exception]] = {}
        self.lost: Dict[str, int] = {}
        self.calls: List[str] = []
        self.streams: Dict[str, Dict[str, Any]] = {}
        self.announced: Dict[str, Dict[str, Any]] = {}
        self.stored: Dict[str, bytes] = {}
        self.ends: Dict[str, int] = {}
        self.requests: List[str] = []
        self.ahead_s = 0.0
        #: Whether requests with several chunks are taken; otherwise they are refused as a whole.
        self.takes_chunks_together = False
        self.refused_together: Dict[int, str] = {}

    def fail(self, name: str, *faults: Exception) -> None:
        self.faults.setdefault(name, []).extend(faults)

    def close(self) -> None:
        pass

    def _take(self, name: str) -> None:
        self.calls.append(name)
        if self.faults.get(name):
            raise self.faults[name].pop(0)

    def _answer(self, name: str, answer: Dict[str, Any]) -> Dict[str, Any]:
        if self.lost.get(name, 0) > 0:
            self.lost[name] -= 1
            raise NoAnswer("the answer was lost")
        return answer

    def binding(self) -> Dict[str, Any]:
        self._take("binding")
        return {
            "kind": "owner",
            "binding_epoch": EPOCH,
            "session": None,
            "server_time": moment_of(time.time() + self.ahead_s),
            "limits": {"chunk_bytes_max": 64 * 1024 * 1024, "open_intents_max": 64},
        }

    def heartbeat(self) -> Dict[str, Any]:
        self._take("heartbeat")
        return {}

    def register(self, stream: Dict[str, Any]) -> Dict[str, Any]:
        self._take("register")
        self.streams[stream["source_stream_ref"]] = stream
        return self._answer("register", {})

    def announce(self, chunk: Dict[str, Any]) -> Dict[str, Any]:
        self._take("announce")
        known = self.announced.setdefault(chunk["source_chunk_ref"], chunk)
        assert known == chunk, "another content under the same reference"
        return self._answer("announce", {"upload_path": "/" + chunk["source_chunk_ref"]})

    def upload(self, upload_path: str, file: BinaryIO) -> Dict[str, Any]:
        self._take("upload")
        data = file.read()
        chunk = self.announced[upload_path[1:]]
        assert hashlib.sha256(data).hexdigest() == chunk["sha256"]
        self.stored[upload_path[1:]] = data
        return self._answer("upload", {"status": "stored"})

    def store_chunks(self, body: Dict[str, Any]) -> List[Dict[str, Any]]:
        if not self.takes_chunks_together:
            raise UNKNOWN
        self._take("store")
        items: List[Dict[str, Any]] = []
        for chunk in body["chunks"]:
            ref, data = chunk["source_chunk_ref"], chunk["bytes"]
            assert hashlib.sha256(data).hexdigest() == chunk["sha256"]
            code = self.refused_together.get(chunk["sequence"])
            if code is None:
                self.stored[ref] = data
                items.append({"source_chunk_ref": ref, "status": "processed"})
            else:
                items.append({"source_chunk_ref": ref, "error": {"code": code, "message": "words"}})
        return self._answer("store", {"items": items})["items"]  # type: ignore[no-any-return]

    def chunk_status(self, binding_epoch: str, stream_ref: str, chunk_refs: List[str]) -> List[Dict[str, Any]]:
        self._take("status")
        assert len(chunk_refs) <= 100
        known = [ref for ref in chunk_refs if ref in self.announced]
        return [
            {"source_chunk_ref": ref, "status": "stored" if ref in self.stored else "awaiting_upload"} for ref in known
        ]

    def end_stream(self, binding_epoch: str, stream_ref: str, end_ms: int) -> Dict[str, Any]:
        self._take("end")
        assert self.ends.setdefault(stream_ref, end_ms) == end_ms
        return self._answer("end", {})

    def renew(self, csr_pem: str) -> Dict[str, Any]:
        self._take("renew")
        self.requests.append(csr_pem)
        return self._answer("renew", self.authority.answer(csr_pem, self.ahead_s + DAY_S))


class Patient(threading.Event):
    """Waits at once, and remembers for how long it was asked to."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: List[float] = []

    def wait(self, timeout: Optional[float] = None) -> bool:
        self.waited.append(timeout or 0.0)
        return self.is_set()


class SenderTest(unittest.TestCase):
    authority: Authority
    temporary: "tempfile.TemporaryDirectory[str]"

    @classmethod
    def setUpClass(cls) -> None:
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.authority = Authority(Path(cls.temporary.name))

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.device = Device(Path(folder.name) / "state", free_bytes_min=0)
        self.server = Server(self.authority)
        self.stop = Patient()
        self.device.connect = lambda _: self.server  # type: ignore[method-assign, assignment, return-value]
        request = self.device.identities.certificate_request()
        self.device.identities.install(self.authority.answer(request), "https://localhost:1")
        self.device.keep_binding(self.server.binding())
        self.server.calls.clear()

    def sender(self) -> Sender:
        return Sender(self.device, stop=self.stop)

    def record(self, chunks: int = 3) -> Stream:
        pcm = pcm_s16le(8000, 1)
        stream = new_stream(EPOCH, "2026-01-01T12:00:00.000Z", 20, None)
        writer = PcmWriter(self.device.queue, stream, pcm, chunk_frames=800)
        writer.write(bytes(1600 * chunks))
        ended = writer.finish()
        assert ended is not None
        return ended

    def reports(self) -> List[str]:
        return [report["what"] for report in self.device.reports()]

    def test_everything_is_sent_once(self) -> None:
        stream = self.record(3)
        self.sender().drain()
        self.assertEqual(len(self.server.stored), 3)
        self.assertEqual(self.server.ends, {stream.ref: 300})
        self.assertEqual(self.server.streams[stream.ref]["clock_uncertainty_ms"], 20)
        self.assertEqual(self.server.calls, ["binding", "register", "status"] + ["announce", "upload"] * 3 + ["end"])
        self.assertEqual(self.device.queue.waiting()["streams"], 0)
        self.assertEqual(self.stop.waited, [])

    def test_chunks_go_together_and_what_is_refused_by_itself(self) -> None:
        stream = self.record(40)
        self.server.takes_chunks_together = True
        self.server.refused_together = {3: "CHECKSUM_MISMATCH"}
        self.sender().drain()
        self.assertEqual((len(self.server.stored), self.server.ends), (40, {stream.ref: 4000}))
        stores = ["store", "announce", "upload", "store", "store"]
        self.assertEqual(self.server.calls, ["binding", "register", "status", *stores, "end"])

    def test_where_nothing_comes_back_chunks_go_by_themselves(self) -> None:
        self.record(20)
        self.server.takes_chunks_together = True
        self.server.lost["store"] = 1
        self.sender().drain()
        self.assertEqual(len(self.server.stored), 20)
        self.assertEqual(self.server.calls.count("upload"), 0)

    def test_what_was_not_answered_is_asked_again(self) -> None:
        stream = self.record(2)
        for name in ("binding", "register", "status", "announce", "upload", "end"):
            self.server.fail(name, NoAnswer("no link"), NoAnswer("no link"))
            self.server.lost[name] = 1
        self.sender().drain()
        self.assertEqual((len(self.server.stored), self.server.ends), (2, {stream.ref: 200}))
        self.assertEqual(self.reports(), [])

    def test_a_device_waits_as_long_as_retry_after_says(self) -> None:
        self.record(1)
        self.server.fail("announce", refused(429, "TOO_MANY_REQUESTS", retry_after_s=7.0))
        self.server.fail("upload", refused(503, "UNAVAILABLE", retry_after_s=1234.0))
        self.sender().drain()
        self.assertEqual(self.stop.waited, [7.0, 1234.0])
        self.assertEqual(len(self.server.stored), 1)

    def test_without_retry_after_waits_grow(self) -> None:
        self.record(1)
        self.server.fail("announce", *[refused(503, "UNAVAILABLE") for _ in range(8)])
        self.sender().drain()
        for tries, wait_s in enumerate(self.stop.waited):
            self.assertTrue(2**tries / 2 <= wait_s <= 2**tries, f"{tries}: {wait_s}")

    def test_what_came_before_power_was_lost_is_not_sent_again(self) -> None:
        self.record(3)
        self.server.lost["upload"] = 1
        give_up = Sender(self.device, stop=self.stop, until=time.monotonic())
        with self.assertRaises(OutOfTime):
            give_up.drain()
        self.assertEqual(len(self.server.stored), 1)
        self.sender().drain()
        self.assertEqual(self.server.calls.count("upload"), 3)

    def test_a_chunk_that_is_refused_does_not_hold_up_the_others(self) -> None:
        stream = self.record(3)
        self.server.fail("announce", refused(409, "CONFLICT"))
        self.sender().drain()
        self.assertEqual(len(self.server.stored), 2)
        self.assertEqual(self.server.ends, {stream.ref: 300})
        self.assertEqual(self.reports(), ["set aside"])
        self.assertEqual(self.device.queue.waiting()["set_aside"], 1)

    def test_a_torn_chunk_is_set_aside_and_said_so(self) -> None:
        stream = self.record(3)
        path = self.device.queue.chunk_paths(stream.ref)[1]
        path.write_bytes(path.read_bytes()[:-1] + b"x")
        self.sender().drain()
        self.assertEqual(len(self.server.stored), 2)
        self.assertEqual(self.server.ends, {stream.ref: 300})
        self.assertEqual(self.reports(), ["set aside"])

    def test_a_chunk_whose_announcement_expired_is_announced_again(self) -> None:
        self.record(1)
        self.server.fail("upload", refused(410, "UPLOAD_EXPIRED"), refused(422, "CHECKSUM_MISMATCH"))
        self.sender().drain()
        self.assertEqual(self.server.calls.count("announce"), 3)
        self.assertEqual(len(self.server.stored), 1)

    def test_a_chunk_is_not_sent_for_ever(self) -> None:
        stream = self.record(2)
        self.server.fail("upload", *[refused(400, "BAD_REQUEST") for _ in range(REFUSALS_MAX)])
        self.sender().drain()
        self.assertEqual(len(self.server.stored), 1)
        self.assertEqual((self.reports(), self.server.ends), (["set aside"], {stream.ref: 200}))

    def test_a_stream_that_the_server_does_not_know_is_registered_again(self) -> None:
        self.record(2)
        self.server.fail("announce", UNKNOWN)
        self.sender().drain()
        self.assertEqual(self.server.calls.count("register"), 2)
        self.assertEqual(len(self.server.stored), 2)

    def test_a_stream_that_was_deleted_is_let_go_of(self) -> None:
        self.record(2)
        self.server.fail("announce", UNKNOWN)
        self.server.fail("register", NoAnswer("no link"))
        sender = self.sender()
        self.server.fail("status", UNKNOWN)
        self.server.faults["register"] += [UNKNOWN]
        sender.drain()
        self.assertEqual(self.reports(), ["let go of"])
        self.assertEqual(self.device.queue.waiting()["chunks"], 0)

    def test_what_was_recorded_under_an_epoch_that_is_over_is_kept_out_of_the_way(self) -> None:
        first, second = self.record(2), self.record(1)
        self.server.fail("announce", UNBOUND)
        self.sender().drain()
        self.assertEqual(self.server.ends, {second.ref: 100})
        self.assertNotIn(first.ref, self.server.ends)
        self.assertEqual(self.device.queue.waiting()["set_aside"], 2)
        self.assertEqual(self.reports(), ["set aside"])
        with self.assertRaises(NotBound):
            self.device.binding()

    def test_recordings_of_a_deleted_account_are_kept(self) -> None:
        self.record(2)
        self.server.fail("announce", refused(403, "ACCOUNT_DELETED", erase_at="2026-01-08T00:00:00.000Z"))
        with self.assertRaises(AccountDeleted) as raised:
            self.sender().drain()
        self.assertEqual(raised.exception.erase_at, "2026-01-08T00:00:00.000Z")
        self.assertEqual(self.device.queue.waiting()["chunks"], 2)

    def test_a_revoked_device_stops_and_keeps_what_it_has(self) -> None:
        self.record(2)
        self.server.fail("register", refused(403, "FORBIDDEN", reason="revoked"))
        with self.assertRaises(NotProvisioned):
            self.sender().drain()
        self.assertEqual(self.device.queue.waiting()["chunks"], 2)

    def test_a_certificate_is_renewed_in_time_by_the_servers_clock(self) -> None:
        before = self.device.identities.load()
        self.server.ahead_s = 2 * DAY_S
        self.record(1)
        self.server.lost["renew"] = 2
        self.sender().drain()
        after = self.device.identities.load()
        self.assertEqual((before.number, after.number, after.used), (1, 2, True))
        keys = {self.key_of(csr_pem) for csr_pem in self.server.requests}
        self.assertEqual((len(self.server.requests), len(keys)), (3, 1), "a lost answer is asked for with the same key")
        self.assertEqual(len(self.server.stored), 1)
        names = sorted(path.name for path in (self.device.state / "identity").iterdir())
        self.assertEqual(names, ["ca-2.pem", "device-2.key", "device-2.pem", "identity.json"])
        self.assertEqual(self.device.identities.key_path(after).stat().st_mode & 0o777, 0o600)

    def key_of(self, csr_pem: str) -> str:
        return self.authority.run("req", "-noout", "-pubkey", given=csr_pem)

    def test_an_expired_certificate_is_renewed_before_all_else(self) -> None:
        self.record(1)
        self.server.fail("binding", *[refused(401, "UNAUTHORIZED", reason="expired") for _ in range(2)])
        self.server.fail("renew", refused(429, "TOO_MANY_REQUESTS", retry_after_s=3600.0))
        self.sender().drain()
        self.assertEqual(self.server.calls[:6], ["binding", "renew", "binding", "renew", "binding", "register"])
        self.assertEqual(self.stop.waited, [3600.0])

    def test_a_renewal_that_has_to_wait_holds_up_nothing(self) -> None:
        self.server.ahead_s = 2 * DAY_S
        self.record(2)
        self.server.fail("renew", refused(429, "TOO_MANY_REQUESTS", retry_after_s=40_000.0))
        self.sender().drain()
        self.assertEqual(self.stop.waited, [])
        self.assertEqual((len(self.server.stored), self.server.calls.count("renew")), (2, 1))
        self.assertEqual(self.device.identities.load().number, 1)

    def test_a_certificate_for_another_key_is_not_taken(self) -> None:
        other = Device(self.device.state / "other", free_bytes_min=0)
        answer = self.authority.answer(other.identities.certificate_request())
        self.device.identities.certificate_request()
        with self.assertRaisesRegex(Exception, "cannot be used with this device's key"):
            self.device.identities.install(answer, "https://localhost:1")
        self.assertEqual(self.device.identities.load().number, 1)

    def test_times_are_read_as_they_are_written(self) -> None:
        self.assertEqual(seconds_of("1970-01-01T00:00:01.500Z"), 1.5)
        self.assertEqual(moment_of(1.5), "1970-01-01T00:00:01.500Z")
        with self.assertRaises(ValueError):
            seconds_of("1970-01-01T00:00:01")
