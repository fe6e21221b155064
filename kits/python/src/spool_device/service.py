"""Recording and sending at the same time, in one process: what a device does all day."""

from __future__ import annotations

import signal
import threading
import time
from typing import Callable, Optional, TypeVar

from .device import Device, log
from .errors import Busy, SpoolDeviceError
from .policy import Backoff
from .sender import Sender

T = TypeVar("T")

#: How soon it is seen that all is sent.
LOOK_S = 0.1


class RecordAndSend:
    """`stop` ends the recording; a signal sets it (see `stop_on_signals`). What is not sent then stays queued."""

    def __init__(self, device: Device, *, backoff: Optional[Backoff] = None, drain_s: float = 10.0) -> None:
        """`drain_s`: how long a process that was asked to stop still sends."""
        self.stop = threading.Event()
        self._device = device
        self._backoff = backoff
        self._drain_s = drain_s
        self._stop_sending = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._others_send = False
        self._failed: Optional[Exception] = None

    def stop_on_signals(self) -> None:
        """SIGTERM and SIGINT end the recording, a second one the sending."""
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, lambda *_: self._on_signal())

    def _on_signal(self) -> None:
        if self.stop.is_set():
            self._stop_sending.set()
        self.stop.set()

    def run(self, record: Callable[[], T], *, is_sending: bool = True) -> T:
        """Runs `record` while a thread sends. When `record` has returned, waits until all is sent; not longer than
        `drain_s` once `stop` is set. Raises what ended the sending for good."""
        with self._device.recorder_lock:
            if not is_sending:
                return record()
            thread = threading.Thread(target=self._send_beside, name="sender")
            self._thread = thread
            thread.start()
            try:
                recorded = record()
                self._wait_until_sent(thread)
            finally:
                self._stop_sending.set()
                thread.join()
            if self._failed is not None:
                raise self._failed
            return recorded

    def send(self) -> None:
        """Sends alone, until `stop` is set. Raises what ended the sending for good, and Busy."""
        self._send(self.stop)

    def is_sending(self) -> bool:
        """Whether the queue is being emptied, by this process or another."""
        return self._others_send or (self._thread is not None and self._thread.is_alive())

    def _send(self, stop: threading.Event) -> None:
        with self._device.sender_lock:
            sender = Sender(self._device, backoff=self._backoff, stop=stop)
            try:
                sender.run()
            finally:
                sender.close()

    def _send_beside(self) -> None:
        try:
            self._send(self._stop_sending)
        except Busy as error:
            self._others_send = True
            log.warning("%s; this one only records", error)
        except SpoolDeviceError as error:
            # A live recording goes on: people may set this right before the queue is full.
            log.error("sending has ended: %s", error)
            self._failed = error
        except Exception as error:
            # A fault of this package: whoever supervises the process starts it anew.
            log.exception("sending has failed")
            self._failed = error
            self.stop.set()

    def _wait_until_sent(self, thread: threading.Thread) -> None:
        give_up_at: Optional[float] = None
        while thread.is_alive() and self._device.queue.has_work():
            if self.stop.is_set() and give_up_at is None:
                give_up_at = time.monotonic() + self._drain_s
            if give_up_at is not None and time.monotonic() >= give_up_at:
                return
            self._stop_sending.wait(LOOK_S)
            if self._stop_sending.is_set():
                return
