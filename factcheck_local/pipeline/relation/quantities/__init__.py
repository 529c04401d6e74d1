"""Whether the numbers, dates and measures of a claim are those of a passage."""

from factcheck_local.pipeline.relation.quantities.compare import compare_quantities
from factcheck_local.pipeline.relation.quantities.values import Status

__all__ = ["Status", "compare_quantities"]
