"""Tests of factcheck_local.commands."""
