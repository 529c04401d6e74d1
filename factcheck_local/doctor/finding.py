"""What one check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a diagnosis.

    Attributes:
        check: what was looked at.
        state: ``problem`` if some command would fail or err, ``warning`` if it
            would do less well, or nobody can tell.
        message: what was found, on one line.
        fix: a command or a step that would mend it.
    """

    check: str
    state: State
    message: str
    fix: str | None = None
