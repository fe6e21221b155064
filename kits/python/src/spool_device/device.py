"""One device: its state folder, and what it knows of whom it records for."""

from __future__ import annotations

import json
import logging
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from .errors import NotBound, TornFile, UsageError
from .files import FolderLock, make_folder, read_record, write_record
from .identity import Identity, IdentityStore, moment_of, seconds_of
from .queue import BYTES_MAX, FREE_BYTES_MIN, Queue

if TYPE_CHECKING:
    from .api import DeviceApi

log = logging.getLogger("spool_device")

_BINDING = "binding.json"
_REPORTS = "reports.jsonl"
_REPORTS_BYTES_MAX = 256 * 1024
_REPORTS_SHOWN = 10


@dataclass(frozen=True)
class Binding:
    """Whom the device records for, as of the last answer about it."""

    kind: str
    binding_epoch: str
    chunk_bytes_max: int
    #: When a recorder session ends and until when it may upload (ISO 8601); None for a personal device.
    expires_at: Optional[str]
    drain_until: Optional[str]
    #: How much later the server's clock is than the device's.
    server_ahead_s: float

    def server_now_s(self) -> float:
        """The time by the server's clock, in seconds since 1970."""
        return time.time() + self.server_ahead_s

    def is_over(self) -> bool:
        """Whether the recorder session has ended by its schedule; it may still upload."""
        return self.expires_at is not None and self.server_now_s() >= seconds_of(self.expires_at)


class Device:
    """What lies in a state folder. Several processes may open the same one: see the locks."""

    def __init__(self, state: Path, *, queue_bytes_max: int = BYTES_MAX, free_bytes_min: int = FREE_BYTES_MIN) -> None:
        make_folder(state)
        self.state = state
        self.identities = IdentityStore(state / "identity")
        self.queue = Queue(state / "queue", bytes_max=queue_bytes_max, free_bytes_min=free_bytes_min)
        self.recorder_lock = FolderLock(state / "recorder.lock", "recording")
        self.sender_lock = FolderLock(state / "sender.lock", "sending")

    def connect(self, identity: Identity) -> "DeviceApi":
        """A connection under this certificate."""
        # The HTTP client takes a small board a second to load, and recording does not need it.
        from .api import DeviceApi

        return DeviceApi(
            identity.server,
            certificate=self.identities.certificate_path(identity),
            key=self.identities.key_path(identity),
            ca=self.identities.ca_path(identity),
        )

    def binding(self) -> Binding:
        """Raises NotBound."""
        try:
            record = read_record(self.state / _BINDING)
        except TornFile:
            record = None  # the server knows it, too
        if record is None:
            raise NotBound("the device is bound to nobody, as far as it knows; see `spool-device claim --help`")
        return Binding(**record)

    def keep_binding(self, answer: Dict[str, Any]) -> Binding:
        """Stores what the server said of the binding."""
        session = answer["session"]
        binding = Binding(
            kind=answer["kind"],
            binding_epoch=answer["binding_epoch"],
            chunk_bytes_max=answer["limits"]["chunk_bytes_max"],
            expires_at=None if session is None else session["expires_at"],
            drain_until=None if session is None else session["drain_until"],
            server_ahead_s=seconds_of(answer["server_time"]) - time.time(),
        )
        write_record(self.state / _BINDING, asdict(binding))
        return binding

    def is_over(self, binding_epoch: str) -> bool:
        """Whether nothing more should be recorded under a binding."""
        try:
            binding = self.binding()
        except NotBound:
            return True
        return binding.binding_epoch != binding_epoch or binding.is_over()

    def forget_binding(self) -> None:
        (self.state / _BINDING).unlink(missing_ok=True)

    def report(self, what: str, **facts: Any) -> None:
        """Writes down what became of a recording that was not simply stored; people read it."""
        log.warning("%s %s", what, json.dumps(facts))
        path = self.state / _REPORTS
        line = json.dumps({"at": moment_of(time.time()), "what": what, **facts}) + "\n"
        try:
            if path.exists() and path.stat().st_size + len(line) > _REPORTS_BYTES_MAX:
                os.replace(path, path.with_suffix(".old"))
            with open(path, "a", encoding="ascii", opener=_private) as file:
                file.write(line)
        except OSError as error:
            log.error("the report could not be written: %s", error)  # the disk may be what it is about

    def reports(self) -> List[Dict[str, Any]]:
        """The newest of what was written down."""
        try:
            lines = (self.state / _REPORTS).read_text("ascii", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines[-_REPORTS_SHOWN:]:
            try:
                found.append(json.loads(line))
            except ValueError:
                continue  # it was cut off with the power
        return found


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def check_server(server: str) -> str:
    """An address such as https://recorders.example:8443. Raises UsageError."""
    if not server.startswith("https://") or len(server) <= len("https://"):
        raise UsageError(f"{server} is no https address of a device listener")
    return server.rstrip("/")
