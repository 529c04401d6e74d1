"""Any text ends in a value or in one of the package's errors.

A few examples in the suite; ``make fuzz`` runs 10,000 a reader.
"""

from __future__ import annotations

import os
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factcheck_local.core.errors import FactcheckError

from .targets import TARGETS

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "60"))


@pytest.mark.parametrize("name", list(TARGETS))
def test_nothing_but_errors_of_the_package(name: str) -> None:
    target = TARGETS[name]
    seen = 0

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        nonlocal seen
        seen += 1
        with suppress(FactcheckError):
            target.read(data.draw(target.texts))

    run()
    assert seen >= EXAMPLES
