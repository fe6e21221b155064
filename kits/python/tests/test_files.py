import json
import os
import stat
import tempfile
import unittest
from pathlib import Path

from spool_device.errors import Busy, TornFile
from spool_device.files import FolderLock, read_record, seal, unseal, write_file, write_record


class Files(unittest.TestCase):
    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = Path(self.temporary.name)

    def test_a_record_comes_back_and_is_for_its_user_alone(self) -> None:
        path = self.folder / "one.json"
        write_record(path, {"a": 1, "b": None, "c": {"d": ["é"]}})
        self.assertEqual(read_record(path), {"a": 1, "b": None, "c": {"d": ["é"]}})
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual(os.listdir(self.folder), ["one.json"])

    def test_no_file_is_no_record(self) -> None:
        self.assertIsNone(read_record(self.folder / "none.json"))

    def test_a_record_that_is_torn_anywhere_is_noticed(self) -> None:
        whole = seal({"binding_epoch": "e", "end_ms": 10})
        self.assertEqual(unseal(whole), {"binding_epoch": "e", "end_ms": 10})
        for length in range(len(whole)):
            with self.assertRaises(TornFile, msg=f"cut to {length} bytes"):
                unseal(whole[:length])
        for at in range(len(whole)):
            changed = bytearray(whole)
            changed[at] ^= 1
            with self.assertRaises(TornFile, msg=f"byte {at} changed"):
                unseal(bytes(changed))

    def test_a_file_of_zeros_is_torn(self) -> None:
        path = self.folder / "zeros.json"
        path.write_bytes(b"\0" * 100)
        with self.assertRaises(TornFile):
            read_record(path)

    def test_a_write_that_fails_leaves_the_old_file_alone(self) -> None:
        path = self.folder / "one"
        write_file(path, b"old")
        with self.assertRaises(TypeError):
            write_file(path, b"new", None)  # type: ignore[arg-type]
        self.assertEqual(path.read_bytes(), b"old")
        self.assertEqual(os.listdir(self.folder), ["one"])

    def test_a_lock_is_held_once(self) -> None:
        first, second = (FolderLock(self.folder / "x.lock", "recording") for _ in range(2))
        with first:
            self.assertFalse(second.try_take())
            with self.assertRaises(Busy):
                second.take()
        with second:
            pass

    def test_what_is_written_is_json(self) -> None:
        path = self.folder / "one.json"
        write_record(path, {"a": 1})
        self.assertEqual(json.loads(path.read_bytes().partition(b" ")[2]), {"a": 1})
