"""Tests of factcheck_local.metrics."""
