"""`spool-device`: the device as a command line."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

from .device import Device, check_server
from .errors import NotBound, NotProvisioned, SpoolDeviceError, UsageError
from .microphone import Microphone
from .policy import Backoff
from .queue import BYTES_MAX, FREE_BYTES_MIN, Stream
from .recorder import CHUNK_S, WHOLE_FILES, Recorder
from .sender import Sender
from .service import RecordAndSend

STATE_VARIABLE = "SPOOL_DEVICE_STATE"
WAIT_S = 60.0

EXIT_SET_ASIDE = 9
EXIT_CODES = """exit codes:
  0  done                          5  the queue or the disk is full
  1  any other fault               6  the account is deleted (it may be restored)
  2  wrong usage                   7  no answer of the server in time
  3  no certificate, or refused    8  another process does this already
  4  bound to nobody               9  done, but chunks were set aside: see status
"""

DESCRIPTION = """A recording device of Spool. From a new device to a recording on the server:

  spool-device provision-request --kind personal > request.json   # makes the private key
  (staff: POST request.json to /ops/devices, answer to answer.json)
  spool-device install-certificate answer.json --server https://HOST:8443
  spool-device claim k7m2-qx0p                                    # the code shown at /app/devices
  spool-device record recording.wav
"""


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs a command; gives its exit code."""
    given = _parser().parse_args(arguments)
    logging.basicConfig(
        level=logging.INFO if given.verbose else logging.WARNING, format="%(levelname)s %(message)s", stream=sys.stderr
    )
    try:
        code: int = given.run(given, _device_of(given))
        return code
    except SpoolDeviceError as error:
        print(f"spool-device: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"spool-device: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spool-device",
        description=DESCRIPTION,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--state",
        type=Path,
        default=None,
        help=f"folder of keys and queue (or {STATE_VARIABLE}; default ~/.local/state/spool-device)",
    )
    parser.add_argument(
        "--queue-bytes-max",
        type=_count,
        default=BYTES_MAX,
        metavar="BYTES",
        help="what the queue may take of the disk (default %(default)s)",
    )
    parser.add_argument(
        "--free-bytes-min",
        type=_count,
        default=FREE_BYTES_MIN,
        metavar="BYTES",
        help="what it leaves free for others (default %(default)s)",
    )
    parser.add_argument(
        "--retry-max-s",
        type=_seconds,
        default=300.0,
        metavar="SECONDS",
        help="longest wait between tries without an answer (default %(default)s)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="say what it waits for")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    command = _command(
        commands,
        "provision-request",
        _provision_request,
        "make a private key, print what staff need to provision the device",
    )
    command.add_argument(
        "--kind",
        choices=["personal", "shared"],
        default="personal",
        help="personal: of one account; shared: records for whoever hosts a session (default personal)",
    )

    command = _command(
        commands, "install-certificate", _install_certificate, "take the answer to the provisioning into use"
    )
    command.add_argument("answer", help="file with the JSON answer of POST /ops/devices, or - for standard input")
    command.add_argument(
        "--server", required=True, help="address of the device listener, such as https://localhost:8443"
    )

    command = _command(commands, "claim", _claim, "redeem a claim: from then on the device records for an account")
    command.add_argument(
        "claim", help="the claim, or its pairing code in any letter case, with or without the dash; - reads standard input"
    )
    command.add_argument("--ble-address", help="of a shared recorder: 12 upper-case hexadecimal digits without colons")
    _add_wait(command, WAIT_S)

    command = _command(commands, "record", _record, "record a file or the microphone, and send at the same time")
    _add_record_options(command)

    command = _command(commands, "send", _send, "send what is queued")
    command.add_argument("--forever", action="store_true", help="go on until stopped; other processes may record")
    command.add_argument(
        "--end-session", action="store_true", help="end the shared recorder's session when all is sent"
    )
    _add_wait(command, None)

    _command(commands, "status", _status, "print what the device knows of itself, as JSON, without asking the server")

    command = _command(
        commands, "renew", _renew, "renew the certificate now; record and send do it by themselves in time"
    )
    _add_wait(command, WAIT_S)
    return parser


def _command(commands: Any, name: str, run: Any, says: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=says, description=says)
    command.set_defaults(run=run)
    return command


