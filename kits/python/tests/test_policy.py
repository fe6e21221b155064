import random
import unittest
from typing import Optional

from spool_device.api import retry_after_s
from spool_device.errors import Refused
from spool_device.policy import Action, Backoff, Call, action_of


def refused(status: int, code: str = "X", reason: Optional[str] = None) -> Refused:
    return Refused(status, code, "words", reason=reason)


class Policy(unittest.TestCase):
    def test_what_each_answer_asks_for(self) -> None:
        every = [call for call in Call if call is not Call.STORE]
        on_streams = [Call.STATUS, Call.ANNOUNCE, Call.END]
        for calls, refusal, action in [
            (every, refused(429, "TOO_MANY_REQUESTS"), Action.AGAIN),
            (every, refused(503, "UNAVAILABLE"), Action.AGAIN),
            (every, refused(500, "INTERNAL"), Action.AGAIN),
            (every, refused(408, "REQUEST_TIMEOUT"), Action.AGAIN),
            ([Call.ANNOUNCE, Call.UPLOAD], refused(401, "UNAUTHORIZED", "expired"), Action.RENEW),
            ([Call.RENEW], refused(401, "UNAUTHORIZED", "expired"), Action.STOP),
            (every, refused(401, "UNAUTHORIZED", "not_yet_valid"), Action.STOP),
            (every, refused(401, "UNAUTHORIZED", "missing"), Action.STOP),
            (every, refused(403, "FORBIDDEN", "superseded"), Action.NEWER_CERTIFICATE),
            (every, refused(403, "FORBIDDEN", "revoked"), Action.STOP),
            (every, refused(403, "FORBIDDEN", "unknown"), Action.STOP),
            (every, refused(403, "ACCOUNT_DELETED"), Action.HOLD),
            (every, refused(403, "DEVICE_UNBOUND"), Action.EPOCH_OVER),
            ([Call.REGISTER], refused(404, "NOT_FOUND"), Action.LET_GO),
            (on_streams, refused(404, "NOT_FOUND"), Action.REGISTER_AGAIN),
            ([Call.UPLOAD], refused(404, "NOT_FOUND"), Action.ANNOUNCE_AGAIN),
            ([Call.UPLOAD], refused(410, "UPLOAD_EXPIRED"), Action.ANNOUNCE_AGAIN),
            ([Call.UPLOAD], refused(400, "BAD_REQUEST"), Action.AGAIN),
            ([Call.UPLOAD], refused(422, "CHECKSUM_MISMATCH"), Action.AGAIN),
            ([Call.ANNOUNCE, Call.REGISTER, Call.END], refused(400, "BAD_REQUEST"), Action.SET_ASIDE),
            ([Call.ANNOUNCE, Call.REGISTER, Call.END], refused(409, "CONFLICT"), Action.SET_ASIDE),
            (every, refused(418, "SOMETHING_NEW"), Action.SET_ASIDE),
            ([Call.STORE], refused(429, "TOO_MANY_REQUESTS"), Action.AGAIN),
            ([Call.STORE], refused(503, "UNAVAILABLE"), Action.AGAIN),
            ([Call.STORE], refused(403, "DEVICE_UNBOUND"), Action.EPOCH_OVER),
            ([Call.STORE], refused(404, "NOT_FOUND"), Action.ALONE),
            ([Call.STORE], refused(408, "REQUEST_TIMEOUT"), Action.ALONE),
            ([Call.STORE], refused(413, "PAYLOAD_TOO_LARGE"), Action.ALONE),
        ]:
            for call in calls:
                self.assertIs(action_of(call, refusal), action, f"{call} {refusal} {refusal.reason}")

    def test_waits_grow_to_their_bound_and_vary(self) -> None:
        backoff = Backoff(1.0, 300.0, random.Random(1))
        waits = [backoff.next_s() for _ in range(40)]
        for tries, wait_s in enumerate(waits):
            bound = min(300.0, 2.0**tries)
            self.assertTrue(bound / 2 <= wait_s <= bound, f"{tries}: {wait_s}")
        self.assertEqual(len(set(waits)), len(waits))
        backoff.reset()
        self.assertLessEqual(backoff.next_s(), 1.0)

    def test_retry_after_is_seconds_or_a_date(self) -> None:
        self.assertEqual(retry_after_s("7"), 7.0)
        self.assertEqual(retry_after_s("0"), 0.0)
        self.assertIsNone(retry_after_s(None))
        self.assertIsNone(retry_after_s("soon"))
        self.assertEqual(retry_after_s("Thu, 01 Jan 1970 00:01:40 GMT", 90.0), 10.0)
        self.assertEqual(retry_after_s("Thu, 01 Jan 1970 00:01:40 GMT", 900.0), 0.0)
