"""Coverage-guided fuzzing of a reader with atheris (extra ``fuzz``).

    python -m tests.fuzz.coverage_guided NAME [RUNS]

An input with which a new line is reached is changed further. Ends with exit code 0 after RUNS
inputs (10,000), or at the first one that raises anything but an error of the package.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Fuzz the target that is named."""
    import atheris

    with atheris.instrument_imports(include=["factcheck_local"]):
        from factcheck_local.core.errors import FactcheckError
        from tests.fuzz.targets import TARGETS

    name, runs = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "10000"
    read = TARGETS[name].read

    def one(data: bytes) -> None:
        try:
            read(data.decode("utf-8", "replace"))
        except FactcheckError:
            return

    atheris.Setup([sys.argv[0], f"-runs={runs}", "-max_len=2000", "-verbosity=0"], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
