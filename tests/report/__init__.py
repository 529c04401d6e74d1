"""Tests of factcheck_local.report."""
