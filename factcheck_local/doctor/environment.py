"""The libraries and their versions, and whether the guard on egress stands."""

from __future__ import annotations

import platform
import socket
from collections.abc import Iterator

from factcheck_local import __version__
from factcheck_local.core import egress
from factcheck_local.core.errors import EgressError
from factcheck_local.core.installed import dependencies, versions
from factcheck_local.doctor.finding import Finding
from factcheck_local.pipeline.run import LIBRARIES

#: Reserved for documentation (RFC 5737): nobody has it.
_NOBODY = ("192.0.2.1", 9)


def check_versions() -> Iterator[Finding]:
    """The versions that matter, and what is missing or too old."""
    needed = dependencies()
    found = versions(needed)
    shown = ", ".join(f"{name} {found[name]}" for name in LIBRARIES if name in found)
    yield Finding(
        "versions",
        "ok",
        f"factcheck-local {__version__}, Python {platform.python_version()}, {shown}",
    )
    for one in needed:
        if not one.is_met:
            yield Finding(
                "versions",
                "problem",
                f"{one.wanted_by} needs {one.name}{one.specifier}, "
                f"{one.version or 'which is not installed'}{' is here' * bool(one.version)}",
                f"pip install '{one.name}{one.specifier}'",
            )


def check_egress() -> Iterator[Finding]:
    """Whether an address that nobody has is refused; a datagram's connection sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(_NOBODY)
        except EgressError:
            egress.forget(f"{_NOBODY[0]}:{_NOBODY[1]}")
            yield Finding("egress", "ok", "the guard is on, and refused an address to try it")
        except OSError as error:
            yield Finding("egress", "problem", f"the guard is off; {error}", _GUARD)
        else:
            yield Finding("egress", "problem", "the guard is off", _GUARD)


_GUARD = "factcheck_local.core.egress.guard(), before anything else"
