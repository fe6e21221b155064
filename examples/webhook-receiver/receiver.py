#!/usr/bin/python3
"""Receives Spool's webhooks, with the standard library alone.

A request is verified, its event is written to a database, then it is answered. The work comes afterwards.
"""

import base64
import binascii
import hashlib
import hmac
import json
import os
import sqlite3
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_BYTES_MAX = 64 * 1024
#: Older requests are refused.
TOLERANCE_S = 5 * 60
#: A delivery is tried for 24 hours: what is older than this cannot come again.
KEPT_S = 3 * 24 * 3600
RETRY_S = 10


def work(event: dict) -> None:
    """Your work. An event says that something changed: read from the API what it is now."""
    print(event["type"], event["resource"]["id"], flush=True)


def keys() -> list[bytes]:
    """Several while one secret replaces another."""
    secrets = os.environ.get("SPOOL_WEBHOOK_SECRET", "").replace(",", " ").split()
    try:
        found = [base64.b64decode(secret.removeprefix("whsec_"), validate=True) for secret in secrets]
    except binascii.Error:
        found = []
    if not all(found) or not found:
        sys.exit("SPOOL_WEBHOOK_SECRET has to hold the signing_secret of the endpoint, whsec_…")
    return found


KEYS = keys()
LOCK = threading.Lock()
WAKE = threading.Event()
DB = sqlite3.connect(os.environ.get("RECEIVER_DB", "received.db"), check_same_thread=False, isolation_level=None)
DB.executescript(
    """CREATE TABLE IF NOT EXISTS deliveries (webhook_id TEXT PRIMARY KEY, resource TEXT, sequence INTEGER,
         body BLOB, received_at REAL, done INTEGER);
       CREATE INDEX IF NOT EXISTS by_resource ON deliveries (resource, sequence);"""
)


def is_verified(body: bytes, headers) -> bool:
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    webhook_id, timestamp, signatures = (headers.get(name, "") for name in names)
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_S:
        return False
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    rights = [b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)) for key in KEYS]
    given = [signature.encode() for signature in signatures.split()]
    return any(hmac.compare_digest(one, right) for one in given for right in rights)


def take(webhook_id: str, body: bytes) -> None:
    """Returns once the event is on disk. What came before is passed over; so is what a later event has made old."""
    event = json.loads(body)
    resource = " ".join((event["account_id"], event["resource"]["type"], event["resource"]["id"]))
    sequence = int(event["sequence"])
    with LOCK:
        newest = DB.execute("SELECT max(sequence) FROM deliveries WHERE resource = ?", (resource,)).fetchone()[0]
        done = newest is not None and sequence <= newest
        row = (webhook_id, resource, sequence, body, time.time(), done)
        DB.execute("INSERT OR IGNORE INTO deliveries VALUES (?, ?, ?, ?, ?, ?)", row)
        DB.execute("DELETE FROM deliveries WHERE done AND received_at < ?", (time.time() - KEPT_S,))
    WAKE.set()


def work_off() -> None:
    while True:
        WAKE.clear()
        with LOCK:
            rows = DB.execute("SELECT webhook_id, body FROM deliveries WHERE NOT done ORDER BY received_at").fetchall()
        for webhook_id, body in rows:
            try:
                work(json.loads(body))
            except Exception as error:  # Whatever it was: it is tried again.
                print(f"{webhook_id}: {error}", file=sys.stderr, flush=True)
                continue
            with LOCK:
                DB.execute("UPDATE deliveries SET done = 1 WHERE webhook_id = ?", (webhook_id,))
        WAKE.wait(RETRY_S)


class Receiver(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > BODY_BYTES_MAX:
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_verified(body, self.headers):
            return self.answer(401)
        try:
            take(self.headers["webhook-id"], body)
        except sqlite3.Error as error:
            print(f"not taken, it comes again: {error}", file=sys.stderr, flush=True)
            return self.answer(500)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


if __name__ == "__main__":
    threading.Thread(target=work_off, daemon=True).start()
    port = int(os.environ.get("PORT", "3000"))
    with ThreadingHTTPServer(("127.0.0.1", port), Receiver) as server:
        print(f"listening on http://127.0.0.1:{port}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
