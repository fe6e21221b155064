"""A recording device of Spool: it records whether or not there is a link, and loses nothing that it has queued."""

from .device import Binding, Device
from .errors import (
    AccountDeleted,
    Busy,
    NoAnswer,
    NotBound,
    NotProvisioned,
    QueueFull,
    Refused,
    SpoolDeviceError,
    TornFile,
    UsageError,
)
from .microphone import Microphone
from .policy import Backoff
from .queue import Queue, Stream
from .recorder import PcmWriter, Recorder
from .sender import OutOfTime, Sender, Stopping
from .service import RecordAndSend
from .wav import PcmFormat, pcm_s16le

__version__ = "1.0.0"

__all__ = [
    "AccountDeleted",
    "Backoff",
    "Binding",
    "Busy",
    "Device",
    "Microphone",
    "NoAnswer",
    "NotBound",
    "NotProvisioned",
    "OutOfTime",
    "PcmFormat",
    "PcmWriter",
    "Queue",
    "QueueFull",
    "RecordAndSend",
    "Recorder",
    "Refused",
    "Sender",
    "SpoolDeviceError",
    "Stopping",
    "Stream",
    "TornFile",
    "UsageError",
    "pcm_s16le",
]
