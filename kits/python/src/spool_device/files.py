"""Files that survive a loss of power: each is there as a whole, or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from pathlib import Path
from typing import Any, Dict, Optional

from .errors import Busy, TornFile

#: Files that were being written when the process ended. Whoever holds the lock of a folder removes them.
TEMPORARY = ".tmp-"


def sync_folder(folder: Path) -> None:
    """Makes names that were added to, moved in or removed from a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """The folder and those above it, for this user alone."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def write_file(path: Path, *parts: bytes) -> None:
    """Writes a file for this user alone. When it returns, the file is on disk; before, the old one stands."""
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def seal(record: Dict[str, Any]) -> bytes:
    """A record as one line: the SHA-256 of its JSON, a space, the JSON."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":")).encode("ascii")
    return hashlib.sha256(text).hexdigest().encode("ascii") + b" " + text + b"\n"


def unseal(line: bytes) -> Dict[str, Any]:
    """The record in a line that `seal` made. Raises TornFile."""
    digest, _, text = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or hashlib.sha256(text).hexdigest().encode("ascii") != digest:
        raise TornFile("the record is torn")
    record: Dict[str, Any] = json.loads(text)
    return record


def write_record(path: Path, record: Dict[str, Any]) -> None:
    write_file(path, seal(record))


def read_record(path: Path) -> Optional[Dict[str, Any]]:
    """The record, or None where there is no such file. Raises TornFile."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return unseal(content)
    except TornFile as error:
        raise TornFile(f"{path} is torn: it is not what was written") from error


class FolderLock:
    """Held by one process at a time. It ends with the process, however that ends."""

    def __init__(self, path: Path, what: str) -> None:
        self._path = path
        self._what = what
        self._descriptor: Optional[int] = None

    def take(self) -> None:
        """Raises Busy when another process holds it."""
        if not self.try_take():
            raise Busy(f"another process is {self._what} with {self._path.parent}")

    def try_take(self) -> bool:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> "FolderLock":
        self.take()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
