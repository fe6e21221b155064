"""The device routes over mutual TLS: one request, one answer, no retries."""

from __future__ import annotations

import email.utils
import json
import time
from pathlib import Path
from typing import Any, BinaryIO, Dict, List, Optional, Union

import requests

from . import cbor
from .errors import NoAnswer, Refused

#: From the first packet to the end of the handshake.
CONNECT_S = 15.0
#: Without a byte of the answer, or without room for a byte of the upload.
SILENCE_S = 60.0
_ANSWER_BYTES_MAX = 1024 * 1024
#: A longer wait is a fault of the server; this one a thread can still wait for.
_WAIT_MAX_S = 31 * 86_400.0


class DeviceApi:
    """Calls under one certificate, on a connection that is kept. After a renewal comes a new DeviceApi."""

    def __init__(self, server: str, *, certificate: Path, key: Path, ca: Path) -> None:
        self._server = server.rstrip("/")
        self._session = requests.Session()
        # No proxies, certificate bundles or passwords from the environment.
        self._session.trust_env = False
        self._session.cert = (str(certificate), str(key))
        self._session.verify = str(ca)
        self._session.headers.update({"Accept": "application/json", "Accept-Encoding": "identity"})

    def close(self) -> None:
        self._session.close()

    def binding(self) -> Dict[str, Any]:
        return self._ask("GET", "/device/binding")

    def redeem(self, claim: str, ble_address: Optional[str]) -> Dict[str, Any]:
        body = {"claim": claim}
        if ble_address is not None:
            body["ble_address"] = ble_address
        return self._ask("POST", "/device/claims/redeem", body)

    def heartbeat(self) -> Dict[str, Any]:
        return self._ask("POST", "/device/heartbeat", {})

    def renew(self, csr_pem: str) -> Dict[str, Any]:
        return self._ask("POST", "/device/certificates/renew", {"csr_pem": csr_pem})

    def register(self, stream: Dict[str, Any]) -> Dict[str, Any]:
        return self._ask("POST", "/device/streams", stream)

    def announce(self, chunk: Dict[str, Any]) -> Dict[str, Any]:
        return self._ask("POST", "/device/chunks/intents", chunk)

    def upload(self, upload_path: str, file: BinaryIO) -> Dict[str, Any]:
        """Sends a file from where it stands to its end."""
        return self._send("PUT", upload_path, {"Content-Type": "application/octet-stream"}, file)

    def store_chunks(self, body: Dict[str, Any]) -> List[Dict[str, Any]]:
        """Announces chunks and stores their bytes; gives an item for each."""
        headers = {"Content-Type": "application/cbor"}
        items: List[Dict[str, Any]] = self._send("POST", "/device/chunks", headers, cbor.encode(body))["items"]
        return items

    def chunk_status(self, binding_epoch: str, stream_ref: str, chunk_refs: List[str]) -> List[Dict[str, Any]]:
        """Of at most 100 chunks; one that was never announced has no item."""
        body = {"binding_epoch": binding_epoch, "source_stream_ref": stream_ref, "source_chunk_refs": chunk_refs}
        items: List[Dict[str, Any]] = self._ask("POST", "/device/chunks/status", body)["items"]
        return items

    def end_stream(self, binding_epoch: str, stream_ref: str, end_ms: int) -> Dict[str, Any]:
        body = {"source_stream_ref": stream_ref, "end_ms": end_ms, "binding_epoch": binding_epoch}
        return self._ask("POST", "/device/streams/end", body)

    def end_session(self, binding_epoch: str) -> Dict[str, Any]:
        return self._ask("POST", "/device/session/end", {"binding_epoch": binding_epoch})

    def _ask(self, method: str, path: str, body: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        if body is None:
            return self._send(method, path, {}, None)
        return self._send(method, path, {"Content-Type": "application/json"}, json.dumps(body).encode("utf-8"))

    def _send(
        self, method: str, path: str, headers: Dict[str, str], body: Union[bytes, BinaryIO, None]
    ) -> Dict[str, Any]:
        if not path.startswith("/"):
            raise NoAnswer("the server named a path that is none")
        try:
            response = self._session.request(
                method,
                self._server + path,
                headers=headers,
                data=body,
                timeout=(CONNECT_S, SILENCE_S),
                allow_redirects=False,
                stream=True,
            )
            with response:
                content = response.raw.read(_ANSWER_BYTES_MAX)
        except Exception as error:
            # The client raises errors of its own, of its pool, of TLS and of sockets, and some of them bare.
            if not isinstance(error, (requests.RequestException, OSError)) and not _is_of_pool(error):
                raise
            raise NoAnswer(f"{method} {path}: {_words_of(error)}") from error
        return _payload(response.status_code, response.headers.get("Retry-After"), content)


def _is_of_pool(error: Exception) -> bool:
    return type(error).__module__.startswith(("urllib3.", "http.client"))


def _words_of(error: Exception) -> str:
    inner: BaseException = error
    while inner.__context__ is not None and not isinstance(inner, OSError):
        inner = inner.__context__
    return str(inner) or type(inner).__name__


def _payload(status: int, retry_after: Optional[str], content: bytes) -> Dict[str, Any]:
    try:
        envelope = json.loads(content)
        if envelope["success"] is True:
            data: Dict[str, Any] = envelope["data"]
            return data
        error = envelope["error"]
        code, message = str(error["code"]), str(error["message"])
    except (ValueError, KeyError, TypeError) as fault:
        # Of something between: where it says when to come again, that holds.
        if status in (429, 503):
            raise Refused(status, "UNKNOWN", "no words", retry_after_s=retry_after_s(retry_after)) from fault
        raise NoAnswer(f"an answer of status {status} that is not the server's") from fault
    raise Refused(
        status,
        code,
        message,
        reason=error.get("reason"),
        retry_after_s=retry_after_s(retry_after),
        erase_at=error.get("erase_at"),
        details=error.get("details"),
    )


def retry_after_s(value: Optional[str], now_s: Optional[float] = None) -> Optional[float]:
    """Seconds of a Retry-After header: a number, or a date. None for what is neither."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return min(float(value), _WAIT_MAX_S)
    try:
        moment = email.utils.parsedate_to_datetime(value).timestamp()
    except (TypeError, ValueError):
        return None
    return min(max(0.0, moment - (time.time() if now_s is None else now_s)), _WAIT_MAX_S)