def _add_wait(command: argparse.ArgumentParser, default: Optional[float]) -> None:
    said = "for ever" if default is None else f"{default:g}"
    command.add_argument(
        "--wait-s",
        type=_seconds,
        default=default,
        metavar="SECONDS",
        help=f"give up after so long without an answer (default {said})",
    )


def _add_record_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "file",
        nargs="?",
        type=Path,
        help="a WAV file of plain samples, which is cut into chunks; any other file becomes one chunk",
    )
    command.add_argument("--microphone", action="store_true", help="record with arecord, until stopped")
    command.add_argument("--alsa-device", default="default", help="of arecord -L (default %(default)s)")
    command.add_argument("--rate", type=_count, default=16_000, help="samples a second (default %(default)s)")
    command.add_argument("--channels", type=_count, default=1, help="of the microphone (default %(default)s)")
    command.add_argument(
        "--chunk-s", type=_seconds, default=CHUNK_S, metavar="SECONDS", help="length of a chunk (default %(default)s)"
    )
    command.add_argument("--raw", action="store_true", help="chunks of raw samples instead of whole WAV files")
    command.add_argument(
        "--clock-uncertainty-ms",
        type=_whole,
        default=1000,
        metavar="MS",
        help="how far off this device's clock may be (default %(default)s)",
    )
    command.add_argument("--offline", action="store_true", help="only queue; `send` sends")
    command.add_argument(
        "--drain-s",
        type=_seconds,
        default=10.0,
        metavar="SECONDS",
        help="how long to go on sending when stopped by a signal (default %(default)s)",
    )
    command.add_argument("--again", action="store_true", help="record a file that was recorded before once more")
    command.add_argument("--container", help="of a file that is no WAV, such as ogg")
    command.add_argument("--codec", help="of a file that is no WAV, such as opus")
    command.add_argument(
        "--duration-ms", type=_count, metavar="MS", help="of a file that is no WAV; one of Ogg/Opus says it by itself"
    )


def _device_of(given: argparse.Namespace) -> Device:
    home = os.environ.get(STATE_VARIABLE) or Path.home() / ".local" / "state" / "spool-device"
    return Device(Path(given.state or home), queue_bytes_max=given.queue_bytes_max, free_bytes_min=given.free_bytes_min)


def _provision_request(given: argparse.Namespace, device: Device) -> int:
    csr_pem = device.identities.certificate_request()
    print(json.dumps({"kind": given.kind, "csr_pem": csr_pem}))
    return 0


def _install_certificate(given: argparse.Namespace, device: Device) -> int:
    server = check_server(given.server)
    try:
        text = sys.stdin.read() if given.answer == "-" else Path(given.answer).read_text("utf-8")
        answer: Dict[str, Any] = json.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"{given.answer}: {error}") from error
    if not isinstance(answer, dict) or "certificate_pem" not in answer:
        raise UsageError(f"{given.answer} holds no certificate: {text[:200].strip()}")
    with device.sender_lock:
        identity = device.identities.install(answer, server)
    print(f"installed; it lasts until {identity.not_after} and is renewed from {identity.renew_after} on")
    return 0


def _claim(given: argparse.Namespace, device: Device) -> int:
    claim = sys.stdin.read().strip() if given.claim == "-" else given.claim
    with device.sender_lock, _Closing(_sender(given, device)) as sender:
        binding = sender.redeem(claim, given.ble_address)
    until = "" if binding.expires_at is None else f" until {binding.expires_at}"
    print(f"bound, epoch {binding.binding_epoch}{until}")
    return 0


def _record(given: argparse.Namespace, device: Device) -> int:
    if (given.file is None) != given.microphone:
        raise UsageError("record needs a FILE or --microphone, and not both")
    service = RecordAndSend(device, backoff=Backoff(longest_s=given.retry_max_s), drain_s=given.drain_s)
    service.stop_on_signals()
    aside = device.queue.waiting()["set_aside"]
    recorder = Recorder(
        device,
        chunk_s=given.chunk_s,
        clock_uncertainty_ms=given.clock_uncertainty_ms,
        container="raw" if given.raw else "wav",
        is_sending=None if given.offline else service.is_sending,
        stop=service.stop,
    )
    stream = service.run(lambda: _record_one(given, recorder, service.stop), is_sending=not given.offline)
    if stream is None:
        print("nothing was recorded")
    elif stream.end_ms is None:
        print(f"stream {stream.ref}: stopped; the same command goes on with it")
    else:
        print(f"stream {stream.ref}: {stream.end_ms} ms")
    return _say_what_waits(device, aside)


