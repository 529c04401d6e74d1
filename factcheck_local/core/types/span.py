"""A stretch of a text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text: characters ``start`` up to, not including, ``end``."""

    start: int
    end: int

    def __post_init__(self) -> None:
        """Refuse a span that runs backwards or starts before the text.

        Raises:
            ValueError: if not ``0 <= start <= end``.
        """
        if not 0 <= self.start <= self.end:
            raise ValueError(f"expected 0 <= start <= end, got {self.start}, {self.end}")

    def of(self, text: str) -> str:
        """The stretch itself."""
        return text[self.start : self.end]

    def trimmed(self, text: str) -> Span:
        """The stretch without the white space at its ends; empty where it is all white space."""
        said = self.of(text)
        start = self.start + len(said) - len(said.lstrip())
        return Span(start, start + len(said.strip()))

    def overlaps(self, other: Span) -> bool:
        """Whether the two have a character in common."""
        return self.start < other.end and other.start < self.end
