"""Who the device is: its private key, its certificate, and the server that believes in it.

The standard library makes neither keys nor certificate requests, so the `openssl` program does. A private key is made
on the device, is readable by its user alone (mode 0600), and never leaves the state folder.
"""

from __future__ import annotations

import ssl
import subprocess
import time
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Dict

from .errors import NotProvisioned, SpoolDeviceError, UsageError
from .files import make_folder, read_record, write_file, write_record

_RECORD = "identity.json"
_NEXT_KEY = "next.key"
_OPENSSL_S = 30


@dataclass(frozen=True)
class Identity:
    """A certificate in use. Files are named by its number, so that a new one replaces nothing."""

    number: int
    server: str
    #: ISO 8601: from here on it should be renewed, and when it expires.
    renew_after: str
    not_after: str
    #: Its first use ends the one before; False until the server has answered it.
    used: bool = False


class IdentityStore:
    """Keys and certificates in a folder. What is in use changes with one rename of `identity.json`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        make_folder(folder)

    def load(self) -> Identity:
        """Raises NotProvisioned."""
        record = read_record(self._folder / _RECORD)
        if record is None:
            raise NotProvisioned("no certificate is installed; see `spool-device provision-request --help`")
        identity = Identity(**record)
        for path in (self.key_path(identity), self.certificate_path(identity), self.ca_path(identity)):
            if not path.exists():
                raise NotProvisioned(f"{path} is missing")
        return identity

    def key_path(self, identity: Identity) -> Path:
        return self._folder / f"device-{identity.number}.key"

    def certificate_path(self, identity: Identity) -> Path:
        """The certificate and its issuer's."""
        return self._folder / f"device-{identity.number}.pem"

    def ca_path(self, identity: Identity) -> Path:
        return self._folder / f"ca-{identity.number}.pem"

    def certificate_request(self) -> str:
        """A request (PKCS #10, PEM) for the key that the next certificate is for. The key is made once and stays until
        its certificate is installed, so whoever asks again asks for the same."""
        path = self._folder / _NEXT_KEY
        if not path.exists():
            write_file(path, _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"))
        request = _openssl("req", "-new", "-sha256", "-key", str(path), "-subj", "/CN=spool-device")
        return request.decode("ascii")

    def install(self, answer: Dict[str, Any], server: str) -> Identity:
        """Takes a certificate into use that was issued for the key of `certificate_request`, or whose key comes with
        it. Raises UsageError where the two do not belong together."""
        before = read_record(self._folder / _RECORD)
        try:
            identity = Identity(
                number=1 if before is None else before["number"] + 1,
                server=server,
                renew_after=str(answer["renew_after"]),
                not_after=str(answer["not_after"]),
            )
            certificate = str(answer["certificate_pem"]).encode("ascii")
            ca = str(answer["ca_pem"]).encode("ascii")
            seconds_of(identity.renew_after)
            seconds_of(identity.not_after)
        except (KeyError, ValueError) as error:
            raise UsageError(f"this is no answer to a provisioning or renewal: {error!r}") from error
        next_key = self._folder / _NEXT_KEY
        given = answer.get("private_key_pem")
        if given is None and not next_key.exists():
            raise UsageError("there is no key for this certificate; begin with `spool-device provision-request`")
        key = next_key.read_bytes() if given is None else str(given).encode("ascii")
        write_file(self.key_path(identity), key)
        write_file(self.certificate_path(identity), certificate, b"" if certificate.endswith(b"\n") else b"\n", ca)
        write_file(self.ca_path(identity), ca)
        try:
            ssl.create_default_context(cafile=str(self.ca_path(identity))).load_cert_chain(
                str(self.certificate_path(identity)), str(self.key_path(identity))
            )
        except (ssl.SSLError, OSError) as error:
            raise UsageError(f"the certificate cannot be used with this device's key: {error}") from error
        # From here on the new one counts, whatever happens.
        write_record(self._folder / _RECORD, asdict(identity))
        next_key.unlink(missing_ok=True)
        return identity

    def note_use(self, identity: Identity) -> Identity:
        """The server has answered under this certificate, which ended all others: they are deleted."""
        if identity.used:
            return identity
        used = replace(identity, used=True)
        write_record(self._folder / _RECORD, asdict(used))
        kept = {path(used).name for path in (self.key_path, self.certificate_path, self.ca_path)}
        for pattern in ("device-*.key", "device-*.pem", "ca-*.pem"):
            for path in self._folder.glob(pattern):
                if path.name not in kept:
                    path.unlink()
        return used


def seconds_of(moment: str) -> float:
    """Seconds since 1970 of an ISO 8601 time. Raises ValueError."""
    text = moment[:-1] + "+00:00" if moment.endswith("Z") else moment
    parsed = datetime.fromisoformat(text)
    if parsed.tzinfo is None:
        raise ValueError(f"{moment} names no time zone")
    return parsed.timestamp()


def moment_of(seconds: float) -> str:
    """ISO 8601 with milliseconds, in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1000):03d}Z"


def _openssl(*arguments: str) -> bytes:
    try:
        done = subprocess.run(
            ["openssl", *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=_OPENSSL_S, check=False
        )
    except FileNotFoundError as error:
        raise SpoolDeviceError("the openssl program is not installed; on Debian: apt-get install openssl") from error
    except subprocess.TimeoutExpired as error:
        raise SpoolDeviceError(f"openssl {arguments[0]} took longer than {_OPENSSL_S} s") from error
    if done.returncode != 0:
        raise SpoolDeviceError(f"openssl {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
