"""Whether the numbers, dates and measures of a claim are those of a passage."""

from factcheck_local.pipeline.relation.quantities.compare import compare_quantities
from factcheck_local.pipeline.relation.quantities.values import (
    Bound,
    Kind,
    Quantity,
    QuantityComparison,
    QuantityMatch,
    Status,
)

__all__ = [
    "Bound",
    "Kind",
    "Quantity",
    "QuantityComparison",
    "QuantityMatch",
    "Status",
    "compare_quantities",
]
