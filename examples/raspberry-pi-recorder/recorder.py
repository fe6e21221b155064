#!/usr/bin/python3
"""A recorder that records as long as it runs: one stream an hour, sent while it is recorded.

It survives a loss of power and of the network: what is queued on disk is sent when the two are back.
"""

import argparse
import itertools
import logging
import os
import sys
from pathlib import Path

from spool_device import Device, Microphone, RecordAndSend, Recorder, SpoolDeviceError

#: A microphone gives ten blocks a second.
BLOCKS_PER_STREAM = 10 * 3600


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    home = os.environ.get("SPOOL_DEVICE_STATE") or Path.home() / ".local" / "state" / "spool-device"
    parser.add_argument("--state", type=Path, default=Path(home), help="folder of keys and queue (default %(default)s)")
    parser.add_argument("--alsa-device", default="default", help="a microphone of `arecord -L` (default %(default)s)")
    parser.add_argument(
        "--file", type=Path, help="a WAV file to record instead of a microphone; it ends when all is sent"
    )
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")

    device = Device(given.state)
    service = RecordAndSend(device)
    service.stop_on_signals()
    recorder = Recorder(device, stop=service.stop, is_sending=service.is_sending)

    def record_microphone() -> None:
        microphone = Microphone(alsa_device=given.alsa_device)
        blocks = microphone.blocks(service.stop)
        while not service.stop.is_set():
            stream = recorder.record_live(microphone.format, itertools.islice(blocks, BLOCKS_PER_STREAM))
            if stream is not None:
                logging.info("recorded stream %s of %s ms", stream.ref, stream.end_ms)

    def record_file() -> None:
        stream = recorder.record_file(given.file)
        logging.info("recorded stream %s of %s ms", stream.ref, stream.end_ms)

    try:
        service.run(record_microphone if given.file is None else record_file)
    except SpoolDeviceError as error:
        logging.error("%s", error)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
