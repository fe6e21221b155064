import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from typing import Tuple

from spool_device.cli import main
from spool_device.device import Device

from .test_sender import Authority, Server

SERVER = ("--server", "https://localhost:1")


class CommandLine(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.state = self.folder / "state"

    def run_command(self, *arguments: str) -> Tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(["--state", str(self.state), *arguments])
            except SystemExit as end:
                code = int(str(end.code))
        return code, out.getvalue(), err.getvalue()

    def write(self, name: str, content: str) -> str:
        path = self.folder / name
        path.write_text(content)
        return str(path)

    def test_each_fault_has_its_code_and_words(self) -> None:
        noise = self.write("noise.wav", "no wav at all")
        answer = self.write("answer.json", '{"error": {"code": "UNAUTHORIZED"}}')
        for arguments, code, words in [
            ((), 2, "required: COMMAND"),
            (("record",), 2, "needs a FILE or --microphone"),
            (("record", noise, "--microphone"), 2, "not both"),
            (("record", noise, "--chunk-s", "0"), 2, "above 0"),
            (("record", str(self.folder / "none.wav"), "--offline"), 2, "No such file"),
            (("record", noise, "--offline"), 2, "does not begin as a WAV file does"),
            (("record", noise, "--offline", "--codec", "opus"), 2, "said together"),
            (("install-certificate", noise, "--server", "http://x"), 2, "no https address"),
            (("install-certificate", noise, *SERVER), 2, "Expecting value"),
            (("install-certificate", answer, *SERVER), 2, "holds no certificate"),
            (("claim", "spc_x"), 3, "no certificate is installed"),
            (("send",), 3, "no certificate is installed"),
            (("renew",), 3, "no certificate is installed"),
        ]:
            with self.subTest(arguments=arguments):
                result = self.run_command(*arguments)
                self.assertEqual(result[0], code, result)
                self.assertIn(words, result[2])
                self.assertNotIn("Traceback", result[2])

    def test_a_request_is_for_the_same_key_each_time_and_its_key_is_private(self) -> None:
        code, out, _ = self.run_command("provision-request", "--kind", "shared")
        self.assertEqual((code, json.loads(out)["kind"]), (0, "shared"))
        key = self.state / "identity" / "next.key"
        content = key.read_bytes()
        self.run_command("provision-request")
        self.assertEqual(key.read_bytes(), content)
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.state.stat().st_mode & 0o777, 0o700)
        self.assertNotIn("PRIVATE KEY", out)

    def test_status_needs_no_server(self) -> None:
        code, out, _ = self.run_command("status")
        self.assertEqual((code, json.loads(out)["identity"]), (0, None))
        request = json.loads(self.run_command("provision-request")[1])["csr_pem"]
        answer = self.write("answer.json", json.dumps(Authority(self.folder).answer(request)))
        self.assertEqual(self.run_command("install-certificate", answer, *SERVER)[0], 0)
        known = json.loads(self.run_command("status")[1])
        self.assertEqual((known["identity"]["server"], known["binding"]), ("https://localhost:1", None))

    def test_no_answer_in_time(self) -> None:
        self.test_status_needs_no_server()
        code, _, err = self.run_command("claim", "spc_secret", "--wait-s", "0.1")
        self.assertEqual(code, 7)
        self.assertIn("gave up", err)
        self.assertNotIn("spc_secret", err)

    def test_a_whole_file_is_one_chunk_and_once_is_enough(self) -> None:
        device = Device(self.state, free_bytes_min=0)
        device.keep_binding(Server(None).binding())  # type: ignore[arg-type]
        path = self.write("talk.mp3", "some coded audio")
        code, _, err = self.run_command("record", path, "--offline")
        self.assertEqual(code, 2)
        self.assertIn("--duration-ms", err)
        for _ in range(2):
            code, out, _ = self.run_command("record", path, "--offline", "--duration-ms", "700")
            self.assertEqual((code, "1 chunks of" in out), (0, True))
        [stream] = device.queue.streams()
        [chunk] = device.queue.chunk_paths(stream.ref)
        label = device.queue.read_chunk(chunk).label
        self.assertEqual((label.container, label.codec, label.source_end_ms, stream.end_ms), ("mp3", "mp3", 700, 700))

    def test_a_whole_file_goes_on_where_the_power_went(self) -> None:
        self.test_a_whole_file_is_one_chunk_and_once_is_enough()
        [stream] = Device(self.state, free_bytes_min=0).queue.streams()
        device = Device(self.state, free_bytes_min=0)
        device.queue.begin_stream(type(stream)(**{**vars(stream), "end_ms": None}))
        code, out, _ = self.run_command("record", str(self.folder / "talk.mp3"), "--offline", "--duration-ms", "700")
        self.assertEqual((code, stream.ref in out), (0, True))
        [same] = device.queue.streams()
        self.assertEqual((same.ref, same.end_ms), (stream.ref, 700))
