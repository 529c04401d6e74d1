"""Assessors: atoms and contexts in, an assessment out."""

from factcheck_local.assess.factreasoner import assess

__all__ = ["assess"]
