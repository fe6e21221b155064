"""What to do about an answer, as a table; and how long to wait where the server does not say."""

from __future__ import annotations

import enum
import random
from typing import Optional

from .errors import Refused


class Call(enum.Enum):
    """What a device asks of the server."""

    BINDING = "binding"
    REDEEM = "redeem"
    HEARTBEAT = "heartbeat"
    RENEW = "renew"
    REGISTER = "register"
    STATUS = "status"
    ANNOUNCE = "announce"
    UPLOAD = "upload"
    STORE = "store"
    END = "end"
    END_SESSION = "end session"


class Action(enum.Enum):
    """What a refusal asks for."""

    #: The same again, after Retry-After or, without it, a wait that grows.
    AGAIN = "again"
    #: Renew the certificate, then the same again.
    RENEW = "renew"
    #: A newer certificate is in use: read it from disk, then the same again.
    NEWER_CERTIFICATE = "newer certificate"
    #: Nothing helps but people.
    STOP = "stop"
    #: The account may come back: keep everything and ask seldom.
    HOLD = "hold"
    #: Nothing of this binding can be sent any more.
    EPOCH_OVER = "epoch over"
    #: The server does not know the stream: register it again.
    REGISTER_AGAIN = "register again"
    #: Announce the chunk again, then upload it.
    ANNOUNCE_AGAIN = "announce again"
    #: Send each chunk of the request by itself.
    ALONE = "alone"
    #: Nobody wants the recording any more: delete it.
    LET_GO = "let go"
    #: The server will never take this: keep it out of the way and say so.
    SET_ASIDE = "set aside"


def action_of(call: Call, refusal: Refused) -> Action:
    """What a refusal of a call asks for."""
    status, code, reason = refusal.status, refusal.code, refusal.reason
    if call is Call.STORE and 400 <= status < 500 and status not in (401, 403, 429):
        return Action.ALONE  # its refusal by itself says more
    if status in (408, 429) or status >= 500:
        return Action.AGAIN
    if status == 401:
        return Action.RENEW if reason == "expired" and call is not Call.RENEW else Action.STOP
    if status == 403:
        named = {"ACCOUNT_DELETED": Action.HOLD, "DEVICE_UNBOUND": Action.EPOCH_OVER}
        return named.get(code, Action.NEWER_CERTIFICATE if reason == "superseded" else Action.STOP)
    if status == 404:
        named_calls = {
            Call.REGISTER: Action.LET_GO,
            Call.STATUS: Action.REGISTER_AGAIN,
            Call.ANNOUNCE: Action.REGISTER_AGAIN,
            Call.END: Action.REGISTER_AGAIN,
            Call.UPLOAD: Action.ANNOUNCE_AGAIN,
        }
        return named_calls.get(call, Action.SET_ASIDE)
    if status == 410:
        return Action.ANNOUNCE_AGAIN
    if call is Call.UPLOAD and status in (400, 422):
        return Action.AGAIN
    return Action.SET_ASIDE


class Backoff:
    """Waits of a device that hears nothing: longer each time, up to a bound, and never two devices alike."""

    def __init__(self, first_s: float = 1.0, longest_s: float = 300.0, draw: Optional[random.Random] = None) -> None:
        self._first_s = min(first_s, longest_s)
        self._longest_s = longest_s
        self._draw = draw or random.SystemRandom()
        self._tries = 0

    def next_s(self) -> float:
        """The next wait: half of the present bound to all of it."""
        bound = min(self._longest_s, self._first_s * (1 << min(self._tries, 32)))
        self._tries += 1
        return bound * self._draw.uniform(0.5, 1.0)

    def reset(self) -> None:
        self._tries = 0
