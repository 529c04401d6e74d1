"""Tells named addresses that a check or an indexing job has ended, signed and without content.

Requests are as Standard Webhooks 1.0 says (https://www.standardwebhooks.com): an id that stays the
same when one is tried again, a time stamp, and an HMAC-SHA256 over both and the body.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import logging
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Self, cast
from urllib.parse import urlsplit

import httpx

from factcheck_local import __version__
from factcheck_local.core import egress
from factcheck_local.core.errors import EgressError, InputError, StoreError
from factcheck_local.report.render import View, render
from factcheck_local.serve.jobs import Jobs
from factcheck_local.serve.outbox import Delivery, Outbox

#: What a secret begins with, and the bytes that are to follow in base64.
PREFIX, LEAST_BYTES = "whsec_", 24

#: Seconds until one is tried again: twice as long each time, up to the last; and how often it is
#: tried, over eleven hours.
FIRST_DELAY, LAST_DELAY, ATTEMPTS = 5.0, 3600.0, 20

#: Seconds between looks at what is due, and that an address has to answer.
LOOK, PATIENCE = 0.5, 10.0

logger = logging.getLogger(__name__)


def secret_from(text: str) -> bytes:
    """The key of a secret as it is written.

    Raises:
        InputError: for one that is none, or too short; it is not repeated.
    """
    try:
        key = base64.b64decode(text.strip().removeprefix(PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not text.strip().startswith(PREFIX) or len(key) < LEAST_BYTES:
        raise InputError(
            f"the secret of webhooks: expected {PREFIX} and {LEAST_BYTES} bytes or more in base64",
            hint="echo whsec_$(openssl rand -base64 32)",
        )
    return key


def address_of(url: str) -> tuple[str, int]:
    """Host and port of a URL, the host in ASCII, as it is looked up.

    Raises:
        InputError: if it is no URL, or one without TLS on another machine.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
        host = httpx.URL(url).raw_host.decode()
    except (ValueError, httpx.InvalidURL) as error:
        raise InputError(f"webhook {url}: {error}") from error
    ours = host in ("localhost", "127.0.0.1", "::1")
    if not host or parts.username or parts.scheme not in ("https", "http"):
        raise InputError(f"webhook {url}: expected https://HOST/PATH")
    if parts.scheme == "http" and not ours:
        raise InputError(f"webhook {url}: expected https, which another machine needs")
    return host, port or (443 if parts.scheme == "https" else 80)


def signed(key: bytes, id_: str, stamp: int, body: bytes) -> dict[str, str]:
    """The headers of a request.

    Args:
        key: see ``secret_from``.
        id_: of the delivery.
        stamp: seconds since 1970.
        body: what is sent.
    """
    mac = hmac.new(key, f"{id_}.{stamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": id_,
        "webhook-timestamp": str(stamp),
        "webhook-signature": f"v1,{base64.b64encode(mac).decode()}",
    }


class Webhooks:
    """Threads that tell, one for each address, so that none waits for another.

    Args:
        queues: what is told of: ``check`` or ``index`` -> its jobs.
        urls: whom, each once; the egress guard lets these through, and nothing else.
        key: see ``secret_from``.
    """

    def __init__(self, queues: Mapping[str, Jobs], urls: Sequence[str], key: bytes) -> None:
        self._queues = {kind: (jobs, Outbox(jobs)) for kind, jobs in queues.items()}
        self._key = key
        self._stopping = threading.Event()
        for url in urls:
            egress.allow(*address_of(url))
        for _, outbox in self._queues.values():
            outbox.address(urls)
        self._threads = [
            threading.Thread(target=self._tell, args=(url,), name="webhook", daemon=True)
            for url in dict.fromkeys(urls)
        ]

    def __enter__(self) -> Self:
        """Begin to tell."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop; what was not told is told when the server starts again."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _tell(self, url: str) -> None:
        # The system's certificates, among which a company's own authority stands; no proxy, which
        # nobody named, and no redirect.
        context = ssl.create_default_context()
        with httpx.Client(verify=context, trust_env=False, timeout=PATIENCE) as client:
            while not self._stopping.wait(LOOK):
                try:
                    self._tell_due(client, url)
                except StoreError as error:
                    logger.warning("webhooks: %s", error)
                except Exception as error:
                    # Whatever it is, this address is to be told of what ends later. Without the
                    # message, which may hold a text.
                    logger.error("webhooks: %s", type(error).__name__)
                    self._stopping.wait(FIRST_DELAY)

    def _tell_due(self, client: httpx.Client, url: str) -> None:
        for kind, (jobs, outbox) in self._queues.items():
            for delivery in outbox.due(url):
                if self._stopping.is_set():
                    return
                problem = self._sent(client, url, delivery, _body(kind, jobs, delivery))
                if problem is None:
                    outbox.drop(delivery)
                elif delivery.attempts + 1 >= ATTEMPTS:
                    logger.warning("webhook %s of %s: given up, %s", delivery.id, url, problem)
                    outbox.drop(delivery)
                else:
                    logger.warning("webhook %s of %s: %s", delivery.id, url, problem)
                    delay = FIRST_DELAY * 2.0**delivery.attempts
                    outbox.put_off(delivery, min(delay, LAST_DELAY))

    def _sent(self, client: httpx.Client, url: str, delivery: Delivery, body: bytes) -> str | None:
        """What went wrong; None if the address took it."""
        headers = signed(self._key, delivery.id, int(time.time()), body)
        headers |= {
            "Content-Type": "application/json",
            "User-Agent": f"factcheck-local/{__version__}",
        }
        try:
            # Of what is answered only the status counts, however long the rest is.
            with client.stream("POST", url, content=body, headers=headers) as answered:
                return None if answered.is_success else f"answered {answered.status_code}"
        except (httpx.HTTPError, OSError, EgressError) as error:
            return type(error).__name__


def _body(kind: str, jobs: Jobs, delivery: Delivery) -> bytes:
    """Id, state, counts and digests of what has ended, as JSON."""
    job, result = jobs.find(delivery.job), jobs.result(delivery.job)
    data: dict[str, Any] = {"id": job.id, "state": job.state}
    if result is not None and kind == "check":
        report = cast(str, render([result], "json", View())).encode()
        data["counts"] = result["summary"]["counts"]
        data["report_sha256"] = hashlib.sha256(report).hexdigest()
    elif result is not None:
        counts = {k: len(v) if isinstance(v, list) else v for k, v in result.items()}
        data["index_sha256"] = counts.pop("digest")
        data["counts"] = counts
    ended = datetime.fromtimestamp(job.finished or 0.0, UTC)
    sent = {"type": f"{kind}.{job.state}", "timestamp": ended.isoformat(), "data": data}
    return json.dumps(sent).encode()
