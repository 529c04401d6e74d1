"""What is looked for on behalf of an atom, beside its own words."""

from factcheck_local.queries.stage import (
    SHOWN,
    Queries,
    Written,
    with_headings,
    with_question,
    write_queries,
)

__all__ = ["SHOWN", "Queries", "Written", "with_headings", "with_question", "write_queries"]
