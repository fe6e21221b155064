"""What can go wrong, one class each. `exit_code` is what the command line ends with."""

from __future__ import annotations

from typing import Any, Dict, List, Optional


class SpoolDeviceError(Exception):
    """Anything that this package raises on purpose."""

    exit_code = 1


class UsageError(SpoolDeviceError):
    """What was asked for cannot be done: a file that is no audio, a setting that contradicts another."""

    exit_code = 2


class NotProvisioned(SpoolDeviceError):
    """There is no usable certificate: none was installed, or the server refuses it for good."""

    exit_code = 3


class NotBound(SpoolDeviceError):
    """The device records for nobody: it has to redeem a claim."""

    exit_code = 4


class StreamGone(NotBound):
    """A stream that is being recorded was taken out of the queue: its binding is over, or it was deleted."""


class QueueFull(SpoolDeviceError):
    """The queue has reached its limit, or the disk has. Nothing of what it holds was dropped."""

    exit_code = 5


class AccountDeleted(SpoolDeviceError):
    """The account is deleted. It may be restored until `erase_at` (ISO 8601; None once it is being erased)."""

    exit_code = 6

    def __init__(self, message: str, erase_at: Optional[str]) -> None:
        super().__init__(message)
        self.erase_at = erase_at


class NoAnswer(SpoolDeviceError):
    """No answer came: no link, a broken connection, a timeout, or something that is no answer of the server."""

    exit_code = 7


class Busy(SpoolDeviceError):
    """Another process has this part of the state folder in use."""

    exit_code = 8


class TornFile(SpoolDeviceError):
    """A file of the state folder is not what was written: cut off, or its checksum differs."""


class Refused(SpoolDeviceError):
    """The server's answer was not a success."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        reason: Optional[str] = None,
        retry_after_s: Optional[float] = None,
        erase_at: Optional[str] = None,
        details: Optional[List[Dict[str, Any]]] = None,
    ) -> None:
        named = "".join(f" {detail.get('path')}: {detail.get('message')}." for detail in details or [])
        super().__init__(f"{status} {code}: {message}{named}")
        self.status = status
        self.code = code
        self.message = message
        #: What is wrong with the certificate, such as `expired`; None where it is not about that.
        self.reason = reason
        #: How long to wait before any further request, in seconds; None where the server did not say.
        self.retry_after_s = retry_after_s
        self.erase_at = erase_at
        self.details = details or []
