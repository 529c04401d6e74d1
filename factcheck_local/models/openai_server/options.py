"""Where a model server is and how it is asked, as a user's card says it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from factcheck_local.core.errors import ModelError
from factcheck_local.models.chat_format import chat_format

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The options of a card whose backend is ``openai_server``.

    Attributes:
        url: the API's base, ending in ``/v1``.
        model: what the server calls the model; None takes the only one it lists.
        chat_format: the template by which we write the prompt ourselves, sent to
            ``/completions``. None leaves the template to the server, behind
            ``/chat/completions``.
        api_key_env: environment variable that holds the key; None sends none.
        concurrency: requests under way at once, 1 to 64; fewer where the server is busy.
        samples: replies drawn for one distribution of labels where the server
            gives no logprobs, 2 to 100.
        timeout_seconds: longest wait for one reply, in (0, 3600].

    Raises:
        ModelError: if one of them is malformed.
    """

    url: str
    model: str | None = None
    chat_format: str | None = None
    api_key_env: str | None = None
    concurrency: int = 16
    samples: int = 10
    timeout_seconds: float = 120.0

    def __post_init__(self) -> None:
        if self.url != server_url(self.url):
            raise ModelError(f"server {self.url!r}: expected {server_url(self.url)!r}")
        if self.chat_format is not None:
            chat_format(self.chat_format)
        if self.model is not None and not (isinstance(self.model, str) and self.model.strip()):
            raise ModelError(f"option model: expected a name, got {self.model!r}")
        # The value is not repeated: it may be the key itself, given by mistake.
        if self.api_key_env is not None and not _VARIABLE.fullmatch(str(self.api_key_env)):
            raise ModelError("option api_key_env: expected the name of an environment variable")
        for name, low, high in (("concurrency", 1, 64), ("samples", 2, 100)):
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise ModelError(
                    f"option {name}: expected a whole number from {low} to {high}, got {value!r}"
                )
        seconds = self.timeout_seconds
        if type(seconds) not in (int, float) or not 0 < seconds <= 3600:
            raise ModelError(
                f"option timeout_seconds: expected a number from 0 to 3600, got {seconds!r}"
            )

    @classmethod
    def from_mapping(cls, options: Mapping[str, Any]) -> Self:
        """Options as a card holds them.

        Raises:
            ModelError: if one is unknown or malformed.
        """
        if unknown := set(options) - set(cls.__slots__):
            raise ModelError(f"option {min(unknown)} is none of a model server's")
        return cls(**options)


def server_url(text: str) -> str:
    """An address as it is kept: no slash at the end, ``/v1`` added where it is missing.

    Raises:
        ModelError: if it is no http or https address, or holds a user, a
            password, a query or a fragment, which may be secrets.
    """
    # Neither what stands before an @ nor what stands behind ? or # is repeated.
    shown = re.sub(r"[?#].*", "…", re.sub(r"//[^/]*@", "//…@", str(text)))
    try:
        parts = urlsplit(text)
        # As the resolver and the HTTP library read it: one such as "a..b" fails only there.
        host = (parts.hostname or "").encode("idna"), httpx.URL(text).host
        well_formed = parts.scheme in ("http", "https") and all(host) and parts.port != 0
    except (ValueError, httpx.InvalidURL):
        well_formed = False
    if not well_formed or not re.fullmatch("[!-~]+", text):
        raise ModelError(f"server {shown!r}: expected an address such as http://localhost:8080/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ModelError(
            f"server {shown!r}: expected no user, password, query or fragment",
            hint="name the variable that holds the key: --api-key-env",
        )
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path if path.endswith('/v1') else path + '/v1'}"


def travels_in_clear(url: str) -> bool:
    """Whether what is sent to ``url`` can be read on its way: http, to another machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        near = ipaddress.ip_address(host).is_loopback
    except ValueError:
        near = host == "localhost"
    return parts.scheme == "http" and not near
