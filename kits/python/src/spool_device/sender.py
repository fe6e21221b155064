"""Sends what is queued, whatever happens to link, server and power meanwhile."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Set, TypeVar

from .device import Binding, Device, log
from .errors import AccountDeleted, NoAnswer, NotBound, NotProvisioned, Refused, TornFile
from .identity import seconds_of
from .policy import Action, Backoff, Call, action_of
from .queue import QueuedChunk, Stream

if TYPE_CHECKING:
    from .api import DeviceApi

T = TypeVar("T")

STATUS_REFS_MAX = 100
#: Of chunks that go together in one request.
TOGETHER_MAX = 16
TOGETHER_EACH_MAX = 256 * 1024
TOGETHER_BYTES_MAX = 512 * 1024
#: Refusals of one chunk, each of which asks for the same chunk once more.
REFUSALS_MAX = 10
#: How often a device that does nothing else says that it is there, and asks whether its session was moved.
BEAT_S = 60.0
#: How soon a queue that is empty is looked at again.
LOOK_S = 0.5
#: How often a device asks whether a deleted account was restored.
HOLD_S = 900.0
#: How soon at most a certificate is renewed that was just renewed, whatever its dates say.
RENEWED_S = 3_600.0
#: After a renewal that the server refuses for a fault of ours.
RENEWAL_REFUSED_S = 86_400.0

_HAS_BYTES = ("stored", "processing", "processed", "failed")


class _Refusal(Exception):
    """A refusal that is about a stream or chunk; whoever works on that decides."""

    def __init__(self, action: Action, refused: Refused) -> None:
        super().__init__(str(refused))
        self.action = action
        self.refused = refused


class OutOfTime(NoAnswer):
    """The time for a call was over before the server took it."""


class Stopping(Exception):
    """The sender was asked to stop."""


class Sender:
    """Takes the sender's lock while it runs. Every call is repeated until the server has answered it."""

    def __init__(
        self,
        device: Device,
        *,
        backoff: Optional[Backoff] = None,
        stop: Optional[threading.Event] = None,
        until: Optional[float] = None,
    ) -> None:
        """`until`: when to give up, by time.monotonic()."""
        self._device = device
        self._queue = device.queue
        self._backoff = backoff or Backoff()
        self._stop = stop or threading.Event()
        self._until = until
        self._identity = device.identities.load()
        self._api: DeviceApi = device.connect(self._identity)
        self._renew_not_before = 0.0
        #: Streams that are registered, and how often others were given up for the moment.
        self._known: Set[str] = set()
        self._given_up: Dict[str, int] = {}
        self._beat_at = 0.0
        self._warned: Set[str] = set()

    def close(self) -> None:
        self._api.close()

    # What a person or a program asks for.

    def redeem(self, claim: str, ble_address: Optional[str] = None) -> Binding:
        """Binds the device. Raises Refused with the server's reason."""
        answer = self._said(lambda: self._ask(Call.REDEEM, lambda api: api.redeem(claim, ble_address)))
        return self._device.keep_binding(answer)

    def renew(self) -> None:
        """Renews the certificate now. Raises Refused."""
        self._said(self._renew)
        self.refresh_binding()

    def refresh_binding(self) -> Optional[Binding]:
        """Whom the device records for, by the server; None for nobody."""
        try:
            answer = self._said(lambda: self._ask(Call.BINDING, lambda api: api.binding()))
        except NotBound:
            self._device.forget_binding()
            return None
        return self._device.keep_binding(answer)

    def end_session(self, binding_epoch: str) -> None:
        """Ends a shared recorder's session; when all is sent, since nothing can be sent after it."""
        self._said(lambda: self._ask(Call.END_SESSION, lambda api: api.end_session(binding_epoch)))

    def drain(self) -> None:
        """Sends until nothing is left that can be sent. Streams that are still recorded are sent as far as they are."""
        has_begun = False
        while True:
            try:
                if not has_begun:
                    self._begin()
                    has_begun = True
                if not self._pass():
                    return
            except OSError as error:
                self._wait(self._backoff.next_s(), error)

    def run(self) -> None:
        """Sends what comes, until it is asked to stop."""
        has_begun = False
        while not self._stop.is_set():
            try:
                if not has_begun:
                    self._begin()
                    has_begun = True
                if not self._pass():
                    self._stop.wait(LOOK_S)
                if time.monotonic() >= self._beat_at:
                    self._beat()
            except AccountDeleted as error:
                log.warning("%s; asking again in %d s", error, HOLD_S)
                self._stop.wait(HOLD_S)
            except OSError as error:
                # The disk may be full; what is queued stays.
                log.error("%s", error)
                self._stop.wait(self._backoff.next_s())
            except Stopping:
                return

    def _begin(self) -> None:
        self.refresh_binding()
        self._beat_at = time.monotonic() + BEAT_S
        for stream_ref in self._queue.torn_streams():
            chunks = self._queue.set_stream_aside(stream_ref)
            self._device.report("set aside", stream=stream_ref, chunks=chunks, why="its description is torn")

    def _beat(self) -> None:
        self._beat_at = time.monotonic() + BEAT_S
        try:
            if self.refresh_binding() is not None:
                self._said(lambda: self._ask(Call.HEARTBEAT, lambda api: api.heartbeat()))
        except NotBound:
            self._device.forget_binding()
        except Refused as refused:
            log.warning("heartbeat: %s", refused)

    # Streams.

    def _pass(self) -> bool:
        """Looks at every stream once; False where none has anything to send."""
        worked = False
        for stream in self._queue.streams():
            paths = self._queue.chunk_paths(stream.ref)
            if paths or stream.end_ms is not None:
                self._send_stream(stream)
                worked = True
        return worked

    def _send_stream(self, stream: Stream) -> None:
        try:
            if stream.ref not in self._known:
                self._register(stream)
                self._known.add(stream.ref)
            together: List[QueuedChunk] = []
            for path in self._queue.chunk_paths(stream.ref):
                try:
                    together = self._send_or_gather(stream, self._queue.read_chunk(path), together)
                except TornFile as error:
                    self._set_torn_aside(stream, path, error)
            self._send_together(stream, together)
            self._end_stream(self._queue.reread(stream))
        except _Refusal as refusal:
            self._give_up(stream, refusal)

    def _give_up(self, stream: Stream, refusal: _Refusal) -> None:
        """What a refusal of a whole stream leads to."""
        facts = {"stream": stream.ref, "why": str(refusal.refused)}
        self._known.discard(stream.ref)
        self._given_up[stream.ref] = self._given_up.get(stream.ref, 0) + 1
        if refusal.action is Action.REGISTER_AGAIN and self._given_up[stream.ref] < REFUSALS_MAX:
            self._wait(self._backoff.next_s(), refusal.refused)
        elif refusal.action is Action.LET_GO:
            self._device.report("let go of", chunks=self._queue.remove_stream(stream.ref), **facts)
        else:
            if refusal.action is Action.EPOCH_OVER:
                self._forget_epoch(stream.binding_epoch)
            self._device.report("set aside", chunks=self._queue.set_stream_aside(stream.ref), **facts)

    def _forget_epoch(self, binding_epoch: str) -> None:
        try:
            if self._device.binding().binding_epoch == binding_epoch:
                self._device.forget_binding()
        except NotBound:
            pass

    def _register(self, stream: Stream) -> None:
        """Says what the stream is, and hears which of its chunks had arrived when the device lost sight of them."""
        body = {
            "source_stream_ref": stream.ref,
            "captured_at": stream.captured_at,
            "clock_uncertainty_ms": stream.clock_uncertainty_ms,
            "binding_epoch": stream.binding_epoch,
        }
        self._ask(Call.REGISTER, lambda api: api.register(body))
        chunks: List[QueuedChunk] = []
        for path in self._queue.chunk_paths(stream.ref):
            try:
                chunks.append(self._queue.read_chunk(path))
            except TornFile:
                pass  # the turn of its upload deals with it
        for at in range(0, len(chunks), STATUS_REFS_MAX):
            self._let_go_of_stored(stream, chunks[at : at + STATUS_REFS_MAX])

    def _let_go_of_stored(self, stream: Stream, chunks: List[QueuedChunk]) -> None:
        refs = [chunk.label.source_chunk_ref for chunk in chunks]
        try:
            items = self._ask(Call.STATUS, lambda api: api.chunk_status(stream.binding_epoch, stream.ref, refs))
        except _Refusal as refusal:
            if refusal.action is not Action.SET_ASIDE:
                raise
            return  # what was stored is then sent once more, which changes nothing
        statuses = {item["source_chunk_ref"]: item for item in items}
        for chunk in chunks:
            item = statuses.get(chunk.label.source_chunk_ref)
            if item is None:
                continue
            if item["status"] == "failed":
                facts = {"stream": stream.ref, "sequence": chunk.label.sequence}
                self._device.report("stored but not processed", why=item.get("failure"), **facts)
            if item["status"] in _HAS_BYTES or item.get("stored_at") is not None:
                self._queue.let_go(chunk)

    def _set_torn_aside(self, stream: Stream, path: Path, error: TornFile) -> None:
        self._device.report("set aside", stream=stream.ref, file=path.name, why=str(error))
        self._queue.set_aside(path)

    def _send_or_gather(self, stream: Stream, chunk: QueuedChunk, together: List[QueuedChunk]) -> List[QueuedChunk]:
        """Sends a chunk, or what was gathered where it does not fit; gives what is gathered then."""
        size = chunk.label.size_bytes
        if size > TOGETHER_EACH_MAX:
            self._send_together(stream, together)
            self._send_alone(stream, chunk)
            return []
        if len(together) >= TOGETHER_MAX or sum(one.label.size_bytes for one in together) + size > TOGETHER_BYTES_MAX:
            self._send_together(stream, together)
            return [chunk]
        return [*together, chunk]

    def _send_together(self, stream: Stream, chunks: List[QueuedChunk]) -> None:
        """Sends chunks in one request, and each by itself that is refused."""
        if not chunks:
            return
        bodies: List[Dict[str, Any]] = []
        left: List[QueuedChunk] = []
        for chunk in chunks:
            try:
                with chunk.open() as file:
                    body = {name: value for name, value in vars(chunk.label).items() if value is not None}
                    for name in ("source_stream_ref", "size_bytes"):
                        del body[name]
                    bodies.append({**body, "bytes": file.read()})
                    left.append(chunk)
            except TornFile as error:
                self._set_torn_aside(stream, chunk.path, error)
        statuses = self._store(stream, bodies) if bodies else {}
        for chunk in left:
            if statuses.get(chunk.label.source_chunk_ref) in (*_HAS_BYTES, "expired"):
                self._queue.let_go(chunk)
            else:
                self._send_alone(stream, chunk)

    def _store(self, stream: Stream, bodies: List[Dict[str, Any]]) -> Dict[str, str]:
        """The status of each chunk that the server took; of none where it refuses the request."""
        request = {"source_stream_ref": stream.ref, "binding_epoch": stream.binding_epoch, "chunks": bodies}

        try:
            items = self._ask(Call.STORE, lambda api: api.store_chunks(request))
        except _Refusal as refusal:
            if refusal.action is not Action.ALONE:
                raise
            return {}
        for item in items:
            for warning in item.get("warnings", []):
                self._warn(stream, warning)
        return {item["source_chunk_ref"]: item["status"] for item in items if "status" in item}

    def _warn(self, stream: Stream, warning: str, **facts: Any) -> None:
        if warning in self._warned:
            return
        self._warned.add(warning)
        self._device.report("warning", stream=stream.ref, **facts, why=warning)

    def _send_alone(self, stream: Stream, chunk: QueuedChunk) -> None:
        try:
            self._send_chunk(stream, chunk)
        except TornFile as error:
            self._set_torn_aside(stream, chunk.path, error)

    def _send_chunk(self, stream: Stream, chunk: QueuedChunk) -> None:
        label = chunk.label
        for _ in range(REFUSALS_MAX):
            try:
                if self._upload(stream, chunk) in ("stored", "expired"):
                    self._queue.let_go(chunk)
                    return
                last = "the server did not store it"
            except _Refusal as refusal:
                last = str(refusal.refused)
                if refusal.action is Action.SET_ASIDE:
                    break
                if refusal.action not in (Action.ANNOUNCE_AGAIN, Action.AGAIN):
                    raise
            self._wait(self._backoff.next_s(), last)
        self._device.report("set aside", stream=stream.ref, sequence=label.sequence, why=last)
        self._queue.set_aside(chunk.path)

    def _upload(self, stream: Stream, chunk: QueuedChunk) -> str:
        """Announces a chunk and sends its bytes; gives its status then."""
        label = chunk.label
        body: Dict[str, Any] = {name: value for name, value in vars(label).items() if value is not None}
        body["binding_epoch"] = stream.binding_epoch
        with chunk.open() as file:
            announced = self._ask(Call.ANNOUNCE, lambda api: api.announce(body))
            for warning in announced.get("warnings", []):
                self._warn(stream, warning, sequence=label.sequence)

            def send(api: DeviceApi) -> Dict[str, Any]:
                file.seek(chunk.body_offset)
                return api.upload(announced["upload_path"], file)

            return str(self._ask(Call.UPLOAD, send)["status"])

    def _end_stream(self, stream: Stream) -> None:
        end_ms = stream.end_ms
        if end_ms is None or self._queue.chunk_paths(stream.ref):
            return
        try:
            self._ask(Call.END, lambda api: api.end_stream(stream.binding_epoch, stream.ref, end_ms))
        except _Refusal as refusal:
            if refusal.action is not Action.SET_ASIDE:
                raise
            self._device.report("end refused", stream=stream.ref, end_ms=end_ms, why=str(refusal.refused))
        self._queue.finish_stream(stream)
        self._known.discard(stream.ref)
        self._given_up.pop(stream.ref, None)

    # Calls.

    def _said(self, work: Callable[[], T]) -> T:
        """Work that is about no stream: its refusals are for the caller."""
        try:
            return work()
        except _Refusal as refusal:
            if refusal.action is Action.EPOCH_OVER:
                raise NotBound(str(refusal.refused)) from refusal
            raise refusal.refused from refusal

    def _ask(self, call: Call, ask: Callable[[DeviceApi], T]) -> T:
        """Asks until there is an answer. Raises _Refusal for what is about the stream or chunk, and what ends all:
        AccountDeleted, NotProvisioned."""
        while True:
            if call is not Call.RENEW:
                self._renew_in_time()
            try:
                answer = ask(self._api)
            except NoAnswer as error:
                self._wait(self._backoff.next_s(), error)
                continue
            except Refused as refused:
                self._note_answer(refused)
                if self._is_settled(call, refused):
                    continue
            else:
                self._note_answer(None)
                self._backoff.reset()
                return answer

    def _is_settled(self, call: Call, refused: Refused) -> bool:
        """Does what a refusal of any call asks for; the same call is due again then. Raises otherwise."""
        action = action_of(call, refused)
        if action is Action.AGAIN and (call is not Call.UPLOAD or refused.status not in (400, 422)):
            if call is Call.RENEW and refused.retry_after_s is not None:
                raise _Refusal(action, refused)  # a day may be asked for, in which all else goes on
            wait_s = self._backoff.next_s() if refused.retry_after_s is None else refused.retry_after_s
            self._wait(wait_s, refused)
            return True
        if action is Action.RENEW:
            self._renew_expired()
            return True
        if action is Action.NEWER_CERTIFICATE and self._read_newer_identity():
            return True
        if action is Action.HOLD:
            raise AccountDeleted(str(refused), refused.erase_at)
        if action in (Action.STOP, Action.NEWER_CERTIFICATE):
            reason = "" if refused.reason is None else f" (reason: {refused.reason})"
            raise NotProvisioned(f"the server refuses this device: {refused}{reason}")
        raise _Refusal(action, refused)

    def _note_answer(self, refused: Optional[Refused]) -> None:
        """Any answer but one about the certificate says that the certificate was used."""
        if refused is None or (refused.reason is None and refused.status not in (429, 503)):
            self._identity = self._device.identities.note_use(self._identity)

    def _wait(self, seconds: float, why: object) -> None:
        """Raises Stopping, and OutOfTime where the wait would end too late."""
        if self._until is not None and time.monotonic() + seconds > self._until:
            raise OutOfTime(f"gave up: {why}")
        log.info("waiting %.1f s: %s", seconds, why)
        if self._stop.wait(seconds):
            raise Stopping()

    # The certificate.

    def _renew_in_time(self) -> None:
        now_s = self._server_now_s()
        if now_s < seconds_of(self._identity.renew_after) or now_s < self._renew_not_before:
            return
        try:
            self._renew()
        except _Refusal as refusal:
            wait_s = refusal.refused.retry_after_s
            self._renew_not_before = now_s + (RENEWAL_REFUSED_S if wait_s is None else wait_s)
            self._device.report("certificate not renewed", why=str(refusal.refused))

    def _renew_expired(self) -> None:
        """Nothing else goes on until it is renewed."""
        try:
            self._renew()
        except _Refusal as refusal:
            if refusal.refused.retry_after_s is None:
                raise NotProvisioned(f"the certificate has expired and cannot be renewed: {refusal}") from refusal
            self._wait(refusal.refused.retry_after_s, refusal)

    def _renew(self) -> None:
        """A lost answer costs nothing: the same key gets the same certificate."""
        csr_pem = self._device.identities.certificate_request()
        answer = self._ask(Call.RENEW, lambda api: api.renew(csr_pem))
        self._identity = self._device.identities.install(answer, self._identity.server)
        self._reconnect()
        self._renew_not_before = self._server_now_s() + RENEWED_S
        log.info("the certificate was renewed; it lasts until %s", self._identity.not_after)

    def _read_newer_identity(self) -> bool:
        newest = self._device.identities.load()
        if newest.number == self._identity.number:
            return False
        self._identity = newest
        self._reconnect()
        return True

    def _reconnect(self) -> None:
        self._api.close()
        self._api = self._device.connect(self._identity)

    def _server_now_s(self) -> float:
        try:
            return self._device.binding().server_now_s()
        except NotBound:
            return time.time()
