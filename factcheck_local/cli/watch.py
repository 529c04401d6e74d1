"""Verdicts as they are reached: on a terminal, or as JSON lines for a program."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import Any

from factcheck_local.cli import messages
from factcheck_local.cli.common import write_utf8
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.events import ClaimReached, Event, OnEvent, RunFinished
from factcheck_local.report.events import event_to_dict, failed_event, finished_event
from factcheck_local.report.render import View
from factcheck_local.report.text import to_claim_lines


class Watch:
    """What looks on as answers are verified; this one does not."""

    def begin(self, number: int, name: str) -> OnEvent | None:  # noqa: ARG002
        """What is told of the next answer, numbered from 1; None for nothing."""
        return None

    def fail(self, number: int, name: str, why: str) -> None:
        """Take note that an answer could not be verified."""


class LiveClaims(Watch):
    """Each claim on stderr, a terminal, above the progress of the stage.

    Args:
        view: as the report will be shown.
    """

    def __init__(self, view: View) -> None:
        self._view = view

    def begin(self, number: int, name: str) -> OnEvent:  # noqa: ARG002
        """See ``Watch``."""
        return self._show

    def _show(self, event: Event) -> None:
        view = self._view
        if not isinstance(event, ClaimReached):
            return
        if view.only is not None and event.claim.verdict.value not in view.only:
            return
        encoding = sys.stderr.encoding
        said = event_to_dict(event)
        messages.draw(to_claim_lines(said, width=view.width, colour=view.colour, encoding=encoding))


class EventLines(Watch):
    """Every event as a line of JSON on stdout, at once; also the ``Sink`` of the assessments."""

    def __init__(self) -> None:
        self._name: str | None = None
        self._ended = 0
        self._failed = 0

    def begin(self, number: int, name: str) -> OnEvent:
        """See ``Watch``."""
        self._name = name
        return partial(self._tell, number, name)

    def _tell(self, number: int, name: str, event: Event) -> None:
        # The assessment is written as ``add`` gets it.
        if not isinstance(event, RunFinished):
            _write(event_to_dict(event, answer=name, number=number))

    def fail(self, number: int, name: str, why: str) -> None:
        """See ``Watch``."""
        self._ended, self._failed = number, self._failed + 1
        _write(failed_event(why, answer=name, number=number))

    def earlier(self, name: str, record: Record) -> dict[str, Any] | None:  # noqa: ARG002
        """None: nothing is kept here."""
        return None

    def add(
        self,
        number: int,
        name: str,  # noqa: ARG002
        record: Record,  # noqa: ARG002
        assessment: dict[str, Any],
    ) -> None:
        """Write the assessment of the answer that was begun."""
        self._ended = number
        _write(finished_event(assessment, answer=self._name, number=number))

    def finish(self, failed: list[tuple[str, str]]) -> None:
        """Write which answers were not reached; the others have had their last line."""
        for name, why in failed[self._failed :]:
            self.fail(self._ended + 1, name, why)


def live_claims(form: str, output: str | None, view: View) -> Watch:
    """Shows claims where a person waits for them: the report goes to a terminal, as text."""
    shown = form == "text" and output is None and not messages.quiet
    return LiveClaims(view) if shown and _terminals() else Watch()


def _terminals() -> bool:
    return sys.stdout.isatty() and sys.stderr.isatty()


def _write(event: dict[str, Any]) -> None:
    # It is there at once: what is echoed is flushed.
    write_utf8(json.dumps(event, ensure_ascii=False, allow_nan=False) + "\n")
