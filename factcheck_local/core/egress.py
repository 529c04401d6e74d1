"""Keeps this process from reaching any address that its user did not name.

Once `guard` was called, whatever in the process connects, sends, listens or looks a name
up through Python's sockets gets an `EgressError`, unless the address is

* loopback, or a Unix socket;
* one that was given to `allow`, because the user named it: the server of a store or a model;
* asked for within `lifted`, as long as models are pulled.

After `seal`, which the process that reads files calls, none of these is excepted.

Two mechanisms share one rule. An audit hook sees every library and cannot be taken away.
It is told of ``connect(("name", port))`` only when the name has been looked up, so the
methods of ``socket.socket`` check before; and ``socket.getaddrinfo`` remembers which
addresses belong to a name that is allowed. What neither sees: code that calls the
system itself, as a compiled library may, and other processes. ``SECURITY.md`` says which
those are.
"""

from __future__ import annotations

import ipaddress
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from factcheck_local.core.errors import EgressError

_HINT = "name the server, with --store or models add --server, if you mean it"


@dataclass(slots=True)
class _Rule:
    """What may be reached, of which a process has one.

    Attributes:
        on: whether `guard` or `seal` was called.
        sealed: whether nothing at all may be reached.
        lifts: how many `lifted` are under way.
        named: hosts and ports that were allowed; names and addresses in lower case.
        resolved: addresses and ports that named hosts were found at.
        refused: every address that was refused, in order.
    """

    on: bool = False
    sealed: bool = False
    lifts: int = 0
    named: set[tuple[str, int]] = field(default_factory=set)
    resolved: set[tuple[str, int]] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)

    def may_reach(self, host: str, port: int) -> bool:
        known = (host, port) in self.named or (host, port) in self.resolved
        return not self.sealed and (self.lifts > 0 or known or _is_loopback(host))

    def may_look_up(self, host: str) -> bool:
        known = any(host == name for name, _ in self.named | self.resolved)
        return not self.sealed and (self.lifts > 0 or known or _is_loopback(host))

    def refuse(self, address: str) -> None:
        self.refused.append(address)
        if self.sealed:
            raise EgressError(f"{address}: refused, nothing may be reached while a file is read")
        raise EgressError(f"{address}: refused, nobody named this address", hint=_HINT)


_rule = _Rule()
_lock = threading.Lock()


def guard() -> None:
    """From here on, refuse every address that is neither this machine's own nor named."""
    with _lock:
        if not _rule.on:
            _check_before_looking_up()
            _remember_resolved()
            sys.addaudithook(_watch)
            _rule.on = True


def seal() -> None:
    """From here on, refuse every address, this machine's own too; for a process that reads."""
    _rule.sealed = True
    guard()


def is_on() -> bool:
    """Whether this process is guarded."""
    return _rule.on


def allow(host: str, port: int) -> None:
    """Let a host be reached that the user named; a name also by its addresses."""
    _rule.named.add((_plain(host), port))


@contextmanager
def lifted() -> Iterator[None]:
    """Let any address be reached, by every thread, as long as this lasts."""
    with _lock:
        _rule.lifts += 1
    try:
        yield
    finally:
        with _lock:
            _rule.lifts -= 1


def refusals() -> tuple[str, ...]:
    """What was refused so far, also where a library kept the error to itself."""
    return tuple(_rule.refused)


def forget(address: str) -> None:
    """Take an address from the `refusals` that was tried on purpose."""
    _rule.refused.remove(address)


# --------------------------------------------------------------- the audit hook


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    check = _CHECKS.get(event)
    if check is not None:
        check(*arguments)


def _check_address(sock: socket.socket, address: Any) -> None:  # noqa: ANN401
    """An address to connect to, to send to or to listen at."""
    if address is None:  # what is sent over a socket that is connected
        return
    if sock.family not in (socket.AF_INET, socket.AF_INET6):
        local = sock.family == getattr(socket, "AF_UNIX", None) and not _rule.sealed
        if not local:
            _rule.refuse(f"{sock.family.name} {address!r}")
    elif not _rule.may_reach(_plain(address[0]), address[1]):
        _rule.refuse(_shown(*address[:2]))


def _check_look_up(host: Any, port: Any = None, *_rest: object) -> None:  # noqa: ANN401
    """A name to find the addresses of, or an address to find the name of."""
    if host is not None and not _rule.may_look_up(_plain(host)):
        _rule.refuse(_shown(host, port))


def _check_name(address: Any) -> None:  # noqa: ANN401
    _check_look_up(*address[:2])


_CHECKS: dict[str, Callable[..., None]] = {
    "socket.connect": _check_address,
    "socket.bind": _check_address,
    "socket.sendto": _check_address,
    "socket.sendmsg": _check_address,
    "socket.getaddrinfo": _check_look_up,
    "socket.gethostbyname": _check_look_up,
    "socket.gethostbyaddr": _check_look_up,
    "socket.getnameinfo": _check_name,
}


# ------------------------------------------------------- what the hook is too late for


def _check_before_looking_up() -> None:
    """Have the methods of ``socket.socket`` check an address before it is looked up."""
    methods = {"connect": 1, "connect_ex": 1, "bind": 1, "sendto": 2, "sendmsg": 4}
    for name, least in methods.items():
        if hasattr(socket.socket, name):  # Windows has no sendmsg
            setattr(socket.socket, name, _checked(getattr(socket.socket, name), least))


def _checked(method: Callable[..., Any], least: int) -> Callable[..., Any]:
    """A method whose last argument, if there are so many, is an address."""

    @wraps(method)
    def call(self: socket.socket, *arguments: Any) -> object:  # noqa: ANN401
        if len(arguments) >= least:
            _check_address(self, arguments[-1])
        return method(self, *arguments)

    return call


def _remember_resolved() -> None:
    """Have ``socket.getaddrinfo`` keep the addresses of names that are allowed."""
    look_up = socket.getaddrinfo

    @wraps(look_up)
    def call(host: Any, port: Any, *rest: Any, **named: Any) -> Any:  # noqa: ANN401
        found = look_up(host, port, *rest, **named)
        if host is not None and (_plain(host), port) in _rule.named:
            _rule.resolved.update((_plain(str(entry[4][0])), port) for entry in found)
        return found

    socket.getaddrinfo = call


# ------------------------------------------------------------------------ hosts


def _plain(host: str | bytes | bytearray) -> str:
    """A host in one spelling: an address as ``ipaddress`` writes it, a name in lower case."""
    text = host if isinstance(host, str) else bytes(host).decode("ascii", "replace")
    text = text.strip("[]").lower()
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return text
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)


def _is_loopback(host: str) -> bool:
    """Whether a plain host is this machine; what ``localhost`` resolves to is checked again."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(host: str | bytes, port: object) -> str:
    name = host if isinstance(host, str) else bytes(host).decode("ascii", "replace")
    return name if port is None else f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
