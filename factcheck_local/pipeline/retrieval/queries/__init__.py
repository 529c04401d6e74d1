"""What is looked for on behalf of an atom, beside its own words."""

from factcheck_local.pipeline.retrieval.queries.write import (
    SHOWN,
    Written,
    with_headings,
    with_question,
    write_queries,
)

__all__ = ["SHOWN", "Written", "with_headings", "with_question", "write_queries"]
