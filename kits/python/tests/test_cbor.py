import unittest

from spool_device.cbor import encode


class Cbor(unittest.TestCase):
    def test_bodies_as_rfc_8949_writes_them(self) -> None:
        for value, expected in [
            (0, "00"),
            (23, "17"),
            (24, "1a00000018"),
            (1 << 40, "1b0000010000000000"),
            (-1, "20"),
            (-500, "3a000001f3"),
            ("ä", "62c3a4"),
            (b"\x01\x02", "420102"),
            ([1, [2]], "82018102"),
            ({"a": {}}, "a16161a0"),
        ]:
            self.assertEqual(encode(value).hex(), expected)  # type: ignore[arg-type]

    def test_what_no_body_holds(self) -> None:
        for value in (None, True, 1.5):
            with self.assertRaises(TypeError):
                encode(value)  # type: ignore[arg-type]