def _record_one(given: argparse.Namespace, recorder: Recorder, stop: threading.Event) -> Optional[Stream]:
    if given.microphone:
        microphone = Microphone(sample_rate_hz=given.rate, channels=given.channels, alsa_device=given.alsa_device)
        return recorder.record_live(microphone.format, microphone.blocks(stop))
    suffix = given.file.suffix.lower()
    if given.container is None and given.codec is None and suffix not in WHOLE_FILES:
        return recorder.record_file(given.file, again=given.again)
    container, codec = WHOLE_FILES.get(suffix, (None, None))
    container, codec = given.container or container, given.codec or codec
    if container is None or codec is None:
        raise UsageError("--container and --codec have to be said together")
    return recorder.record_whole(
        given.file, container=container, codec=codec, duration_ms=given.duration_ms, again=given.again
    )


def _send(given: argparse.Namespace, device: Device) -> int:
    if given.forever:
        service = RecordAndSend(device, backoff=Backoff(longest_s=given.retry_max_s))
        service.stop_on_signals()
        service.send()
        return 0
    aside = device.queue.waiting()["set_aside"]
    if given.end_session:
        # Nothing that is recorded from here on could be sent.
        with device.recorder_lock, device.sender_lock, _Closing(_sender(given, device)) as sender:
            Recorder(device).finish_interrupted()
            epoch = device.binding().binding_epoch
            sender.drain()
            sender.end_session(epoch)
            device.forget_binding()
        return _say_what_waits(device, aside)
    if device.recorder_lock.try_take():
        try:
            Recorder(device).finish_interrupted()
        finally:
            device.recorder_lock.release()
    with device.sender_lock, _Closing(_sender(given, device)) as sender:
        sender.drain()
    return _say_what_waits(device, aside)


def _status(_: argparse.Namespace, device: Device) -> int:
    known: Dict[str, Any] = {"state": str(device.state), "identity": None, "binding": None}
    try:
        identity = device.identities.load()
        known["identity"] = {name: getattr(identity, name) for name in ("server", "not_after", "renew_after")}
        binding = device.binding()
        known["binding"] = {
            name: getattr(binding, name) for name in ("kind", "binding_epoch", "expires_at", "drain_until")
        }
    except (NotProvisioned, NotBound):
        pass
    known["queue"] = device.queue.waiting()
    for what, lock in (("recording", device.recorder_lock), ("sending", device.sender_lock)):
        known[what] = not lock.try_take()
        lock.release()
    known["reports"] = device.reports()
    print(json.dumps(known, indent=2))
    return 0


def _renew(given: argparse.Namespace, device: Device) -> int:
    with device.sender_lock, _Closing(_sender(given, device)) as sender:
        sender.renew()
    print(f"renewed; it lasts until {device.identities.load().not_after}")
    return 0


def _sender(given: argparse.Namespace, device: Device) -> Sender:
    until = None if given.wait_s is None else time.monotonic() + given.wait_s
    return Sender(device, backoff=Backoff(longest_s=given.retry_max_s), until=until)


class _Closing:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def __enter__(self) -> Sender:
        return self._sender

    def __exit__(self, *_: object) -> None:
        self._sender.close()


def _say_what_waits(device: Device, aside_before: int) -> int:
    """Gives the exit code."""
    waiting = device.queue.waiting()
    print("all is sent" if waiting["streams"] == 0 else f"{waiting['chunks']} chunks of {waiting['bytes']} bytes wait")
    if waiting["set_aside"] <= aside_before:
        return 0
    print(f"{waiting['set_aside'] - aside_before} chunks were set aside: see status", file=sys.stderr)
    return EXIT_SET_ASIDE


def _count(text: str) -> int:
    value = _whole(text)
    if value == 0:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("must be a whole number")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError("must be a number of seconds above 0")
    return value
