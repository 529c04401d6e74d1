"""Tests of factcheck_local.cli."""
