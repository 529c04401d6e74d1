"""What a text says in numbers, as comparable values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What sort of thing is counted; only quantities of one kind are compared."""

    NUMBER = "number"
    ORDINAL = "ordinal"
    PERCENT = "percent"
    MONEY = "money"
    MEASURE = "measure"
    DATE = "date"
    TIME = "time"
    VERSION = "version"


class Bound(StrEnum):
    """How a quantity restricts what it speaks of.

    ``FLOOR`` and ``CEILING`` name a limit, which is a fact of its own ("at
    least", "up to", "since", "until"); ``ABOVE`` and ``BELOW`` only say on
    which side the value lies ("more than", "under", "after", "by").
    ``BETWEEN`` is a range around one value, ``RANGE`` any other.
    """

    NONE = ""
    FLOOR = "floor"
    CEILING = "ceiling"
    ABOVE = "above"
    BELOW = "below"
    RANGE = "range"
    BETWEEN = "between"

    @property
    def is_limit(self) -> bool:
        """Whether the limit itself is what is stated."""
        return self in (Bound.FLOOR, Bound.CEILING)

    @property
    def opens_up(self) -> bool:
        """Whether all larger values are admitted."""
        return self in (Bound.FLOOR, Bound.ABOVE)

    @property
    def opens_down(self) -> bool:
        """Whether all smaller values are admitted."""
        return self in (Bound.CEILING, Bound.BELOW)

    @property
    def is_range(self) -> bool:
        """Whether two ends are given."""
        return self in (Bound.RANGE, Bound.BETWEEN)


#: Lowest and highest value meant, both included. A year is all its days.
Reading = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity of a text.

    Attributes:
        text: As it is written.
        start: First character in the text.
        end: Character after the last.
        kind: What is counted.
        unit: Dimension, currency, product or stem of the counted noun. Two
            quantities are comparable only with the same one; an empty unit of
            a ``NUMBER`` is not known.
        readings: What it may mean, in base units of the dimension. Dates are
            counted in months of 31 days, times in minutes.
        label: Unit as written, normalised: "GB" and "MB" differ.
        rounding: Half the last digit where the number looks rounded, in base
            units; 0 where it looks exact.
        step: Half the last digit that is no trailing zero, in base units.
        bound: How it restricts.
        hedged: "About", "nearly" and the like.
        ambiguous: The readings exclude each other and only one is meant, as
            in 03/04/2024.
        weak: Likely part of a name or a manner of speaking. It can confirm a
            claim, and never speaks against one.
        rate: Stem of what it is per ("year"), empty for none.
        inner: Offsets of the number itself, without its unit.
    """

    text: str
    start: int
    end: int
    kind: Kind
    unit: str
    readings: tuple[Reading, ...]
    label: str = ""
    rounding: float = 0.0
    step: float = 0.0
    bound: Bound = Bound.NONE
    hedged: bool = False
    ambiguous: bool = False
    weak: bool = False
    rate: str = ""
    inner: tuple[int, int] = (0, 0)


class Status(StrEnum):
    """How a claim's quantity stands to a passage."""

    MATCHED = "matched"
    MISMATCHED = "mismatched"
    OPEN = "open"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class QuantityComparison:
    """One quantity of a claim, and how it stands to a passage.

    Attributes:
        claim: As the claim has it.
        status: ``MISMATCHED``: a sentence with most of the claim's words has
            another value, and none that is as near to the claim has the same.
            ``MATCHED``: else, a quantity of the passage agrees. ``OPEN``: the
            passage has a comparable quantity that neither states nor excludes
            it. ``ABSENT``: it has none.
    """

    claim: Quantity
    status: Status


@dataclass(frozen=True, slots=True)
class QuantityMatch:
    """All quantities of a claim against a passage, in the claim's order."""

    comparisons: tuple[QuantityComparison, ...]

    @property
    def n_mismatched(self) -> int:
        """Quantities that the passage speaks against."""
        return sum(c.status is Status.MISMATCHED for c in self.comparisons)
